//! Statements that Python refuses where they stand, although its grammar has them.

use ruff_python_ast as ast;
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::FxHashSet;

/// What is around a statement.
#[derive(Clone, Copy, Default)]
struct Place {
    /// Whether it is one of the file itself.
    at_file_level: bool,
    in_function: bool,
    in_async: bool,
    in_loop: bool,
}

/// What is wrong, in the order of the file.
pub(crate) fn misplaced(file: &[ast::Stmt]) -> Vec<(TextRange, String)> {
    let mut found = late_futures(file);
    let mut suites = vec![(file, Place { at_file_level: true, ..Place::default() })];
    while let Some((suite, place)) = suites.pop() {
        for stmt in suite {
            found.extend(refusal(stmt, place).map(|message| (stmt.range(), message.to_owned())));
            inside(stmt, place, &mut suites);
            if let ast::Stmt::FunctionDef(def) = stmt {
                let mut names = FxHashSet::default();
                let params = def.parameters.iter().map(|param| &param.as_parameter().name);
                for name in params.filter(|name| !names.insert(name.as_str())) {
                    found.push((name.range, format!("two parameters are called `{name}`")));
                }
            }
        }
    }
    found.sort_by_key(|(range, _)| range.start());
    found
}

/// The statements inside a statement, with what is around them.
fn inside<'a>(stmt: &'a ast::Stmt, place: Place, suites: &mut Vec<(&'a [ast::Stmt], Place)>) {
    let in_loop = Place { in_loop: true, ..place };
    match stmt {
        ast::Stmt::FunctionDef(def) => {
            suites.push((&def.body, Place { in_function: true, in_async: def.is_async, ..Place::default() }));
        }
        ast::Stmt::ClassDef(class) => suites.push((&class.body, Place::default())),
        ast::Stmt::For(stmt) => suites.extend([(&stmt.body[..], in_loop), (&stmt.orelse, place)]),
        ast::Stmt::While(stmt) => suites.extend([(&stmt.body[..], in_loop), (&stmt.orelse, place)]),
        ast::Stmt::With(stmt) => suites.push((&stmt.body, place)),
        ast::Stmt::If(stmt) => {
            suites.push((&stmt.body, place));
            suites.extend(stmt.elif_else_clauses.iter().map(|clause| (&clause.body[..], place)));
        }
        ast::Stmt::Match(stmt) => suites.extend(stmt.cases.iter().map(|case| (&case.body[..], place))),
        ast::Stmt::Try(stmt) => {
            suites.extend([&stmt.body, &stmt.orelse, &stmt.finalbody].map(|suite| (&suite[..], place)));
            let handlers = stmt.handlers.iter().map(|ast::ExceptHandler::ExceptHandler(handler)| &handler.body);
            suites.extend(handlers.map(|suite| (&suite[..], place)));
        }
        _ => {}
    }
}

fn refusal(stmt: &ast::Stmt, place: Place) -> Option<&'static str> {
    let wrong = |is_wrong: bool, message| is_wrong.then_some(message);
    match stmt {
        ast::Stmt::Return(_) => wrong(!place.in_function, "`return` outside a function"),
        ast::Stmt::Break(_) => wrong(!place.in_loop, "`break` outside a loop"),
        ast::Stmt::Continue(_) => wrong(!place.in_loop, "`continue` outside a loop"),
        ast::Stmt::Nonlocal(_) => wrong(place.at_file_level, "`nonlocal` outside a function"),
        ast::Stmt::With(stmt) => wrong(stmt.is_async && !place.in_async, "`async with` outside an async function"),
        ast::Stmt::For(stmt) => wrong(stmt.is_async && !place.in_async, "`async for` outside an async function"),
        ast::Stmt::ImportFrom(import) => {
            let is_star = import.names.iter().any(|alias| alias.name.as_str() == "*");
            wrong(is_star && !place.at_file_level, "`import *` inside a function or class")
        }
        ast::Stmt::Expr(expr) => misplaced_value(&expr.value, place),
        ast::Stmt::Assign(assign) => {
            assign.targets.iter().find_map(|target| starred(target)).or_else(|| misplaced_value(&assign.value, place))
        }
        ast::Stmt::Try(stmt) => {
            let count = stmt.handlers.len().saturating_sub(1);
            let is_default = |ast::ExceptHandler::ExceptHandler(handler): &ast::ExceptHandler| handler.type_.is_none();
            wrong(stmt.handlers[..count].iter().any(is_default), "an `except:` without a type is the last one")
        }
        _ => None,
    }
}

/// A whole value that only functions have.
fn misplaced_value(value: &ast::Expr, place: Place) -> Option<&'static str> {
    match value {
        ast::Expr::Yield(_) | ast::Expr::YieldFrom(_) if !place.in_function => Some("`yield` outside a function"),
        ast::Expr::Await(_) if !place.in_async => Some("`await` outside an async function"),
        _ => None,
    }
}

/// What is wrong with the starred parts of a target.
fn starred(target: &ast::Expr) -> Option<&'static str> {
    let parts = match target {
        ast::Expr::Starred(_) => return Some("a starred target stands in a tuple or list"),
        ast::Expr::Tuple(tuple) => &tuple.elts,
        ast::Expr::List(list) => &list.elts,
        _ => return None,
    };
    let count = parts.iter().filter(|part| part.is_starred_expr()).count();
    (count > 1).then_some("a target has one starred part at most")
}

/// Imports from `__future__` behind other statements.
fn late_futures(file: &[ast::Stmt]) -> Vec<(TextRange, String)> {
    let is_future = |stmt: &&ast::Stmt| match stmt {
        ast::Stmt::ImportFrom(import) => import.module.as_ref().is_some_and(|name| name.as_str() == "__future__"),
        _ => false,
    };
    let first = file.iter().take_while(|stmt| is_future(stmt) || crate::body::is_docstring(stmt)).count();
    let late = file[first..].iter().filter(is_future);
    late.map(|stmt| (stmt.range(), "imports from `__future__` stand before all other statements".to_owned())).collect()
}
