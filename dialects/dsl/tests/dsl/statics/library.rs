//! The standard library: `collections`, `copy`, `enum`, `itertools`, `operator`, `typing`; and statements beside.

use super::{refused, same};

/// What the functions give.
#[test]
fn libraries_are_those_of_python() {
    same(LIBRARIES_ARE_THOSE_OF_PYTHON);
}

const LIBRARIES_ARE_THOSE_OF_PYTHON: &[(&str, &str)] = &[
    (
        r#"import operator
V = operator.add(1, 2), operator.mul("a", 3), operator.floordiv(7, 2), operator.and_(6, 3), operator.neg(3), operator.not_(0), operator.lt(1, 2), operator.contains([1, 2], 2)"#,
        "(3, 'aaa', 3, 2, -3, True, True, True)",
    ),
    (
        r#"from operator import itemgetter, attrgetter, getitem
class A:
    def __init__(self, n): self.n = n; self.b = self
V = itemgetter(1)([4, 5]), itemgetter("a", "b")({"a": 1, "b": 2}), attrgetter("b.b.n")(A(3)), sorted([(2, "a"), (1, "b")], key=itemgetter(0)), getitem([7], 0)"#,
        "(5, (1, 2), 3, [(1, 'b'), (2, 'a')], 7)",
    ),
    (r#"V = reduce(__import__("operator").mul, [1]) if False else 3"#, "3"),
    (
        r#"import operator
V = reduce(operator.mul, [1, 2, 3, 4], 1), list(map(operator.add, [1, 2], [3, 4])), operator.truth([])"#,
        "(24, [4, 6], False)",
    ),
    (
        r#"from itertools import combinations, permutations, combinations_with_replacement
V = list(combinations("abc", 2)), list(permutations([1, 2, 3], 2)), list(permutations([1, 2])), list(combinations([1], 2)), list(combinations_with_replacement([1, 2], 2)), list(combinations([1,2],0))"#,
        "([('a', 'b'), ('a', 'c'), ('b', 'c')], [(1, 2), (1, 3), (2, 1), (2, 3), (3, 1), (3, 2)], [(1, 2), (2, 1)], [], [(1, 1), (1, 2), (2, 2)], [()])",
    ),
    (
        r#"from itertools import zip_longest, islice, count, takewhile, dropwhile, starmap, pairwise, cycle, filterfalse
V = list(zip_longest([1, 2, 3], "a")), list(zip_longest([1], [2, 3], fillvalue=0)), list(islice(range(10), 3)), list(islice(range(10), 2, 9, 3)), list(islice(count(5), 2)), list(islice(count(1, 3), 3))"#,
        "([(1, 'a'), (2, None), (3, None)], [(1, 2), (0, 3)], [0, 1, 2], [2, 5, 8], [5, 6], [1, 4, 7])",
    ),
    (
        r#"from itertools import takewhile, dropwhile, starmap, pairwise, cycle, filterfalse, islice
V = list(takewhile(lambda x: x < 3, [1, 2, 3, 1])), list(dropwhile(lambda x: x < 3, [1, 2, 3, 1])), list(starmap(pow, [(2, 3), (3, 2)])), list(pairwise([1, 2, 3])), list(islice(cycle("ab"), 5)), list(filterfalse(None, [0, 1, 2]))"#,
        "([1, 2], [3, 1], [8, 9], [(1, 2), (2, 3)], ['a', 'b', 'a', 'b', 'a'], [0])",
    ),
    (
        r#"from itertools import islice
it = iter(range(10))
a = list(islice(it, 2))
b = next(it)
c = list(islice(it, 1, 4, 2))
V = a, b, c, list(it)"#,
        "([0, 1], 2, [4, 6], [7, 8, 9])",
    ),
    (
        r#"V = list(chain.from_iterable([[1], (2, 3)])), dict.fromkeys("ab"), dict.fromkeys([1, 2], 0)"#,
        "([1, 2, 3], {'a': None, 'b': None}, {1: 0, 2: 0})",
    ),
    (
        r#"from collections import defaultdict
d = defaultdict(list)
for k, v in [("a", 1), ("b", 2), ("a", 3)]: d[k].append(v)
V = dict(d), d["zz"], len(d), d.get("q"), "q" in d, d == {"a": [1, 3], "b": [2], "zz": []}, isinstance(d, dict)"#,
        "({'a': [1, 3], 'b': [2]}, [], 3, None, False, True, True)",
    ),
    (
        r#"from collections import defaultdict
d = defaultdict(int, {"a": 1})
d["b"] += 2
e = defaultdict(lambda: 5)
V = dict(d), e["x"], d.copy()["q"], sorted(d.items())"#,
        "({'a': 1, 'b': 2}, 5, 0, [('a', 1), ('b', 2)])",
    ),
    (
        r#"from collections import Counter
c = Counter("abca")
V = c["a"], c["z"], dict(c), c.most_common(1), c.most_common(), sum(c.values()), list(c.elements()), c.total(), len(c)"#,
        "(2, 0, {'a': 2, 'b': 1, 'c': 1}, [('a', 2)], [('a', 2), ('b', 1), ('c', 1)], 4, ['a', 'a', 'b', 'c'], 4, 3)",
    ),
    (
        r#"from collections import Counter
c = Counter(a=2)
c.update("ab"); c.subtract({"b": 3}); c["q"] += 1
V = dict(c), c == Counter(a=3, b=-2, q=1), Counter(a=0) == Counter(), Counter([1, 1]) == {1: 2}, sorted(c)"#,
        "({'a': 3, 'b': -2, 'q': 1}, True, True, True, ['a', 'b', 'q'])",
    ),
    (
        r#"import copy
a = {"x": [1, [2]], "t": (3, [4])}
b = copy.copy(a); c = copy.deepcopy(a)
a["x"][1].append(9); a["t"][1].append(5)
V = b, c, b["x"] is a["x"]"#,
        "({'x': [1, [2, 9]], 't': (3, [4, 5])}, {'x': [1, [2]], 't': (3, [4])}, True)",
    ),
    (
        r#"import copy
@dataclass
class C:
    xs: list
    n: int = 3
a = C([1])
b = copy.copy(a); c = copy.deepcopy(a)
a.xs.append(2); b.n = 4
V = b.xs, c.xs, a.n, a == c, b.n, type(b) is C"#,
        "([1, 2], [1], 3, False, 4, True)",
    ),
    (
        r#"from copy import deepcopy
x = [1]
y = [x, x]
z = deepcopy(y)
z[0].append(2)
r = [1]; r.append(r)
q = deepcopy(r)
V = z, y, q[1] is q, q is r"#,
        "([[1, 2], [1, 2]], [[1], [1]], True, False)",
    ),
    (
        r#"import copy
class E(Enum):
    A = 1
V = copy.copy(E.A) is E.A, copy.deepcopy([E.A])[0] is E.A, copy.copy((1, 2)), copy.copy({1, 2}) == {1, 2}, copy.copy("a"), copy.deepcopy(3)"#,
        "(True, True, (1, 2), True, 'a', 3)",
    ),
    (
        r#"n = 3
s = "q"
V = f"{n=}", f"{n + 1 = }", f"{s=}", f"{n=:04d}", f"{s=!s}""#,
        r#"('n=3', 'n + 1 = 4', "s='q'", 'n=0003', 's=q')"#,
    ),
    (
        r#"V = "{a}-{b:03d}".format(a=1, b=2), "{0}{x}".format(5, x="y"), "{}{k}".format(1, k=2)"#,
        "('1-002', '5y', '12')",
    ),
    (
        r#"P = namedtuple("P", "a b c", defaults=(5, 6))
p = P(1)
V = p.a, p.b, p.c, tuple(p), P._fields, p._asdict(), tuple(p._replace(b=9)), p._fields"#,
        "(1, 5, 6, (1, 5, 6), ('a', 'b', 'c'), {'a': 1, 'b': 5, 'c': 6}, (1, 9, 6), ('a', 'b', 'c'))",
    ),
    (
        r#"class Q(NamedTuple):
    a: int
    b: int = 2
V = Q(1)._asdict(), Q._fields, Q(1)._replace(a=7).a, Q(1)._replace(a=7) == (7, 2)"#,
        "({'a': 1, 'b': 2}, ('a', 'b'), 7, True)",
    ),
    (
        r#"E = Enum("E", "A B")
F = IntEnum("F", ["X", "Y"])
G = Enum("G", {"P": 10, "Q": 20})
H = Enum("H", [("R", "r"), ("S", "s")])
V = E.A.value, E.B.name, F.Y + 1, G.Q.value, H("s").name, len(E), [m.name for m in G]"#,
        "(1, 'B', 3, 20, 'S', 2, ['P', 'Q'])",
    ),
    (
        r#"class E(Enum):
    A = "a"
    B = "b"
D = {E.A: 1, E.B: 2}
V = D[E.B], D[E("a")], E.A in D, len({E.A, E.A})"#,
        "(2, 1, True, 1)",
    ),
    (
        r#"class T:
    def __init__(self): self._n = 1
    @property
    def n(self): return self._n
    @n.setter
    def n(self, v): self._n = v * 2
t = T()
t.n = 4
t.n += 1
setattr(t, "n", t.n)
V = t.n, t._n"#,
        "(36, 36)",
    ),
    (
        r#"class T:
    @property
    def n(self): return 1
def f():
    try: T().n = 3
    except AttributeError: return "no"
V = f()"#,
        "'no'",
    ),
    (
        r#"def f(x):
    match x:
        case 1 | 2: return "small"
        case "a": return "str"
        case None: return "none"
        case True: return "true"
        case n if isinstance(n, int) and n > 100: return "big"
        case _: return "other"
V = f(1), f(2), f("a"), f(None), f(500), f(50), f(2.0), f(True)"#,
        "('small', 'small', 'str', 'none', 'big', 'other', 'small', 'small')",
    ),
    (
        r#"class M(Enum):
    A = 1
    B = 2
def f(m):
    match m:
        case M.A: return 1
        case M.B as q: return q.name
V = f(M.A), f(M.B), f(3)"#,
        "(1, 'B', None)",
    ),
    (
        r#"mode = "fast"
match mode:
    case "slow": W = 1
    case "fast": W = 2
V = W"#,
        "2",
    ),
    (
        r#"if __name__ == "__main__":
    W = 1
else:
    W = 2
V = 1"#,
        "1",
    ),
    (
        r#"from typing import TYPE_CHECKING, cast, final, NewType, Optional, Literal, Final, TypeAlias
if TYPE_CHECKING:
    import numpy as np
Width = NewType("Width", int)
Mode: TypeAlias = Literal["a", "b"]
N: Final[int] = 4
@final
class A:
    m: Optional[int] = None
    k: "int" = 3
V = Width(3), cast(int, "x"), N, A.k, A.m"#,
        "(3, 'x', 4, 3, None)",
    ),
    (
        r#"V = hex(255), oct(8), bin(5), hex(-16), chr(65), ord("a"), callable(len), callable(3), callable(lambda: 1)"#,
        "('0xff', '0o10', '0b101', '-0x10', 'A', 97, True, False, True)",
    ),
    (
        r#"from dataclasses import fields, astuple
@dataclass
class A:
    n: int = 1
    m: str = "a"
V = [f.name for f in fields(A)], [f.name for f in fields(A())], astuple(A())"#,
        "(['n', 'm'], ['n', 'm'], (1, 'a'))",
    ),
    (
        r#"@dataclass
class A:
    n: int = 1
    def __post_init__(self):
        assert isinstance(self.n, int), "n"
V = A(3).n"#,
        "3",
    ),
    (
        r#"def gen(n):
    total = 0
    while True:
        total += 1
        if total > n: return total
V = gen(3)"#,
        "4",
    ),
    (
        r#"from collections import OrderedDict
d = OrderedDict(a=1); d.clear(); d["q"] = 1
V = isinstance(d, OrderedDict), list(d)"#,
        "(True, ['q'])",
    ),
    (
        r#"class K(StrEnum):
    C = "x"
V = len(K.C), K.C[0], K.C * 2"#,
        "(1, 'x', 'xx')",
    ),
    (
        r#"from itertools import repeat, islice
V = list(islice(repeat(3), 2)), list(zip(repeat("a"), [1, 2])), list(map(pow, [2, 3], repeat(2)))"#,
        "([3, 3], [('a', 1), ('a', 2)], [4, 9])",
    ),
    (
        r#"from collections import Counter, defaultdict
def tally(xs):
    d = defaultdict(lambda: defaultdict(int))
    for a, b in xs: d[a][b] += 1
    return {k: dict(v) for k, v in d.items()}
V = tally([(1, 2), (1, 2), (2, 1)])"#,
        "{1: {2: 2}, 2: {1: 1}}",
    ),
    (
        r#"calls = []
def make(n):
    calls.append(n)
    return lambda k: (lambda c: c)
@make(1)(2)
class A: pass
V = calls"#,
        "[1]",
    ),
    (
        r#"from itertools import combinations, count, islice
V = list(combinations([1, 2], 10**15)), list(islice(count(2**62), 2))[1] - 2**62"#,
        "([], 1)",
    ),
];

/// What is not read of them.
#[test]
fn what_is_left_is_refused() {
    refused(WHAT_IS_LEFT_IS_REFUSED);
}

const WHAT_IS_LEFT_IS_REFUSED: &[(&str, &str)] = &[
    (
        r#"try:
    from math import nope
    V = 1
except ImportError:
    V = 2"#,
        "it is bound inside `try` at file level, which is not executed",
    ),
    (
        r#"from itertools import count, islice
V = list(islice(count(2**62, 2**62), 1))"#,
        "`count` passes 64 bits",
    ),
    (
        r#"from copy import deepcopy
class A: pass
V = deepcopy({(A(), 1): 3})"#,
        "a copy of a dict of 1 is not read",
    ),
    (
        r#"def g():
    x = yield 1
V = list(g())"#,
        "`g` is a generator, which is not run",
    ),
    (
        r#"def g():
    try: yield 1
    finally: pass
V = list(g())"#,
        "`g` is a generator, which is not run",
    ),
    (
        r#"xs = []
def g():
    yield 1
    xs.append(1)
    undefined_thing(xs)
    if undefined_other: yield 2
it = g()
next(it)
V = list(it)"#,
        "the name `undefined_other` is not defined",
    ),
    (
        r#"import weird
xs = []
def g():
    xs.append(1)
    yield 1
weird.run(g())
V = xs"#,
        "it comes from `weird`, and authoring files are read, not executed",
    ),
    (
        r#"async def g():
    yield 1
V = g()"#,
        "`g` is an async Python function, which is not called",
    ),
    (
        r#"from collections import deque
V = deque([1])[0]"#,
        "it comes from `collections`, and authoring files are read, not executed",
    ),
    (
        r#"from collections import Counter
V = Counter("a") + Counter("b")"#,
        "`+` is not defined between a dict of 1 and a dict of 1",
    ),
    (
        r#"import copy
class C:
    def __copy__(self): return 3
V = copy.copy(C())"#,
        "a copy of an instance of a plain class is not read",
    ),
    (
        r#"import copy
V = copy.copy(iter([1]))"#,
        "a copy of an iterator is not read",
    ),
    (
        r#"def f(x):
    match x:
        case [a, b]: return a
V = f([1, 2])"#,
        "the pattern `[a, b]` is not read",
    ),
    (
        r#"from itertools import count
V = list(count())"#,
        "the constants of the file take more than 1048576 steps",
    ),
    (
        r#"import operator
V = operator.attrgetter("zz")(3)"#,
        "the integer 3 has no attribute `zz`",
    ),
    (r#"V = f"{3!a}""#, "`!a` in a formatted string is not read"),
    (
        r#"class T:
    @property
    def n(self): return 1
t = T()
t.n = 3
V = t.n"#,
        "`n` is a property, which is not set",
    ),
];
/// Flags are put together.
#[test]
fn flags_are_those_of_python() {
    same(FLAGS_ARE_THOSE_OF_PYTHON);
}

const FLAGS_ARE_THOSE_OF_PYTHON: &[(&str, &str)] = &[
    (
        r#"from enum import Flag, IntFlag
class P(Flag):
    R = auto()
    W = auto()
    X = auto()
    RW = R | W
V = P.R.value, P.X.value, (P.R | P.W) is P.RW, P.RW.value, len(P), [p.name for p in P], P.R in P.RW, P.X in P.RW, bool(P.R & P.W), bool(P.R)"#,
        "(1, 4, True, 3, 3, ['R', 'W', 'X'], True, False, False, True)",
    ),
    (
        r#"from enum import Flag, IntFlag
class P(Flag):
    A = 1
    B = 2
    C = 4
x = P.A | P.C
V = x.value, x == P.C | P.A, x is P.A | P.C, (~x).value, ~x is P.B, P(5) is x, P(0).value, bool(P(0)), (x ^ P.A).name, isinstance(x, P), {x: 3}[P.A | P.C]"#,
        "(5, True, True, 2, True, True, 0, False, 'C', True, 3)",
    ),
    (
        r#"from enum import Flag, IntFlag
class P(IntFlag):
    A = 1
    B = 2
x = P.A | P.B
V = x == 3, x + 1, isinstance(x, P), x & P.A == P.A, P.A in x, f"{x}", int(x), P(3) is x, P.A < P.B"#,
        "(True, 4, True, True, True, '3', 3, True, True)",
    ),
    (
        r#"from enum import Flag
class P(Flag):
    NONE = 0
    A = auto()
    B = auto()
V = P.A.value, P.B.value, len(P), P.NONE.value, bool(P.NONE), P.A & P.B is P.NONE, str(P.A)"#,
        "(1, 2, 2, 0, False, True, 'P.A')",
    ),
    (
        r#"from enum import Flag
class P(Flag):
    A = 1
def f(n):
    try: return P(n).value
    except ValueError: return "no"
V = f(1), f(8)"#,
        "(1, 'no')",
    ),
    (
        r#"from enum import Flag
class Base(Flag):
    def tag(self): return self.value * 10
class P(Base):
    A = 1
    B = 2
V = P.A.tag(), (P.A | P.B).tag()"#,
        "(10, 30)",
    ),
];

/// What versions of Python or classes differ in.
#[test]
fn flags_that_differ_are_refused() {
    refused(FLAGS_THAT_DIFFER_ARE_REFUSED);
}

const FLAGS_THAT_DIFFER_ARE_REFUSED: &[(&str, &str)] = &[
    (
        r#"from enum import Flag
class F(Flag):
    A = 1
    B = 6
V = ~F.A"#,
        "`~` of a flag is not read where a member has bits that no other names alone",
    ),
    (
        r#"from enum import Flag
class P(Flag):
    A = 1
    B = 2
V = (P.A | P.B).name"#,
        "the name of several flags differs between versions of Python",
    ),
    (
        r#"from enum import IntFlag
class P(IntFlag):
    A = 1
V = ~P.A"#,
        "`~` of an `IntFlag` differs between versions of Python",
    ),
    (
        r#"from enum import IntFlag
class P(IntFlag):
    A = 1
V = P.A | 8"#,
        "`|` of an instance of a plain class and the integer 8 is not read",
    ),
    (
        r#"from enum import Flag
class P(Flag):
    A = 1
    B = 2
V = list(P.A | P.B)"#,
        "an instance of a plain class is no sequence",
    ),
    (
        r#"from enum import Flag
class P(Flag):
    A = 1
V = P.A | 2"#,
        "`|` of an instance of a plain class and the integer 2 is not read",
    ),
];
/// Where libraries end and what they leave alone.
#[test]
fn edges_are_those_of_python() {
    same(EDGES_ARE_THOSE_OF_PYTHON);
}

const EDGES_ARE_THOSE_OF_PYTHON: &[(&str, &str)] = &[
    (
        r#"class Q(NamedTuple):
    a: list
    b: int = 2
@dataclass
class D:
    n: int = 1
q = Q([1], D())
V = q._asdict()["a"] is q.a, type(q._asdict()["b"]) is D, q._replace(b=3).b, q._replace(b=3).a is q.a, list(q._asdict())"#,
        "(True, True, 3, True, ['a', 'b'])",
    ),
    (
        r#"it = iter([1, 2])
V = list(map(lambda _: next(it), range(5)))"#,
        "[1, 2]",
    ),
    (
        r#"def f(o):
    try: return o.zz
    except AttributeError: return "no"
class A: pass
V = f(A())"#,
        "'no'",
    ),
];
