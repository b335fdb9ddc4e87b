//! What follows an expression's type: its schedule constraint and its location.

use tf_core::node::Constraint;
use tf_core::node::constraint::{AxisConstraint, BindingConstraint, ConstraintData, LayoutConstraint};
use tf_core::{Meta, Span};
use tf_types::Symbol;

use super::Parser;
use super::cursor::Parsed;
use super::lexer::Kind;

impl<'c> Parser<'_, '_, 'c> {
    /// ` where(…) loc(…)`, as metadata of the value of that name; `default` is its place in this file.
    pub fn meta(&mut self, default: Span, name: Option<Symbol<'c>>) -> Parsed<Meta<'c>> {
        let constraint = if self.at_word("where") { Some(self.constraint()?) } else { None };
        let span = self.location(default)?;
        Ok(Meta { span, name, constraint })
    }

    fn constraint(&mut self) -> Parsed<Constraint<'c>> {
        let first = self.advance();
        let mut data = ConstraintData { layout: None, mesh: None, storage: None };
        self.list([b'(', b')'], |p| {
            let token = p.expect_kind(Kind::Word, "`layout`, `mesh` or `storage`")?;
            p.expect(b'=')?;
            let twice = match p.text_of(token) {
                "layout" => data.layout.replace(p.layout_constraint()?).is_some(),
                "mesh" => data.mesh.replace(p.mesh()?).is_some(),
                "storage" => data.storage.replace(p.storage()?).is_some(),
                _ => return Err(p.error_at(token, "expected `layout`, `mesh` or `storage`")),
            };
            if twice {
                let message = format!("`{}` is given twice", p.text_of(token));
                return Err(p.error_at(token, message));
            }
            Ok(())
        })?;
        let span = self.span_from(first);
        self.cx.constraint(data).map_err(|error| self.report(error.at(span)))
    }

    /// `[_, 4 @cta] {thread = B, warp = P("sum")}`.
    fn layout_constraint(&mut self) -> Parsed<LayoutConstraint<'c>> {
        let axes = self.list([b'[', b']'], |p| {
            let extent = if p.accept_word("_") { None } else { Some(p.dim()?) };
            if p.token.kind == Kind::Symbol {
                return Ok(AxisConstraint::Split(extent, p.symbol("a topology")?.1));
            }
            Ok(extent.map_or(AxisConstraint::Any, AxisConstraint::Extent))
        })?;
        let mut bindings = Vec::new();
        if self.at(b'{') {
            bindings = self.list([b'{', b'}'], |p| {
                let topology = p.word_or_string("a topology")?;
                p.expect(b'=')?;
                if p.accept_word("B") {
                    return Ok((topology, BindingConstraint::Broadcast));
                }
                p.expect_word("P")?;
                p.expect(b'(')?;
                let kind = p.string()?;
                p.expect(b')')?;
                Ok((topology, BindingConstraint::Partial(kind)))
            })?;
        }
        Ok(LayoutConstraint { axes: self.cx.alloc_slice(&axes), bindings: self.cx.alloc_slice(&bindings) })
    }
}
