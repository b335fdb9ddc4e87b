//! What is not read, or an error in Python: refused by name.

use super::refused;

#[test]
fn what_differs_from_python_is_refused() {
    refused(TABLE);
}

const TABLE: &[(&str, &str)] = &[
    (
        r#"class E(Enum):
    A = auto(), 5
V = E.A.value"#,
        "it is a plain Python class with `auto()` in `auto(), 5`, which is not read",
    ),
    (
        r#"x = auto()
class E(Enum):
    A = x
    B = x
V = len(E)"#,
        "it is a plain Python class with `auto()` in `x`, which is not read",
    ),
    (
        r#"class E(Enum):
    A = 1
    B = 2
    C = 1
    D = auto()
V = E.D.value"#,
        "it is a plain Python class with `auto()` after values that do not ascend, which is not read",
    ),
    ("V = [x for x in {1,2,3}]", "a set of 3 has no order in Python"),
    ("V = [float('nan')] == [float('nan')]", "whether one nan is another is not decided"),
    ("V = object()", "`object()` is not read"),
    ("V = 1 is 1", "`is` is not decided between the integer 1 and the integer 1"),
    ("V = (1,2) is (1,2)", "`is` is not decided between a tuple of 2 and a tuple of 2"),
    (
        r#"@dataclass(kw_only=True)
class A:
    a: int
V = A(1).a"#,
        "`A` takes 0 arguments, found 1",
    ),
    (
        r#"@dataclass(slots=True)
class A:
    a: int
x = A(1)
x.zz = 5
V = x.a"#,
        "its class has slots, and none for `zz`",
    ),
    (
        r#"d = {"a": 1}
for k in d: d[k + "x"] = 1
V = d"#,
        "the dict changes its size while it is walked",
    ),
    ("V = math.exp(1000)", "`math.exp` of the integer 1000 is not read"),
    ("V = 2 ** 63", "the result of `**` does not fit into 64 bits"),
    ("V = (-8) ** 0.5", "`-8.0 ** 0.5` is a complex number, and those are not read"),
    ("V = 2.0 ** 10000", "`2.0 ** 10000.0` is too large for a float"),
    ("V = 0 ** -1", "`0 ** -1` divides by zero"),
    (
        "V = round(0.5), round(1.5), round(2.5), round(-2.5), round(2.675, 2), round(1.005, 2), round(0.125, 2), round(3), round(7, 2), round(2.5, 0), round(1e300)",
        "`round` of the float 1e300 is not read",
    ),
    (r#"V = int("1__0")"#, r#"`int` of the string "1__0" is not read"#),
    (r#"V = int("_1")"#, r#"`int` of the string "_1" is not read"#),
    (r#"V = int("1.5")"#, r#"`int` of the string "1.5" is not read"#),
    (r#"V = "{} {0}".format(1, 2)"#, r#"`format` of the string "{} {0}" with these arguments is not read"#),
    (
        r#"@cache
def f(n): return [n]
a = f(1)
a.append(2)
V = f(1), f(1) is a, f(2) is f(1), f(1.0) is a"#,
        "whether the cache of `f` tells equal arguments of different types apart is not known",
    ),
    (
        r#"@cache
def f(xs): return 1
V = f([1])"#,
        "a list of 1 is no argument of a cached function",
    ),
    ("V = 9223372036854775807 + 1", "the result of `+` does not fit into 64 bits"),
    ("V = -9223372036854775808 // -1", "the result of `//` does not fit into 64 bits"),
    ("V = 1 << 63", "the result of `<<` does not fit into 64 bits"),
    ("V = sum([0.1] * 10)", "the last digits of this sum depend on the version of Python"),
    (r#"V = sum(["a", "b"], "")"#, r#"`sum` of a list of 2 and the string "" is not read"#),
    (
        "V = 10 / 4, 7 / 2, 9007199254740993 / 3, 9007199254740993 / 2",
        "`9007199254740993 / 2` is not read: an operand is above 2 ** 53",
    ),
    (
        r#"x = 1
def f():
    y = x
    x = 2
    return y
V = f()"#,
        "`x` has no value yet: it is assigned below",
    ),
    (
        r#"class C:
    n = 3
    xs = [n for _ in range(2)]
V = C.xs"#,
        "the name `n` is not defined",
    ),
    (
        r#"xs = []
xs.append(xs)
V = xs"#,
        "`repr` of a list of 1 is not read",
    ),
    (
        r#"xs = []
xs.append(xs)
ys = []
ys.append(ys)
V = xs == ys"#,
        "a list of 1 of more than 65536 values is not compared",
    ),
    (
        r#"def f(a, b): return a
V = f(a=1, **{"a": 2})"#,
        "`f` gets `a` twice",
    ),
    (
        r#"def f(a, /): return a
V = f(a=1)"#,
        "`f` has no parameter `a`; it has ",
    ),
    ("V = asdict(SimpleNamespace(a=1))", "a copy of an instance of a plain class is not read"),
    (
        r#"@dataclass
class A:
    xs: list = []
V = A().xs"#,
        "a list, dict or set is no default of the field `xs`",
    ),
    (
        r#"@dataclass(frozen=True)
class A:
    a: int = 1
x = A()
x.a = 3
V = x.a"#,
        "its class is frozen, so `a` is not set",
    ),
    (
        r#"@dataclass
class A:
    a: int = 1
V = {A(): 1}"#,
        "an instance of a plain class is no key of a dict",
    ),
    (
        r#"@dataclass
class A:
    b: int = 1
    a: int
V = 1"#,
        "the field `a` has no default and stands behind one that has",
    ),
    (
        r#"class A:
    def __eq__(self, o): return True
V = {A(): 1}"#,
        "an instance of a plain class is no key of a dict",
    ),
    (
        r#"class A(ABC):
    @abstractmethod
    def f(self): ...
V = A()"#,
        "`A` has the abstract method `f`",
    ),
    (
        r#"x = 5
del x
V = x"#,
        "`x` is deleted above",
    ),
    (
        r#"def f():
    if False: z = 1
    return z
V = f()"#,
        "`z` has no value yet: it is assigned below",
    ),
    (
        r#"V = len("aé日"), "é".upper(), "日本"[0], "aé"[::-1]"#,
        r#"`upper` of the string "é" with these arguments is not read"#,
    ),
    (
        r#"class A:
    __slots__ = ("a",)
V = 1, A"#,
        "`repr` of a tuple of 2 is not read",
    ),
    (
        r#"class A:
    def __getattr__(self, n): return 5
V = A().zz"#,
        "it is a plain Python class with `__getattr__`, which is not read",
    ),
    (
        r#"class A:
    def __init__(self): self.__x = 1
class B(A):
    def __init__(self):
        super().__init__()
        self.__x = 2
    def get(self): return self.__x
V = B().get()"#,
        "the attribute `__x` is not set",
    ),
    ("V = math.sqrt(-1)", "`math.sqrt` of the integer -1 is not read"),
    ("V = math.log(0)", "`math.log` of the integer 0 is not read"),
    (
        r#"s = {1}
s.remove(5)
V = s"#,
        "the integer 5 is not in the set",
    ),
    (
        r#"s = {3}
V = s.pop(), s, list({4}), tuple({5})"#,
        "`repr` of a tuple of 4 is not read",
    ),
    ("V = list({1, 2})", "a set of 2 has no order in Python"),
    (
        r#"V = set("abc") == {"a", "b", "c"}, set([1, 1]) == {1}, set() == frozenset(), {1: 2}.keys() == {1}"#,
        "`==` is not decided between a view of a dict and a set of 1",
    ),
    ("V = {1} in [{1}], {1} == [1], {frozenset([1])} == {frozenset([1])}", "a set of 1 is no element of a set"),
    (
        r#"class Meta(type): pass
class A(metaclass=Meta): pass
V = 1 if A else 2"#,
        "it is a plain Python class with a metaclass, and authoring files are not executed",
    ),
    (
        r#"V = "abc"[True], [1, 2][False], (5, 6)[True]"#,
        "`[1, 2]` needs a compile-time integer as index, found the bool False",
    ),
    ("V = [1, 2, 3][3]", "index 3 is out of range: `[1, 2, 3]` has 3 items"),
    (r#"V = {}["a"]"#, r#"the dict `{}` has no key `"a"`"#),
    (
        r#"V = 5 if isinstance(3, int) else "no"
class Foo(Undefined):
    def add(self, xs): xs.append(1)
xs = [1]
Foo().add(xs)
V = xs"#,
        "it is a plain Python class with the base `Undefined`, which is not read",
    ),
    (
        r#"xs = [1]
xs.frobnicate()
V = xs"#,
        "`xs` is a list of 1 and has no attribute `frobnicate`",
    ),
    (
        r#"x = 1
x.y = 5
V = x"#,
        "attributes of the integer 1 are not set",
    ),
    (
        r#"t = (1, 2)
t[0] = 5
V = t"#,
        "items of a tuple of 2 are not set",
    ),
    (
        r#"s = "abc"
s[0] = "x"
V = s"#,
        r#"items of the string "abc" are not set"#,
    ),
    (
        r#"a = [1]
b = a
b[0] += "x"
V = a"#,
        r#"`+` is not defined between the integer 1 and the string "x""#,
    ),
    (
        r#"class V2:
    def __init__(self, x, y): self.x, self.y = x, y
    def __eq__(self, o): return (self.x, self.y) == (o.x, o.y)
    def __hash__(self): return hash((self.x, self.y))
V = {V2(1, 2): 3}[V2(1, 2)]"#,
        "an instance of a plain class is no key of a dict",
    ),
    (
        r#"class A: pass
V = A() < A()"#,
        "an instance of a plain class and an instance of a plain class have no order",
    ),
    (
        r#"class A:
    def __eq__(self, o): return 5
V = A() == 1"#,
        "`__eq__` gives the integer 5, which is neither True nor False",
    ),
    (
        r#"@dataclass
class A:
    a: "ClassVar[int]" = 1
V = A()"#,
        r#"it is a plain Python class with `"ClassVar[int]"`, which is not read"#,
    ),
    (
        r#"def f(a, b): return a
V = f(1)"#,
        "`f` needs `b`",
    ),
    (r#"V = "abc".encode()"#, r#"`"abc"` is the string "abc" and has no attribute `encode`"#),
    (r#"V = b"abc""#, "a bytes literal is not part of the language"),
    ("V = 1j", "complex numbers are no values of the language"),
    ("V = ...", "`...` is not part of the language"),
    ("V = abs(-9223372036854775808)", "`abs` of the integer -9223372036854775808 is not read"),
    ("V = 1 / 0", "`1 / 0` divides by zero"),
    ("V = 1.0 // 0", "`1.0 // 0.0` divides by zero"),
    ("V = int(1e18), int(1e19)", "`int` of the float 1e19 is not read"),
    ("V = [1] + (2,)", "`+` is not defined between a list of 1 and a tuple of 1"),
    (r#"V = "a" + 1"#, r#"`+` is not defined between the string "a" and the integer 1"#),
    (r#"V = 1 < "a""#, r#"the integer 1 and the string "a" have no order"#),
    (
        r#"z = zip([1, 2], [3])
V = len(z)"#,
        "`len` of an iterator is not read",
    ),
    (
        r#"it = map(lambda x: x, [1])
V = it[0]"#,
        "`it` is an iterator and has no subscript",
    ),
    (
        r#"V = list(zip([1, 2], [3, 4], strict=True)), list(zip("ab", [1], strict=True))"#,
        "the arguments of a strict `zip` have different lengths",
    ),
    (
        r#"a, b = {1, 2}
V = a, b"#,
        "a set of 2 has no order in Python",
    ),
    (
        r#"class T:
    @property
    def v(self): return 1
t = T()
t.v = 5
V = t.v"#,
        "`v` is a property, which is not set",
    ),
    (
        r#"class K(Enum):
    A = 1
K.A.value = 5
V = K.A.value"#,
        "an instance of a plain class has no attribute that is set",
    ),
    (
        r#"class K(Enum):
    A = 1
K.B = 5
V = len(K)"#,
        "attributes of a plain Python class are not set",
    ),
    (
        r#"class K(Enum):
    A = 1
V = K.Z"#,
        "`K` has no attribute `Z`",
    ),
    (
        r#"class K(Enum):
    A = 1
V = K(7)"#,
        "`K` has no member the integer 7",
    ),
    (
        r#"P = namedtuple("P", ["x", "y"])
a, b = P(1, 2)
V = a, b, P(x=1, y=2) == P(1, 2), P(1, 2) + (3,), P(1, 2)._replace(x=5)"#,
        "`+` is not defined between an instance of a plain class and a tuple of 1",
    ),
    (r#"V = sorted([3, "a"])"#, r#"the string "a" and the integer 3 have no order"#),
    ("V = hash(1)", "Python's `hash` is not read"),
    ("V = id(1) == id(1)", "Python's `id` is not read"),
    (
        r#"V = getattr([1], "append") is None, hasattr([], "zzz")"#,
        r#"`hasattr` of a list of 0 and the string "zzz" is not read"#,
    ),
    (
        r#"class A:
    @property
    def bad(self): raise ValueError("x")
V = hasattr(A(), "bad")"#,
        "x",
    ),
    (
        r#"def f():
    raise ValueError("boom")
V = f()"#,
        "boom",
    ),
    ("V = (lambda: (yield))()", "yield is not part of the language"),
    (
        r#"async def f(): return 1
V = f()"#,
        "`f` is an async Python function, which is not called",
    ),
    (
        r#"class A:
    def __enter__(self): return 1
    def __exit__(self, *a): pass
with A() as x:
    V = x"#,
        "it is bound inside `with` at file level, which is not executed",
    ),
    (
        r#"@lru_cache(maxsize=2)
def f(n): return [n]
a = f(1); f(2); f(3)
V = f(1) is a"#,
        "`f` has more than 2 results in its cache",
    ),
    (
        r#"@lru_cache(maxsize=2)
def f(n): return [n]
a, b, c = f(1), f(2), f(3)
V = f(1) is a"#,
        "`f` has more than 2 results in its cache",
    ),
    (
        r#"@staticmethod
def f(): return 1
V = f()"#,
        "`f` is a `staticmethod` and cannot be called",
    ),
    (
        r#"x = ((((((((((((((((((1,),),),),),),),),),),),),),),),),),)
V = 1"#,
        "tuples and lists are nested more than 16 deep",
    ),
    (
        r#"s = {1, 2, 3}
V = s & {2}, s > {1}"#,
        "`repr` of a tuple of 2 is not read",
    ),
    (
        r#"s = {"a", "b"}
V = "-".join(s)"#,
        "a set of 2 has no order in Python",
    ),
    (
        r#"s = {1, 2}
V = {x + 1 for x in s} == {2, 3}"#,
        "a set of 2 has no order in Python",
    ),
    (
        r#"s = {0.1, 0.2, 0.3}
V = sum(s)"#,
        "the sum of a set of other values than integers depends on its order",
    ),
    (
        r#"s = frozenset([1])
s.add(2)
V = s"#,
        "`repr` of a set of 1 is not read",
    ),
];
