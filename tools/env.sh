# Sourced by the other scripts and by the Makefile; also `. tools/env.sh` before plain cargo when
# LLVM 22 is not in /usr/lib/llvm-22.
#
#   LLVM_PREFIX   an LLVM 22 with MLIR, as shared libraries   default /usr/lib/llvm-22
#   PTXAS         a ptxas of CUDA 12.4 or newer, or `none`    default .cache/ptxas/ptxas

tf_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tf_default_llvm=/usr/lib/llvm-22
export LLVM_PREFIX=${LLVM_PREFIX:-$tf_default_llvm}
export PTXAS=${PTXAS:-$tf_root/.cache/ptxas/ptxas}

# rustup puts cargo here, and a shell opened before its installation does not know.
if ! command -v cargo >/dev/null 2>&1 && [ -x "$HOME/.cargo/bin/cargo" ]; then
  export PATH="$HOME/.cargo/bin:$PATH"
fi

# .cargo/config.toml states the default prefix; the environment wins over it.
if [ "$LLVM_PREFIX" != "$tf_default_llvm" ]; then
  export MLIR_SYS_220_PREFIX=$LLVM_PREFIX LLVM_SYS_221_PREFIX=$LLVM_PREFIX TABLEGEN_220_PREFIX=$LLVM_PREFIX
  tf_rpath="-C link-arg=-Wl,-rpath,$LLVM_PREFIX/lib"
  export RUSTFLAGS=$tf_rpath RUSTDOCFLAGS=$tf_rpath
fi
