//! The driver with the back ends that need LLVM. `tf-opt` starts it when a pipeline names one of their passes or engines.

mod cuda;

use std::process::ExitCode;

/// Tensors of the evaluator are large and die soon.
#[global_allocator]
static ALLOCATOR: tf_value::LargeBlocks = tf_value::LargeBlocks::new();

fn main() -> ExitCode {
    let mut builtins = tf_opt::builtins();
    builtins.name = "tf-opt-llvm";
    builtins.versions = tf_ptx::versions;
    tf_mlir::register(&mut builtins.passes);
    tf_mlir::engine::register_engines(&mut builtins.engines);
    tf_ptx::register(&mut builtins.passes);
    builtins.engines.add(cuda::Cuda);
    tf_opt::main(builtins)
}
