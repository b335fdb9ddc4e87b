//! One case: its source, statement by statement.

use std::collections::HashMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use tf_core::op::{Attr, ParamKind};
use tf_core::{Arena, Context, Expr, Meta};
use tf_types::{Dim, DimVar, Storage, Symbol, Type, TypeKind};
use tf_value::{DialectBuilder, EvalCx, EvalRegistry, Tensor, Value, extent};

use crate::expression::{Parser, Val};
use crate::tokens::{Token, tokens};

/// Why a case gave no result.
pub enum Stop {
    /// It needs what this reader or registry lacks.
    Skip(String),
    Wrong(String),
}

pub type Res<T> = Result<T, Stop>;

pub struct Case {
    pub source: String,
    /// Name, value, declared extents.
    pub inputs: Vec<(String, Tensor, Option<Vec<String>>)>,
    pub sizes: Vec<(String, i64)>,
}

/// A run of one case.
pub struct Run<'r, 'c> {
    pub cx: &'r Context<'c>,
    rules: &'r EvalRegistry,
    pub dims: HashMap<String, Dim<'c>>,
    sizes: FxHashMap<Symbol<'c>, i64>,
    pub names: HashMap<String, Val<'c>>,
}

/// The tensors of a value, left to right.
fn flatten(value: Value, into: &mut Vec<Tensor>) {
    match value {
        Value::Tensor(tensor) => into.push(tensor),
        Value::Tuple(fields) => fields.into_iter().for_each(|field| flatten(field, into)),
    }
}

impl Case {
    pub fn run(&self) -> Res<Vec<Tensor>> {
        let mut builder = DialectBuilder::default();
        tf_hir::register(&mut builder);
        let (ops, rules): (_, Arc<EvalRegistry>) = builder.freeze().unwrap();
        let arena = Arena::new();
        let cx = &Context::new(&arena, ops);
        let sizes = self.sizes.iter().map(|(dim, size)| (cx.symbol(dim), *size)).collect();
        let mut run = Run { cx, rules: &rules, dims: HashMap::new(), sizes, names: HashMap::new() };
        run.read_dims(&self.source);
        for (name, tensor, declared) in &self.inputs {
            run.bind_input(name, tensor, declared.as_deref());
        }
        let (_, body) = self.source.split_once("def f(").ok_or_else(|| Stop::Skip("no function `f`".into()))?;
        for line in body.lines().skip_while(|line| !line.starts_with("    ")).filter(|line| !line.trim().is_empty()) {
            if let Some(result) = run.statement(line.trim())? {
                let mut found = Vec::new();
                flatten(result, &mut found);
                return Ok(found);
            }
        }
        Err(Stop::Skip("no `return`".into()))
    }
}

impl<'c> Run<'_, 'c> {
    /// `S = DimVar("S", 1, 65)` at file level.
    fn read_dims(&mut self, source: &str) {
        for line in source.lines() {
            let Some((name, rest)) = line.split_once(" = DimVar(") else { continue };
            let bounds: Vec<i64> = rest.trim_end_matches(')').split(", ").skip(1).map(|n| n.parse().unwrap()).collect();
            let var = DimVar { name: self.cx.symbol(name), lo: bounds[0], hi: bounds[1] };
            self.dims.insert(name.to_owned(), self.cx.dim_var(var));
        }
    }

    fn bind_input(&mut self, name: &str, tensor: &Tensor, declared: Option<&[String]>) {
        let known: Vec<_> = tensor.shape().iter().map(|&extent| self.cx.dim(extent as i64)).collect();
        let shape: Vec<_> = match declared {
            None => known,
            Some(words) => {
                let extent = |(word, known): (&String, Dim<'c>)| self.dims.get(word).copied().unwrap_or(known);
                words.iter().zip(known).map(extent).collect()
            }
        };
        let ty = self.cx.tensor(&shape, tensor.dtype(), None, Storage::Gmem);
        let node = self.cx.var(self.cx.symbol(name), ty, Meta::default());
        self.names.insert(name.to_owned(), Val::Node(node, tensor.clone().into()));
    }

    /// The result, if the statement returns one.
    fn statement(&mut self, line: &str) -> Res<Option<Value>> {
        let unread = || Stop::Skip(format!("`{line}` is not read"));
        let all = tokens(line).ok_or_else(unread)?;
        if all.first() == Some(&Token::Name("return".into())) {
            return match Parser::new(self, &all[1..]).whole()? {
                Val::Node(_, value) => Ok(Some(value)),
                _ => Err(unread()),
            };
        }
        let at = all.iter().position(|token| *token == Token::Sign("=")).ok_or_else(unread)?;
        let targets: Option<Vec<_>> = all[..at]
            .split(|token| *token == Token::Sign(","))
            .map(|target| match target {
                [Token::Name(name)] => Some(name.clone()),
                _ => None,
            })
            .collect();
        let targets = targets.ok_or_else(unread)?;
        let value = Parser::new(self, &all[at + 1..]).whole()?;
        if let [target] = &targets[..] {
            self.names.insert(target.clone(), value);
            return Ok(None);
        }
        let Val::Node(node, value) = value else { return Err(unread()) };
        for (at, target) in targets.into_iter().enumerate() {
            let item = self.item(node, &value, at as i64)?;
            self.names.insert(target, item);
        }
        Ok(None)
    }

    /// Field `at` of a tuple value.
    pub fn item(&self, node: Expr<'c>, value: &Value, at: i64) -> Res<Val<'c>> {
        self.call("tuple_get_item", &[(node, value.clone())], &[("index", Attr::Int(at))])
    }

    /// A call by schema: typed, evaluated, and compared with its type.
    pub fn call(&self, name: &str, operands: &[(Expr<'c>, Value)], given: &[(&str, Attr<'c>)]) -> Res<Val<'c>> {
        let schemas = self.cx.ops().schemas("tf", name);
        let schema = schemas.first().ok_or_else(|| Stop::Skip(format!("`{name}` is not registered")))?;
        let mut attrs = Vec::new();
        for param in schema.decl.attributes() {
            let ParamKind::Attribute { default, optional, .. } = param.kind else { continue };
            let find = |name: &str| given.iter().find(|(given, _)| *given == name).map(|(_, value)| *value);
            let fixed = schema.fixed.iter().find(|(name, _)| *name == param.name).map(|(_, value)| value.to_attr());
            let value = find(param.name).or(fixed).or(default.map(|d| d.to_attr())).or(optional.then_some(Attr::None));
            attrs.push(value.ok_or_else(|| Stop::Wrong(format!("`{name}` needs `{}`", param.name)))?);
        }
        let op = self.cx.op_instance(schema.op, &attrs);
        let args: Vec<_> = operands.iter().map(|(node, _)| *node).collect();
        let node = self.cx.call(op, &args, Meta::default()).map_err(|e| Stop::Wrong(e.message))?;
        let rule = self.rules.get(op.id).ok_or_else(|| Stop::Wrong(format!("`{name}` has no evaluation rule")))?;
        let mut values: Vec<_> = operands.iter().map(|(_, value)| value.clone()).collect();
        let eval_cx = EvalCx { dims: &self.sizes, result_type: node.ty() };
        let value = rule(node.op_call().unwrap(), &mut values, &eval_cx).map_err(|e| Stop::Wrong(e.to_string()))?;
        self.check(node.ty(), &value).map_err(|e| Stop::Wrong(format!("`{name}`: {e}")))?;
        Ok(Val::Node(node, value))
    }

    /// Whether a value has its inferred type.
    fn check(&self, ty: Type<'c>, value: &Value) -> Result<(), String> {
        match (ty.data(), value) {
            (TypeKind::Tensor(ty), Value::Tensor(tensor)) => {
                let shape: Result<Vec<_>, _> = ty.shape.iter().map(|&dim| extent(dim, &self.sizes)).collect();
                let found: Vec<_> = tensor.shape().iter().map(|&extent| extent as i64).collect();
                let shape = shape.map_err(|e| e.message)?;
                let fits = tensor.dtype() == ty.dtype && shape == found;
                if fits { Ok(()) } else { Err(format!("{ty} has the value {} of {found:?}", tensor.dtype())) }
            }
            (TypeKind::Tuple(types), Value::Tuple(fields)) if types.len() == fields.len() => {
                types.iter().zip(fields).try_for_each(|(&ty, field)| self.check(ty, field))
            }
            _ => Err(format!("{ty} has another kind of value")),
        }
    }
}
