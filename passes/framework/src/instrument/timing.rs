//! Where the time went.

use std::fmt::Write;
use std::time::Instant;

use serde_json::json;
use tf_core::{Context, Diagnostic, Module};

use super::{Instrumentation, PassRun};

/// How [`Timing::report`] writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimingFormat {
    /// In pipeline order, passes under the named pipeline they came from.
    Tree,
    /// One row a pass, the slowest first.
    Flat,
    /// The tree for programs.
    Json,
}

/// Wall time from [`Timing::start`] to the report. Every moment belongs to one row, so the rows add up to the total; time of
/// parallel functions is counted in the separate column `busy`.
#[derive(Debug)]
pub struct Timing {
    started: Instant,
    rows: Vec<Row>,
}

#[derive(Clone, Debug)]
struct Row {
    path: Vec<&'static str>,
    name: &'static str,
    run: f64,
    check: f64,
    busy: f64,
}

impl Row {
    fn wall(&self) -> f64 {
        self.run + self.check
    }
}

/// A line of the tree.
struct Line {
    depth: usize,
    name: String,
    wall: f64,
    busy: f64,
}

impl Default for Timing {
    fn default() -> Self {
        Self::start()
    }
}

impl Timing {
    /// The clock runs.
    #[must_use]
    pub fn start() -> Self {
        Self { started: Instant::now(), rows: Vec::new() }
    }

    /// Adds work that is no pass, such as reading the input.
    pub fn add(&mut self, name: &'static str, seconds: f64) {
        self.rows.push(Row { path: Vec::new(), name, run: seconds, check: 0.0, busy: seconds });
    }

    /// The table or JSON text.
    #[must_use]
    pub fn report(&self, format: TimingFormat) -> String {
        let total = self.started.elapsed().as_secs_f64();
        self.report_of(format, total)
    }

    fn report_of(&self, format: TimingFormat, total: f64) -> String {
        let known: f64 = self.rows.iter().map(Row::wall).sum();
        let rest = (total - known).max(0.0);
        let mut lines = match format {
            TimingFormat::Flat => self.flat(),
            TimingFormat::Tree | TimingFormat::Json => self.tree(),
        };
        lines.push(Line { depth: 0, name: "(rest)".to_owned(), wall: rest, busy: rest });
        let total = known + rest;
        match format {
            TimingFormat::Json => json(&lines, total),
            TimingFormat::Tree | TimingFormat::Flat => table(&lines, total),
        }
    }

    fn flat(&self) -> Vec<Line> {
        let mut lines: Vec<Line> = Vec::new();
        let mut add = |name: &str, wall, busy| match lines.iter_mut().find(|line| line.name == name) {
            Some(line) => (line.wall, line.busy) = (line.wall + wall, line.busy + busy),
            None => lines.push(Line { depth: 0, name: name.to_owned(), wall, busy }),
        };
        for row in &self.rows {
            add(row.name, row.run, row.busy);
            if row.check > 0.0 {
                add("(check)", row.check, row.check);
            }
        }
        lines.sort_by(|a, b| b.wall.total_cmp(&a.wall));
        lines
    }

    fn tree(&self) -> Vec<Line> {
        let mut lines: Vec<Line> = Vec::new();
        // The named pipelines that are open, by the index of their line.
        let mut open: Vec<(&'static str, usize)> = Vec::new();
        for row in &self.rows {
            let same = open.iter().zip(&row.path).take_while(|((name, _), part)| name == *part).count();
            open.truncate(same);
            for &part in &row.path[same..] {
                lines.push(Line { depth: open.len(), name: part.to_owned(), wall: 0.0, busy: 0.0 });
                open.push((part, lines.len() - 1));
            }
            for &(_, at) in &open {
                lines[at].wall += row.wall();
                lines[at].busy += row.busy + row.check;
            }
            let depth = open.len();
            lines.push(Line { depth, name: row.name.to_owned(), wall: row.wall(), busy: row.busy + row.check });
            if row.check > 0.0 {
                lines.push(Line { depth: depth + 1, name: "(run)".to_owned(), wall: row.run, busy: row.busy });
                lines.push(Line { depth: depth + 1, name: "(check)".to_owned(), wall: row.check, busy: row.check });
            }
        }
        lines
    }
}

fn share(part: f64, total: f64) -> f64 {
    if total > 0.0 { 100.0 * part / total } else { 0.0 }
}

fn table(lines: &[Line], total: f64) -> String {
    let mut out = String::from("  wall (s)      %  busy (s)  name\n");
    let busy = lines.iter().filter(|line| line.depth == 0).map(|line| line.busy).sum();
    for Line { depth, name, wall, busy } in
        lines.iter().chain([&Line { depth: 0, name: "total".to_owned(), wall: total, busy }])
    {
        let indent = "  ".repeat(*depth);
        let _ = writeln!(out, "{wall:>10.4}  {:>5.1}  {busy:>8.4}  {indent}{name}", share(*wall, total));
    }
    out
}

fn json(lines: &[Line], total: f64) -> String {
    let rows: Vec<_> = lines
        .iter()
        .map(|line| {
            json!({
                "name": line.name, "depth": line.depth, "wall": line.wall,
                "percent": share(line.wall, total), "busy": line.busy,
            })
        })
        .collect();
    format!("{}\n", json!({ "total": total, "rows": rows }))
}

impl Instrumentation for Timing {
    fn input<'c>(&mut self, seconds: f64, _: Module<'c>, _: &Context<'c>) {
        self.add("(check of the input)", seconds);
    }

    fn after<'c>(&mut self, run: &PassRun<'_>, _: Module<'c>, _: Module<'c>, _: &Context<'c>) {
        let mut path = run.path.to_vec();
        let mut name = run.decl.name;
        if run.nested_seconds > 0.0 {
            // The passes that it ran have rows of their own, under its name.
            path.push(name);
            name = "(itself)";
        }
        self.rows.push(Row {
            path,
            name,
            run: run.seconds - run.nested_seconds,
            check: run.check_seconds,
            busy: run.busy_seconds,
        });
    }

    fn failed<'c>(&mut self, run: &PassRun<'_>, before: Module<'c>, _: &[Diagnostic], cx: &Context<'c>) {
        self.after(run, before, before, cx);
    }
}

#[cfg(test)]
mod tests {
    use super::{Row, Timing, TimingFormat};

    fn timing() -> Timing {
        let mut timing = Timing::start();
        timing.add("(read)", 1.0);
        let row =
            |path: &[&'static str], name, run, check| Row { path: path.to_vec(), name, run, check, busy: 2.0 * run };
        timing.rows.push(row(&[], "a", 1.0, 0.0));
        timing.rows.push(row(&["p"], "b", 2.0, 0.5));
        timing.rows.push(row(&["p"], "a", 1.5, 0.0));
        timing
    }

    #[test]
    fn the_outer_rows_sum_to_the_total() {
        let json: serde_json::Value = serde_json::from_str(&timing().report_of(TimingFormat::Json, 8.0)).unwrap();
        let rows = json["rows"].as_array().unwrap();
        let outer = |field: &str| -> f64 {
            rows.iter().filter(|row| row["depth"] == 0).map(|row| row[field].as_f64().unwrap()).sum()
        };
        assert!((outer("wall") - 8.0).abs() < 1e-9 && (outer("percent") - 100.0).abs() < 1e-9);
    }

    #[test]
    fn passes_stand_under_their_pipeline() {
        let tree = timing().report_of(TimingFormat::Tree, 8.0);
        assert!(tree.contains("    4.0000   50.0    7.5000  p\n    2.5000   31.2    4.5000    b\n"), "{tree}");
        assert!(tree.ends_with("    8.0000  100.0   12.5000  total\n"), "{tree}");
    }

    #[test]
    fn the_flat_form_merges_and_sorts() {
        let flat = timing().report_of(TimingFormat::Flat, 8.0);
        assert!(
            flat.lines().nth(1).unwrap().ends_with("  a") && flat.contains("    2.5000   31.2    5.0000  a\n"),
            "{flat}"
        );
    }
}
