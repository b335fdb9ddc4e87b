//! The JSON line of a run.

use serde_json::{Value as Json, json};
use tf_cuda::Run;
use tf_value::{Tensor, compare};

use crate::options::Options;

/// What a run is reported as.
pub(crate) struct Report {
    program: String,
    device: String,
    /// Greatest absolute and relative difference, over all results; absent where nothing was compared.
    difference: Option<(f64, f64)>,
    time_us: Option<f64>,
    /// One sentence for each result out of tolerance.
    pub(crate) failures: Vec<String>,
}

impl Report {
    pub(crate) fn new(program: &str, options: &Options, run: &Run, wanted: Option<&[Tensor]>) -> Self {
        let mut report = Self {
            program: program.to_owned(),
            device: format!("cuda:{}", options.device),
            difference: wanted.map(|_| (0.0, 0.0)),
            time_us: run.median_us,
            failures: Vec::new(),
        };
        for (index, (got, want)) in run.outputs.iter().zip(wanted.unwrap_or_default()).enumerate() {
            let result = compare(got, want, options.rtol, options.atol);
            let (abs, rel) = report.difference.unwrap_or_default();
            report.difference = Some((abs.max(result.max_abs), rel.max(result.max_rel)));
            if !result.pass() {
                report.failures.push(format!("out{index}: {result}"));
            }
        }
        report
    }

    pub(crate) fn pass(&self) -> bool {
        self.failures.is_empty()
    }

    /// One line; an infinite difference is `null`, as JSON has no infinity.
    pub(crate) fn json(&self) -> Json {
        json!({
            "program": self.program,
            "device": self.device,
            "max_abs": self.difference.map(|(abs, _)| abs),
            "max_rel": self.difference.map(|(_, rel)| rel),
            "pass": self.difference.map(|_| self.pass()),
            "time_us": self.time_us,
        })
    }
}

#[cfg(test)]
mod tests {
    use tf_cuda::Run;
    use tf_value::Tensor;

    use super::Report;
    use crate::options::Options;

    fn run(values: &[f32], median_us: Option<f64>) -> Run {
        Run { outputs: values.iter().map(|&value| Tensor::scalar(value)).collect(), median_us }
    }

    #[test]
    fn the_line_holds_the_widest_difference() {
        let options = Options { rtol: 0.1, ..Options::default() };
        let wanted = [Tensor::scalar(1.0f32), Tensor::scalar(4.0f32)];
        let report = Report::new("f", &options, &run(&[1.0, 4.25], Some(2.5)), Some(&wanted));
        assert!(report.pass());
        let line = r#"{"device":"cuda:0","max_abs":0.25,"max_rel":0.0625,"pass":true,"program":"f","time_us":2.5}"#;
        assert_eq!(report.json().to_string(), line);
    }

    #[test]
    fn failures_and_runs_without_comparison() {
        let wanted = [Tensor::scalar(1.0f32)];
        let report = Report::new("f", &Options::default(), &run(&[f32::NAN], None), Some(&wanted));
        assert!(!report.pass());
        assert!(report.failures[0].starts_with("out0: 1 elements differ, first at []: got NaN, want 1"));
        assert!(report.json().to_string().contains(r#""max_abs":null"#));
        let report = Report::new("f", &Options::default(), &run(&[1.0], Some(1.0)), None);
        assert!(report.pass() && report.json()["pass"].is_null());
    }
}
