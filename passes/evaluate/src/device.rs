//! One device: a run happens where its tensors are, and moves none of them.

use std::collections::BTreeMap;

use tf_core::{Diagnostic, Result};
use tf_value::io::HOST;

/// The tensors of a run by the device that they lie on.
#[derive(Debug, Default)]
pub struct Devices(BTreeMap<String, Vec<String>>);

impl Devices {
    /// Notes where a tensor lies.
    pub fn add(&mut self, name: &str, device: &str) {
        let names = self.0.entry(device.to_owned()).or_default();
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }

    /// Whether all lie in host memory, where the values of all engines begin and end.
    ///
    /// # Errors
    /// What lies where, if that is more than one device or another one.
    pub fn check(&self) -> Result<()> {
        let where_is = |(device, names): (&String, &Vec<String>)| {
            let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
            format!("{} on {device}", names.join(", "))
        };
        let places: Vec<_> = self.0.iter().map(where_is).collect();
        let message = match self.0.keys().map(String::as_str).collect::<Vec<_>>().as_slice() {
            [] => return Ok(()),
            [only] if *only == HOST => return Ok(()),
            [_] => format!("tensors are taken from host memory, found {}", places.join("; ")),
            _ => format!("the tensors of a run lie on one device, found {}", places.join("; ")),
        };
        Err(Diagnostic::error(message).with_help("evaluation moves no tensor: copy them to the host first"))
    }
}

#[cfg(test)]
mod tests {
    use super::Devices;

    #[test]
    fn what_lies_where_is_named() {
        let message = |tensors: &[(&str, &str)]| {
            let mut devices = Devices::default();
            tensors.iter().for_each(|(name, device)| devices.add(name, device));
            devices.check().map_err(|error| error.message)
        };
        assert_eq!((message(&[]), message(&[("x", "cpu"), ("y", "cpu")])), (Ok(()), Ok(())));
        let mixed = message(&[("x", "cpu"), ("y", "cuda:0"), ("w", "cuda:0"), ("y", "cuda:0"), ("z", "cpu")]);
        assert_eq!(
            mixed.unwrap_err(),
            "the tensors of a run lie on one device, found `x`, `z` on cpu; `y`, `w` on cuda:0"
        );
        let other = message(&[("x", "cuda:1")]);
        assert_eq!(other.unwrap_err(), "tensors are taken from host memory, found `x` on cuda:1");
    }
}
