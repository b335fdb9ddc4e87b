//! Scalar expressions.

use rustc_hash::FxHashMap;
use tf_core::op::OpView;
use tf_types::kinds::BinaryKind;
use tf_types::{DType, Type};
use tf_value::rule::EvalFn;
use tf_value::tir::{Place, Stop};
use tf_value::{EvalCx, Tensor, Value, ValueError};

/// A scalar at run time.
#[derive(Clone, Debug)]
pub enum Scalar {
    /// An integer of any width.
    Int(i64),
    /// A truth value.
    Bool(bool),
    /// Anything else, of rank 0.
    Other(Box<Tensor>),
}

impl Scalar {
    /// Of a tensor of one element.
    pub fn of(tensor: Tensor) -> Self {
        match (tensor.dtype(), tensor.to_i64_vec().as_deref()) {
            (DType::I32 | DType::I64, Ok([value])) => Self::Int(*value),
            (DType::Bool, Ok([value])) => Self::Bool(*value != 0),
            _ => Self::Other(Box::new(tensor)),
        }
    }

    /// As a tensor of rank 0.
    pub fn tensor(&self) -> Tensor {
        match self {
            Self::Int(value) => Tensor::scalar(*value),
            Self::Bool(value) => Tensor::scalar(*value),
            Self::Other(tensor) => (**tensor).clone(),
        }
    }

    /// The integer.
    ///
    /// # Errors
    /// It is none.
    pub fn int(&self) -> Result<i64, ValueError> {
        match self {
            Self::Int(value) => Ok(*value),
            Self::Bool(value) => Ok(i64::from(*value)),
            Self::Other(tensor) => tensor.to_index(),
        }
    }

    /// The truth value.
    ///
    /// # Errors
    /// It is none.
    pub fn holds(&self) -> Result<bool, ValueError> {
        match self {
            Self::Bool(value) => Ok(*value),
            _ => Err(ValueError::new("a condition is a truth value")),
        }
    }
}

/// A node of an expression; operands are numbers of nodes before it.
pub enum Node<'c> {
    Literal(Scalar),
    /// The scalar of that number.
    Slot(u32),
    /// What a buffer of rank 0 holds.
    Element(u32),
    Coordinate(Place),
    /// An op by its evaluation rule; of two integers at once, where it is that arithmetic.
    Rule {
        call: OpView<'c>,
        rule: EvalFn,
        kind: Option<BinaryKind>,
        operands: Vec<u32>,
        ty: Type<'c>,
    },
}

/// An expression, operands first.
pub struct ScalarCode<'c>(pub Vec<Node<'c>>);

/// What an expression may ask for.
pub trait ScalarEnv {
    fn slot(&self, slot: u32) -> Scalar;
    fn element(&mut self, buffer: u32) -> Result<Scalar, Stop>;
    fn coordinate(&self, place: Place) -> i64;
}

impl<'c> ScalarCode<'c> {
    /// A literal.
    pub fn int(value: i64) -> Self {
        Self(vec![Node::Literal(Scalar::Int(value))])
    }

    /// The value.
    ///
    /// # Errors
    /// A zero divisor, an element that holds nothing.
    pub fn value(&self, env: &mut dyn ScalarEnv) -> Result<Scalar, Stop> {
        if let [node] = &self.0[..] {
            return node.value(&[], env);
        }
        let mut values: Vec<Scalar> = Vec::with_capacity(self.0.len());
        for node in &self.0 {
            let value = node.value(&values, env)?;
            values.push(value);
        }
        Ok(values.pop().unwrap_or(Scalar::Int(0)))
    }
}

impl Node<'_> {
    fn value(&self, values: &[Scalar], env: &mut dyn ScalarEnv) -> Result<Scalar, Stop> {
        match self {
            Self::Literal(value) => Ok(value.clone()),
            Self::Slot(slot) => Ok(env.slot(*slot)),
            Self::Element(buffer) => env.element(*buffer),
            Self::Coordinate(place) => Ok(Scalar::Int(env.coordinate(*place))),
            Self::Rule { call, rule, kind, operands, ty } => {
                if let (Some(kind), [a, b]) = (kind, &operands[..])
                    && let (Scalar::Int(a), Scalar::Int(b)) = (&values[*a as usize], &values[*b as usize])
                    && let Some(value) = integers(*kind, *a, *b)
                {
                    return Ok(value);
                }
                let mut operands: Vec<Value> = operands.iter().map(|&at| values[at as usize].tensor().into()).collect();
                let cx = EvalCx { dims: &FxHashMap::default(), result_type: *ty };
                match rule(*call, &mut operands, &cx)? {
                    Value::Tensor(tensor) => Ok(Scalar::of(tensor)),
                    Value::Tuple(_) => Err(ValueError::new(format!("`{}` gives no scalar", call.op.decl.name)).into()),
                }
            }
        }
    }
}

/// What addresses and conditions are full of, without a tensor in between; the rest is the op's rule.
fn integers(kind: BinaryKind, a: i64, b: i64) -> Option<Scalar> {
    Some(match kind {
        BinaryKind::Add => Scalar::Int(a.wrapping_add(b)),
        BinaryKind::Sub => Scalar::Int(a.wrapping_sub(b)),
        BinaryKind::Mul => Scalar::Int(a.wrapping_mul(b)),
        BinaryKind::Min => Scalar::Int(a.min(b)),
        BinaryKind::Max => Scalar::Int(a.max(b)),
        BinaryKind::FloorDiv if b > 0 => Scalar::Int(a.div_euclid(b)),
        BinaryKind::Mod if b > 0 => Scalar::Int(a.rem_euclid(b)),
        BinaryKind::Eq => Scalar::Bool(a == b),
        BinaryKind::Ne => Scalar::Bool(a != b),
        BinaryKind::Lt => Scalar::Bool(a < b),
        BinaryKind::Le => Scalar::Bool(a <= b),
        BinaryKind::Gt => Scalar::Bool(a > b),
        BinaryKind::Ge => Scalar::Bool(a >= b),
        _ => return None,
    })
}
