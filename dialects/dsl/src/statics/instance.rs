//! Instances of plain classes, and how they are made.

use rustc_hash::FxHashSet;
use tf_core::Span;
use tf_infer::arguments;
use tf_types::Symbol;

use super::class::{Kind, Record};
use super::dataclass::{Field, Preset};
use super::{Args, Dict, Wrapper};
use crate::parser::{self, Binding, Frame, Names, Parser};
use crate::refusal::{Refusal, Res};
use crate::value::{SEQUENCE_DEPTH, Value};

/// An instance of a plain class, a namespace, or an object of the host.
pub(crate) struct Instance<'c> {
    kind: Of,
    pub(crate) attributes: Vec<(Symbol<'c>, Value<'c>)>,
    /// Whether it is a tuple of its values as well.
    pub(crate) is_tuple: bool,
    pub(super) is_frozen: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Class(usize),
    Namespace,
    Host,
}

impl<'c> Instance<'c> {
    pub(super) fn of(class: usize, attributes: Vec<(Symbol<'c>, Value<'c>)>, is_frozen: bool) -> Self {
        Self { kind: Of::Class(class), attributes, is_tuple: false, is_frozen }
    }

    pub(super) fn namespace(attributes: Vec<(Symbol<'c>, Value<'c>)>) -> Self {
        Self { kind: Of::Namespace, attributes, is_tuple: false, is_frozen: false }
    }

    pub(crate) fn host(attributes: Vec<(Symbol<'c>, Value<'c>)>) -> Self {
        Self { kind: Of::Host, attributes, is_tuple: false, is_frozen: false }
    }

    /// Its class; none for a namespace and an object of the host.
    pub(super) fn class(&self) -> Option<usize> {
        match self.kind {
            Of::Class(at) => Some(at),
            Of::Namespace | Of::Host => None,
        }
    }

    pub(super) fn is_namespace(&self) -> bool {
        self.kind == Of::Namespace
    }

    pub(super) fn own(&self, name: Symbol<'c>) -> Option<Value<'c>> {
        self.attributes.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone())
    }

    pub(super) fn set(&mut self, name: Symbol<'c>, value: Value<'c>) {
        match self.attributes.iter_mut().find(|(known, _)| *known == name) {
            Some(known) => known.1 = value,
            None => self.attributes.push((name, value)),
        }
    }
}

impl<'c> Parser<'_, 'c> {
    /// `Config(a=1)`.
    pub(crate) fn instance(&mut self, class: usize, args: Args<'c>, span: Span) -> Res<Value<'c>> {
        self.known(&Value::Record(class), span)?;
        if let Some(members) = self.members_of(class) {
            return self.member(class, &members, &args, span);
        }
        let names: usize = self.classes(Some(class)).map(|at| self.records[at].names.borrow().len()).sum();
        self.step(names / 16, span)?;
        if let Some(name) = self.abstract_name(class) {
            let message = format!("`{}` has the abstract method `{name}`", self.records[class].name);
            return Err(Refusal::unread(span, message));
        }
        let kinds: Vec<_> = self.classes(Some(class)).map(|at| self.records[at].kind).collect();
        let is_frozen = kinds.iter().any(|kind| matches!(kind, Kind::Data(data) if data.frozen));
        let mut instance = Instance::of(class, Vec::new(), is_frozen);
        instance.is_tuple = kinds.iter().any(|kind| matches!(kind, Kind::Tuple));
        let object = self.heap.instance(instance);
        match self.definer(class, "__init__") {
            Some((owner, true)) => match self.class_attribute(owner, "__init__", span)? {
                Some(Value::Factory(_)) if self.is_tuple(&object) => {
                    return Err(Refusal::unread(span, "a tuple with `__init__` is not read"));
                }
                Some(Value::Factory(at)) => {
                    let mut all = Args::of([object.clone()], span);
                    all.positional.extend(args.positional);
                    all.keywords = args.keywords;
                    self.factory_call(at, all, span)?;
                }
                _ => return Err(Refusal::unread(span, "`__init__` is no plain function")),
            },
            Some((owner, false)) => self.fill(owner, &object, args, span)?,
            None => {
                args.sorted(self.records[class].name.as_str(), &[])?;
            }
        }
        Ok(object)
    }

    pub(super) fn is_tuple(&self, value: &Value<'c>) -> bool {
        matches!(value, Value::Object(object) if object.get().is_tuple)
    }

    /// `Kind(3)`: the member with that value.
    fn member(&mut self, class: usize, members: &[Value<'c>], args: &Args<'c>, span: Span) -> Res<Value<'c>> {
        let name = self.records[class].name;
        let [(value, _)] = &args.positional[..] else {
            return Err(Refusal::unread(span, format!("`{name}` is an enum, whose call takes one value")));
        };
        for member in members {
            self.step(1, span)?;
            let Value::Object(object) = member else { continue };
            if let Value::Object(given) = value
                && std::rc::Rc::ptr_eq(given, object)
            {
                return Ok(member.clone());
            }
            let known = object.get().own(self.cx.symbol("value"));
            if let Some(known) = known
                && self.equal(&known, value, span)?
            {
                return Ok(member.clone());
            }
        }
        Err(Refusal::wrong(span, format!("`{name}` has no member {}", value.describe())))
    }

    /// An abstract method that no class of the chain defines.
    fn abstract_name(&self, class: usize) -> Option<Symbol<'c>> {
        let mut found = Vec::new();
        for at in self.classes(Some(class)) {
            for (name, binding) in &*self.records[at].names.borrow() {
                let is_defined = || {
                    self.classes(Some(class)).take_while(|below| *below != at).any(|at| self.has_own(at, name.as_str()))
                };
                if matches!(binding, Binding::Value(Value::Wrapped(Wrapper::Abstract, _))) && !is_defined() {
                    found.push(*name);
                }
            }
        }
        found.sort_unstable_by_key(|name| name.as_str());
        found.first().copied()
    }

    /// Sets the fields of an instance as the `__init__` of its dataclass does, and runs its `__post_init__`.
    pub(super) fn fill(&mut self, owner: usize, object: &Value<'c>, args: Args<'c>, span: Span) -> Res<()> {
        let Value::Object(instance) = object else {
            return Err(Refusal::unread(span, format!("{} has no fields", object.describe())));
        };
        let what = self.records[owner].name;
        let count = self.records[owner].fields.len();
        // Attributes are looked for one by one, which shows where they are thousands.
        self.step(count * (1 + count / 2048), span)?;
        let fields = self.records[owner].fields.clone();
        let (named, positional): (Vec<&Field<'c>>, Vec<&Field<'c>>) =
            fields.iter().filter(|field| field.init).partition(|field| field.kw_only == Some(true));
        if let Some((_, at)) = args.positional.get(positional.len()) {
            let (wanted, found) = (arguments(positional.len()), args.positional.len());
            let message = format!("`{what}` takes {wanted}, found {found}");
            return Err(Refusal::wrong(*at, message));
        }
        let names: Vec<_> = positional.iter().chain(&named).map(|field| field.name).collect();
        let mut given = args.sorted(what.as_str(), &names)?;
        let named_from = positional.len();
        let (mut next, mut next_named) = (0, named_from);
        for field in &fields {
            let value = field.init.then(|| {
                let place = if field.kw_only == Some(true) { &mut next_named } else { &mut next };
                *place += 1;
                given[*place - 1].take()
            });
            let value = match (value.flatten().map(|(value, _)| value), &field.default) {
                (Some(value), _) => value,
                (None, Preset::Factory(factory)) => self.call_value(factory, Args::default(), span)?,
                (None, _) if !field.init => continue,
                (None, Preset::Value(value)) => value.clone(),
                (None, Preset::None) => return Err(Refusal::wrong(span, format!("`{what}` needs `{}`", field.name))),
            };
            instance.change().set(field.name, value);
        }
        let class = instance.get().class();
        let post = class.map(|class| self.class_attribute(class, "__post_init__", span)).transpose()?.flatten();
        match post {
            Some(Value::Factory(at)) if matches!(self.records[owner].kind, Kind::Data(_)) => {
                self.factory_call(at, Args::of([object.clone()], span), span)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// `Base.__init__(self, ...)` of a class that has none in its statements.
    pub(super) fn initialise(&mut self, owner: Option<usize>, mut args: Args<'c>, span: Span) -> Res<Value<'c>> {
        if args.positional.is_empty() {
            return Err(Refusal::wrong(span, "`__init__` takes an instance first"));
        }
        let (object, _) = args.positional.remove(0);
        match owner {
            Some(owner) => self.fill(owner, &object, args, span)?,
            None => {
                args.sorted("object", &[])?;
            }
        }
        Ok(Value::None)
    }

    /// The values by which the instances of a class are compared.
    pub(super) fn compared_fields(&mut self, owner: usize, value: &Value<'c>, span: Span) -> Res<Vec<Value<'c>>> {
        let names = self.records[owner].fields.iter().filter(|field| field.compare).map(|field| field.name);
        let names: Vec<_> = names.collect();
        names.into_iter().map(|name| self.attribute_value(value, name, span)).collect()
    }

    fn attribute_value(&mut self, owner: &Value<'c>, name: Symbol<'c>, span: Span) -> Res<Value<'c>> {
        let value = self.object_attribute(owner, name.as_str(), span)?;
        value.ok_or_else(|| Refusal::unread(span, format!("{} has no attribute `{name}`", owner.describe())))
    }

    /// The class whose fields a dataclass has, and an instance of it.
    fn dataclass_of(&self, value: &Value<'c>) -> Option<(usize, usize)> {
        let Value::Object(object) = value else { return None };
        let class = object.get().class()?;
        let owner = self.classes(Some(class)).find(|at| matches!(self.records[*at].kind, Kind::Data(_)))?;
        Some((class, owner))
    }

    /// `replace(config, layers=3)`.
    pub(super) fn replaced_object(&mut self, args: Args<'c>, span: Span) -> Res<Value<'c>> {
        let Args { positional, keywords } = args;
        let [(object, _)] = &positional[..] else {
            return Err(Refusal::unread(span, "`replace` takes an instance of a dataclass and keywords"));
        };
        let Some((class, owner)) = self.dataclass_of(object) else {
            return Err(Refusal::unread(span, "`replace` takes an instance of a dataclass and keywords"));
        };
        let fields = self.records[owner].fields.clone();
        self.step(fields.len(), span)?;
        let changed: FxHashSet<_> = keywords.iter().map(|(name, ..)| *name).collect();
        let mut all = Args { positional: Vec::new(), keywords };
        for field in fields.iter().filter(|field| field.init) {
            if !changed.contains(&field.name) {
                let value = self.attribute_value(object, field.name, span)?;
                all.keywords.push((field.name, value, span));
            }
        }
        self.instance(class, all, span)
    }

    /// `asdict(config)`, at all depths.
    pub(super) fn as_dict(&mut self, value: &Value<'c>, depth: u32, span: Span) -> Res<Value<'c>> {
        self.step(1, span)?;
        self.known(value, span)?;
        if depth > SEQUENCE_DEPTH {
            return Err(super::too_deep(span));
        }
        let mut dict = Dict::default();
        match value {
            Value::Object(_) if let Some((_, owner)) = self.dataclass_of(value) => {
                let names: Vec<_> = self.records[owner].fields.iter().map(|field| field.name).collect();
                for name in names {
                    let part = self.attribute_value(value, name, span)?;
                    dict.put(super::Key::Str(name), Value::Str(name), self.as_dict(&part, depth + 1, span)?);
                }
                Ok(self.heap.dict(dict))
            }
            Value::List(_) | Value::Tuple(_) => {
                let items = value.as_sequence();
                let items = items.iter().flat_map(|items| items.iter());
                let items = items.map(|item| self.as_dict(item, depth + 1, span)).collect::<Res<Vec<_>>>()?;
                if let Value::List(_) = value { Ok(self.heap.list(items)) } else { self.tuple(items, span) }
            }
            Value::Dict(items) => {
                let entries = items.get().entries();
                for (key, name, item) in entries {
                    dict.put(key, name, self.as_dict(&item, depth + 1, span)?);
                }
                Ok(self.heap.dict(dict))
            }
            Value::Object(_) if self.members_like(value) => Ok(value.clone()),
            Value::Object(_) | Value::Set(_) | Value::Iter(_) | Value::View(..) => {
                Err(Refusal::unread(span, format!("a copy of {} is not read", value.describe())))
            }
            other => Ok(other.clone()),
        }
    }

    /// Whether a value is a member of an enum.
    fn members_like(&self, value: &Value<'c>) -> bool {
        let Value::Object(object) = value else { return false };
        object.get().class().is_some_and(|class| matches!(self.records[class].kind, Kind::Enum { .. }))
    }

    /// `namedtuple("Pair", "a b")`.
    pub(super) fn named_tuple(&mut self, args: Args<'c>, span: Span) -> Res<Value<'c>> {
        let values = args.values("namedtuple")?;
        let [Value::Str(name), fields] = &values[..] else {
            return Err(Refusal::unread(span, "`namedtuple` takes a name and the names of fields"));
        };
        let mut names = Vec::new();
        match fields {
            Value::Str(text) => {
                let words = text.as_str().split([' ', ',']).filter(|word| !word.is_empty());
                names.extend(words.map(|word| self.cx.symbol(word)));
            }
            other => {
                for item in self.items_of(other, span)? {
                    let Value::Str(field) = item else {
                        return Err(Refusal::unread(span, format!("a field has a name, found {}", item.describe())));
                    };
                    names.push(field);
                }
            }
        }
        let field = |name| Field { name, default: Preset::None, init: true, compare: true, kw_only: None };
        self.records.push(Record {
            name: *name,
            kind: Kind::Tuple,
            base: None,
            names: Names::scope(Frame::default(), parser::Kind::Class),
            fields: names.into_iter().map(field).collect(),
            members: std::rc::Rc::default(),
            unknown: None,
        });
        Ok(Value::Record(self.records.len() - 1))
    }
}
