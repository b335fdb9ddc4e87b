//! Attributes of instances and classes: the search, and setting them.

use std::rc::Rc;

use tf_core::Span;
use tf_types::Symbol;

use super::Args;
use super::Python;
use super::class::Kind;
use crate::names::Builtin;
use crate::parser::{Binding, Kind as ScopeKind, Parser};
use crate::refusal::{Refusal, Res};
use crate::value::{Bound, Value};

/// What `property` and its like make of a plain function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrapper {
    Property,
    Cached,
    Static,
    Class,
    Abstract,
}

impl Wrapper {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Property => "property",
            Self::Cached => "cached_property",
            Self::Static => "staticmethod",
            Self::Class => "classmethod",
            Self::Abstract => "abstractmethod",
        }
    }
}

fn bound<'c>(callee: Value<'c>, owner: Value<'c>, span: Span) -> Res<Value<'c>> {
    Bound::value(callee, vec![owner], Vec::new()).ok_or_else(|| super::too_deep(span))
}

impl<'c> Parser<'_, 'c> {
    /// What the classes of a chain bind a name to, from `class` on; none where a decorator writes it, or nothing does.
    pub(super) fn class_attribute(&self, class: usize, name: &str, span: Span) -> Res<Option<Value<'c>>> {
        self.attribute_in(&self.line(class), name, span)
    }

    /// [`Self::class_attribute`] of these classes.
    fn attribute_in(&self, line: &[usize], name: &str, span: Span) -> Res<Option<Value<'c>>> {
        if name.starts_with("__") && !name.ends_with("__") {
            return Err(Refusal::unread(span, format!("the private name `{name}` is not read")));
        }
        let symbol = self.cx.symbol(name);
        for &at in line {
            if let Some(binding) = self.records[at].names.borrow().get(&symbol) {
                return match binding {
                    Binding::Value(value) => Ok(Some(value.clone())),
                    Binding::Gone(..) => Ok(None),
                    Binding::Poison | Binding::Outer(_) => Err(Refusal::Reported),
                };
            }
            if self.writes(at, name) {
                return Ok(None);
            }
        }
        Ok(None)
    }

    /// An attribute of an instance; none where it has none of that name.
    pub(super) fn object_attribute(&mut self, owner: &Value<'c>, name: &str, span: Span) -> Res<Option<Value<'c>>> {
        let Value::Object(object) = owner else { return Ok(None) };
        self.known(owner, span)?;
        let symbol = self.cx.symbol(name);
        let count = object.get().attributes.len();
        self.step(count / 64, span)?;
        let (own, class) = (object.get().own(symbol), object.get().class());
        let Some(class) = class else { return Ok(own) };
        let shared = self.class_attribute(class, name, span)?;
        match (own, shared) {
            // It may be a property; the default of a field is none.
            (own, Some(Value::Unread(unread))) => match own.filter(|_| self.has_field(class, symbol)) {
                Some(own) => Ok(Some(own)),
                None => Ok(Some(unread.of(owner.clone()))),
            },
            (_, Some(Value::Wrapped(Wrapper::Property, at))) => {
                self.factory_call(at, Args::of([owner.clone()], span), span).map(Some)
            }
            (Some(own), _) => Ok(Some(own)),
            (None, Some(Value::Wrapped(Wrapper::Cached, at))) => {
                let value = self.factory_call(at, Args::of([owner.clone()], span), span)?;
                object.change().set(symbol, value.clone());
                Ok(Some(value))
            }
            (None, Some(Value::Object(_))) if matches!(self.records[class].kind, Kind::Enum { .. }) => {
                Err(Refusal::unread(span, "a member of an enum is not asked for another one"))
            }
            (None, Some(shared)) => self.bound_to(shared, owner, class, span).map(Some),
            (None, None) => match name {
                "__class__" => Ok(Some(Value::Record(class))),
                "_replace" | "_asdict" if self.is_tuple(owner) => {
                    let python = if name == "_asdict" { Python::TupleDict } else { Python::TupleReplace };
                    bound(Value::Builtin(Builtin::Python(python)), owner.clone(), span).map(Some)
                }
                "_fields" if self.is_tuple(owner) => self.field_names(class, span).map(Some),
                "__init__" => {
                    let init = Value::Init(self.definer(class, name).map(|(owner, _)| owner));
                    bound(init, owner.clone(), span).map(Some)
                }
                _ => Ok(None),
            },
        }
    }

    /// What a class binds, as its instances have it.
    fn bound_to(&mut self, shared: Value<'c>, owner: &Value<'c>, class: usize, span: Span) -> Res<Value<'c>> {
        match shared {
            Value::Factory(_) => bound(shared, owner.clone(), span),
            Value::Wrapped(Wrapper::Static, at) => Ok(Value::Factory(at)),
            Value::Wrapped(Wrapper::Class, at) => bound(Value::Factory(at), Value::Record(class), span),
            Value::Wrapped(Wrapper::Abstract, at) => bound(Value::Factory(at), owner.clone(), span),
            Value::Wrapped(Wrapper::Property | Wrapper::Cached, at) => {
                self.factory_call(at, Args::of([owner.clone()], span), span)
            }
            Value::Unread(unread) => Ok(unread.of(owner.clone())),
            shared => Ok(shared),
        }
    }

    /// An attribute of a class; none where it has none of that name.
    pub(super) fn record_attribute(&mut self, class: usize, name: &str, span: Span) -> Res<Option<Value<'c>>> {
        self.known(&Value::Record(class), span)?;
        Ok(match self.class_attribute(class, name, span)? {
            Some(Value::Wrapped(Wrapper::Static, at)) => Some(Value::Factory(at)),
            Some(Value::Wrapped(Wrapper::Class, at)) => Some(bound(Value::Factory(at), Value::Record(class), span)?),
            Some(shared) => Some(shared),
            None => match name {
                "__name__" => Some(Value::Str(self.records[class].name)),
                "_fields" if self.is_tuple_class(class) => Some(self.field_names(class, span)?),
                "__init__" => Some(Value::Init(self.definer(class, name).map(|(owner, _)| owner))),
                _ => None,
            },
        })
    }

    /// An attribute of `super()`.
    pub(super) fn super_attribute(
        &mut self,
        (class, owner): &(usize, Value<'c>),
        name: &str,
        span: Span,
    ) -> Res<Option<Value<'c>>> {
        let of = match owner {
            Value::Object(object) => object.get().class(),
            Value::Record(at) => Some(*at),
            _ => None,
        };
        let line = of.map_or_else(Rc::default, |of| self.behind(*class, of));
        match self.attribute_in(&line, name, span)? {
            Some(Value::Wrapped(Wrapper::Class, at)) => bound(Value::Factory(at), owner.clone(), span).map(Some),
            Some(shared) if let Value::Record(_) = owner => Ok(Some(match shared {
                Value::Wrapped(Wrapper::Static, at) => Value::Factory(at),
                shared => shared,
            })),
            Some(shared) => self.bound_to(shared, owner, of.unwrap_or_default(), span).map(Some),
            None if name == "__init__" => {
                let init = self.definer_in(&line, name).map(|(owner, _)| owner);
                bound(Value::Init(init), owner.clone(), span).map(Some)
            }
            None => Ok(None),
        }
    }

    /// Whether a class or one that it extends has a field of that name.
    fn has_field(&self, class: usize, name: Symbol<'c>) -> bool {
        self.classes(Some(class)).any(|at| self.records[at].fields.iter().any(|field| field.name == name))
    }

    /// Whether instances of a class take an attribute of that name that is no field.
    fn takes(&self, class: usize, name: Symbol<'c>) -> bool {
        let has_slots = |at: usize| matches!(self.records[at].kind, Kind::Data(data) if data.slots);
        let names = |at: usize| self.records[at].slots.as_ref().map(|slots| slots.contains(&name));
        !has_slots(class) && self.classes(Some(class)).any(|at| names(at) != Some(false))
    }

    /// `super()`: for the first parameter of the method that is run.
    pub(super) fn super_of(&mut self, span: Span) -> Res<Value<'c>> {
        let scope = self.scopes.iter().rev().find(|scope| scope.kind != ScopeKind::Comprehension);
        let found = scope.and_then(|scope| match scope.kind {
            ScopeKind::Function(Some((class, first))) => {
                Some((class, scope.borrow().get(&first).and_then(Binding::value)?))
            }
            _ => None,
        });
        match found {
            Some((class, owner @ (Value::Object(_) | Value::Record(_)))) => Ok(Value::Super(Rc::new((class, owner)))),
            _ => Err(Refusal::unread(span, "`super()` is read in methods of plain classes only")),
        }
    }

    /// The refusal of an attribute that a value has not.
    pub(super) fn no_attribute(&self, owner: &Value<'c>, name: &str, span: Span) -> Refusal {
        let (what, class) = match owner {
            Value::Object(object) => match object.get().class() {
                Some(class) => (format!("`{}`", self.records[class].name), Some(class)),
                None => ("the namespace".to_owned(), None),
            },
            Value::Record(class) => (format!("`{}`", self.records[*class].name), Some(*class)),
            other => (other.describe(), None),
        };
        let mut known: Vec<&str> = Vec::new();
        if let Value::Object(object) = owner {
            known.extend(object.get().attributes.iter().map(|(name, _)| name.as_str()));
        }
        for at in self.classes(class) {
            known.extend(self.records[at].names.borrow().keys().map(|name| name.as_str()));
            known.extend(self.records[at].fields.iter().map(|field| field.name.as_str()));
        }
        known.sort_unstable();
        let refusal = Refusal::unread(span, format!("{what} has no attribute `{name}`")).near(name, known);
        // Python's own classes have more than is known here.
        let is_own = class.is_some_and(|class| !self.is_exception(class) && !self.is_tuple_class(class));
        if is_own && !name.starts_with('_') && name != "mro" { refusal.raises("AttributeError") } else { refusal }
    }

    /// `owner.name = value`; of a frozen instance only by `object.__setattr__`.
    pub(super) fn set_attribute(
        &mut self,
        owner: &Value<'c>,
        name: Symbol<'c>,
        value: Value<'c>,
        is_forced: bool,
        span: Span,
    ) -> Res<()> {
        let refuse = |why: String| Err(Refusal::unread(span, why));
        let text = name.as_str();
        if text.starts_with("__") {
            return refuse(format!("the attribute `{name}` is not set"));
        }
        self.known(owner, span)?;
        match owner {
            Value::Object(object) => {
                let class = object.get().class();
                let count = object.get().attributes.len();
                self.step(1 + count / 8, span)?;
                if object.get().is_tuple || class.is_some_and(|at| matches!(self.records[at].kind, Kind::Enum { .. })) {
                    let message = format!("{} has no attribute that is set", owner.describe());
                    return Err(Refusal::wrong(span, message));
                }
                if object.get().is_frozen && !is_forced {
                    let message = format!("its class is frozen, so `{name}` is not set");
                    return Err(Refusal::wrong(span, message).raises("AttributeError"));
                }
                if let Some(class) = class {
                    let is_field = self.has_field(class, name);
                    match self.class_attribute(class, text, span)? {
                        Some(Value::Wrapped(Wrapper::Property, getter)) => {
                            return match self.factories[getter].setter {
                                Some(setter) => {
                                    let args = Args::of([owner.clone(), value], span);
                                    self.factory_call(setter, args, span).map(drop)
                                }
                                None => {
                                    let message = format!("`{name}` is a property, which is not set");
                                    Err(Refusal::unread(span, message).raises("AttributeError"))
                                }
                            };
                        }
                        Some(shared @ Value::Unread(_)) if !is_field => self.known(&shared, span)?,
                        _ => {}
                    }
                    if !is_field && !self.takes(class, name) {
                        let message = format!("its class has slots, and none for `{name}`");
                        return Err(Refusal::unread(span, message).raises("AttributeError"));
                    }
                }
                object.change().set(name, value);
                Ok(())
            }
            Value::Record(at) if !matches!(self.records[*at].kind, Kind::Enum { .. }) => {
                self.records[*at].names.borrow_mut().insert(name, Binding::Value(value));
                Ok(())
            }
            // The classes of the host and of the language may take any; those of Python do not.
            Value::Factory(_) | Value::Module(_) | Value::Function(_) | Value::Record(_) => {
                refuse(format!("attributes of {} are not set", owner.describe()))
            }
            other => Err(Refusal::wrong(span, format!("attributes of {} are not set", other.describe()))),
        }
    }
}
