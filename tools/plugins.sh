#!/usr/bin/env bash
# Builds the plugins of docs/examples as somebody outside the repository would: a workspace of its own, the repository's crates by
# path, and the repository's Cargo.lock. The libraries go beside the driver, so what both have in common is built once.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"
cd "$tf_root"
cmp -s Cargo.lock docs/examples/driver.lock 2>/dev/null || cp Cargo.lock docs/examples/driver.lock
# Cargo writes into its lock file what it left out of the copy; a copy of the copy tells whether the driver's has changed since.
if [ ! -f docs/examples/Cargo.lock ] || [ docs/examples/driver.lock -nt docs/examples/Cargo.lock ]; then
  cp Cargo.lock docs/examples/Cargo.lock
fi
exec cargo build --manifest-path docs/examples/Cargo.toml --profile ci --target-dir "${CARGO_TARGET_DIR:-$tf_root/target}" "$@"
