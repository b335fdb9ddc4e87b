//! Spans of `tracing` as a Chrome trace, which chrome://tracing and Perfetto show.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// The events of a run. Shared by the driver and its plugins, each of which has its own copy of `tracing`.
pub struct TraceLog {
    started: Instant,
    events: Mutex<Vec<TraceEvent>>,
    next: AtomicU64,
}

struct TraceEvent {
    name: String,
    arguments: String,
    /// `B`, `E` or `i`.
    phase: char,
    thread: u64,
    micros: f64,
}

impl Default for TraceLog {
    fn default() -> Self {
        Self { started: Instant::now(), events: Mutex::default(), next: AtomicU64::new(1) }
    }
}

/// Data behind these locks is whole at any time.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl TraceLog {
    fn push(&self, name: String, arguments: String, phase: char) {
        let micros = self.started.elapsed().as_secs_f64() * 1e6;
        // SAFETY: gettid has no precondition. A plugin's copy of the standard library numbers threads differently; the kernel does not.
        let thread = unsafe { libc::gettid() }.unsigned_abs().into();
        lock(&self.events).push(TraceEvent { name, arguments, phase, thread, micros });
    }

    /// The trace file.
    #[must_use]
    pub fn to_json(&self) -> String {
        let process = std::process::id();
        let events: Vec<_> = lock(&self.events)
            .iter()
            .map(|e| {
                json!({
                    "name": e.name, "ph": e.phase.to_string(), "pid": process, "tid": e.thread, "ts": e.micros,
                    "args": { "fields": e.arguments },
                })
            })
            .collect();
        format!("{}\n", json!({ "traceEvents": events, "displayTimeUnit": "ms" }))
    }

    /// Makes it the place where all spans of this copy of `tracing` go.
    pub fn install(self: &Arc<Self>) {
        let subscriber = Recorder { log: Arc::clone(self), open: Mutex::default() };
        // Somebody else's subscriber stays.
        let _ = tracing::subscriber::set_global_default(subscriber);
    }
}

struct Recorder {
    log: Arc<TraceLog>,
    /// Name and fields by span.
    open: Mutex<HashMap<u64, (String, String)>>,
}

#[derive(Default)]
struct Fields {
    title: Option<String>,
    text: String,
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "name" | "message" => self.title = Some(value.to_owned()),
            _ => self.record_debug(field, &value),
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        match field.name() {
            "name" | "message" => self.title = Some(format!("{value:?}")),
            name => {
                let gap = if self.text.is_empty() { "" } else { " " };
                let _ = write!(self.text, "{gap}{name}={value:?}");
            }
        }
    }
}

impl Fields {
    fn title(&self, metadata: &Metadata<'_>) -> String {
        match &self.title {
            Some(title) => format!("{} {title}", metadata.name()),
            None => metadata.name().to_owned(),
        }
    }
}

impl Subscriber for Recorder {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields::default();
        span.record(&mut fields);
        let id = self.log.next.fetch_add(1, Ordering::Relaxed);
        lock(&self.open).insert(id, (fields.title(span.metadata()), fields.text));
        Id::from_u64(id)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        self.log.push(fields.title.clone().unwrap_or_else(|| event.metadata().name().to_owned()), fields.text, 'i');
    }

    fn enter(&self, span: &Id) {
        let (name, arguments) = lock(&self.open).get(&span.into_u64()).cloned().unwrap_or_default();
        self.log.push(name, arguments, 'B');
    }

    fn exit(&self, span: &Id) {
        let name = lock(&self.open).get(&span.into_u64()).map(|(name, _)| name.clone()).unwrap_or_default();
        self.log.push(name, String::new(), 'E');
    }

    fn try_close(&self, id: Id) -> bool {
        lock(&self.open).remove(&id.into_u64()).is_some()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::{Recorder, TraceLog};

    #[test]
    fn spans_begin_and_end() {
        let log = Arc::new(TraceLog::default());
        let recorder = Recorder { log: Arc::clone(&log), open: Mutex::default() };
        tracing::subscriber::with_default(recorder, || {
            let span = tracing::info_span!("pass", name = "cse", rounds = 2);
            span.in_scope(|| tracing::info!(removed = 3, "done"));
        });
        let json: serde_json::Value = serde_json::from_str(&log.to_json()).unwrap();
        let events = json["traceEvents"].as_array().unwrap();
        let of = |key: &str| events.iter().map(|e| e[key].as_str().unwrap()).collect::<Vec<_>>();
        assert_eq!((of("name"), of("ph")), (vec!["pass cse", "done", "pass cse"], vec!["B", "i", "E"]));
        assert_eq!(events[0]["args"]["fields"], "rounds=2");
    }
}
