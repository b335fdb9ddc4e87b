//! Truth, equality and identity of constants, as Python has them.

use std::cmp::Ordering;
use std::rc::Rc;

use ruff_python_ast::CmpOp;
use tf_core::Span;

use super::Key;
use super::class::Equality;
use super::numbers::exact;
use super::special::compare_names;
use crate::parser::Parser;
use crate::refusal::{Refusal, Res};
use crate::value::{SEQUENCE_DEPTH, Value, View};

/// Values in what is compared.
const COMPARED: usize = 1 << 16;

fn undecided(op: CmpOp, a: &Value<'_>, b: &Value<'_>, span: Span) -> Refusal {
    let message = format!("`{}` is not decided between {} and {}", op.as_str(), a.describe(), b.describe());
    Refusal::unread(span, message)
}

/// The order of an integer and a float; none beside a nan.
fn mixed(a: i64, b: f64) -> Option<Ordering> {
    if b.is_nan() {
        return None;
    }
    // Beyond the integers, where both bounds are floats.
    if b >= 9_223_372_036_854_775_808.0 {
        return Some(Ordering::Less);
    }
    if b < -9_223_372_036_854_775_808.0 {
        return Some(Ordering::Greater);
    }
    Some(a.cmp(&(b.trunc() as i64)).then(0.0.partial_cmp(&b.fract())?))
}

/// The order of two numbers, none beside a nan; none at all where one is no number.
pub(super) fn numeric(a: &Value<'_>, b: &Value<'_>) -> Option<Option<Ordering>> {
    let int = |value: &Value<'_>| match value {
        Value::Int(value) => Some(*value),
        Value::Bool(value) => Some(i64::from(*value)),
        _ => None,
    };
    match (a, b) {
        (Value::Float(a), Value::Float(b)) => Some(a.partial_cmp(b)),
        (Value::Float(a), b) => int(b).map(|b| mixed(b, *a).map(Ordering::reverse)),
        (a, Value::Float(b)) => int(a).map(|a| mixed(a, *b)),
        (a, b) => Some(Some(int(a)?.cmp(&int(b)?))),
    }
}

/// Whether values of Python alone: those of different kinds are not equal.
fn is_python(value: &Value<'_>) -> bool {
    matches!(
        value,
        Value::None
            | Value::Bool(_)
            | Value::Int(_)
            | Value::Float(_)
            | Value::Str(_)
            | Value::Tuple(_)
            | Value::List(_)
            | Value::Dict(_)
            | Value::Set(_)
            | Value::IntRange(_)
            | Value::Iter(_)
            | Value::Factory(_)
            | Value::Record(_)
            | Value::Object(_)
    )
}

impl<'c> Parser<'_, 'c> {
    /// `a op b` of constants.
    pub(crate) fn decided(&mut self, op: CmpOp, a: &Value<'c>, b: &Value<'c>, span: Span) -> Res<bool> {
        if !matches!(op, CmpOp::In | CmpOp::NotIn) {
            self.read(a, span)?;
            self.read(b, span)?;
        }
        if let Value::Tuple(_) | Value::List(_) | Value::Dict(_) = a
            && !matches!(op, CmpOp::Is | CmpOp::IsNot)
        {
            let weight = a.weight(COMPARED);
            if weight == COMPARED {
                let message = format!("{} of more than {COMPARED} values is not compared", a.describe());
                return Err(Refusal::unread(span, message));
            }
            self.count_elements(weight, span)?;
        }
        match op {
            CmpOp::Eq => self.equal(a, b, span),
            CmpOp::NotEq => match self.compare_objects(op, a, b, span)? {
                Some(differ) => Ok(differ),
                None => Ok(!self.equal(a, b, span)?),
            },
            CmpOp::Is => self.identical(a, b).ok_or_else(|| undecided(op, a, b, span)),
            CmpOp::IsNot => self.identical(a, b).map(|same| !same).ok_or_else(|| undecided(op, a, b, span)),
            CmpOp::In => self.contains(a, b, span),
            CmpOp::NotIn => Ok(!self.contains(a, b, span)?),
            CmpOp::Lt | CmpOp::LtE | CmpOp::Gt | CmpOp::GtE => self.ranked(op, a, b, 0, span),
        }
    }

    /// Whether two are one object; none where Python does not say.
    fn identical(&self, a: &Value<'c>, b: &Value<'c>) -> Option<bool> {
        Some(match (a, b) {
            (Value::None, Value::None) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::List(a), Value::List(b)) => Rc::ptr_eq(a, b),
            (Value::Dict(a), Value::Dict(b)) => Rc::ptr_eq(a, b),
            (Value::Set(a), Value::Set(b)) => Rc::ptr_eq(a, b),
            (Value::Object(a), Value::Object(b)) => Rc::ptr_eq(a, b),
            (Value::Iter(a), Value::Iter(b)) => Rc::ptr_eq(a, b),
            (Value::Factory(a), Value::Factory(b)) | (Value::Record(a), Value::Record(b)) => a == b,
            (Value::Builtin(a), Value::Builtin(b)) => a == b,
            (Value::Kind(kind, a), Value::Kind(other, b)) => kind == other && a == b,
            // What has no identity of its own may be kept once or twice.
            (Value::Tuple(a), Value::Tuple(b)) if Rc::ptr_eq(a, b) => true,
            (Value::None | Value::Bool(_), _) | (_, Value::None | Value::Bool(_)) => true_kind(a) == true_kind(b),
            (a, b) if is_python(a) && is_python(b) && std::mem::discriminant(a) != std::mem::discriminant(b) => false,
            _ => return None,
        })
    }

    pub(crate) fn equal(&mut self, a: &Value<'c>, b: &Value<'c>, span: Span) -> Res<bool> {
        self.equal_at(a, b, 0, span)
    }

    /// Elements are equal where they are one object, too.
    pub(super) fn equal_parts(&mut self, a: &Value<'c>, b: &Value<'c>, depth: u32, span: Span) -> Res<bool> {
        if let (Value::Float(a), Value::Float(b)) = (a, b)
            && a.is_nan()
            && b.is_nan()
        {
            return Err(Refusal::unread(span, "whether one nan is another is not decided"));
        }
        match (a, b) {
            (Value::Object(_), Value::Object(_)) if self.identical(a, b) == Some(true) => Ok(true),
            (Value::Unread(a), Value::Unread(b)) if Rc::ptr_eq(a, b) => Ok(true),
            _ => self.equal_at(a, b, depth, span),
        }
    }

    fn equal_at(&mut self, a: &Value<'c>, b: &Value<'c>, depth: u32, span: Span) -> Res<bool> {
        if depth > 0 {
            self.step(1, span)?;
        }
        if depth > SEQUENCE_DEPTH {
            return Err(Refusal::unread(
                span,
                format!("values that nest more than {SEQUENCE_DEPTH} deep are not compared"),
            ));
        }
        if let Some(order) = numeric(a, b) {
            return Ok(order == Some(Ordering::Equal));
        }
        self.known(a, span)?;
        self.known(b, span)?;
        Ok(match (a, b) {
            (Value::None, Value::None) => true,
            (Value::Str(a), Value::Str(b)) => a == b,
            (Value::Dim(a), Value::Dim(b)) => a == b,
            (Value::DType(a), Value::DType(b)) => a == b,
            (Value::Kind(..), Value::Kind(..)) => self.identical(a, b) == Some(true),
            (Value::Storage(a), Value::Storage(b)) => a == b,
            (Value::Tuple(_), Value::Tuple(_)) | (Value::List(_), Value::List(_)) => {
                if self.identical(a, b) == Some(true) {
                    return Ok(true);
                }
                let is_list = matches!(a, Value::List(_));
                let (Some(a), Some(b)) = (a.as_sequence(), b.as_sequence()) else { return Ok(false) };
                // Lists are told apart by their lengths first, tuples last.
                if is_list && a.len() != b.len() {
                    return Ok(false);
                }
                self.all_equal(&a, &b, depth + 1, span)? && a.len() == b.len()
            }
            (Value::IntRange(a), Value::IntRange(b)) => {
                let is_same = a.count < 1 || a.start == b.start && (a.count < 2 || a.step == b.step);
                a.count == b.count && is_same
            }
            (Value::Dict(x), Value::Dict(y)) if x.get().is_counter() && y.get().is_counter() => {
                let (x, y) = (self.counts(x, span)?, self.counts(y, span)?);
                let has = |(key, count): (&Key<'c>, &i64)| *count == 0 || y.get(key) == Some(count);
                x.iter().all(has) && y.iter().all(|(key, count)| *count == 0 || x.get(key) == Some(count))
            }
            (Value::Dict(x), Value::Dict(y)) => {
                if Rc::ptr_eq(x, y) {
                    return Ok(true);
                }
                if x.get().len() != y.get().len() {
                    return Ok(false);
                }
                let entries = x.get().entries();
                if x.get().is_ordered() && y.get().is_ordered() {
                    let others = y.get().entries();
                    if entries.iter().zip(&others).any(|((key, ..), (other, ..))| key != other) {
                        return Ok(false);
                    }
                }
                for (key, _, left) in entries {
                    let Some(right) = y.get().get(&key).cloned() else { return Ok(false) };
                    if !self.equal_parts(&left, &right, depth + 1, span)? {
                        return Ok(false);
                    }
                }
                true
            }
            (Value::Set(x), Value::Set(y)) => {
                let (x, y) = (x.get(), y.get());
                x.items.len() == y.items.len() && x.items.keys().all(|key| y.items.get(key).is_some())
            }
            (Value::Object(_), _) | (_, Value::Object(_)) => self.equal_objects(a, b, depth, span)?,
            (a, b) if is_python(a) && is_python(b) => self.identical(a, b).unwrap_or(false),
            (Value::None, _) | (_, Value::None) => false,
            (Value::Builtin(a), Value::Builtin(b)) => a == b,
            (Value::Builtin(_), Value::Record(_)) | (Value::Record(_), Value::Builtin(_)) => false,
            _ => return Err(undecided(CmpOp::Eq, a, b, span)),
        })
    }

    fn all_equal(&mut self, a: &[Value<'c>], b: &[Value<'c>], depth: u32, span: Span) -> Res<bool> {
        for (a, b) in a.iter().zip(b) {
            if !self.equal_parts(a, b, depth, span)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn equal_objects(&mut self, a: &Value<'c>, b: &Value<'c>, depth: u32, span: Span) -> Res<bool> {
        if let (None, None) = (self.payload(a), self.payload(b)) {
            if let Some(equal) = self.compare_objects(CmpOp::Eq, a, b, span)? {
                return Ok(equal);
            }
        } else {
            return self.equal_at(&self.plain(a.clone()), &self.plain(b.clone()), depth + 1, span);
        }
        let tuple = |value: &Value<'c>| matches!(value, Value::Object(object) if object.get().is_tuple);
        if tuple(a) && (tuple(b) || matches!(b, Value::Tuple(_))) || tuple(b) && matches!(a, Value::Tuple(_)) {
            let (Some(a), Some(b)) = (a.as_sequence(), b.as_sequence()) else { return Ok(false) };
            return Ok(a.len() == b.len() && self.all_equal(&a, &b, depth + 1, span)?);
        }
        let (Value::Object(x), Value::Object(y)) = (a, b) else { return Ok(false) };
        if Rc::ptr_eq(x, y) {
            return Ok(true);
        }
        let (class, other) = (x.get().class(), y.get().class());
        match class {
            Some(class) if other == Some(class) => match self.equality_of(class) {
                Equality::Identity => Ok(false),
                Equality::Fields(owner) => {
                    let (a, b) = (self.compared_fields(owner, a, span)?, self.compared_fields(owner, b, span)?);
                    self.all_equal(&a, &b, depth + 1, span)
                }
            },
            None if x.get().is_namespace() && y.get().is_namespace() => {
                let (x, y) = (x.get().attributes.clone(), y.get().attributes.clone());
                if x.len() != y.len() {
                    return Ok(false);
                }
                for (name, left) in &x {
                    let Some((_, right)) = y.iter().find(|(known, _)| known == name) else { return Ok(false) };
                    if !self.equal_parts(left, right, depth + 1, span)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            None if other.is_none() => Err(undecided(CmpOp::Eq, a, b, span)),
            _ => Ok(false),
        }
    }

    /// What `__eq__`, `__lt__` and others of plain classes say; none where neither side knows.
    pub(super) fn compare_objects(&mut self, op: CmpOp, a: &Value<'c>, b: &Value<'c>, span: Span) -> Res<Option<bool>> {
        let Some((own, reflected)) = compare_names(op) else { return Ok(None) };
        match self.special_of_two(own, reflected, a, b, span)? {
            None => Ok(None),
            Some(Value::Bool(verdict)) => Ok(Some(verdict)),
            Some(other) => Err(Refusal::unread(
                span,
                format!("`{own}` gives {}, which is neither True nor False", other.describe()),
            )),
        }
    }

    /// `item in container`.
    fn contains(&mut self, item: &Value<'c>, container: &Value<'c>, span: Span) -> Res<bool> {
        self.known(container, span)?;
        if let Value::Str(_) | Value::IntRange(_) | Value::Record(_) = container {
            self.read(item, span)?;
        }
        match container {
            Value::Dict(dict) | Value::View(View::Keys, dict) => {
                let key = self.key(item, "key of a dict", span)?;
                Ok(dict.get().get(&key).is_some())
            }
            Value::Set(set) => {
                let key = self.key(item, "element of a set", span)?;
                Ok(set.get().items.get(&key).is_some())
            }
            Value::Str(text) => match self.plain(item.clone()) {
                Value::Str(part) => Ok(text.as_str().contains(part.as_str())),
                other => Err(undecided(CmpOp::In, &other, container, span)),
            },
            Value::IntRange(range) => Ok(match self.plain(item.clone()) {
                Value::Int(value) => range.holds(value),
                Value::Bool(value) => range.holds(i64::from(value)),
                Value::Float(value) => exact(value).is_some_and(|value| range.holds(value)),
                other => return Err(undecided(CmpOp::In, &other, container, span)),
            }),
            Value::Record(at) if let Some(members) = self.members_of(*at) => match item {
                Value::Object(_) => Ok(members.iter().any(|member| self.identical(member, item) == Some(true))),
                _ => Err(undecided(CmpOp::In, item, container, span)),
            },
            Value::Object(_) if let Some((class, all)) = self.bits(container) => match self.bits(item) {
                Some((other, bits)) if other == class => Ok(all & bits == bits),
                _ => Err(undecided(CmpOp::In, item, container, span)),
            },
            Value::Object(object) if !object.get().is_tuple => {
                if let Some(verdict) = self.run_special(container, "__contains__", vec![item.clone()], span)? {
                    return self.truth_of(&verdict, span);
                }
                self.is_among(item, container, span)
            }
            _ => self.is_among(item, container, span),
        }
    }

    fn is_among(&mut self, item: &Value<'c>, container: &Value<'c>, span: Span) -> Res<bool> {
        let iter = self.iter_of(container, span)?;
        while let Some(known) = self.next_of(&iter, span)? {
            if self.equal_parts(&known, item, 1, span)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a constant is true; none where that is not known here.
    pub(crate) fn truth_known(&mut self, value: &Value<'c>, span: Span) -> Res<Option<bool>> {
        if let Some((_, bits)) = self.bits(value) {
            return Ok(Some(bits != 0));
        }
        if let Value::Object(object) = value
            && !object.get().is_tuple
            && self.payload(value).is_none()
        {
            return match self.run_special(value, "__bool__", Vec::new(), span)? {
                Some(Value::Bool(truth)) => Ok(Some(truth)),
                Some(_) => Ok(None),
                None => Ok(Some(self.length(value, span)?.is_none_or(|length| length > 0))),
            };
        }
        Ok(Some(match &self.plain(value.clone()) {
            Value::None => false,
            Value::Bool(value) => *value,
            Value::Int(value) => *value != 0,
            Value::Float(value) => *value != 0.0,
            Value::Str(text) => !text.as_str().is_empty(),
            Value::Module(_)
            | Value::Factory(_)
            | Value::Record(_)
            | Value::Function(_)
            | Value::Bound(_)
            | Value::Method(_)
            | Value::Iter(_) => true,
            other => return Ok(self.length(other, span)?.map(|length| length > 0)),
        }))
    }

    /// [`Self::truth_known`] of a value that decides something.
    pub(crate) fn truth_of(&mut self, value: &Value<'c>, span: Span) -> Res<bool> {
        self.truth_known(value, span)?
            .ok_or_else(|| Refusal::unread(span, format!("{} is neither true nor false", value.describe())))
    }
}

/// Which of the values that are one each.
fn true_kind(value: &Value<'_>) -> u8 {
    match value {
        Value::None => 0,
        Value::Bool(false) => 1,
        Value::Bool(true) => 2,
        _ => 3,
    }
}
