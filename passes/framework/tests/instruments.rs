//! What watches passes run, and what happens when they panic.

mod common;

use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use common::{context, module, registry};
use tf_core::diag::Severity;
use tf_core::{Arena, Function, Module, Result};
use tf_framework::{
    FunctionCx, FunctionPass, IrPrinter, Pass, PassCx, PassManager, Pipeline, PrintWhen, Progress, Recipe,
    RemarkFilter, RemarkKind, Reproducer, TimeLimit, TracePage, record_panics,
};

/// Panics in one function, and tells of the others.
#[derive(Clone, Pass)]
#[pass(name = "panics")]
struct Panics {
    /// The function.
    #[option]
    at: String,
}

impl FunctionPass for Panics {
    fn run<'c>(&self, function: Function<'c>, cx: &FunctionCx<'_, 'c>) -> Result<Function<'c>> {
        assert!(function.name.as_str() != self.at, "cannot do {}", self.at);
        cx.remark(RemarkKind::Missed, function.span, || "nothing to do".to_owned());
        Ok(function)
    }
}

/// Works on the driver's threads.
#[derive(Clone, Pass)]
#[pass(name = "mapped")]
struct Mapped {}

impl Pass for Mapped {
    fn run<'c>(&self, module: Module<'c>, cx: &mut PassCx<'_, 'c>) -> Result<Module<'c>> {
        let names = cx.map_in_parallel(module.functions, |_, f| {
            assert!(f.name().as_str() != "f20", "f20 is bad luck");
            f.name()
        });
        assert!(names.iter().zip(module.functions).all(|(name, f)| *name == f.name()));
        Ok(module)
    }
}

/// Takes its time.
#[derive(Clone, Pass)]
#[pass(name = "slow")]
struct Slow {}

impl Pass for Slow {
    fn run<'c>(&self, module: Module<'c>, _: &mut PassCx<'_, 'c>) -> Result<Module<'c>> {
        thread::sleep(Duration::from_millis(300));
        Ok(module)
    }
}

fn text(module: Module<'_>) -> String {
    module.functions.iter().map(|f| format!("{}\n", f.name())).collect()
}

fn pipeline(text: &str) -> Pipeline {
    let mut registry = registry();
    registry.function_pass(Panics::new());
    registry.module_pass(Mapped::new());
    registry.module_pass(Slow::new());
    Pipeline::build(&registry, &tf_core::SourceMap::default(), "<pipeline>", text).ok().unwrap()
}

#[test]
fn a_panic_is_a_diagnostic_with_pass_function_and_place() {
    record_panics();
    let arena = Arena::new();
    let cx = context(&arena);
    let failure = PassManager::default().run(&pipeline("panics{at=f1}"), &cx, module(&cx, 3)).err().unwrap();
    let [error] = failure.diagnostics.as_slice() else { panic!("one error: {:?}", failure.diagnostics) };
    assert_eq!(error.message, "pass `panics` panicked: cannot do f1");
    let notes: Vec<_> = error.notes.iter().map(|(_, note)| note.as_str()).collect();
    assert!(notes[0].starts_with("the panic is at ") && notes[0].contains("instruments.rs:"), "{notes:?}");
    assert_eq!(notes[1..], ["in function `f1`", "in pass `panics`"]);
}

#[test]
fn a_panic_on_another_thread_is_caught_too() {
    record_panics();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    pool.install(|| {
        let arena = Arena::new();
        let cx = context(&arena);
        assert!(PassManager::default().run(&pipeline("mapped"), &cx, module(&cx, 20)).is_ok());
        let failure = PassManager::default().run(&pipeline("mapped"), &cx, module(&cx, 40)).err().unwrap();
        let message = &failure.diagnostics[0].message;
        assert!(message.starts_with("pass `mapped` panicked: f20 is bad luck (at "), "{message}");
    });
}

#[test]
fn remarks_come_when_asked_for() {
    let arena = Arena::new();
    let cx = context(&arena);
    let pipeline = pipeline("panics{at=none}");
    let quiet = PassManager::default().run(&pipeline, &cx, module(&cx, 2)).ok().unwrap();
    assert!(quiet.diagnostics.is_empty());
    let applied = RemarkFilter { applied: true, ..RemarkFilter::default() };
    let other = PassManager::default().remarks(applied, &[]).run(&pipeline, &cx, module(&cx, 2)).ok().unwrap();
    assert!(other.diagnostics.is_empty());
    let all = PassManager::default().remarks(RemarkFilter::ALL, &[]).run(&pipeline, &cx, module(&cx, 2)).ok().unwrap();
    let remark = &all.diagnostics[1];
    assert_eq!((remark.severity, remark.message.as_str()), (Severity::Remark, "missed: nothing to do"));
    assert_eq!((remark.notes[0].1.as_str(), remark.code), ("in function `f1`", Some("panics")));
    let other = ["other".to_owned()];
    let none = PassManager::default().remarks(RemarkFilter::ALL, &other).run(&pipeline, &cx, module(&cx, 2));
    assert!(none.ok().unwrap().diagnostics.is_empty());
}

fn printed(when: PrintWhen) -> String {
    let arena = Arena::new();
    let cx = context(&arena);
    let mut out = Vec::new();
    let mut printer = IrPrinter::new(when, &|module, _| text(module), &mut out);
    let mut manager = PassManager::default().instrument(&mut printer);
    assert!(manager.run(&pipeline("calls,rename{prefix=a level=none skip=f0}"), &cx, module(&cx, 2)).is_ok());
    drop(manager);
    drop(printer);
    String::from_utf8(out).unwrap()
}

#[test]
fn ir_on_change_as_diff_and_of_one_function() {
    let on_change = printed(PrintWhen { after_change: true, ..PrintWhen::default() });
    assert_eq!(on_change, "// -----// IR Dump After rename //----- //\nf0\naf1\n\n");
    let diff = printed(PrintWhen { after_all: true, diff: true, ..PrintWhen::default() });
    let calls = "// -----// IR Diff After calls //----- //\n// no change\n\n";
    assert_eq!(diff, format!("{calls}// -----// IR Diff After rename //----- //\n@@ -1,2 +1,2 @@\n f0\n-f1\n+af1\n\n"));
    let one = PrintWhen { before_all: true, functions: vec!["f1".to_owned()], ..PrintWhen::default() };
    assert!(printed(one).starts_with("// -----// IR Dump Before calls (@f1) //----- //\nf1\n\n"));
    let unchanged = PrintWhen { after_change: true, functions: vec!["f0".to_owned()], ..PrintWhen::default() };
    assert_eq!(printed(unchanged), "");
    let none = PrintWhen { after_all: true, functions: vec!["g".to_owned()], ..PrintWhen::default() };
    assert!(printed(none).contains("(@g) //----- //\n// no such function\n"));
}

#[test]
fn a_reproducer_stays_after_a_failure_only() {
    let path = std::env::temp_dir().join(format!("tf-framework-reproducer-{}.tfir", std::process::id()));
    let arena = Arena::new();
    let cx = context(&arena);
    for (at, fails) in [("f1", true), ("none", false)] {
        let mut reproducer = Reproducer::new(path.clone(), Recipe::default(), &|module, _| text(module));
        let mut manager = PassManager::default().instrument(&mut reproducer);
        let run = manager.run(&pipeline(&format!("calls,panics{{at={at}}}")), &cx, module(&cx, 2));
        assert_eq!(run.is_err(), fails);
        drop(manager);
        assert_eq!((reproducer.outcome().unwrap(), path.exists()), (fails, fails));
        if fails {
            let written = std::fs::read_to_string(&path).unwrap();
            let recipe = Recipe::parse(&written).unwrap();
            assert_eq!((recipe.pipeline.as_str(), recipe.after), ("panics{at=f1}", vec!["calls".to_owned()]));
            assert!(written.ends_with("// error: pass `panics` panicked: cannot do f1\nf0\nf1\n"), "{written}");
        }
    }
}

#[test]
fn the_trace_page_holds_every_step() {
    let arena = Arena::new();
    let cx = context(&arena);
    let mut trace = TracePage::new(&|module, _| text(module));
    let mut manager = PassManager::default().instrument(&mut trace);
    assert!(manager.run(&pipeline("twice{name=x}"), &cx, module(&cx, 1)).is_ok());
    drop(manager);
    let page = TracePage::page("a <b>", trace.into_steps());
    assert!(page.contains("<title>a &lt;b></title>") && page.contains(r#""lines":["-f0","+xf0"]"#), "{page}");
    assert!(page.contains(r#""in":["twice"]"#) && page.matches("</script>").count() == 1);
}

/// A terminal.
#[derive(Clone, Default)]
struct Screen(Arc<Mutex<Vec<u8>>>);

impl Screen {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Ends when something is on the screen.
#[derive(Clone, Pass)]
#[pass(name = "long")]
struct Long {
    screen: Screen,
}

impl Pass for Long {
    fn run<'c>(&self, module: Module<'c>, _: &mut PassCx<'_, 'c>) -> Result<Module<'c>> {
        while self.screen.text().is_empty() {
            thread::sleep(Duration::from_millis(1));
        }
        Ok(module)
    }
}

#[test]
fn a_pass_that_takes_long_is_named_while_it_runs() {
    let arena = Arena::new();
    let cx = context(&arena);
    let screen = Screen::default();
    let mut registry = registry();
    registry.module_pass(Long::new(screen.clone()));
    let long = Pipeline::build(&registry, &tf_core::SourceMap::default(), "<pipeline>", "long,calls").ok().unwrap();
    let mut progress = Progress::new(screen.clone(), Duration::from_millis(1));
    assert!(PassManager::default().instrument(&mut progress).run(&long, &cx, module(&cx, 1)).is_ok());
    drop(progress);
    assert_eq!(screen.text(), "\r\x1b[K[1/2] long\r\x1b[K\r\x1b[K[2/2] calls\r\x1b[K");

    let quiet = Screen::default();
    let mut progress = Progress::new(quiet.clone(), Duration::from_secs(3600));
    assert!(PassManager::default().instrument(&mut progress).run(&pipeline("calls"), &cx, module(&cx, 1)).is_ok());
    drop(progress);
    assert_eq!(quiet.text(), "");
}

#[test]
fn a_pass_that_takes_too_long_is_told() {
    let arena = Arena::new();
    let cx = context(&arena);
    let expired = |text: &str, limit: Duration| {
        let (sender, receiver) = std::sync::mpsc::channel();
        let mut limit = TimeLimit::new(limit, move |pass| sender.send(pass.to_owned()).unwrap()).unwrap();
        let run = PassManager::default().instrument(&mut limit).run(&pipeline(text), &cx, module(&cx, 1));
        assert!(run.is_ok());
        drop(limit);
        receiver.try_iter().collect::<Vec<_>>()
    };
    assert_eq!(expired("mapped,slow,mapped", Duration::from_millis(50)), ["slow"]);
    assert!(expired("mapped,slow,slow", Duration::from_secs(60)).is_empty());
    // Each pass has the time for itself.
    assert!(expired("slow,slow,slow,slow", Duration::from_millis(1100)).is_empty());
}
