//! Layout sugar: `(16 @ m.w, 64 @ (m.a, m.b))`.

use ruff_python_ast as ast;
use tf_core::Span;
use tf_types::{Dim, Mesh, PlacementSugar, ShardAttr, ShardLayout, SugarAxis};

use crate::parser::Parser;
use crate::refusal::{AtSpan, Refusal, Res};
use crate::value::Value;

/// Whether a tuple in a shape slot places its axes.
pub(crate) fn places(tuple: &ast::ExprTuple) -> bool {
    tuple.elts.iter().any(|item| is_split(item) || matches!(item, ast::Expr::Tuple(_) | ast::Expr::Set(_)))
}

fn is_split(item: &ast::Expr) -> bool {
    matches!(item, ast::Expr::BinOp(binary) if binary.op == ast::Operator::MatMult)
}

impl<'c> Parser<'_, 'c> {
    /// The placement of a sugar tuple; `call` is where a missing mesh is reported.
    pub(crate) fn placement(
        &mut self,
        tuple: &ast::ExprTuple,
        logical: Option<&[Dim<'c>]>,
        call: Span,
    ) -> Res<ShardLayout<'c>> {
        let (sugar, span) = (self.sugar(tuple)?, self.span(tuple));
        let enclosing = self.meshes_of(&sugar, span, call)?;
        let placed = self.cx.place(&sugar, &enclosing, logical);
        placed.or_else(|error| Err(error).at(self.wrong_axis(tuple, &sugar, &enclosing).unwrap_or(span)))
    }

    /// The first axis that is split as it cannot be, whatever follows it.
    fn wrong_axis(&self, tuple: &ast::ExprTuple, sugar: &PlacementSugar<'c>, enclosing: &[Mesh<'c>]) -> Option<Span> {
        let axes = match &tuple.elts[..] {
            [ast::Expr::Tuple(axes), ..] => &axes.elts,
            _ => &tuple.elts,
        };
        let mut so_far = PlacementSugar { partials: Vec::new(), ..sugar.clone() };
        so_far.axes.iter_mut().for_each(|axis| axis.splits.clear());
        // A mesh has few axes, each bound once: one of the first splits is wrong.
        let mut split = axes.iter().enumerate().filter(|(at, _)| !sugar.axes[*at].splits.is_empty());
        let wrong = split.find(|(at, _)| {
            so_far.axes[*at].splits.clone_from(&sugar.axes[*at].splits);
            self.cx.place(&so_far, enclosing, None).is_err()
        });
        wrong.map(|(_, item)| self.span(item))
    }

    /// The placement of written sugar on the enclosing meshes, or on the one mesh value that it names.
    pub(crate) fn place(
        &self,
        sugar: &PlacementSugar<'c>,
        logical: Option<&[Dim<'c>]>,
        span: Span,
        call: Span,
    ) -> Res<ShardLayout<'c>> {
        self.cx.place(sugar, &self.meshes_of(sugar, span, call)?, logical).at(span)
    }

    /// The meshes that a placement may be on, outermost first.
    fn meshes_of(&self, sugar: &PlacementSugar<'c>, span: Span, call: Span) -> Res<Vec<Mesh<'c>>> {
        let mut enclosing = self.body.as_ref().map(|body| body.meshes.clone()).unwrap_or_default();
        let splits = sugar.axes.iter().flat_map(|axis| axis.splits.iter().map(|s| s.0));
        let mut named: Vec<Mesh<'c>> = splits.chain(sugar.partials.iter().map(|p| p.0)).collect();
        named.dedup();
        if let [mesh] = named[..]
            && !enclosing.contains(&mesh)
        {
            enclosing.push(mesh);
        }
        if !enclosing.is_empty() {
            return Ok(enclosing);
        }
        if named.len() > 1 {
            let message = format!("the placement names {} meshes, which no `with` encloses", named.len());
            return Err(Refusal::wrong(span, message).help("outside of scopes it is over one mesh of all levels"));
        }
        let refusal = Refusal::wrong(call, "a placement needs an enclosing mesh");
        // Axes and strides without a mesh are a strided layout, which has a constructor.
        let help = match sugar.strides.is_some() {
            true => "a layout with strides and no mesh is `Layout((4, 8), (8, 1))`",
            false => "write it inside `with Mesh(...) as m:`",
        };
        Err(refusal.help(help))
    }

    /// The axes, strides and states of a sugar tuple.
    pub(crate) fn sugar(&mut self, tuple: &ast::ExprTuple) -> Res<PlacementSugar<'c>> {
        let mut sugar = PlacementSugar::default();
        let [ast::Expr::Tuple(axes), rest @ ..] = &tuple.elts[..] else {
            sugar.axes = self.sugar_axes(tuple)?;
            return Ok(sugar);
        };
        sugar.axes = self.sugar_axes(axes)?;
        let mut states_at = None;
        let mut strides_at = None;
        for item in rest {
            let span = self.span(item);
            match item {
                _ if states_at.is_some() => {
                    let states = states_at.unwrap_or(span);
                    return Err(Refusal::wrong(states, "the set of value states must be the last item"));
                }
                ast::Expr::Set(states) => {
                    states_at = Some(span);
                    for state in &states.elts {
                        let partial = self.value_state(state)?;
                        sugar.partials.push(partial);
                    }
                }
                // No states: every mesh axis that no split names is Broadcast, as without the braces.
                ast::Expr::Dict(states) if states.is_empty() => states_at = Some(span),
                ast::Expr::Tuple(_) if let Some(first) = strides_at => {
                    let both = Span::to(first, span);
                    return Err(Refusal::wrong(both, "a placement has one tuple of strides"));
                }
                ast::Expr::Tuple(_) => {
                    let value = self.eval(item, None)?;
                    let strides = self.to_dims(&value, "the strides", span)?;
                    if strides.len() != sugar.axes.len() {
                        let message = format!("{} axes have {} strides", sugar.axes.len(), strides.len());
                        return Err(Refusal::wrong(span, message));
                    }
                    sugar.strides = Some(strides);
                    strides_at = Some(span);
                }
                _ => {
                    let message = "after the axes of a placement come strides `(…)` and value states `{…}`";
                    return Err(Refusal::wrong(span, message));
                }
            }
        }
        Ok(sugar)
    }

    fn sugar_axes(&mut self, tuple: &ast::ExprTuple) -> Res<Vec<SugarAxis<'c>>> {
        tuple.elts.iter().map(|item| self.sugar_axis(item)).collect()
    }

    fn sugar_axis(&mut self, item: &ast::Expr) -> Res<SugarAxis<'c>> {
        match item {
            ast::Expr::BinOp(binary) if is_split(item) => {
                if is_split(&binary.left) {
                    return Err(Refusal::wrong(self.span(item), "one `@` an axis").help("write `extent @ (m.a, m.b)`"));
                }
                let extent = self.extent(&binary.left)?;
                let splits = match &*binary.right {
                    ast::Expr::Tuple(axes) if axes.elts.is_empty() => {
                        let message = format!("`{}` names no mesh axis", self.text(item));
                        return Err(
                            Refusal::wrong(self.span(item), message).help("an axis that is whole is its extent")
                        );
                    }
                    ast::Expr::Tuple(axes) => axes.elts.iter().map(|axis| self.mesh_axis(axis)).collect::<Res<_>>()?,
                    axis => vec![self.mesh_axis(axis)?],
                };
                Ok(SugarAxis { extent, splits })
            }
            ast::Expr::Set(_) => Err(Refusal::wrong(self.span(item), "value states stand beside the tuple of axes")
                .help("write `((axes), {m.a @ P(\"sum\")})`")),
            _ => Ok(SugarAxis { extent: self.extent(item)?, splits: Vec::new() }),
        }
    }

    fn extent(&mut self, expr: &ast::Expr) -> Res<Dim<'c>> {
        let extent = self.dim(expr, "an extent")?;
        match extent.as_const() {
            Some(value) if value < 0 => Err(Refusal::wrong(self.span(expr), format!("the extent {value} is negative"))),
            _ => Ok(extent),
        }
    }

    /// `m.axis`, or a mesh of one axis.
    fn mesh_axis(&mut self, expr: &ast::Expr) -> Res<(Mesh<'c>, usize)> {
        let span = self.span(expr);
        match self.eval(expr, None)? {
            Value::MeshAxis(mesh, axis) => Ok((mesh, axis)),
            Value::Mesh(mesh) if mesh.rank() == 1 => Ok((mesh, 0)),
            Value::Mesh(mesh) => {
                let name = self.text(expr);
                let message =
                    format!("the mesh `{name}` alone names an axis only if it has one; it has {}", mesh.rank());
                Err(Refusal::wrong(span, message).help(format!("write `{name}.axis`")))
            }
            other => {
                Err(Refusal::wrong(span, format!("expected a mesh axis such as `m.a`, found {}", other.describe())))
            }
        }
    }

    /// `m.axis @ P("reduction")`.
    fn value_state(&mut self, expr: &ast::Expr) -> Res<(Mesh<'c>, usize, tf_types::Symbol<'c>)> {
        let span = self.span(expr);
        let ast::Expr::BinOp(binary) = expr else {
            return Err(Refusal::wrong(span, "a value state is `m.a @ P(\"sum\")`"));
        };
        let (mesh, axis) = self.mesh_axis(&binary.left)?;
        match self.eval(&binary.right, None)? {
            Value::ShardAttr(ShardAttr::Partial(reduction)) if binary.op == ast::Operator::MatMult => {
                Ok((mesh, axis, reduction))
            }
            Value::ShardAttr(ShardAttr::Broadcast) => {
                Err(Refusal::wrong(span, "a mesh axis that is not named is Broadcast; leave it out"))
            }
            other => {
                let message = format!("a value state is `m.a @ P(\"sum\")`, found {}", other.describe());
                Err(Refusal::wrong(self.span(&*binary.right), message))
            }
        }
    }
}
