//! The text of variants, modules in modules, methods, constraints and statements that choose; its errors.

use tf_core::{Arena, Context};
use tf_text::{PrintOptions, print_module};

use crate::common::{errors, parse, registry};

/// The text is what its module prints as.
fn fixed(text: &str) {
    let arena = Arena::new();
    let cx = &Context::new(&arena, registry());
    assert_eq!(print_module(parse(cx, text), &PrintOptions::default()), text);
}

#[test]
fn variants_and_converters_stand_in_their_function() {
    fixed(
        r#"#S = dim<"S", 1, 9>
module @m {
  hir.func @f(%x: tensor<[#S]x8xf32>) -> tensor<[#S]x8xf32> doc("Dispatches.") {
    hir.variant "small" [S = 1 to 5] (%x: tensor<[#S]x8xf32>) -> tensor<[#S]x8xf32> {
      %0 = t.add %x, %x : (tensor<[#S]x8xf32>, tensor<[#S]x8xf32>) -> tensor<[#S]x8xf32>
      hir.return %0
    }
    hir.variant [S = 5 to 9] (%x: tensor<[#S]x8xf32>) -> tensor<[#S]x8xf32> {
      hir.return %x
    }
  }
  hir.func @g(%x: tensor<[#S]x8xf32>, %w: const tensor<[#S]x8xf32>) -> tensor<[#S]x8xf32> {
    %0 = call @f(%x) : (tensor<[#S]x8xf32>) -> tensor<[#S]x8xf32>
    hir.return %0
    hir.converter w @_(%raw: tensor<[#S]x8xf32>) -> tensor<[#S]x8xf32> {
      hir.return %raw
    }
  }
}
"#,
    );
}

#[test]
fn modules_in_modules() {
    fixed(
        r#"module @model target("nvidia.h200_sxm") topology(cta = 4, thread = ?) entry(@step) metadata(level = 3, flags = ["a", none]) {
  hir.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = call @attn::@f(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = call @f$1(%0) : (tensor<4xf32>) -> tensor<4xf32>
    hir.return %1
  }
  hir.instance @f$1(%x: tensor<4xf32>) -> tensor<4xf32> origin(@attn::@f) {
    hir.return %x
  }
  hir.instance @f$2(%x: tensor<4xf32>) -> tensor<4xf32> origin(@gone, [S = 4]) {
    hir.return %x
  }
  module @attn topology() {
    hir.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      hir.return %x
    }
  }
  group @layers {
    module @layer0 {
      hir.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
        %0 = call ::@attn::@f(%x) : (tensor<4xf32>) -> tensor<4xf32>
        hir.return %0
      }
    }
    module @layer1 {
    }
  }
  method @forward(x, n = 1) source("def forward(self, x, n=1): ...") {
    set y = $self.attn($x, @eps = 0.5)
    unpack (a, b) = ($y, $self.layers[0].f($y))
    for layer in $self.layers {
      set a = $layer($a)
    }
    for i in range 0 to 4 step 1 {
      drop $self.step($a)
    }
    unsupported "a `while` loop"
    return $a
  }
}
"#,
    );
}

#[test]
fn signatures_have_strides_and_normal_dims() {
    let arena = Arena::new();
    let cx = &Context::new(&arena, registry());
    let text = r#"#S = dim<"S", 1, 9>
module @m {
  hir.func @f(%x: tensor<[#S + 1 - 1]xf32, layout<(#S)>>) -> tensor<[#S]xf32, layout<(#S)>> {
    hir.return %x
  }
  hir.instance @f$1(%x: tensor<[#S]xf32, layout<(#S)>>) -> tensor<[#S]xf32, layout<(#S)>> origin(@f) {
    hir.return %x
  }
}
"#;
    let printed = print_module(parse(cx, text), &PrintOptions::default());
    let functions: Vec<_> = printed.lines().filter(|line| line.contains("hir.")).map(str::trim).collect();
    assert_eq!(
        functions[0],
        "hir.func @f(%x: tensor<[#S]xf32, layout<(#S):(1)>>) -> tensor<[#S]xf32, layout<(#S):(1)>> {"
    );
    assert!(functions[2].starts_with("hir.instance @f$1(%x: tensor<[#S]xf32, layout<(#S)>>)"), "{printed}");
}

#[test]
fn a_header_keeps_its_locations() {
    let arena = Arena::new();
    let cx = &Context::new(&arena, registry());
    let text = r#"module @m target("nvidia.h200_sxm") loc("k.py":4:9 to 4:17) topology(cta = 4 loc("k.py":5:1 to 5:9), thread = ? loc(unknown)) entry(@f) loc("k.py":4:1 to 4:2) loc("k.py":6:7 to 6:8) {
  hir.func @f(%x: tensor<4xf32> loc(unknown)) -> tensor<4xf32> loc(unknown) {
    hir.return %x
  }
}
"#;
    let module = parse(cx, text);
    let line = |span: Option<tf_core::Span>| span.map(|span| (span.line.get(), span.column));
    assert_eq!(line(module.target_span()), Some((4, 9)));
    assert_eq!([0, 1].map(|at| line(module.level_span(at))), [Some((5, 1)), Some((6, 7))]);
    assert_eq!(line(module.entry_span()), Some((4, 1)));
    assert_eq!(print_module(module, &PrintOptions { locations: Some(cx.sources()) }), text);
}

#[test]
fn statements_and_constraints() {
    fixed(
        r#"#S = dim<"S", 1, 9>
#mesh0 = mesh<[cta = 4], (4):(1), [b]>
intrinsic @mark(a, "the b") source("def mark(a: Expr, b: Expr) -> None:\n    pass")
intrinsic @"one more"() source("")
module @m {
  hir.func @h(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = t.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> where(layout = [_, 4, #S @cta, _ @w] {l = B, z = P("sum")}, mesh = #mesh0, storage = smem)
    hir.return %y
  }
  tir.func @f(%x: tensor<[#S]x8xf32>) target("cpu") outputs(1) {
    %0 = shape_of %x[0] : tensor<i32, rmem>
    tir.dispatch @f on %0 : tensor<i32, rmem> {
      tir.case S = 1 to 5
      tir.call @small(%x) : (tensor<[#S]x8xf32>)
      tir.case S = 5 to 9
      tir.call @small(%x) : (tensor<[#S]x8xf32>)
      tir.abort "no case"
    }
    tir.intrinsic @mark(%x, %x) : (tensor<[#S]x8xf32>, tensor<[#S]x8xf32>)
    tir.intrinsic @"one more"() : ()
    tir.while true : bool {
      tir.if false : bool {
        tir.abort
      } else {
        tir.return
      }
      tir.if true : bool {
      }
    }
  }
  tir.func @small(%x: tensor<[#S]x8xf32>) target("cpu") outputs(1) {
    tir.return
  }
}
"#,
    );
}

#[test]
fn errors_of_variants_and_paths() {
    let text = r#"module @m {
  hir.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    hir.return %x
    hir.variant [S = 5 to 5] (%x: tensor<4xf32>) -> tensor<4xf32> {
      hir.return %x
    }
    hir.variant [S = 1 to 5] (%y: tensor<4xf32>) -> tensor<4xf32> {
      hir.return %x
    }
  }
  hir.func @g(%x: tensor<4xf32>) -> tensor<4xf32> {
    hir.variant [S = 1 to 5] (%y: tensor<4xf32>) -> tensor<4xf32> {
      hir.variant [S = 1 to 5] (%y: tensor<4xf32>) -> tensor<4xf32> {
      }
      hir.return %y
    }
  }
  hir.func @h(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = call @a::@f(%x) : (tensor<4xf32>) -> tensor<4xf32>
    hir.return %0
  }
  module @a {
    hir.func @a::@b(%x: tensor<4xf32>) -> tensor<4xf32> {
    }
  }
}
"#;
    assert_eq!(
        errors(text),
        [
            "4:18-28: the range [5, 5) of `S` is empty [a single value 5 is [5, 6)]",
            "8:18-20: unknown value `%x`",
            "13:7-18: variants and converters stand in the body of a `hir.func`, outside loops",
            "23:14-20: expected the name of a function, found a path",
            "19:15-21: unknown function `@a::@f`",
        ]
    );
}

#[test]
fn errors_of_statements_and_constraints() {
    let text = r#"module @m {
  tir.func @f(%x: tensor<4xf32>) target("cpu") outputs(1) {
    %0 = shape_of %x[1] : tensor<i32, rmem>
    %1 = shape_of %x[0] : i32
    %2 = t.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> where(storage = rmem, storage = smem)
    %3 = t.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> where(layout = [_ @cta, 4 @cta])
    tir.case S = 1 to 5
    tir.dispatch @f on 1 : i64 {
      tir.abort
      tir.case S = 1 to 5
    }
  }
  tir.func @k(%x: tensor<4xf32>) target("cpu") outputs(1) {
    tir.dispatch @f on 1 : i64 {
      tir.case S = 1 to 5
    }
  }
  method @g(x) source("") {
    while
  }
  hir.func @h(%x: tensor<4xf32>) -> tensor<4xf32> {
  }
}
"#;
    assert_eq!(
        errors(text),
        [
            "3:10-18: `x` is Tensor[(4,), \"f32\"]: it has no extent 1 [an extent is that of an axis of a tensor parameter]",
            "4:10-18: an extent has type tensor<i32, rmem>, but i32 is written",
            "5:95-102: `storage` is given twice",
            "6:73-105: the constraint binds topology `cta` twice",
            "7:5-13: `tir.case` stands in the body of `tir.dispatch`",
            "10:7-15: a case of a dispatch is followed by one call",
            "16:5-6: a dispatch has one call a case, and one more statement if no case matches",
            "19:5-10: expected `set`, `unpack`, `drop`, `for`, `return`, `unsupported` or `}`, found `while`",
            "22:3-4: `hir.return` is missing in `@h`",
        ]
    );
}

#[test]
fn errors_of_intrinsics() {
    let text = r#"intrinsic @mark(a, b) source("def mark(a, b): pass")
intrinsic @mark(a) source("")
intrinsic @wrong(a
intrinsic @torn(a) source 1
module @m {
  tir.func @f(%x: tensor<4xf32>) target("cpu") outputs(1) {
    tir.intrinsic @mark(%x) : (tensor<4xf32>)
    tir.intrinsic @make(%x) : (tensor<4xf32>)
    tir.intrinsic @torn(%x) : (tensor<4xf32>)
    tir.intrinsic @mark(%x, %x) : (tensor<4xf32>, tensor<4xf32>)
  }
}
"#;
    assert_eq!(
        errors(text),
        [
            "2:11-16: intrinsic `@mark` is declared twice",
            "4:1-10: expected `,` or `)`, found `intrinsic`",
            "4:27-28: expected `(`, found `1`",
            "7:19-24: `@mark` takes 2 operands, found 1",
            "8:19-24: unknown intrinsic `@make` [did you mean `mark`?]",
        ]
    );
}
