//! Callees for the types of their arguments.

use rustc_hash::FxHashMap;
use tf_core::{Context, Diagnostic, Expr, Function};
use tf_types::Type;

use crate::agree::{Mismatch, bound_types, supplied};
use crate::typer::Typer;

/// What an instance is made for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key<'c> {
    pub callee: Function<'c>,
    /// The bound types, as a tuple.
    pub types: Type<'c>,
    pub omits: bool,
}

/// The instances made so far: a call of the same callee with the same types is of the identical instance (rule 6). A session is
/// one run of a front end, or the typing of one function.
#[derive(Default)]
pub struct Session<'c> {
    /// None: it was refused, and that has been reported.
    pub(crate) memo: FxHashMap<Key<'c>, Option<Function<'c>>>,
}

/// Why there is no callee.
pub enum Refused<'c> {
    /// The arguments do not fit the parameters.
    Arguments(Mismatch<'c>),
    /// An op of the callee does not take what it gets (rule 10).
    Inside(Box<Diagnostic>),
    /// The same call was refused before.
    Again,
}

/// What a call of a function is of.
pub(crate) enum Choice<'c> {
    /// A function that there is.
    Known(Function<'c>),
    /// One that was refused.
    Refused,
    /// An instance that is to be made.
    New(Key<'c>, Vec<Type<'c>>),
}

impl<'c> Session<'c> {
    /// What a call of `callee` with arguments of these types is of: the callee itself if it is a dispatch prototype or the types
    /// are the declared ones, else the instance for them.
    ///
    /// An instance has variables of its own, the bound types for its parameters, the inferred type of its body as the returned one,
    /// and `callee` as its origin. It is not in a module yet: see `tf_core::tree::replaced`.
    ///
    /// # Errors
    /// The arguments do not fit the parameters; an op of the body refuses its operands.
    pub fn elaborate(
        &mut self,
        cx: &Context<'c>,
        callee: Function<'c>,
        args: &[Type<'c>],
        omits: bool,
    ) -> Result<Function<'c>, Refused<'c>> {
        let (key, types) = match self.choose(cx, callee, args, omits).map_err(Refused::Arguments)? {
            Choice::Known(function) => return Ok(function),
            Choice::Refused => return Err(Refused::Again),
            Choice::New(key, types) => (key, types),
        };
        let mut typer = Typer::with(cx, std::mem::take(self));
        let made = typer.instance(key, &types);
        *self = typer.session;
        made.map_err(|error| error.map_or(Refused::Again, |error| Refused::Inside(Box::new(error))))
    }

    /// Rules 1 to 6.
    pub(crate) fn choose(
        &self,
        cx: &Context<'c>,
        callee: Function<'c>,
        args: &[Type<'c>],
        omits: bool,
    ) -> Result<Choice<'c>, Mismatch<'c>> {
        if takes(callee, args, omits) {
            return Ok(Choice::Known(callee));
        }
        // An instance that gets other types is made anew, from what it was made from.
        let callee = elaborated_from(callee).unwrap_or(callee);
        let types = bound_types(callee, args, omits)?;
        if callee.is_prototype() || takes(callee, args, omits) {
            return Ok(Choice::Known(callee));
        }
        let key = Key { callee, types: cx.tuple(&types), omits };
        Ok(match self.memo.get(&key) {
            Some(Some(function)) => Choice::Known(*function),
            Some(None) => Choice::Refused,
            None => Choice::New(key, types),
        })
    }
}

/// Whether the arguments have the declared types.
fn takes<'c>(callee: Function<'c>, args: &[Type<'c>], omits: bool) -> bool {
    supplied(callee, omits).map(Expr::ty).eq(args.iter().copied())
}

/// The function that an instance was elaborated from.
fn elaborated_from(function: Function<'_>) -> Option<Function<'_>> {
    function.origin.filter(|origin| origin.dims.is_none())?.function
}
