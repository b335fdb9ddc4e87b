//! Why a value has no meaning position by position, and how that is told.

use tf_core::{Diagnostic, Expr};
use tf_types::Symbol;
use tf_value::{Tensor, Tolerance, ValueError};

use crate::mesh::digit::{Digit, Index, each};
use crate::mesh::parts::Parts;
use crate::mesh::placement::{Holds, Placed};
use crate::semantics::failed;

/// Why there is no value.
pub enum Fault<'c> {
    /// A rule refuses it.
    Refused(ValueError),
    /// A rule refuses what a position has, as `w=0 l=1`.
    RefusedAt(ValueError, String),
    /// Terms are used as if they were the value.
    Terms {
        /// Number of the operand.
        operand: usize,
        reduction: Symbol<'c>,
        /// The mesh axis.
        axis: String,
    },
    /// Positions that should hold the same do not.
    Disagree {
        /// The mesh axis.
        axis: String,
        /// What two of them hold, and where.
        found: String,
    },
}

pub type Outcome<'c, T> = Result<T, Fault<'c>>;

impl From<ValueError> for Fault<'_> {
    fn from(error: ValueError) -> Self {
        Self::Refused(error)
    }
}

impl From<String> for Fault<'_> {
    fn from(message: String) -> Self {
        Self::Refused(ValueError::new(message))
    }
}

impl<'c> Fault<'c> {
    /// The same of a position, where there are several.
    pub fn of_position(self, name: impl FnOnce() -> String) -> Self {
        match self {
            Self::Refused(error) => match name() {
                name if name.is_empty() => Self::Refused(error),
                name => Self::RefusedAt(error, name),
            },
            fault => fault,
        }
    }

    /// The message about the value of `expr`, which is made of `sources`.
    pub fn at(self, expr: Expr<'c>, sources: &[Expr<'c>]) -> Diagnostic {
        match self {
            Self::Refused(error) => failed(expr, error.message, error.help),
            Self::RefusedAt(error, position) => {
                failed(expr, error.message, error.help).with_note(None, format!("at position {position}"))
            }
            Self::Terms { operand, reduction, axis } => {
                let message =
                    format!("positions along `{axis}` hold terms of a {reduction} that is not completed here");
                let mut error = failed(expr, message, None).with_help(format!(
                    "reshard it to Broadcast or Split on `{axis}` first: that completes the {reduction}"
                ));
                if let Some(source) = sources.get(operand) {
                    let text = format!("{} is P(\"{reduction}\") on `{axis}`", source.describe());
                    error = match source.span() {
                        Some(span) if Some(span) != expr.span() => error.also(span, text),
                        span => error.with_note(span, text),
                    };
                }
                error
            }
            Self::Disagree { axis, found } => {
                let message = format!("positions along `{axis}` hold different values, where the type says Broadcast");
                let mut error = failed(expr, message, None).with_note(None, found);
                for source in sources {
                    if let Some(span) = source.span().filter(|span| Some(*span) != expr.span()) {
                        error = error.also(span, format!("made from {}", source.describe()));
                    }
                }
                error.with_help(
                    "a value that is another at every position cannot be placed; what is Partial or Split must say so",
                )
            }
        }
    }
}

/// The value without these digits, along which positions must hold the same.
pub fn agreed<'c>(parts: &Parts, gone: &[Digit], placed: &Placed<'c>) -> Outcome<'c, Parts> {
    let kept: Vec<Digit> = parts.digits.iter().copied().filter(|digit| !gone.contains(digit)).collect();
    let order = [&kept[..], gone].concat();
    let source = Index::new(&order, &parts.digits);
    let one = Parts::of(&parts.shape, kept, |outer| {
        let at = |inner: &[usize]| [outer, inner].concat();
        let first = at(&vec![0; gone.len()]);
        let want = &parts.tensors[source.at(&first)];
        each(gone, |inner| {
            let (here, got) = (at(inner), &parts.tensors[source.at(&at(inner))]);
            let Some(difference) = difference(got, want) else { return Ok(()) };
            let unlike = |axis: &&crate::mesh::placement::MeshAxis<'c>| {
                let index = Index::new(&order, &[axis.digit]);
                axis.holds == Holds::Same && index.at(&first) != index.at(&here)
            };
            let axis = placed.mesh.iter().find(unlike).map_or_else(String::new, |axis| axis.name());
            let position = |at: &[usize]| {
                let known = placed.mesh.iter().map(|axis| (axis.name(), Index::new(&order, &[axis.digit]).at(at)));
                known.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
            };
            let (index, got, want) = difference;
            let found = format!(
                "at {index:?} position {} holds {want}, position {} holds {got}",
                position(&first),
                position(&here)
            );
            Err(Fault::Disagree { axis, found })
        })?;
        Ok::<_, Fault<'c>>(want.clone())
    })?;
    Ok(one.meant(&parts.meant))
}

/// The first element that differs, and both.
fn difference(got: &Tensor, want: &Tensor) -> Option<(Vec<usize>, f64, f64)> {
    let compared = Tolerance { signed_zero: true, ..Tolerance::default() }.compare(got, want);
    if compared.unlike.is_some() {
        return Some((Vec::new(), f64::NAN, f64::NAN));
    }
    compared.first.map(|first| (first.index, first.got, first.want))
}
