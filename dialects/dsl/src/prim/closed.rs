//! Declarations of intrinsics as text that says the same without its file: compile-time values stand in place of their
//! names, plain functions that the body calls stand inside it.

use ruff_python_ast as ast;
use ruff_python_ast::visitor::{Visitor, walk_expr, walk_f_string, walk_stmt};
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::{FxHashMap, FxHashSet};
use tf_core::Span;
use tf_types::{Dim, DimKind, DimOp};

use crate::body::{bound_names, docstring};
use crate::factory::Code;
use crate::names::{self, Builtin};
use crate::parser::Parser;
use crate::print::python;
use crate::refusal::{Refusal, Res};
use crate::source::Edits;
use crate::statics::{Python, kinds};
use crate::value::Value;

impl<'a, 'c> Parser<'a, 'c> {
    /// The text of a declaration, at no indentation. What it names and does not keep is refused at `span`, where it is
    /// used.
    pub(crate) fn closed_source(&mut self, def: &'a ast::StmtFunctionDef, span: Span) -> Res<String> {
        let (body, scopes) = (self.body.take(), std::mem::take(&mut self.scopes));
        let closing = Closing {
            parser: &mut *self,
            span,
            locals: Vec::new(),
            edits: Vec::new(),
            helpers: Vec::new(),
            known: FxHashMap::default(),
            quoted: 0,
            refusal: None,
        };
        let text = closing.whole(def);
        (self.body, self.scopes) = (body, scopes);
        text
    }
}

/// Values in a constant that is written out.
const LARGEST: usize = 4096;

/// The names that a declaration uses and does not bind, each once.
pub(crate) fn free_names(def: &ast::StmtFunctionDef) -> Vec<&str> {
    let mut free = Free::default();
    walk_function(&mut free, def);
    free.names
}

/// What a function binds: its parameters and what its blocks assign.
fn locals(def: &ast::StmtFunctionDef) -> FxHashSet<&str> {
    let mut names: Vec<&str> = def.parameters.iter().map(|param| param.name().as_str()).collect();
    def.body.iter().for_each(|stmt| bound_names(stmt, &mut names));
    names.into_iter().collect()
}

/// What the generators of a comprehension bind.
fn targets(generators: &[ast::Comprehension]) -> FxHashSet<&str> {
    let mut names = Vec::new();
    generators.iter().for_each(|generator| crate::body::target_names(&generator.target, &mut names));
    names.into_iter().collect()
}

fn generators(expr: &ast::Expr) -> Option<&[ast::Comprehension]> {
    match expr {
        ast::Expr::ListComp(list) => Some(&list.generators),
        ast::Expr::DictComp(dict) => Some(&dict.generators),
        ast::Expr::SetComp(set) => Some(&set.generators),
        ast::Expr::Generator(generator) => Some(&generator.generators),
        _ => None,
    }
}

/// What a comprehension or a lambda binds.
fn own_names(expr: &ast::Expr) -> Option<FxHashSet<&str>> {
    match expr {
        ast::Expr::Lambda(lambda) => {
            Some(lambda.parameters.iter().flat_map(|params| params.iter()).map(|param| param.name().as_str()).collect())
        }
        other => generators(other).map(targets),
    }
}

/// The name that a chain of attributes starts from.
fn root(expr: &ast::Expr) -> Option<&ast::ExprName> {
    let mut expr = expr;
    loop {
        match expr {
            ast::Expr::Attribute(attribute) => expr = &attribute.value,
            ast::Expr::Name(name) => return Some(name),
            _ => return None,
        }
    }
}

/// A visitor of a declaration that is told what is not bound in it.
trait Scoped<'a>: Visitor<'a> + Sized {
    /// Names of the functions and comprehensions around, outermost first.
    fn locals(&mut self) -> &mut Vec<FxHashSet<&'a str>>;

    /// A name that is not bound, with the attributes that are taken of it.
    fn outside(&mut self, expr: &'a ast::Expr, root: &'a ast::ExprName);
}

/// Parameters, then the body with its own names.
fn walk_function<'a>(visitor: &mut impl Scoped<'a>, def: &'a ast::StmtFunctionDef) {
    def.parameters.iter().filter_map(|param| param.annotation()).for_each(|hint| visitor.visit_expr(hint));
    let defaults = def.parameters.iter_non_variadic_params().filter_map(|param| param.default.as_deref());
    defaults.for_each(|default| visitor.visit_expr(default));
    visitor.locals().push(locals(def));
    def.body.iter().for_each(|stmt| visitor.visit_stmt(stmt));
    visitor.locals().pop();
}

fn walk_scoped<'a>(visitor: &mut impl Scoped<'a>, expr: &'a ast::Expr) {
    if let Some(name) = root(expr) {
        if visitor.locals().iter().all(|names| !names.contains(name.id.as_str())) {
            visitor.outside(expr, name);
        }
        return;
    }
    let own = own_names(expr);
    let opens = own.is_some();
    visitor.locals().extend(own);
    walk_expr(visitor, expr);
    if opens {
        visitor.locals().pop();
    }
}

/// Names that are not bound in a declaration.
#[derive(Default)]
struct Free<'a> {
    locals: Vec<FxHashSet<&'a str>>,
    names: Vec<&'a str>,
    known: FxHashSet<&'a str>,
}

impl<'a> Scoped<'a> for Free<'a> {
    fn locals(&mut self) -> &mut Vec<FxHashSet<&'a str>> {
        &mut self.locals
    }

    fn outside(&mut self, _: &'a ast::Expr, root: &'a ast::ExprName) {
        let name = root.id.as_str();
        if self.known.insert(name) {
            self.names.push(name);
        }
    }
}

impl<'a> Visitor<'a> for Free<'a> {
    fn visit_stmt(&mut self, stmt: &'a ast::Stmt) {
        match stmt {
            ast::Stmt::FunctionDef(def) => walk_function(self, def),
            other => walk_stmt(self, other),
        }
    }

    fn visit_expr(&mut self, expr: &'a ast::Expr) {
        walk_scoped(self, expr);
    }
}

/// The walk that finds what to replace.
struct Closing<'p, 'a, 'c> {
    parser: &'p mut Parser<'a, 'c>,
    /// Where the intrinsic is used.
    span: Span,
    locals: Vec<FxHashSet<&'a str>>,
    /// What stands in place of a part of the function that is walked.
    edits: Edits,
    /// Plain functions that are called, those that they call first.
    helpers: Vec<String>,
    /// The places of those by name, also while they are walked.
    known: FxHashMap<&'a str, usize>,
    /// How many formatted strings are open.
    quoted: usize,
    refusal: Option<Refusal>,
}

impl<'a, 'c> Closing<'_, 'a, 'c> {
    /// A declaration with the functions that it calls.
    fn whole(mut self, def: &'a ast::StmtFunctionDef) -> Res<String> {
        walk_function(&mut self, def);
        if let Some(refusal) = self.refusal {
            return Err(refusal);
        }
        let first = def.body.iter().find(|stmt| docstring(stmt).is_none());
        if let Some(first) = first.filter(|_| !self.helpers.is_empty()) {
            let before = self.parser.source.slice(TextRange::new(def.start(), first.start()));
            let line = before.rsplit_once('\n').map(|(_, line)| line).filter(|line| line.trim().is_empty());
            // A body on the line of its head goes to the next one.
            let inside = format!("\n{}", " ".repeat(self.parser.span(def).column as usize + 3));
            let line_break = line.map_or(inside, |line| format!("\n{line}"));
            // Below a docstring stands an empty line.
            let is_below = line.is_none() || first.start() > def.body[0].start();
            let mut text = if is_below { line_break.clone() } else { String::new() };
            text.push_str(&self.helpers.join("\n\n").replace('\n', &line_break));
            text.push('\n');
            text.push_str(&line_break);
            self.edits.push((TextRange::empty(first.start()), text));
        }
        Ok(self.parser.source.edited(def, &mut self.edits))
    }

    fn refuse(&mut self, why: String) {
        let help = "it keeps numbers, strings, tuples, dtypes, storages, dims and plain functions of its file";
        let message = format!("the check of an intrinsic stands alone, but {why}");
        self.refusal.get_or_insert(Refusal::wrong(self.span, message).help(help));
    }

    /// A plain function of the file, which is taken along.
    fn helper(&mut self, at: usize, expr: &'a ast::Expr) {
        let Code::Def(def) = self.parser.factories[at].code else {
            return self.refuse(format!("`{}` is a lambda, which is not kept", self.parser.text(expr)));
        };
        let name = def.name.as_str();
        if self.locals.iter().any(|names| names.contains(name)) {
            return self.refuse(format!("a name of it hides the function `{name}`"));
        }
        if self.parser.source.slice(expr.range()) != name {
            self.edits.push((expr.range(), name.to_owned()));
        }
        match self.known.insert(name, at) {
            Some(known) if known == at => return,
            Some(_) => return self.refuse(format!("the file has two functions `{name}`")),
            None => {}
        }
        let outer = (std::mem::take(&mut self.edits), std::mem::take(&mut self.locals));
        let quoted = std::mem::take(&mut self.quoted);
        walk_function(self, def);
        let text = self.parser.source.edited(def, &mut self.edits);
        (self.edits, self.locals) = outer;
        self.quoted = quoted;
        self.helpers.push(text);
    }

    /// A constant as Python; none for what has no short form.
    fn literal(&self, value: &Value<'c>) -> Option<String> {
        if value.weight(LARGEST) == LARGEST {
            return None;
        }
        let number = |text: String| if text.starts_with('-') { format!("({text})") } else { text };
        let all = |items: &[Value<'c>]| items.iter().map(|item| self.literal(item)).collect::<Option<Vec<_>>>();
        Some(match value {
            Value::None => "None".to_owned(),
            Value::Bool(true) => "True".to_owned(),
            Value::Bool(false) => "False".to_owned(),
            Value::Int(value) => number(value.to_string()),
            Value::Float(value) => number(python::float(*value)?),
            Value::Str(text) => python::string(text.as_str()),
            Value::Tuple(items) => match &all(&items.items)?[..] {
                [one] => format!("({one},)"),
                items => format!("({})", items.join(", ")),
            },
            Value::List(_) => format!("[{}]", all(&value.as_sequence()?)?.join(", ")),
            Value::Dim(dim) => dim_text(*dim),
            Value::DType(dtype) => format!("{}.{dtype}", Builtin::DTypeEnum.name()),
            Value::Kind(decl, at) => kinds::written(decl, *at),
            Value::Storage(storage) => storage.to_string(),
            Value::Math(name) => format!("math.{name}"),
            Value::Builtin(Builtin::Library("math")) => "math".to_owned(),
            Value::Builtin(Builtin::Python(python)) if Python::word(python.name()).is_some() => {
                python.name().to_owned()
            }
            Value::Builtin(builtin) if names::is_spelled(*builtin) => builtin.name().to_owned(),
            _ => return None,
        })
    }
}

/// Text that needs no escapes in any quotes.
fn plain(text: &str) -> Option<&str> {
    text.chars().all(|c| !c.is_control() && !matches!(c, '\'' | '"' | '\\' | '{' | '}')).then_some(text)
}

/// Dims of files are small.
fn dim_text(dim: Dim<'_>) -> String {
    match *dim.data() {
        DimKind::Const(value) => value.to_string(),
        DimKind::Var(var) => format!("DimVar({}, {}, {})", python::string(var.name.as_str()), var.lo, var.hi),
        DimKind::Op(op, a, b) => {
            let (a, b) = (dim_text(a), dim_text(b));
            match op {
                DimOp::Add => format!("({a} + {b})"),
                DimOp::Sub => format!("({a} - {b})"),
                DimOp::Mul => format!("({a} * {b})"),
                DimOp::FloorDiv => format!("({a} // {b})"),
                DimOp::Mod => format!("({a} % {b})"),
                DimOp::Min => format!("min({a}, {b})"),
                DimOp::Max => format!("max({a}, {b})"),
            }
        }
    }
}

impl<'a> Scoped<'a> for Closing<'_, 'a, '_> {
    fn locals(&mut self) -> &mut Vec<FxHashSet<&'a str>> {
        &mut self.locals
    }

    /// What has no value is left: it is refused where the check comes to it.
    fn outside(&mut self, expr: &'a ast::Expr, _: &'a ast::ExprName) {
        let Ok(value) = self.parser.eval(expr, None) else { return };
        if let Value::Factory(at) = value {
            return self.helper(at, expr);
        }
        let text = match &value {
            Value::Str(text) if self.quoted > 0 => plain(text.as_str()).map(|text| format!("'{text}'")),
            other => self.literal(other),
        };
        match text {
            None => {
                let found = value.describe();
                self.refuse(format!("`{}` is {found}, which is not kept", self.parser.text(expr)));
            }
            Some(text) if self.parser.source.slice(expr.range()) == text => {}
            Some(text) => self.edits.push((expr.range(), text)),
        }
    }
}

impl<'a> Visitor<'a> for Closing<'_, 'a, '_> {
    fn visit_stmt(&mut self, stmt: &'a ast::Stmt) {
        match stmt {
            ast::Stmt::FunctionDef(def) => walk_function(self, def),
            // The exception itself is not read.
            ast::Stmt::Raise(raise) => {
                if let Some(ast::Expr::Call(call)) = raise.exc.as_deref() {
                    self.visit_arguments(&call.arguments);
                }
            }
            other => walk_stmt(self, other),
        }
    }

    fn visit_f_string(&mut self, string: &'a ast::FString) {
        self.quoted += 1;
        walk_f_string(self, string);
        self.quoted -= 1;
    }

    fn visit_expr(&mut self, expr: &'a ast::Expr) {
        if self.refusal.is_some() {
            return;
        }
        walk_scoped(self, expr);
    }
}
