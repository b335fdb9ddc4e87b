//! Plain classes of a file: configurations, frozen dataclasses.

use std::rc::Rc;

use ruff_python_ast as ast;
use tf_core::Span;
use tf_types::Symbol;

use crate::body::is_docstring;
use crate::factory::Factory;
use crate::names::Builtin;
use crate::parser::{Binding, Frame, Parser};
use crate::refusal::{Refusal, Res};
use crate::value::Value;

/// A plain class.
pub(crate) struct Record<'c> {
    name: Symbol<'c>,
    is_dataclass: bool,
    /// Annotated names with their defaults, in order.
    fields: Vec<(Symbol<'c>, Option<Value<'c>>)>,
    /// Other names.
    constants: Vec<(Symbol<'c>, Value<'c>)>,
    /// Properties, as plain functions of the file.
    properties: Vec<(Symbol<'c>, usize)>,
}

/// An instance of a plain class.
pub(crate) struct Object<'c> {
    record: usize,
    fields: Vec<Value<'c>>,
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
                Binding::Unread { why: diagnostic.message, at }
            }
            Err(refusal) => {
                self.report(refusal);
                Binding::Poison
            }
        };
        self.bind(name, binding);
    }

    fn record(&mut self, class: &'a ast::StmtClassDef) -> Res<Record<'c>> {
        let unread = |p: &Self, why: &str| {
            Err(Refusal::unread(p.span(&class.name), format!("it is a plain Python class {why}")))
        };
        let mut dataclass = false;
        for decorator in &class.decorator_list {
            let written = match &decorator.expression {
                ast::Expr::Call(call) => &*call.func,
                other => other,
            };
            match self.eval(written, None) {
                Ok(Value::Builtin(Builtin::DataClass)) => dataclass = true,
                _ => return unread(self, "with a decorator, and authoring files are not executed"),
            }
        }
        if class.arguments.as_ref().is_some_and(|arguments| !arguments.is_empty()) {
            return unread(self, "with bases, and authoring files are not executed");
        }
        let mut record = Record {
            name: self.cx.symbol(class.name.as_str()),
            is_dataclass: dataclass,
            fields: Vec::new(),
            constants: Vec::new(),
            properties: Vec::new(),
        };
        self.scopes.push(Frame::default());
        let result = self.record_members(class, &mut record);
        self.scopes.pop();
        result.map(|()| record)
    }

    fn record_members(&mut self, class: &'a ast::StmtClassDef, record: &mut Record<'c>) -> Res<()> {
        for (at, member) in class.body.iter().enumerate() {
            let (target, value) = match member {
                ast::Stmt::Pass(_) => continue,
                first if at == 0 && is_docstring(first) => continue,
                ast::Stmt::FunctionDef(def) => {
                    let is_property = matches!(&def.decorator_list[..], [one]
                        if matches!(&one.expression, ast::Expr::Name(name) if name.id.as_str() == "property"));
                    if is_property {
                        self.factories.push(Factory::at_file_level(def));
                        record.properties.push((self.cx.symbol(def.name.as_str()), self.factories.len() - 1));
                    }
                    continue;
                }
                ast::Stmt::AnnAssign(assign) => (&*assign.target, assign.value.as_deref()),
                ast::Stmt::Assign(assign) => (&assign.targets[0], Some(&*assign.value)),
                other => {
                    let message = format!("it is a plain Python class with `{}`", self.text(other));
                    return Err(Refusal::unread(self.span(other), message));
                }
            };
            let ast::Expr::Name(target) = target else { continue };
            let name = self.cx.symbol(target.id.as_str());
            let value = value.map(|value| self.eval(value, None)).transpose()?;
            if let Some(value) = &value {
                self.bind(name, Binding::Value(value.clone()));
            }
            match (member, value) {
                (ast::Stmt::AnnAssign(_), value) if record.is_dataclass => record.fields.push((name, value)),
                (_, Some(value)) => record.constants.push((name, value)),
                _ => {}
            }
        }
        Ok(())
    }

    /// `Config(a=1)`.
    pub(crate) fn instance(&mut self, record: usize, call: &ast::ExprCall, span: Span) -> Res<Value<'c>> {
        let name = self.records[record].name;
        if !self.records[record].is_dataclass {
            let message = format!("`{name}` is a plain Python class, of which only dataclasses are instantiated");
            return Err(Refusal::unread(span, message));
        }
        let fields: Vec<&'c str> = self.records[record].fields.iter().map(|(field, _)| field.as_str()).collect();
        let given = self.arguments(call, name.as_str(), &fields)?;
        let mut values = Vec::with_capacity(fields.len());
        for (at, given) in given.into_iter().enumerate() {
            let default = self.records[record].fields[at].1.clone();
            values.push(match (given, default) {
                (Some(given), _) => self.eval(given, None)?,
                (None, Some(default)) => default,
                (None, None) => return Err(Refusal::wrong(span, format!("`{name}` needs `{}`", fields[at]))),
            });
        }
        Ok(Value::Object(Rc::new(Object { record, fields: values })))
    }

    /// An attribute of an instance.
    pub(crate) fn object_attribute(&mut self, object: &Rc<Object<'c>>, name: &str, span: Span) -> Res<Value<'c>> {
        let record = &self.records[object.record];
        if let Some(at) = record.fields.iter().position(|(field, _)| field.as_str() == name) {
            return Ok(object.fields[at].clone());
        }
        if let Some(&(_, at)) = record.properties.iter().find(|(property, _)| property.as_str() == name) {
            let factory = self.factories[at];
            let owner = factory.def.parameters.iter_non_variadic_params().next();
            let Some(owner) = owner.map(|param| self.cx.symbol(param.parameter.name.as_str())) else {
                return Err(Refusal::unread(span, format!("the property `{name}` has no parameter")));
            };
            let value = Binding::Value(Value::Object(Rc::clone(object)));
            let outer = self.body.take();
            let result = self.run(factory, Frame::from_iter([(owner, value)]), span);
            self.body = outer;
            return result;
        }
        self.record_attribute(object.record, name, span)
    }

    /// An attribute of a class.
    pub(crate) fn record_attribute(&self, record: usize, name: &str, span: Span) -> Res<Value<'c>> {
        let record = &self.records[record];
        let field =
            record.fields.iter().find(|(field, _)| field.as_str() == name).and_then(|(_, value)| value.as_ref());
        let constant = record.constants.iter().find(|(constant, _)| constant.as_str() == name).map(|(_, value)| value);
        field
            .or(constant)
            .cloned()
            .ok_or_else(|| Refusal::unread(span, format!("`{}` has no attribute `{name}`", record.name)))
    }
}
