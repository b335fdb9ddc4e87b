//! Whatever the text is, parsing ends with a module or with diagnostics; depth of the IR is no depth of the stack.

use std::fmt::Write;

use proptest::prelude::{any, prop, proptest};
use tf_core::{Arena, Context};
use tf_text::{PrintOptions, parse_module, print_module};

use crate::common::{errors, registry};

const VALID: &str = r#"#S = dim<"S", 1, 1025>
#mesh0 = mesh<[cta = 4, thread = ?], (4, 2, 32):(64, 32, 1), [b, w, l]>
#layout0 = shard<(4, 8):(8, 1), [S(0), P("sum"), dynamic], #mesh0>
!t0 = tensor<4x[#S + min(#S, 3) floordiv 2]x8xbf16, #layout0, rmem>
module @m target("nvidia.h200_sxm") topology(cta = 4, thread = ?) entry(@f) {
  hir.func @f(%x: !t0, %w: const tensor<4xf32> loc("a":1:2 to 3:4)) -> !t0 {
    %acc = t.add %x, %x : (!t0, !t0) -> !t0 loc(unknown)
    %1 = t.reduce %"odd".3 {axes = [1, -1], kind = "mean"} : (!t0) -> !t0
    %2 = constant -1.5e3 : f32
    %3 = hir.grid %i = 0 to #S step 4 iter(%a = %x, %b = %2) : tuple<!t0, f32> {
      hir.yield %a, %b
    }
    %4 = tuple %3 : tuple<tuple<!t0, f32>>
    %5 = call @f(%x, %w) : (!t0, tensor<4xf32>) -> !t0
    hir.return %5
  }
  tir.func @g(%x: !t0) target("cpu") outputs(1) {
    let %b = T.alloc {tensor_type = !t0} : () -> !t0
    tir.mesh t = #mesh0 {
      tir.for %i = 0 to 4 step 1 : i64 {
        T.copy %b, %x : (!t0, !t0)
      }
    }
    T.launch @g, 1 : ((!t0) -> unit, i64)
    tir.return
  }
}
"#;

fn tokens() -> Vec<&'static str> {
    let mut tokens: Vec<_> = VALID.split_inclusive([' ', '\n', '(', ')', '{', '}', '<', '>', ',', '[']).collect();
    tokens.extend(["\"", "%", "//", "0x", "9223372036854775808", "-", "\u{e9}", "\\", "hir.func", "}\n}\n"]);
    tokens
}

proptest! {
    #[test]
    fn random_tokens(picks in prop::collection::vec(any::<prop::sample::Index>(), 0..200)) {
        let tokens = tokens();
        let text: String = picks.iter().map(|pick| tokens[pick.index(tokens.len())]).collect();
        errors(&text);
    }

    #[test]
    fn random_characters(text in "[ -~\n\u{e9}]{0,200}") {
        errors(&text);
    }

    #[test]
    fn mutated_files(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..4u8), 1..6),
    ) {
        let all = tokens();
        let mut parts: Vec<_> = VALID.split_inclusive([' ', '\n', '(', ')', '{', '}', '<', '>', ',', '[']).collect();
        for (at, pick, how) in edits {
            let at = at.index(parts.len().max(1));
            if parts.len() <= at {
                break;
            }
            match how {
                0 => drop(parts.remove(at)),
                1 => parts.insert(at, all[pick.index(all.len())]),
                2 => parts[at] = all[pick.index(all.len())],
                _ => parts.truncate(at.max(1)),
            }
        }
        errors(&parts.concat());
    }

}

#[test]
fn truncated_files() {
    let valid: String = VALID.lines().map(|line| format!("{line}\n")).collect();
    let end = valid.trim_end().len();
    for length in (0..end).filter(|&at| valid.is_char_boundary(at)) {
        assert!(!errors(&valid[..length]).is_empty(), "{length} bytes");
    }
}

#[test]
fn a_byte_order_mark_is_no_text() {
    assert!(errors("\u{feff}module @m {\n}\n").is_empty());
    assert_eq!(errors("\u{feff}module m {\n}\n"), ["1:8-9: expected the name of the module, found `m`"]);
}

/// The errors, found on a small stack.
fn errors_on_a_small_stack(text: String) -> Vec<String> {
    let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(move || errors(&text));
    thread.expect("a thread").join().expect("no overflow")
}

fn in_function(line: &str) -> String {
    format!(
        "module @m {{\n  hir.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {{\n    {line}\n    hir.return %x\n  }}\n}}\n"
    )
}

/// A token of ten megabytes is an error of its own length, not of the token's.
#[test]
fn huge_tokens() {
    const SIZE: usize = 10_000_000;
    let (word, digits) = ("a".repeat(SIZE), "1".repeat(SIZE));
    let texts = [
        word.clone(),
        format!("module @\"{word}"),
        format!("// {word}"),
        "é".repeat(SIZE / 2),
        "a.".repeat(SIZE / 2),
        in_function(&format!("%0 = t.{word} %x : (i64) -> i64")),
        in_function(&format!("%0 = tuple %{word} : tuple<i64>")),
        in_function(&format!("%0 = call @{word}() : () -> i64")),
        in_function(&format!("%0 = constant 1 : !{word}")),
        in_function(&format!("%0 = constant {digits} : i64")),
        in_function(&format!("%0 = constant 0x{digits} : f32")),
        in_function(&format!("%0 = constant 1 : tensor<{digits}xf32>")),
        in_function(&format!("%0 = constant 1 : tensor<4x{word}>")),
        in_function(&format!("%0 = t.reduce %x {{{word} = 1}} : (i64) -> i64")),
        in_function(&format!("%0 = t.reduce %x {{axes = [1], kind = \"{word}\"}} : (i64) -> i64")),
    ];
    for text in texts {
        let found = errors(&text);
        assert!(!found.is_empty() && found.iter().all(|error| error.len() < 1200), "{:.200}", found.concat());
    }
}

/// Whatever nests is refused when it nests too deep, or is read without recursion.
#[test]
fn deep_nesting() {
    const DEPTH: usize = 100_000;
    let deep = |open: &str| open.repeat(DEPTH);
    for open in ["(", "[", "{", "<", "tuple<", "-", "$x.a(", "module @a {"] {
        assert!(!errors_on_a_small_stack(deep(open)).is_empty(), "{open}");
        assert!(!errors_on_a_small_stack(format!("module @m {{ {}", deep(open))).is_empty(), "{open}");
    }
    for (before, open) in [
        ("%0 = constant 1 : ", "tuple<"),
        ("%0 = constant 1 : ", "("),
        ("%0 = constant 1 : ", "() -> "),
        ("%0 = constant 1 : tensor<[", "min("),
        ("%0 = constant 1 : tensor<4xf32, ", "composed<inner = ("),
        ("%0 = constant 1 : tensor<4xf32, ", "composed<offset = 1, outer = "),
        ("%0 = constant 1 : tensor<4xf32, shard<(4), [], ", "mesh<["),
        ("%0 = t.reduce %x {axes = ", "["),
        ("%0 = t.reduce %x ", "{a = "),
        ("%0 = tuple ", "("),
        ("%0 = call ", "@a::"),
        ("%0 = constant 1 : i64 where(layout = ", "["),
        ("", "%0 = hir.grid %i = 0 to 1 step 1 : i64 {\n"),
        ("", "hir.variant [S = 1 to 2] (%y: i64) -> i64 {\n"),
        ("", "hir.converter w @c(%y: i64) -> i64 {\n"),
    ] {
        assert!(!errors_on_a_small_stack(in_function(&format!("{before}{}", deep(open)))).is_empty(), "{open}");
    }
    for open in [
        "tir.for %i = 0 to 1 step 1 : i64 {\n",
        "tir.while true : bool {\n",
        "tir.if true : bool {\n",
        "tir.if true : bool { } else {\n",
        "tir.mesh m = mesh<[cta = 1], (1):(1)> {\n",
        "tir.dispatch @f on 1 : i64 {\n",
    ] {
        let text = format!("module @m {{\n  tir.func @f() target(\"cpu\") outputs(0) {{\n{}", deep(open));
        assert!(!errors_on_a_small_stack(text).is_empty(), "{open}");
    }
    for open in ["for i in range 0 to 1 step 1 {\n", "drop (", "set x = $x[", "set x = $x(", "return ($y, "] {
        let text = format!("module @m {{\n  method @f(x) source(\"\") {{\n{}", deep(open));
        assert!(!errors_on_a_small_stack(text).is_empty(), "{open}");
    }
    let header = format!("module @m metadata(a = {}", deep("["));
    assert!(!errors_on_a_small_stack(header).is_empty());
}

/// Parses on a small stack, prints, and parses again.
fn survives(text: String) {
    let run = move || {
        let arena = Arena::new();
        let cx = Context::new(&arena, registry());
        let module = parse_module(&cx, cx.sources().add("m.tfir", text.as_str())).expect("a valid module");
        assert!(print_module(module, &PrintOptions::default()) == text);
    };
    small_stack(run);
}

fn small_stack(run: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(run);
    thread.expect("a thread").join().expect("no overflow");
}

#[test]
fn a_long_chain() {
    let mut text =
        "module @m {\n  hir.func @f(%x: i64) -> i64 {\n    %0 = t.add %x, %x : (i64, i64) -> i64\n".to_owned();
    for n in 1..200_000 {
        let _ = writeln!(text, "    %{n} = t.add %{0}, %{0} : (i64, i64) -> i64", n - 1);
    }
    text.push_str("    hir.return %199999\n  }\n}\n");
    survives(text);
}

#[test]
fn a_long_block_of_bindings() {
    let mut text = "module @m {\n  tir.func @f(%x: i64) target(\"cpu\") outputs(1) {\n".to_owned();
    let _ = writeln!(text, "    let %b = T.alloc {{tensor_type = i64}} : () -> i64");
    for n in 1..100_000 {
        let _ = writeln!(text, "    let %b.{n} = T.alloc {{tensor_type = i64}} : () -> i64");
    }
    text.push_str("  }\n}\n");
    survives(text);
}

#[test]
fn deep_loops_and_long_dims() {
    let mut text = "module @m {\n  tir.func @f(%x: i64) target(\"cpu\") outputs(1) {\n".to_owned();
    let line = |text: &mut String, indent: usize, line: &str| {
        let _ = writeln!(text, "{}{line}", "  ".repeat(indent.min(32)));
    };
    for n in 0..20_000 {
        let suffix = if n == 0 { String::new() } else { format!(".{n}") };
        line(&mut text, n + 2, &format!("tir.for %i{suffix} = 0 to 4 step 1 : i64 {{"));
    }
    for n in (0..20_000).rev() {
        line(&mut text, n + 2, "}");
    }
    text.push_str("  }\n}\n");
    survives(text);
    let sum = " + 1".repeat(100_000);
    let right = "1 + (".repeat(50_000);
    let close = ")".repeat(50_000);
    survives(format!(
        "#S = dim<\"S\", 1, 9>\nmodule @m {{\n  hir.func @f() -> i64 {{\n    %0 = hir.grid %i = #S{sum} to {right}#S + 2{close} step 1 : i64 {{\n      hir.yield %i\n    }}\n    hir.return %0\n  }}\n}}\n"
    ));
    let text = format!(
        "#S = dim<\"S\", 1, 9>\nmodule @m {{\n  hir.func @f(%x: tensor<[#S{sum}]x[{right}#S + 2{close}]xf32>) -> tensor<[#S + 100000]x[#S + 50002]xf32> {{\n    hir.return %x\n  }}\n}}\n"
    );
    small_stack(move || {
        let arena = Arena::new();
        let cx = Context::new(&arena, registry());
        let module = parse_module(&cx, cx.sources().add("m.tfir", text.as_str())).expect("a valid module");
        let f = module.functions[0];
        assert_eq!(f.params()[0].ty().to_string(), "Tensor[(S + 100000, S + 50002), \"f32\"]");
    });
}
