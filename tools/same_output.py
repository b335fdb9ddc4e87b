#!/usr/bin/env python3
"""Runs tf-opt with several numbers of threads and says where its output differs.

    tools/same_output.py 1,2,8 tf-opt ARGUMENT...

Stands in for tf-opt: it prints what the last run printed, and ends as that one did. Output that states times is not compared.
"""

import os
import re
import signal
import subprocess
import sys

TIMES = re.compile(r"--(timing|trace|trace-html)\b|evaluate\{[^}]*\bstats\b")


def produced(command, given):
    """What a run prints and leaves: exit status, standard output, error output, the file of -o."""
    run = subprocess.run(command, input=given, capture_output=True)
    left = None
    for name, value in zip(command, command[1:]):
        if name in ("-o", "--output") and os.path.isfile(value):
            with open(value, "rb") as file:
                left = file.read()
    return run.returncode, run.stdout, run.stderr, left


def difference(one, other):
    """The first line in which two runs differ."""
    for what, a, b in zip(("exit status", "standard output", "error output", "output file"), one, other):
        if a == b:
            continue
        if not isinstance(a, bytes) or not isinstance(b, bytes):
            return f"{what}: {a} and {b}"
        for number, (x, y) in enumerate(zip(a.splitlines(), b.splitlines()), 1):
            if x != y:
                return f"{what}, line {number}: {x.decode(errors='replace')!r} and {y.decode(errors='replace')!r}"
        return f"{what}: {len(a.splitlines())} lines and {len(b.splitlines())}"
    return None


def main():
    counts, program, arguments = sys.argv[1].split(","), sys.argv[2], sys.argv[3:]
    given = sys.stdin.buffer.read() if "-" in arguments else None
    runs = [produced([program, f"--threads={count}", *arguments], given) for count in counts]
    if not any(TIMES.search(argument) for argument in arguments):
        for count, run in zip(counts[1:], runs[1:]):
            differs = difference(runs[0], run)
            if differs:
                sys.exit(f"{counts[0]} and {count} threads differ in {differs}\n{' '.join(arguments)}")
    status, out, err, _ = runs[-1]
    sys.stderr.buffer.write(err)
    sys.stderr.flush()
    try:
        sys.stdout.buffer.write(out)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(f"error: cannot write the output: {error.strerror}")
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    sys.exit(status)


main()
