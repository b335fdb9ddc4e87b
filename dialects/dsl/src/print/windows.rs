//! Slices as subscripts, and arithmetic on indices.

use tf_core::op::{Attr, OpView};
use tf_core::{Diagnostic, Expr, Literal, Result};
use tf_types::{DType, Dim, Storage};

use super::Printer;
use super::doc::Doc;
use super::scan::{integer, is_op};

/// What a subscript takes of one axis: `size` elements from `base + offset` on.
pub(super) struct Axis<'c> {
    pub(super) base: Option<Expr<'c>>,
    offset: i64,
    pub(super) size: Dim<'c>,
    stride: i64,
    /// From the first element to behind the last.
    reach: Dim<'c>,
    is_whole: bool,
}

/// Whether a value is an index, as the variables of loops and the sums of such are.
pub(super) fn is_index(expr: Expr<'_>) -> bool {
    expr.ty().as_tensor().is_some_and(|t| t.rank() == 0 && t.dtype == DType::I64 && t.storage == Storage::Umat)
}

fn operator(name: &str) -> Option<&'static str> {
    Some(match name {
        "add" => "+",
        "sub" => "-",
        "mul" => "*",
        "floor_div" => "//",
        "mod" => "%",
        _ => return None,
    })
}

impl<'c> Printer<'_, 'c> {
    /// The axes of a slice that has the form of a subscript.
    pub(super) fn window(&self, call: OpView<'c>) -> Option<Vec<Axis<'c>>> {
        if !is_op(call, "tf", "slice") {
            return None;
        }
        let (Some(Attr::Dims(sizes)), Some(Attr::Dims(strides))) = (call.op.attr("sizes"), call.op.attr("strides"))
        else {
            return None;
        };
        let (&x, starts) = call.args.split_first()?;
        let tensor = x.ty().as_tensor()?;
        if x.literal().is_some() || [tensor.rank(), sizes.len(), strides.len()].iter().any(|&len| len != starts.len()) {
            return None;
        }
        let mut axes = Vec::with_capacity(starts.len());
        for (at, &start) in starts.iter().enumerate() {
            if tensor.shard().is_some() && self.scope.coordinates.contains_key(&start) {
                return None;
            }
            axes.push(self.axis(start, sizes[at], strides[at], tensor.shape[at])?);
        }
        (!axes.iter().all(|axis| axis.is_whole)).then_some(axes)
    }

    fn axis(&self, start: Expr<'c>, size: Dim<'c>, stride: Dim<'c>, extent: Dim<'c>) -> Option<Axis<'c>> {
        let cx = self.cx;
        let (base, offset) = match start.literal() {
            Some(_) => (None, integer(start).filter(|&at| at >= 0)?),
            None => self.moved(start).unwrap_or((Some(start), 0)),
        };
        if base.is_some_and(|base| !base.ty().as_tensor().is_some_and(|t| t.rank() == 0 && t.dtype.is_integer())) {
            return None;
        }
        let stride = stride.as_const().filter(|&stride| stride > 0)?;
        let reach = match (stride, size.as_const()) {
            (1, _) => size,
            (_, Some(count)) if count > 0 => cx.dim((count - 1).checked_mul(stride)?.checked_add(1)?),
            _ => return None,
        };
        // The reader takes the size as the distance between the bounds.
        let stop = cx.dim_add(reach, cx.dim(offset));
        if cx.dim_sub(stop, cx.dim(offset)) != reach || reach.as_const().is_some_and(|reach| reach < 0) {
            return None;
        }
        let is_whole = base.is_none() && offset == 0 && stride == 1 && size == extent;
        Some(Axis { base, offset, size, stride, reach, is_whole })
    }

    /// `base + offset` that nothing else uses.
    fn moved(&self, start: Expr<'c>) -> Option<(Option<Expr<'c>>, i64)> {
        let sum = start.op_call().filter(|call| is_op(*call, "dim", "add"))?;
        let is_alone = self.scope.uses.get(&start) == Some(&1) && start.meta.constraint.is_none();
        let [base, offset] = sum.args else { return None };
        let offset = integer(*offset).filter(|&offset| offset != 0 && offset != i64::MIN)?;
        (is_alone && base.literal().is_none()).then_some((Some(*base), offset))
    }

    /// `x[0:4, :, r]`
    pub(super) fn subscript(&mut self, x: Expr<'c>, axes: &[Axis<'c>]) -> Result<Doc> {
        let name = self.operand(x)?;
        let keys = axes.iter().map(|axis| self.key(axis).map(Doc::Text)).collect::<Result<Vec<_>>>()?;
        Ok(Doc::subscript(name, keys))
    }

    fn key(&mut self, axis: &Axis<'c>) -> Result<String> {
        if axis.is_whole {
            return Ok(":".to_owned());
        }
        let step = if axis.stride == 1 { String::new() } else { format!(":{}", axis.stride) };
        let stop = self.cx.dim_add(axis.reach, self.cx.dim(axis.offset));
        let Some(base) = axis.base else {
            let stop = self.dim(stop)?;
            let gap = if stop.contains(' ') { " " } else { "" };
            return Ok(format!("{}{gap}:{gap}{stop}{step}", axis.offset));
        };
        let name = self.value_text(base)?;
        let start = shifted(&name, &axis.offset.to_string());
        let is_window = self.scope.tiles.get(&base) == Some(&axis.size);
        if is_window && axis.stride == 1 {
            return Ok(start);
        }
        let stop = match stop.as_const() {
            Some(stop) => shifted(&name, &stop.to_string()),
            None => {
                let stop = self.dim(stop)?;
                if stop.contains(' ') { format!("{name} + ({stop})") } else { format!("{name} + {stop}") }
            }
        };
        let step = if axis.stride == 1 { String::new() } else { format!(" : {}", axis.stride) };
        Ok(format!("{start} : {stop}{step}"))
    }

    /// `a + b` of two indices.
    pub(super) fn index_arithmetic(&mut self, call: OpView<'c>) -> Result<Doc> {
        let name = call.op.decl.name;
        let refuse = |why: &str| Err(Diagnostic::error(format!("the DSL has no `{name}` {why}")));
        let is_extremum = matches!(name.name, "min" | "max");
        let operator = operator(name.name).or(is_extremum.then_some(name.name));
        let (Some(operator), [left, right]) = (operator, call.args) else { return refuse("in a `@func`") };
        if left.literal().is_some() && right.literal().is_some() {
            return refuse("of two literals");
        }
        if !call.args.iter().all(|arg| is_index(*arg) && arg.literal().is_none() || integer(*arg).is_some()) {
            return refuse("of values that are no indices");
        }
        let mut texts = Vec::new();
        for &arg in call.args {
            texts.push(match arg.literal() {
                Some(Literal::Int(value)) if value < 0 && !is_extremum => format!("({value})"),
                Some(_) => self.literal(arg, DType::F32)?,
                None => self.value_text(arg)?,
            });
        }
        if is_extremum {
            let texts = texts.into_iter().map(Doc::Text).collect();
            return Ok(Doc::call(self.file.word(self.cx, operator)?, texts));
        }
        Ok(format!("{} {operator} {}", texts[0], texts[1]).into())
    }
}

/// `name + offset`, `name - 4` for an offset of -4, `name` for none.
fn shifted(name: &str, offset: &str) -> String {
    match (offset, offset.strip_prefix('-')) {
        ("0", _) => name.to_owned(),
        (_, Some(positive)) => format!("{name} - {positive}"),
        (_, None) => format!("{name} + {offset}"),
    }
}
