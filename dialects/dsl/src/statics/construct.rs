//! Constructor calls: dims, levels, attributes; [`super::placement`] has those of layouts, [`super::targets`] of targets.

use ruff_python_ast as ast;
use tf_core::{DimVarRangePat, Span, Target, TargetKind};
use tf_infer::arguments;
use tf_types::{DimVar, ShardAttr, Symbol, Topology};

use crate::names::Builtin;
use crate::parser::Parser;
use crate::refusal::{AtSpan, Refusal, Res};
use crate::value::Value;

/// The arguments of a call by parameter.
pub(crate) type Given<'x> = Vec<Option<&'x ast::Expr>>;

impl<'c> Parser<'_, 'c> {
    /// Sorts the arguments of a call to the parameters of that name; all positional or by keyword.
    pub(crate) fn arguments<'x>(&self, call: &'x ast::ExprCall, what: &str, params: &[&str]) -> Res<Given<'x>> {
        let mut given: Given<'x> = vec![None; params.len()];
        for (at, arg) in call.arguments.args.iter().enumerate() {
            if arg.is_starred_expr() {
                let refusal = Refusal::unread(self.span(arg), format!("`{what}` cannot take an unpacked `*` argument"));
                return Err(refusal.help(format!("write {} one by one", params.join(", "))));
            }
            match given.get_mut(at) {
                Some(slot) => *slot = Some(arg),
                None => {
                    let count = call.arguments.args.len();
                    let message = format!("`{what}` takes {}, found {count}", arguments(params.len()));
                    return Err(Refusal::wrong(self.span(arg), message));
                }
            }
        }
        for keyword in &call.arguments.keywords {
            let span = self.span(keyword);
            let Some(name) = &keyword.arg else {
                return Err(Refusal::unread(span, format!("`{what}` cannot take `**` arguments")));
            };
            let Some(at) = params.iter().position(|p| *p == name.as_str()) else {
                let message = format!("`{what}` has no parameter `{name}`; it has {}", params.join(", "));
                return Err(Refusal::wrong(span, message).near(name.as_str(), params.iter().copied()));
            };
            if given[at].replace(&keyword.value).is_some() {
                return Err(Refusal::wrong(span, format!("`{what}` gets `{name}` twice")));
            }
        }
        Ok(given)
    }

    pub(super) fn required<'x>(
        &self,
        given: &Given<'x>,
        at: usize,
        name: &str,
        what: &str,
        span: Span,
    ) -> Res<&'x ast::Expr> {
        given[at].ok_or_else(|| Refusal::wrong(span, format!("`{what}` needs `{name}`")))
    }

    pub(super) fn string(&mut self, expr: &ast::Expr, what: &str) -> Res<&'c str> {
        let value = self.eval(expr, None)?;
        match self.plain(value) {
            Value::Str(text) => Ok(text.as_str()),
            other => {
                Err(Refusal::wrong(self.span(expr), format!("{what} must be a string, found {}", other.describe())))
            }
        }
    }

    fn int(&mut self, expr: &ast::Expr, what: &str) -> Res<i64> {
        let value = self.eval(expr, None)?;
        match self.plain(value) {
            Value::Int(value) => Ok(value),
            other => {
                Err(Refusal::wrong(self.span(expr), format!("{what} must be an integer, found {}", other.describe())))
            }
        }
    }

    /// The value of a call of an imported name.
    pub(crate) fn construct(
        &mut self,
        builtin: Builtin,
        call: &ast::ExprCall,
        span: Span,
        bind: Option<Symbol<'c>>,
    ) -> Res<Value<'c>> {
        match builtin {
            Builtin::DimVar => self.dim_var(call, span),
            Builtin::CeilDiv => {
                let given = self.arguments(call, "ceildiv", &["a", "b"])?;
                let a = self.dim(self.required(&given, 0, "a", "ceildiv", span)?, "an operand of `ceildiv`")?;
                let divisor = self.required(&given, 1, "b", "ceildiv", span)?;
                let b = self.dim(divisor, "an operand of `ceildiv`")?;
                self.cx.check_divisor(b).at(self.span(divisor))?;
                self.computed_dim(self.cx.ceildiv(a, b), span)
            }
            Builtin::DimVarRangePat => self.range_pattern(call, span).map(|(range, _)| Value::Range(range)),
            Builtin::Topology => {
                let given = self.arguments(call, "Topology", &["name", "size"])?;
                let name = self.required(&given, 0, "name", "Topology", span)?;
                let name = self.string(name, "the name of a level")?;
                let size = match given[1] {
                    None | Some(ast::Expr::NoneLiteral(_)) => None,
                    Some(size) => Some(self.level_size(size)?),
                };
                Ok(Value::Topology(Topology { name: self.cx.symbol(name), size }))
            }
            Builtin::TensorType => self.tensor_type(call, "TensorType", span).map(Value::Annotation),
            Builtin::Kind(decl) => self.kind_called(decl, call, span),
            Builtin::Launch => self.launch(call, span),
            Builtin::Layout => self.layout(call, span).map(Value::Layout),
            Builtin::ComposedLayout => self.composed_layout(call, span),
            Builtin::ShardLayout => self.shard_layout(call, span),
            Builtin::Split => {
                let given = self.arguments(call, "S", &["axis"])?;
                let axis = self.required(&given, 0, "axis", "S", span)?;
                let number = self.int(axis, "the axis of `S`")?;
                match u32::try_from(number) {
                    Ok(axis) => Ok(Value::ShardAttr(ShardAttr::Split(axis))),
                    Err(_) => Err(Refusal::wrong(self.span(axis), format!("`S({number})` splits no axis"))),
                }
            }
            Builtin::Broadcast | Builtin::Dynamic => {
                self.arguments(call, builtin.name(), &[])?;
                let is_dynamic = builtin == Builtin::Dynamic;
                Ok(Value::ShardAttr(if is_dynamic { ShardAttr::Dynamic } else { ShardAttr::Broadcast }))
            }
            Builtin::Partial => self.partial(call, span),
            Builtin::CudaTarget => self.device_target(TargetKind::Cuda, call, span),
            Builtin::AmxTarget => self.device_target(TargetKind::Amx, call, span),
            Builtin::CpuTarget => {
                self.arguments(call, "CpuTarget", &[])?;
                Ok(Value::Target(Target { kind: TargetKind::Cpu, device: self.cx.symbol("") }))
            }
            Builtin::Mesh => self.mesh(call, span).map(|(mesh, _)| Value::Mesh(mesh)),
            _ if builtin.is_of_values() => {
                let args = self.args_of(call, false)?;
                self.static_call(builtin, args, span, bind)
            }
            Builtin::Python(python) => {
                let args = self.args_of(call, python.keeps())?;
                self.python_call(python, args, span)
            }
            Builtin::Range if self.body.is_none() => {
                let args = self.args_of(call, false)?;
                self.call_value(&Value::Builtin(builtin), args, span)
            }
            Builtin::Tensor | Builtin::ConstTensor => {
                Err(Refusal::wrong(span, format!("`{}` is an annotation", builtin.name()))
                    .help("write `Tensor[shape, dtype]`"))
            }
            Builtin::Range | Builtin::Tile => {
                let refusal = Refusal::wrong(span, format!("`{}(...)` is no value", builtin.name()));
                Err(refusal.help("write it after `in` of a `for` statement"))
            }
            _ => Err(Refusal::unread(span, format!("`{}` cannot be called here", builtin.name()))),
        }
    }

    fn level_size(&mut self, expr: &ast::Expr) -> Res<tf_types::Dim<'c>> {
        let size = self.dim(expr, "the size of a level")?;
        match size.as_const() {
            Some(count) if count < 1 => {
                Err(Refusal::wrong(self.span(expr), format!("a level has at least one position, found {count}")))
            }
            _ => Ok(size),
        }
    }

    fn dim_var(&mut self, call: &ast::ExprCall, span: Span) -> Res<Value<'c>> {
        let given = self.arguments(call, "DimVar", &["name", "lo", "hi"])?;
        let name = self.required(&given, 0, "name", "DimVar", span)?;
        let name = self.string(name, "the name of a `DimVar`")?;
        let lo = self.int(self.required(&given, 1, "lo", "DimVar", span)?, "a bound of a `DimVar`")?;
        let hi = self.int(self.required(&given, 2, "hi", "DimVar", span)?, "a bound of a `DimVar`")?;
        if name.is_empty() {
            return Err(Refusal::wrong(span, "a `DimVar` needs a name"));
        }
        if lo >= hi {
            return Err(Refusal::wrong(
                span,
                format!("`DimVar(\"{name}\", {lo}, {hi})` is empty: {lo} is not below {hi}"),
            )
            .help("the upper bound is exclusive"));
        }
        let name = self.cx.symbol(name);
        let known = *self.dims.entry(name).or_insert((lo, hi));
        if known != (lo, hi) {
            let message =
                format!("the dim `{name}` has the range [{lo}, {hi}) here and [{}, {}) above", known.0, known.1);
            return Err(Refusal::wrong(span, message).help("give the two dims different names"));
        }
        Ok(Value::Dim(self.cx.dim_var(DimVar { name, lo, hi })))
    }

    /// `DimVarRangePat(name, lo, hi)`, and where the three stand.
    pub(crate) fn range_pattern(&mut self, call: &ast::ExprCall, span: Span) -> Res<(DimVarRangePat<'c>, [Span; 3])> {
        const WHAT: &str = "DimVarRangePat";
        let given = self.arguments(call, WHAT, &["name", "lo", "hi"])?;
        let name = self.required(&given, 0, "name", WHAT, span)?;
        let lo = self.required(&given, 1, "lo", WHAT, span)?;
        let hi = self.required(&given, 2, "hi", WHAT, span)?;
        let spans = [self.span(name), self.span(lo), self.span(hi)];
        let name = self.string(name, "the name of a dim")?;
        let (lo, hi) = (self.int(lo, "a bound of a range")?, self.int(hi, "a bound of a range")?);
        let range = DimVarRangePat::new(self.cx.symbol(name), lo, hi);
        Ok((range.map_err(|error| Refusal::from(error.at(if name.is_empty() { spans[0] } else { spans[2] })))?, spans))
    }
}
