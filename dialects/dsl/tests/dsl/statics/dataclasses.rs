//! Dataclasses, named tuples, enums, namespaces. Each with what `repr(V)` gives in CPython.

use super::same;

#[test]
fn dataclasses_and_enums_are_those_of_python() {
    same(TABLE);
}

const TABLE: &[(&str, &str)] = &[
    (
        r#"class E(Enum):
    R = auto()
    G = auto()
    B = R
V = E.R is E.B, E.B.name, len(E)"#,
        "(True, 'R', 2)",
    ),
    (
        r#"class E(Enum):
    A = B = auto()
    C = auto()
V = len(E), E.C.value, E.A is E.B"#,
        "(2, 2, True)",
    ),
    (
        r#"class E(Enum):
    A: int = auto()
    B: int = A
    C: int = 7
V = len(E), E.C.value"#,
        "(2, 7)",
    ),
    (
        r#"class E(StrEnum):
    A = auto()
    B = A
V = len(E), E.B.value"#,
        "(1, 'a')",
    ),
    (
        r#"class E(IntEnum):
    A = auto()
    B = A + 1
    C = auto()
V = E.B.value, E.C.value"#,
        "(2, 3)",
    ),
    (
        r#"@dataclass
class A:
    n: ClassVar[int] = 3
    m: int = 4
V = A(5).m, A.n, A(1) == A(1), A(1).n"#,
        "(5, 3, True, 3)",
    ),
    (
        r#"@dataclass
class A:
    a: int
    b: int = field(init=False, default=7)
    c: int = field(compare=False, default=0)
    d: int = field(kw_only=True, default=1)
V = A(1).b, A(1, 2) == A(1, 3), A(1, d=5).d, A(1) == A(1, d=2)"#,
        "(7, True, 5, False)",
    ),
    (
        r#"@dataclass(order=True)
class A:
    a: int
    b: int = 0
V = A(1) < A(2), A(1,5) > A(1,3), sorted([A(2), A(1)]) == [A(1), A(2)], A(1) <= A(1)"#,
        "(True, True, True, True)",
    ),
    (
        r#"@dataclass(eq=False)
class A:
    a: int
x = A(1)
V = A(1) == A(1), x == x, {x: 1}[x]"#,
        "(False, True, 1)",
    ),
    (
        r#"@dataclass(kw_only=True)
class A:
    a: int
    b: int = 2
V = A(a=1).b"#,
        "2",
    ),
    (
        r#"@dataclass(slots=True)
class A:
    a: int
x = A(1)
x.a = 5
V = x.a"#,
        "5",
    ),
    (
        r#"class Base:
    def __init__(self, z): self.z = z
@dataclass
class A(Base):
    a: int
V = A(4).a, hasattr(A(4), 'z')"#,
        "(4, False)",
    ),
    (
        r#"@dataclass
class A:
    x: int = 1
    y: int = 2
@dataclass
class B(A):
    z: int = 3
    x: int = 10
V = B().x, B(5).x, B(1,2,3).z, B() == B(), B(x=1,y=2) == A(1,2)"#,
        "(10, 5, 3, True, False)",
    ),
    (
        r#"@dataclass
class A:
    x: int = 1
    def __post_init__(self): self.y = self.x * 2
class B(A):
    def __init__(self, k):
        super().__init__(k)
        self.k = k
V = B(3).y, B(3).k, B(3) == B(3), isinstance(B(1), A)"#,
        "(6, 3, True, True)",
    ),
    (
        r#"@dataclass
class I:
    a: int = 1
@dataclass
class O:
    i: I = field(default_factory=I)
    xs: list = field(default_factory=list)
o = O()
o.xs.append(o.i)
d = asdict(o)
o.i.a = 5
V = d, O().xs, replace(o, xs=[1]).xs, replace(o).i is o.i"#,
        "({'i': {'a': 1}, 'xs': [{'a': 1}]}, [], [1], True)",
    ),
    (
        r#"@dataclass(frozen=True)
class A:
    a: int = 1
x = A()
V = {x: 1}[A(1)], x == A(), hash_ok(x) if False else 0"#,
        "(1, True, 0)",
    ),
    (
        r#"@dataclass
class A:
    a: int
    def __eq__(self, o): return True
V = A(1) == A(2)"#,
        "True",
    ),
    (
        r#"class Base:
    def __eq__(self, o): return True
@dataclass
class D(Base):
    a: int
V = D(1) == D(2)"#,
        "False",
    ),
    (
        r#"@dataclass(frozen=True)
class P:
    x: int
    y: int = 0
d = {P(1): 'a'}
V = d[P(1, 0)], P(1) in d, P(2) in d, len({P(1), P(1), P(2)})"#,
        "('a', True, False, 2)",
    ),
    (
        r#"@dataclass(unsafe_hash=True)
class P:
    x: int
V = len({P(1), P(1)})"#,
        "1",
    ),
    (
        r#"@dataclass(init=False)
class A:
    x: int = 5
    def __init__(self, k): self.x = k
V = A(7).x"#,
        "7",
    ),
    (
        r#"@dataclass
class A:
    x: int = 5
    def __init__(self, k): self.k = k
V = A(7).x, A(8).k"#,
        "(5, 8)",
    ),
    (
        r#"@dataclass
class A:
    a: int
    b: list = field(default_factory=list, init=False)
x, y = A(1), A(1)
x.b.append(1)
V = x.b, y.b, x == y"#,
        "([1], [], False)",
    ),
    (
        r#"@dataclass
class A:
    a: int
    b: int = field(init=False)
    def __post_init__(self): self.b = self.a * 2
V = A(3).b, replace(A(3), a=5).b"#,
        "(6, 10)",
    ),
    (
        r#"@dataclass
class A:
    a: int = 1
    @property
    def twice(self): return self.a * 2
    @classmethod
    def make(cls, k): return cls(k)
    @staticmethod
    def st(): return 9
class B(A):
    def twice_again(self): return self.twice * 2
V = B.make(3).twice_again(), B.st(), type(B.make(1)) is B, type(B.make(1)) is A"#,
        "(12, 9, True, False)",
    ),
    (
        r#"class K(Enum):
    A = auto()
    B = auto()
    C = 10
    D = auto()
V = K.A.value, K.B.value, K.D.value, [k.name for k in K], K.A is K.A, K.A == K.B, K(10) is K.C, K['A'] is K.A, len(K)"#,
        "(1, 2, 11, ['A', 'B', 'C', 'D'], True, False, True, True, 4)",
    ),
    (
        r#"class K(Enum):
    A = 1
    B = 1
V = K.A is K.B, len(K), K.B.name, list(k.name for k in K)"#,
        "(True, 1, 'A', ['A'])",
    ),
    (
        r#"class K(str, Enum):
    A = "a"
V = K.A == "a", K.A.value, K.A.name, K("a") is K.A, isinstance(K.A, str)"#,
        "(True, 'a', 'A', True, True)",
    ),
    (
        r#"class K(Enum):
    A = 1
V = str(K.A)"#,
        "'K.A'",
    ),
    (
        r#"class K(Enum):
    A = 1
    B = 2
    def twice(self): return self.value * 2
    @property
    def nm(self): return self.name + "!"
    @classmethod
    def first(cls): return cls.A
V = K.B.twice(), K.A.nm, K.first() is K.A, {K.A: 1}[K.A], K.A in K, K.A in {K.B}"#,
        "(4, 'A!', True, 1, True, False)",
    ),
    (
        r#"c = SimpleNamespace(a=1)
d = c
d.a = 2
d.b = 3
V = c.a, c.b, c == SimpleNamespace(a=2, b=3), c == SimpleNamespace(a=2)"#,
        "(2, 3, True, False)",
    ),
    (
        r#"P = namedtuple("P", "a b")
p = P(1, 2)
V = p == (1, 2), p.a, p[1], p[-1], len(p), sum(p), [*p], p < P(1, 3), {p: 5}[(1, 2)], isinstance(p, tuple), p[0:1]"#,
        "(True, 1, 2, 2, 2, 3, [1, 2], True, 5, True, (1,))",
    ),
    (
        r#"class P(NamedTuple):
    a: int
    b: int = 4
    def both(self): return self.a + self.b
V = P(1).both(), P(1) == P(1, 4), P(b=1, a=2).a"#,
        "(5, True, 2)",
    ),
    (
        r#"ns = SimpleNamespace(a=1)
setattr(ns, "b", 2)
del ns.a
V = ns.b, hasattr(ns, "a")"#,
        "(2, False)",
    ),
    (
        r#"class K(Enum):
    X = (1, 2)
    Y = "s"
V = K.X.value, K((1, 2)) is K.X, K.X == (1, 2), K.X != K.Y, K.X is K["X"], [k.value for k in K]"#,
        "((1, 2), True, False, True, True, [(1, 2), 's'])",
    ),
    (
        r#"class K(Enum):
    A = 1
    def __str__(self): return "k"
V = f"{K.A}", str(K.A)"#,
        "('k', 'k')",
    ),
    (
        r#"class C(Enum):
    R = auto()
    G = auto()
m = {C.R: "r", C.G: "g"}
V = [m[c] for c in C], C.R.value, C.G in m, [c.name.lower() for c in C]"#,
        "(['r', 'g'], 1, True, ['r', 'g'])",
    ),
    (
        r#"P = namedtuple("P", "x y")
V = P(1, 2) == (1, 2), P(1, [2])[1], max(P(1, 5)), (lambda x, y: x + y)(*P(1, 2)), [p.x for p in [P(3, 4)]]"#,
        "(True, [2], 5, 3, [3])",
    ),
];
