//! Dataclasses and named tuples: their options and fields.

use ruff_python_ast as ast;
use tf_core::Span;
use tf_types::Symbol;

use super::class::Kind;
use super::{Args, Python};
use crate::body::is_path;
use crate::names::Builtin;
use crate::parser::{Binding, Parser};
use crate::refusal::{Refusal, Res};
use crate::value::Value;

/// The options of `@dataclass` that decide anything here.
#[derive(Clone, Copy)]
pub(super) struct Data {
    pub(super) init: bool,
    pub(super) eq: bool,
    pub(super) order: bool,
    pub(super) frozen: bool,
    pub(super) kw_only: bool,
    pub(super) slots: bool,
    pub(super) unsafe_hash: bool,
}

impl Data {
    fn set(&mut self, name: &str, value: bool) -> bool {
        match name {
            "init" => self.init = value,
            "eq" => self.eq = value,
            "order" => self.order = value,
            "frozen" => self.frozen = value,
            "kw_only" => self.kw_only = value,
            "slots" => self.slots = value,
            "unsafe_hash" => self.unsafe_hash = value,
            "repr" | "match_args" | "weakref_slot" => {}
            _ => return false,
        }
        true
    }

    /// Whether the decorator writes a method of that name.
    pub(super) fn writes(self, name: &str) -> bool {
        match name {
            "__init__" => self.init,
            "__eq__" => self.eq,
            "__lt__" | "__le__" | "__gt__" | "__ge__" => self.order,
            _ => false,
        }
    }
}

/// A field of a dataclass or named tuple.
#[derive(Clone)]
pub(crate) struct Field<'c> {
    pub(super) name: Symbol<'c>,
    pub(super) default: Preset<'c>,
    pub(super) init: bool,
    pub(super) compare: bool,
    pub(super) kw_only: Option<bool>,
}

#[derive(Clone)]
pub(super) enum Preset<'c> {
    None,
    Value(Value<'c>),
    /// Called for each instance.
    Factory(Value<'c>),
}

/// What a decorator of a class does.
enum Decoration<'c> {
    Data(Data),
    Call(Value<'c>),
}

impl<'a, 'c> Parser<'a, 'c> {
    /// The class under its decorators: what they make of it.
    pub(super) fn decorated_class(&mut self, class: &'a ast::StmtClassDef) -> Res<Value<'c>> {
        let mut decorations = Vec::with_capacity(class.decorator_list.len());
        for decorator in &class.decorator_list {
            decorations.push(self.class_decoration(class, &decorator.expression)?);
        }
        let data = decorations.iter().find_map(|decoration| match decoration {
            Decoration::Data(data) => Some(*data),
            Decoration::Call(_) => None,
        });
        let record = self.record(class, data)?;
        let (kind, mut value) = (self.records[record].kind, Value::Record(record));
        if data.is_some() {
            // Those below `@dataclass` see the class before.
            self.records[record].kind = Kind::Plain;
        }
        for decoration in decorations.into_iter().rev() {
            match (decoration, &value) {
                (Decoration::Data(_), Value::Record(at)) if *at == record => self.records[record].kind = kind,
                (Decoration::Data(_), _) => {
                    return self.unread_class(self.span(&class.name), "that a decorator below `@dataclass` replaces");
                }
                (Decoration::Call(callee), _) => {
                    let at = self.span(&class.name);
                    value = self.call_value(&callee, Args::of([value], at), at)?;
                }
            }
        }
        Ok(value)
    }

    fn class_decoration(&mut self, class: &ast::StmtClassDef, decorator: &ast::Expr) -> Res<Decoration<'c>> {
        const WHY: &str = "with a decorator, and authoring files are not executed";
        let at = self.span(&class.name);
        let (written, call) = match decorator {
            ast::Expr::Call(call) => (&*call.func, Some(call)),
            other => (other, None),
        };
        // Whatever else a decorator is runs once.
        let is_dataclass = is_path(written)
            && matches!(self.eval(written, None), Ok(Value::Builtin(Builtin::Python(Python::DataClass))));
        if !is_dataclass {
            return match self.eval(decorator, None) {
                Ok(
                    callee @ (Value::Factory(_)
                    | Value::Bound(_)
                    | Value::Object(_)
                    | Value::Method(_)
                    | Value::Builtin(Builtin::Python(Python::Unique | Python::Same))),
                ) => Ok(Decoration::Call(callee)),
                _ => self.unread_class(at, WHY),
            };
        }
        let mut data = Data {
            init: true,
            eq: true,
            order: false,
            frozen: false,
            kw_only: false,
            slots: false,
            unsafe_hash: false,
        };
        for keyword in call.into_iter().flat_map(|call| &call.arguments.keywords) {
            let value = self.truth(&keyword.value)?;
            let name = keyword.arg.as_ref().map_or("**", |name| name.as_str());
            if !data.set(name, value) {
                return self.unread_class(at, &format!("with the option `{name}`, which is not read"));
            }
        }
        Ok(Decoration::Data(data))
    }

    pub(super) fn annotated_member(&mut self, assign: &ast::StmtAnnAssign, record: usize) -> Res<()> {
        let ast::Expr::Name(target) = &*assign.target else {
            return self.unread_class(self.span(assign), &format!("with `{}`", self.text(assign)));
        };
        let name = self.cx.symbol(target.id.as_str());
        let is_field =
            matches!(self.records[record].kind, Kind::Data(_) | Kind::Tuple) && self.is_field(&assign.annotation)?;
        let value = assign.value.as_deref().map(|value| self.stored(value)).transpose()?;
        if !is_field {
            if let Some(value) = value {
                self.bind(name, Binding::Value(value));
            }
            return Ok(());
        }
        let mut field = match value {
            Some(Value::Field(field)) => Field { name, ..(*field).clone() },
            Some(value) => Field { name, default: Preset::Value(value), init: true, compare: true, kw_only: None },
            None => Field { name, default: Preset::None, init: true, compare: true, kw_only: None },
        };
        match &field.default {
            Preset::Value(Value::List(_) | Value::Dict(_) | Value::Set(_))
                if matches!(self.records[record].kind, Kind::Data(_)) =>
            {
                let span = self.span(assign);
                let message = format!("a list, dict or set is no default of the field `{name}`");
                return Err(Refusal::wrong(span, message).help("write `field(default_factory=list)`"));
            }
            Preset::Value(value) => self.bind(name, Binding::Value(value.clone())),
            Preset::None | Preset::Factory(_) => {}
        }
        if let Kind::Data(data) = self.records[record].kind {
            field.kw_only = field.kw_only.or(Some(data.kw_only));
        }
        let fields = &mut self.records[record].fields;
        match fields.iter_mut().find(|known| known.name == name) {
            Some(known) => *known = field,
            None => fields.push(field),
        }
        Ok(())
    }

    /// Whether an annotated name is a field; a `ClassVar` is none.
    fn is_field(&mut self, annotation: &ast::Expr) -> Res<bool> {
        let root = match annotation {
            ast::Expr::Subscript(subscript) => &*subscript.value,
            other => other,
        };
        let special = match root {
            ast::Expr::Name(_) | ast::Expr::Attribute(_) => match self.eval(root, None) {
                Ok(Value::Builtin(Builtin::Python(Python::ClassVar))) => return Ok(false),
                Ok(Value::Builtin(Builtin::Python(Python::InitVar | Python::KwOnly))) => true,
                _ => false,
            },
            ast::Expr::StringLiteral(text) => {
                ["ClassVar", "InitVar", "KW_ONLY"].iter().any(|word| text.value.to_str().contains(word))
            }
            _ => false,
        };
        match special {
            true => self
                .unread_class(self.span(annotation), &format!("with `{}`, which is not read", self.text(annotation))),
            false => Ok(true),
        }
    }

    /// Python refuses a field without a default behind one with a default.
    pub(super) fn check_fields(&mut self, record: usize, at: Span) -> Res<()> {
        let positional = self.records[record].fields.iter().filter(|field| field.init && field.kw_only != Some(true));
        let mut has_default = false;
        for field in positional {
            match field.default {
                Preset::None if has_default => {
                    let message = format!("the field `{}` has no default and stands behind one that has", field.name);
                    return Err(Refusal::wrong(at, message));
                }
                Preset::None => {}
                _ => has_default = true,
            }
        }
        Ok(())
    }
}
