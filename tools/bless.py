#!/usr/bin/env python3
"""Writes the CHECK lines of a lit test from what its commands print.

    tools/bless.py [--prefix=CHECK] [--bin=target/ci] FILE...

A test that has `RUN: … | FileCheck %s` keeps everything but its CHECK lines, which are put at the end. A value or alias is captured
where it is first seen in a function (`%[[HELD:.*]]`) and referred to afterwards, each by its own name, so that a test pins the
structure and no numbering. Run it on purpose and read the difference: it records what is, not what should be.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NAME = re.compile(r'([%#!])((?:"[^"]*"|[A-Za-z_0-9]+)(?:\.\d+)?)')
FUNCTION = re.compile(r"\b(hir|tir)\.func @")


def commands(text):
    """The RUN lines, joined where they go on."""
    found, pending = [], ""
    for line in text.splitlines():
        match = re.search(r"RUN:\s?(.*)$", line)
        if match:
            pending += match.group(1)
            if pending.endswith("\\"):
                pending = pending[:-1]
            else:
                found.append(pending)
                pending = ""
    return found


def output(command, path, binaries):
    """What the part of a command before FileCheck prints."""
    places = {
        "%tf-opt": os.path.join(binaries, "tf-opt"),
        "%reference": os.path.join(ROOT, "tests", "reference"),
        "%plugins": binaries,
        "%S": os.path.dirname(path),
        "%s": path,
        "%t": os.path.join("/tmp", f"bless-{os.getpid()}"),
    }
    for name, place in places.items():
        command = re.sub(re.escape(name) + r"(?![A-Za-z-])", lambda _, p=place: shlex.quote(p), command)
    run = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    return run.stdout


class Names:
    """One capture for each value or alias; a value's ends with its function."""

    def __init__(self):
        self.taken = set()
        self.aliases = {}
        self.values = {}

    def enter_function(self):
        self.values = {}

    def replace(self, match):
        sigil, name = match.groups()
        known = self.values if sigil == "%" else self.aliases
        key = sigil + name
        if key in known:
            return f"{sigil}[[{known[key]}]]"
        base = re.sub(r"\W", "_", name.strip('"')).upper() or "V"
        base = f"V{base}" if base[0].isdigit() else base
        capture, number = base, 1
        while capture in self.taken:
            number += 1
            capture = f"{base}_{number}"
        self.taken.add(capture)
        known[key] = capture
        pattern = r"[A-Za-z0-9_.]+" if '"' not in name else r'"[^"]*"(\.[0-9]+)?'
        return f"{sigil}[[{capture}:{pattern}]]"


def escape(line):
    """FileCheck's own brackets in plain text."""
    return line.replace("{{", "{{[{][{]}}").replace("[[", "{{\\[\\[}}")


def checks(text, prefix, comment):
    """CHECK lines for a text."""
    names, lines, first = Names(), [], True
    for line in text.splitlines():
        if not line.strip():
            first = True
            continue
        kind = "" if first else "-NEXT"
        if FUNCTION.search(line):
            names.enter_function()
            kind = "-NEXT" if not first else ""
        body = NAME.sub(names.replace, escape(line.strip()))
        lines.append(f"{comment} {prefix}{kind}: {body}")
        first = False
    return lines


def bless(path, prefix, binaries):
    """Rewrites one test; tells whether it changed."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    comment = "//" if path.endswith(".tfir") else "#"
    fresh = []
    for command in commands(text):
        before, pipe, check = command.partition("| FileCheck")
        if not pipe:
            continue
        option = re.search(r"--check-prefix[= ](\S+)", check)
        own = option.group(1) if option else "CHECK"
        if prefix and own != prefix:
            continue
        fresh.append((own, checks(output(before, path, binaries), own, comment)))
    if not fresh:
        sys.exit(f"{path}: no `RUN: … | FileCheck %s`" + (f" with prefix {prefix}" if prefix else ""))
    blessed = "|".join(re.escape(own) for own, _ in fresh)
    old = re.compile(rf"^\s*(//|#)\s*({blessed})(-NEXT|-LABEL|-DAG|-SAME|-NOT|-COUNT-\d+)?:")
    kept = [line for line in text.splitlines() if not old.match(line)]
    while kept and not kept[-1].strip():
        kept.pop()
    for _, lines in fresh:
        kept += ["", *lines]
    new = "\n".join(kept) + "\n"
    if new != text:
        with open(path, "w", encoding="utf-8") as file:
            file.write(new)
    return new != text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--prefix", help="only this prefix; default: all")
    parser.add_argument("--bin", default=os.environ.get("TF_BIN_DIR", os.path.join(ROOT, "target", "ci")))
    arguments = parser.parse_args()
    for path in arguments.files:
        changed = bless(os.path.abspath(path), arguments.prefix, os.path.abspath(arguments.bin))
        print(f"{path}: {'written' if changed else 'as it was'}")


if __name__ == "__main__":
    main()
