//! `#[op]`: turns one struct into the declaration of an op.

mod op;

use proc_macro::TokenStream;

/// Declares an op.
///
/// ```ignore
/// /// Reduces `x` over `axes`.
/// #[op(dialect = "tf", category = "tensor")]
/// pub struct Reduce {
///     /// The operand.
///     #[input(Tensor)]
///     x: (),
///     /// Logical axes.
///     axes: Ints,
///     /// Keep reduced axes as 1.
///     #[default(true)]
///     keepdim: bool,
/// }
/// ```
///
/// A field with `#[input(Any | Tensor | Scalar)]` (also `variadic`, `optional`) is an operand, any other one an attribute, whose
/// type implements `AttrType`. The surface name is the struct's in snake case, or `name = "…"`; `effect` makes it an
/// effect op. Generates the unit struct with `impl Op`, a view with one accessor a field, and `Reduce::new(cx, attributes…)`.
#[proc_macro_attribute]
pub fn op(args: TokenStream, item: TokenStream) -> TokenStream {
    let args = syn::parse_macro_input!(args as op::Args);
    let item = syn::parse_macro_input!(item as syn::ItemStruct);
    op::expand(&args, &item).unwrap_or_else(syn::Error::into_compile_error).into()
}
