//! Tensors for parameters: from files, by name, or random.

use std::collections::BTreeSet;
use std::sync::Arc;

use tf_core::node::Method;
use tf_core::{Diagnostic, Expr, Result};
use tf_types::{DType, Symbol};
use tf_value::Tensor;
use tf_value::io::{TensorStore, open_tensors};

use crate::device::Devices;
use crate::random::made_up;
use crate::reading::{refused, wanted};
use crate::{DimSizes, Resource};

/// Where the tensors of a run come from.
pub struct Sources<'c> {
    /// Activations by parameter name.
    pub inputs: Resource,
    /// Constants by dotted name.
    pub constants: Resource,
    /// Seed of made-up tensors; `None`: a missing one is an error.
    pub random: Option<u64>,
    /// Sizes of dims that no tensor gives, for made-up tensors.
    pub dims: DimSizes<'c>,
}

/// Opens a tensor file or folder.
///
/// # Errors
/// It cannot be read, or is no tensor file.
pub fn open(path: &str) -> Result<Arc<dyn TensorStore>> {
    open_tensors(path).map(Arc::from).map_err(refused)
}

impl<'c> Sources<'c> {
    /// Those of these files; `prefix` is what stands before a parameter's name in the inputs.
    pub fn new(
        inputs: Option<Arc<dyn TensorStore>>,
        weights: Option<Arc<dyn TensorStore>>,
        prefix: &str,
        random: Option<u64>,
        dims: DimSizes<'c>,
    ) -> Self {
        let (mut activations, mut constants) = (Resource::default(), Resource::default());
        if let Some(weights) = weights {
            constants = constants.or(weights, "");
        }
        if let Some(inputs) = inputs {
            activations = activations.or(Arc::clone(&inputs), prefix);
            constants = constants.or(Arc::clone(&inputs), prefix).or(Arc::clone(&inputs), "weights.");
            if !prefix.is_empty() {
                activations = activations.or(Arc::clone(&inputs), "");
                constants = constants.or(inputs, "");
            }
        }
        Self { inputs: activations, constants: constants.or_random(random), random, dims }
    }

    /// The tensor of an activation, in the parameter's dtype. A conversion is noted in `converted`.
    ///
    /// # Errors
    /// There is none of its names, or it cannot be read as that dtype.
    pub fn activation(&self, param: Expr<'c>, converted: &mut Vec<String>) -> Result<Tensor> {
        let name = param.var_name().map_or("", |name| name.as_str());
        let Some(ty) = param.ty().as_tensor() else {
            return Err(Diagnostic::error(format!("parameter `{name}` is no tensor")).at(param.span()));
        };
        if let Some(found) = self.inputs.find(name) {
            if !found.info.holds(ty.dtype) {
                converted.push(format!("`{name}`: {} in the file, cast to {}", found.info.stored, ty.dtype));
            }
            return found.read(ty.dtype).map_err(|error| refused(error).at(param.span()));
        }
        let Some(seed) = self.random else { return Err(self.missing("parameter", name).at(param.span())) };
        let unknown = param.ty().dim_vars().into_iter().filter(|var| !self.dims.contains_key(&var.name));
        let unknown: Vec<_> = unknown.map(|var| format!("{}:SIZE", var.name)).collect();
        wanted(ty, &self.dims)
            .map_err(|error| match unknown.as_slice() {
                [] => error,
                unknown => error.with_help(format!("state it: `dims={}`", unknown.join(","))),
            })
            .and_then(|shape| made_up(seed, name, ty.dtype, &shape))
            .map_err(|error| refused(error).at(param.span()))
    }

    /// Whether all tensors of these parameters lie in host memory.
    ///
    /// # Errors
    /// Which one lies where.
    pub fn check_devices(&self, params: impl IntoIterator<Item = (Symbol<'c>, bool)>) -> Result<()> {
        let mut devices = Devices::default();
        for (name, is_const) in params {
            let place = if is_const { &self.constants } else { &self.inputs };
            if let Some(found) = place.find(name.as_str()) {
                devices.add(name.as_str(), found.device());
            }
        }
        devices.check()
    }

    /// The activations of a method, in their stored dtypes: its parameters have no types. Parameters at the end that have defaults
    /// may have none.
    ///
    /// # Errors
    /// There is no tensor of a name, or it cannot be read.
    pub fn of_method(&self, method: Method<'c>) -> Result<Vec<Tensor>> {
        let params = method.data().params;
        let required = params.iter().rposition(|param| param.default.is_none()).map_or(0, |last| last + 1);
        let mut tensors = Vec::new();
        for (at, param) in params.iter().enumerate() {
            let name = param.name.as_str();
            let Some(found) = self.inputs.find(name) else {
                if at >= required {
                    break;
                }
                return Err(self.missing("method's parameter", name).at(method.span));
            };
            let widened = if found.info.stored.contains(['f', 'F']) { DType::F32 } else { DType::I64 };
            let dtype = found.info.dtype.unwrap_or(widened);
            tensors.push(found.read(dtype).map_err(|error| refused(error).at(method.span))?);
        }
        Ok(tensors)
    }

    fn missing(&self, kind: &str, name: &str) -> Diagnostic {
        let tried = self.inputs.tried(name);
        let tried = if tried.is_empty() { String::new() } else { format!(": tried {}", tried.join(", ")) };
        let error = Diagnostic::error(format!("there is no tensor for the {kind} `{name}`{tried}"));
        let error = self.inputs.explain(error, &[name], &BTreeSet::new());
        match self.inputs.before(name) {
            Some(prefix) if error.help.is_none() => {
                error.with_help(format!("what stands before the names in the file is stated as `prefix={prefix}`"))
            }
            _ => error,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tf_core::{Arena, Context};
    use tf_types::DType;
    use tf_value::io::{HOST, TensorInfo, TensorMap, TensorStore};
    use tf_value::{DialectBuilder, Tensor, ValueError};

    use super::Sources;
    use crate::DimSizes;

    /// `y` lies elsewhere.
    #[derive(Debug)]
    struct Mixed(TensorMap);

    impl TensorStore for Mixed {
        fn label(&self) -> String {
            self.0.label()
        }
        fn names(&self) -> Vec<String> {
            self.0.names()
        }
        fn info(&self, name: &str) -> Option<TensorInfo> {
            self.0.info(name)
        }
        fn device(&self, name: &str) -> &str {
            if name == "y" { "cuda:0" } else { HOST }
        }
        fn get_as(&self, name: &str, dtype: DType) -> Option<Result<Tensor, ValueError>> {
            self.0.get_as(name, dtype)
        }
    }

    #[test]
    fn inputs_on_two_devices_are_refused() {
        let arena = Arena::new();
        let cx = Context::new(&arena, DialectBuilder::default().freeze().unwrap().0);
        let tensors = ["x", "y", "w"].map(|name| (name.to_owned(), Tensor::scalar(1.0f32)));
        let store = Arc::new(Mixed(TensorMap(tensors.into())));
        let sources = Sources::new(Some(store), None, "", None, DimSizes::default());
        let check = |names: &[(&str, bool)]| {
            let names = names.iter().map(|&(name, is_const)| (cx.symbol(name), is_const));
            sources.check_devices(names).map_err(|error| error.message)
        };
        assert_eq!(check(&[("x", false), ("w", true), ("z", false)]), Ok(()));
        let message = "the tensors of a run lie on one device, found `x`, `w` on cpu; `y` on cuda:0";
        assert_eq!(check(&[("x", false), ("y", false), ("w", true)]), Err(message.to_owned()));
    }
}
