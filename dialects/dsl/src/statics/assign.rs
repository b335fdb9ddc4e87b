//! Assignments to names, items and attributes, and what a name is bound to whose value is not read.

use ruff_python_ast as ast;
use tf_core::Span;
use tf_types::Symbol;

use super::items::Index;
use super::special::inplace_name;
use crate::body::keyword;
use crate::parser::{Binding, Kind, Parser};
use crate::refusal::{Refusal, Res};
use crate::value::Value;

/// What is assigned to, its parts evaluated.
enum Place<'c> {
    Name(Symbol<'c>),
    Item(Value<'c>, Index<'c>),
    Attribute(Value<'c>, Symbol<'c>),
}

impl<'c> Parser<'_, 'c> {
    /// Binds a name, the names of a pattern, or sets an item or attribute.
    pub(crate) fn assign_target(&mut self, target: &ast::Expr, value: Value<'c>) -> Res<()> {
        let span = self.span(target);
        let (ast::Expr::Tuple(ast::ExprTuple { elts, .. }) | ast::Expr::List(ast::ExprList { elts, .. })) = target
        else {
            let place = self.target_place(target)?;
            return self.set_place(place, value, span);
        };
        if let Value::Unread(unread) = &value {
            return elts.iter().try_for_each(|target| match target {
                ast::Expr::Starred(starred) => self.assign_target(&starred.value, unread.another()),
                target => self.assign_target(target, unread.another()),
            });
        }
        let items = self.items_of(&value, span)?;
        let star = elts.iter().position(|target| matches!(target, ast::Expr::Starred(_)));
        let unpacks = match star {
            None => items.len() == elts.len(),
            Some(_) => items.len() + 1 >= elts.len(),
        };
        if !unpacks {
            let message = format!("{} does not unpack to {} names", value.describe(), elts.len());
            return Err(Refusal::unread(span, message).raises("ValueError"));
        }
        let surplus = items.len() + 1 - elts.len().min(items.len() + 1);
        let mut items = items.into_iter();
        for target in elts {
            match target {
                ast::Expr::Starred(starred) => {
                    let taken = items.by_ref().take(surplus).collect();
                    let list = self.heap.list(taken);
                    self.assign_target(&starred.value, list)?;
                }
                target => {
                    let item = items.next().unwrap_or(Value::None);
                    self.assign_target(target, item)?;
                }
            }
        }
        Ok(())
    }

    /// `name := value`, which binds outside comprehensions.
    pub(super) fn named(&mut self, named: &ast::ExprNamed) -> Res<Value<'c>> {
        let value = self.stored(&named.value)?;
        let (span, ast::Expr::Name(name)) = (self.span(named), &*named.target) else {
            return Err(Refusal::unread(self.span(named), "`:=` binds a name"));
        };
        let scope = self.scopes.iter().rev().find(|scope| scope.kind != Kind::Comprehension);
        let is_last = self.scopes.last().is_none_or(|last| last.kind != Kind::Comprehension);
        if scope.is_some_and(|scope| scope.kind == Kind::Class) && !is_last {
            return Err(Refusal::unread(span, "`:=` in a comprehension of a class is not read"));
        }
        self.bind_around(self.cx.symbol(name.id.as_str()), Binding::Value(value.clone()));
        Ok(value)
    }

    /// Binds a name outside comprehensions.
    pub(super) fn bind_around(&mut self, name: Symbol<'c>, binding: Binding<'c>) {
        let scope = self.scopes.iter().rev().find(|scope| scope.kind != Kind::Comprehension).cloned();
        self.bind_in(scope, name, binding);
    }

    /// What is assigned to: its owner and then its key are evaluated, once.
    fn target_place(&mut self, target: &ast::Expr) -> Res<Place<'c>> {
        match target {
            ast::Expr::Name(name) => Ok(Place::Name(self.cx.symbol(name.id.as_str()))),
            ast::Expr::Subscript(subscript) => {
                let owner = self.eval(&subscript.value, None)?;
                let index = self.index_of(&subscript.slice)?;
                Ok(Place::Item(owner, index))
            }
            ast::Expr::Attribute(attribute) => {
                let owner = self.eval(&attribute.value, None)?;
                Ok(Place::Attribute(owner, self.cx.symbol(attribute.attr.as_str())))
            }
            _ => Err(Refusal::unread(self.span(target), format!("`{}` is not assigned to", self.text(target)))),
        }
    }

    fn set_place(&mut self, place: Place<'c>, value: Value<'c>, span: Span) -> Res<()> {
        match place {
            Place::Name(name) => {
                self.bind(name, Binding::Value(value));
                Ok(())
            }
            Place::Item(owner, index) => self.set_item(&owner, index, value, span),
            Place::Attribute(owner, name) => self.set_attribute(&owner, name, value, false, span),
        }
    }

    /// `del name`, `del items[key]`, `del object.name`.
    pub(crate) fn delete(&mut self, target: &ast::Expr) -> Res<()> {
        let span = self.span(target);
        if let ast::Expr::Tuple(ast::ExprTuple { elts, .. }) | ast::Expr::List(ast::ExprList { elts, .. }) = target {
            return elts.iter().try_for_each(|target| self.delete(target));
        }
        match self.target_place(target)? {
            Place::Name(name) => {
                self.lookup(name.as_str(), span)?;
                self.bind(name, Binding::Gone(format!("`{name}` is deleted above"), None));
                Ok(())
            }
            Place::Item(owner, index) => self.delete_item(&owner, index, span),
            Place::Attribute(Value::Object(object), name) if !object.get().is_frozen && !object.get().is_tuple => {
                let place = object.get().attributes.iter().position(|(known, _)| *known == name);
                match place {
                    Some(at) => drop(object.change().attributes.remove(at)),
                    None => return Err(self.no_attribute(&Value::Object(object), name.as_str(), span)),
                }
                Ok(())
            }
            Place::Attribute(..) => Err(Refusal::unread(span, format!("`del {}` is not executed", self.text(target)))),
        }
    }

    /// Statements that bind constants; what else there is is not executed.
    pub(crate) fn constant_statement(&mut self, stmt: &ast::Stmt) {
        let result = self.assignment(stmt);
        self.lost_assignment(stmt, result);
    }

    pub(super) fn assignment(&mut self, stmt: &ast::Stmt) -> Res<()> {
        match stmt {
            ast::Stmt::Assign(assign) => self.assign_all(&assign.targets, &assign.value),
            ast::Stmt::AnnAssign(assign) => match &assign.value {
                Some(value) => self.assign_all(std::slice::from_ref(&*assign.target), value),
                None => Ok(()),
            },
            ast::Stmt::AugAssign(assign) => self.augmented(assign, self.span(assign)),
            ast::Stmt::TypeAlias(alias) => self.assign_all(std::slice::from_ref(&*alias.name), &alias.value),
            other => {
                self.skip(other);
                Ok(())
            }
        }
    }

    fn assign_all(&mut self, targets: &[ast::Expr], value: &ast::Expr) -> Res<()> {
        let value = self.stored(value)?;
        targets.iter().try_for_each(|target| self.assign_target(target, value.clone()))
    }

    /// What a statement assigns that is refused is not known.
    pub(super) fn lost_assignment(&mut self, stmt: &ast::Stmt, result: Res<()>) {
        let Err(refusal) = result else { return };
        let lost = self.lost(refusal, self.span(stmt));
        let (targets, value) = match stmt {
            ast::Stmt::Assign(assign) => (&assign.targets[..], Some(&assign.value)),
            ast::Stmt::AnnAssign(assign) => (std::slice::from_ref(&*assign.target), assign.value.as_ref()),
            ast::Stmt::AugAssign(assign) => (std::slice::from_ref(&*assign.target), Some(&assign.value)),
            ast::Stmt::TypeAlias(alias) => (std::slice::from_ref(&*alias.name), None),
            _ => return,
        };
        if stmt.is_aug_assign_stmt() {
            targets.iter().for_each(|target| self.lose(target, &lost));
        }
        value.iter().for_each(|value| self.lose_calls(value, &lost));
        targets.iter().for_each(|target| self.lose_calls(target, &lost));
        self.bind_all(targets, &lost);
    }

    /// What a constant that is evaluated here is bound to; one that is not read is refused where it is used.
    pub(crate) fn constant_binding(&mut self, value: &ast::Expr) -> Binding<'c> {
        match self.stored(value) {
            Ok(value) => Binding::Value(value),
            Err(refusal) => {
                let lost = self.lost(refusal, self.span(value));
                self.lose_calls(value, &lost);
                lost
            }
        }
    }

    /// The binding of a name whose value is refused.
    pub(crate) fn lost(&mut self, refusal: Refusal, at: Span) -> Binding<'c> {
        self.doubts += 1;
        match refusal {
            Refusal::Unread(diagnostic) => Binding::unread(&diagnostic.message, diagnostic.span.unwrap_or(at)),
            refusal => {
                self.report(refusal);
                Binding::Poison
            }
        }
    }

    fn augmented(&mut self, assign: &ast::StmtAugAssign, span: Span) -> Res<()> {
        let place = self.target_place(&assign.target)?;
        let at = self.span(&*assign.target);
        let left = match &place {
            Place::Name(_) => self.eval(&assign.target, None)?,
            Place::Item(owner, index) => self.item(owner, index, at)?,
            Place::Attribute(owner, name) => self.attribute_of(owner.clone(), *name, &assign.target, at)?,
        };
        self.known(&left, at)?;
        let right = self.eval(&assign.value, None)?;
        let value = self.in_place(assign.op, left, &right, span)?;
        self.set_place(place, value, span)
    }

    /// `left op= right`: what has an identity changes.
    fn in_place(&mut self, op: ast::Operator, left: Value<'c>, right: &Value<'c>, span: Span) -> Res<Value<'c>> {
        match (&left, op) {
            (Value::List(_), ast::Operator::Add) => {
                let added = self.items_of(right, span)?;
                self.extend(&left, added, span)?;
                Ok(left)
            }
            (Value::List(list), ast::Operator::Mult) => {
                let repeated = self.static_binary(op, &left, right, span)?;
                if let Value::List(repeated) = repeated {
                    let items = std::rc::Rc::clone(&repeated.get());
                    *list.change() = items;
                }
                Ok(left)
            }
            (Value::Dict(dict), ast::Operator::BitOr) if !dict.get().is_counter() => {
                self.update_dict(&left, Some(right), Vec::new(), span)?;
                Ok(left)
            }
            (Value::Set(set), _) if !set.get().is_frozen => {
                let Value::Set(made) = self.static_binary(op, &left, right, span)? else { return Ok(left) };
                let items = made.get().items.clone();
                set.change().items = items;
                Ok(left)
            }
            (Value::Dict(_) | Value::List(_), _) => {
                let message = format!("`{}=` of {} is not read", op.as_str(), left.describe());
                Err(Refusal::unread(span, message))
            }
            (Value::Object(_), _)
                if let Some(value) = self.run_special(&left, &inplace_name(op), vec![right.clone()], span)? =>
            {
                Ok(value)
            }
            _ => self.static_binary(op, &left, right, span),
        }
    }

    fn bind_all(&mut self, targets: &[ast::Expr], binding: &Binding<'c>) {
        for target in targets {
            match target {
                ast::Expr::Name(name) => self.bind(self.cx.symbol(name.id.as_str()), binding.another()),
                ast::Expr::Tuple(ast::ExprTuple { elts, .. }) | ast::Expr::List(ast::ExprList { elts, .. }) => {
                    self.bind_all(elts, binding);
                }
                ast::Expr::Starred(starred) => self.bind_all(std::slice::from_ref(&*starred.value), binding),
                ast::Expr::Subscript(_) | ast::Expr::Attribute(_) => self.lose(target, binding),
                _ => {}
            }
        }
    }

    /// Statements that are not read: names they bind are refused where they are used.
    pub(crate) fn skip(&mut self, stmt: &ast::Stmt) {
        let why = format!("it is bound inside {} at file level, which is not executed", keyword(stmt));
        let binding = Binding::unread(why, self.span(stmt));
        self.bind_names(stmt, &binding);
    }

    /// Gives every name that a statement binds the same binding.
    pub(crate) fn bind_names(&mut self, stmt: &ast::Stmt, binding: &Binding<'c>) {
        self.lose_changes(stmt, binding);
        for name in super::bound::names_of([stmt]) {
            self.bind(self.cx.symbol(name), binding.another());
        }
    }
}
