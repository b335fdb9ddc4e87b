//! HIR functions with their variants and converters.

use tf_core::{Diagnostic, Expr, Function, Result};
use tf_types::Type;

use super::Printer;
use super::doc::{Doc, STEP};
use super::python::{docstring, is_name, string};
use super::scope::Scope;

impl<'c> Printer<'_, 'c> {
    /// `@func`, and the function without its parts.
    pub(super) fn function(&mut self, function: Function<'c>) -> Result<()> {
        self.line();
        self.out.push('@');
        let decorator = self.file.import("func").to_owned();
        self.out.push_str(&decorator);
        self.define(function.name.as_str(), function)
    }

    /// The variants, then the converters.
    pub(super) fn parts(&mut self, base: Function<'c>) -> Result<()> {
        let name = base.name;
        for &variant in base.variants {
            let [range] = variant.specializations else {
                let message = format!("a variant of the DSL has one range, found {}", variant.specializations.len());
                return Err(Diagnostic::error(message).at(variant.span));
            };
            if variant.return_type != base.return_type {
                let message =
                    format!("a variant of `{name}` returns {}, not {}", variant.return_type, base.return_type);
                return Err(Diagnostic::error(message).at(variant.span));
            }
            let pattern = self.file.import("DimVarRangePat").to_owned();
            let arguments =
                vec![string(range.dim.as_str()).into(), range.lo.to_string().into(), range.hi.to_string().into()];
            self.part(&format!("@{name}.specialize"), Doc::call(pattern, arguments));
            let label = variant.label.map(|label| label.as_str()).filter(|label| is_name(label));
            self.define(label.unwrap_or("_"), variant)?;
        }
        for converter in base.converters {
            self.part(&format!("@{name}.converter"), string(converter.weight.as_str()).into());
            self.define(converter.function.name.as_str(), converter.function)?;
        }
        Ok(())
    }

    fn part(&mut self, decorator: &str, argument: Doc) {
        self.out.push('\n');
        self.line();
        Doc::call(decorator, vec![argument]).write(&mut self.out, self.indent, self.indent, 0);
    }

    fn define(&mut self, name: &str, function: Function<'c>) -> Result<()> {
        let at = |error: Diagnostic| error.at(function.span);
        self.scope = Scope::default();
        let arrow = match function.body {
            // A prototype and its variants have the type that they declare, other functions that of their value.
            Some(_) if !function.specializations.is_empty() => self.annotation(function.return_type, false).ok(),
            None => Some(self.annotation(function.return_type, false).map_err(at)?),
            Some(body) if body.ty() == function.return_type => self.return_annotation(body.ty()),
            Some(body) => {
                let message = format!("`{name}` returns {}, and its value is {}", function.return_type, body.ty());
                return Err(at(Diagnostic::error(message)));
            }
        };
        self.signature(name, function.params, arrow).map_err(at)?;
        if let Some(doc) = function.doc {
            self.text_line(&docstring(doc.as_str()));
        }
        match function.body {
            None => self.text_line("pass"),
            Some(body) => self.body(function.params, body).map_err(at)?,
        }
        self.close_block();
        Ok(())
    }

    /// `def name(`, one parameter a line, `) -> type:`.
    pub(super) fn signature(&mut self, name: &str, params: &[Expr<'c>], arrow: Option<Doc>) -> Result<()> {
        if name != "_" && !is_name(name) {
            return Err(Diagnostic::error(format!("`{name}` is no name of a function in Python")));
        }
        self.text_line(&format!("def {name}("));
        self.indent += STEP;
        for &param in params {
            let Some(name) = param.var_name() else { continue };
            self.scope.reserve(name)?;
            self.scope.names.insert(param, name.as_str().into());
            self.scope.bind(name, param);
            let ty: Type<'c> = param.ty();
            let annotation = self.annotation(ty, param.is_const_param()).map_err(|error| error.at(param.span()))?;
            self.line();
            Doc::Seq(vec![format!("{name}: ").into(), annotation]).write(&mut self.out, self.indent, self.indent, 1);
            self.out.push(',');
        }
        self.indent -= STEP;
        if !params.is_empty() {
            self.line();
        }
        self.out.push(')');
        if let Some(arrow) = arrow {
            Doc::Seq(vec![" -> ".into(), arrow]).write(&mut self.out, self.indent, self.indent + 1, 1);
        }
        self.open_block();
        Ok(())
    }
}
