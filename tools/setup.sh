#!/usr/bin/env bash
# Installs what the build, the tests and the demo need, on Debian 12, and nothing else. It may be
# run any number of times: what is there stays, and when all is there it touches no network.
#
#   tools/setup.sh              install what is missing
#   tools/setup.sh --check      only say what is missing (exit status 1 if anything is)
#
# See tools/env.sh for LLVM_PREFIX and PTXAS.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

check_only=no
case "${1:-}" in
  '') ;;
  --check) check_only=yes ;;
  *) sed -n '2,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2 ;;
esac

say() { printf 'setup: %s\n' "$*"; }
fail() { printf 'setup: error: %s\n' "$*" >&2; exit 1; }

# LLVM and MLIR with their tools; headers that bindgen reads (libclang) and libraries that the
# LLVM bindings link (polly, zstd, zlib).
llvm_packages=(libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools libpolly-22-dev libclang1-22
  libclang-common-22-dev libzstd-dev zlib1g-dev)
ptxas_wheel=nvidia-cuda-nvcc-cu12==12.9.86

other_llvm_help() {
  cat >&2 <<TEXT
  They are part of Debian 12 (bookworm-security). Without them, point the build at another LLVM 22
  that has MLIR, built with -DLLVM_ENABLE_PROJECTS=mlir -DLLVM_BUILD_LLVM_DYLIB=ON
  -DLLVM_LINK_LLVM_DYLIB=ON -DMLIR_LINK_MLIR_DYLIB=ON -DLLVM_INSTALL_UTILS=ON:
      make demo LLVM_PREFIX=/path/to/llvm
  and for plain cargo:
      export LLVM_PREFIX=/path/to/llvm; . tools/env.sh; cargo build --release
TEXT
}

installed() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

wanted=()
if [ "$LLVM_PREFIX" = "$tf_default_llvm" ]; then
  for package in "${llvm_packages[@]}"; do installed "$package" || wanted+=("$package"); done
else
  for file in bin/llvm-config bin/mlir-opt bin/FileCheck bin/not include/mlir-c/IR.h lib/libLLVM.so lib/libMLIR.so; do
    [ -e "$LLVM_PREFIX/$file" ] || fail "LLVM_PREFIX=$LLVM_PREFIX has no $file"
  done
  version=$("$LLVM_PREFIX/bin/llvm-config" --version)
  [[ $version == 22.* ]] || fail "LLVM_PREFIX=$LLVM_PREFIX is LLVM $version; 22 is needed"
fi
command -v c++ >/dev/null || wanted+=(g++)
command -v make >/dev/null || wanted+=(make)
command -v python3 >/dev/null || wanted+=(python3)
# Checks the stub files of the Python syntax (tests/lit/driver/stubs-checked.test).
command -v mypy >/dev/null || wanted+=(mypy)
need_ptxas=no
if [ "$PTXAS" != none ] && [ ! -x "$PTXAS" ]; then
  [ "$PTXAS" = "$tf_root/.cache/ptxas/ptxas" ] || fail "PTXAS=$PTXAS is not an executable"
  need_ptxas=yes
  python3 -m pip --version >/dev/null 2>&1 || wanted+=(python3-pip)
fi

command -v cargo >/dev/null || fail "cargo not found: install Rust 1.95 or newer (https://rustup.rs)"

if [ $check_only = yes ]; then
  [ ${#wanted[@]} -eq 0 ] || say "missing Debian packages: ${wanted[*]}"
  [ $need_ptxas = no ] || say "missing: ptxas ($ptxas_wheel)"
  [ ${#wanted[@]} -eq 0 ] && [ $need_ptxas = no ] && say "everything is there"
  exit
fi

if [ ${#wanted[@]} -gt 0 ]; then
  command -v apt-get >/dev/null || { say "needed: ${wanted[*]}"; other_llvm_help; fail "this system has no apt-get"; }
  as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || fail "as root: apt-get update && apt-get install -y --no-install-recommends ${wanted[*]}"
    as_root=(sudo)
  fi
  export DEBIAN_FRONTEND=noninteractive
  say "installing Debian packages: ${wanted[*]}"
  "${as_root[@]}" apt-get update -qq || say "apt-get update failed; going on with the lists at hand"
  absent=()
  for package in "${wanted[@]}"; do
    policy=$(LC_ALL=C apt-cache policy "$package")
    case $policy in '' | *'Candidate: (none)'*) absent+=("$package") ;; esac
  done
  if [ ${#absent[@]} -gt 0 ]; then
    printf 'setup: error: the configured package sources do not have: %s\n' "${absent[*]}" >&2
    other_llvm_help
    exit 1
  fi
  if ! "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${wanted[@]}" >/dev/null; then
    printf 'setup: error: apt-get could not install: %s\n' "${wanted[*]}" >&2
    other_llvm_help
    exit 1
  fi
fi

if [ $need_ptxas = yes ]; then
  say "fetching ptxas ($ptxas_wheel) into .cache/ptxas"
  mkdir -p "$tf_root/.cache/ptxas"
  wheels=$(mktemp -d "$tf_root/.cache/wheel.XXXXXX")
  trap 'rm -rf "$wheels"' EXIT
  python3 -m pip download --quiet --no-deps --only-binary=:all: --dest "$wheels" "$ptxas_wheel" ||
    fail "pip could not fetch $ptxas_wheel; set PTXAS to a ptxas of CUDA 12.4 or newer, or PTXAS=none to skip the checks that need it"
  python3 - "$wheels"/*.whl "$wheels/ptxas" <<'PY'
import shutil, sys, zipfile
wheel, target = sys.argv[1:]
with zipfile.ZipFile(wheel).open("nvidia/cuda_nvcc/bin/ptxas") as source, open(target, "wb") as out:
    shutil.copyfileobj(source, out)
PY
  chmod +x "$wheels/ptxas"
  mv "$wheels/ptxas" "$PTXAS"
  rm -rf "$wheels"
  trap - EXIT
fi

say "ready: LLVM $("$LLVM_PREFIX/bin/llvm-config" --version) in $LLVM_PREFIX, ptxas: $PTXAS"
