//! Bodies of `@prim_func`: what is refused, with its place.

use tf_core::node::TirCallee;
use tf_core::{AnyFunction, Module, StmtKind};

use crate::common::with_source;

const HEAD: &str = "from tilefoundry import DType, TensorType, func, prim_func\n\
    from tilefoundry.dsl import DimVar, Layout, Mesh, T, Tensor, Topology\n\
    from tilefoundry.dsl.T import copy, fill\n\
    from tilefoundry.dsl.tf import relu\n\
    N = DimVar(\"n\", 1, 65)\n";

fn source(decorator: &str, params: &str, lines: &[&str]) -> String {
    let body: String = lines.iter().map(|line| format!("    {line}\n")).collect();
    format!("{HEAD}{decorator}\ndef f({params}):\n{body}")
}

/// The messages with `line:column`, lines counted from the first of the body.
fn refusals_of(decorator: &str, params: &str, lines: &[&str]) -> Vec<String> {
    with_source(&source(decorator, params, lines), |_, result| {
        let errors = result.err().unwrap_or_default();
        let place = |d: &tf_core::Diagnostic| d.span.map_or((0, 0), |s| (s.line.get() as i32 - 7, s.column as i32 - 4));
        errors.iter().map(|d| format!("{}:{} {}", place(d).0, place(d).1, d.message)).collect()
    })
}

/// The same with a line of the file above.
fn refusals_with(line: &str, params: &str, lines: &[&str]) -> Vec<String> {
    let found = refusals_of(&format!("{line}@prim_func"), params, lines);
    found
        .iter()
        .map(|message| {
            let (row, rest) = message.split_once(':').unwrap_or_default();
            format!("{}:{rest}", row.parse::<i32>().unwrap_or_default() - 1)
        })
        .collect()
}

fn refusals(params: &str, lines: &[&str]) -> Vec<String> {
    refusals_of("@prim_func", params, lines)
}

const XY: &str = "x: Tensor[(4, N), \"f32\"], n: Tensor[(), \"i64\"], y: Tensor[(4, N), \"f32\"]";

#[test]
fn statements_that_are_read() {
    for lines in [
        &["copy(x, y)", "fill(y, 0.5)", "T.fill_(y, 0.0)", "copy_(x, y)"][..],
        &["t = Tensor((4, N), \"f32\", None, \"smem\")", "T.copy(x, t)", "T.copy(t, y)"],
        &["t = T.alloc_tensor(TensorType((4, N), DType.f32))", "T.copy(x, t)"],
        &["for i in range(N):", "    T.copy(x, y)", "for j in range(0, n, 2):", "    T.copy(x, y)", "    return"],
        &["for i in range(x.shape[1] // 2):", "    T.copy(x, y)"],
        &["two = 2 * 2", "z = x", "for i in range(two):", "    T.copy(z, y)"],
        &["with Mesh((Topology(\"thread\", 8),), (8,)) as m:", "    T.copy(x, y)", "    T.sync(m)"],
        &[
            "with Mesh((Topology(\"thread\", 64),), Layout((2, 32), (32, 1)), names=(\"w\", \"l\")) as m:",
            "    if m.w == 0 and not m.l > n % 4 or n < -1:",
            "        T.sync(m[0, :])",
        ],
        &["pass"],
    ] {
        assert_eq!(refusals(XY, lines), [""; 0], "{lines:?}");
    }
}

#[test]
fn statements_that_are_refused() {
    for (lines, want) in [
        (&["relu(x, y)"][..], "1:1 the `relu` of `@func` bodies is another op than that of a `@prim_func`"),
        (&["T.nothing(x)"], "1:1 unknown op `nothing`"),
        (&["nothing_(x)"], "1:1 unknown op `nothing_`"),
        (
            &["y = x + x"],
            "1:5 `+` of a `@prim_func` is between scalars, found a run-time value of type Tensor[(4, n), \"f32\"]",
        ),
        (&["t = T.copy(x, y)"], "1:5 `T.copy(x, y)` is an effect and has no value"),
        (&["T.alloc_tensor(TensorType((4,), DType.f32))"], "1:1 the value of `T.alloc_tensor` is not used"),
        (&["x"], "1:1 an expression statement has no effect"),
        (&["a, b = x, y"], "1:1 an assignment of a `@prim_func` has one name as target"),
        (&["y += x"], "1:1 an augmented assignment is not part of the language"),
        (&["return x"], "1:1 `return` of a `@prim_func` has no value: outputs are its last parameters"),
        (
            &["for i in tile(4):", "    T.copy(x, y)"],
            "1:10 a loop of a `@prim_func` runs over `range(...)`, not `tile(4)`",
        ),
        (&["for i in range(4, step=2):", "    pass"], "1:19 arguments of `range` are positional"),
        (&["for i in range():", "    pass"], "1:10 `range` takes 1 to 3 arguments, found 0"),
        (&["for i, j in range(4):", "    pass"], "1:5 the variable of a loop is one name"),
        (
            &["for i in range(x):", "    pass"],
            "1:16 a bound of a loop is an integer of rank 0, found Tensor[(4, n), \"f32\"]",
        ),
        (&["for i in range(4):", "    pass", "else:", "    pass"], "4:5 `else` of a loop is not part of the language"),
        (&["while n:", "    pass"], "1:7 a condition is a bool of rank 0, found Tensor[(), \"i64\"]"),
        (&["if x:", "    pass"], "1:4 a condition is a bool of rank 0, found Tensor[(4, n), \"f32\"]"),
        (&["with open(x) as m:", "    pass"], "1:1 `with` opens a mesh, not `open(x)`"),
        (&["try:", "    pass", "finally:", "    pass"], "1:1 `try` is not part of a `@prim_func` body"),
        (&["def g():", "    pass"], "1:1 a function is not part of a `@prim_func` body"),
        (&["z: int = 3"], "1:1 an annotated assignment is not part of a `@prim_func` body"),
        (&["x[0]"], "1:1 an expression statement has no effect"),
        (&["T.copy(x[0:2, :], y)"], "1:8 a subscript of a tensor is not part of a `@prim_func` body"),
        (&["T.copy(x, y, z)"], "1:1 `copy` takes 2 arguments, found 3"),
        (&["T.copy(x)"], "1:1 `copy` needs `dst`"),
        (&["T.copy(x, dst=y, size=3)"], "1:18 `copy` has no parameter `size`; it has src, dst"),
        (&["T.copy(x, n)"], "1:1 `T.copy` takes operands of one dtype, found f32 and i64"),
        (&["t = Tensor((4,))"], "1:5 `Tensor` needs a shape and a dtype"),
    ] {
        assert_eq!(refusals(XY, lines).first().map(String::as_str), Some(want), "{lines:?}");
    }
}

#[test]
fn names_of_an_inner_block_end_with_it() {
    let lines =
        ["for i in range(4):", "    t = Tensor((4, N), \"f32\")", "    T.copy(x, t)", "T.copy(t, y)", "T.copy(u, y)"];
    assert_eq!(refusals(XY, &lines), ["4:8 the name `t` is not defined", "5:8 the name `u` is not defined"]);
}

#[test]
fn outputs_are_counted() {
    let count = |decorator: &str| {
        with_source(&source(decorator, XY, &["pass"]), |_, result| match result.map(|module| module.entry_function()) {
            Ok(Some(tf_core::AnyFunction::Tir(function))) => function.output_count.to_string(),
            Ok(_) => panic!("no entry"),
            Err(errors) => errors[0].message.clone(),
        })
    };
    assert_eq!(count("@prim_func"), "1");
    assert_eq!(count("@prim_func(outputs=2)"), "2");
    assert_eq!(count("@prim_func(outputs=4)"), "`f` has 3 parameters, so 4 cannot be outputs");
    assert_eq!(count("@prim_func(outputs=\"y\")"), "`outputs` is a number of parameters, found the string \"y\"");
    assert_eq!(count("@prim_func(3)"), "arguments of `@prim_func` are given by keyword");
}

const KERNEL: &str =
    "@prim_func\ndef kernel(a: Tensor[(4, N), \"f32\"], b: Tensor[(4, N), \"f32\"]):\n    T.copy(a, b)\n";

#[test]
fn calls_and_launches() {
    let with = |statement: &str| {
        let text = source("@prim_func", XY, &[statement]).replace("@prim_func\n", &format!("{KERNEL}@prim_func\n"));
        with_source(&text, |_, result| result.err().map(|errors| errors[0].message.clone()).unwrap_or_default())
    };
    for good in ["kernel(x, y)", "launch(kernel, x, y, grid=(4,), block=32)"] {
        assert_eq!(with(good), "", "{good}");
    }
    for (wrong, want) in [
        ("kernel(x)", "`kernel` takes 2 arguments, found 1"),
        ("kernel(x, b=y)", "arguments of the function `kernel` are positional"),
        ("kernel(x, n)", "`b` of `kernel` is Tensor[(4, n), \"f32\"], found Tensor[(), \"i64\"]"),
        ("z = kernel(x, y)", "`kernel(x, y)` is an effect and has no value"),
        ("launch()", "`launch` needs the function or module to start"),
        (
            "launch(x, y, grid=1, block=1)",
            "`launch` starts a function or a child of the module, found a run-time value of type Tensor[(4, n), \"f32\"]",
        ),
        ("launch(kernel, x, y, grid=1)", "`launch` needs `grid` and `block`"),
        ("launch(kernel, x, y, grid=1, block=1, grid=2)", "`launch` gets `grid` twice"),
        ("launch(kernel, x, y, grid=(1, 1, 1, 1), block=1)", "`grid` is a tuple of one to three extents, found 4"),
        ("launch(kernel, x, y, grid=(0.5,), block=1)", "an extent of `grid` is an integer, found the float 0.5"),
        ("launch(kernel, x, y, grid=N, block=1)", "`n` is the extent of 2 axes that are passed on"),
        (
            "launch(kernel, x, y, grid=DimVar(\"k\", 1, 3), block=1)",
            "no tensor that is passed on has an axis of extent `k`",
        ),
    ] {
        assert_eq!(with(wrong), want, "{wrong}");
    }
}

/// The names of the parameters of a function, and how many of them are outputs.
fn parameters(module: Module<'_>, name: &str) -> (Vec<String>, usize) {
    let Some(AnyFunction::Tir(function)) = module.lookup(name) else { panic!("no function `{name}`") };
    let names = function.params.iter().filter_map(|param| param.var_name());
    (names.map(|name| name.to_string()).collect(), function.output_count)
}

#[test]
fn device_functions_take_the_extents_that_they_mention() {
    const MODULE: &str = "from tilefoundry import module, prim_func\n\
        from tilefoundry.dsl import DimVar, T, Tensor\n\
        from tilefoundry.target import CpuTarget, CudaTarget\n\
        N = DimVar(\"n\", 1, 65)\n\
        @module(entry=\"f\", target=CudaTarget(\"nvidia.h200_sxm\"))\n\
        class M:\n\
        \x20   @prim_func\n\
        \x20   def kernel(a: Tensor[(4, N), \"f32\"], b: Tensor[(4, N), \"f32\"]):\n\
        \x20       T.copy(a, b)\n\
        \x20   @prim_func\n\
        \x20   def f(x: Tensor[(4, N), \"f32\"], y: Tensor[(4, N), \"f32\"]):\n\
        \x20       kernel(x, y)\n";
    with_source(MODULE, |_, result| {
        let module = result.unwrap();
        assert_eq!(parameters(module, "kernel"), (["a", "b", "a_shape_1"].map(str::to_owned).to_vec(), 1));
        assert_eq!(parameters(module, "f"), (["x", "y", "x_shape_1"].map(str::to_owned).to_vec(), 1));
    });
    let host = MODULE.replace("@prim_func\n", "@prim_func(target=CpuTarget())\n");
    with_source(&host, |_, result| assert_eq!(parameters(result.unwrap(), "kernel").0, ["a", "b"]));
    let written = |ty: &str| {
        let own = format!("b: Tensor[(4, N), \"f32\"], a_shape_1: Tensor[(), \"{ty}\", \"rmem\"]):");
        MODULE.replace("b: Tensor[(4, N), \"f32\"]):", &own)
    };
    with_source(&written("i32"), |_, result| {
        assert_eq!(parameters(result.unwrap(), "kernel").0, ["a", "b", "a_shape_1"]);
    });
    with_source(&written("f32"), |_, result| {
        let message = "`a_shape_1` has the name of a hidden extent, found Tensor[(), \"f32\", \"rmem\"]";
        assert_eq!(result.unwrap_err()[0].message, message);
    });
    let lost = MODULE.replace("x: Tensor[(4, N)", "x: Tensor[(4, 4)").replace("y: Tensor[(4, N)", "y: Tensor[(4, 4)");
    let lost = lost.replace("kernel(x, y)", "t = Tensor((4, N), \"f32\")\n        kernel(t, t)");
    with_source(&lost, |_, result| {
        let message = "`kernel` needs `a_shape_1`, an extent that no parameter has here";
        assert_eq!(result.unwrap_err()[0].message, message);
    });
}

#[test]
fn instructions_are_compile_time_values() {
    let name = "SM80_16x8x16_F32BF16BF16F32_TN";
    let with = |lines: &[&str]| {
        let params = "a: Tensor[(16, 16), \"bf16\"], b: Tensor[(16, 8), \"bf16\"], c: Tensor[(16, 8), \"f32\"]";
        let mut body = vec![
            "step = T.cuda.mma.SM80_16x8x16_F32BF16BF16F32_TN".to_owned(),
            "atom = T.cuda.mma.atom(op=step)".to_owned(),
            "with Mesh((Topology(\"thread\", 32),), Layout((4, 8), (1, 4))) as warp:".to_owned(),
        ];
        body.extend(lines.iter().map(|line| format!("    {line}")));
        let body: Vec<&str> = body.iter().map(String::as_str).collect();
        refusals(params, &body).first().cloned().unwrap_or_default()
    };
    let alloc = |shape: &str, dtype: &str, layout: &str| format!("Tensor({shape}, {dtype}, {layout}, \"rmem\")");
    let lhs = format!("l = {}", alloc("step.shape_mnk[::2]", "step.dtype_a", "atom.A"));
    let rhs = format!("r = {}", alloc("(16, 8)", "\"bf16\"", "atom.B"));
    let acc = format!("d = {}", alloc("(16, 8)", "atom.op.dtype_c", "atom.C"));
    assert_eq!(with(&[&lhs, &rhs, &acc, "T.mma(d, l, r, atom=atom)", "T.sync(atom.required_scope)"]), "");
    assert_eq!(with(&[&lhs, &rhs, &acc, &format!("T.mma(d, l, r, atom=\"{name}\")")]), "");
    for (line, want) in [
        ("x = T.cuda.nothing", "4:9 the platform `T.cuda` has no `nothing`"),
        ("x = T.cuda.mma.SM80_16x8x16", "4:9 there is no matrix instruction `SM80_16x8x16`"),
        ("x = atom.D", "4:9 an atom has no attribute `D`"),
        ("x = step.shape", "4:9 an instruction has no attribute `shape`"),
        ("x = T.cuda.mma.atom(step=step)", "4:25 `T.cuda.mma.atom` has no parameter `step`; it has op"),
        ("x = T.cuda.mma.atom()", "4:9 `T.cuda.mma.atom` needs `op`"),
        ("x = T.cuda.mma.atom(op=3)", "4:28 `op` of `T.cuda.mma.atom` is an instruction, found the integer 3"),
        ("x = step(a)", "4:9 the instruction `SM80_16x8x16_F32BF16BF16F32_TN` is not called"),
        ("T.copy(a, atom)", "4:15 expected a tensor, found an atom of `SM80_16x8x16_F32BF16BF16F32_TN`"),
    ] {
        assert_eq!(with(&[line]), want, "{line}");
    }
}

#[test]
fn conditions_are_scalars() {
    let params = "x: Tensor[(4, N), \"f32\"], n: Tensor[(), \"i64\"], p: Tensor[(), \"bool\"], e: Tensor[(), \"f32\"]";
    for condition in [
        "p",
        "not p or n < 3 and n != N",
        "n % 2 == 0",
        "(n + 1) * 2 // 3 - n >= x.shape[1]",
        "e * 0.5 > -e",
        "e > 0.5 * 2 or True",
        "3 < 4",
    ] {
        assert_eq!(refusals(params, &[&format!("if {condition}:"), "    return"]), [""; 0], "{condition}");
        assert_eq!(refusals(params, &[&format!("while {condition}:"), "    T.relu(x, x)"]), [""; 0], "{condition}");
    }
    let with_mesh = [
        "with Mesh((Topology(\"thread\", 8),), (4, 2), (\"a\", \"b\")) as m:",
        "    if m.a == 0:",
        "        T.relu(x, x)",
    ];
    assert_eq!(refusals(params, &with_mesh), [""; 0]);
    let elif = ["if n == 0:", "    T.relu(x, x)", "elif n == 1:", "    pass", "else:", "    return"];
    assert_eq!(refusals(params, &elif), [""; 0]);
    for (condition, want) in [
        ("n", "1:4 a condition is a bool of rank 0, found Tensor[(), \"i64\"]"),
        ("n ** 2 == 4", "1:4 the operator `**` is not part of the language"),
        ("0 < n < 4", "1:4 a chained comparison is not part of the language"),
        (
            "x > 0.5",
            "1:4 `>` of a `@prim_func` is between scalars, found a run-time value of type Tensor[(4, n), \"f32\"]",
        ),
        ("missing == 3", "1:4 the name `missing` is not defined"),
    ] {
        assert_eq!(
            refusals(params, &[&format!("if {condition}:"), "    return"]).first().map(String::as_str),
            Some(want),
            "{condition}"
        );
    }
}

#[test]
fn intrinsics_are_declared_by_rule() {
    let with = |declaration: &str, statement: &str| {
        let text = source("@prim_func", XY, &[statement])
            .replace("@prim_func\ndef", &format!("{declaration}\n@prim_func\ndef"))
            .replace("import DType", "import Expr, VerifyError, intrinsic, DType");
        with_source(&text, |_, result| result.err().map(|errors| errors[0].message.clone()).unwrap_or_default())
    };
    let good = "@intrinsic\ndef mark(a: Expr, b: Expr) -> None:\n    assert a.shape == b.shape";
    for (declaration, statement, want) in [
        (good, "mark(x, y)", ""),
        (good, "T.mark(b=x, a=y)", ""),
        (good, "mark(x, n)", "`mark` does not take these operands: the assertion `a.shape == b.shape` fails"),
        (good, "mark(x)", "`mark` needs `b`"),
        (good, "mark(x, y, n)", "`mark` takes 2 arguments, found 3"),
        (good, "mark(x, c=y)", "`mark` has no parameter `c`; it has a, b"),
        (good, "z = mark(x, y)", "`mark(x, y)` is an effect and has no value"),
        (
            "@intrinsic\ndef mark(*a: Expr) -> None:\n    pass",
            "pass",
            "the parameter `a` stands for any number of operands",
        ),
        ("@intrinsic\ndef mark(a) -> None:\n    pass", "pass", "the operand `a` of an intrinsic is an `Expr`"),
        ("@intrinsic\ndef mark(a: Tensor) -> None:\n    pass", "pass", "the operand `a` of an intrinsic is an `Expr`"),
        ("@intrinsic\ndef mark(a: Expr):\n    pass", "pass", "the intrinsic `mark` returns nothing"),
        ("@intrinsic\ndef copy(a: Expr) -> None:\n    pass", "pass", "`copy` is an op of `@prim_func` bodies already"),
    ] {
        assert_eq!(with(declaration, statement), want, "{declaration} {statement}");
    }
    assert_eq!(with(&format!("{good}\n{good}"), "pass"), "the intrinsic `mark` is declared twice");
    let inside = format!("{good}\n@func\ndef g(x: Tensor[(4,), \"f32\"]):\n    return mark(x, x)");
    assert_eq!(with(&inside, "pass"), "the intrinsic `mark` is a statement of `@prim_func` bodies");
}

/// A declaration is kept without its file.
#[test]
fn intrinsics_stand_alone() {
    let file = |constants: &str, body: &str| {
        source("@prim_func", XY, &["mark(x, y)"])
            .replace(
                "@prim_func\ndef",
                &format!("{constants}\n@intrinsic\ndef mark(a: Expr, b: Expr) -> None:{body}\n@prim_func\ndef"),
            )
            .replace("import DType", "import Expr, intrinsic, DType")
    };
    for (constants, body, want) in [
        ("W = -4", "\n    assert len(a.shape) > W * 2", "\n    assert len(a.shape) > (-4) * 2"),
        ("W = 4", " assert a.shape == (W,) or W == 4", " assert a.shape == (4,) or 4 == 4"),
        ("W = 4", "\n    W = 1\n    assert W == 1", "\n    W = 1\n    assert W == 1"),
        (
            "W = 4",
            "\n    assert [W for W in (1,)] == [1] and W == 4",
            "\n    assert [W for W in (1,)] == [1] and 4 == 4",
        ),
        ("S = 'rows'", "\n    assert a.shape == b.shape, f\"{S}\"", "\n    assert a.shape == b.shape, f\"{'rows'}\""),
        ("D = DType.f32", "\n    assert a.type.dtype == D", "\n    assert a.type.dtype == DType.f32"),
        (
            "def one(n):\n    return n + 1\ndef two(n):\n    return one(one(n))",
            "\n    \"\"\"Doc.\"\"\"\n    assert two(1) == 3",
            "\n    \"\"\"Doc.\"\"\"\n\n    def one(n):\n        return n + 1\n\n    def two(n):\n        return one(one(n))\n\n    \
             assert two(1) == 3",
        ),
        ("def ok(n):\n    return n", " assert ok(True)", "\n    def ok(n):\n        return n\n\n    assert ok(True)"),
    ] {
        let want = format!("def mark(a: Expr, b: Expr) -> None:{want}");
        with_source(&file(constants, body), |_, result| {
            let module = result.unwrap_or_else(|errors| panic!("{body}: {}", errors[0].message));
            let AnyFunction::Tir(function) = module.functions[0] else { panic!("a function of statements") };
            let mut found = None;
            tf_core::walk::walk_stmts(function.body, |stmt| {
                if let StmtKind::Evaluate { callee: TirCallee::Intrinsic(intrinsic), .. } = stmt.kind {
                    found = Some(intrinsic.source.to_string());
                }
            });
            assert_eq!(found, Some(want));
        });
    }
    let alone = "the check of an intrinsic stands alone, but ";
    for (constants, body, want) in [
        ("L = Layout((4,), None)", "\n    if a.shape == ():\n        assert L", "`L` is a Layout, which is not kept"),
        ("def ok(n):\n    return n", "\n    ok = 1\n    assert ok == 1", ""),
        (
            "def ok(n):\n    return n\nno = ok",
            "\n    ok = 1\n    assert no(True)",
            "a name of it hides the function `ok`",
        ),
    ] {
        let found = with_source(&file(constants, body), |_, result| {
            result.err().map(|errors| errors[0].message.clone()).unwrap_or_default()
        });
        assert_eq!(found, if want.is_empty() { String::new() } else { format!("{alone}{want}") }, "{body}");
    }
}

/// TIR functions of a file call and launch each other as those of a class do.
#[test]
fn functions_outside_a_class_are_launched() {
    let target = |name: &str| format!("@prim_func(target={name})\n");
    let device = target("CudaTarget(\"nvidia.h200_sxm\")");
    let params = "(x: Tensor[(32,), \"f32\"], y: Tensor[(32,), \"f32\"]):\n";
    let source = format!(
        "from tilefoundry import func, prim_func\nfrom tilefoundry.dsl import T, Tensor, tf\nfrom tilefoundry.target import CpuTarget, CudaTarget\n\
         {device}def copied{params}    T.copy(x, y)\n\
         {device}def kernel{params}    copied(x, y)\n\
         @func\ndef value(x: Tensor[(32,), \"f32\"]):\n    return tf.exp(x)\n\
         {}def host{params}    launch(kernel, x, y, grid=(1,), block=(32,))\n    launch(value, x, y, grid=(1,), block=(32,))\n",
        target("CpuTarget()")
    );
    with_source(&source, |_, result| {
        let module = result.unwrap_or_else(|errors| panic!("{errors:?}"));
        let names: Vec<_> = module.functions.iter().map(|f| f.name().as_str()).collect();
        assert_eq!(names, ["copied", "kernel", "value", "host"]);
        assert_eq!(module.entry.map(|entry| entry.as_str()), Some("host"));
    });
}

#[test]
fn bindings_of_blocks_end_with_them() {
    let why = |name: &str| format!("`{name}` is read outside this block, but names are bound for their block only");
    for (lines, at, name) in [
        (&["i = 0", "while i < 4:", "    i = i + 1", "T.copy(x, y)"][..], "3:5", "i"),
        (&["s = 0", "if n == 4:", "    s = 1", "if s == 1:", "    T.copy(x, y)"], "3:5", "s"),
        (&["s = 0", "if n == 4:", "    pass", "else:", "    s = 1", "if s == 1:", "    T.copy(x, y)"], "5:5", "s"),
        (&["s = 0", "for i in range(4):", "    s = s + i", "T.copy(x, y)"], "3:5", "s"),
        (&["s = x", "if n == 4:", "    s = T.alloc_tensor(TensorType((4, N)))", "T.copy(s, y)"], "3:5", "s"),
        (&["i = 5", "for i in range(2):", "    T.copy(x, y)", "if i == 5:", "    T.copy(x, y)"], "2:5", "i"),
        // Read in the next round, and after a nested block.
        (&["s = 0", "for i in range(4):", "    if s == 1:", "        T.copy(x, y)", "    s = 1"], "5:5", "s"),
        (
            &[
                "s = 0",
                "for i in range(4):",
                "    if n == i:",
                "        s = 1",
                "    if s == 1:",
                "        T.copy(x, y)",
            ],
            "4:9",
            "s",
        ),
    ] {
        assert_eq!(refusals(XY, lines), [format!("{at} {}", why(name))], "{lines:?}");
    }
    for lines in [
        // Nobody outside reads them, or only what is bound there again.
        &["s = 0", "if s == n:", "    s = 1", "    T.fill(y, 0.0)"][..],
        &["s = 0", "if s == n:", "    s = s + 1", "s = 2", "if s == n:", "    T.fill(y, 0.0)"],
        &[
            "for i in range(4):",
            "    s = i",
            "    if s == 1:",
            "        T.copy(x, y)",
            "for i in range(2):",
            "    T.copy(x, y)",
        ],
        &["s = 0", "if n == 4:", "    s = 1", "    return", "if s == n:", "    T.copy(x, y)"],
        &["i = 5", "if i == n:", "    T.copy(x, y)", "for i in range(2):", "    T.copy(x, y)"],
    ] {
        assert_eq!(refusals(XY, lines), [""; 0], "{lines:?}");
    }
}

#[test]
fn ceildiv_takes_run_time_values() {
    for lines in [
        &["for i in range(ceildiv(n, 4)):", "    T.copy(x, y)"][..],
        &["for i in range(ceildiv(x.shape[1], 4)):", "    T.copy(x, y)"],
        &["for i in range(ceildiv(N, 4)):", "    T.copy(x, y)"],
        &["t = Tensor((4, ceildiv(x.shape[1], 4) * 4 - x.shape[1] % 2), \"f32\", None, \"smem\")", "T.fill(t, 0.0)"],
    ] {
        assert_eq!(refusals_with("from tilefoundry.dsl import ceildiv\n", XY, lines), [""; 0], "{lines:?}");
    }
    let float = ["for i in range(ceildiv(n, 2.0)):", "    T.copy(x, y)"];
    assert_eq!(
        refusals_with("from tilefoundry.dsl import ceildiv\n", XY, &float),
        ["1:16 `ceildiv` takes integers, found a run-time value of type Tensor[(), \"i64\"] and the float 2.0"]
    );
}
