//! Why something is not read.

use std::ops::Deref;

use tf_core::diag::did_you_mean;
use tf_core::{Diagnostic, Span};
use tf_types::{DType, Storage};

use crate::value::Value;

/// A refusal on its way to the statement that reports it.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// Against a rule: always an error.
    Wrong(Box<Reason>),
    /// No compile-time value that is read: at file level an error only where the name is used.
    Unread(Box<Reason>),
    /// A consequence of an error that is reported already.
    Reported,
}

pub(crate) type Res<T> = Result<T, Refusal>;

/// What is said of a refusal, and the exception of Python that it stands for, where it is one.
#[derive(Debug)]
pub(crate) struct Reason {
    diagnostic: Diagnostic,
    pub(crate) raises: Option<&'static str>,
}

impl Deref for Reason {
    type Target = Diagnostic;

    fn deref(&self) -> &Diagnostic {
        &self.diagnostic
    }
}

impl Refusal {
    pub(crate) fn wrong(span: Span, message: impl Into<String>) -> Self {
        Diagnostic::error(message).at(span).into()
    }

    pub(crate) fn unread(span: Span, message: impl Into<String>) -> Self {
        Self::wrong(span, message).where_used()
    }

    /// Where Python raises that exception.
    pub(crate) fn raises(mut self, exception: &'static str) -> Self {
        if let Self::Wrong(reason) | Self::Unread(reason) = &mut self {
            reason.raises = Some(exception);
        }
        self
    }

    /// The exception of Python that it stands for; a name that is not defined may be one that is not known here.
    pub(crate) fn raised(&self) -> Option<&'static str> {
        match self {
            Self::Wrong(reason) | Self::Unread(reason) => reason.raises.filter(|name| *name != "NameError"),
            Self::Reported => None,
        }
    }

    /// An error only where the name is used that it keeps from having a value.
    pub(crate) fn where_used(self) -> Self {
        match self {
            Self::Wrong(diagnostic) => Self::Unread(diagnostic),
            other => other,
        }
    }

    /// An error at once.
    pub(crate) fn always(self) -> Self {
        match self {
            Self::Unread(diagnostic) => Self::Wrong(diagnostic),
            other => other,
        }
    }

    fn edit(mut self, edit: impl FnOnce(&mut Diagnostic)) -> Self {
        match &mut self {
            Self::Wrong(reason) | Self::Unread(reason) => edit(&mut reason.diagnostic),
            Self::Reported => {}
        }
        self
    }

    pub(crate) fn help(self, text: impl Into<String>) -> Self {
        self.edit(|d| d.help = Some(text.into()))
    }

    /// With the known word that a wrong one was likely meant to be.
    pub(crate) fn near<'a>(self, word: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        match did_you_mean(word, known) {
            Some(near) => self.help(format!("did you mean `{near}`?")),
            None => self,
        }
    }

    /// With the call that led to an error, of a few calls inside each other.
    pub(crate) fn within_call(self, span: Span) -> Self {
        match self {
            Self::Wrong(diagnostic) if diagnostic.labels.len() < 3 => Self::Wrong(diagnostic).also(span, "called here"),
            other => other,
        }
    }

    pub(crate) fn also(self, span: Span, text: impl Into<String>) -> Self {
        self.edit(|d| d.labels.push((span, text.into())))
    }

    pub(crate) fn diagnostic(self) -> Option<Diagnostic> {
        match self {
            Self::Wrong(reason) | Self::Unread(reason) => {
                let mut diagnostic = reason.diagnostic;
                shorten(&mut diagnostic.message);
                diagnostic.help.as_mut().map(shorten);
                diagnostic.labels.iter_mut().for_each(|(_, text)| shorten(text));
                Some(diagnostic)
            }
            Self::Reported => None,
        }
    }
}

/// Cuts the middle out of a message that quotes a name or literal of any length.
fn shorten(text: &mut String) {
    const LONGEST: usize = 2_000;
    const KEPT: usize = 200;
    if text.len() <= LONGEST {
        return;
    }
    let (start, end) = (text.floor_char_boundary(KEPT), text.ceil_char_boundary(text.len() - KEPT));
    text.replace_range(start..end, " … ");
}

impl From<Diagnostic> for Refusal {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Wrong(Box::new(Reason { diagnostic, raises: None }))
    }
}

/// Gives errors of the type layer a place.
pub(crate) trait AtSpan<T> {
    fn at(self, span: Span) -> Res<T>;
}

impl<T> AtSpan<T> for Result<T, tf_types::TypeError> {
    fn at(self, span: Span) -> Res<T> {
        self.map_err(|error| Diagnostic::from(error).at(span).into())
    }
}

/// `a, b and c`.
pub(crate) fn listed(items: &[String]) -> String {
    match items.split_last() {
        Some((last, some @ [_, ..])) => format!("{} and {last}", some.join(", ")),
        _ => items.concat(),
    }
}

/// A call of Python's on values that it is not read for.
pub(crate) fn unread_call(what: &str, values: &[Value<'_>], span: Span) -> Refusal {
    let found: Vec<_> = values.iter().map(Value::describe).collect();
    Refusal::unread(
        span,
        match &found[..] {
            [] => format!("`{what}()` is not read"),
            found => format!("`{what}` of {} is not read", listed(found)),
        },
    )
}

/// Names of dtypes in other libraries.
const FOREIGN_DTYPES: &[(&str, &str)] = &[
    ("float32", "f32"),
    ("float", "f32"),
    ("fp32", "f32"),
    ("float16", "f16"),
    ("half", "f16"),
    ("fp16", "f16"),
    ("bfloat16", "bf16"),
    ("float8_e4m3fn", "fp8e4m3"),
    ("float8_e4m3", "fp8e4m3"),
    ("float8_e8m0fnu", "f8e8m0"),
    ("int32", "i32"),
    ("int", "i64"),
    ("int64", "i64"),
    ("long", "i64"),
    ("boolean", "bool"),
];

/// Keywords of other libraries, each with what parameters are called here that say the same.
const FOREIGN_KEYWORDS: &[(&str, &[&str])] = &[
    ("dim", &["axis", "axes"]),
    ("axis", &["axes"]),
    ("axes", &["axis", "perm"]),
    ("dims", &["axes", "perm"]),
    ("keepdims", &["keepdim"]),
    ("out_dtype", &["dtype"]),
    ("shape", &["new_shape"]),
    ("threads", &["block"]),
    ("num_threads", &["block"]),
    ("block_dim", &["block"]),
    ("blockDim", &["block"]),
    ("blocks", &["grid"]),
    ("num_blocks", &["grid"]),
    ("grid_dim", &["grid"]),
    ("gridDim", &["grid"]),
    ("clusters", &["cluster"]),
    ("smem", &["dynamic_smem"]),
    ("shared", &["dynamic_smem"]),
    ("shared_mem", &["dynamic_smem"]),
    ("min", &["min_val"]),
    ("max", &["max_val"]),
    ("begin", &["starts"]),
    ("start", &["starts"]),
];

/// The parameter that a keyword of another library stands for.
pub(crate) fn foreign_keyword<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let (_, own) = FOREIGN_KEYWORDS.iter().find(|(foreign, _)| *foreign == word)?;
    own.iter().find_map(|own| known.iter().find(|known| *known == own)).copied()
}

pub(crate) fn named_dtype(name: &str, span: Span) -> Res<DType> {
    DType::from_name(name).at(span).map_err(|refusal: Refusal| {
        match FOREIGN_DTYPES.iter().find(|(foreign, _)| *foreign == name) {
            Some((_, own)) => refusal.help(format!("did you mean `{own}`?")),
            None => refusal.near(name, DType::ALL.map(DType::name)),
        }
    })
}

/// How a reduction of another library is written here.
pub(crate) fn reduction(name: &str) -> Option<String> {
    let kind = match name {
        "sum" | "mean" => name,
        "max" | "amax" => "max",
        "average" => "mean",
        "min" | "amin" => {
            let greatest = "tf.reduce(tf.neg(x), axes=(1,), keepdim=False, kind=\"max\")";
            return Some(format!("along an axis: `tf.neg({greatest})`"));
        }
        _ => return None,
    };
    Some(format!("along an axis: `tf.reduce(x, axes=(1,), keepdim=False, kind=\"{kind}\")`"))
}

pub(crate) fn named_storage(name: &str, span: Span) -> Res<Storage> {
    Storage::from_name(name).at(span).map_err(|refusal: Refusal| refusal.near(name, Storage::ALL.map(Storage::name)))
}

/// The member of `StorageKind` with that name.
pub(crate) fn storage_member(name: &str, span: Span) -> Res<Storage> {
    let known = Storage::ALL.map(|storage| (storage, storage.name().to_ascii_uppercase()));
    known.iter().find(|(_, member)| member == name).map(|(storage, _)| *storage).ok_or_else(|| {
        let refusal = Refusal::wrong(span, format!("`StorageKind` has no member `{name}`"));
        refusal.near(&name.to_ascii_uppercase(), known.iter().map(|(_, member)| member.as_str()))
    })
}
