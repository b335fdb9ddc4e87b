"""Reduces one large program with each of these faults of the plugin.

random_faults.py TF_GEN TF_OPT TF_REDUCE PLUGIN PROGRAM FAULT...

The program is 200 random ops and the functions of PROGRAM. For each fault a line tells how many ops are left.
"""

import pathlib
import re
import subprocess
import sys

tf_gen, tf_opt, tf_reduce, plugin, program, *faults = sys.argv[1:]


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def parts(text):
    """The lines with aliases, and the functions, of a module."""
    head, _, body = text.partition("module @")
    lines = body.splitlines()
    return head, "\n".join(lines[1:-1])


random, shown = output(tf_gen, "random", "200", "7"), output(tf_opt, program)
# Aliases of the two are kept apart by their case.
shown = re.sub(r"([#!])(\w+)", lambda m: m.group(1) + "of_program_" + m.group(2), shown)
(random_head, random_body), (shown_head, shown_body) = parts(random), parts(shown)
large = pathlib.Path("large.tfir")
large.write_text(f"{random_head}{shown_head}module @large {{\n{random_body}\n{shown_body}\n}}\n")

for fault in faults:
    command = [tf_reduce, str(large), f"--load-pass-plugin={plugin}", f"--pipeline=cse,{fault},dce", "--inputs=20"]
    run = subprocess.run([*command, f"--test=wrong-result={fault}", "-o", "small.tfir"], capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{fault}: {run.stderr}")
    before, after = map(int, re.search(r"note: (\d+) ops .* became (\d+) op", run.stderr).groups())
    assert before >= 200 and after < 10, run.stderr
    print(f"{fault}: {after} left")
