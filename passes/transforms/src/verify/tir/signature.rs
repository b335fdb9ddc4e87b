//! Parameters.

use rustc_hash::FxHashSet;
use tf_core::{Expr, Span};
use tf_types::{Storage, Symbol};

use super::Check;

impl<'c> Check<'_, 'c> {
    pub(super) fn signature(&mut self) {
        let function = self.function;
        let tensors = || function.params.iter().filter(|p| p.ty().as_tensor().is_some_and(|t| t.rank() > 0));
        let placed = tensors().filter(|p| p.ty().as_tensor().is_some_and(|t| t.shard().is_some())).count();
        if placed > 0 && placed < tensors().count() {
            let message =
                format!("{placed} of {} tensor parameters are placed on a mesh: it is all or none", tensors().count());
            self.errors.add(function.span, message);
        }
        let visible = function.visible_params().len();
        if function.output_count > visible {
            let message = format!("{} outputs, but only {visible} parameters", function.output_count);
            self.errors.add(function.span, message);
        }
        if let Some(hidden) = function.misplaced_hidden_param() {
            let message = format!("{} is a hidden extent, and an ordinary parameter follows it", hidden.describe());
            self.errors.add(hidden.span().or(function.span), message).help =
                Some("hidden extents come after all inputs and outputs".to_owned());
        }
        let mut names: FxHashSet<Symbol<'c>> = FxHashSet::default();
        for &param in function.params {
            match param.var_name() {
                None => drop(self.errors.add(function.span, "a parameter is no variable".to_owned())),
                Some(name) if !names.insert(name) => {
                    self.errors.add(param.span().or(function.span), format!("two parameters are named `{name}`"));
                }
                Some(_) => {}
            }
            self.bind(param, function.span);
            self.memory(param, param.span().or(function.span));
        }
    }

    /// A tensor in memory has a storage.
    pub(super) fn memory(&mut self, var: Expr<'c>, span: Option<Span>) {
        if var.ty().leaves().iter().any(|t| t.rank() > 0 && t.storage == Storage::Umat) {
            self.errors.add(span, format!("{} is in umat, which is no place in memory", var.describe()));
        }
    }
}
