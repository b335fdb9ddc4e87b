#!/usr/bin/env bash
# The check that needs a GPU, in two steps, so that the GPU machine needs neither compiler nor Python.
#
#   tools/gpu-check.sh pack DIR [ARCH]   here, after `cargo build --release`: fills DIR (ARCH: sm_90)
#   DIR/run.sh [REPORT]                  on the GPU machine, under 5 minutes; writes DIR/report.json
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

usage() { sed -n '2,5s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; }
[ "${1:-}" = pack ] && [ -n "${2:-}" ] || usage
mkdir -p "$2"
dir=$(cd "$2" && pwd)
arch=${3:-sm_90}
cd "$tf_root"

bin=${TF_BIN_DIR:-${CARGO_TARGET_DIR:-target}/release}
reference=tests/reference/programs
programs=(vector_add square rms_rows softmax_rows column_mean tile_k_loop)
limit_mib=40

for name in tf-opt tf-run; do
  [ -x "$bin/$name" ] || { echo "no $bin/$name: run 'cargo build --release' first" >&2; exit 1; }
done

rm -rf "$dir/data"
mkdir -p "$dir/data"
cp "$bin/tf-run" "$dir/tf-run"
cp tools/gpu-run.sh "$dir/run.sh"
for program in "${programs[@]}"; do
  "$bin/tf-opt" "$reference/$program.py" --pipeline="typeinfer,lower-tir,emit-ptx{arch=$arch}" -o "$dir/data/$program.ptx"
  [ "$PTXAS" = none ] || "$PTXAS" -arch="$arch" "$dir/data/$program.ptx" -o /dev/null
  cp "$reference/$program.safetensors" "$dir/data/"
done
python3 tools/gpu_cases.py "$reference/manifest.json" "$dir/data" "${programs[@]}" >"$dir/data/cases.txt"

size=$(du -sm "$dir" | cut -f1)
[ "$size" -le $limit_mib ] || { echo "$dir is $size MiB, more than $limit_mib" >&2; exit 1; }
echo "$dir: $size MiB, $(wc -l <"$dir/data/cases.txt") cases for $arch; run $dir/run.sh on the GPU machine"
