//! Plain classes of a file: configurations, dataclasses, named tuples, enums.

use std::rc::Rc;

use ruff_python_ast as ast;
use tf_core::Span;
use tf_types::Symbol;

use super::{Args, Python};
use crate::body::is_docstring;
use crate::factory::Code;
use crate::names::Builtin;
use crate::parser::{Binding, Parser, Scope};
use crate::refusal::{Refusal, Res};
use crate::value::{Bound, SEQUENCE_DEPTH, Value};

/// A plain class.
pub(crate) struct Record<'c> {
    pub(super) name: Symbol<'c>,
    pub(super) kind: Kind,
    /// The class that it extends.
    pub(super) base: Option<usize>,
    /// Annotated names with their defaults, in order; those of the base first.
    pub(super) fields: Vec<(Symbol<'c>, Option<Value<'c>>)>,
    /// Other names.
    pub(super) constants: Vec<(Symbol<'c>, Value<'c>)>,
    /// Functions, each by its place.
    pub(super) methods: Vec<(Symbol<'c>, Method, usize)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Plain,
    Data {
        is_frozen: bool,
    },
    Tuple,
    /// Members are instances with `name` and `value`, or the values themselves.
    Enum {
        is_value: bool,
    },
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Instance,
    Property,
    Static,
    Class,
}

/// An instance of a plain class.
pub(crate) struct Object<'c> {
    /// Its class; none for a plain namespace.
    pub(crate) record: Option<usize>,
    pub(crate) names: Vec<Symbol<'c>>,
    pub(crate) values: Vec<Value<'c>>,
    /// Whether it is a tuple of its values as well.
    pub(crate) is_tuple: bool,
    pub(crate) is_frozen: bool,
    pub(crate) depth: u32,
}

impl<'a, 'c> Parser<'a, 'c> {
    /// Binds a plain class; where it is not read, uses of it are refused.
    pub(crate) fn plain_class(&mut self, class: &'a ast::StmtClassDef) {
        let name = self.cx.symbol(class.name.as_str());
        let binding = match self.record(class) {
            Ok(record) => {
                self.records.push(record);
                Binding::Value(Value::Record(self.records.len() - 1))
            }
            Err(Refusal::Unread(diagnostic)) => {
                let at = self.span(&class.name);
                let unread = Binding::Unread { why: diagnostic.message, at };
                class.body.iter().for_each(|stmt| self.lose_changes(stmt, &unread));
                class.decorator_list.iter().for_each(|decorator| self.lose_calls(&decorator.expression, &unread));
                unread
            }
            Err(refusal) => {
                self.report(refusal);
                Binding::Poison
            }
        };
        self.bind(name, binding);
    }

    /// The class as far as its decorators and bases say what it is.
    fn record(&mut self, class: &'a ast::StmtClassDef) -> Res<Record<'c>> {
        let unread = |p: &Self, why: &str| {
            Err(Refusal::unread(p.span(&class.name), format!("it is a plain Python class {why}")))
        };
        let name = self.cx.symbol(class.name.as_str());
        let mut record = Record {
            name,
            kind: Kind::Plain,
            base: None,
            fields: Vec::new(),
            constants: Vec::new(),
            methods: Vec::new(),
        };
        let arguments = class.arguments.as_deref();
        if arguments.is_some_and(|arguments| !arguments.keywords.is_empty() || arguments.args.len() > 1) {
            return unread(self, "with several bases or a metaclass, and authoring files are not executed");
        }
        for base in arguments.into_iter().flat_map(|arguments| &arguments.args) {
            match self.eval(base, None) {
                Ok(Value::Record(at)) => {
                    let base = &self.records[at];
                    record.kind = base.kind;
                    record.fields.clone_from(&base.fields);
                    record.base = Some(at);
                }
                Ok(Value::Builtin(Builtin::Python(Python::NamedTuple))) => record.kind = Kind::Tuple,
                Ok(Value::Builtin(Builtin::Python(Python::Enum))) => record.kind = Kind::Enum { is_value: false },
                Ok(Value::Builtin(Builtin::Python(Python::IntEnum))) => record.kind = Kind::Enum { is_value: true },
                Ok(Value::Builtin(Builtin::Python(Python::Object | Python::Abc))) => {}
                _ => {
                    let why = format!("with the base `{}`, which is not read", self.text(base));
                    return unread(self, &why);
                }
            }
        }
        for decorator in &class.decorator_list {
            let (written, call) = match &decorator.expression {
                ast::Expr::Call(call) => (&*call.func, Some(call)),
                other => (other, None),
            };
            match self.eval(written, None) {
                Ok(Value::Builtin(Builtin::Python(Python::DataClass))) => {
                    let keywords = call.into_iter().flat_map(|call| &call.arguments.keywords);
                    let is_true = |keyword: &ast::Keyword| {
                        keyword.arg.as_ref().is_some_and(|name| name.as_str() == "frozen")
                            && matches!(&keyword.value, ast::Expr::BooleanLiteral(literal) if literal.value)
                    };
                    record.kind = Kind::Data { is_frozen: keywords.into_iter().any(is_true) };
                }
                _ => return unread(self, "with a decorator, and authoring files are not executed"),
            }
        }
        let home = self.scopes.clone();
        self.scopes.push(Scope::default());
        let result = self.record_members(class, &mut record, &home);
        self.scopes.pop();
        result.map(|()| record)
    }

    fn record_members(&mut self, class: &'a ast::StmtClassDef, record: &mut Record<'c>, home: &[Scope<'c>]) -> Res<()> {
        for (at, member) in class.body.iter().enumerate() {
            let (target, value) = match member {
                ast::Stmt::Pass(_) => continue,
                first if at == 0 && is_docstring(first) => continue,
                ast::Stmt::Expr(expr) if expr.value.is_ellipsis_literal_expr() => continue,
                ast::Stmt::FunctionDef(def) => {
                    let kind = match &def.decorator_list[..] {
                        [one, ..] => match &one.expression {
                            ast::Expr::Name(name) => match name.id.as_str() {
                                "property" => Method::Property,
                                "staticmethod" => Method::Static,
                                "classmethod" => Method::Class,
                                _ => Method::Instance,
                            },
                            // `functools.cached_property`.
                            ast::Expr::Attribute(attribute) if attribute.attr.as_str() == "cached_property" => {
                                Method::Property
                            }
                            _ => Method::Instance,
                        },
                        [] => Method::Instance,
                    };
                    let place = self.define_in(Code::Def(def), home);
                    record.methods.push((self.cx.symbol(def.name.as_str()), kind, place));
                    continue;
                }
                ast::Stmt::AnnAssign(assign) => (&*assign.target, assign.value.as_deref()),
                ast::Stmt::Assign(assign) if assign.targets.len() == 1 => (&assign.targets[0], Some(&*assign.value)),
                other => {
                    let message = format!("it is a plain Python class with `{}`", self.text(other));
                    return Err(Refusal::unread(self.span(other), message));
                }
            };
            let ast::Expr::Name(target) = target else {
                let message = format!("it is a plain Python class with `{}`", self.text(member));
                return Err(Refusal::unread(self.span(member), message));
            };
            let name = self.cx.symbol(target.id.as_str());
            let mut value = value.map(|value| self.eval(value, None)).transpose()?;
            if let Some(value) = &value {
                self.bind(name, Binding::Value(value.clone()));
            }
            let is_field = matches!(member, ast::Stmt::AnnAssign(_));
            if is_field && matches!(record.kind, Kind::Data { .. } | Kind::Tuple) {
                match record.fields.iter_mut().find(|(known, _)| *known == name) {
                    Some(field) => field.1 = value,
                    None => record.fields.push((name, value)),
                }
                continue;
            }
            if let (Kind::Enum { is_value }, Some(given)) = (record.kind, &value) {
                let given = match given {
                    Value::Builtin(Builtin::Python(Python::Auto)) => Value::Int(record.constants.len() as i64 + 1),
                    other => other.clone(),
                };
                value = Some(match is_value {
                    true => given,
                    false => {
                        let names = vec![self.cx.symbol("name"), self.cx.symbol("value")];
                        let object = Object::new(Some(self.records.len()), names, vec![Value::Str(name), given]);
                        object
                            .map(|object| Value::Object(Rc::new(object)))
                            .ok_or_else(|| too_deep(self.span(member)))?
                    }
                });
            }
            record.constants.extend(value.map(|value| (name, value)));
        }
        Ok(())
    }

    /// A method of a class or of those that it extends.
    pub(super) fn method_of(&self, record: usize, name: &str) -> Option<(Method, usize)> {
        let classes = std::iter::successors(Some(record), |&at| self.records[at].base);
        let mut methods = classes.flat_map(|at| self.records[at].methods.iter().rev());
        methods.find(|(known, ..)| known.as_str() == name).map(|&(_, kind, place)| (kind, place))
    }

    /// Whether an instance of a class is one of another.
    pub(super) fn extends(&self, record: usize, other: usize) -> bool {
        std::iter::successors(Some(record), |&at| self.records[at].base).any(|at| at == other)
    }

    /// The members of an enum in order.
    pub(super) fn members_of(&self, record: usize) -> Option<Vec<Value<'c>>> {
        let record = &self.records[record];
        matches!(record.kind, Kind::Enum { .. })
            .then(|| record.constants.iter().map(|(_, value)| value.clone()).collect())
    }

    /// An attribute of an instance.
    pub(crate) fn object_attribute(&mut self, object: &Rc<Object<'c>>, name: &str, span: Span) -> Res<Value<'c>> {
        if let Some(at) = object.names.iter().position(|field| field.as_str() == name) {
            return Ok(object.values[at].clone());
        }
        let Some(record) = object.record else {
            return Err(Refusal::unread(span, format!("the namespace has no attribute `{name}`")));
        };
        let owner = Value::Object(Rc::clone(object));
        match self.method_of(record, name) {
            Some((Method::Property, at)) => self.factory_call(at, Args::of([owner], span), span),
            Some((Method::Instance, at)) => {
                Bound::value(Value::Factory(at), vec![owner], Vec::new()).ok_or_else(|| too_deep(span))
            }
            _ => self.record_attribute(record, name, span),
        }
    }

    /// An attribute of a class.
    pub(crate) fn record_attribute(&self, at: usize, name: &str, span: Span) -> Res<Value<'c>> {
        let record = &self.records[at];
        let field = record.fields.iter().find(|(field, _)| field.as_str() == name).and_then(|(_, value)| value.clone());
        let constants = std::iter::successors(Some(at), |&at| self.records[at].base)
            .flat_map(|at| self.records[at].constants.iter().rev());
        let constant =
            || constants.into_iter().find(|(constant, _)| constant.as_str() == name).map(|(_, value)| value.clone());
        if let Some(value) = field.or_else(constant) {
            return Ok(value);
        }
        match self.method_of(at, name) {
            Some((Method::Class, place)) => {
                Bound::value(Value::Factory(place), vec![Value::Record(at)], Vec::new()).ok_or_else(|| too_deep(span))
            }
            Some((Method::Static | Method::Instance, place)) => Ok(Value::Factory(place)),
            _ => {
                let fields = record.fields.iter().map(|(field, _)| field.as_str());
                let constants = record.constants.iter().map(|(constant, _)| constant.as_str());
                let known = fields.chain(constants).chain(record.methods.iter().map(|(method, ..)| method.as_str()));
                Err(Refusal::unread(span, format!("`{}` has no attribute `{name}`", record.name)).near(name, known))
            }
        }
    }
}

impl<'c> Object<'c> {
    /// None beyond [`SEQUENCE_DEPTH`].
    pub(crate) fn new(record: Option<usize>, names: Vec<Symbol<'c>>, values: Vec<Value<'c>>) -> Option<Self> {
        let depth = values.iter().map(Value::depth).max().unwrap_or(0) + 1;
        let object = Self { record, names, values, is_tuple: false, is_frozen: false, depth };
        (depth <= SEQUENCE_DEPTH).then_some(object)
    }
}

pub(super) fn too_deep(span: Span) -> Refusal {
    Refusal::wrong(span, format!("values are nested more than {SEQUENCE_DEPTH} deep"))
}
