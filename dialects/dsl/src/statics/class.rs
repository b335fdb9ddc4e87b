//! Plain classes of a file: configurations, dataclasses, named tuples, enums.

use std::collections::hash_map::Entry;
use std::rc::Rc;

use ruff_python_ast as ast;
use rustc_hash::FxHashMap;
use tf_core::Span;
use tf_types::Symbol;

use super::dataclass::{Data, Field};
use super::enums::Payload;
use super::{Python, Unknown};
use crate::body::is_docstring;
use crate::names::Builtin;
use crate::parser::{self, Binding, Frame, Names, Parser, Scope};
use crate::refusal::{Refusal, Res};
use crate::value::Value;

/// Methods that change what Python does with a class everywhere.
const UNREAD: &[&str] = &[
    "__class_getitem__",
    "__del__",
    "__delattr__",
    "__delete__",
    "__format__",
    "__get__",
    "__getattr__",
    "__getattribute__",
    "__init_subclass__",
    "__instancecheck__",
    "__new__",
    "__prepare__",
    "__set__",
    "__set_name__",
    "__setattr__",
    "__subclasscheck__",
];

/// Classes that one extends: a name is looked for in each.
const CHAIN: usize = 64;

/// A plain class.
pub(crate) struct Record<'c> {
    pub(super) name: Symbol<'c>,
    pub(super) kind: Kind,
    /// Itself and the classes that it extends, in the order in which names are looked up.
    pub(super) line: Rc<[usize]>,
    /// The attributes that instances may have, where it says so.
    pub(super) slots: Option<Vec<Symbol<'c>>>,
    pub(super) names: Scope<'c>,
    /// Of a dataclass or named tuple: in order, those of the base first.
    pub(super) fields: Vec<Field<'c>>,
    /// Of an enum, in order and without aliases.
    pub(super) members: Rc<Vec<Value<'c>>>,
    /// Of flags: those so far that are put together.
    pub(super) flags: Option<Vec<Value<'c>>>,
    /// Why its names are not known any more.
    pub(super) unknown: Option<Unknown>,
}

#[derive(Clone, Copy)]
pub(super) enum Kind {
    Plain,
    Data(Data),
    Tuple,
    Enum { payload: Option<Payload> },
}

/// What the bases of a class make of it.
struct Bases {
    kind: Kind,
    /// The classes behind it.
    line: Vec<usize>,
    has_flags: bool,
}

/// By what instances are found in dicts and sets.
pub(super) enum Hash {
    None,
    Identity,
    /// The fields of that class.
    Fields(usize),
}

/// By what instances are equal that have no method for it.
pub(super) enum Equality {
    Identity,
    Fields(usize),
}

impl<'c> Parser<'_, 'c> {
    /// A class and those that it extends, in the order in which names are looked up.
    pub(super) fn line(&self, class: usize) -> Rc<[usize]> {
        Rc::clone(&self.records[class].line)
    }

    /// [`Self::line`]; nothing without a class.
    pub(super) fn classes(&self, first: Option<usize>) -> impl Iterator<Item = usize> {
        let line = first.map(|class| self.line(class));
        (0..line.as_ref().map_or(0, |line| line.len())).filter_map(move |at| line.as_ref().map(|line| line[at]))
    }

    /// Those that stand behind `class` in the line of `of`.
    pub(super) fn behind(&self, class: usize, of: usize) -> Rc<[usize]> {
        let line = self.line(of);
        let at = line.iter().position(|known| *known == class);
        at.map_or_else(Rc::default, |at| line[at + 1..].into())
    }

    /// Whether an instance of a class is one of another.
    pub(super) fn extends(&self, class: usize, other: usize) -> bool {
        self.classes(Some(class)).any(|at| at == other)
    }

    pub(super) fn has_own(&self, class: usize, name: &str) -> bool {
        self.records[class].names.borrow().contains_key(&self.cx.symbol(name))
    }

    /// The class in whose statements, or by whose decorator, a method is defined that instances of `class` have.
    pub(super) fn definer(&self, class: usize, name: &str) -> Option<(usize, bool)> {
        self.definer_in(&self.line(class), name)
    }

    /// [`Self::definer`] among these classes.
    pub(super) fn definer_in(&self, line: &[usize], name: &str) -> Option<(usize, bool)> {
        line.iter().find_map(|&at| match self.has_own(at, name) {
            true => Some((at, true)),
            false => self.writes(at, name).then_some((at, false)),
        })
    }

    /// Whether the decorator or the base of a class writes a method.
    pub(super) fn writes(&self, class: usize, name: &str) -> bool {
        match self.records[class].kind {
            Kind::Data(data) => data.writes(name),
            Kind::Tuple => name == "__init__",
            _ => false,
        }
    }

    pub(super) fn hash_of(&self, class: usize) -> Hash {
        for at in self.classes(Some(class)) {
            match self.records[at].kind {
                _ if self.has_own(at, "__hash__") => return Hash::None,
                Kind::Data(data) if data.unsafe_hash || data.eq && data.frozen => return Hash::Fields(at),
                Kind::Data(data) if data.eq => return Hash::None,
                _ if self.has_own(at, "__eq__") => return Hash::None,
                _ => {}
            }
        }
        Hash::Identity
    }

    pub(super) fn equality_of(&self, class: usize) -> Equality {
        match self.definer(class, "__eq__") {
            Some((owner, false)) => Equality::Fields(owner),
            _ => Equality::Identity,
        }
    }

    /// The class whose fields order instances.
    pub(super) fn order_of(&self, class: usize) -> Option<usize> {
        self.definer(class, "__lt__").filter(|(_, is_own)| !is_own).map(|(owner, _)| owner)
    }
}

impl<'a, 'c> Parser<'a, 'c> {
    /// Binds a plain class; where it is not read, uses of it are refused.
    pub(crate) fn plain_class(&mut self, class: &'a ast::StmtClassDef) {
        let binding = match self.decorated_class(class) {
            Ok(value) => Binding::Value(value),
            Err(Refusal::Unread(diagnostic)) => {
                self.doubts += 1;
                let at = self.span(&class.name);
                let unread = Binding::unread(&diagnostic.message, at);
                class.body.iter().for_each(|stmt| self.lose_changes(stmt, &unread));
                class.decorator_list.iter().for_each(|decorator| self.lose_decorator(&decorator.expression, &unread));
                unread
            }
            Err(refusal) => {
                self.report(refusal);
                Binding::Poison
            }
        };
        self.bind(self.cx.symbol(class.name.as_str()), binding);
    }

    pub(super) fn unread_class<T>(&self, at: Span, why: &str) -> Res<T> {
        Err(Refusal::unread(at, format!("it is a plain Python class {why}")))
    }

    /// The class as far as its decorators and bases say what it is.
    pub(super) fn record(&mut self, class: &'a ast::StmtClassDef, data: Option<Data>) -> Res<usize> {
        let at = self.span(&class.name);
        let Bases { kind, line, has_flags } = self.bases(class)?;
        let kind = match (data, kind) {
            (None, kind) => kind,
            (Some(data), Kind::Plain) => Kind::Data(data),
            (Some(_), _) => return self.unread_class(at, "with a decorator, and authoring files are not executed"),
        };
        for &known in &line {
            match (kind, self.records[known].kind) {
                (Kind::Data(data), Kind::Data(known)) if data.frozen != known.frozen => {
                    return Err(Refusal::wrong(at, "one of a dataclass and its base is frozen, and the other is not"));
                }
                (Kind::Data(_), Kind::Tuple) => return self.unread_class(at, "over a named tuple, which is not read"),
                _ => {}
            }
        }
        let mut fields: Vec<Field<'c>> = Vec::new();
        let mut places = FxHashMap::default();
        for field in line.iter().rev().flat_map(|&at| &self.records[at].fields) {
            match places.entry(field.name) {
                Entry::Occupied(place) => fields[*place.get()] = field.clone(),
                Entry::Vacant(place) => {
                    place.insert(fields.len());
                    fields.push(field.clone());
                }
            }
        }
        let name = self.cx.symbol(class.name.as_str());
        let record = self.new_record(name, kind, line, fields);
        self.records[record].flags = has_flags.then(Vec::new);
        self.scopes.push(Rc::clone(&self.records[record].names));
        let result = self.class_body(class, record);
        self.scopes.pop();
        let assigned = result?;
        self.slots(record, at)?;
        if let Some(name) = self.unread_name(record) {
            return self.unread_class(at, &format!("with `{name}`, which is not read"));
        }
        match kind {
            Kind::Enum { payload } => self.enum_members(record, payload, &assigned, at)?,
            Kind::Data(_) | Kind::Tuple => self.check_fields(record, at)?,
            Kind::Plain => {}
        }
        Ok(record)
    }

    /// A class that extends those of `line`.
    pub(super) fn new_record(
        &mut self,
        name: Symbol<'c>,
        kind: Kind,
        mut line: Vec<usize>,
        fields: Vec<Field<'c>>,
    ) -> usize {
        let at = self.records.len();
        line.insert(0, at);
        let names = Names::scope(Frame::default(), parser::Kind::Class);
        let line = line.into();
        self.records.push(Record {
            name,
            kind,
            line,
            slots: None,
            names,
            fields,
            members: Rc::default(),
            flags: None,
            unknown: None,
        });
        at
    }

    /// What `__slots__` of a class says: names of attributes.
    fn slots(&mut self, record: usize, at: Span) -> Res<()> {
        let symbol = self.cx.symbol("__slots__");
        let Some(value) = self.records[record].names.borrow().get(&symbol).and_then(Binding::value) else {
            return Ok(());
        };
        let items = match value {
            Value::Str(_) => vec![value],
            other => self.items_of(&other, at)?,
        };
        let mut slots = Vec::with_capacity(items.len());
        for item in items {
            let Value::Str(name) = item else { return self.unread_class(at, "with `__slots__` of other than names") };
            if self.records[record].names.borrow().contains_key(&name) {
                return Err(Refusal::wrong(at, format!("`{name}` is in `__slots__`, and the class binds it")));
            }
            slots.push(name);
        }
        self.records[record].slots = Some(slots);
        Ok(())
    }

    fn unread_name(&self, record: usize) -> Option<&'c str> {
        let record = &self.records[record];
        let is_enum = matches!(record.kind, Kind::Enum { .. });
        let is_unread = |name: &str| {
            UNREAD.contains(&name)
                || name.starts_with("__") && !name.ends_with("__")
                || is_enum
                    && (name == "__init__" || name.starts_with('_') && !name.starts_with("__") && name.ends_with('_'))
        };
        let mut found: Vec<_> =
            record.names.borrow().keys().map(|name| name.as_str()).filter(|n| is_unread(n)).collect();
        found.sort_unstable();
        found.first().copied()
    }

    fn bases(&mut self, class: &ast::StmtClassDef) -> Res<Bases> {
        let at = self.span(&class.name);
        let (mut kind, mut bases, mut payload, mut has_flags) = (Kind::Plain, Vec::new(), false, false);
        let arguments = class.arguments.as_deref();
        for keyword in arguments.into_iter().flat_map(|arguments| &arguments.keywords) {
            let is_abc =
                matches!(self.eval(&keyword.value, None), Ok(Value::Builtin(Builtin::Python(Python::AbcMeta))));
            if !is_abc || keyword.arg.as_ref().is_none_or(|name| name.as_str() != "metaclass") {
                return self.unread_class(at, "with a metaclass, and authoring files are not executed");
            }
        }
        for expr in arguments.into_iter().flat_map(|arguments| &arguments.args) {
            match self.eval(expr, None) {
                Ok(Value::Record(record)) => {
                    match self.records[record].kind {
                        Kind::Enum { .. } if !self.records[record].members.is_empty() => {
                            return self.unread_class(at, "that extends an enum with members");
                        }
                        other @ Kind::Enum { .. } => kind = other,
                        _ => {}
                    }
                    has_flags |= self.records[record].flags.is_some();
                    bases.push(record);
                }
                Ok(Value::Builtin(Builtin::Python(python))) => match python {
                    Python::NamedTuple => kind = Kind::Tuple,
                    Python::Enum => kind = Kind::Enum { payload: payload.then_some(Payload::Named) },
                    Python::IntEnum => kind = Kind::Enum { payload: Some(Payload::Int) },
                    Python::StrEnum => kind = Kind::Enum { payload: Some(Payload::Str) },
                    Python::Flag | Python::IntFlag => {
                        kind = Kind::Enum { payload: (python == Python::IntFlag).then_some(Payload::Int) };
                        has_flags = true;
                    }
                    Python::Object | Python::Abc => {}
                    _ => {
                        return self
                            .unread_class(at, &format!("with the base `{}`, which is not read", self.text(expr)));
                    }
                },
                Ok(Value::Builtin(Builtin::IntType | Builtin::StrType)) => payload = true,
                _ => return self.unread_class(at, &format!("with the base `{}`, which is not read", self.text(expr))),
            }
        }
        let is_tuple = |at: &usize| matches!(self.records[*at].kind, Kind::Tuple);
        if bases.len() > 1 && (bases.iter().any(is_tuple) || matches!(kind, Kind::Tuple)) {
            return self.unread_class(at, "with a named tuple beside other bases, which is not read");
        }
        if payload && !matches!(kind, Kind::Enum { payload: Some(_) }) {
            return self.unread_class(at, "with a base of Python, which is not read");
        }
        if bases.len() > CHAIN {
            return self.unread_class(at, &format!("that extends more than {CHAIN} others"));
        }
        match self.merged(&bases) {
            Some(line) if line.len() > CHAIN => {
                self.unread_class(at, &format!("that extends more than {CHAIN} others"))
            }
            Some(line) => Ok(Bases { kind, line, has_flags }),
            None => {
                Err(Refusal::wrong(at, "its bases stand in no common order")
                    .help("put classes before those they extend"))
            }
        }
    }

    /// The classes behind one with these bases: each before those that it extends, the bases in their order. None where
    /// that is not possible.
    fn merged(&self, bases: &[usize]) -> Option<Vec<usize>> {
        let lines = bases.iter().map(|&base| self.line(base).to_vec());
        let mut lines: Vec<Vec<usize>> = lines.chain([bases.to_vec()]).collect();
        let mut merged = Vec::new();
        loop {
            lines.retain(|line| !line.is_empty());
            if lines.is_empty() {
                return Some(merged);
            }
            let is_free = |class: usize| lines.iter().all(|line| !line[1..].contains(&class));
            let next = lines.iter().map(|line| line[0]).find(|&class| is_free(class))?;
            merged.push(next);
            lines.iter_mut().for_each(|line| line.retain(|&class| class != next));
        }
    }

    /// Runs the statements of a class; the names that it assigns, in order.
    fn class_body(&mut self, class: &'a ast::StmtClassDef, record: usize) -> Res<Vec<Symbol<'c>>> {
        let mut assigned = Vec::new();
        let kind = self.records[record].kind;
        for (at, member) in class.body.iter().enumerate() {
            let span = self.span(member);
            self.step(1, span)?;
            match member {
                ast::Stmt::Pass(_) => {}
                first if at == 0 && is_docstring(first) => {}
                ast::Stmt::Expr(expr) if expr.value.is_ellipsis_literal_expr() => {}
                ast::Stmt::FunctionDef(def) => {
                    let binding = self.defined(def, Some(record));
                    self.bind(self.cx.symbol(def.name.as_str()), binding);
                }
                ast::Stmt::ClassDef(_) | ast::Stmt::Assign(_) => {
                    self.run_statement(member, span)?;
                    if let ast::Stmt::Assign(assign) = member {
                        let mut names = Vec::new();
                        assign.targets.iter().for_each(|target| super::bound::target_names(target, &mut names));
                        let names = names.into_iter().map(|name| self.cx.symbol(name)).collect();
                        self.assigned_members(record, names, &assign.value, &mut assigned)?;
                    }
                }
                ast::Stmt::AnnAssign(assign) => {
                    self.annotated_member(assign, record)?;
                    if let (ast::Expr::Name(name), Some(value)) = (&*assign.target, &assign.value) {
                        let name = self.cx.symbol(name.id.as_str());
                        self.assigned_members(record, vec![name], value, &mut assigned)?;
                    }
                }
                // Where Python collects names, they stand in the class itself.
                _ if matches!(kind, Kind::Plain) => {
                    self.nested(span, |p| p.run_statement(member, span))?;
                }
                other => return self.unread_class(span, &format!("with `{}`", self.text(other))),
            }
        }
        Ok(assigned)
    }
}
