#!/bin/bash
# The evaluator beside PyTorch on the CPU: tools/bench-torch.sh [THREADS] [PROGRAM...]
# Needs the network the first time: it makes an environment of its own with the PyTorch named here.
set -eu
cd "$(dirname "$0")/.."
torch=2.9.1
venv="${TORCH_VENV:-.cache/torch-$torch}"
if ! "$venv/bin/python" -c 'import torch, numpy' 2>/dev/null; then
    python3 -m venv "$venv"
    # The wheel for CPUs is small; where its index cannot be reached, PyPI's has all of CUDA with it.
    "$venv/bin/pip" install --quiet --retries 0 --index-url https://download.pytorch.org/whl/cpu "torch==$torch" numpy 2>/dev/null ||
        "$venv/bin/pip" install --quiet "torch==$torch" numpy
fi
bench=$(cargo bench -p tf-evaluate --bench programs --no-run --message-format=json |
    "$venv/bin/python" -c '
import json, sys
built = [json.loads(line) for line in sys.stdin]
print([b["executable"] for b in built if b.get("executable") and b["target"]["name"] == "programs"][-1])')
exec "$venv/bin/python" passes/evaluate/benches/side_by_side.py "$bench" "$@"
