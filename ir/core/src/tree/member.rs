//! Names of a module: functions, children, methods, weights.

use tf_types::{Symbol, Type};

use crate::diag::did_you_mean;
use crate::node::{AnyFunction, Child, Method, Module};
use crate::{Diagnostic, Result};

/// What a name of a module is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member<'c> {
    /// A function.
    Function(AnyFunction<'c>),
    /// A child module.
    Child(Module<'c>),
    /// A group of child modules.
    Group(&'c [Module<'c>]),
    /// A method.
    Method(Method<'c>),
}

impl<'c> Module<'c> {
    /// All functions of that name; in a module that verifies one at most.
    pub fn function_named(self, name: &str) -> impl Iterator<Item = AnyFunction<'c>> {
        self.data().functions.iter().copied().filter(move |function| function.name().as_str() == name)
    }

    /// The one function of that name.
    ///
    /// # Errors
    /// There is none, or several.
    pub fn function(self, name: &str) -> Result<AnyFunction<'c>> {
        let mut found = self.function_named(name);
        match (found.next(), found.next()) {
            (Some(function), None) => Ok(function),
            (Some(_), Some(_)) => Err(self.refuse(format!("module `{}` has several functions `{name}`", self.name))),
            (None, _) => {
                let known = self.functions.iter().map(|f| f.name());
                let mut error = self.refuse(format!("module `{}` has no function `{name}`", self.name));
                error.help =
                    did_you_mean(name, known.map(Symbol::as_str)).map(|near| format!("did you mean `{near}`?"));
                Err(error)
            }
        }
    }

    /// The function of the default step.
    ///
    /// # Errors
    /// The module has no entry; the entry is none of its functions.
    pub fn default_step(self) -> Result<AnyFunction<'c>> {
        let Some(entry) = self.entry else {
            let known: Vec<_> = self.functions.iter().map(|f| format!("`{}`", f.name())).collect();
            let known = if known.is_empty() {
                "it has no functions".to_owned()
            } else {
                format!("it has {}", known.join(", "))
            };
            let message = format!("module `{}` has no default step; {known}", self.name);
            return Err(self.refuse(message).with_help("select a function by name: `lookup('<name>')`"));
        };
        self.function(entry.as_str())
    }

    /// What an attribute of that name is: a function, else a child or a group, else a method. Names that begin with `_` are none.
    ///
    /// # Errors
    /// Nothing has the name, or several of one kind have.
    pub fn member(self, name: &str) -> Result<Member<'c>> {
        let none = || Err(self.refuse(format!("module `{}` has no member `{name}`", self.name)));
        if name.starts_with('_') {
            return none();
        }
        let mut kinds: [Vec<Member<'c>>; 3] = [Vec::new(), Vec::new(), Vec::new()];
        kinds[0].extend(self.function_named(name).map(Member::Function));
        kinds[1].extend(self.child_modules().filter(|child| child.name.as_str() == name).map(Member::Child));
        let groups = self.data().children.iter().filter_map(|child| match *child {
            Child::Group(group, modules) if group.as_str() == name => Some(Member::Group(modules)),
            _ => None,
        });
        kinds[1].extend(groups);
        let methods = self.data().methods.iter().filter(|method| method.name.as_str() == name);
        kinds[2].extend(methods.map(|&method| Member::Method(method)));
        match kinds.into_iter().find(|found| !found.is_empty()).as_deref() {
            Some(&[one]) => Ok(one),
            Some(_) => Err(self.refuse(format!("module `{}` has several members `{name}`", self.name))),
            None => none(),
        }
    }

    /// The constant parameters of its own functions in order of function and parameter: names and types.
    ///
    /// # Errors
    /// One name with two types.
    pub fn weights(self) -> Result<Vec<(Symbol<'c>, Type<'c>)>> {
        let mut weights: Vec<(Symbol<'c>, Type<'c>)> = Vec::new();
        let mut places = rustc_hash::FxHashMap::default();
        for function in self.functions {
            for param in function.params().iter().filter(|param| param.is_const_param()) {
                let Some(name) = param.var_name() else { continue };
                let at = *places.entry(name).or_insert(weights.len());
                match weights.get(at) {
                    None => weights.push((name, param.ty())),
                    Some(&(_, ty)) if ty == param.ty() => {}
                    Some(&(_, ty)) => {
                        let found = param.ty();
                        let message = format!("the weight `{name}` of `{}` is {ty} and {found}", self.name);
                        return Err(Diagnostic::error(message).at(param.span()).at(function.span()));
                    }
                }
            }
        }
        Ok(weights)
    }

    fn refuse(self, message: String) -> Diagnostic {
        Diagnostic::error(message).at(self.span)
    }
}
