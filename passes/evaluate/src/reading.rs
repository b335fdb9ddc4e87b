//! Readings: a module with its constants and the readings of its children.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use tf_core::node::{Child, Method};
use tf_core::{AnyFunction, Diagnostic, Expr, Function, Module, Result};
use tf_types::{DType, Symbol, TensorType};
use tf_value::{Tensor, ValueError, extent, show_shape};

use crate::boundary::given;
use crate::{DimSizes, Resource};

/// A module whose constants are tensors of a resource. Clones are the same reading; another reading of the module, or of another
/// attachment of it, shares nothing with it.
#[derive(Clone)]
pub struct Reading<'c>(Rc<Data<'c>>);

struct Data<'c> {
    module: Module<'c>,
    /// The attributes from the root, joined by dots; empty for the root.
    path: String,
    resource: Rc<Resource>,
    children: Vec<Reading<'c>>,
    /// Where the functions that this module may call live.
    owners: FxHashMap<Function<'c>, Owner>,
    /// Constants that have been read.
    loaded: RefCell<FxHashMap<(Symbol<'c>, DType), Tensor>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    Itself,
    Child(usize),
    /// Several children have it.
    Unclear,
}

/// What runs: a function or a method of a reading.
#[derive(Clone)]
pub enum Step<'c> {
    /// A function on activations.
    Function(Reading<'c>, Function<'c>),
    /// An orchestration method.
    Method(Reading<'c>, Method<'c>),
}

impl<'c> Reading<'c> {
    /// Reads a module tree from a resource. Nothing is read yet, and nothing is written onto the module.
    #[must_use]
    pub fn load(module: Module<'c>, resource: Resource) -> Self {
        let resource = Rc::new(resource);
        // Children first: a module comes after all below it when the owners-first list is read backwards.
        let mut done: Vec<Self> = Vec::new();
        let mut stack = vec![(module, String::new(), false)];
        while let Some((module, path, children_done)) = stack.pop() {
            if children_done {
                let children = done.split_off(done.len() - module.child_modules().count());
                done.push(Self::new(module, path, &resource, children));
                continue;
            }
            stack.push((module, path.clone(), true));
            let first = stack.len();
            for child in module.child_modules() {
                let dot = if path.is_empty() { "" } else { "." };
                stack.push((child, format!("{path}{dot}{}", child.name), false));
            }
            stack[first..].reverse();
        }
        done.swap_remove(0)
    }

    fn new(module: Module<'c>, path: String, resource: &Rc<Resource>, children: Vec<Self>) -> Self {
        let mut owners = FxHashMap::default();
        for (at, child) in children.iter().enumerate() {
            for function in hir_functions(child.0.module) {
                owners.entry(function).and_modify(|owner| *owner = Owner::Unclear).or_insert(Owner::Child(at));
            }
        }
        for function in hir_functions(module) {
            let owner = sources(function).find_map(|source| owners.get(&source).copied()).unwrap_or(Owner::Itself);
            owners.insert(function, owner);
        }
        let (resource, loaded) = (Rc::clone(resource), RefCell::default());
        Self(Rc::new(Data { module, path, resource, children, owners, loaded }))
    }

    /// What is read.
    #[must_use]
    pub fn module(&self) -> Module<'c> {
        self.0.module
    }

    /// Where the module hangs in the tree, by dotted attributes; empty for the root.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// How messages call it.
    #[must_use]
    pub fn describe(&self) -> String {
        match self.path() {
            "" => format!("module `{}`", self.0.module.name),
            path => format!("child `{path}`"),
        }
    }

    /// Where its constants come from.
    #[must_use]
    pub fn resource(&self) -> &Resource {
        &self.0.resource
    }

    /// The reading of a child.
    #[must_use]
    pub fn child(&self, name: &str) -> Option<&Self> {
        self.0.children.iter().find(|child| child.0.module.name.as_str() == name)
    }

    /// The readings of the children that one attribute attaches together.
    #[must_use]
    pub fn group(&self, name: Symbol<'c>) -> Option<Vec<Self>> {
        let mut first = 0;
        for child in self.0.module.data().children {
            let count = child.modules().len();
            if matches!(child, Child::Group(group, _) if *group == name) {
                return Some(self.0.children[first..first + count].to_vec());
            }
            first += count;
        }
        None
    }

    /// The dotted name of a constant of this module.
    #[must_use]
    pub fn dotted(&self, name: &str) -> String {
        if self.0.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.0.path) }
    }

    /// The dotted names of the constants that the functions of this module and of those below it declare.
    #[must_use]
    pub fn declared(&self) -> BTreeSet<String> {
        let (mut names, mut stack) = (BTreeSet::new(), vec![self]);
        while let Some(reading) = stack.pop() {
            let params = reading.0.module.all_functions().flat_map(given).filter(|param| param.is_const_param());
            names.extend(params.filter_map(|param| Some(reading.dotted(param.var_name()?.as_str()))));
            stack.extend(&reading.0.children);
        }
        names
    }

    /// The reading in which a function that this module calls is read; `None` where it belongs to several children.
    #[must_use]
    pub fn of_callee(&self, callee: Function<'c>) -> Option<&Self> {
        match self.0.owners.get(&callee) {
            Some(Owner::Child(at)) => Some(&self.0.children[*at]),
            Some(Owner::Unclear) => None,
            Some(Owner::Itself) | None => Some(self),
        }
    }

    /// The stored extents of a constant.
    #[must_use]
    pub fn stored_shape(&self, name: &str) -> Option<Vec<usize>> {
        self.0.resource.find(&self.dotted(name)).map(|found| found.info.shape)
    }

    /// The constant of a parameter, read when it is first asked for and checked against the parameter's type.
    ///
    /// # Errors
    /// There is none; it has another shape or dtype than declared; it cannot be read.
    pub fn constant(&self, param: Expr<'c>, dims: &DimSizes<'c>) -> Result<Tensor> {
        let (Some(name), Some(ty)) = (param.var_name(), param.ty().as_tensor()) else {
            return Err(Diagnostic::error(format!("{} is no tensor", param.describe())).at(param.span()));
        };
        let loaded = self.0.loaded.borrow().get(&(name, ty.dtype)).cloned();
        let shape = wanted(ty, dims).map_err(|error| refused(error).at(param.span()))?;
        if let Some(tensor) = loaded.filter(|tensor| tensor.shape() == shape) {
            return Ok(tensor);
        }
        let dotted = self.dotted(name.as_str());
        let tensor = match self.0.resource.find(&dotted) {
            Some(found) => {
                if found.info.shape != shape || !found.info.holds(ty.dtype) {
                    let (want, have) = (show_shape(&shape), show_shape(&found.info.shape));
                    let (stored, file) = (&found.info.stored, found.label());
                    let message = format!(
                        "the constant `{dotted}` is {} of shape {want}, {file} has {stored} of shape {have}",
                        ty.dtype
                    );
                    return Err(Diagnostic::error(message).at(param.span()));
                }
                found.read(ty.dtype)
            }
            None => match self.0.resource.make_up(&dotted, ty, &shape) {
                Some(tensor) => tensor,
                None => {
                    return Err(
                        missing(self.resource(), &[(self.describe(), vec![dotted])], &self.declared()).at(param.span())
                    );
                }
            },
        };
        let tensor = tensor.map_err(|error| refused(error).at(param.span()))?;
        self.0.loaded.borrow_mut().insert((name, ty.dtype), tensor.clone());
        Ok(tensor)
    }

    /// The member of that name: a function, or a method.
    #[must_use]
    pub fn step(&self, name: &str) -> Option<Step<'c>> {
        let module = self.0.module;
        if let Some(AnyFunction::Hir(function)) = module.lookup(name) {
            return Some(Step::Function(self.clone(), function));
        }
        let method = module.methods.iter().copied().find(|method| method.name.as_str() == name)?;
        Some(Step::Method(self.clone(), method))
    }

    /// What a call of the reading itself runs: the method `forward`, else the entry function.
    ///
    /// # Errors
    /// It has neither; the entry is a TIR function.
    pub fn default_step(&self) -> Result<Step<'c>> {
        let module = self.0.module;
        let forward = module.methods.iter().copied().find(|method| method.name.as_str() == "forward");
        if let Some(method) = forward {
            return Ok(Step::Method(self.clone(), method));
        }
        match module.entry_function() {
            Some(AnyFunction::Hir(function)) => Ok(Step::Function(self.clone(), function)),
            Some(AnyFunction::Tir(function)) => {
                let message = format!("the entry `{}` of {} is a TIR function", function.name, self.describe());
                Err(Diagnostic::error(message).at(function.span))
            }
            None => {
                let message = format!("{} has neither a method `forward` nor an entry", self.describe());
                Err(Diagnostic::error(message).at(module.span).with_help(self.members()))
            }
        }
    }

    /// What there is to run, for help.
    #[must_use]
    pub fn members(&self) -> String {
        let list = |what: &str, names: Vec<Symbol<'c>>| {
            let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
            match names.as_slice() {
                [] => format!("no {what}s"),
                [one] => format!("the {what} {one}"),
                many => format!("the {what}s {}", many.join(", ")),
            }
        };
        let module = self.0.module;
        let functions = list("function", module.functions.iter().map(|function| function.name()).collect());
        let methods = list("method", module.methods.iter().map(|method| method.name).collect());
        format!("{} has {functions} and {methods}", self.describe())
    }
}

/// The extents that a type asks for in this run.
pub fn wanted(ty: &TensorType<'_>, dims: &DimSizes<'_>) -> Result<Vec<usize>, ValueError> {
    ty.shape
        .iter()
        .map(|&dim| {
            let size = extent(dim, dims)?;
            usize::try_from(size)
                .map_err(|_| ValueError::new(format!("an extent is at least 0, found `{dim}` = {size}")))
        })
        .collect()
}

/// The refusal of constants that no place has, by the module that lacks them. `taken`: names that are no misspellings of theirs.
pub fn missing(resource: &Resource, lacking: &[(String, Vec<String>)], taken: &BTreeSet<String>) -> Diagnostic {
    let count: usize = lacking.iter().map(|(_, names)| names.len()).sum();
    let list = |names: &[String]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let parts: Vec<_> = lacking.iter().map(|(owner, names)| format!("{owner} lacks {}", list(names))).collect();
    let what = if count == 1 { "a constant is".to_owned() } else { format!("{count} constants are") };
    let mut error = Diagnostic::error(format!("{what} missing: {}", parts.join("; ")));
    if let [(_, names)] = lacking
        && let [one] = names.as_slice()
    {
        let tried = resource.tried(one);
        if !tried.is_empty() {
            error = error.with_note(None, format!("tried {}", tried.join(", ")));
        }
    }
    let names: Vec<_> = lacking.iter().flat_map(|(_, names)| names).map(String::as_str).collect();
    resource.explain(error, &names, taken)
}

/// A refusal of values as a diagnostic.
pub fn refused(error: ValueError) -> Diagnostic {
    let mut diagnostic = Diagnostic::error(error.message);
    diagnostic.help = error.help;
    diagnostic
}

fn hir_functions<'c>(module: Module<'c>) -> impl Iterator<Item = Function<'c>> {
    module.all_functions().filter_map(|function| match function {
        AnyFunction::Hir(function) => Some(function),
        AnyFunction::Tir(_) => None,
    })
}

/// What a function was made from, and what that was made from, and so on.
fn sources<'c>(function: Function<'c>) -> impl Iterator<Item = Function<'c>> {
    std::iter::successors(function.origin.and_then(|origin| origin.function), |function| {
        function.origin.and_then(|origin| origin.function)
    })
}
