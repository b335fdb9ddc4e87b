#!/usr/bin/env python3
"""Runs the seeded faults: passes that are wrong on purpose (docs/examples/faults), each on the program that it is wrong on.

    tools/faults.py [--bin=target/ci] [--plugins=DIR] [--only=NAME]...

Of each fault `--check-each` has to name the pass, the function, the element with both values and the tolerance, and to write a
reproducer that says the same when it is run. Right passes have to be silent on the same programs. The exit status is 1 if one is not.
"""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAMS = os.path.join(ROOT, "docs", "examples", "faults", "programs")
# What has to be silent: every pass that keeps values.
RIGHT = "typeinfer,constprop,canonicalize,cse,dce,inline,symbol-dce,strip-debug,canonicalize{fast-math}"
FOUND = re.compile(
    r"error: pass `(?P<pass>[^`]+)` changed what `(?P<function>[^`]+)` computes: "
    r"(?P<what>result \d+ at \[[\d, ]*\] is \S+, it was \S+ \(tolerance of \w+: [^)]+\))"
)


def module_name(fault):
    """`fault-wrong-axis` is wrong on `WrongAxis`."""
    return "".join(word.capitalize() for word in fault.split("-")[1:])


def programs():
    """The file of each module."""
    found = {}
    for file in sorted(os.listdir(PROGRAMS)):
        path = os.path.join(PROGRAMS, file)
        with open(path, encoding="utf-8") as text:
            found.update({name: path for name in re.findall(r"^class (\w+)", text.read(), re.MULTILINE)})
    return found


class Suite:
    def __init__(self, binaries, plugins):
        self.tf_opt = os.path.join(binaries, "tf-opt")
        self.plugin = os.path.join(plugins, "libfaults.so")

    def run(self, *args):
        command = [self.tf_opt, *args]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        return done.returncode, done.stderr

    def faults(self):
        done = subprocess.run([self.tf_opt, f"--load-pass-plugin={self.plugin}", "--list-passes"], capture_output=True, text=True)
        return re.findall(r"^(fault-\S+)", done.stdout, re.MULTILINE)

    def caught(self, fault, program):
        """Why the fault counts as missed, else what was said of it."""
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "again.tfir")
            load = f"--load-pass-plugin={self.plugin}"
            pipeline = f"--pipeline=typeinfer,cse,{fault},dce"
            module = f"--module={module_name(fault)}"
            status, told = self.run(program, module, load, pipeline, "--check-each", f"--reproducer={file}", "-o", os.devnull)
            found = FOUND.search(told)
            if status != 1 or not found:
                return False, f"it was not found: exit status {status}, {told.strip()[:400] or 'nothing said'}"
            if found["pass"] != fault:
                return False, f"`{found['pass']}` was named"
            if not os.path.exists(file):
                return False, "there is no reproducer"
            status, again = self.run("--run-reproducer", file)
            if status != 1 or found[0] not in again:
                return False, f"the reproducer does not say so: {again.strip()[:400]}"
        return True, found["what"]

    def silent(self, module, program):
        """What right passes are said to have changed."""
        status, told = self.run(program, f"--module={module}", f"--pipeline={RIGHT}", "--check-each", "-o", os.devnull)
        return status == 0 and not told, told.strip()[:400]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.path.join(ROOT, "target", "ci"))
    parser.add_argument("--plugins")
    parser.add_argument("--only", action="append", default=[])
    args = parser.parse_args()
    suite = Suite(args.bin, args.plugins or args.bin)
    of = programs()
    faults = [fault for fault in suite.faults() if not args.only or fault in args.only]
    if not faults:
        sys.exit("there are no such faults")
    failed = [f"{fault}: there is no module {module_name(fault)}" for fault in faults if module_name(fault) not in of]
    faults = [fault for fault in faults if module_name(fault) in of]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        told = pool.map(lambda fault: suite.caught(fault, of[module_name(fault)]), faults)
        for fault, (ok, what) in zip(faults, told):
            print(f"{fault}: {what}" if ok else f"{fault}: MISSED")
            if not ok:
                failed.append(f"{fault}: {what}")
        modules = [module_name(fault) for fault in faults]
        for module, (ok, what) in zip(modules, pool.map(lambda module: suite.silent(module, of[module]), modules)):
            if not ok:
                failed.append(f"{module}: right passes are accused: {what}")
    for line in failed:
        print(line, file=sys.stderr)
    print(f"{len(faults) - len(failed)} of {len(faults)} faults are found, and nothing else is")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
