//! Fewer and simpler inputs.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use tf_core::AnyFunction;
use tf_core::op::OpRegistry;
use tf_evaluate::{Zeros, generated_inputs};
use tf_value::Tensor;

use crate::reduction::functions;
use crate::{Case, Inputs, Reduction, parsed};

/// Fewer generated sets of inputs. A place is a set too many; it is the last ones that go.
struct FewerSets;

impl Reduction for FewerSets {
    fn name(&self) -> &'static str {
        "sets of inputs"
    }

    fn places(&self, case: &Case, _: &Arc<OpRegistry>) -> usize {
        match case.inputs {
            Inputs::Generated(count) => count.saturating_sub(1),
            Inputs::None | Inputs::Tensors(_) => 0,
        }
    }

    fn apply(&self, case: &Case, _: &Arc<OpRegistry>, places: Range<usize>) -> Option<Case> {
        let Inputs::Generated(count) = case.inputs else { return None };
        let fewer = count.checked_sub(places.len()).filter(|fewer| *fewer > 0)?;
        Some(Case { inputs: Inputs::Generated(fewer), ..case.clone() })
    }
}

/// A generated set becomes tensors, which can be made simpler: the sets as they are drawn, then without zeros among integers. Where
/// several functions are evaluated each has inputs of its own, and that is not done.
struct Written;

impl Reduction for Written {
    fn name(&self) -> &'static str {
        "inputs"
    }

    fn places(&self, case: &Case, _: &Arc<OpRegistry>) -> usize {
        match case.inputs {
            Inputs::Generated(count) => 2 * count,
            Inputs::None | Inputs::Tensors(_) => 0,
        }
    }

    fn apply(&self, case: &Case, ops: &Arc<OpRegistry>, places: Range<usize>) -> Option<Case> {
        let Inputs::Generated(count) = case.inputs else { return None };
        if places.len() != 1 {
            return None;
        }
        let (sample, zeros) = match places.start.checked_sub(count) {
            None => (places.start, Zeros::Kept),
            Some(sample) => (sample, Zeros::Replaced),
        };
        let tensors = parsed(&case.module, ops, |_, module| {
            let function = match (module.entry_function(), &functions(module)[..]) {
                (Some(AnyFunction::Hir(entry)), _) => entry,
                (None, &[AnyFunction::Hir(only)]) => only,
                _ => return None,
            };
            generated_inputs(function, sample, zeros).ok()
        })?;
        Some(Case { inputs: Inputs::Tensors(Arc::new(tensors.into_iter().collect())), ..case.clone() })
    }
}

/// What becomes of an element.
#[derive(Clone, Copy)]
enum To {
    Zero,
    One,
    /// The nearest integer.
    Whole,
}

impl To {
    fn of(self, value: f64) -> Option<f64> {
        // What is 0 stays 0, and what is 1 becomes nothing but 0.
        let is_zero = value == 0.0 && value.is_sign_positive();
        match self {
            Self::Zero => (!is_zero).then_some(0.0),
            Self::One => (!is_zero && value != 1.0).then_some(1.0),
            Self::Whole => (value.is_finite() && value.fract() != 0.0).then(|| value.round()),
        }
    }
}

/// Elements of tensors become simpler numbers.
struct Elements(To);

impl Elements {
    /// The elements that change, by tensor and place in it.
    fn all(&self, tensors: &BTreeMap<String, Tensor>) -> Vec<(String, usize, f64)> {
        let of = |(name, tensor): (&String, &Tensor)| {
            let values = tensor.to_f64_vec().into_iter().enumerate();
            let changed = values.filter_map(|(at, value)| Some((name.clone(), at, self.0.of(value)?)));
            changed.collect::<Vec<_>>()
        };
        tensors.iter().flat_map(of).collect()
    }
}

impl Reduction for Elements {
    fn name(&self) -> &'static str {
        "elements of inputs"
    }

    fn places(&self, case: &Case, _: &Arc<OpRegistry>) -> usize {
        match &case.inputs {
            Inputs::Tensors(tensors) => self.all(tensors).len(),
            Inputs::None | Inputs::Generated(_) => 0,
        }
    }

    fn apply(&self, case: &Case, _: &Arc<OpRegistry>, places: Range<usize>) -> Option<Case> {
        let Inputs::Tensors(tensors) = &case.inputs else { return None };
        let mut new = tensors.as_ref().clone();
        let all = self.all(tensors);
        let mut chosen = all[places].iter().peekable();
        for (name, tensor) in &mut new {
            let mut bytes = tensor.to_le_bytes();
            let width = bytes.len() / tensor.len().max(1);
            while let Some((_, at, value)) = chosen.next_if(|(of, ..)| of == name) {
                let element = Tensor::scalar_from_f64(*value, tensor.dtype()).ok()?.to_le_bytes();
                bytes[at * width..(at + 1) * width].copy_from_slice(element.get(..width)?);
            }
            *tensor = Tensor::from_le_bytes(tensor.shape(), tensor.dtype(), &bytes).ok()?;
        }
        Some(Case { inputs: Inputs::Tensors(Arc::new(new)), ..case.clone() })
    }
}

/// Those that make each run shorter.
pub(crate) fn fewer_sets() -> Vec<Box<dyn Reduction>> {
    vec![Box::new(FewerSets)]
}

/// Those that concern the tensors themselves.
pub(crate) fn reductions() -> Vec<Box<dyn Reduction>> {
    vec![Box::new(Written), Box::new(Elements(To::Zero)), Box::new(Elements(To::One)), Box::new(Elements(To::Whole))]
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tf_value::Tensor;

    use super::{Elements, FewerSets, To, Written};
    use crate::testing::{case, ops};
    use crate::{Case, Inputs, Reduction};

    fn identity(inputs: Inputs) -> Case {
        Case { inputs, ..case("module @m { hir.func @f(%x: tensor<4xf32>) -> tensor<4xf32> { hir.return %x } }") }
    }

    fn values(case: &Case) -> Vec<f64> {
        let Inputs::Tensors(tensors) = &case.inputs else { panic!("no tensors") };
        tensors["x"].to_f64_vec()
    }

    #[test]
    fn sets_become_fewer_and_then_tensors() {
        let six = identity(Inputs::Generated(6));
        let fewer = |places| FewerSets.apply(&six, &ops(), places).expect("fewer").inputs;
        assert!(matches!((fewer(0..5), fewer(2..4)), (Inputs::Generated(1), Inputs::Generated(4))));
        assert_eq!(FewerSets.places(&six, &ops()), 5);
        assert_eq!(FewerSets.places(&identity(Inputs::Generated(1)), &ops()), 0);
        assert_eq!(Written.places(&six, &ops()), 12);
        assert!(Written.apply(&six, &ops(), 0..2).is_none());
        assert_eq!(values(&Written.apply(&six, &ops(), 0..1).expect("tensors")).len(), 4);
    }

    #[test]
    fn the_last_sets_have_no_zeros_among_integers() {
        let module = "module @m { hir.func @f(%x: tensor<64xi32>) -> tensor<64xi32> { hir.return %x } }";
        let case = Case { inputs: Inputs::Generated(2), ..crate::testing::case(module) };
        let zeros = |place: usize| {
            let written = Written.apply(&case, &ops(), place..place + 1).expect("tensors");
            values(&written).into_iter().filter(|value| *value == 0.0).count()
        };
        assert!(zeros(0) > 0 && zeros(1) > 0);
        assert_eq!((zeros(2), zeros(3)), (0, 0));
    }

    #[test]
    fn elements_become_simple() {
        let tensor = Tensor::from_f32(&[4], &[0.0, 1.0, 2.75, f32::NAN]).expect("a tensor");
        let case = identity(Inputs::Tensors(Arc::new([("x".to_owned(), tensor)].into())));
        let of = |to: To, places| {
            let reduction = Elements(to);
            (reduction.places(&case, &ops()), values(&reduction.apply(&case, &ops(), places).expect("simpler")))
        };
        assert_eq!(of(To::Zero, 1..3), (3, vec![0.0, 1.0, 0.0, 0.0]));
        assert_eq!(of(To::One, 0..2), (2, vec![0.0, 1.0, 1.0, 1.0]));
        assert_eq!((of(To::Whole, 0..1).0, of(To::Whole, 0..1).1[2]), (1, 3.0));
    }
}
