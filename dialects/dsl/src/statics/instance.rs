//! Instances of plain classes.

use std::rc::Rc;

use tf_core::Span;

use super::record::{Kind, Object, Record, too_deep};
use super::{Args, Python};
use crate::names::Builtin;
use crate::parser::{Binding, Parser, Scope};
use crate::refusal::{Refusal, Res};
use crate::value::{SEQUENCE_DEPTH, Value};

impl<'c> Parser<'_, 'c> {
    /// `Config(a=1)`.
    pub(crate) fn instance(&mut self, at: usize, args: Args<'c>, span: Span) -> Res<Value<'c>> {
        let Record { name, kind, .. } = self.records[at];
        if let Kind::Enum { .. } = kind {
            let [(value, _)] = &args.positional[..] else {
                return Err(Refusal::unread(span, format!("`{name}` is an enum, whose call takes one value")));
            };
            let count = self.records[at].constants.len();
            self.weigh(value, count.max(2), span)?;
            let members = &self.records[at].constants;
            let holds = |member: &Value<'c>| match member {
                Value::Object(object) => object.values[1].static_eq(value) == Some(true),
                other => other.static_eq(value) == Some(true),
            };
            let found = members.iter().find(|(_, member)| holds(member)).map(|(_, member)| member.clone());
            return found.ok_or_else(|| Refusal::wrong(span, format!("`{name}` has no member {}", value.describe())));
        }
        let mut object = Object {
            record: Some(at),
            names: Vec::new(),
            values: Vec::new(),
            is_tuple: kind == Kind::Tuple,
            is_frozen: kind == Kind::Data { is_frozen: true },
            depth: 1,
        };
        if let Some((_, place)) = self.method_of(at, "__init__") {
            return self.initialised(object, place, args, span);
        }
        if kind == Kind::Plain {
            args.sorted(name.as_str(), &[])?;
            return Ok(Value::Object(Rc::new(object)));
        }
        let fields = self.records[at].fields.clone();
        let names: Vec<_> = fields.iter().map(|(field, _)| *field).collect();
        let given = args.sorted(name.as_str(), &names)?;
        for (given, (field, default)) in given.into_iter().zip(fields) {
            let value = match (given, default) {
                (Some((given, _)), _) => given,
                // A fresh value for each instance: `field(default_factory=list)`.
                (None, Some(Value::Bound(bound)))
                    if matches!(bound.callee, Value::Builtin(Builtin::Python(Python::Field))) =>
                {
                    self.call_value(&bound.args[0], Args::default(), span)?
                }
                (None, Some(default)) => default,
                (None, None) => return Err(Refusal::wrong(span, format!("`{name}` needs `{field}`"))),
            };
            object.depth = object.depth.max(value.depth() + 1);
            object.values.push(value);
        }
        object.names = names;
        if object.depth > SEQUENCE_DEPTH {
            return Err(too_deep(span));
        }
        match self.method_of(at, "__post_init__") {
            Some((_, place)) => self.initialised(object, place, Args::default(), span),
            None => Ok(Value::Object(Rc::new(object))),
        }
    }

    /// An instance after its `__init__` or `__post_init__`.
    fn initialised(&mut self, object: Object<'c>, place: usize, args: Args<'c>, span: Span) -> Res<Value<'c>> {
        let factory = self.factories[place].clone();
        let Some(owner) = factory.code.parameters().and_then(|params| params.iter_non_variadic_params().next()) else {
            return Err(Refusal::unread(span, "an initialiser has the parameter `self`"));
        };
        let owner = self.cx.symbol(owner.parameter.name.as_str());
        let mut all = Args::of([Value::None], span);
        all.positional.extend(args.positional);
        all.keywords = args.keywords;
        let what = self.records[object.record.unwrap_or_default()].name;
        let mut frame = self.factory_frame(&factory, what.as_str(), all, span)?;
        frame.insert(owner, Binding::Value(Value::Object(Rc::new(object))));
        let scope = Scope::new(frame.into());
        self.run_in(&factory, Rc::clone(&scope), span)?;
        match scope.borrow_mut().remove(&owner) {
            Some(Binding::Value(value)) => Ok(value),
            _ => Err(Refusal::unread(span, format!("`{what}` gives `{owner}` away while it is made"))),
        }
    }

    /// `replace(config, layers=3)`.
    pub(super) fn replaced_object(&mut self, args: Args<'c>, span: Span) -> Res<Value<'c>> {
        let Args { positional, keywords } = args;
        let ([(Value::Object(object), _)], Some(record)) =
            (&positional[..], positional.first().and_then(|(value, _)| value.record()))
        else {
            return Err(Refusal::unread(span, "`replace` takes an instance of a dataclass and keywords"));
        };
        let fields: Vec<_> = self.records[record].fields.iter().map(|(field, _)| *field).collect();
        let mut all = Args { positional: Vec::new(), keywords };
        for field in fields {
            let known = object.names.iter().position(|name| *name == field);
            if let (Some(at), false) = (known, all.keywords.iter().any(|(name, ..)| *name == field)) {
                all.keywords.push((field, object.values[at].clone(), span));
            }
        }
        self.instance(record, all, span)
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
        let fields = names.into_iter().map(|field| (field, None)).collect();
        let record =
            Record { name: *name, kind: Kind::Tuple, base: None, fields, constants: Vec::new(), methods: Vec::new() };
        self.records.push(record);
        Ok(Value::Record(self.records.len() - 1))
    }
}

impl Value<'_> {
    /// The class of an instance.
    fn record(&self) -> Option<usize> {
        match self {
            Self::Object(object) => object.record,
            _ => None,
        }
    }
}
