#!/usr/bin/env bash
# Runs the packed kernels on this machine's GPU, compares their results with the reference values
# and writes a JSON report (default: report.json beside this file). Needs bash and the NVIDIA
# driver. Exit status: 0 all equal, 1 a case failed, 3 no GPU. See tools/gpu-check.sh.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
report=${1:-$here/report.json}
seconds_per_case=40

# "text" as a JSON string, control characters dropped.
quote() {
  local text=${1//\\/\\\\}
  text=${text//\"/\\\"}
  text=${text//$'\n'/\\n}
  printf '"%s"' "$(tr -d '\000-\037' <<<"$text")"
}

if [ ! -e /dev/nvidiactl ] && ! nvidia-smi -L >/dev/null 2>&1; then
  echo "0 passed, 0 failed, skipped: no NVIDIA device on this machine"
  printf '{"skipped": "no NVIDIA device on this machine"}\n' >"$report"
  exit 3
fi
device=$(nvidia-smi --query-gpu=name,driver_version,compute_cap --format=csv,noheader 2>/dev/null | head -n 1)

results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
passed=0 failed=0 cases=() start=$SECONDS
while read -r program run rtol atol; do
  data=$here/data
  before=$SECONDS
  output=$(timeout "$seconds_per_case" "$here/tf-run" "$data/$program.ptx" inputs="$data/$program.safetensors" \
    prefix="$run.in." outputs="$results/$program.$run.safetensors" \
    expect="$data/$program.$run.want.safetensors" rtol="$rtol" atol="$atol" 2>"$results/stderr")
  status=$?
  if [ $status -eq 0 ]; then verdict=passed; passed=$((passed + 1)); else verdict=failed; failed=$((failed + 1)); fi
  # The last JSON line of tf-run is its own record of the comparison.
  record=null
  while IFS= read -r line; do case $line in '{'*'}') record=$line ;; esac; done <<<"$output"
  message=$(head -c 2000 "$results/stderr")
  echo "$verdict $program $run"
  [ $status -eq 0 ] || printf '%s\n%s\n' "$output" "$message"
  cases+=("{\"program\": \"$program\", \"run\": \"$run\", \"verdict\": \"$verdict\", \"status\": $status, \"rtol\": $rtol, \"atol\": $atol, \"seconds\": $((SECONDS - before)), \"tf_run\": $record, \"stderr\": $(quote "$message")}")
done <"$here/data/cases.txt"

{
  printf '{"device": %s, "passed": %d, "failed": %d, "seconds": %d, "cases": [\n' "$(quote "$device")" $passed $failed $((SECONDS - start))
  for at in "${!cases[@]}"; do
    [ "$at" -eq 0 ] || printf ',\n'
    printf '  %s' "${cases[$at]}"
  done
  printf '\n]}\n'
} >"$report"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
