//! Functions: arguments, closures, caches. Each with what `repr(V)` gives in CPython.

use super::same;

#[test]
fn functions_are_those_of_python() {
    same(TABLE);
}

const TABLE: &[(&str, &str)] = &[
    (
        r#"def f(): return y
y = 1
a = f()
y = 2
V = a, f()"#,
        "(1, 2)",
    ),
    (
        r#"def f(): 
    log.append('f'); return [0]
def g():
    log.append('g'); return 0
def h():
    log.append('h'); return 5
log = []
f()[g()] = h()
V = log"#,
        "['h', 'f', 'g']",
    ),
    (
        r#"log = []
def f(n): log.append(n); return n
d = {f(1): f(2), f(3): f(4)}
V = log, d"#,
        "([1, 2, 3, 4], {1: 2, 3: 4})",
    ),
    (
        r#"xs = [1,2,3]
calls = []
def f(): calls.append(1); return 0
del xs[f()]
V = xs, calls"#,
        "([2, 3], [1])",
    ),
    ("V = [(y := 1), y ** 2], y", "([1, 1], 1)"),
    (
        r#"if (n := 5) > 3:
    V = n"#,
        "5",
    ),
    (
        r#"def f(x, acc=[]):
    acc.append(x)
    return acc
f(1)
V = f(2), f(3) is f(4)"#,
        "([1, 2, 3, 4], True)",
    ),
    (
        r#"calls = []
@lru_cache(maxsize=None)
def f(n):
    calls.append(n)
    return n
f(1); f(1); f(2)
V = calls"#,
        "[1, 2]",
    ),
    (
        r#"p = partial(lambda a, b, c=1: (a, b, c), 1, c=5)
V = p(2), p(2, c=7), partial(p, 9)()"#,
        "((1, 2, 5), (1, 2, 7), (1, 9, 5))",
    ),
    ("V = reduce(lambda a, b: a * b, [1,2,3,4]), reduce(lambda a, b: a + b, [], 5)", "(24, 5)"),
    (
        r#"def f(d): d['k'] = 1
x = {}
f(x)
V = x"#,
        "{'k': 1}",
    ),
    (
        r#"def deco(f):
    def g(*a, **k): return f(*a, **k) + 1
    return g
@deco
def h(x): return x * 2
V = h(3)"#,
        "7",
    ),
    (
        r#"R = {}
def reg(name):
    def d(f):
        R[name] = f
        return f
    return d
@reg("a")
def g(): return 7
V = sorted(R), R["a"]()"#,
        "(['a'], 7)",
    ),
    (
        r#"def f(a, b): return a
V = f(**{"a": 1}, **{"b": 2})"#,
        "1",
    ),
    (
        r#"def f(a, /, b, *, c): return a, b, c
V = f(1, b=2, c=3)"#,
        "(1, 2, 3)",
    ),
    (
        r#"def f(a, /, **k): return a, k
V = f(1, a=2)"#,
        "(1, {'a': 2})",
    ),
    (
        r#"xs = [(1, 'b'), (1, 'a'), (0, 'c')]
V = sorted(xs, key=lambda t: t[0]), sorted(xs, key=lambda t: t[0], reverse=True), sorted(xs, reverse=True)"#,
        "([(0, 'c'), (1, 'b'), (1, 'a')], [(1, 'b'), (1, 'a'), (0, 'c')], [(1, 'b'), (1, 'a'), (0, 'c')])",
    ),
    (
        r#"def f(*args, **kw): return args, kw
V = f(1, *[2, 3], x=4, **{"y": 5}), f(*"ab")"#,
        "(((1, 2, 3), {'x': 4, 'y': 5}), (('a', 'b'), {}))",
    ),
    (
        r#"def f(n): return 1 if n == 0 else n * f(n - 1)
V = f(10)"#,
        "3628800",
    ),
    (
        r#"x = 10
def f(x=x): return x
x = 20
V = f()"#,
        "10",
    ),
    ("V = (lambda *a, k=2: (a, k))(1, 2)", "((1, 2), 2)"),
    (
        r#"def f():
    return
V = f(), f() is None"#,
        "(None, True)",
    ),
    (
        r#"def f(a, b=[]): return b
V = f(1) is f(2), f(1, []) is f(1, [])"#,
        "(True, False)",
    ),
    (
        r#"V = min(3, 1, 2, key=lambda x: -x), max(["aa", "b"], key=len), min([(1, 2), (0, 5)], key=lambda t: t[1])"#,
        "(3, 'aa', (1, 2))",
    ),
    (
        r#"def f(x):
    def g():
        return x
    x = x + 1
    return g
V = f(1)()"#,
        "2",
    ),
    (
        r#"def f():
    def even(n): return True if n == 0 else odd(n - 1)
    def odd(n): return False if n == 0 else even(n - 1)
    return even(6)
V = f()"#,
        "True",
    ),
    (
        r#"def apply(f, *a, **k): return f(*a, **k)
V = apply(lambda x, y=1: x + y, 2, y=5), apply(max, 1, 3), apply(dict, a=1), apply("x".join, ["a", "b"]), apply([3, 1].index, 1)"#,
        "(7, 3, {'a': 1}, 'axb', 1)",
    ),
    (
        r#"def f(a, b=2, *c, d, e=5, **g): return (a, b, c, d, e, g)
V = f(1, d=4), f(1, 2, 3, d=4, z=9)"#,
        "((1, 2, (), 4, 5, {}), (1, 2, (3,), 4, 5, {'z': 9}))",
    ),
    ("V = [] is [], [] == [], {} is {}, (lambda: 1) == (lambda: 1)", "(False, True, False, False)"),
    (
        r#"f = lambda: 1
g = f
V = f is g, f == g, f in [g]"#,
        "(True, True, True)",
    ),
    (
        r#"def f(xs):
    xs = xs + [1]
    return xs
a = [0]
V = f(a), a"#,
        "([0, 1], [0])",
    ),
    (
        r#"def f(x, memo={}):
    if x not in memo: memo[x] = len(memo)
    return memo[x]
V = f("a"), f("b"), f("a")"#,
        "(0, 1, 0)",
    ),
    (
        r#"compose = lambda f, g: lambda x: f(g(x))
V = compose(lambda x: x + 1, lambda x: x * 2)(5)"#,
        "11",
    ),
    (
        r#"def counter():
    c = [0]
    def inc(): 
        c[0] += 1
        return c[0]
    return inc
a, b = counter(), counter()
V = a(), a(), b()"#,
        "(1, 2, 1)",
    ),
    ("V = (x := 5) + x", "10"),
    ("V = [x := 3, x + 1] if (y := True) else 0", "[3, 4]"),
    (
        r#"def f(): log.append("f"); return {}
def g(): log.append("g"); return "k"
def h(): log.append("h"); return 1
log = []
f()[g()] = f()[g()] = h()
V = log"#,
        "['h', 'f', 'g', 'f', 'g']",
    ),
    (
        r#"log = []
def t(x): log.append(x); return x
V = (t(1) < t(2) < t(3), t(5) and t(0) or t(7), t(1) if t(0) else t(2), [t(8), t(9)], {t("k"): t("v")}), log"#,
        "((True, 7, 2, [8, 9], {'k': 'v'}), [1, 2, 3, 5, 0, 7, 0, 2, 8, 9, 'k', 'v'])",
    ),
    (
        r#"log = []
def t(x): log.append(x); return x
def f(*a, **k): return 0
f(t(1), *[t(2)], k=t(3), **{"z": t(4)})
V = log"#,
        "[1, 2, 3, 4]",
    ),
    (
        r#"log = []
def t(x): log.append(x); return x
def f(a=t(1), *, b=t(2)): pass
V = log"#,
        "[1, 2]",
    ),
    (
        r#"log = []
def t(x): log.append(x); return [0, 0]
t("a")[0] += (t("b"), 5)[1]
V = log"#,
        "['a', 'b']",
    ),
    (
        r#"@cache
def f(a, b=1): return [a, b]
V = f(1) is f(1, 1), f(1, b=1) is f(1, b=1), f(a=1, b=2) is f(b=2, a=1)"#,
        "(False, True, False)",
    ),
];
