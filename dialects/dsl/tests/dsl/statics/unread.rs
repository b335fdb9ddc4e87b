//! Values that are not read, beside others.

use super::{refused, same};

/// They are kept, passed on, copied and told apart by identity.
#[test]
fn what_is_beside_them_is_known() {
    same(WHAT_IS_BESIDE_THEM_IS_KNOWN);
}

const WHAT_IS_BESIDE_THEM_IS_KNOWN: &[(&str, &str)] = &[
    (
        r#"import numpy as np
unused = ",".join(["a", np.str_("b")])
V = 3"#,
        "3",
    ),
    (
        r#"import fractions
@dataclass
class Config:
    width: int = 8
    dt: object = fractions.Fraction(1, 2)
    tags: tuple = (fractions.Fraction, 3)
c = Config(width=16)
V = c.width, Config().width, len(c.tags), c.tags[1], replace(c, width=3).width"#,
        "(16, 8, 2, 3, 3)",
    ),
    (
        r#"import os
root = os.environ.get("X", "y")
cfg = {"root": root, "n": 4, "p": os.path.join("a", "b")}
V = cfg["n"], len(cfg), list(cfg), "root" in cfg, sorted(cfg)"#,
        "(4, 3, ['root', 'n', 'p'], True, ['n', 'p', 'root'])",
    ),
    (
        r#"import pathlib
HERE = pathlib.Path(__file__).parent if False else 5
V = HERE"#,
        "5",
    ),
    (
        r#"import decimal
xs = [decimal.Decimal(1), 3, decimal.Decimal(2), 5]
V = xs[1], xs[3], len(xs), xs[1::2]"#,
        "(3, 5, 4, [3, 5])",
    ),
    (
        r#"import decimal
D = {"f32": decimal.Decimal, "n": 3}
def get(name): return D[name]
V = get("n"), D.get("n"), D.get("zz", 5), [k for k, v in D.items()]"#,
        "(3, 3, 5, ['f32', 'n'])",
    ),
    (
        r#"import decimal
a = decimal.Decimal(1)
b = a
V = [a] == [b], (a, 1) == (b, 1), a in [b], [a, 1].index(a), {"k": a} == {"k": b}"#,
        "(True, True, True, 0, True)",
    ),
    (
        r#"import decimal
a = decimal.Decimal(1)
V = [1, a] == [2, a], [a] == [a, 1], (2, a) == (1, a), 1 in [1, a], [1, a].index(1)"#,
        "(False, False, False, True, 0)",
    ),
    (
        r#"import decimal
@dataclass(frozen=True)
class C:
    n: int
    d: object
a = decimal.Decimal(1)
V = C(1, a) == C(1, a), C(1, a) == C(2, a), C(1, a).n"#,
        "(True, False, 1)",
    ),
    (
        r#"import decimal
@dataclass
class C:
    d: object = field(default_factory=decimal.Decimal)
    n: int = 3
c = C()
V = c.n, C(n=5).n, asdict(c)["n"], len(asdict(c))"#,
        "(3, 5, 3, 2)",
    ),
    (
        r#"import decimal
def f(a, *rest, **kw):
    return rest, kw["n"]
V = f(decimal.Decimal(1), 2, 3, n=4, d=decimal)"#,
        "((2, 3), 4)",
    ),
    (
        r#"import decimal
def f(x, n=decimal.Decimal(3)): return x
V = f(4)"#,
        "4",
    ),
    (
        r#"import decimal
class C:
    act = decimal.Decimal
    n = 4
    def __init__(self, d): self.d = d; self.m = 5
c = C(decimal)
V = c.n, c.m, C.n"#,
        "(4, 5, 4)",
    ),
    (
        r#"import decimal
pairs = [(1, decimal.Decimal(1)), (2, decimal.Decimal(2))]
V = [a for a, b in pairs], list({a: b for a, b in pairs})"#,
        "([1, 2], [1, 2])",
    ),
    (
        r#"import decimal
x, y = 3, decimal.Decimal(1)
V = x"#,
        "3",
    ),
    (
        r#"import decimal
V = 3 or decimal.Decimal(1), (0 and decimal.Decimal(1)), (4 if True else decimal.Decimal(1))"#,
        "(3, 0, 4)",
    ),
    (
        r#"import decimal
x = 0 or decimal.Decimal(1)
y = 1
V = y"#,
        "1",
    ),
    (
        r#"import decimal
f = partial(lambda a, b: b, decimal.Decimal(1))
V = f(4)"#,
        "4",
    ),
    (
        r#"import decimal
fs = [decimal.Decimal, len]
V = fs[1]([1,2])"#,
        "2",
    ),
    (
        r#"import decimal
g = map(decimal.Decimal, [1, 2])
V = len(list(g))"#,
        "2",
    ),
    (
        r#"import decimal
ns = SimpleNamespace(d=decimal.Decimal(1), n=3)
ns.e = decimal
V = ns.n"#,
        "3",
    ),
    (
        r#"import decimal
xs = []
xs.append(decimal.Decimal(1))
xs.extend([decimal, 3])
xs.insert(0, 7)
V = xs[0], xs[-1], len(xs), xs.pop(), len(xs)"#,
        "(7, 3, 4, 3, 3)",
    ),
    (
        r#"import decimal
d = {}
d["a"] = decimal.Decimal(1)
d.setdefault("b", decimal)
d.update(c=decimal, e=3)
V = list(d), d.pop("e"), len(d)"#,
        "(['a', 'b', 'c', 'e'], 3, 3)",
    ),
    (
        r#"import decimal
class P(NamedTuple):
    a: object
    b: int
p = P(decimal, 3)
V = p.b, p[1], len(p)"#,
        "(3, 3, 2)",
    ),
    (
        r#"import decimal
class E(Enum):
    A = decimal.Decimal(1)
V = len(E), E.A.name"#,
        "(1, 'A')",
    ),
    (
        r#"import decimal
it = iter([decimal, 2, 3])
next(it)
V = next(it), list(it)"#,
        "(2, [3])",
    ),
    (
        r#"import decimal
V = list(zip([decimal, 1], [2, 3]))[1], list(enumerate([decimal, 4]))[1]"#,
        "((1, 3), (1, 4))",
    ),
    (
        r#"import decimal
def mk():
    d = decimal.Decimal(1)
    n = 3
    return {"d": d, "n": n}
V = mk()["n"]"#,
        "3",
    ),
    (
        r#"import decimal
xs = [decimal.Decimal(3), 2]
t = tuple(xs)
ys = list(t) + [5]
V = t[1], ys[1:], (xs * 2)[3], xs[::-1][0]"#,
        "(2, [2, 5], 2, 2)",
    ),
    (
        r#"import decimal
V = bool([decimal]), bool({"a": decimal}), bool((decimal,)), not [decimal]"#,
        "(True, True, True, False)",
    ),
    (
        r#"import decimal
a, (b, c), *d = 1, (decimal, 3), decimal, 5
V = a, c, len(d), d[1]"#,
        "(1, 3, 2, 5)",
    ),
    (
        r#"import decimal
s = sorted([(1, decimal), (0, decimal)])
V = [a for a, _ in s]"#,
        "[0, 1]",
    ),
    (
        r#"import decimal
V = max([(1, decimal), (3, decimal), (2, decimal)])[0], min(((2, decimal), (1, decimal)), key=lambda p: p[0])[0]"#,
        "(3, 1)",
    ),
    (
        r#"import decimal
x = [n for n in (decimal, 1, 2) if n is not decimal]
y = 3
V = y"#,
        "3",
    ),
    (
        r#"import decimal
@cache
def f(n): return (decimal, n)
V = f(3)[1]"#,
        "3",
    ),
    (
        r#"import copy
a = {"x": [1]}
b = copy.copy(a)
V = a"#,
        "{'x': [1]}",
    ),
    (
        r#"import os
def env(name, default): return os.environ.get(name, default)
W = env("W", 3)
H = 4
V = H"#,
        "4",
    ),
    (
        r#"from pathlib import Path
class Config:
    root = Path("x")
    n = 4
    def width(self): return self.n * 2
V = Config().width(), Config.n"#,
        "(8, 4)",
    ),
    (
        r#"import decimal
d = {"a": decimal, **{"b": 3}}
V = d["b"], [*[decimal, 4]][1]"#,
        "(3, 4)",
    ),
    (
        r#"import decimal
def f(**kw): return kw["n"]
d = {"n": 4, "z": decimal}
V = f(**d)"#,
        "4",
    ),
    (
        r#"import decimal
xs = [decimal.Decimal(1), 2]
xs[0] = 5
V = xs, sum(xs)"#,
        "([5, 2], 7)",
    ),
    (
        r#"import decimal
d = {"a": decimal.Decimal(1), "b": 2}
d["a"] = 1
V = d"#,
        "{'a': 1, 'b': 2}",
    ),
    (
        r#"import decimal
xs = [decimal, 1]
del xs[0]
V = xs"#,
        "[1]",
    ),
    (
        r#"import decimal
x = decimal.Decimal(1)
x = 4
V = x"#,
        "4",
    ),
    (
        r#"import decimal
xs = [1, decimal]
V = any(xs), xs[0]"#,
        "(True, 1)",
    ),
    (
        r#"import decimal
@dataclass
class A:
    d: object = decimal.Decimal
    n: int = 4
@dataclass
class B(A):
    m: int = 5
    def total(self): return self.n + self.m
V = B().total(), B(d="x").d, B(d="x").total()"#,
        "(9, 'x', 9)",
    ),
    (
        r#"import decimal
a = A = [1]
def f(x):
    x.append(decimal)
    return x
b = f(a)
V = len(a), a is b, a[0]"#,
        "(2, True, 1)",
    ),
    (
        r#"import decimal
y = (z := decimal.Decimal(1), 4)[1]
V = y"#,
        "4",
    ),
    (
        r#"import json
text = json.dumps({"a": 1})
n = 3
V = f"{n}""#,
        "'3'",
    ),
    (
        r#"import logging
logger = logging.getLogger(__name__)
cfg = [1]
logger.info("x %s", cfg)
logger.setLevel(logging.INFO)
V = cfg"#,
        "[1]",
    ),
    (
        r#"import argparse
p = argparse.ArgumentParser()
p.add_argument("--n", type=int, default=3)
n = 4
V = n"#,
        "4",
    ),
    (
        r#"import decimal
V = {1: decimal, 2: 3}[2], {"a": [decimal, {"b": 4}]}["a"][1]["b"]"#,
        "(3, 4)",
    ),
    (
        r#"import decimal
x = [1, 2]
y = decimal.getcontext().prec
V = x"#,
        "[1, 2]",
    ),
    (
        r#"x = [hex(3), 4, bytes(2), chr(65)]
V = x[1]"#,
        "4",
    ),
    (
        r#"x = (1j, 4, b"a", ...)
V = x[1]"#,
        "4",
    ),
    (
        r#"x = {"big": 2**70, "n": 4}
V = x["n"]"#,
        "4",
    ),
];

/// Where it matters what they are, and what their calls may change.
#[test]
fn what_they_are_is_refused() {
    refused(WHAT_THEY_ARE_IS_REFUSED);
}

const WHAT_THEY_ARE_IS_REFUSED: &[(&str, &str)] = &[
    (
        r#"from tilefoundry.dsl import DimVarRangePat
bounds = (1, 17)
V = DimVarRangePat("n", *bounds)"#,
        "`DimVarRangePat` cannot take an unpacked `*` argument",
    ),
    (
        r#"import decimal
V = [decimal.Decimal(1), 2] == [1, 2]"#,
        "it comes from `decimal`, and authoring files are read, not executed",
    ),
    (
        r#"import decimal
x = decimal.Decimal(1)
V = x is None"#,
        "it comes from `decimal`, and authoring files are read, not executed",
    ),
    (
        r#"import decimal
x = decimal.Decimal(1)
V = isinstance(x, int)"#,
        "it comes from `decimal`, and authoring files are read, not executed",
    ),
    (
        r#"import decimal
V = {decimal.Decimal(1): 2}"#,
        "it comes from `decimal`, and authoring files are read, not executed",
    ),
    (
        r#"import decimal
V = len({decimal.Decimal(1), 1})"#,
        "it comes from `decimal`, and authoring files are read, not executed",
    ),
    (
        r#"import decimal
V = sorted([decimal.Decimal(1), 0])"#,
        "it comes from `decimal`, and authoring files are read, not executed",
    ),
    (
        r#"import decimal
V = str([decimal.Decimal(1)])"#,
        "it comes from `decimal`, and authoring files are read, not executed",
    ),
    (
        r#"import decimal
V = f"{decimal.Decimal(1)}""#,
        "it comes from `decimal`, and authoring files are read, not executed",
    ),
    (
        r#"import decimal
V = 1 in [decimal.Decimal(1)]"#,
        "it comes from `decimal`, and authoring files are read, not executed",
    ),
    (
        r#"import decimal
V = sum([decimal.Decimal(1), 2])"#,
        "it comes from `decimal`, and authoring files are read, not executed",
    ),
    (
        r#"import decimal
a, b = decimal.Decimal(1), decimal.Decimal(1)
V = [a] == [b]"#,
        "it comes from `decimal`, and authoring files are read, not executed",
    ),
    (
        r#"import decimal
V = 4 if decimal.Decimal(1) else 5"#,
        "it comes from `decimal`, and authoring files are read, not executed",
    ),
    (
        r#"import decimal
V = max([decimal.Decimal(1), 2])"#,
        "it comes from `decimal`, and authoring files are read, not executed",
    ),
    (
        r#"import decimal
V = [decimal.Decimal(1)].count(1)"#,
        "it comes from `decimal`, and authoring files are read, not executed",
    ),
    (
        r#"import decimal
class A:
    def __eq__(self, o): return True
V = A() == decimal.Decimal(1)"#,
        "it comes from `decimal`, and authoring files are read, not executed",
    ),
    (
        r#"import decimal
class A:
    def __add__(self, o): return 3
V = A() + decimal.Decimal(1)"#,
        "it comes from `decimal`, and authoring files are read, not executed",
    ),
    (
        r#"import decimal
V = math.sqrt(decimal.Decimal(4))"#,
        "it comes from `decimal`, and authoring files are read, not executed",
    ),
    (
        r#"import decimal
V = int(decimal.Decimal(4))"#,
        "it comes from `decimal`, and authoring files are read, not executed",
    ),
    (
        r#"import decimal
V = list(map(int, [decimal.Decimal(4)]))"#,
        "it comes from `decimal`, and authoring files are read, not executed",
    ),
    (
        r#"import decimal
V = [4,5][decimal.Decimal(1).as_tuple().digits[0]]"#,
        "it comes from `decimal`, and authoring files are read, not executed",
    ),
    (
        r#"import ctypes
class C:
    def __init__(self): self.n = 1
    go = ctypes.foo
c = C()
c.go()
V = c.n"#,
        "it comes from `ctypes`, and authoring files are read, not executed",
    ),
    (
        r#"import weird
xs = [1]
o = weird.make()
o.take(xs)
V = xs"#,
        "it comes from `weird`, and authoring files are read, not executed",
    ),
    (
        r#"import weird
xs = [1]
o = weird.make()
o.take([xs])
V = xs"#,
        "it comes from `weird`, and authoring files are read, not executed",
    ),
    (
        r#"import weird
xs = [1]
o = weird.make()
o[0](xs)
V = xs"#,
        "it comes from `weird`, and authoring files are read, not executed",
    ),
    (
        r#"import weird
it = iter([1])
weird.take([it])
V = list(it)"#,
        "it comes from `weird`, and authoring files are read, not executed",
    ),
    (
        r#"import weird
xs = [1]
weird.take({"a": lambda: xs.append(3)})
V = xs"#,
        "it comes from `weird`, and authoring files are read, not executed",
    ),
    (
        r#"import weird
xs = [1]
def f(o): o.go(xs)
f(weird.make())
V = xs"#,
        "it comes from `weird`, and authoring files are read, not executed",
    ),
    (
        r#"import weird
xs = [1]
m = map(weird.make(), [xs])
list(m)
V = xs"#,
        "it comes from `weird`, and authoring files are read, not executed",
    ),
    (
        r#"x = 1
g = globals()
x = 3
g["x"] = 2
V = x"#,
        "`globals` binds names by their text, which is not followed",
    ),
    (
        r#"x = 1
vars()["x"] = 2
V = x"#,
        "`vars` binds names by their text, which is not followed",
    ),
    (
        r#"import sys
x = 1
setattr(sys.modules[__name__], "x", 2)
V = x"#,
        "it may be bound anew through `__name__`, which is not followed",
    ),
    (
        r#"import sys
x = 1
m = sys.modules[__name__]
x = 3
m.x = 2
V = x"#,
        "it comes from `sys`, and authoring files are read, not executed",
    ),
    (
        r#"import sys
x = 1
m = sys.modules[__name__]
x = 4
setattr(m, "x", 2)
V = x"#,
        "it comes from `sys`, and authoring files are read, not executed",
    ),
    (
        r#"x = 1
e = exec
e("x = 2")
V = x"#,
        "`exec` binds names by their text, which is not followed",
    ),
    (
        r#"x = 1
y = (x := undefined_thing(3)) + 1
V = x"#,
        "the name `undefined_thing` is not defined",
    ),
    (
        r#"del len
V = len([1])"#,
        "`len` is deleted above",
    ),
    (
        r#"class A:
    @undefined_deco
    def p(self): return 1
    def q(self): return 2
a = A()
a.p()
V = a.q()"#,
        "a decorator of `p` may change it, which is not followed",
    ),
];
