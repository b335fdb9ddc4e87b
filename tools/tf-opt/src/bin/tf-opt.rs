//! The driver without LLVM.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut builtins = tf_opt::builtins();
    builtins.sibling = Some("tf-opt-llvm");
    tf_opt::main(builtins)
}
