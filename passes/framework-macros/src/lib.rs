//! `derive(Pass)`, `derive(OptionValue)` and `locked_versions!`.

mod lock;
mod option;
mod pass;

use proc_macro::TokenStream;
use syn::{DeriveInput, Error, parse_macro_input};

/// Makes a struct the declaration of a pass; its doc comment is the pass's documentation.
///
/// ```ignore
/// /// Removes pure values that no result depends on.
/// #[derive(Clone, Pass)]
/// #[pass(name = "dce")]
/// pub struct DeadCodeElimination {
///     /// Leave functions with these names alone.
///     #[option]
///     skip: Vec<String>,
///     /// Repeat this often.
///     #[option]
///     #[default("1")]
///     rounds: i64,
///     #[statistic("values removed")]
///     removed: Counter,
///     table: Arc<Table>,
/// }
/// ```
///
/// `#[pass(name = "…", requires("a", "b"))]` names passes that must stand earlier in the pipeline, `preserves("x")` analyses whose
/// results hold for what the pass returns. A field with `#[option]` is an
/// option: its doc comment is its documentation, its type implements `OptionValue`, and `#[default("…")]` states its value in pipeline
/// text; without one, the type says whether it may be left out. `#[option(name = "…")]` gives another name than the field's. A field with
/// `#[statistic("…")]` is a `Counter`. All other fields are state that the pass carries.
///
/// Generates `PassInfo` and `new(carried fields in order) -> Self` with all options at their defaults.
#[proc_macro_derive(Pass, attributes(pass, option, default, statistic))]
pub fn pass(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as DeriveInput);
    pass::expand(&item).unwrap_or_else(Error::into_compile_error).into()
}

/// Makes an enum without fields the type of an option; the words of the pipeline text are its variants in kebab case.
#[proc_macro_derive(OptionValue)]
pub fn option_value(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as DeriveInput);
    option::expand(&item).unwrap_or_else(Error::into_compile_error).into()
}

/// The versions of the crates whose types cross between a driver and its plugins, as the nearest `Cargo.lock` at or above the
/// expanding crate has them: lines `crate: version` in one string literal.
#[proc_macro]
pub fn locked_versions(_: TokenStream) -> TokenStream {
    lock::expand().unwrap_or_else(Error::into_compile_error).into()
}
