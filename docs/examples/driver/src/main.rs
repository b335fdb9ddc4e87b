//! A driver of one's own: everything built in, and a pass that is linked instead of loaded.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut builtins = tf_opt::builtins();
    builtins.name = "my-opt";
    builtins.passes.function_pass(peephole::DoubleNeg::new());
    tf_opt::main(builtins)
}
