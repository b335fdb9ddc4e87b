//! Inputs bound to an entry's parameters, before any driver call.

use tf_artifact::{Artifact, Parameter};
use tf_value::{Tensor, show_shape};

use crate::CudaError;

/// The content of each parameter before the launch, in order; `None` for a result that holds nothing.
pub(crate) fn images(artifact: &Artifact, inputs: &[(&str, Tensor)]) -> Result<Vec<Option<Vec<u8>>>, CudaError> {
    let entry = &artifact.manifest().entry;
    let given = || entry.parameters.iter().filter(|parameter| parameter.role.is_given());
    for (index, (name, _)) in inputs.iter().enumerate() {
        if !given().any(|parameter| parameter.name == *name) {
            let expected: Vec<&str> = given().map(|parameter| parameter.name.as_str()).collect();
            let what = format!("`{}` takes no input `{name}`; it takes {}", entry.name, expected.join(", "));
            return Err(CudaError::Inputs(what));
        }
        if inputs[..index].iter().any(|(earlier, _)| earlier == name) {
            return Err(CudaError::Inputs(format!("the input `{name}` is given twice")));
        }
    }
    entry.parameters.iter().map(|parameter| image(&entry.name, parameter, inputs)).collect()
}

fn image(entry: &str, parameter: &Parameter, inputs: &[(&str, Tensor)]) -> Result<Option<Vec<u8>>, CudaError> {
    if !parameter.role.is_given() {
        return Ok(None);
    }
    let shown = |dtype, shape| format!("{dtype} of shape {}", show_shape(shape));
    let expected = shown(parameter.dtype, &parameter.shape);
    let Some((_, tensor)) = inputs.iter().find(|(name, _)| *name == parameter.name) else {
        let what = format!("`{entry}` needs the input `{}`: {expected}", parameter.name);
        return Err(CudaError::Inputs(what));
    };
    if (tensor.dtype(), tensor.shape()) != (parameter.dtype, parameter.shape.as_slice()) {
        let found = shown(tensor.dtype(), tensor.shape());
        return Err(CudaError::Inputs(format!("the input `{}` must be {expected}, found {found}", parameter.name)));
    }
    Ok(Some(tensor.to_le_bytes()))
}
