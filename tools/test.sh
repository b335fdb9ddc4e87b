#!/usr/bin/env bash
# Every check of the repository, in one target folder and one profile (`ci`), so that nothing is
# compiled twice. All stages run even if one fails; the last line counts the tests, and the exit
# status is 0 only if every stage passed.
#
#   tools/test.sh [STAGE...]     stages: fmt build plugins unit doctest lit threads clippy docs
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"
cd "$tf_root" || exit 1

# --workspace in every stage: a selection of packages would change their features, and so rebuild.
cargo_ci=(--profile ci --workspace)
bin_dir=${CARGO_TARGET_DIR:-$tf_root/target}/ci
log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT

passed=0 failed=0 skipped=0 broken=()
add() { passed=$((passed + $1)); failed=$((failed + $2)); skipped=$((skipped + $3)); }

# Adds up the closing lines of libtest.
count_libtest() {
  read -r p f s < <(awk '/^test result:/ { gsub(";", ""); p += $4; f += $6; s += $8 } END { print p+0, f+0, s+0 }' "$1")
  add "$p" "$f" "$s"
}
# nextest colours its output only on a terminal; "12 tests run: 10 passed (1 slow), 2 failed, 3 skipped".
count_nextest() {
  read -r p f s < <(awk '/Summary \[/ {
      for (i = 2; i <= NF; i++) {
        if ($i ~ /^passed/) p += $(i-1); else if ($i ~ /^(failed|timed)/) f += $(i-1); else if ($i ~ /^skipped/) s += $(i-1)
      } } END { print p+0, f+0, s+0 }' "$1")
  add "$p" "$f" "$s"
}

fmt() { cargo fmt --all --check; }
build() { cargo build "${cargo_ci[@]}"; }
# The example plugins, as an outsider builds them; the lit tests load them.
plugins() { tools/plugins.sh; }
unit() {
  if cargo nextest --version >/dev/null 2>&1; then
    cargo nextest run --workspace --cargo-profile ci --no-fail-fast --no-tests pass --status-level fail \
      --final-status-level fail 2>&1 | tee "$log/unit.txt"
    local status=${PIPESTATUS[0]}
    count_nextest "$log/unit.txt"
    # nextest counts the ignored tests without their reasons.
    find . -name target -prune -o -name .cache -prune -o -name '*.rs' -exec awk '
      /#\[ignore = "/ { split($0, part, "\""); reason = part[2] }
      reason && / fn / { sub(/\(.*/, ""); sub(/.* fn |.*fn /, ""); print "skipped " FILENAME " " $0 ": " reason; reason = "" }' {} +
  else
    cargo test "${cargo_ci[@]}" --tests --no-fail-fast 2>&1 | tee "$log/unit.txt"
    local status=${PIPESTATUS[0]}
    count_libtest "$log/unit.txt"
  fi
  return "$status"
}
doctest() {
  cargo test "${cargo_ci[@]}" --doc --no-fail-fast --quiet 2>&1 | tee "$log/doctest.txt"
  local status=${PIPESTATUS[0]}
  count_libtest "$log/doctest.txt"
  return "$status"
}
lit() {
  local lit=$LLVM_PREFIX/bin/lit status=0
  [ -x "$lit" ] || lit=$(command -v llvm-lit || command -v lit) || { echo "no lit"; return 1; }
  local required=${TF_PLUGINS:-}
  case " ${stages[*]} " in *' plugins '*) required=required ;; esac
  TF_PLUGINS=$required TF_BIN_DIR=$bin_dir "$lit" -v --order lexical -o "$log/lit.json" tests/lit || status=$?
  [ -s "$log/lit.json" ] || return 1
  python3 tools/lit_report.py "$log/lit.json" | tee "$log/lit.txt"
  read -r p f s < <(awk '/^counts:/ { print $2, $3, $4 }' "$log/lit.txt")
  add "$p" "$f" "$s"
  return "$status"
}
# The lit tests once more, with 1, 2 and 8 threads: the output is the same.
threads() {
  TF_PLUGINS=${TF_PLUGINS:-} TF_BIN_DIR=$bin_dir "$LLVM_PREFIX/bin/lit" -q --order lexical --param threads=1,2,8 tests/lit
}
clippy() { cargo clippy "${cargo_ci[@]}" --all-targets -- -D warnings; }
# This replaces the run path of .cargo/config.toml, which only doc tests need.
docs() { RUSTDOCFLAGS=-Dwarnings cargo doc "${cargo_ci[@]}" --no-deps; }

stages=("$@")
[ ${#stages[@]} -gt 0 ] || stages=(fmt build plugins unit doctest lit threads clippy docs)
for stage in "${stages[@]}"; do
  case $stage in
    fmt | build | plugins | unit | doctest | lit | threads | clippy | docs) ;;
    *) echo "unknown stage '$stage'" >&2; exit 2 ;;
  esac
  printf '\n== %s\n' "$stage"
  before=$SECONDS
  if "$stage"; then verdict=ok; else verdict=FAILED; broken+=("$stage"); fi
  printf '== %s: %s, %d s\n' "$stage" "$verdict" $((SECONDS - before))
  if [ "$stage:$verdict" = build:FAILED ]; then break; fi
done

# A stage that fails without a failed test (a compile error, a warning) counts as one failure.
[ ${#broken[@]} -eq 0 ] || [ "$failed" -gt 0 ] || failed=${#broken[@]}
printf '\n'
[ ${#broken[@]} -eq 0 ] || printf 'failed stages: %s\n' "${broken[*]}"
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ ${#broken[@]} -eq 0 ]
