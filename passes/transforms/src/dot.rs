//! `emit-dot`: HIR functions as Graphviz text.

use std::fmt::Write;

use tf_core::{AnyFunction, ExprKind, Function, Module, Result};
use tf_dataflow::DataflowGraph;
use tf_framework::{Artifact, Pass, PassCx};

/// Leaves the HIR functions as a graph in Graphviz's language: one node a value, edges from operands to users.
///
/// `dot -Tsvg` draws it. Functions are clusters; parameters are boxes, loops have rounded corners.
#[derive(Clone, Pass)]
#[pass(name = "emit-dot")]
pub struct EmitDot {}

impl Pass for EmitDot {
    fn run<'c>(&self, module: Module<'c>, cx: &mut PassCx<'_, 'c>) -> Result<Module<'c>> {
        let mut text = format!("digraph {} {{\n  node [fontname=monospace];\n", quoted(module.name.as_str()));
        for (number, function) in module.functions.iter().enumerate() {
            if let AnyFunction::Hir(function) = function {
                draw(&mut text, number, *function);
            }
        }
        text.push_str("}\n");
        cx.emit_artifact(Artifact::text("dot", "dot", text));
        Ok(module)
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

fn draw(out: &mut String, number: usize, function: Function<'_>) {
    let Some(body) = function.body else { return };
    let graph = DataflowGraph::new(&[body]);
    let _ = writeln!(out, "  subgraph cluster_{number} {{\n    label={};", quoted(function.name.as_str()));
    for (at, expr) in graph.order().iter().enumerate() {
        let (what, style) = match expr.kind {
            ExprKind::Var { name, .. } => (name.to_string(), " shape=box"),
            ExprKind::Constant(literal) => (literal.to_string(), " shape=plaintext"),
            ExprKind::Tuple(_) => ("tuple".to_owned(), ""),
            ExprKind::Grid(region) => {
                let range =
                    format!("for {} in {}:{}:{}", region.induction.describe(), region.start, region.stop, region.step);
                (range.replace('`', ""), " shape=box style=rounded")
            }
            ExprKind::Call { callee: tf_core::Callee::Op(op), .. } => (op.decl.name.to_string(), ""),
            ExprKind::Call { callee: tf_core::Callee::Function(callee), .. } => (format!("call {}", callee.name), ""),
            ExprKind::ShapeOf { axis, .. } => (format!("extent {axis}"), ""),
            ExprKind::SymbolRef(name) => (format!("@{name}"), ""),
        };
        let label = quoted(&format!("{what}\n{}", expr.ty()));
        let _ = writeln!(out, "    n{number}_{at} [label={label}{style}];");
    }
    for (at, &expr) in graph.order().iter().enumerate() {
        tf_core::walk::operands(expr, |operand| {
            let from = graph.position(operand).unwrap_or_default();
            let _ = writeln!(out, "    n{number}_{from} -> n{number}_{at};");
        });
    }
    let root = graph.order().len() - 1;
    let _ = writeln!(out, "    r{number} [label=return shape=plaintext];\n    n{number}_{root} -> r{number};\n  }}");
}
