//! The driver without LLVM.

use std::process::ExitCode;

/// Tensors of the evaluator are large and die soon.
#[global_allocator]
static ALLOCATOR: tf_value::LargeBlocks = tf_value::LargeBlocks::new();

fn main() -> ExitCode {
    let mut builtins = tf_opt::builtins();
    builtins.sibling = Some("tf-opt-llvm");
    tf_opt::main(builtins)
}
