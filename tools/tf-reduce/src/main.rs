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

const HELP: &str = "\
usage: tf-reduce FILE [OPTION]...

Makes FILE (.py, .tfir, or a reproducer of tf-opt) small while a test holds, and writes what is left as a reproducer.
Documentation: docs/tf-reduce.md

  --pipeline=TEXT           the passes; a reproducer has its own
  --pipeline-file=FILE      the passes are the text of this file
  --test=wrong-result       `tf-opt --check-each` says that a pass changed what a function computes
  --test=wrong-result=PASS  that this pass did
  --test=crash              tf-opt dies of the same signal, or a pass panics in the same way
  --test=hang               tf-opt does not end within --timeout
  --test=message=TEXT       a diagnostic of tf-opt has TEXT in it
  --test='command=CMD'      CMD exits with status 0; `{}` in it is the file, else the file is its last argument
                            without --test: what FILE shows when it is run
  --inputs=N|FILE           what `--check-each` evaluates on: N generated sets (6), or the tensors of a file
  --load-pass-plugin=LIB    as for tf-opt; repeatable
  --module=NAME             the module of a .py file

  -o, --output=OUT          what is left; default: reduced.tfir
  --emit=tfir|dsl           its language; default: dsl for a name in .py
  -j, --jobs=N              runs at a time; default: one a core. The result does not depend on it
  --time-limit=SECS         stop then, with the best so far
  --timeout=SECS            a run that takes longer is ended, and passes only --test=hang; default: 60
  --memory-limit=MIB        address space of a run
  --resume                  go on where a run with the same arguments was stopped
  --tf-opt=PATH             the driver; default: the one beside tf-reduce
  -h, --help                this text
  -V, --version             the version
";

fn main() -> ExitCode {
    tf_framework::record_panics();
    let args = match Args::parse(&mut lexopt::Parser::from_env()) {
        Ok(args) => args,
        Err(message) => return output::failure(&message),
    };
    match args.request {
        Request::Help => output::stdout(HELP),
        Request::Version => output::stdout(&format!("tf-reduce {}\n", env!("CARGO_PKG_VERSION"))),
        Request::Reduce => match run::run(&args) {
            Ok(()) => ExitCode::SUCCESS,
            Err(message) => output::failure(&message),
        },
    }
}
