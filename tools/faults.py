#!/usr/bin/env python3
"""Runs the seeded faults: passes that are wrong on purpose (docs/examples/faults), each on the program that it is wrong on.

    tools/faults.py [--bin=target/ci] [--plugins=DIR] [--only=NAME]... [--reduce [--every=N]]

With --reduce each program is embedded in one of at least 40 ops first, and tf-reduce has to leave fewer than 10; of every N-th fault with
--every=N. Else, of each fault `--check-each` has to name the pass, the function, the element with both values and the tolerance, and to write a
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
    r"error: pass `(?P<pass>[^`]+)` changed what `(?P<function>[^`]+)` computes: (?P<what>(?:position by position, )?"
    r"(?:result \d+ at \[[\d, ]*\] is \S+, it was \S+ \(tolerance of \w+: [^)]+\)|its evaluation fails, as it did not before: .+))"
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


def noise(name, annotation, at):
    """Lines that leave the parameter as it is, bit for bit, and their number of ops."""
    shape, dtype = re.match(r'Tensor\[(\(.*?\)), "(\w+)"\]', annotation).groups()
    extents = [extent.strip() for extent in shape.strip("()").split(",") if extent.strip()]
    lines = [f"{name} = -(-{name})", f"{name} = tf.where({name} == {name}, {name}, {name})", f"{name} = tf.max({name}, {name})"]
    count = 5
    zeros = ", ".join("0" for _ in extents)
    lines.append(f"{name} = tf.insert_slice({name}, {name}, ({zeros},))")
    count += 1
    if dtype != "bool":
        lines += [f"for step{at} in range(2):", f"    {name} = -(-{name})"]
        count += 3
    return lines, count


def grown(source, module, ops=40):
    """The module with at least that many ops around those of its entry, which get what they got before."""
    start = source.index(f"class {module}:")
    end = source.find("\n\n\n", start)
    head, text, tail = source[:start], source[start:end], source[end:]
    signature = re.search(r"    def f\((.*)\):\n", text)
    if "@prim_func" in text:
        return grown_statements(source, module, ops)
    params = re.findall(r'(\w+): (Tensor\[\(.*?\), "\w+"\])', signature[1])
    lines, count, at = [], 0, 0
    while count < ops:
        for name, annotation in params:
            more, added = noise(name, annotation, at)
            lines, count, at = lines + more, count + added, at + 1
    body = "".join(f"        {line}\n" for line in lines)
    text = text[: signature.end()] + body + text[signature.end() :]
    # A second result that has nothing to do with the fault.
    first = params[0][0]
    last = list(re.finditer(r"^( +)return (.*)", text, re.MULTILINE))[-1]
    indent, returned = last.groups()
    text = text[: last.start()] + f"{indent}result = {returned}\n{indent}return result, tf.relu(-{first})\n"
    return head + text.rstrip() + tail


def grown_statements(source, module, ops):
    """The same of statements: buffers that nothing else uses are written between them."""
    head, text = source.split(f"class {module}:")
    text, *tail = text.split("\n\n\n", 1)
    lines = text.rstrip().split("\n")
    place = next(at for at, line in enumerate(lines) if "def f(" in line) + 1
    if "with Mesh" in text:
        # On a GPU the same effects are there again and again, with barriers between.
        effects = [line for line in lines if re.match(r" {12}T\.(copy|sync)\(", line)]
        lines += (["            T.sync(m)"] + effects) * (ops // len(effects))
        return "\n\n\n".join([head + f"class {module}:" + "\n".join(lines), *tail])
    first = re.search(r"(\w+): Tensor\[\((\d+),\)", lines[place - 1])
    extra = [f"        b = T.alloc_tensor(TensorType(shape=({first[2]},), dtype=DType.f32, layout=Layout(({first[2]},), (1,)), storage=\"gmem\"))"]
    extra += [f"        T.copy({first[1]}, b)"]
    extra += ['        T.binary(b, b, b, kind="mul")'] * ops
    lines[place:place] = extra
    return "\n\n\n".join([head + f"class {module}:" + "\n".join(lines), *tail])


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

    def reduced(self, fault, program):
        """Whether tf-reduce leaves fewer than ten ops of a large program with the fault, and how many."""
        module = module_name(fault)
        with tempfile.TemporaryDirectory() as folder:
            large, small = os.path.join(folder, "large.py"), os.path.join(folder, "small.tfir")
            with open(program, encoding="utf-8") as source, open(large, "w", encoding="utf-8") as target:
                target.write(grown(source.read(), module))
            command = [os.path.join(os.path.dirname(self.tf_opt), "tf-reduce"), large, f"--module={module}"]
            command += [f"--load-pass-plugin={self.plugin}", f"--pipeline=typeinfer,{fault},dce", "-o", small, "-j2"]
            done = subprocess.run(command, capture_output=True, text=True, timeout=300)
            found = re.search(r"note: (\d+) ops? in \d+ functions? became (\d+) ops? in", done.stderr)
            if done.returncode != 0 or not found:
                return False, f"exit status {done.returncode}, {done.stderr.strip()[:400]}"
            before, after = map(int, found.groups())
            status, again = self.run("--run-reproducer", small)
            if status != 1 or f"pass `{fault}` changed what" not in again:
                return False, f"what is left does not show it: {again.strip()[:400]}"
            said = f"{before} ops became {after}"
            return before >= 40 and after < 10, said

    def silent(self, module, program):
        """What right passes are said to have changed."""
        status, told = self.run(program, f"--module={module}", f"--pipeline={RIGHT}", "--check-each", "-o", os.devnull)
        return status == 0 and not told, told.strip()[:400]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.path.join(ROOT, "target", "ci"))
    parser.add_argument("--plugins")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--reduce", action="store_true")
    parser.add_argument("--every", type=int, default=1)
    args = parser.parse_args()
    suite = Suite(args.bin, args.plugins or args.bin)
    of = programs()
    faults = [fault for fault in suite.faults() if not args.only or fault in args.only]
    if not faults:
        sys.exit("there are no such faults")
    failed = [f"{fault}: there is no module {module_name(fault)}" for fault in faults if module_name(fault) not in of]
    faults = [fault for fault in faults if module_name(fault) in of]
    if args.reduce:
        faults = faults[:: args.every]
        for fault in faults:
            ok, what = suite.reduced(fault, of[module_name(fault)])
            print(f"{fault}: {what}", flush=True)
            if not ok:
                failed.append(f"{fault}: {what}")
        report(failed, f"{len(faults) - len(failed)} of {len(faults)} faults are reduced to fewer than 10 ops")
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
    report(failed, f"{len(faults) - len(failed)} of {len(faults)} faults are found, and nothing else is")


def report(failed, summary):
    """Says what failed, and ends the program."""
    for line in failed:
        print(line, file=sys.stderr)
    print(summary)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
