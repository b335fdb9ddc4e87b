"""Prints every program of some folders with emit-dsl: print_all.py TF_OPT OUT FOLDER..."""

import pathlib
import subprocess
import sys

tf_opt, out, *folders = sys.argv[1:]
count = 0
for folder in folders:
    for source in sorted(pathlib.Path(folder).glob("*.py")):
        target = pathlib.Path(out) / f"{pathlib.Path(folder).name}_{source.name}"
        run = [tf_opt, str(source), "--pipeline=emit-dsl", "-o", str(target)]
        # Some files of the suite are wrong on purpose: what is read is printed.
        if subprocess.run([tf_opt, str(source), "-o", "/dev/null"], capture_output=True).returncode:
            continue
        subprocess.run(run, check=True)
        count += 1
if count < 35:
    sys.exit(f"only {count} programs are printed")
