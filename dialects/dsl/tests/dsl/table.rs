//! Names that authoring files import, and what some of them stand for.

use crate::common::with_source;

/// `line:column message | help` of the errors of a source.
fn errors(source: &str) -> Vec<String> {
    with_source(source, |_, result| {
        let errors = result.err().unwrap_or_default();
        let shown = errors.iter().map(|error| {
            let (line, column) = error.span.map_or((0, 0), |span| (span.line.get(), span.column));
            format!("{line}:{column} {} | {}", error.message, error.help.as_deref().unwrap_or_default())
        });
        shown.collect()
    })
}

/// Of a file that imports all that the package has, the first two lines, and then goes on so.
fn file(rest: &str) -> Vec<String> {
    errors(&format!("{TABLE}{rest}@func\ndef f(x: Tensor[(8, 4), \"f32\"]):\n    return x\n"))
}

/// The names of the package, each from where it is.
const TABLE: &str = "\
from tilefoundry import func, prim_func, intrinsic, module, lower, build, compile, jit, CompilerOptions, view
from tilefoundry import DType, TensorType, TupleType, Type, DimVar, Call, Constant, Expr, Op, Var, Stmt, VerifyError
from tilefoundry import B, P, S, Broadcast, Partial, Split, Dynamic, ShardAttr, ShardLayout, Layout, LayoutBase
from tilefoundry import ComposedLayout, Mesh, Topology, IntTuple, TypeInferContext, DimVarRangePat, Pattern, TupleGetItem
from tilefoundry.dsl import tf, T, ConstTensor, Tensor, func, Pattern, DimVarRangePat, DimVar, ceildiv, Mesh, Topology
from tilefoundry.dsl import Split, Partial, Broadcast, S, P, B, ReduceKind, UnaryKind, BinaryKind
from tilefoundry.dsl.storage import host, gmem, smem, rmem, tmem, umat
from tilefoundry.module import module
from tilefoundry.ir.types.shard import B, S, P, ComposedLayout, Dynamic, Layout, Mesh, ShardLayout, Topology
from tilefoundry.ir.types.dim import DimVar, ceildiv
from tilefoundry.ir.core.pattern import DimVarRangePat
from tilefoundry.target import CudaTarget, CpuTarget, AmxTarget
";

#[test]
fn the_whole_table_is_imported() {
    assert_eq!(file(""), [""; 0]);
}

#[test]
fn names_of_the_host_are_refused_where_they_are_used() {
    let compiles = "it compiles or runs a module, which files that are read do not: run `tf-opt` on this file";
    let inspects = "it is a class of the IR for programs that build or inspect it";
    for (name, why) in [("jit", compiles), ("view", compiles), ("TupleGetItem", inspects), ("ShardAttr", inspects)] {
        let used = format!("@func\ndef g(x: Tensor[({name},), \"f32\"]):\n    return x\n");
        assert_eq!(file(&used), [format!("14:18 `{name}` cannot be used: {why} | ")]);
    }
    let source = "import tilefoundry\nN = tilefoundry.jit\n@tilefoundry.func\ndef f(x: tilefoundry.dsl.Tensor[(N,), \"f32\"]):\n    return x\n";
    assert_eq!(errors(source), [format!("4:34 `N` cannot be used: {compiles} | ")]);
}

#[test]
fn ownership_may_be_decided_at_run_time() {
    let placed = |attr: &str, body: &str| {
        errors(&format!(
            "{TABLE}m = Mesh((Topology(\"thread\", 4),), (4,), (\"t\",))\n\
             L = ShardLayout(layout=Layout((8, 4), (4, 1)), attrs=({attr},), mesh=m)\n\
             @func(topologies=(Topology(\"thread\", 4),))\ndef f(x: Tensor[(8, 4), \"f32\", L, \"smem\"]):\n    return {body}\n"
        ))
    };
    assert_eq!(placed("Dynamic()", "x"), [""; 0]);
    let refused = "17:12 `add` needs the owner of every element, but on `t` ownership is Dynamic | reshard the operand to a static placement first";
    assert_eq!(placed("Dynamic()", "x + x"), [refused]);
    assert_eq!(placed("Dynamic(0)", "x")[0], "14:63 `Dynamic` takes 0 arguments, found 1 | ");
}

#[test]
fn kinds_are_enums() {
    let reduced = |kind: &str| {
        errors(&format!(
            "{TABLE}@func\ndef f(x: Tensor[(8, 4), \"f32\"]):\n    return tf.reduce(x, axes=(1,), kind={kind})\n"
        ))
    };
    for kind in ["ReduceKind.MAX", "ReduceKind(\"max\")", "ReduceKind.ABS_MAX.value", "\"sum\""] {
        assert_eq!(reduced(kind), [""; 0], "{kind}");
    }
    for (kind, refused) in [
        (
            "BinaryKind.MAX",
            "15:41 `kind` of `reduce` must be a string naming a ReduceKind, found the kind BinaryKind.MAX | write `ReduceKind.MAX`",
        ),
        (
            "UnaryKind.EXP",
            "15:41 `kind` of `reduce` must be a string naming a ReduceKind, found the kind UnaryKind.EXP | ",
        ),
        (
            "ReduceKind.max",
            "15:41 `ReduceKind` has no member `max`; it has MEAN, SUM, ABS_MAX, MAX | did you mean `MAX`?",
        ),
        (
            "ReduceKind(\"maxx\")",
            "15:52 no `ReduceKind` is \"maxx\"; they are mean, sum, abs_max, max | did you mean `max`?",
        ),
        ("ReduceKind.MAX.size", "15:41 `ReduceKind.MAX` has no attribute `size` | a member has `name` and `value`"),
    ] {
        assert_eq!(reduced(kind), [refused], "{kind}");
    }
    // Where it is written, not where it is used.
    let unused = file("K = UnaryKind.NOPE\n");
    assert!(unused[0].starts_with("13:5 `UnaryKind` has no member `NOPE`; it has NEG, ABS,"), "{unused:?}");
    let compared = "assert ReduceKind.MAX == ReduceKind(\"max\") and ReduceKind.MAX != ReduceKind.SUM\n\
        assert {ReduceKind.MAX: 3}[ReduceKind.MAX] == 3 and ReduceKind.MAX.name == \"MAX\"\n";
    assert_eq!(file(compared), [""; 0]);
}

#[test]
fn architectures_have_two_names() {
    let target = |arguments: &str| {
        errors(&format!(
            "{TABLE}@module(target=CudaTarget({arguments}))\nclass M:\n    @func\n    def f(x: Tensor[(4,), \"f32\"]):\n        return x\n"
        ))
    };
    for arguments in ["arch=\"sm_90\"", "arch=\"nvidia.sm90\"", "\"nvidia.sm90\"", "architecture=\"sm_90\""] {
        assert_eq!(target(&format!("\"nvidia.h200_sxm\", {arguments}")), [""; 0], "{arguments}");
    }
    assert_eq!(
        target("\"nvidia.h200_sxm\", arch=\"sm_100\""),
        [
            "13:51 the device `nvidia.h200_sxm` has the architecture `nvidia.sm90`, not `sm_100` | leave the architecture out"
        ]
    );
    assert_eq!(
        target("arch=\"sm_100\""),
        ["13:16 `CudaTarget` needs `device` | write `CudaTarget(\"nvidia.b200_sxm\")`"]
    );
}
