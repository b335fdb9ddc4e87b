//! Instances of plain classes, and how they are made.

use rustc_hash::FxHashSet;
use tf_core::Span;
use tf_infer::arguments;
use tf_types::Symbol;

use super::class::Kind;
use super::dataclass::{Field, Preset};
use super::{Args, Dict, Wrapper};
use crate::parser::{Binding, Parser};
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

    /// An instance of the same class without attributes.
    pub(super) fn alike(&self) -> Self {
        Self { kind: self.kind, attributes: Vec::new(), is_tuple: self.is_tuple, is_frozen: self.is_frozen }
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
        let is_exception = self.is_exception(class);
        if is_exception {
            self.keep_args(&object, &args, span)?;
        }
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
            None if is_exception && args.keywords.is_empty() => {}
            None => {
                args.sorted(self.records[class].name.as_str(), &[])?;
            }
        }
        Ok(object)
    }

    pub(super) fn is_tuple_class(&self, class: usize) -> bool {
        self.classes(Some(class)).any(|at| matches!(self.records[at].kind, Kind::Tuple))
    }

    /// The names of the fields of a class.
    pub(super) fn field_names(&self, class: usize, span: Span) -> Res<Value<'c>> {
        self.tuple(self.records[class].fields.iter().map(|field| Value::Str(field.name)).collect(), span)
    }

    /// `fields(config)`: what each is called and what it is by default.
    pub(super) fn field_list(&mut self, value: &Value<'c>, span: Span) -> Res<Value<'c>> {
        let class = if let Value::Record(at) = value { Some(*at) } else { self.class_of(value) };
        let owner = class.and_then(|class| self.dataclass_in(class));
        let owner = owner.ok_or_else(|| self.not_read("fields", std::slice::from_ref(value), span))?;
        let names: Vec<_> = self.records[owner].fields.iter().map(|field| field.name).collect();
        let name = self.cx.symbol("name");
        let items = names.into_iter().map(|field| self.heap.instance(Instance::host(vec![(name, Value::Str(field))])));
        let items = items.collect();
        self.tuple(items, span)
    }

    /// `astuple(config)` of values that are copied as they are.
    pub(super) fn as_tuple(&mut self, value: &Value<'c>, span: Span) -> Res<Value<'c>> {
        let Value::Dict(dict) = self.as_dict(value, 0, span)? else {
            return Err(self.not_read("astuple", std::slice::from_ref(value), span));
        };
        let items: Vec<_> = dict.get().items().iter().map(|(_, value)| value.clone()).collect();
        if items.iter().any(|item| matches!(item, Value::Dict(_) | Value::List(_))) {
            return Err(self.not_read("astuple", std::slice::from_ref(value), span));
        }
        self.tuple(items, span)
    }

    /// `pair._asdict()`: the values as they are.
    pub(super) fn tuple_dict(&mut self, value: &Value<'c>, span: Span) -> Res<Value<'c>> {
        let Value::Object(object) = value else {
            return Err(self.not_read("_asdict", std::slice::from_ref(value), span));
        };
        let attributes = object.get().attributes.clone();
        self.step(attributes.len(), span)?;
        let mut dict = Dict::default();
        for (name, part) in attributes {
            dict.put(super::Key::Str(name), Value::Str(name), part);
        }
        Ok(self.heap.dict(dict))
    }

    /// `pair._replace(a=1)`.
    pub(super) fn replaced_tuple(&mut self, args: Args<'c>, span: Span) -> Res<Value<'c>> {
        let Args { positional, keywords } = args;
        let [(Value::Object(object), _)] = &positional[..] else {
            return Err(Refusal::unread(span, "`_replace` takes keywords"));
        };
        let mut copy = object.get().alike();
        copy.attributes = object.get().attributes.clone();
        self.step(copy.attributes.len(), span)?;
        for (name, value, at) in keywords {
            match copy.attributes.iter_mut().find(|(known, _)| *known == name) {
                Some(known) => known.1 = value,
                None => return Err(Refusal::wrong(at, format!("the tuple has no field `{name}`"))),
            }
        }
        Ok(self.heap.instance(copy))
    }

    fn dataclass_in(&self, class: usize) -> Option<usize> {
        self.classes(Some(class)).find(|at| matches!(self.records[*at].kind, Kind::Data(_)))
    }

    fn class_of(&self, value: &Value<'c>) -> Option<usize> {
        match value {
            Value::Object(object) => object.get().class(),
            _ => None,
        }
    }

    /// What an exception is made of.
    fn keep_args(&mut self, object: &Value<'c>, args: &Args<'c>, span: Span) -> Res<()> {
        let args = self.tuple(args.positional.iter().map(|(value, _)| value.clone()).collect(), span)?;
        if let Value::Object(object) = object {
            object.change().set(self.cx.symbol("args"), args);
        }
        Ok(())
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
        if let (Some(_), Value::Int(bits)) = (&self.records[class].flags, value) {
            return self.flag(class, *bits, span);
        }
        let message = format!("`{name}` has no member {}", value.describe());
        Err(Refusal::wrong(span, message).raises("ValueError"))
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
                (None, Preset::None) => {
                    return Err(Refusal::wrong(span, format!("`{what}` needs `{}`", field.name)).raises("TypeError"));
                }
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
            None if self.class_of(&object).is_some_and(|class| self.is_exception(class)) => {
                self.keep_args(&object, &args, span)?;
            }
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
        Some((class, self.dataclass_in(class)?))
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
        if let Value::Unread(unread) = value {
            return Ok(unread.another());
        }
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
            Value::Dict(items) if items.get().is_plain() => {
                let entries = items.get().entries();
                for (key, name, item) in entries {
                    dict.put(key, name, self.as_dict(&item, depth + 1, span)?);
                }
                Ok(self.heap.dict(dict))
            }
            Value::Object(_) if self.is_one(value) => Ok(value.clone()),
            Value::Object(_) | Value::Set(_) | Value::Iter(_) | Value::View(..) | Value::Dict(_) => {
                Err(Refusal::unread(span, format!("a copy of {} is not read", value.describe())))
            }
            other => Ok(other.clone()),
        }
    }

    /// `namedtuple("Pair", "a b")`.
    pub(super) fn named_tuple(&mut self, mut args: Args<'c>, span: Span) -> Res<Value<'c>> {
        let defaults = match args.take("defaults") {
            None | Some(Value::None) => Vec::new(),
            Some(defaults) => self.items_of(&defaults, span)?,
        };
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
        let first = names.len().checked_sub(defaults.len());
        let first = first.ok_or_else(|| Refusal::wrong(span, "`namedtuple` has more defaults than fields"))?;
        let preset = |at: usize| match at.checked_sub(first) {
            Some(at) => Preset::Value(defaults[at].clone()),
            None => Preset::None,
        };
        let field = |(at, name)| Field { name, default: preset(at), init: true, compare: true, kw_only: None };
        let fields = names.into_iter().enumerate().map(field).collect();
        Ok(Value::Record(self.new_record(*name, Kind::Tuple, Vec::new(), fields)))
    }
}
