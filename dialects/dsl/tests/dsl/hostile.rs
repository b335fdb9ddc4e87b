//! Sources that nobody writes by hand: long, deep, broken.

use std::sync::OnceLock;

use crate::common::{reference, registry, with_source};
use proptest::prelude::{ProptestConfig, Strategy, prop, proptest};
use tf_core::walk::post_order;
use tf_core::{AnyFunction, Arena, Context};
use tf_dsl::{DslOptions, parse_file};

const HEAD: &str = "from tilefoundry import func\nfrom tilefoundry.dsl import DimVar, Tensor, tf\n";

fn refusal(source: &str) -> String {
    with_source(source, |_, result| match result {
        Ok(module) => panic!("`{}` is accepted", module.name),
        Err(errors) => errors[0].message.clone(),
    })
}

fn in_function(expression: &str) -> String {
    format!("{HEAD}@func\ndef f(x: Tensor[(4,), \"f32\"]):\n    return {expression}\n")
}

#[test]
fn long_sums() {
    let terms = " + x".repeat(40_000);
    with_source(&in_function(&format!("x{terms}")), |_, result| {
        let module = result.unwrap_or_else(|errors| panic!("{errors:?}"));
        let Some(AnyFunction::Hir(entry)) = module.entry_function() else { panic!("no entry") };
        assert_eq!(post_order(&[entry.body.unwrap()]).len(), 40_001);
    });
    let number = format!("N = 1{}\nS = DimVar(\"s\", 1, 9){}\n", " + 1".repeat(40_000), " + 1".repeat(2_000));
    let source = in_function("x").replace("@func", &format!("{number}@func")).replace("(4,)", "(N, S)");
    with_source(&source, |_, result| {
        let module = result.unwrap_or_else(|errors| panic!("{errors:?}"));
        let ty = module.functions[0].params()[0].ty();
        assert_eq!(ty.to_string(), "Tensor[(40001, s + 2000), \"f32\"]");
    });
}

#[test]
fn many_statements() {
    let lines = "    x = x + x\n".repeat(20_000);
    let source = in_function("x").replace("    return", &format!("{lines}    return"));
    with_source(&source, |_, result| assert!(result.is_ok()));
    let nest = format!("a = (1,)\n{}", "a = (a, a)\n".repeat(20_000));
    let source = in_function("x").replace("@func", &format!("{nest}@func"));
    assert_eq!(refusal(&source), "tuples and lists are nested more than 16 deep");
}

#[test]
fn deep_nesting_is_refused_where_it_starts() {
    let deep = |open: &str, close: &str, count| format!("{}x{}", open.repeat(count), close.repeat(count));
    assert_eq!(refusal(&in_function(&deep("(", ")", 100_000))), "brackets are nested more than 200 deep");
    assert_eq!(refusal(&in_function(&deep("-", "", 100_000))), "the statement has more than 2000 prefix operators");
    assert_eq!(refusal(&in_function(&deep("", "**x", 100_000))), "the statement has more than 2000 prefix operators");
    assert_eq!(refusal(&in_function(&deep("-", "", 1_900))), "code is nested more than 600 deep");
    assert_eq!(refusal(&in_function(&deep("", ".a", 100_000))), "code is nested more than 600 deep");
    assert_eq!(refusal(&in_function(&deep("", "()", 100_000))), "code is nested more than 600 deep");
    assert_eq!(refusal(&in_function(&deep("", "()", 390_000))), "code is nested more than 600 deep");
    assert_eq!(refusal(&in_function(&deep("", "[0:1]", 100_000))), "code is nested more than 600 deep");
    assert_eq!(
        refusal(&in_function(&deep("x if x else ", "", 900))),
        "a conditional expression `if … else` is not part of the language"
    );
    with_source(&in_function(&deep("(", ")", 190)), |_, result| assert!(result.is_ok()));
    let mut blocks = String::from(HEAD);
    for depth in 0..500 {
        blocks.push_str(&format!("{}if x:\n", " ".repeat(depth)));
    }
    assert_eq!(refusal(&blocks), "the line is indented by more than 400 columns");
    let loops: String = (1..40).map(|i| format!("{}for i{i} in range(2):\n", " ".repeat(i + 3))).collect();
    let source = in_function("x").replace("    return", &format!("{loops}{}y = x\n    return", " ".repeat(60)));
    assert_eq!(refusal(&source), "loops are nested more than 32 deep");
}

#[test]
fn unrolling_is_bounded() {
    let nested = "[[[i for k in range(60000)] for j in range(60000)] for i in range(60000)]";
    let message = refusal(&in_function(nested));
    assert_eq!(message, "the comprehensions of the function have more than 131072 elements");
    assert_eq!(
        refusal(&in_function("[i for i in range(1 << 70)]")).split(':').next(),
        Some("the operator `<<` is not part of the language")
    );
    let huge = refusal(&in_function("[i for i in range(-9223372036854775807, 9223372036854775807)]"));
    assert!(huge.starts_with("a comprehension has at most 65536 elements"), "{huge}");
}

#[test]
fn odd_bytes() {
    for text in [
        "",
        "\u{feff}",
        "\0",
        "'",
        "\"\"\"",
        "f'{",
        "f'{{",
        "\\",
        "é = 1",
        "x = '\u{202e}'",
        "\r\r\n\t",
        "@",
        "@func\n",
    ] {
        with_source(text, |_, result| assert!(result.is_err(), "{text:?}"));
    }
}

#[test]
fn long_tokens() {
    let long = 10_000_000;
    let source = |token: &str| in_function(token);
    for (token, start) in [
        ("9".repeat(long), "the integer 9999999999"),
        ("a".repeat(long), "the name `aaaaaaaaaa"),
        (format!("x.{}", "a".repeat(long)), "`x` is a run-time value of type"),
        (format!("tf.{}(x)", "a".repeat(long)), "unknown op `aaaaaaaaaa"),
        (format!("x[\"{}\"]", "a".repeat(long)), "`x` has 2 axes"),
        (format!("x + \"{}\"", "a".repeat(long)), "expected a tensor, found the string"),
        (format!("{}(x)", "(x)".repeat(1_000)), "code is nested"),
    ] {
        let message = refusal(&source(&token).replace("(4,)", "(4, 6)"));
        assert!(message.starts_with(start) && message.len() < 2_100, "{}", &message[..200.min(message.len())]);
    }
    let comment = in_function("x").replace("@func", &format!("# {}\n@func", "é".repeat(long / 2)));
    with_source(&comment, |_, result| assert!(result.is_ok()));
    let too_long = in_function("x").replace("@func", &format!("# {}\n@func", "a".repeat(70_000_000)));
    assert!(refusal(&too_long).ends_with("at most 67108864 are read"));
}

#[test]
fn line_ends_marks_and_tabs() {
    let good = in_function("x + x");
    let wrong = in_function("x + nothing");
    let place = |source: &str| {
        with_source(source, |cx, result| cx.sources().describe(result.err().unwrap_or_default()[0].span.unwrap()))
    };
    assert_eq!(place(&wrong), "test.py:5:16");
    for spell in [
        |text: &str| text.replace('\n', "\r\n"),
        |text: &str| text.replace("    ", "\t   "),
        |text: &str| format!("\u{feff}{text}"),
        |text: &str| text.replace("x +", "x \\\n           +"),
        |text: &str| text.replace("    return", "    # é\u{202e}\n\u{c}    return"),
    ] {
        with_source(&spell(&good), |_, result| assert!(result.is_ok(), "{:?}", result.err()));
    }
    assert_eq!(place(&wrong.replace('\n', "\r\n")), "test.py:5:16");
    assert_eq!(place(&wrong.replace("    ", "\t   ")), "test.py:5:16");
    assert_eq!(place(&format!("\u{feff}{wrong}")), "test.py:5:16");
    assert_eq!(place(&wrong.replace("x + nothing", "[\"é\", nothing]")), "test.py:5:18");
}

/// What Python refuses when it compiles a file, though its grammar has it.
#[test]
fn misplaced_statements() {
    let place = |lines: &str| {
        let source = in_function("x").replace("@func", &format!("{lines}@func"));
        with_source(&source, |cx, result| {
            let errors = result.err().unwrap_or_default();
            errors.iter().map(|e| (cx.sources().describe(e.span.unwrap()), e.message.clone())).next()
        })
    };
    for (lines, at, what) in [
        ("return 1\n", "3:1", "`return` outside a function"),
        ("class C:\n    return 1\n", "4:5", "`return` outside a function"),
        ("if 1:\n    break\n", "4:5", "`break` outside a loop"),
        ("for i in (1,):\n    pass\nelse:\n    continue\n", "6:5", "`continue` outside a loop"),
        ("while 1:\n    def g():\n        break\n", "5:9", "`break` outside a loop"),
        ("nonlocal a\n", "3:1", "`nonlocal` outside a function"),
        ("def g():\n    async with a: pass\n", "4:5", "`async with` outside an async function"),
        ("async for a in b: pass\n", "3:1", "`async for` outside an async function"),
        ("def g():\n    from a import *\n", "4:5", "`import *` inside a function or class"),
        ("def g(a, *, b, **a): pass\n", "3:18", "two parameters are called `a`"),
        ("*a = 1, 2\n", "3:1", "a starred target stands in a tuple or list"),
        ("*a, *b = 1, 2\n", "3:1", "a target has one starred part at most"),
        ("yield 1\n", "3:1", "`yield` outside a function"),
        ("a = await b\n", "3:1", "`await` outside an async function"),
        ("try: pass\nexcept: pass\nexcept E: pass\n", "3:1", "an `except:` without a type is the last one"),
        ("from __future__ import annotations\n", "3:1", "imports from `__future__` stand before all other statements"),
        ("a = 1  # \0\n", "3:10", "a file has no NUL characters"),
    ] {
        assert_eq!(place(lines), Some((format!("test.py:{at}"), format!("invalid syntax: {what}"))), "{lines}");
    }
    for lines in [
        "def g():\n    return 1\n",
        "async def g():\n    async with a: pass\n    async for b in c: break\n    await d\n    return\n",
        "for i in (1,):\n    if i: break\n    else: continue\n",
        "def g():\n    a = 1\n    def h():\n        nonlocal a\n        yield a\n",
        "a, *b = 1, 2\n[*a] = b\n",
        "try: pass\nexcept E: pass\nexcept: pass\n",
        "from a import *\n",
    ] {
        assert_eq!(place(lines), None, "{lines}");
    }
}

fn corpus() -> &'static Vec<String> {
    static CORPUS: OnceLock<Vec<String>> = OnceLock::new();
    CORPUS.get_or_init(|| {
        let programs = ["vector_add", "square", "rms_rows", "softmax_rows", "column_mean", "tile_k_loop"];
        let mut sources: Vec<String> = programs.iter().map(|p| reference(&format!("programs/{p}.py"))).collect();
        for file in ["accepted.json", "refusals.json"] {
            let cases: serde_json::Value = serde_json::from_str(&reference(file)).unwrap();
            let cases = cases["cases"].as_array().unwrap();
            sources.extend(cases.iter().filter_map(|c| c["source"].as_str().map(str::to_owned)));
        }
        sources
    })
}

/// Pieces that change the meaning of what is around them.
pub const PIECES: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "@",
    "-",
    "**",
    "//",
    "%",
    "\n",
    "\n    ",
    "\t",
    "'",
    "\"\"\"",
    "#",
    "x",
    "m.w",
    "k",
    "0",
    "-1",
    "9223372036854775807",
    "1e999",
    "True",
    "None",
    "_",
    "not ",
    "lambda: ",
    "for i in range(3):\n",
    "with m as g:\n",
    "return ",
    "pass\n",
    "DimVar(\"n\", 1, 9)",
    "Tensor[(4,), \"f32\"]",
    "tf.",
    "Mesh(",
    "P(\"sum\")",
    "é",
    "*",
    "=",
    "in ",
    "f\"{",
    "async ",
    "i, ",
    "[0]",
    "[::2]",
    "[:, k]",
    "tile(4, 2)",
    "min(1, ",
    "S(9)",
    "Layout((4,), (1,))",
    "while k:\n    k -= 1\n",
    "class A:\n    k = 3\n",
    "xs = [1, 2]\n",
    "xs.append(",
    "xs += ",
    "del xs[0]\n",
    "sorted(",
    "lambda x=1: x",
    "def g(*a, **b):\n    return a\n",
    "g(*xs, ",
    "A.k",
    "{1: 2}",
    "\"a{}\".format(",
    "break\n",
];

#[derive(Clone, Debug)]
enum Edit {
    Delete(usize, usize),
    Insert(usize, usize),
    Move(usize, usize, usize),
}

fn edit() -> impl Strategy<Value = Edit> {
    let at = 0..4_000usize;
    proptest::prop_oneof![
        (at.clone(), 0..12usize).prop_map(|(at, len)| Edit::Delete(at, len)),
        (at.clone(), 0..PIECES.len()).prop_map(|(at, piece)| Edit::Insert(at, piece)),
        (at.clone(), 0..20usize, at).prop_map(|(from, len, to)| Edit::Move(from, len, to)),
    ]
}

fn apply(text: &str, edits: &[Edit]) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for edit in edits {
        let size = chars.len().max(1);
        match *edit {
            Edit::Delete(at, len) => {
                let at = at % size;
                chars.drain(at.min(chars.len())..(at + len).min(chars.len()));
            }
            Edit::Insert(at, piece) => {
                let at = at % size;
                chars.splice(at..at, PIECES[piece].chars());
            }
            Edit::Move(from, len, to) => {
                let from = from % size;
                let part: Vec<char> = chars.iter().skip(from).take(len).copied().collect();
                let to = to % size;
                chars.splice(to..to, part);
            }
        }
    }
    chars.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the text, there is a module or at least one message with a place inside the file.
    #[test]
    fn mutated_sources_never_panic(which in 0..1_000usize, edits in prop::collection::vec(edit(), 1..6)) {
        let corpus = corpus();
        let text = apply(&corpus[which % corpus.len()], &edits);
        let lines = text.lines().count() as u32 + 1;
        let arena = Arena::new();
        let cx = Context::new(&arena, registry());
        let file = cx.sources().add("mutated.py", text);
        if let Err(errors) = parse_file(&cx, file, &DslOptions::default()) {
            assert!(!errors.is_empty());
            for error in errors {
                assert!(error.span.is_none_or(|s| s.line.get() <= lines), "{error:?}");
            }
        }
    }

    /// Any sequence of tokens as the body of a function, of a class, or of the file.
    #[test]
    fn token_streams_never_panic(tokens in prop::collection::vec(0..PIECES.len(), 1..60), place in 0..4usize) {
        let stream: String = tokens.iter().map(|&at| format!("{} ", PIECES[at])).collect();
        let head = format!("{HEAD}from tilefoundry import module, prim_func\nfrom tilefoundry.dsl import Mesh, P, S, T, Topology, Layout\n\
            m = Mesh((Topology(\"thread\", 8),), (8,), (\"w\",))\nk = 3\n");
        let text = match place {
            0 => format!("{head}@func\ndef f(x: Tensor[(4, 6), \"f32\"]):\n    {stream}\n"),
            1 => format!("{head}@prim_func\ndef f(x: Tensor[(4, 6), \"f32\"]):\n    {stream}\n"),
            2 => format!("{head}@module\nclass M:\n    {stream}\n"),
            _ => format!("{head}{stream}\n@func\ndef f(x: Tensor[(4, 6), \"f32\"]):\n    return x\n"),
        };
        let arena = Arena::new();
        let cx = Context::new(&arena, registry());
        let file = cx.sources().add("stream.py", text);
        if let Err(errors) = parse_file(&cx, file, &DslOptions::default()) {
            assert!(!errors.is_empty());
        }
    }
}
