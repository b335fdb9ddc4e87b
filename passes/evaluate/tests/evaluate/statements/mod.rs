//! Evaluation of functions of statements.

mod control;
mod ops;
mod order;
mod products;
mod random;
mod reductions;

use tf_core::diag::Style;
use tf_core::{AnyFunction, Arena, Diagnostic};
use tf_dsl::{DslOptions, parse_file};
use tf_evaluate::{Engine, Reference, Request, bind_dims};
use tf_value::Tensor;

use crate::common::context;

const IMPORTS: &str = r#"from tilefoundry import DType, DimVar, TensorType, module, prim_func
from tilefoundry.dsl import B, Mesh, S, T, Tensor, Topology
from tilefoundry.ir.types.shard import Layout, ShardLayout
from tilefoundry.target import CpuTarget, CudaTarget
"#;

/// A module whose entry is a device function `f` with these parameters and lines.
pub fn kernel(params: &str, lines: &str) -> String {
    let body: String = lines.lines().map(|line| format!("        {line}\n")).collect();
    format!(
        "{IMPORTS}\n@module(entry=\"f\", target=CudaTarget(\"nvidia.h200_sxm\"))\nclass M:\n    \
         @prim_func(target=CudaTarget(\"nvidia.h200_sxm\"))\n    def f({params}):\n{body}"
    )
}

/// A module whose entry is a host function `f` with these parameters and lines.
pub fn host(params: &str, lines: &str) -> String {
    let body: String = lines.lines().map(|line| format!("        {line}\n")).collect();
    format!(
        "{IMPORTS}\n@module(entry=\"f\", target=CpuTarget())\nclass M:\n    @prim_func(target=CpuTarget())\n    \
         def f({params}):\n{body}"
    )
}

/// The outputs of the entry of a DSL source, or the rendered error.
pub fn run(source: &str, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
    let arena = Arena::new();
    let (cx, rules) = &context(&arena);
    let file = cx.sources().add("t.py", source);
    let show = |error: &Diagnostic| error.render(cx.sources(), Style::Plain);
    let module = parse_file(cx, file, &DslOptions::default());
    let module = module.map_err(|errors| errors.iter().map(show).collect::<String>())?;
    let entry = module.entry_function().unwrap();
    let AnyFunction::Tir(function) = entry else { panic!("the entry is of values") };
    let (params, _) = function.inputs_and_outputs();
    let dims = bind_dims(&params, inputs, entry.span()).map_err(|error| show(&error))?;
    let request = Request { cx, module, entry, inputs, outputs: &[], dims: &dims, argument: None };
    Reference::new(std::sync::Arc::clone(rules)).run(&request).map_err(|error| show(&error))
}

/// Small integers as f32, exact in every dtype.
pub fn numbers(shape: &[usize]) -> Tensor {
    let count: usize = shape.iter().product();
    Tensor::from_f32(shape, &(0..count).map(|i| (i * 7 % 5) as f32 - 2.0).collect::<Vec<_>>()).unwrap()
}

/// Layout text: factors and strides of a matrix whose axes the mesh axes of these extents split, and the attribute of each mesh axis.
///
/// `splits` says for each mesh axis which axis of the matrix it splits, if one. `own`: as registers, where splits have no stride.
pub fn placed([rows, columns]: [i64; 2], mesh: &[i64], splits: &[Option<usize>], own: bool) -> String {
    let (mut factors, mut owners) = (Vec::new(), vec![None; mesh.len()]);
    for (axis, mut rest) in [rows, columns].into_iter().enumerate() {
        for (at, &extent) in mesh.iter().enumerate() {
            if splits[at] == Some(axis) && rest > 1 {
                owners[at] = Some(factors.len());
                factors.push((extent, true));
                rest /= extent;
            }
        }
        factors.push((rest, false));
    }
    let mut strides = vec![0; factors.len()];
    let mut next = 1;
    for (at, &(extent, split)) in factors.iter().enumerate().rev() {
        if !(own && split) {
            strides[at] = next;
            next *= extent;
        }
    }
    let list = |values: Vec<String>| format!("({},)", values.join(", "));
    let factors = list(factors.iter().map(|(extent, _)| extent.to_string()).collect());
    let strides = list(strides.iter().map(i64::to_string).collect());
    let attrs = list(owners.iter().map(|owner| owner.map_or("B()".to_owned(), |at| format!("S({at})"))).collect());
    format!("ShardLayout(layout=Layout({factors}, {strides}), attrs={attrs}, mesh=m)")
}
