//! Passes as a crate that uses the framework writes them.

mod common;

use common::{Calls, Level, Rename, context, module, registry};
use tf_core::diag::{Severity, Style};
use tf_core::{Arena, SourceMap};
use tf_framework::{
    Artifact, IrPrinter, OptionKind, PassInfo, PassManager, PassRegistry, Pipeline, PrintWhen, Statistics, Timing,
    TimingFormat, Verifier,
};

fn build(text: &str) -> Result<Pipeline, String> {
    let sources = SourceMap::default();
    Pipeline::build(&registry(), &sources, "<pipeline>", text)
        .map_err(|error| error.diagnostics.iter().map(|d| d.render(&sources, Style::Plain)).collect())
}

fn refusal(text: &str) -> String {
    build(text).err().unwrap_or_else(|| panic!("`{text}` was accepted"))
}

#[test]
fn the_struct_is_the_declaration() {
    let pass = Rename::new();
    let decl = pass.decl();
    assert_eq!((decl.name, decl.summary().as_str()), ("rename", "Renames every HIR function."));
    let options: Vec<_> = decl.options.iter().map(|o| (o.name, o.kind, o.default, o.required)).collect();
    assert_eq!(
        options,
        [
            ("prefix", OptionKind::Text, None, true),
            ("count", OptionKind::Integer, Some("1"), false),
            ("level", OptionKind::Word(&["all-of-it", "none"]), None, true),
            ("skip", OptionKind::List, None, false),
            ("quiet", OptionKind::Flag, None, false),
            ("limit", OptionKind::Integer, None, false),
        ]
    );
    assert_eq!(decl.statistics, ["functions renamed"]);
    assert_eq!((pass.count, pass.level), (1, Level::AllOfIt));
}

#[test]
fn pipelines_print_what_builds_them_again() {
    let text = r#"rename{prefix="a b" count=2 level=none skip=x,"y,z" quiet},func( rename{prefix=p count=1 level=all-of-it} ),twice{name=q}"#;
    let pipeline = build(text).unwrap();
    let printed = pipeline.to_string();
    assert_eq!(
        printed,
        r#"rename{prefix="a b" count=2 level=none skip=x,"y,z" quiet=true},rename{prefix=p level=all-of-it},rename{prefix=q level=none},rename{prefix=q count=2 level=all-of-it}"#
    );
    assert_eq!(pipeline.pass_names().count(), 4);
}

#[test]
fn refusals_show_the_text_with_a_caret() {
    let text = refusal("rename{prefix=a level=none},renam");
    assert!(text.contains("error: unknown pass `renam`"), "{text}");
    assert!(text.contains("<pipeline>:1:29"), "{text}");
    assert!(text.contains("rename{prefix=a level=none},renam\n"), "{text}");
    assert!(text.contains("                            ^^^^^"), "{text}");
    assert!(text.contains("help: did you mean `rename`?"), "{text}");

    let text = refusal("rename{prefix=a lvl=none}");
    assert!(text.contains("`rename` has no option `lvl`"), "{text}");
    assert!(text.contains("options of `rename`: prefix=TEXT, count=INT, level=all-of-it|none"), "{text}");

    let text = refusal("rename{level=none}");
    assert!(text.contains("`rename` needs the option `prefix`"), "{text}");
    let text = refusal("rename{prefix=a level=some}");
    assert!(text.contains("expected `all-of-it` or `none`, found `some`"), "{text}");
    let text = refusal("rename{prefix=a count=many level=none}");
    assert!(text.contains("option `count` of `rename`: expected a 64-bit integer, found `many`"), "{text}");
    assert!(refusal("rename{prefix=a prefix=b level=none}").contains("option `prefix` is given twice"));
    assert!(refusal("rename{prefix level=none}").contains("option `prefix` needs a value"));
    assert!(refusal("rename{prefix=forbidden level=none}").contains("option `prefix` of `rename`: not this one"));
    assert!(refusal("func(calls)").contains("`calls` is a module pass and cannot run inside `func(…)`"));
    assert!(refusal("func").contains("`func` needs a pipeline in parentheses"));
    assert!(refusal("calls(fails)").contains("`calls` is a pass and takes no pipeline"));
    assert!(refusal("fails").contains("`fails` requires `calls` earlier in the pipeline"));
    assert!(refusal("twice{name=forbidden}").contains("<pipeline twice>:1:15"));
}

#[test]
fn several_mistakes_are_reported_at_once() {
    let sources = SourceMap::default();
    let error = Pipeline::build(&registry(), &sources, "<pipeline>", "one,two,calls{x}").err().unwrap();
    assert_eq!(error.diagnostics.len(), 3);
    assert!(error.missing);
    let error = Pipeline::build(&registry(), &sources, "<pipeline>", "calls{x}").err().unwrap();
    assert!(!error.missing);
}

#[test]
fn registration_mistakes_are_found() {
    let mut registry = PassRegistry::default();
    registry.module_pass(Calls::new());
    registry.module_pass(Calls::new());
    registry.pipeline("func", "An anchor.", &[], |_| Ok(String::new()));
    let mistakes = ["pass `calls` is registered twice", "`func` is an anchor and cannot name a pass"];
    assert_eq!(registry.mistakes(), mistakes);
}

#[test]
fn functions_in_parallel_keep_order_calls_and_counts() {
    let arena = Arena::new();
    let cx = context(&arena);
    let module = module(&cx, 40);
    let pipeline = build("rename{prefix=new_ level=none},calls").unwrap();
    for threads in [1, 4] {
        let pool = rayon_pool(threads);
        let names = pool.install(|| {
            let arena = Arena::new();
            let cx = context(&arena);
            let mut statistics = Statistics::default();
            let pipeline = build("rename{prefix=new_ level=none},calls").unwrap();
            let mut manager = PassManager::default().instrument(&mut statistics);
            let outcome = manager.run(&pipeline, &cx, common::module(&cx, 40)).ok().unwrap();
            assert_eq!(statistics.report(), "        40  0:rename  functions renamed\n");
            (
                outcome.module.functions.iter().map(|f| f.name().to_string()).collect::<Vec<_>>(),
                String::from_utf8(outcome.artifacts[0].bytes.clone()).unwrap(),
            )
        });
        assert_eq!(names.0[39], "new_f39");
        // Every call follows the renamed callee.
        assert!(names.1.starts_with("new_f1 calls new_f0\nnew_f2 calls new_f1\n"), "{}", names.1);
    }
    // The input is as it was.
    assert_eq!(module.functions[0].name().as_str(), "f0");
    assert!(PassManager::default().run(&pipeline, &cx, module).is_ok());
}

fn rayon_pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

#[test]
fn a_failure_names_pass_and_function_and_keeps_the_module() {
    let arena = Arena::new();
    let cx = context(&arena);
    let input = module(&cx, 3);
    let pipeline = build("calls,fails").unwrap();
    let failure = PassManager::default().run(&pipeline, &cx, input).err().unwrap();
    assert_eq!((failure.pass, failure.module == input), (Some("fails"), true));
    let messages: Vec<_> = failure.diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(messages, ["no f0", "no f1", "no f2"]);
    let notes: Vec<_> = failure.diagnostics[1].notes.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(notes, ["in function `f1`", "in pass `fails`"]);
}

#[test]
fn an_emitted_error_fails_the_pass_and_its_artifact_is_dropped() {
    let arena = Arena::new();
    let cx = context(&arena);
    let input = module(&cx, 1);
    let registry = registry();
    let build = |text| Pipeline::build(&registry, cx.sources(), "<pipeline>", text).ok().unwrap();
    let failure = PassManager::default().run(&build("chatty"), &cx, input).err().unwrap();
    assert_eq!(failure.diagnostics.len(), 2);
    let outcome = PassManager::default().run(&build("chatty{warnings-only}"), &cx, input).ok().unwrap();
    assert_eq!(outcome.diagnostics[0].severity, Severity::Warning);
    assert_eq!(outcome.artifacts, [Artifact::text("text", "txt", "done".to_owned())]);
}

struct NoLongNames;

impl Verifier for NoLongNames {
    fn function<'c>(
        &self,
        function: tf_core::AnyFunction<'c>,
        _: tf_core::Module<'c>,
        _: &tf_core::Context<'c>,
    ) -> Result<tf_core::AnyFunction<'c>, Vec<tf_core::Diagnostic>> {
        if function.name().as_str().len() > 8 {
            Err(vec![tf_core::Diagnostic::error("too long")])
        } else {
            Ok(function)
        }
    }

    fn module<'c>(&self, _: tf_core::Module<'c>, _: &tf_core::Context<'c>) -> Vec<tf_core::Diagnostic> {
        Vec::new()
    }
}

#[test]
fn what_a_pass_changes_is_verified() {
    let arena = Arena::new();
    let cx = context(&arena);
    let input = module(&cx, 1);
    let pipeline = build("calls,rename{prefix=very_long_ level=none}").unwrap();
    let failure = PassManager::default().verify_with(&NoLongNames).run(&pipeline, &cx, input).err().unwrap();
    assert_eq!((failure.pass, failure.module == input), (Some("rename"), true));
    assert_eq!(failure.diagnostics.last().unwrap().message, "too long");
}

#[test]
fn instruments_see_every_pass() {
    let arena = Arena::new();
    let cx = context(&arena);
    let input = module(&cx, 1);
    let pipeline = build("calls,rename{prefix=a level=none}").unwrap();
    let mut timing = Timing::start();
    let mut text = Vec::new();
    let when = PrintWhen { before: vec!["calls".to_owned()], after_all: true, ..PrintWhen::default() };
    let mut printer = IrPrinter::new(when, &|module, _| format!("first is {}", module.functions[0].name()), &mut text);
    let mut manager = PassManager::default().instrument(&mut timing).instrument(&mut printer);
    assert!(manager.run(&pipeline, &cx, input).is_ok());
    drop(manager);
    drop(printer);
    let text = String::from_utf8(text).unwrap();
    assert!(text.starts_with("// -----// IR Dump Before calls //----- //\nfirst is f0\n"), "{text}");
    assert!(text.contains("// -----// IR Dump After rename //----- //\nfirst is af0\n"), "{text}");
    let table = timing.report(TimingFormat::Tree);
    let rows: Vec<_> = table.lines().map(|l| l.split_whitespace().last().unwrap()).collect();
    assert_eq!(rows, ["name", "input)", "calls", "rename", "(run)", "(check)", "(rest)", "total"]);
}
