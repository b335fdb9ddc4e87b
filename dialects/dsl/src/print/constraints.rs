//! Schedule constraints: `name: where(layout=…, mesh=…, storage=…)`.

use tf_core::node::constraint::{AxisConstraint, BindingConstraint, LayoutConstraint};
use tf_core::{Diagnostic, Expr, Result};
use tf_types::{Dim, Storage, Symbol};

use super::Printer;
use super::doc::Doc;
use super::python::{is_name, string};
use super::windows::is_index;

impl<'c> Printer<'_, 'c> {
    /// The constraint on a value, if there is one, as a statement of its own.
    pub(super) fn constraint(&mut self, expr: Expr<'c>) -> Result<()> {
        let Some(constraint) = expr.meta.constraint else { return Ok(()) };
        let name = self.scope.names.get(&expr).cloned();
        let Some(name) = name.filter(|_| expr.ty().as_tensor().is_some() && !is_index(expr)) else {
            return Err(Diagnostic::error("a constraint of the DSL is for a tensor with a name"));
        };
        let mut fields = Vec::new();
        if let Some(layout) = constraint.layout {
            fields.push(Doc::keyword("layout", self.layout_constraint(&layout)?));
        }
        if let Some(mesh) = constraint.mesh {
            fields.push(Doc::keyword("mesh", self.mesh(mesh)?.into()));
        }
        match constraint.storage {
            Some(Storage::Umat) => fields.push(Doc::keyword("storage", string("umat").into())),
            Some(storage) => fields.push(Doc::keyword("storage", self.file.import(storage.name()).into())),
            None => {}
        }
        self.line();
        let call = Doc::call(self.file.word(self.cx, "where")?, fields);
        Doc::Seq(vec![format!("{name}: ").into(), call]).write(&mut self.out, self.indent, self.indent, 0);
        Ok(())
    }

    fn layout_constraint(&mut self, layout: &LayoutConstraint<'c>) -> Result<Doc> {
        let axes = layout.axes.iter().map(|axis| {
            Ok(Doc::Text(match *axis {
                AxisConstraint::Any => "_".to_owned(),
                AxisConstraint::Extent(dim) => self.dim(dim)?,
                AxisConstraint::Split(extent, level) => format!("{} @ {}", self.extent(extent)?, level_name(level)?),
            }))
        });
        let axes = Doc::tuple(axes.collect::<Result<Vec<_>>>()?);
        if layout.bindings.is_empty() {
            return Ok(axes);
        }
        let bindings = layout.bindings.iter().map(|&(level, binding)| {
            let state = match binding {
                BindingConstraint::Broadcast => Doc::call(self.file.import("B"), Vec::new()),
                BindingConstraint::Partial(reduction) => self.partial(reduction.as_str())?,
            };
            Ok(Doc::Seq(vec![format!("{} @ ", level_name(level)?).into(), state]))
        });
        let bindings = bindings.collect::<Result<Vec<_>>>()?;
        Ok(Doc::tuple(vec![axes, Doc::set(bindings)]))
    }

    fn extent(&mut self, extent: Option<Dim<'c>>) -> Result<String> {
        let Some(extent) = extent else { return Ok("_".to_owned()) };
        let text = self.dim(extent)?;
        Ok(if text.contains(' ') { format!("({text})") } else { text })
    }
}

fn level_name(level: Symbol<'_>) -> Result<&str> {
    if is_name(level.as_str()) {
        return Ok(level.as_str());
    }
    Err(Diagnostic::error(format!("`{level}` is no name of a level in Python")))
}
