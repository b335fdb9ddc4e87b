#!/usr/bin/env python3
"""Compares tensors of safetensors files; standard library only.

    compare.py GOT:out0 WANT:a.out.out --rtol 1e-5 --atol 1e-6 [--show 8]
    compare.py jit=GOT1:out0 eval=GOT2:out0 torch=WANT:a.out.out      several results, the last is the reference
    compare.py --manifest M.json --program NAME --run a GOT ...       every output of the run, with its tolerance

An operand is [LABEL=]FILE:TENSOR, or [LABEL=]FILE with --manifest. The rule: |got - want| <=
atol + rtol*|want|; nan equals nan; infinities must be equal; --signed-zero tells -0.0 from 0.0.
Exit status: 0 equal, 1 different, 2 a file or tensor cannot be read.
"""

import argparse
import array
import json
import math
import struct
import sys
from pathlib import Path


def fp8e4m3(bits):
    sign = -1.0 if bits & 0x80 else 1.0
    exponent, fraction = bits >> 3 & 15, bits & 7
    if exponent == 15 and fraction == 7:
        return math.nan
    return sign * (math.ldexp(fraction, -9) if exponent == 0 else math.ldexp(8 + fraction, exponent - 10))


def f8e8m0(bits):
    return math.nan if bits == 255 else math.ldexp(1.0, bits - 127)


def bf16(raw):
    wide = array.array("I", array.array("H", raw))
    return array.array("f", struct.pack(f"={len(wide)}I", *(word << 16 for word in wide)))


def typed(code):
    return lambda raw: array.array(code, raw)


# Safetensors dtype -> the values of little-endian bytes.
DECODE = {
    "F64": typed("d"),
    "F32": typed("f"),
    "F16": lambda raw: [value for (value,) in struct.iter_unpack("<e", raw)],
    "BF16": bf16,
    "I64": typed("q"),
    "I32": typed("i"),
    "I16": typed("h"),
    "I8": typed("b"),
    "U8": typed("B"),
    "BOOL": typed("B"),
    "F8_E4M3": lambda raw: [fp8e4m3(bits) for bits in raw],
    "F8_E8M0": lambda raw: [f8e8m0(bits) for bits in raw],
}
# Dtypes of ours that a file may hold as raw U8 bits.
RAW_BITS = {"fp8e4m3": "F8_E4M3", "f8e8m0": "F8_E8M0"}


class Unreadable(Exception):
    """A file or tensor that cannot be read; the message names it."""


class Tensor:
    def __init__(self, dtype, shape, values):
        self.dtype, self.shape, self.values = dtype, tuple(shape), values

    def describe(self):
        return f"{self.dtype}{list(self.shape)}"


def read_header(path):
    try:
        with open(path, "rb") as file:
            (size,) = struct.unpack("<Q", file.read(8))
            return json.loads(file.read(size)), 8 + size
    except (OSError, struct.error, ValueError) as error:
        raise Unreadable(f"{path}: {error}") from error


def read_bytes(path, name):
    """(dtype, shape, bytes) of one tensor."""
    header, base = read_header(path)
    if name not in header or name == "__metadata__":
        known = ", ".join(sorted(key for key in header if key != "__metadata__"))
        raise Unreadable(f"{path}: no tensor {name!r}; it has {known or 'none'}")
    entry = header[name]
    begin, end = entry["data_offsets"]
    with open(path, "rb") as file:
        file.seek(base + begin)
        return entry["dtype"], entry["shape"], file.read(end - begin)


def read_tensor(path, name, dtype=None):
    stored, shape, raw = read_bytes(path, name)
    if stored == "U8" and dtype in RAW_BITS:
        stored = RAW_BITS[dtype]
    if stored not in DECODE:
        raise Unreadable(f"{path}: tensor {name!r} has unsupported dtype {stored}")
    return Tensor(stored, shape, DECODE[stored](raw))


def write_tensors(path, tensors):
    """Writes {name: (dtype, shape, bytes)}."""
    header, data = {}, b""
    for name, (dtype, shape, raw) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    Path(path).write_bytes(struct.pack("<Q", len(text)) + text + data)


def close(got, want, rtol, atol, signed_zero):
    if got == want:
        return not (signed_zero and want == 0 and math.copysign(1, got) != math.copysign(1, want))
    if got != got or want != want:
        return got != got and want != want
    return math.isfinite(want) and abs(got - want) <= atol + rtol * abs(want)


def index_of(flat, shape):
    index = []
    for extent in reversed(shape):
        flat, rest = divmod(flat, extent)
        index.append(rest)
    return list(reversed(index))


def compare(label, got, want, tolerance, limit=5):
    """Prints one line, and up to `limit` differing elements; true when equal."""
    if (got.dtype, got.shape) != (want.dtype, want.shape):
        print(f"{label}: DIFFERS: got {got.describe()}, want {want.describe()}")
        return False
    bad, max_abs, max_rel = [], 0.0, 0.0
    for at, (a, b) in enumerate(zip(got.values, want.values)):
        if not close(a, b, *tolerance):
            bad.append(at)
        if a != b and math.isfinite(a) and math.isfinite(b):
            error = abs(a - b)
            max_abs = max(max_abs, error)
            max_rel = max(max_rel, error / abs(b)) if b else max_rel
    verdict = "ok" if not bad else f"DIFFERS in {len(bad)} of"
    print(f"{label}: {verdict} {len(want.values)} elements of {want.describe()}, max abs error {max_abs:.3g}, max rel error {max_rel:.3g}")
    for at in bad[:limit]:
        print(f"  {index_of(at, want.shape)}: got {got.values[at]!r}, want {want.values[at]!r}")
    return not bad


def show(columns, count):
    """Prints the first `count` elements of labelled tensors side by side."""
    width = max(16, *(len(label) + 2 for label, _ in columns))
    print("index".ljust(12) + "".join(label.rjust(width) for label, _ in columns))
    shape = columns[-1][1].shape
    for at in range(min(count, *(len(tensor.values) for _, tensor in columns))):
        index = ",".join(map(str, index_of(at, shape)))
        print(f"[{index}]".ljust(12) + "".join(format(tensor.values[at], ".8g").rjust(width) for _, tensor in columns))


def operand(text, with_tensor):
    """[LABEL=]FILE[:TENSOR] -> (label, file, tensor)."""
    label, equals, rest = text.partition("=")
    if not equals:
        label, rest = "", text
    if not with_tensor:
        return label, rest, None
    path, colon, name = rest.rpartition(":")
    if not colon:
        raise Unreadable(f"{text}: an operand is FILE:TENSOR")
    return label, path, name


def from_manifest(args):
    """Comparisons of every output of the run: (label, [(label, tensor)...], want, tolerance)."""
    path = Path(args.manifest)
    try:
        programs = {entry["name"]: entry for entry in json.loads(path.read_text())["programs"]}
        program = programs[args.program]
        run = {entry["run"]: entry for entry in program["runs"]}[args.run]
    except (OSError, ValueError) as error:
        raise Unreadable(f"{path}: {error}") from error
    except KeyError as error:
        raise Unreadable(f"{path}: no program or run {error}") from error
    for output in run["outputs"]:
        want = read_tensor(path.parent / program["tensors"], output["tensor"], output["dtype"])
        gots = []
        for text in args.operands:
            label, file, _ = operand(text, False)
            gots.append((f"{label} {output['name']}".strip(), read_tensor(file, output["name"], output["dtype"])))
        yield gots, want, (output["rtol"], output["atol"], bool(output.get("signed_zero")))


def from_operands(args):
    if len(args.operands) < 2:
        raise Unreadable("give at least GOT:TENSOR and WANT:TENSOR")
    read = []
    for text in args.operands:
        label, path, name = operand(text, True)
        read.append((label or name, read_tensor(path, name, args.dtype)))
    args.reference = read[-1][0]
    yield read[:-1], read[-1][1], (args.rtol, args.atol, args.signed_zero)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("operands", nargs="+", metavar="[LABEL=]FILE[:TENSOR]")
    parser.add_argument("--rtol", type=float, default=0.0)
    parser.add_argument("--atol", type=float, default=0.0)
    parser.add_argument("--signed-zero", action="store_true")
    parser.add_argument("--dtype", choices=sorted(RAW_BITS), help="what U8 tensors hold as raw bits")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print the first N elements side by side")
    parser.add_argument("--manifest")
    parser.add_argument("--program")
    parser.add_argument("--run", default="a")
    parser.add_argument("--reference", default="reference", help="label of the reference with --manifest")
    args = parser.parse_args()
    try:
        equal = True
        for gots, want, tolerance in from_manifest(args) if args.manifest else from_operands(args):
            if args.show:
                show(gots + [(args.reference, want)], args.show)
            for label, got in gots:
                equal &= compare(label, got, want, tolerance)
    except Unreadable as error:
        print(f"compare.py: {error}", file=sys.stderr)
        return 2
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
