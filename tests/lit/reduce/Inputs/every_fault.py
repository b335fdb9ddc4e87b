"""Reduces one large program with each fault of the plugin that it shows.

every_fault.py TF_GEN TF_OPT TF_REDUCE PLUGIN PROGRAM

The program is 200 random ops and the functions of PROGRAM. For each pass `fault-…` of the plugin a line tells how many ops are left, or that
the program does not show the fault.
"""

import pathlib
import re
import subprocess
import sys

tf_gen, tf_opt, tf_reduce, plugin, program = sys.argv[1:]


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

passes = output(tf_opt, f"--load-pass-plugin={plugin}", "--list-passes")
for fault in re.findall(r"^\s*(fault-[a-z0-9-]+)", passes, re.M):
    command = [tf_reduce, str(large), f"--load-pass-plugin={plugin}", f"--pipeline=cse,{fault},dce", "--inputs=40"]
    run = subprocess.run([*command, f"--test=wrong-result={fault}", "-o", "small.tfir"], capture_output=True, text=True)
    if run.returncode:
        print(f"{fault}: {'not shown' if 'does not hold' in run.stderr else run.stderr}")
        continue
    before, after = map(int, re.search(r"note: (\d+) ops .* became (\d+) op", run.stderr).groups())
    assert before >= 200 and after < 10, run.stderr
    print(f"{fault}: {after} left")
