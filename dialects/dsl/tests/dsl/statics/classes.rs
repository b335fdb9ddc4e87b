//! Plain classes: methods, special methods, attributes. Each with what `repr(V)` gives in CPython.

use super::same;

#[test]
fn classes_are_those_of_python() {
    same(TABLE);
}

const TABLE: &[(&str, &str)] = &[
    (
        r#"class A: pass
a, b = A(), A()
V = a == b, a is b, a is a, a == a, a != b, bool(a)"#,
        "(False, False, True, True, True, True)",
    ),
    (
        r#"class A:
    def __init__(self, n): self.n = n
    def __eq__(self, o): return self.n == o.n
V = A(1) == A(1), A(1) != A(1), A(1) == A(2), [A(1)] == [A(1)], A(1) in [A(2), A(1)]"#,
        "(True, False, False, True, True)",
    ),
    (
        r#"class A:
    def __init__(self, n): self.n = n
    def __bool__(self): return self.n > 0
V = bool(A(1)), bool(A(0)), 1 if A(0) else 2, not A(0), (A(0) or 5)"#,
        "(True, False, 2, True, 5)",
    ),
    (
        r#"class A:
    def __len__(self): return 0
V = bool(A()), len(A()), 3 if A() else 4"#,
        "(False, 0, 4)",
    ),
    (
        r#"class A:
    def __init__(self, n): self.n = n
    def __lt__(self, o): return self.n < o.n
V = [a.n for a in sorted([A(3), A(1), A(2)])], A(1) < A(2), A(1) > A(2), max(A(1), A(3), A(2)).n, min([A(2), A(1)]).n"#,
        "([1, 2, 3], True, False, 3, 1)",
    ),
    (
        r#"class A:
    def __getitem__(self, k): return k * 2
    def __contains__(self, k): return k == 3
    def __call__(self, a, b=1): return a + b
    def __len__(self): return 7
V = A()[4], 3 in A(), 4 in A(), A()(1, b=5), len(A())"#,
        "(8, True, False, 6, 7)",
    ),
    (
        r#"class A:
    def __init__(self, xs): self.xs = xs
    def __iter__(self): return iter(self.xs)
V = list(A([1,2])), sum(A([3,4])), [x for x in A((5,))], 3 in A([3])"#,
        "([1, 2], 7, [5], True)",
    ),
    (
        r#"class A:
    def __init__(self, n): self.n = n
    def __add__(self, o): return A(self.n + (o.n if isinstance(o, A) else o))
    def __radd__(self, o): return A(o + self.n)
    def __mul__(self, k): return self.n * k
    def __neg__(self): return -self.n
    def __sub__(self, o): return NotImplemented
V = (A(1) + A(2)).n, (A(1) + 2).n, (5 + A(1)).n, A(3) * 2, -A(4), sum([A(1), A(2)], A(0)).n"#,
        "(3, 3, 6, 6, -4, 3)",
    ),
    (
        r#"class A:
    def __sub__(self, o): return NotImplemented
class B:
    def __rsub__(self, o): return 9
V = A() - B()"#,
        "9",
    ),
    (
        r#"class A:
    def __init__(self): self.xs = []
    def __iadd__(self, x):
        self.xs.append(x)
        return self
a = A(); b = a
a += 1; a += 2
V = b.xs, a is b"#,
        "([1, 2], True)",
    ),
    (
        r#"class A:
    def __init__(self): self.a = 1
    def f(self): return 10
class B(A):
    def __init__(self):
        super().__init__()
        self.b = 2
    def f(self): return super().f() + 1
class C(B):
    def f(self): return super().f() * 2
V = B().a + B().b, B().f(), C().f(), C().a"#,
        "(3, 11, 22, 1)",
    ),
    (
        r#"class A:
    def __init__(self, n): self.n = n
class B(A):
    def __init__(self, n):
        A.__init__(self, n + 1)
V = B(3).n"#,
        "4",
    ),
    (
        r#"class K(IntEnum):
    A = 3
    B = auto()
V = K.A + 1, K.B.value, K.A < K.B, K.A == 3, [10,20,30,40][K.A], f"{K.A}", str(K.A), isinstance(K.A, int), K.A.name, range(K.A), K(3).name, max(K).name"#,
        "(4, 4, True, True, 40, '3', '3', True, 'A', range(0, 3), 'A', 'B')",
    ),
    (
        r#"class A:
    def __init__(self): self.x = 1
    @property
    def p(self): return self.nope
V = hasattr(A(), 'x'), hasattr(A(), 'y'), getattr(A(), 'z', 5)"#,
        "(True, False, 5)",
    ),
    (
        r#"class A:
    xs = []
    n = 0
    def add(self, x):
        self.xs.append(x)
        self.n += 1
a, b = A(), A()
a.add(1); b.add(2); b.add(3)
V = A.xs, a.xs is b.xs, a.n, b.n, A.n"#,
        "([1, 2, 3], True, 1, 2, 0)",
    ),
    (
        r#"class A:
    n = 1
    @staticmethod
    def s(x): return x + 1
    @classmethod
    def c(cls, x): return cls.n + x
    @property
    def p(self): return self.n * 10
class B(A):
    n = 2
V = A.s(1), A().s(1), A.c(1), B.c(1), B().p, B().c(5)"#,
        "(2, 2, 2, 3, 20, 7)",
    ),
    (
        r#"class A:
    def __init__(self): self.calls = 0
    @cached_property
    def p(self):
        self.calls += 1
        return [1]
a = A()
V = a.p is a.p, a.calls"#,
        "(True, 1)",
    ),
    (
        r#"class C:
    n = 3
    xs = [i for i in range(n)]
    def f(self): return n
n = 100
V = C.xs, C().f()"#,
        "([0, 1, 2], 100)",
    ),
    (
        r#"n = 5
class C:
    n = n + 1
V = C.n"#,
        "6",
    ),
    (
        r#"class Node:
    def __init__(self, v, nxt=None):
        self.v = v
        self.nxt = nxt
a = Node(1)
b = Node(2, a)
a.nxt = b
V = b.nxt.nxt.v, a.nxt.nxt is a"#,
        "(2, True)",
    ),
    (
        r#"class A:
    def __eq__(self, o): return NotImplemented
V = A() == A(), A() == 3, A() != 3"#,
        "(False, False, True)",
    ),
    (
        r#"class A:
    def __repr__(self): return "A!"
V = f"{A()}", str(A()), repr(A())"#,
        "('A!', 'A!', 'A!')",
    ),
    (
        r#"class A:
    def __str__(self): return "S"
V = f"{A()}", str(A())"#,
        "('S', 'S')",
    ),
    (
        r#"class A:
    pass
x = A()
x.n = 1
y = x
y.n += 5
A.m = 9
V = x.n, x.m, hasattr(x, "q")"#,
        "(6, 9, False)",
    ),
    (
        r#"class A:
    n = 1
a = A()
b = A()
a.n = 5
V = a.n, b.n, A.n"#,
        "(5, 1, 1)",
    ),
    (
        r#"class A:
    f = lambda self: 3
    g = len
V = A().f(), A.g([1])"#,
        "(3, 1)",
    ),
    (
        r#"class A:
    def f(self): return 1
    f2 = f
    f = 5
V = A().f, A().f2()"#,
        "(5, 1)",
    ),
    (
        r#"class A(ABC):
    @abstractmethod
    def f(self): ...
    def g(self): return self.f() + 1
class B(A):
    def f(self): return 4
V = B().g()"#,
        "5",
    ),
    (
        r#"class A:
    count = 0
    def __init__(self):
        A.count += 1
A(); A()
V = A.count"#,
        "2",
    ),
    (
        r#"class A:
    count = 0
    def __init__(self):
        type(self).count += 1
A(); A()
V = A.count"#,
        "2",
    ),
    (
        r#"class A:
    count = 0
    def __init__(self):
        self.__class__.count += 1
A(); A()
V = A.count"#,
        "2",
    ),
    (
        r#"class C:
    N = 1
C.N = 5
c = C()
V = c.N, C.N"#,
        "(5, 5)",
    ),
    (
        r#"class A:
    def __init__(self): self.items = []
    def add(self, x):
        self.items.append(x)
        return self
a = A().add(1).add(2)
V = a.items"#,
        "[1, 2]",
    ),
    (
        r#"class Stack:
    def __init__(self): self._s = []
    def push(self, x): self._s.append(x)
    def pop(self): return self._s.pop()
    def __len__(self): return len(self._s)
s = Stack()
s.push(1); s.push(2)
p = s.pop()
V = p, len(s)"#,
        "(2, 1)",
    ),
    (
        r#"class A:
    def __init__(self, v): self.v = v
    def __le__(self, o): return self.v <= o.v
    def __ge__(self, o): return self.v >= o.v
V = A(1) <= A(2), A(3) >= A(2)"#,
        "(True, True)",
    ),
    (
        r#"class A:
    x = 1
    y = x + 1
    def get(self): return self.y
V = A().get(), A.y"#,
        "(2, 2)",
    ),
    (
        r#"class A:
    for i in range(3): pass
    if True:
        z = 5
V = A.i, A.z"#,
        "(2, 5)",
    ),
    (
        r#"class A:
    xs = []
    xs.append(1)
    xs += [2]
V = A.xs"#,
        "[1, 2]",
    ),
    (
        r#"class Outer:
    class Inner:
        n = 3
    m = Inner.n
V = Outer.Inner.n, Outer.m"#,
        "(3, 3)",
    ),
    (
        r#"class A:
    def __init__(self, **kw):
        for k, v in kw.items(): setattr(self, k, v)
V = A(a=1, b=2).b, getattr(A(q=5), "q")"#,
        "(2, 5)",
    ),
    (
        r#"class A:
    def m(self): return 1
a = A()
f = a.m
a.m = lambda: 2
V = f(), a.m()"#,
        "(1, 2)",
    ),
    (
        r#"class A:
    def m(self): return 1
A.m = lambda self: 2
V = A().m()"#,
        "2",
    ),
    (
        r#"class A: pass
a = A()
A.n = 4
V = a.n"#,
        "4",
    ),
    (
        r#"class A:
    n = 1
class B(A): pass
A.n = 5
B.n += 1
V = A.n, B.n"#,
        "(5, 6)",
    ),
    (
        r#"class A:
    def __init__(self, n=0): self.n = n
    def copy(self): return A(self.n)
a = A(1); b = a.copy(); b.n = 5
V = a.n"#,
        "1",
    ),
    (
        r#"class K(IntEnum):
    LO = 1
    HI = 5
V = K.HI > K.LO, K.HI * 2, sorted([K.HI, K.LO])[0].name, K.LO == 1.0, 1 in [K.LO], sum(K), {1: "a"}[K.LO], K.LO + K.HI, -K.HI, K.HI / 2, max(K.LO, 3), int(K.HI), float(K.LO), bool(K.LO), "x" * K.HI, list(range(K.LO, K.HI)), f"{K.HI:03d}""#,
        "(True, 10, 'LO', True, True, 6, 'a', 6, -5, 2.5, 3, 5, 1.0, True, 'xxxxx', [1, 2, 3, 4], '005')",
    ),
    (
        r#"class A:
    x = None
V = getattr(A, "x", 5), hasattr(A, "x"), hasattr(A, "y"), getattr(A(), "y", None)"#,
        "(None, True, False, None)",
    ),
    (
        r#"class D:
    def __init__(self): self.log = []
    def __getitem__(self, k): self.log.append(("get", k)); return 1
    def __setitem__(self, k, v): self.log.append(("set", k, v))
    def __delitem__(self, k): self.log.append(("del", k))
d = D()
d["a"] += 5
d[1] = 2
del d[3]
V = d.log"#,
        "[('get', 'a'), ('set', 'a', 6), ('set', 1, 2), ('del', 3)]",
    ),
    (
        r#"xs = []
class A:
    def __init__(self): xs.append(self)
a = A()
V = xs[0] is a, len(xs)"#,
        "(True, 1)",
    ),
];
