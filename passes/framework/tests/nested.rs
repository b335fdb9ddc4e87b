//! Passes that run a pipeline.

mod common;

use common::{context, module, registry};
use tf_core::diag::Style;
use tf_core::{Arena, SourceMap};
use tf_framework::{
    Instrumentation, IrPrinter, PassManager, PassRun, Pipeline, PrintWhen, Recipe, Reproducer, Statistics, Timing,
    TimingFormat,
};

fn build(text: &str) -> Result<Pipeline, String> {
    let sources = SourceMap::default();
    Pipeline::build(&registry(), &sources, "<pipeline>", text)
        .map_err(|error| error.diagnostics.iter().map(|d| d.render(&sources, Style::Plain)).collect())
}

/// Runs a pipeline on two functions; tells whether it failed.
fn run(text: &str, instrument: &mut dyn Instrumentation) -> Result<String, Vec<String>> {
    let arena = Arena::new();
    let cx = context(&arena);
    let pipeline = build(text).unwrap();
    let result = PassManager::default().instrument(instrument).run(&pipeline, &cx, module(&cx, 2));
    match result {
        Ok(outcome) => Ok(outcome.module.functions.iter().map(|f| format!("{} ", f.name())).collect()),
        Err(failure) => Err(failure.diagnostics.iter().flat_map(|d| d.notes.iter().map(|n| n.1.clone())).collect()),
    }
}

const TWICE: &str = "calls,times{n=2 passes={rename{prefix=a level=none},calls}}";

#[test]
fn a_nested_pipeline_prints_what_builds_it_again() {
    let text =
        build("calls, times{ passes={ twice{name=q} ,func(rename{prefix=b level=none})} n=1 }").unwrap().to_string();
    assert_eq!(
        text,
        "calls,times{n=1 passes={rename{prefix=q level=none},rename{prefix=q count=2 level=all-of-it},\
         rename{prefix=b level=none}}}"
    );
    assert_eq!(build(&text).unwrap().to_string(), text);
}

#[test]
fn mistakes_inside_are_shown_in_place() {
    let refusal = |text: &str| build(text).err().unwrap();
    let text = refusal("calls,times{n=1 passes={renam}}");
    assert!(text.contains("unknown pass `renam`") && text.contains("<pipeline>:1:25"), "{text}");
    let text = refusal("calls,times{n=1 passes=rename}");
    assert!(text.contains("option `passes` of `times` needs a pipeline in braces"), "{text}");
    assert!(text.contains("write `passes={PASS,…}`"), "{text}");
    let text = refusal("calls{}, rename{prefix={calls} level=none}");
    assert!(text.contains("option `prefix` of `rename` takes no pipeline in braces"), "{text}");
    // What stands before a pass includes what stands before it inside.
    assert!(refusal("times{n=1 passes={fails}}").contains("`fails` requires `calls` earlier"));
    assert!(build("calls,times{n=1 passes={fails}}").is_ok());
}

#[test]
fn rounds_are_run_counted_and_timed() {
    let mut statistics = Statistics::default();
    assert_eq!(run(TWICE, &mut statistics).unwrap(), "aaf0 aaf1 ");
    assert_eq!(statistics.report(), "         4  1.0:rename  functions renamed\n");
    let mut timing = Timing::start();
    assert!(run(TWICE, &mut timing).is_ok());
    let table = timing.report(TimingFormat::Tree);
    let rows: Vec<_> = table.lines().filter_map(|line| line.split_whitespace().last()).collect();
    let passes: Vec<_> = rows.into_iter().filter(|row| !["(run)", "(check)"].contains(row)).collect();
    let inner = ["times", "rename", "calls", "rename", "calls", "(itself)"];
    assert!(passes.windows(6).any(|window| window == inner), "{table}");
    let json: serde_json::Value = serde_json::from_str(&timing.report(TimingFormat::Json)).unwrap();
    let outer = json["rows"].as_array().unwrap().iter().filter(|row| row["depth"] == 0);
    let sum: f64 = outer.map(|row| row["percent"].as_f64().unwrap()).sum();
    assert!((sum - 100.0).abs() < 1e-6, "{sum}");
}

#[test]
fn a_failure_inside_names_both_and_its_reproducer_the_inner() {
    let path = std::env::temp_dir().join(format!("tf-framework-nested-{}.tfir", std::process::id()));
    let mut reproducer = Reproducer::new(path.clone(), Recipe::default(), &|_, _| String::new());
    let notes = run("calls,times{n=1 passes={chatty}}", &mut reproducer).unwrap_err();
    assert_eq!(notes, ["in pass `chatty`", "in pass `times`"]);
    assert!(reproducer.outcome().unwrap());
    let recipe = Recipe::parse(&std::fs::read_to_string(&path).unwrap()).unwrap();
    std::fs::remove_file(path).unwrap();
    assert_eq!((recipe.pipeline.as_str(), recipe.after), ("chatty", vec!["calls".to_owned()]));
}

/// What opens and closes around each pass.
#[derive(Default)]
struct Groups(String);

impl Instrumentation for Groups {
    fn before<'c>(&mut self, run: &PassRun<'_>, _: tf_core::Module<'c>, _: &tf_core::Context<'c>) {
        self.0.push_str(&format!("{}{} ", "(".repeat(run.opens.len()), run.number));
    }

    fn after<'c>(
        &mut self,
        run: &PassRun<'_>,
        _: tf_core::Module<'c>,
        _: tf_core::Module<'c>,
        _: &tf_core::Context<'c>,
    ) {
        self.0.push_str(&")".repeat(run.closes.len()));
    }
}

#[test]
fn named_pipelines_begin_and_end() {
    let mut groups = Groups::default();
    assert!(run("calls,twice{name=x},twice{name=y},times{n=1 passes={twice{name=z}}}", &mut groups).is_ok());
    assert_eq!(groups.0, "0 (1 2 )(3 4 )5 (5.0 5.1 )");
}

#[test]
fn ir_is_printed_around_a_named_pipeline() {
    let mut out = Vec::new();
    let when = PrintWhen {
        before: vec!["twice".to_owned()],
        after: vec!["twice".to_owned()],
        functions: vec!["f0".to_owned()],
        ..PrintWhen::default()
    };
    let print = |module: tf_core::Module<'_>, _: &tf_core::Context<'_>| format!("{} functions", module.functions.len());
    let mut printer = IrPrinter::new(when, &print, &mut out);
    assert!(run("calls,twice{name=x}", &mut printer).is_ok());
    drop(printer);
    assert_eq!(
        String::from_utf8(out).unwrap(),
        "// -----// IR Dump Before twice (@f0) //----- //\n1 functions\n\n\
         // -----// IR Dump After twice (@f0) //----- //\n// no such function\n\n"
    );
    let mut out = Vec::new();
    let when = PrintWhen { after: vec!["twice".to_owned()], diff: true, ..PrintWhen::default() };
    let print = |module: tf_core::Module<'_>, _: &tf_core::Context<'_>| format!("{}\n", module.functions[0].name());
    let mut printer = IrPrinter::new(when, &print, &mut out);
    assert!(run("calls,twice{name=x}", &mut printer).is_ok());
    drop(printer);
    assert!(String::from_utf8(out).unwrap().ends_with("IR Diff After twice //----- //\n@@ -1 +1 @@\n-f0\n+xxf0\n\n"));
}
