//! Classes with several bases, with decorators, with slots.

use super::same;

/// The order of bases, and what decorators make of classes.
#[test]
fn lines_and_decorators_are_those_of_python() {
    same(LINES_AND_DECORATORS_ARE_THOSE_OF_PYTHON);
}

const LINES_AND_DECORATORS_ARE_THOSE_OF_PYTHON: &[(&str, &str)] = &[
    (
        r#"REG = {}
def register(name):
    def deco(cls):
        REG[name] = cls
        return cls
    return deco
@register("a")
@dataclass
class A:
    n: int = 3
@register("b")
class B(A): pass
V = sorted(REG), REG["a"]().n, REG["b"] is B, A(5).n"#,
        "(['a', 'b'], 3, True, 5)",
    ),
    (
        r#"def add(cls):
    cls.extra = 4
    return cls
@add
@dataclass(frozen=True)
class A:
    n: int = 3
V = A().extra, A().n, A(1) == A(1)"#,
        "(4, 3, True)",
    ),
    (
        r#"@dataclass
@(lambda c: c)
class A:
    n: int = 3
V = A(4).n"#,
        "4",
    ),
    (
        r#"def wrap(cls):
    return cls()
@wrap
class cfg:
    width = 8
    def area(self): return self.width * 2
V = cfg.width, cfg.area()"#,
        "(8, 16)",
    ),
    (
        r#"class A:
    def f(self): return "A"
class B(A):
    def f(self): return "B" + super().f()
class C(A):
    def f(self): return "C" + super().f()
class D(B, C):
    def f(self): return "D" + super().f()
V = D().f(), isinstance(D(), C), isinstance(D(), A)"#,
        "('DBCA', True, True)",
    ),
    (
        r#"class LogMixin:
    def describe(self): return f"{self.name}:{self.n}"
class Base:
    def __init__(self, n): self.n = n
class K(LogMixin, Base):
    name = "k"
V = K(3).describe()"#,
        "'k:3'",
    ),
    (
        r#"@dataclass
class A:
    x: int = 1
    y: int = 2
@dataclass
class B:
    y: int = 5
    z: int = 6
@dataclass
class C(A, B):
    w: int = 7
c = C()
V = c.x, c.y, c.z, c.w, [f for f in asdict(c)]"#,
        "(1, 2, 6, 7, ['y', 'z', 'x', 'w'])",
    ),
    (
        r#"class A:
    def __init__(self): self.a = 1; super().__init__()
class B:
    def __init__(self): self.b = 2; super().__init__()
class C(A, B):
    def __init__(self): super().__init__(); self.c = 3
c = C()
V = c.a, c.b, c.c"#,
        "(1, 2, 3)",
    ),
    (
        r#"class Named:
    def label(self): return self.name.lower()
class Color(Named, Enum):
    RED = 1
    BLUE = 2
V = Color.RED.label(), [c.label() for c in Color]"#,
        "('red', ['red', 'blue'])",
    ),
    (
        r#"class Named:
    def label(self): return self.name.lower()
class Color(Named, IntEnum):
    RED = 1
V = Color.RED.label(), Color.RED + 1"#,
        "('red', 2)",
    ),
    (
        r#"class S:
    __slots__ = ("a", "b")
    def __init__(self): self.a = 1
s = S()
V = s.a"#,
        "1",
    ),
    (
        r#"class S:
    __slots__ = ("a",)
class T(S): pass
t = T()
t.zz = 1
V = t.zz"#,
        "1",
    ),
    (
        r#"from abc import ABCMeta
class A(metaclass=ABCMeta):
    @abstractmethod
    def f(self): ...
class B(A):
    def f(self): return 2
V = B().f()"#,
        "2",
    ),
    (
        r#"from typing import Protocol, Generic, TypeVar
T = TypeVar("T")
class Has(Protocol):
    n: int
class Box(Generic[T]):
    def __init__(self, v): self.v = v
class P(Protocol[T]): pass
V = Box(3).v"#,
        "3",
    ),
    (
        r#"from enum import unique
@unique
class E(Enum):
    A = 1
    B = 2
V = len(E)"#,
        "2",
    ),
];
