#!/usr/bin/env bash
# The demonstration behind `make demo`: a row-wise RMS norm, written in Python syntax, becomes PTX
# that ptxas accepts, and its values by each engine stand beside PyTorch's.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"
cd "$tf_root"

bin=${CARGO_TARGET_DIR:-target}/release
programs=tests/reference/programs
program=rms_rows
out=${CARGO_TARGET_DIR:-target}/demo
mkdir -p "$out"

step() { printf '\n== %s\n' "$*"; }
run() { # prints the command so that it can be typed again
  local word
  printf '$'
  for word; do case $word in *[\ {}]*) printf " '%s'" "$word" ;; *) printf ' %s' "$word" ;; esac; done
  printf '\n'
  "$@"
}

step "PTX of $programs/$program.py"
run "$bin/tf-opt" "$programs/$program.py" --pipeline='typeinfer,lower-tir,emit-ptx{arch=sm_90}' -o "$out/$program.ptx"
cat "$out/$program.ptx"

if [ "$PTXAS" = none ]; then
  step "no ptxas (PTXAS=none): not assembled"
else
  step "Registers, spills and shared memory, by ptxas"
  "$bin/tf-opt" "$programs/$program.py" --pipeline='typeinfer,lower-tir,emit-ptx{arch=sm_80}' -o "$out/$program.sm_80.ptx"
  "$PTXAS" -v -arch=sm_80 "$out/$program.sm_80.ptx" -o "$out/$program.sm_80.cubin" 2>&1
  "$PTXAS" -v -arch=sm_90 "$out/$program.ptx" -o "$out/$program.sm_90.cubin" 2>&1
fi

evaluate() { # ENGINE FILE PASSES
  run "$bin/tf-opt" "$programs/$program.py" -o "$out/$1.txt" \
    --pipeline="$3,evaluate{inputs=$programs/$program.safetensors prefix=a.in. outputs=$2 on=$1}"
}

step "Values"
evaluate reference "$out/reference.safetensors" typeinfer
evaluate cpu-jit "$out/cpu-jit.safetensors" 'typeinfer,lower-tir{target=cpu}'
results=("evaluator=$out/reference.safetensors" "cpu-jit=$out/cpu-jit.safetensors")
if [ -e /dev/nvidiactl ]; then
  run "$bin/tf-run" "$out/$program.ptx" inputs="$programs/$program.safetensors" prefix=a.in. outputs="$out/gpu.safetensors"
  results+=("gpu=$out/gpu.safetensors")
else
  echo "no NVIDIA device here (/dev/nvidiactl is absent): the PTX is not run"
fi
printf '\n'
python3 tools/compare.py "${results[@]}" --manifest "$programs/manifest.json" --program "$program" --run a \
  --reference PyTorch --show 8
