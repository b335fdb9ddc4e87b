//! Meshes and their scopes.

use ruff_python_ast as ast;
use tf_core::Span;
use tf_core::diag::did_you_mean;
use tf_types::{Layout, Mesh, MeshLayout, Symbol, Topology};

use super::statements::Flow;
use crate::limits;
use crate::names::Builtin;
use crate::parser::{Binding, BodyFrame, Frame, Parser};
use crate::refusal::{AtSpan, Refusal, Res};
use crate::value::Value;

impl<'c> Parser<'_, 'c> {
    /// `Mesh(levels, extents or layout, names)`, and where its extents stand.
    pub(crate) fn mesh(&mut self, call: &ast::ExprCall, span: Span) -> Res<(Mesh<'c>, Span)> {
        let params = ["topologies", "layout", "names", "topology"];
        let mut given = self.arguments(call, "Mesh", &params)?;
        if let Some(level) = given[3].take()
            && given[0].replace(level).is_some()
        {
            return Err(Refusal::wrong(self.span(level), "`Mesh` gets its levels twice"));
        }
        let (Some(levels), Some(layout)) = (given[0], given[1]) else {
            return Err(Refusal::wrong(span, "`Mesh` needs levels and extents")
                .help("write `Mesh((\"thread\",), (4, 32), (\"w\", \"l\"))`"));
        };
        let topologies = self.levels(levels)?;
        let layout_span = self.span(layout);
        let layout = self.mesh_layout(layout)?;
        let names = match given[2] {
            None => Vec::new(),
            Some(names) => self.axis_names(names, layout.rank())?,
        };
        Ok((self.cx.mesh(&topologies, MeshLayout::Plain(layout), &names), layout_span))
    }

    fn levels(&mut self, expr: &ast::Expr) -> Res<Vec<Topology<'c>>> {
        if let ast::Expr::Tuple(ast::ExprTuple { elts, .. }) | ast::Expr::List(ast::ExprList { elts, .. }) = expr {
            if elts.is_empty() {
                return Err(Refusal::wrong(self.span(expr), "a mesh has at least one level"));
            }
            let mut levels = Vec::new();
            self.check_count(elts.len(), "levels", self.span(expr))?;
            for element in elts {
                let value = self.eval(element, None)?;
                levels.push(self.level(&value, self.span(element))?);
            }
            return Ok(levels);
        }
        let span = self.span(expr);
        let value = self.eval(expr, None)?;
        match value.as_sequence() {
            Some(items) if !items.is_empty() => {
                self.check_count(items.len(), "levels", span)?;
                items.iter().map(|item| self.level(item, span)).collect()
            }
            _ => self.level(&value, span).map(|level| vec![level]),
        }
    }

    /// A level by value, or by the name under which the module declares it.
    fn level(&self, value: &Value<'c>, span: Span) -> Res<Topology<'c>> {
        let name = match value {
            Value::Topology(topology) => return Ok(*topology),
            Value::Str(name) => *name,
            other => {
                let message = format!("a level is a name or a `Topology`, found {}", other.describe());
                return Err(Refusal::wrong(span, message));
            }
        };
        let declared = self.domain.levels().unwrap_or_default();
        if let Some(topology) = declared.iter().find(|t| t.name == name) {
            return Ok(*topology);
        }
        let refusal = Refusal::wrong(span, format!("the level `{name}` is not declared by the module"));
        let known: Vec<_> = declared.iter().map(|t| t.name.as_str()).collect();
        let near = did_you_mean(name.as_str(), known.iter().copied());
        Err(match (near, known.is_empty()) {
            (Some(near), _) => refusal.help(format!("did you mean `{near}`?")),
            (None, true) => refusal.help(format!("declare it: `topologies=(Topology(\"{name}\", 128),)`")),
            (None, false) => refusal.help(format!("it declares {}", known.join(", "))),
        })
    }

    /// Extents, extents with strides, or a `Layout`; strides default to C-order.
    fn mesh_layout(&mut self, expr: &ast::Expr) -> Res<Layout<'c>> {
        let span = self.span(expr);
        let value = self.eval(expr, None)?;
        let layout = match &value {
            Value::Layout(layout) => match layout.strides() {
                Some(_) => *layout,
                None => self.cx.c_order_layout(layout.shape()),
            },
            _ => match value.as_sequence().as_deref().map(|items| &items[..]) {
                Some([shape @ Value::Tuple(_), strides @ Value::Tuple(_)]) => {
                    let shape = self.to_dims(shape, "the extents of a mesh", span)?;
                    let strides = self.to_dims(strides, "the strides of a mesh", span)?;
                    if shape.len() != strides.len() {
                        let message = format!("a mesh of {} axes has {} strides", shape.len(), strides.len());
                        return Err(Refusal::wrong(span, message));
                    }
                    self.cx.layout(&shape, Some(&strides))
                }
                _ => {
                    let shape = self.to_dims(&value, "the extents of a mesh", span)?;
                    self.cx.c_order_layout(&shape)
                }
            },
        };
        if let Some(extent) = layout.shape().iter().find(|d| d.as_const().is_some_and(|v| v < 1)) {
            return Err(Refusal::wrong(span, format!("the mesh extent {extent} is not positive")));
        }
        self.check_count(layout.rank(), "axes", span)?;
        if layout.rank() == 0 {
            return Err(Refusal::wrong(span, "a mesh has at least one axis"));
        }
        Ok(layout)
    }

    fn check_count(&self, count: usize, what: &str, span: Span) -> Res<()> {
        if count > limits::LEVELS {
            let message = format!("a mesh has at most {} {what}, found {count}", limits::LEVELS);
            return Err(Refusal::wrong(span, message));
        }
        Ok(())
    }

    fn axis_names(&mut self, expr: &ast::Expr, rank: usize) -> Res<Vec<Symbol<'c>>> {
        let span = self.span(expr);
        let value = self.eval(expr, None)?;
        let name = |item: &Value<'c>| match item {
            Value::Str(name) => Some(*name),
            _ => None,
        };
        let names: Option<Vec<_>> = value.as_sequence().and_then(|items| items.iter().map(name).collect());
        let Some(names) = names else {
            return Err(Refusal::wrong(span, format!("axis names are a tuple of strings, found {}", value.describe())));
        };
        if !names.is_empty() && names.len() != rank {
            return Err(Refusal::wrong(span, format!("a mesh of {rank} axes has {} names", names.len())));
        }
        if let Some(name) = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)).map(|(_, n)| n) {
            return Err(Refusal::wrong(span, format!("two axes of the mesh are named `{name}`")));
        }
        Ok(names)
    }

    /// `with Mesh(...) as m:`; adds no node, and values made inside stay visible after it.
    pub(crate) fn with_statement(&mut self, with: &ast::StmtWith) -> Res<Flow<'c>> {
        if with.is_async {
            return Err(Refusal::unread(self.span(with), "async is not part of the language"));
        }
        let mut aliases = Vec::new();
        for item in &with.items {
            match self.open_mesh(item, self.span(with)) {
                Ok(alias) => aliases.push(alias),
                Err(refusal) => {
                    self.close_meshes(&aliases);
                    return Err(refusal);
                }
            }
        }
        let flow = self.suite(&with.body);
        self.close_meshes(&aliases);
        Ok(flow)
    }

    pub(crate) fn open_mesh(&mut self, item: &ast::WithItem, with: Span) -> Res<Option<Symbol<'c>>> {
        let context = &item.context_expr;
        let span = self.span(context);
        let written = self.text(context);
        let header = Span { end_line: span.end_line, end_column: span.end_column, ..with };
        let no_mesh = || Refusal::wrong(header, format!("`with` opens a mesh, not `{written}`"));
        let (mesh, extents) = match context {
            ast::Expr::Call(call) => match &*call.func {
                ast::Expr::Name(name) if self.is_builtin(name.id.as_str(), Builtin::Mesh) => self.mesh(call, span)?,
                ast::Expr::Name(name) if name.id.as_str() == "Mesh" => return Err(self.missing_mesh(span)),
                _ => match self.eval(&call.func, None) {
                    Ok(Value::Builtin(Builtin::Mesh)) => self.mesh(call, span)?,
                    _ => return Err(no_mesh()),
                },
            },
            _ => match self.eval(context, None)? {
                Value::Mesh(mesh) => (mesh, span),
                _ => return Err(no_mesh()),
            },
        };
        if self.body.as_ref().is_some_and(|body| body.meshes.len() >= limits::DEPTH) {
            return Err(Refusal::wrong(span, format!("meshes are nested more than {} deep", limits::DEPTH)));
        }
        mesh.check_extents().at(extents)?;
        if let Some(declared) = self.domain.levels() {
            mesh.check_levels(declared).at(span)?;
        }
        let alias = match item.optional_vars.as_deref() {
            None => None,
            Some(ast::Expr::Name(name)) => Some(self.cx.symbol(name.id.as_str())),
            Some(other) => return Err(Refusal::wrong(self.span(other), "the alias of a mesh is one name")),
        };
        let names: Frame<'c> = alias.into_iter().map(|name| (name, Binding::Value(Value::Mesh(mesh)))).collect();
        if let Some(body) = &mut self.body {
            body.meshes.push(mesh);
            body.frames.push(BodyFrame { names, is_mesh: true });
        }
        Ok(alias)
    }

    fn missing_mesh(&self, span: Span) -> Refusal {
        Refusal::wrong(span, "`Mesh` is not imported").help("add it to `from tilefoundry.dsl import Mesh`")
    }

    pub(crate) fn close_meshes(&mut self, aliases: &[Option<Symbol<'c>>]) {
        for alias in aliases.iter().rev() {
            if let Some(body) = &mut self.body {
                body.frames.pop();
                body.meshes.pop();
            }
            if let Some(name) = *alias
                && self.binding(name).is_none()
            {
                let why = format!("the mesh `{name}` is visible inside its `with` only");
                self.bind(name, Binding::Gone(why, None));
            }
        }
    }
}
