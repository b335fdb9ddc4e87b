//! `tf-run`: launches an artifact on a CUDA device and compares its results with reference values.

mod bind;
mod options;
mod report;

use std::process::ExitCode;

use tf_artifact::Artifact;
use tf_value::Tensor;
use tf_value::io::{TensorFile, write_tensors};

use options::{Command, Options};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args_os().skip(1).map(|one| one.to_string_lossy().into_owned()).collect();
    let done = options::parse(&arguments).and_then(|command| match command {
        Command::Help => {
            print!("{}", options::HELP);
            Ok(true)
        }
        Command::Version => {
            println!("tf-run {}", env!("CARGO_PKG_VERSION"));
            Ok(true)
        }
        Command::Probe => Ok(probe()),
        Command::Run(options) => run(&options),
    });
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// Prints what device there is, or why there is none.
fn probe() -> bool {
    match tf_cuda::devices() {
        Ok(devices) if devices.is_empty() => println!("no CUDA device: the driver has none"),
        Ok(devices) => {
            for device in devices {
                let (major, minor) = device.compute_capability;
                println!("cuda:{} {} sm_{major}{minor}", device.ordinal, device.name);
            }
            return true;
        }
        Err(error) => println!("no CUDA device: {error}"),
    }
    false
}

/// Whether everything was within tolerance.
fn run(options: &Options) -> Result<bool, String> {
    let artifact = Artifact::read(&options.artifact).map_err(|error| error.to_string())?;
    let entry = &artifact.manifest().entry;
    let open = |path: &Option<_>| path.as_ref().map(TensorFile::open).transpose().map_err(|error| error.to_string());
    let (inputs, expected) = (open(&options.inputs)?, open(&options.expect)?);
    let bound = bind::inputs(entry, inputs.as_ref(), &options.prefix)?;
    for note in &bound.notes {
        eprintln!("note: {note}");
    }
    let wanted = expected.map(|file| bind::expected(entry, &file, options)).transpose()?;
    let given: Vec<(&str, Tensor)> = bound.tensors.iter().map(|(name, tensor)| (*name, tensor.clone())).collect();
    let done =
        tf_cuda::run_timed(&artifact, options.device, &given, options.time).map_err(|error| error.to_string())?;
    if let Some(path) = &options.outputs {
        let names: Vec<String> = (0..done.outputs.len()).map(|index| format!("out{index}")).collect();
        write_tensors(path, names.iter().map(String::as_str).zip(&done.outputs)).map_err(|error| error.to_string())?;
    }
    let report = report::Report::new(&entry.name, options, &done, wanted.as_deref());
    for failure in &report.failures {
        eprintln!("error: {failure}");
    }
    if options.expect.is_some() || options.time > 0 {
        println!("{}", report.json());
    }
    Ok(report.pass())
}
