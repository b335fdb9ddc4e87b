//! Tensors for parameters: from files, by name, or random.

use tf_core::{Diagnostic, Expr, ExprKind, Result};
use tf_types::{DType, TensorType};
use tf_value::io::TensorFile;
use tf_value::{Tensor, ValueError, extent};

use crate::DimSizes;

/// Where the tensors of a run come from.
pub struct Sources<'c> {
    /// Tensors by parameter name.
    pub inputs: Option<TensorFile>,
    /// Tensors of `ConstTensor` parameters.
    pub weights: Option<TensorFile>,
    /// What stands before a parameter's name in the inputs file.
    pub prefix: String,
    /// Seed of made-up tensors; `None`: a missing one is an error.
    pub random: Option<u64>,
    /// Sizes of dims that no tensor gives, for made-up tensors.
    pub dims: DimSizes<'c>,
}

fn refusal(error: ValueError) -> Diagnostic {
    let mut diagnostic = Diagnostic::error(error.message);
    diagnostic.help = error.help;
    diagnostic
}

/// Opens a tensor file.
///
/// # Errors
/// It cannot be read, or is no tensor file.
pub fn open(path: &str) -> Result<TensorFile> {
    TensorFile::open(path).map_err(refusal)
}

impl<'c> Sources<'c> {
    /// The tensor of a parameter, in the parameter's dtype. A conversion is noted in `converted`.
    ///
    /// # Errors
    /// There is none of its names, or it cannot be read as that dtype.
    pub fn tensor(&self, param: Expr<'c>, converted: &mut Vec<String>) -> Result<Tensor> {
        let name = param.var_name().map_or("", |name| name.as_str());
        let Some(ty) = param.ty().as_tensor() else {
            return Err(Diagnostic::error(format!("parameter `{name}` is no tensor")).at(param.span()));
        };
        let is_const = matches!(param.kind, ExprKind::Var { is_const: true, .. });
        let own = format!("{}{name}", self.prefix);
        let mut places: Vec<(&TensorFile, String)> = Vec::new();
        if let Some(weights) = self.weights.as_ref().filter(|_| is_const) {
            places.push((weights, name.to_owned()));
        }
        if let Some(inputs) = &self.inputs {
            places.push((inputs, own));
            if is_const {
                places.push((inputs, format!("weights.{name}")));
            }
            places.push((inputs, name.to_owned()));
        }
        for (file, key) in &places {
            let Some(tensor) = file.get_as(key, ty.dtype) else { continue };
            let info = file.info(key);
            if let Some(stored) = info.filter(|info| info.dtype.is_some_and(|dtype| dtype != ty.dtype)) {
                converted.push(format!("`{name}`: {} in the file, cast to {}", stored.stored, ty.dtype));
            }
            return tensor.map_err(|error| refusal(error).at(param.span()));
        }
        match self.random {
            Some(seed) => self.made_up(seed, name, ty).map_err(|error| refusal(error).at(param.span())),
            None => Err(missing(name, is_const, &places).at(param.span())),
        }
    }

    fn made_up(&self, seed: u64, name: &str, ty: &TensorType<'c>) -> Result<Tensor, ValueError> {
        let mut shape = Vec::with_capacity(ty.rank());
        for &dim in ty.shape {
            let size = extent(dim, &self.dims).map_err(|error| error.with_help("state it: `dims=NAME:SIZE`"))?;
            shape.push(usize::try_from(size).map_err(|_| ValueError::new(format!("`{dim}` is {size}")))?);
        }
        let count = shape.iter().try_fold(1usize, |count, &n| count.checked_mul(n));
        let count = count.ok_or_else(|| ValueError::new(format!("a tensor of type {ty} is too large")))?;
        let mut numbers = Numbers::new(seed, name);
        if ty.dtype.is_float() {
            let positive = ty.dtype == DType::F8E8M0;
            let unit = |n: u64| (n >> 40) as f32 / (1u64 << 24) as f32;
            let number = |n| if positive { 1.0 + unit(n) } else { 2.0 * unit(n) - 1.0 };
            let values: Vec<f32> = (0..count).map(|_| number(numbers.next())).collect();
            return Tensor::from_vec(&shape, values)?.cast(ty.dtype);
        }
        let range = if ty.dtype == DType::Bool { 2 } else { 8 };
        let values: Vec<i64> = (0..count).map(|_| (numbers.next() % range) as i64).collect();
        Tensor::from_vec(&shape, values)?.cast(ty.dtype)
    }
}

/// SplitMix64, started by seed and name, so that the tensor of a parameter does not depend on the others.
struct Numbers(u64);

impl Numbers {
    fn new(seed: u64, name: &str) -> Self {
        Self(
            name.bytes()
                .fold(seed ^ 0x9e37_79b9_7f4a_7c15, |hash, b| (hash ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)),
        )
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// How many names of a file a message lists.
const LISTED: usize = 24;

fn missing(name: &str, is_const: bool, places: &[(&TensorFile, String)]) -> Diagnostic {
    let kind = if is_const { "ConstTensor parameter" } else { "parameter" };
    let Some((file, _)) = places.last() else {
        return Diagnostic::error(format!("there is no tensor for the {kind} `{name}`"))
            .with_help("name a file with `inputs=FILE`, or make tensors up with `random=SEED`");
    };
    let tried: Vec<_> = places.iter().map(|(file, key)| format!("`{key}` in {}", file.path().display())).collect();
    let error = Diagnostic::error(format!("there is no tensor for the {kind} `{name}`: tried {}", tried.join(", ")));
    let names = file.names();
    let more = names.len().saturating_sub(LISTED);
    let listed: Vec<_> = names.iter().take(LISTED).map(|n| format!("`{n}`")).collect();
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    error.with_note(None, format!("{} has {}{rest}", file.path().display(), listed.join(", ")))
}
