//! What is shrunk.

use std::collections::BTreeMap;
use std::hash::Hasher;
use std::sync::Arc;

use siphasher::sip::SipHasher13;
use tf_framework::text::PipelineText;
use tf_value::Tensor;

/// A module with what is done to it.
#[derive(Clone, Debug)]
pub struct Case {
    /// Textual IR.
    pub module: Arc<str>,
    /// The passes that run on it.
    pub pipeline: PipelineText,
    /// Passes that count as having run before them.
    pub after: Vec<String>,
    /// What programs are evaluated on.
    pub inputs: Inputs,
}

/// Inputs of evaluation.
#[derive(Clone, Debug)]
pub enum Inputs {
    /// Nothing is evaluated.
    None,
    /// That many sets, made up by `--check-each`.
    Generated(usize),
    /// Tensors by the names of parameters.
    Tensors(Arc<BTreeMap<String, Tensor>>),
}

impl Case {
    /// A number that two different cases do not share, the same in every run and version.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        let mut hasher = SipHasher13::new();
        let mut part = |bytes: &[u8]| {
            hasher.write_u64(bytes.len() as u64);
            hasher.write(bytes);
        };
        part(self.module.as_bytes());
        part(self.pipeline.to_string().as_bytes());
        part(self.after.join(",").as_bytes());
        match &self.inputs {
            Inputs::None => part(b"none"),
            Inputs::Generated(count) => part(count.to_string().as_bytes()),
            Inputs::Tensors(tensors) => {
                for (name, tensor) in tensors.iter() {
                    part(name.as_bytes());
                    part(format!("{} {:?}", tensor.dtype(), tensor.shape()).as_bytes());
                    part(&tensor.to_le_bytes());
                }
            }
        }
        hasher.finish()
    }
}
