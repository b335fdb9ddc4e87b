//! Rules of ops that this crate's tables hold, as traits on the op's declaration type.

use tf_types::access::AccessRelation;
use tf_types::{Type, TypeError};

use crate::guard::{Panic, guard};
use crate::op::{Op, OpCall, OpView};
use crate::{Context, Diagnostic, Span};

/// A refusal by a rule: a message, and what is to be said of single operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleError {
    /// What was expected and what was found.
    pub message: String,
    /// How to mend it.
    pub help: Option<String>,
    /// Operand index and text; the first one is where the error points.
    pub operands: Vec<(usize, String)>,
    /// Attribute name and text, which may be empty.
    pub attrs: Vec<(&'static str, String)>,
}

/// Where a call and its parts stand in the source, as far as that is known.
#[derive(Clone, Copy, Debug, Default)]
pub struct CallSpans<'a> {
    /// The whole call.
    pub call: Option<Span>,
    /// Each operand.
    pub operands: &'a [Option<Span>],
    /// Attributes that are written, by name.
    pub attrs: &'a [(&'static str, Span)],
}

impl RuleError {
    /// An error about the call as a whole.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None, operands: Vec::new(), attrs: Vec::new() }
    }

    /// The same error, pointing at an operand.
    #[must_use]
    pub fn operand(mut self, index: usize, text: impl Into<String>) -> Self {
        self.operands.push((index, text.into()));
        self
    }

    /// The same error, pointing at an attribute where it is written.
    #[must_use]
    pub fn attr(self, name: &'static str) -> Self {
        self.attr_with(name, "")
    }

    /// The same error, pointing at an attribute where it is written, with a text.
    #[must_use]
    pub fn attr_with(mut self, name: &'static str, text: impl Into<String>) -> Self {
        self.attrs.push((name, text.into()));
        self
    }

    /// The same error of a rule that counts operands from number `first` of the call on.
    #[must_use]
    pub fn counted_from(mut self, first: usize) -> Self {
        self.operands.iter_mut().for_each(|(index, _)| *index += first);
        self
    }

    /// The same error with a fix hint.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// As a diagnostic of the call that stands there.
    #[must_use]
    pub fn into_diagnostic(self, at: CallSpans<'_>) -> Diagnostic {
        let mut diagnostic = Diagnostic::error(self.message).at(at.call);
        diagnostic.help = self.help;
        for (name, text) in self.attrs {
            let written = at.attrs.iter().find(|(attr, _)| *attr == name);
            diagnostic.labels.extend(written.map(|&(_, at)| (at, text)));
        }
        for (index, text) in self.operands {
            match at.operands.get(index).copied().flatten() {
                Some(at) if Some(at) != diagnostic.span => diagnostic.labels.push((at, text)),
                _ => diagnostic.notes.push((None, format!("operand {index}: {text}"))),
            }
        }
        diagnostic
    }
}

impl From<TypeError> for RuleError {
    fn from(error: TypeError) -> Self {
        Self { help: error.help, ..Self::new(error.message) }
    }
}

/// The type of a value op's result.
pub trait TypeRule: Op {
    /// Infers the type; a pure function of the op, its operands' types and the literals among its operands. The context
    /// remembers results.
    ///
    /// # Errors
    /// The operands do not fit: dtype, shape, placement or storage.
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError>;
}

/// What an effect op requires of its operands.
pub trait VerifyRule: Op {
    /// Checks a statement.
    ///
    /// # Errors
    /// The operands do not fit.
    fn verify<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<(), RuleError>;
}

/// From which elements of its operands a value op makes each element of its result. Placement follows from it.
pub trait AccessRule: Op {
    /// The relations of a call whose operands fit: one for a tensor, one a field for a tuple, several for a result that is
    /// written in steps. None for operands that do not fit.
    fn access<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Vec<AccessRelation<'c>>;
}

/// Handler of a [`TypeRule`].
pub type TypeFn = for<'c> fn(OpView<'c>, &Context<'c>) -> Result<Type<'c>, RuleError>;
/// Handler of a [`VerifyRule`].
pub type VerifyFn = for<'c> fn(OpView<'c>, &Context<'c>) -> Result<(), RuleError>;
/// Handler of an [`AccessRule`].
pub type AccessFn = for<'c> fn(OpView<'c>, &Context<'c>) -> Vec<AccessRelation<'c>>;

/// The call as one of `O`: tables are keyed by op, so it always is.
pub fn typed<O: Op>(view: OpView<'_>) -> OpCall<'_, O> {
    OpCall::new(view).unwrap_or_else(|| unreachable!("rule of `{}` called for {:?}", O::DECL.name, view.op))
}

/// A rule that panicked. The handlers are compiled into the crate that registers the op, so a plugin catches its own panics.
fn panicked<O: Op>(rule: &str, panic: Panic) -> RuleError {
    let place = panic.place.map(|place| format!(" (at {place})")).unwrap_or_default();
    RuleError::new(format!("the {rule} rule of `{}` panicked: {}{place}", O::DECL.name, panic.message))
}

pub(crate) fn type_handler<'c, O: TypeRule>(view: OpView<'c>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
    guard(|| O::infer(typed(view), cx)).unwrap_or_else(|panic| Err(panicked::<O>("type", panic)))
}

pub(crate) fn verify_handler<'c, O: VerifyRule>(view: OpView<'c>, cx: &Context<'c>) -> Result<(), RuleError> {
    guard(|| O::verify(typed(view), cx)).unwrap_or_else(|panic| Err(panicked::<O>("verification", panic)))
}

pub(crate) fn access_handler<'c, O: AccessRule>(view: OpView<'c>, cx: &Context<'c>) -> Vec<AccessRelation<'c>> {
    O::access(typed(view), cx)
}
