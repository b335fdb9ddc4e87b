//! Running pipelines.

use crate::common::{Place, SQUARE};

#[test]
fn textual_ir_comes_out_and_goes_in() {
    let place = Place::new("round");
    let text = place.ok(&["square.py"]);
    assert!(text.contains("hir.func @f(%x: tensor<4x6xf32>)"), "{text}");
    let run = place.with_input(&["-", "--pipeline=typeinfer,verify", "--verify-roundtrip"], &text);
    assert_eq!((run.code, run.out, run.err.as_str()), (Some(0), text, ""));
    let run = place.with_input(&["-", "--input=dsl", "--pipeline=print"], SQUARE);
    assert!(run.out.contains("hir.func @f"), "{}", run.err);
}

#[test]
fn mistakes_in_a_pipeline_show_it() {
    let place = Place::new("pipeline");
    let error = place.refused(&["square.py", "--pipeline=verify,typeinfr{x=1}"]);
    assert!(error.contains("error: unknown pass `typeinfr`") && error.contains("<pipeline>:1:8"), "{error}");
    assert!(error.contains("verify,typeinfr{x=1}\n") && error.contains("       ^^^^^^^^"), "{error}");
    assert!(error.contains("did you mean `typeinfer`?"), "{error}");
    assert!(
        error.contains("`tf-opt-llvm`, which has the passes and engines that need LLVM, does not exist at "),
        "{error}"
    );
    let error = place.refused(&["square.py", "--pipeline=evaluate{on=cpu-jit}"]);
    assert!(error.contains("there is no engine `cpu-jit`") && error.contains("does not exist at "), "{error}");
    let error = place.refused(&["square.py", "--print-ir-after=nothing"]);
    assert!(error.contains("unknown pass `nothing`") && error.contains("`--print-ir-after` names it"), "{error}");
    assert_eq!(
        place.ok(&["--dump-pipeline", "--pipeline= verify , evaluate{random=3}"]),
        "verify,evaluate{random=3}\n"
    );
}

#[test]
fn the_sibling_gets_what_is_not_known_here() {
    let place = Place::new("sibling");
    place.script("tf-opt-llvm", "#!/bin/sh\necho \"sibling: $*\"\ncat\n");
    let run = place.with_input(&["-", "--pipeline=verify,emit-nothing"], "the input");
    assert_eq!(run.out, "sibling: - --pipeline=verify,emit-nothing\nthe input");
    assert!(place.ok(&["square.py", "--pipeline=evaluate{on=cpu-jit}"]).starts_with("sibling: square.py "));
    assert!(place.ok(&["--list-passes"]).starts_with("sibling: "));
    assert!(place.ok(&["square.py", "--pipeline=verify"]).starts_with("module @M"));
}

#[test]
fn a_failing_pass_is_named_with_function_and_line() {
    let place = Place::new("failing");
    let text = place.ok(&["square.py"]).replace("-> tensor<4x6xf32> {", "-> tensor<4x7xf32> {");
    let run = place.with_input(&["-", "--pipeline=typeinfer", "--verify-each=false"], &text);
    assert_eq!((run.code, run.out.as_str()), (Some(1), ""));
    assert!(run.err.contains("<stdin>:"), "{}", run.err);
    assert!(run.err.contains("is declared to return") && run.err.contains("the shape differs"), "{}", run.err);
    assert!(run.err.contains("in function `f`") && run.err.contains("in pass `typeinfer`"), "{}", run.err);
    let run = place.with_input(&["-"], &text);
    assert!(run.err.contains("the shape differs") && !run.err.contains("in pass"), "{}", run.err);
}

#[test]
fn instruments_write_to_the_error_output() {
    let place = Place::new("instruments");
    let arguments = ["square.py", "--pipeline=typeinfer,verify", "--timing", "--stats", "--print-ir-after=verify"];
    let run = place.run(&arguments);
    assert_eq!(run.code, Some(0));
    assert!(run.out.starts_with("module @M"), "{}", run.out);
    for text in ["// -----// IR Dump After verify //----- //\nmodule @M", "  total\n", "0:typeinfer  functions retyped"]
    {
        assert!(run.err.contains(text), "{text}: {}", run.err);
    }
    assert!(!run.err.contains("After typeinfer"));
    let one = place.ok(&["square.py", "--pipeline=evaluate{random=1}", "--threads=1"]);
    assert_eq!(one, place.ok(&["square.py", "--pipeline=evaluate{random=1}", "--threads=3"]));
}
