//! Tensors of files bound to the entry's parameters and results.

use tf_artifact::{Entry, Parameter, Role};
use tf_value::Tensor;
use tf_value::io::TensorFile;

use crate::options::Options;

/// The inputs found.
#[derive(Debug)]
pub(crate) struct Bound<'e> {
    /// By parameter name, in the entry's order.
    pub(crate) tensors: Vec<(&'e str, Tensor)>,
    /// One sentence for each conversion.
    pub(crate) notes: Vec<String>,
}

/// Finds every parameter the caller provides: as prefix + name, name, or `weights.` + name.
pub(crate) fn inputs<'e>(entry: &'e Entry, file: Option<&TensorFile>, prefix: &str) -> Result<Bound<'e>, String> {
    let mut bound = Bound { tensors: Vec::new(), notes: Vec::new() };
    for parameter in entry.parameters.iter().filter(|parameter| parameter.role.is_given()) {
        let name = &parameter.name;
        let Some(file) = file else {
            return Err(format!("`{}` takes `{name}`: name the file that holds it by inputs=FILE", entry.name));
        };
        let keys = distinct([format!("{prefix}{name}"), name.clone(), format!("weights.{name}")]);
        let Some(key) = keys.iter().find(|key| file.contains(key)) else {
            return Err(format!("{} has no tensor for `{name}`: looked for {}", file.path().display(), list(&keys)));
        };
        let tensor = read(file, key, parameter)?;
        if let Some(info) =
            file.info(key).filter(|info| info.dtype != Some(parameter.dtype) && !raw_bits(parameter, &info.stored))
        {
            bound.notes.push(format!("`{name}` is {} in the file, cast to {}", info.stored, parameter.dtype));
        }
        bound.tensors.push((name, tensor));
    }
    Ok(bound)
}

/// The wanted results, in order; in their stored dtype, so that a difference of dtypes shows.
pub(crate) fn expected(entry: &Entry, file: &TensorFile, options: &Options) -> Result<Vec<Tensor>, String> {
    let prefix = options.wanted_prefix();
    let results = entry.results();
    let same_names = options.expect == options.inputs && prefix == options.prefix;
    let find = |(index, result): (usize, &Parameter)| {
        let mut names = vec![format!("out{index}")];
        if results.len() == 1 {
            names.insert(0, "out".into());
        }
        // A parameter that is input and result has its input under this name.
        if !(same_names && result.role == Role::InOut) {
            names.insert(0, result.name.clone());
        }
        let with_prefix = names.iter().map(|name| format!("{prefix}{name}"));
        let keys = distinct(with_prefix.chain(names.iter().cloned()));
        let Some(key) = keys.iter().find(|key| file.contains(key)) else {
            let path = file.path().display();
            return Err(format!("{path} has no tensor for the result `{}`: looked for {}", result.name, list(&keys)));
        };
        let stored = file.info(key).map(|info| info.stored).unwrap_or_default();
        if raw_bits(result, &stored) {
            return read(file, key, result);
        }
        file.get(key).unwrap_or_else(|| unreachable!("the key was found")).map_err(|error| error.to_string())
    };
    results.iter().enumerate().map(find).collect()
}

/// Whether stored U8 are the bits of the parameter's 8-bit float dtype.
fn raw_bits(parameter: &Parameter, stored: &str) -> bool {
    stored == "U8" && parameter.dtype.is_float() && parameter.dtype.bits() == 8
}

fn read(file: &TensorFile, key: &str, parameter: &Parameter) -> Result<Tensor, String> {
    let found = file.get_as(key, parameter.dtype);
    found.unwrap_or_else(|| unreachable!("the key was found")).map_err(|error| error.to_string())
}

fn distinct(keys: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for key in keys {
        if !kept.contains(&key) {
            kept.push(key);
        }
    }
    kept
}

fn list(keys: &[String]) -> String {
    keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use tf_artifact::{Entry, Parameter, Role};
    use tf_types::DType;
    use tf_value::Tensor;
    use tf_value::io::{TensorFile, write_tensors};

    use super::{expected, inputs};
    use crate::options::Options;

    fn entry() -> Entry {
        let parameter = |name: &str, role| Parameter { name: name.into(), dtype: DType::F32, shape: vec![1], role };
        let parameters = vec![
            parameter("x", Role::Input),
            parameter("w", Role::Const),
            parameter("state", Role::InOut),
            parameter("y", Role::Output),
        ];
        Entry { name: "f".into(), parameters, outputs: 2 }
    }

    fn file(test: &str, tensors: &[(&str, f32)]) -> TensorFile {
        let path = std::env::temp_dir().join(format!("tf-run-{test}-{}.safetensors", std::process::id()));
        let tensors: Vec<(&str, Tensor)> =
            tensors.iter().map(|&(name, value)| (name, Tensor::from_f32(&[1], &[value]).unwrap())).collect();
        write_tensors(&path, tensors.iter().map(|(name, tensor)| (*name, tensor))).unwrap();
        let file = TensorFile::open(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        file
    }

    #[test]
    fn names_are_tried_in_order() {
        let file = file("inputs", &[("r.in.x", 1.0), ("x", 2.0), ("weights.w", 3.0), ("state", 4.0)]);
        let entry = entry();
        let bound = inputs(&entry, Some(&file), "r.in.").unwrap();
        let found: Vec<(&str, f32)> = bound.tensors.iter().map(|(name, t)| (*name, t.to_f32_vec()[0])).collect();
        assert_eq!(found, [("x", 1.0), ("w", 3.0), ("state", 4.0)]);
        assert!(bound.notes.is_empty());
    }

    #[test]
    fn missing_inputs_are_named() {
        let refusal = |file| inputs(&entry(), file, "r.in.").err().unwrap();
        assert_eq!(refusal(None), "`f` takes `x`: name the file that holds it by inputs=FILE");
        let file = file("missing", &[("x", 1.0)]);
        let message = refusal(Some(&file));
        assert!(message.ends_with("has no tensor for `w`: looked for `r.in.w`, `w`, `weights.w`"), "{message}");
    }

    #[test]
    fn wanted_results_by_name_or_position() {
        let file = file("expected", &[("r.in.state", 1.0), ("r.out.state", 2.0), ("out1", 3.0), ("r.in.out0", 4.0)]);
        let mut options = Options { prefix: "r.in.".into(), ..Options::default() };
        let values = |options: &Options| -> Vec<f32> {
            expected(&entry(), &file, options).unwrap().iter().map(|t| t.to_f32_vec()[0]).collect()
        };
        assert_eq!(values(&options), [2.0, 3.0]);
        // Under the inputs' own prefix an in_out parameter's name means the input.
        options.expect_prefix = Some("r.in.".into());
        assert_eq!(values(&options), [4.0, 3.0]);
        let bare = Options { prefix: "none.".into(), expect_prefix: Some("none.".into()), ..Options::default() };
        let message = expected(&entry(), &file, &bare).unwrap_err();
        assert!(message.ends_with("for the result `state`: looked for `none.out0`, `out0`"), "{message}");
    }
}
