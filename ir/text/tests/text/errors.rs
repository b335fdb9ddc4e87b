//! Errors: message and place.

use crate::common::errors;

/// The errors of a HIR function with `%x: tensor<4xf32>` and these lines; the first one is line 3.
fn in_function(lines: &str) -> Vec<String> {
    let head = "module @m {\n  hir.func @f(%x: tensor<4xf32>, %n: i64) -> tensor<4xf32> {\n";
    errors(&format!("{head}{lines}\n    hir.return %x\n  }}\n}}\n"))
}

#[test]
fn unknown_names_are_reported_with_the_nearest() {
    assert_eq!(
        in_function("    %0 = t.reduse %x : (tensor<4xf32>) -> tensor<4xf32>"),
        ["3:10-18: unknown op `t.reduse` [did you mean `t.reduce`?]"]
    );
    assert_eq!(
        in_function(
            "%acc = t.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\n%b = tuple %ac : tuple<i64>"
        ),
        ["4:12-15: unknown value `%ac` [did you mean `acc`?]"]
    );
    assert_eq!(in_function("%0 = call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>"), ["3:11-13: unknown function `@g`"]);
    assert_eq!(
        in_function("%0 = t.reduce %x {axis = [1]} : (tensor<4xf32>) -> tensor<4xf32>"),
        ["3:19-23: `t.reduce` has no attribute `axis` [did you mean `axes`?]"]
    );
    assert_eq!(
        in_function("%0 = t.reduce %x {axes = [1], kind = \"men\"} : (tensor<4xf32>) -> tensor<4xf32>"),
        ["3:38-43: unknown ReduceKind `men`; expected one of mean, sum, abs_max, max [did you mean `mean`?]"]
    );
    assert_eq!(
        errors(
            "#layout0 = layout<(4)>\nmodule @m {\n  hir.func @f(%x: tensor<4xf32, #layout1>) -> unit { hir.return %x }\n}"
        ),
        ["3:33-41: unknown alias `#layout1` [did you mean `#layout0`?]"]
    );
    assert_eq!(errors("module @m entry(@g) {\n}"), ["1:17-19: unknown function `@g`"]);
    assert_eq!(in_function("%0 = constant 1 : f64"), ["3:19-22: expected a type, found `f64`"]);
    assert_eq!(
        in_function("%0 = constant 1 : tensor<4xf64>"),
        ["3:28-31: unknown dtype `f64`; expected one of f32, f16, bf16, fp8e4m3, f8e8m0, f4e2m1, i32, i64, bool"]
    );
}

#[test]
fn types_are_compared_with_the_inferred_ones() {
    assert_eq!(
        in_function("%0 = t.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>"),
        ["3:6-11: `t.add` gives tensor<4xf32>, but tensor<8xf32> is written"]
    );
    assert_eq!(
        in_function("%0 = t.add %x, %n : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>"),
        ["3:16-18: `%n` has type i64, but tensor<4xf32> is written"]
    );
    assert_eq!(in_function("%0 = t.add %x, %n : (tensor<4xf32>, i64) -> i64"), ["3:6-11: the operands differ in type"]);
    assert_eq!(in_function("%0 = t.add %x : (tensor<4xf32>) -> i64"), ["3:6-11: `t.add` takes 2 operands, found 1"]);
    assert_eq!(in_function("%0 = t.add %x, %x : (tensor<4xf32>) -> i64"), ["3:6-11: 2 operands, but 1 types"]);
    assert_eq!(
        in_function("%0 = T.copy %x, %x : (tensor<4xf32>, tensor<4xf32>) -> unit"),
        ["3:6-12: `T.copy` is an effect and has no value"]
    );
    assert_eq!(
        in_function("%0 = t.reduce %x {axes = []} : (tensor<4xf32>) -> tensor<4xf32>"),
        ["3:6-14: `t.reduce` needs the attribute `kind` [write it in braces before the types: `{kind = …}`]"]
    );
    assert_eq!(
        in_function("%0 = constant 1 : f32"),
        [
            "3:15-16: an integer cannot have type f32 [literals are scalars: `1` of i32 or i64, `1.0` of a float dtype, `true` of bool]"
        ]
    );
}

#[test]
fn parsing_goes_on_after_an_error() {
    let text = r#"module @m {
  hir.func @f(%x: i64) -> i64 {
    %0 = t.add %x %x : (i64, i64) -> i64
    %1 = t.add %0, %0 : (i64, i64) -> i64
    %2 = hir.grid %i = 0 to 4 iter(%a = %x) : i64 {
      %3 = t.add %a, %i : (i64, i64) -> i64
      hir.yield %3
    }
    %4 = t.reduce %x {axes = [1 kind = "sum"} : (i64) -> i64
    %x = constant 1 : i64
    hir.return %5
  }
  hir.func @g(%x: ) -> i64 {
    hir.return %x
  }
  hir.func @f(%x: i64) -> i64 {
    hir.return %x
  }
  tir.func @h(%x: i64) target("cpu") outputs(1) {
    t.add %x, %x : (i64, i64)
    T.copy %x : (i64)
    tir.for %i = 0 to 1 : i64 {
      T.copy %i, %i : (i64, i64)
    }
    let %x.1 = T.alloc {tensor_type = i64} : () -> i32
    T.copy %x.1, %x.1 : (i64, i64)
  }
  hir.func @k(%x: i64) -> i64 {
    %0 = call @g(%x) : (i64) -> i64
    %1 = call @h(%x) : (i64) -> i64
    hir.return %1
  }
}
"#;
    assert_eq!(
        errors(text),
        [
            "3:19-21: expected `:`, found `%x`",
            "5:31-35: expected `step`, found `iter`",
            "9:33-37: expected `,` or `]`, found `kind`",
            "10:5-7: `%x` is defined twice",
            "11:16-18: unknown value `%5`",
            "13:19-20: expected a type, found `)`",
            "16:12-14: function `@f` is defined twice",
            "20:5-10: `t.add` has a value [bind it: `let %name = …`]",
            "21:5-11: `T.copy` takes 2 operands, found 1",
            "22:25-26: expected `step`, found `:`",
            "25:16-23: `T.alloc` gives i64, but i32 is written",
            "30:15-17: `@h` is no HIR function",
        ]
    );
}

#[test]
fn scopes_and_regions() {
    let text = "%1 = hir.grid %i = 0 to 4 step 1 iter(%a = %x) : tensor<4xf32> {\n%2 = t.add %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\nhir.yield %2\n}\n%3 = tuple %2 : tuple<tensor<4xf32>>";
    assert_eq!(in_function(text), ["7:12-14: unknown value `%2`"]);
    let text = "%1 = hir.grid %i = 0 to 4 step 1 iter(%a = %x) : tensor<4xf32> {\nhir.yield %i\n}";
    assert_eq!(in_function(text), ["4:11-13: `%i` has type i64, but tensor<4xf32> is written"]);
    let text = "%1 = hir.grid %i = 0 to 4 step 1 : i64 {\n}";
    assert_eq!(in_function(text), ["4:1-2: `hir.yield` is missing in the loop `%1`"]);
    let text = "module @m {\n  hir.func @f(%x: i64) -> i64 {\n    hir.return %x\n  hir.func @g(%x: i64) -> i64 {\n    hir.return %x\n  }\n}\n";
    assert_eq!(errors(text), ["4:3-11: expected `}`"]);
    assert_eq!(
        errors("module @m {\n  hir.func @f(%x: i64) -> i64 {\n  }\n}"),
        ["3:3-4: `hir.return` is missing in `@f`"]
    );
    assert_eq!(errors("module @m {\n"), ["2:1-1: expected `}`, found the end of the file"]);
    assert_eq!(errors(""), ["1:1-1: expected `module`, found the end of the file"]);
    assert_eq!(errors("module @m {\n} x"), ["2:3-4: expected the end of the file, found `x`"]);
    let recursive = "module @m {\n  hir.func @f(%x: i64) -> i64 {\n    %0 = call @g(%x) : (i64) -> i64\n    hir.return %0\n  }\n  hir.func @g(%x: i64) -> i64 {\n    %0 = call @f(%x) : (i64) -> i64\n    hir.return %0\n  }\n}\n";
    assert_eq!(errors(recursive), ["2:12-14: `@f` calls itself, directly or through other functions"]);
}

#[test]
fn types_layouts_and_meshes() {
    let alias = |text: &str| errors(&format!("{text}\nmodule @m {{\n}}\n"));
    assert_eq!(
        alias("#S = dim<\"S\", 4, 4>"),
        ["1:6-9: dim variable `S` needs lo < hi, got [4, 4) [the range is half-open; a fixed size k is [k, k+1)]"]
    );
    assert_eq!(alias("#S = dim<\"\", 1, 4>"), ["1:6-9: a dim variable needs a name"]);
    assert_eq!(alias("#l = layout<(4, 8):(1)>"), ["1:13-14: a layout of 2 axes has 1 strides: (4, 8) and (1,)"]);
    assert_eq!(
        alias("#m = mesh<[cta = 4], (4):(1)>\n#l = shard<(4), [S(1)], #m>"),
        ["2:6-11: mesh axis `x` splits layout axis 1, but the layout has 1 axes"]
    );
    assert_eq!(
        alias("#m = mesh<[cta = 4], (4):(1)>\n#l = shard<(4), [], #m>"),
        ["2:6-11: a mesh of 1 axes needs 1 attributes, got 0"]
    );
    // What uses a wrong alias is not reported again.
    assert_eq!(
        alias("#m = mesh<[cta = 4], (4):(1)>\n!t = tensor<4xf32, #m>\n!u = tuple<!t>"),
        ["2:20-22: expected a layout, but `#m` is a mesh"]
    );
    assert_eq!(alias("!tile = i64\n!u = tuple<!tlie>"), ["2:12-17: unknown alias `!tlie` [did you mean `!tile`?]"]);
    assert_eq!(alias("!t = i64\n!t = i32"), ["2:1-3: `!t` is defined twice"]);
    assert_eq!(alias("!t = tensor<4x[5]f32>"), ["1:18-21: expected `x` after an extent, found `f32`"]);
    let deep = "tuple<".repeat(100);
    assert_eq!(alias(&format!("!t = {deep}")), ["1:395-396: nests deeper than 64 levels; use aliases"]);
    let doubling: String = (1..40).map(|n| format!("!t{n} = tuple<!t{0}, !t{0}>\n", n - 1)).collect();
    assert_eq!(alias(&format!("!t0 = i64\n{doubling}")), ["17:8-13: the type has more than 65536 parts"]);
    assert_eq!(alias("#l = layout<(min(4), 9223372036854775808)>"), ["1:19-20: expected `,`, found `)`"]);
    assert_eq!(alias("#l = layout<(9223372036854775808)>"), ["1:14-33: a dim is out of range"]);
}

#[test]
fn many_errors_end_the_parse() {
    let lines = "    %0 = nonsense\n".repeat(1000);
    assert_eq!(in_function(&lines).len(), 100);
}
