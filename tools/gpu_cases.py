#!/usr/bin/env python3
"""The cases of a GPU check: gpu_cases.py MANIFEST DATA_DIR PROGRAM...

Writes DATA_DIR/PROGRAM.RUN.want.safetensors with the reference values under the names of results
(out0, out1, ...), and prints one line a run: PROGRAM RUN RTOL ATOL (the widest of its outputs).
"""

import json
import sys
from pathlib import Path

from compare import read_bytes, write_tensors


def main():
    manifest, data, names = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]
    programs = {program["name"]: program for program in json.loads(manifest.read_text())["programs"]}
    for name in names:
        program = programs[name]
        source = manifest.parent / program["tensors"]
        for run in program["runs"]:
            outputs = run["outputs"]
            wanted = {output["name"]: read_bytes(source, output["tensor"]) for output in outputs}
            write_tensors(data / f"{name}.{run['run']}.want.safetensors", wanted)
            rtol = max(output["rtol"] for output in outputs)
            atol = max(output["atol"] for output in outputs)
            print(name, run["run"], rtol, atol)


main()
