//! `tf-reduce`: makes a program that shows a fault as small as it can be (docs/tf-reduce.md).

mod args;
mod child;
mod files;
mod input;
mod output;
mod progress;
mod run;
mod state;
mod test;

use std::process::ExitCode;

use args::{Args, Request};

fn main() -> ExitCode {
    tf_framework::record_panics();
    let args = match Args::parse(&mut lexopt::Parser::from_env()) {
        Ok(args) => args,
        Err(message) => return output::failure(&message),
    };
    match args.request {
        Request::Help => output::stdout(&args::help()),
        Request::Version => output::stdout(&format!("tf-reduce {}\n", env!("CARGO_PKG_VERSION"))),
        Request::Reduce => match run::run(&args) {
            Ok(()) => ExitCode::SUCCESS,
            Err(message) => output::failure(&message),
        },
    }
}
