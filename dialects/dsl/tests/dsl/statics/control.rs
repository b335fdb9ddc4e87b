//! `try`, `global`, decorators of classes, several bases.

use super::{refused, same};

/// Names of the file and of functions around are bound, what is raised is caught.
#[test]
fn what_is_raised_is_caught() {
    same(WHAT_IS_RAISED_IS_CAUGHT);
}

const WHAT_IS_RAISED_IS_CAUGHT: &[(&str, &str)] = &[
    (
        r#"from functools import wraps
def deco(f):
    @wraps(f)
    def inner(*a, **k):
        return f(*a, **k) + 1
    return inner
@deco
def g(x): return x * 2
V = g(3), g.__name__"#,
        "(7, 'g')",
    ),
    (
        r#"def deco(f):
    def inner(*a): return f(*a)
    return inner
@deco
def g(x): return x
V = g.__name__, deco.__name__, (lambda: 1).__name__"#,
        "('inner', 'deco', '<lambda>')",
    ),
    (
        r#"REG = {}
def reg(f):
    REG[f.__name__] = f
    return f
@reg
def a(): return 1
@reg
def b(): return 2
V = list(REG), REG["b"]()"#,
        "(['a', 'b'], 2)",
    ),
    (
        r#"n = 0
def bump(k=1):
    global n
    n += k
    return n
bump(); bump(5)
V = n, bump()"#,
        "(6, 7)",
    ),
    (
        r#"def make():
    total = 0
    def add(x):
        nonlocal total
        total += x
        return total
    def get(): return total
    return add, get
add, get = make()
add(3); add(4)
add2, get2 = make()
add2(1)
V = get(), get2()"#,
        "(7, 1)",
    ),
    (
        r#"def a():
    x = 1
    def b():
        def c():
            nonlocal x
            x = 7
        c()
    b()
    return x
V = a()"#,
        "7",
    ),
    (
        r#"def a():
    x = 1
    def b():
        nonlocal x
        x = 2
        def c():
            nonlocal x
            x = 7
        c()
        return x
    y = b()
    return x, y
V = a()"#,
        "(7, 7)",
    ),
    (
        r#"def f():
    global Z
    Z = 4
f()
V = Z"#,
        "4",
    ),
    (
        r#"x = 1
def f():
    x = 2
    def g():
        global x
        x = 3
        return x
    return g(), x
V = f(), x"#,
        "((3, 2), 3)",
    ),
    (
        r#"x = 1
def f():
    global x
    for x in range(5): pass
    return [x for x in (7, 8)]
V = f(), x"#,
        "([7, 8], 4)",
    ),
    (
        r#"x = 0
def f():
    global x
    return (x := 5)
V = f(), x"#,
        "(5, 5)",
    ),
    (
        r#"def f(d, k):
    try:
        return d[k]
    except KeyError:
        return -1
    finally:
        log.append(k)
log = []
V = f({"a": 1}, "a"), f({}, "b"), log"#,
        "(1, -1, ['a', 'b'])",
    ),
    (
        r#"def f(s):
    try:
        n = int(s)
    except ValueError as e:
        return "bad"
    else:
        n += 1
    return n
V = f("3"), f("abc"), f("1.5")"#,
        "(4, 'bad', 'bad')",
    ),
    (
        r#"def f(x):
    try:
        if x < 0:
            raise ValueError("neg")
        return 10 // x
    except ZeroDivisionError:
        return 0
    except (ValueError, TypeError) as e:
        return str(e)
V = f(2), f(0), f(-1)"#,
        "(5, 0, 'neg')",
    ),
    (
        r#"class ConfigError(ValueError):
    pass
class Bad(ConfigError):
    def __init__(self, k, v):
        super().__init__(f"{k}={v}")
        self.k = k
def f(n):
    try:
        if n == 0: raise ConfigError("zero")
        if n == 1: raise Bad("n", n)
        if n == 2: raise KeyError("q")
        if n == 3: raise ConfigError
        return "ok"
    except Bad as e:
        return e.k, str(e), e.args
    except ValueError as e:
        return str(e), isinstance(e, ConfigError)
    except Exception as e:
        return str(e)
V = f(0), f(1), f(2), f(3), f(4)"#,
        r#"(('zero', True), ('n', 'n=1', ('n=1',)), "'q'", ('', True), 'ok')"#,
    ),
    (
        r#"try:
    import math
    W = 4
except ImportError:
    W = 5
else:
    W += 1
finally:
    X = 2
V = W, X"#,
        "(5, 2)",
    ),
    (
        r#"try:
    D = {"a": 1}["b"]
except KeyError:
    D = 9
V = D"#,
        "9",
    ),
    (
        r#"try:
    raise RuntimeError("x")
except ValueError:
    y = 1
except RuntimeError as e:
    y = str(e)
V = y"#,
        "'x'",
    ),
    (
        r#"def f():
    for i in range(3):
        try:
            if i == 1: continue
            if i == 2: break
        finally:
            log.append(i)
    return "end"
log = []
V = f(), log"#,
        "('end', [0, 1, 2])",
    ),
    (
        r#"def f():
    try:
        return 1
    finally:
        return 2
V = f()"#,
        "2",
    ),
    (
        r#"def f():
    try:
        raise ValueError("a")
    except ValueError:
        try:
            raise
        except ValueError as e:
            return str(e)
V = f()"#,
        "'a'",
    ),
    (
        r#"def f():
    try:
        try:
            [][0]
        except KeyError:
            return 1
        finally:
            log.append("x")
    except IndexError:
        return 2
log = []
V = f(), log"#,
        "(2, ['x'])",
    ),
    (
        r#"def g(): raise ValueError("deep")
def f():
    xs = []
    try:
        xs.append(1)
        g()
        xs.append(2)
    except ValueError: xs.append(3)
    return xs
V = f()"#,
        "[1, 3]",
    ),
    (
        r#"def f():
    try:
        x = {}["a"]
    except:
        x = 3
    return x
V = f()"#,
        "3",
    ),
    (
        r#"def f(o):
    try:
        return o.missing
    except AttributeError:
        return "none"
class A: pass
V = f(A())"#,
        "'none'",
    ),
    (
        r#"def f():
    it = iter([1])
    next(it)
    try:
        next(it)
    except StopIteration:
        return "stop"
V = f()"#,
        "'stop'",
    ),
    (
        r#"def f():
    try:
        assert 1 > 2, "no"
    except AssertionError as e:
        return str(e)
V = f()"#,
        "'no'",
    ),
    (
        r#"def f(a): return a
def g():
    try:
        f()
    except TypeError:
        return "te"
V = g()"#,
        "'te'",
    ),
    (
        r#"class It:
    def __init__(self, n): self.n = n; self.i = 0
    def __iter__(self): return self
    def __next__(self):
        if self.i >= self.n: raise StopIteration
        self.i += 1
        return self.i
V = list(It(3)), sum(It(4)), [x for x in It(2)]"#,
        "([1, 2, 3], 10, [1, 2])",
    ),
    (
        r#"@dataclass(frozen=True)
class A:
    n: int = 1
    def __post_init__(self):
        if self.n < 0: raise ValueError("n")
def mk(n):
    try: return A(n)
    except ValueError: return A(0)
V = mk(3).n, mk(-1).n"#,
        "(3, 0)",
    ),
    (
        r#"V = str(ValueError("a", 1)), repr(KeyError("x")) if False else 1, ValueError("z").args"#,
        r#"("('a', 1)", 1, ('z',))"#,
    ),
    (
        r#"def f():
    try:
        raise KeyError("k")
    except KeyError as e:
        return str(e), e.args[0]
V = f()"#,
        r#"("'k'", 'k')"#,
    ),
    (
        r#"x = 1
try:
    x = 2
    raise ValueError
except ValueError:
    pass
V = x"#,
        "2",
    ),
    (
        r#"class S:
    __slots__ = ("a",)
s = S()
try:
    s.zz = 1
    r = 0
except AttributeError:
    r = 1
V = r"#,
        "1",
    ),
    (
        r#"def f():
    try:
        return 1 / 0
    except ArithmeticError:
        return "arith"
V = f()"#,
        "'arith'",
    ),
    (
        r#"E = ValueError
try: raise E("q")
except E as err: m = str(err)
V = m"#,
        "'q'",
    ),
    (
        r#"try:
    raise ValueError("a") from KeyError("b")
except (KeyError, ValueError) as e:
    m = str(e)
V = m"#,
        "'a'",
    ),
    (
        r#"def risky(n):
    if n % 2: raise ValueError(n)
    return n
def safe(n):
    try: return risky(n)
    except ValueError as e: return -e.args[0]
V = [safe(i) for i in range(4)]"#,
        "[0, -1, 2, -3]",
    ),
    (
        r#"def f():
    try:
        return [1/x for x in (1, 0)]
    except ZeroDivisionError:
        return []
V = f()"#,
        "[]",
    ),
];

/// Where it is not known what is raised, or who catches it.
#[test]
fn what_may_raise_is_refused() {
    refused(WHAT_MAY_RAISE_IS_REFUSED);
}

const WHAT_MAY_RAISE_IS_REFUSED: &[(&str, &str)] = &[
    (
        r#"try:
    import numpy as np
    HAS = True
except ImportError:
    np = None
    HAS = False
V = HAS"#,
        "it is bound inside `try` at file level, which is not executed",
    ),
    (
        r#"try:
    import numpy as np
except ImportError:
    np = None
V = np"#,
        "it comes from `numpy`, and authoring files are read, not executed",
    ),
    (
        r#"try:
    import numpy as np
except:
    np = None
cfg = [1, 2]
z = np.zeros(cfg)
V = z"#,
        "it comes from `numpy`, and authoring files are read, not executed",
    ),
    (
        r#"def f():
    try:
        import numpy as np
        return 1
    except ImportError:
        return 2
V = f()"#,
        "`try` is not executed",
    ),
    (
        r#"import torch
try:
    dt = torch.float8
except AttributeError:
    dt = "f8"
V = dt"#,
        "it is bound inside `try` at file level, which is not executed",
    ),
    (
        r#"x = 1
try:
    if torch: x = 2
except NameError:
    x = 3
V = x"#,
        "it is bound inside `try` at file level, which is not executed",
    ),
    (
        r#"xs = []
def g(): xs.append(1)
try:
    import weird
    g()
except ImportError:
    pass
V = xs"#,
        "it is bound inside `try` at file level, which is not executed",
    ),
    (
        r#"n = 1
def g():
    global n
    n = 2
import weird
try:
    weird.foo()
    g()
except ImportError:
    pass
V = n"#,
        "it is bound inside `try` at file level, which is not executed",
    ),
    (
        r#"def f():
    nonlocal q
    q = 1
f()
V = 1"#,
        "no function around binds the nonlocal name `q`",
    ),
    (
        r#"import weird
def f():
    global n
    n = 2
    weird.run().go(f)
    if weird.a: n = 3
n = 1
f()
V = n"#,
        "it comes from `weird`, and authoring files are read, not executed",
    ),
    (
        r#"class A:
    @undefined_thing
    def f(self): return 1
class B: 
    def f(self): return 2
class C(A, B): pass
V = C().f()"#,
        "a decorator of `f` may change it, which is not followed",
    ),
    (
        r#"try:
    raise ValueError("boom")
except KeyError:
    pass
V = 3"#,
        "boom",
    ),
    (
        r#"def f():
    try:
        raise ValueError("a")
    except weird_error:
        return 1
V = f()"#,
        "the name `weird_error` is not defined",
    ),
    (
        r#"from weird import WeirdError
def f():
    try:
        raise WeirdError("a")
    except Exception:
        return 1
V = f()"#,
        "`try` is not executed",
    ),
    (
        r#"@dataclass
class A:
    def f(self):
        try:
            return undefined_q
        except NameError:
            return 1
V = A().f()"#,
        "`try` is not executed",
    ),
    (
        r#"class X: pass
class Y: pass
class P(X, Y): pass
class Q(Y, X): pass
class R(P, Q): pass
V = 1"#,
        "its bases stand in no common order",
    ),
];
/// Where Python raises another error, or none.
#[test]
fn errors_of_python_are_not_mistaken() {
    refused(ERRORS_OF_PYTHON_ARE_NOT_MISTAKEN);
}

const ERRORS_OF_PYTHON_ARE_NOT_MISTAKEN: &[(&str, &str)] = &[
    (
        r#"def g():
    it = iter([])
    yield next(it)
def f():
    try: return list(g())
    except StopIteration: return "si"
    except RuntimeError: return "re"
V = f()"#,
        "`try` is not executed",
    ),
    (
        r#"class P(NamedTuple):
    a: int
def f():
    try: return P(1).count
    except AttributeError: return "no"
V = f()"#,
        "`try` is not executed",
    ),
    (
        r#"def f():
    try: return OSError("x").errno
    except AttributeError: return "no"
V = f()"#,
        "`try` is not executed",
    ),
    (r#"V = asdict(namedtuple("P", "a")(1))"#, "a copy of an instance of a plain class is not read"),
    (
        r#"class A:
    @property
    def n(self): return 1
class B(A):
    @A.n.setter
    def n(self, v): pass
b = B()
b.n = 3
V = 4, b.n"#,
        "a decorator of `n` may change it, which is not followed",
    ),
    (
        r#"import copy
class A:
    def f(self): return 1
V = copy.deepcopy(A().f)()"#,
        "a copy of a plain Python function is not read",
    ),
    (
        r#"@cache
def g():
    yield 1
V = list(g()), list(g())"#,
        "`g` is a generator, which is not run",
    ),
];
