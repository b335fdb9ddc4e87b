//! The driver with the back ends that need LLVM. `tf-opt` starts it when a pipeline names one of their passes or engines.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut builtins = tf_opt::builtins();
    builtins.name = "tf-opt-llvm";
    tf_opt::main(builtins)
}
