//! An MLIR context with everything registered, and a collector for its diagnostics.
use crate::BackendError;
use melior::{
    Context,
    diagnostic::{Diagnostic, DiagnosticSeverity},
    dialect::DialectRegistry,
    ir::{Module, operation::OperationLike},
    utility::{register_all_dialects, register_all_llvm_translations, register_all_passes},
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Longest text kept of one MLIR message; notes print whole operations.
const MESSAGE_LIMIT: usize = 2000;

/// One MLIR context with all dialects, passes and LLVM translations, single-threaded so that
/// messages come in a fixed order. MLIR objects borrow the session's context.
pub struct Session {
    context: Context,
    messages: Arc<Mutex<Vec<String>>>,
}

impl Default for Session {
    fn default() -> Self {
        Self::new()
    }
}

impl Session {
    /// Creates the context; takes some 20 ms, so one session should serve many modules.
    pub fn new() -> Self {
        register_all_passes();
        let registry = DialectRegistry::new();
        register_all_dialects(&registry);
        let context = Context::new_with_registry(&registry, false);
        register_all_llvm_translations(&context);
        context.load_all_available_dialects();
        let messages = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&messages);
        context.attach_diagnostic_handler(move |diagnostic| {
            let mut lines = lock(&sink);
            lines.push(render(&diagnostic));
            for index in 0..diagnostic.note_count() {
                if let Ok(note) = diagnostic.note(index) {
                    lines.push(render(&note));
                }
            }
            true
        });
        Self { context, messages }
    }

    /// The MLIR context, for building operations.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Parses and verifies a module in MLIR's textual form.
    ///
    /// # Errors
    /// The parser's or verifier's messages, with line and column.
    pub fn parse(&self, text: &str) -> Result<Module<'_>, BackendError> {
        if text.contains('\0') {
            return Err(BackendError::new("MLIR text holds a NUL character"));
        }
        self.attempt("cannot parse the MLIR module", || Module::parse(&self.context, text).ok_or(()))
    }

    /// Runs MLIR's verifier over a module.
    ///
    /// # Errors
    /// The verifier's messages.
    pub fn verify(&self, module: &Module) -> Result<(), BackendError> {
        self.attempt(
            "the MLIR module does not verify",
            || {
                if module.as_operation().verify() { Ok(()) } else { Err(()) }
            },
        )
    }

    /// Runs one MLIR step and turns its failure into an error that holds the messages MLIR
    /// reported during the step. Messages of earlier steps are dropped.
    ///
    /// # Errors
    /// `what`, with the collected messages, when `step` fails.
    pub fn attempt<T, E>(&self, what: &str, step: impl FnOnce() -> Result<T, E>) -> Result<T, BackendError> {
        lock(&self.messages).clear();
        let result = step();
        let details = std::mem::take(&mut *lock(&self.messages));
        result.map_err(|_| BackendError::with_details(what, details))
    }
}

fn lock(messages: &Mutex<Vec<String>>) -> MutexGuard<'_, Vec<String>> {
    messages.lock().unwrap_or_else(PoisonError::into_inner)
}

fn render(diagnostic: &Diagnostic<'_>) -> String {
    let severity = match diagnostic.severity() {
        DiagnosticSeverity::Error => "error",
        DiagnosticSeverity::Warning => "warning",
        DiagnosticSeverity::Note => "note",
        DiagnosticSeverity::Remark => "remark",
    };
    let mut text = format!("{severity}: {diagnostic}");
    if text.len() > MESSAGE_LIMIT {
        let end = (0..=MESSAGE_LIMIT).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        text.truncate(end);
        text.push_str(" ...");
    }
    let place = diagnostic.location().to_string();
    match place.as_str() {
        "loc(unknown)" => text,
        _ => format!("{place}: {text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syntax_error_has_message_and_place() {
        let session = Session::new();
        let error = session.parse("module { func.func @f( }").unwrap_err();
        assert_eq!(error.message, "cannot parse the MLIR module");
        assert!(error.details.iter().any(|d| d.contains("error:") && d.contains(":1:")), "{error}");
    }

    #[test]
    fn type_error_is_the_verifiers() {
        let session = Session::new();
        let text = "func.func @f(%a: f32) -> i32 {\n  return %a : f32\n}";
        let error = session.parse(text).unwrap_err();
        assert!(error.to_string().contains("doesn't match function result type"), "{error}");
    }

    #[test]
    fn messages_do_not_leak_into_the_next_step() {
        let session = Session::new();
        assert!(session.parse("nonsense").is_err());
        let error = session.attempt("step", || Err::<(), ()>(())).unwrap_err();
        assert!(error.details.is_empty());
        assert!(session.parse("a\0b").is_err());
    }
}
