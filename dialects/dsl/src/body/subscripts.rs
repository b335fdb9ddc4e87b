//! Subscripts: windows of tensors, items of tuples and lists, slices of meshes.

use ruff_python_ast as ast;
use tf_core::op::Attr;
use tf_core::{Expr, ExprKind, Span};
use tf_types::{Dim, Mesh, MeshKey, Symbol, TypeKind};

use super::distance::{dim_distance, distance};
use super::windows::{Base, Index};
use crate::names::Builtin;
use crate::parser::Parser;
use crate::refusal::{AtSpan, Refusal, Res};
use crate::statics::Python;
use crate::value::Value;

/// What a subscript takes of one axis.
struct Pick<'c> {
    start: Index<'c>,
    size: Dim<'c>,
    stride: i64,
    keeps_axis: bool,
    span: Span,
}

/// The keys of a subscript.
fn keys(slice: &ast::Expr) -> &[ast::Expr] {
    match slice {
        ast::Expr::Tuple(tuple) => &tuple.elts,
        single => std::slice::from_ref(single),
    }
}

impl<'c> Parser<'_, 'c> {
    pub(crate) fn subscript(
        &mut self,
        subscript: &ast::ExprSubscript,
        span: Span,
        bind: Option<Symbol<'c>>,
    ) -> Res<Value<'c>> {
        let base = self.any(&subscript.value)?;
        if self.body.is_none()
            && let Value::Unread(unread) = &base
        {
            return self.unread_item(unread, subscript);
        }
        let base = self.read_of(&subscript.value, base)?;
        match base {
            Value::Builtin(builtin @ (Builtin::Tensor | Builtin::ConstTensor)) => {
                self.annotation_of(builtin, &subscript.slice, span)
            }
            // `Generic[T]` as a base.
            Value::Builtin(Builtin::Python(Python::Abc)) => Ok(base),
            // `Shape = tuple[int, ...]` is for type checkers.
            Value::Builtin(Builtin::TupleType) => {
                self.annotation_of(Builtin::TupleType, &subscript.slice, span).map_err(Refusal::where_used)
            }
            Value::Tuple(_) | Value::List(_) | Value::Object(_) if let Some(items) = base.as_sequence() => {
                match &*subscript.slice {
                    ast::Expr::Slice(slice) => {
                        let bounds = self.slice_bounds(slice)?;
                        self.slice(&base, &items, bounds, span)
                    }
                    _ => {
                        let at = self.item_index(subscript, items.len())?;
                        Ok(items[at].clone())
                    }
                }
            }
            Value::Dict(ref dict) => {
                let key = self.eval(&subscript.slice, None)?;
                let at = self.span(&*subscript.slice);
                let found = self.key(&key, "key of a dict", at)?;
                let known = dict.get().get(&found).cloned();
                let value = if known.is_some() { known } else { self.missing(dict, found, &key, at)? };
                value.ok_or_else(|| {
                    let name = self.text(&*subscript.value);
                    let key = self.text(&*subscript.slice);
                    Refusal::unread(span, format!("the dict `{name}` has no key `{key}`")).raises("KeyError")
                })
            }
            Value::Str(_) | Value::IntRange(_) | Value::Object(_) | Value::Record(_) if self.body.is_none() => {
                self.static_item(&base, &subscript.slice, span)
            }
            Value::Mesh(mesh) => self.mesh_slice(mesh, &subscript.slice, span).map(Value::Mesh),
            Value::Expr(expr) => match expr.ty().data() {
                TypeKind::Tensor(_) => self.window(expr, subscript, span, bind).map(Value::Expr),
                TypeKind::Tuple(fields) => {
                    let at = self.item_index(subscript, fields.len())?;
                    self.project(expr, at, span, bind).map(Value::Expr)
                }
                _ => Err(Refusal::wrong(span, format!("{} has no elements", expr.ty()))),
            },
            other => {
                let name = self.text(&*subscript.value);
                let refusal = Refusal::unread(span, format!("`{name}` is {} and has no subscript", other.describe()));
                Err(match other {
                    Value::Prim(_) | Value::Function(_) | Value::Module(_) if self.is_prim() => {
                        refusal.help(format!("a kernel is started by `launch({name}, ..., grid=(...), block=(...))`"))
                    }
                    _ => refusal,
                })
            }
        }
    }

    /// The position that a compile-time index selects among `count` items.
    fn item_index(&mut self, subscript: &ast::ExprSubscript, count: usize) -> Res<usize> {
        let name = self.text(&*subscript.value);
        let span = self.span(&*subscript.slice);
        if let ast::Expr::Slice(_) = &*subscript.slice {
            return Err(Refusal::wrong(span, format!("`{name}` is a tuple value, of which no slice is taken"))
                .help("unpack it: `a, b, c = ...`"));
        }
        let index = self.eval(&subscript.slice, None)?;
        let index = match self.plain(index) {
            Value::Int(index) => index,
            other => {
                let message = format!("`{name}` needs a compile-time integer as index, found {}", other.describe());
                return Err(Refusal::wrong(span, message));
            }
        };
        let at = if index < 0 { index.saturating_add(count as i64) } else { index };
        usize::try_from(at).ok().filter(|at| *at < count).ok_or_else(|| {
            Refusal::wrong(span, format!("index {index} is out of range: `{name}` has {count} items"))
                .raises("IndexError")
        })
    }

    /// Item `at` of a tuple value.
    pub(crate) fn project(&mut self, expr: Expr<'c>, at: usize, span: Span, bind: Option<Symbol<'c>>) -> Res<Expr<'c>> {
        if let ExprKind::Tuple(items) = expr.kind {
            return Ok(items[at]);
        }
        let schema = self.schema("tf", "tuple_get_item", "taking an item of a tuple value", span)?;
        self.emit(schema, &[expr], &[("index", Attr::Int(at as i64))], span, bind)
    }

    pub(crate) fn mesh_slice(&mut self, mesh: Mesh<'c>, slice: &ast::Expr, span: Span) -> Res<Mesh<'c>> {
        let mut read = Vec::new();
        for key in keys(slice) {
            let bound = |p: &mut Self, bound: &Option<Box<ast::Expr>>| match bound {
                None => Ok(None),
                Some(expr) => match p.eval(expr, None)? {
                    Value::Int(value) => Ok(Some(value)),
                    other => {
                        let message = format!("a mesh subscript is an integer, found {}", other.describe());
                        Err(Refusal::wrong(p.span(&**expr), message))
                    }
                },
            };
            read.push(match key {
                ast::Expr::Slice(slice) => {
                    MeshKey::Slice(bound(self, &slice.lower)?, bound(self, &slice.upper)?, bound(self, &slice.step)?)
                }
                single => match self.eval(single, None)? {
                    Value::Int(value) => MeshKey::Index(value),
                    other => {
                        let message = format!("a mesh subscript is an integer or a slice, found {}", other.describe());
                        return Err(Refusal::wrong(self.span(single), message));
                    }
                },
            });
        }
        self.cx.slice_mesh(mesh, &read).at(span)
    }

    /// `x[…]` of a tensor as a call of `slice`, and of `reshape` where an axis is dropped.
    fn window(
        &mut self,
        expr: Expr<'c>,
        subscript: &ast::ExprSubscript,
        span: Span,
        bind: Option<Symbol<'c>>,
    ) -> Res<Expr<'c>> {
        if self.is_prim() {
            let refusal = Refusal::wrong(span, "a subscript of a tensor is not part of a `@prim_func` body");
            return Err(refusal.help("make a view: `T.tensor_view(x, ..., layout=...)`"));
        }
        let Some(tensor) = expr.ty().as_tensor() else {
            return Err(Refusal::wrong(span, format!("{} has no axes", expr.ty())));
        };
        let keys = keys(&subscript.slice);
        let is_no_axis = |key: &&ast::Expr| key.is_ellipsis_literal_expr() || key.is_none_literal_expr();
        if let Some(key) = keys.iter().find(is_no_axis) {
            let message = "a subscript has an index, a slice or a tile window for every axis";
            let help = match key {
                ast::Expr::NoneLiteral(_) => "an axis of extent 1 comes from `tf.reshape(x, new_shape=...)`",
                _ => "a full axis is `:`",
            };
            return Err(Refusal::unread(self.span(key), message).help(help));
        }
        if keys.len() != tensor.rank() {
            let name = self.text(&*subscript.value);
            let message = format!("`{name}` has {} axes, but the subscript has {} entries", tensor.rank(), keys.len());
            return Err(Refusal::wrong(self.span(&*subscript.slice), message).help("a full axis is `:`"));
        }
        let mut picks = Vec::with_capacity(keys.len());
        for (axis, key) in keys.iter().enumerate() {
            picks.push(self.pick(key, axis, tensor.shape[axis], span)?);
        }
        if let Some(pick) = picks.iter().find(|pick| pick.start.base.scalar().is_some_and(|at| self.is_coordinate(at)))
            && tensor.shard().is_some()
        {
            let name = self.text(&*subscript.value);
            let refusal =
                Refusal::wrong(span, format!("a mesh coordinate is no start of a window of the placed value `{name}`"));
            return Err(refusal.also(pick.span, "the coordinate").help("take the window before `reshard`"));
        }
        let is_whole = |(axis, pick): (usize, &Pick<'c>)| {
            let from_start = matches!(pick.start.base, Base::Zero) && pick.start.offset.as_const() == Some(0);
            from_start && pick.size == tensor.shape[axis] && pick.stride == 1 && pick.keeps_axis
        };
        if picks.iter().enumerate().all(is_whole) {
            return Ok(expr);
        }
        let kept: Vec<_> = picks.iter().filter(|p| p.keeps_axis).map(|p| p.size).collect();
        let dropped = picks.iter().find(|p| !p.keeps_axis).map(|p| p.span);
        let reshape = match dropped {
            None => None,
            Some(at) => {
                let schema = self.schema("tf", "reshape", "an index that drops its axis", at);
                Some(schema.map_err(|refusal| refusal.help("keep the axis: `x[i : i + 1]`"))?)
            }
        };
        let mut inputs = vec![expr];
        for pick in &picks {
            inputs.push(self.start_node(pick)?);
        }
        let sizes: Vec<_> = picks.iter().map(|p| p.size).collect();
        let strides: Vec<_> = picks.iter().map(|p| p.stride).collect();
        let schema = self.schema("tf", "slice", "a subscript", span)?;
        let attrs =
            [("sizes", Attr::Dims(self.cx.normal_dims(&sizes))), ("strides", Attr::Dims(self.cx.const_dims(&strides)))];
        let Some(reshape) = reshape else { return self.emit(schema, &inputs, &attrs, span, bind) };
        let window = self.emit(schema, &inputs, &attrs, span, None)?;
        let shape = [("new_shape", Attr::Dims(self.cx.normal_dims(&kept)))];
        self.emit(reshape, &[window], &shape, span, bind)
    }

    fn start_node(&mut self, pick: &Pick<'c>) -> Res<Expr<'c>> {
        match pick.start.base.scalar() {
            None => self.dim_node(pick.start.offset, pick.span),
            Some(scalar) => self.moved_index(scalar, pick.start.offset, pick.span),
        }
    }

    fn pick(&mut self, key: &ast::Expr, axis: usize, extent: Dim<'c>, whole: Span) -> Res<Pick<'c>> {
        let span = self.span(key);
        let one = self.cx.dim(1);
        let pick = match key {
            ast::Expr::Slice(slice) => self.pick_slice(slice, axis, extent, span)?,
            single => {
                let start = self.index(single)?;
                if let (Base::Scalar(_), Some(name)) = (start.base, self.window_in(single)) {
                    return Err(self.no_moved_window(single, name));
                }
                let start = self.counted_from_end(start, axis, extent, span)?;
                match start.base {
                    Base::Zero if extent.as_const().is_some() && start.offset.as_const() >= extent.as_const() => {
                        let message =
                            format!("index {} is out of range for axis {axis} of extent {extent}", start.offset);
                        return Err(Refusal::wrong(span, message));
                    }
                    Base::Window(window) => Pick { start, size: window.size, stride: 1, keeps_axis: true, span },
                    _ => Pick { start, size: one, stride: 1, keeps_axis: false, span },
                }
            }
        };
        // A window that is not moved leaves the axis by the fault of its loop, not of the key.
        let unmoved = matches!(pick.start.base, Base::Window(_)) && pick.start.offset.as_const() == Some(0);
        let at = if unmoved { whole } else { span };
        self.check_window(pick.start, pick.size, pick.stride, axis, extent, at)?;
        Ok(pick)
    }

    /// A negative static index counts from the end.
    fn counted_from_end(&self, index: Index<'c>, axis: usize, extent: Dim<'c>, span: Span) -> Res<Index<'c>> {
        let Some(value) = index.offset.as_const().filter(|v| *v < 0 && matches!(index.base, Base::Zero)) else {
            return Ok(index);
        };
        if extent.as_const().is_none() {
            let message =
                format!("index {value} counts from the end of axis {axis}, whose extent {extent} is symbolic");
            return Err(Refusal::wrong(span, message));
        }
        let offset = self.cx.dim_add(extent, index.offset);
        if offset.as_const().is_none_or(|v| v < 0) {
            return Err(Refusal::wrong(
                span,
                format!("index {value} is out of range for axis {axis} of extent {extent}"),
            ));
        }
        Ok(Index { base: Base::Zero, offset })
    }

    fn pick_slice(&mut self, slice: &ast::ExprSlice, axis: usize, extent: Dim<'c>, span: Span) -> Res<Pick<'c>> {
        let stride = match &slice.step {
            None => 1,
            Some(step) => match self.eval(step, None)? {
                Value::None => 1,
                Value::Int(stride) if stride > 0 => stride,
                other => {
                    let message = format!("the step of a slice is a positive integer, found {}", other.describe());
                    return Err(Refusal::wrong(self.span(&**step), message));
                }
            },
        };
        let zero = self.cx.dim(0);
        let mut bound = |bound: &Option<Box<ast::Expr>>, open: Dim<'c>| match bound.as_deref() {
            None | Some(ast::Expr::NoneLiteral(_)) => Ok(Index { base: Base::Zero, offset: open }),
            Some(expr) => {
                let index = self.index(expr)?;
                self.counted_from_end(index, axis, extent, span)
            }
        };
        let (start, stop) = (bound(&slice.lower, zero)?, bound(&slice.upper, extent)?);
        let apart = match (start.base, stop.base) {
            (Base::Scalar(start), Base::Scalar(stop)) => distance(start, stop),
            (start, stop) => (start.scalar() == stop.scalar()).then_some(0),
        };
        let Some(apart) = apart else {
            let message = "a window with run-time bounds needs a size that is known at compile time";
            let start = match slice.lower.as_deref() {
                Some(ast::Expr::Name(name)) => name.id.as_str(),
                _ => "s",
            };
            return Err(Refusal::wrong(span, message).help(format!("write `x[{start} : {start} + 4]`")));
        };
        let stop_offset = match apart {
            0 => stop.offset,
            _ => self.cx.dim_add(stop.offset, self.cx.dim(apart)),
        };
        let distance = dim_distance(self.cx, start.offset, stop_offset)
            .unwrap_or_else(|| self.cx.dim_sub(stop_offset, start.offset));
        let size = if stride == 1 { distance } else { self.cx.ceildiv(distance, self.cx.dim(stride)) };
        if size.as_const().is_some_and(|size| size < 0) {
            let message = format!("the window starts at {} and ends at {stop_offset}", start.offset);
            return Err(Refusal::wrong(span, message));
        }
        Ok(Pick { start, size, stride, keeps_axis: true, span })
    }
}
