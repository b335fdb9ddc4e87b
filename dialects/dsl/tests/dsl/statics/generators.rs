//! Generator functions.

use super::same;

/// Items come as they are asked for.
#[test]
fn generators_are_those_of_python() {
    same(GENERATORS_ARE_THOSE_OF_PYTHON);
}

const GENERATORS_ARE_THOSE_OF_PYTHON: &[(&str, &str)] = &[
    (
        r#"def gen(n):
    for i in range(n):
        if i % 2: continue
        yield i
    else:
        yield "else"
    yield "end"
V = list(gen(5)), list(gen(0)), sum(gen(0) if False else (1, 2))"#,
        "([0, 2, 4, 'else', 'end'], ['else', 'end'], 3)",
    ),
    (
        r#"def count():
    n = 0
    while True:
        yield n
        n += 1
g = count()
V = next(g), next(g), [x for x, _ in zip(count(), "abc")]"#,
        "(0, 1, [0, 1, 2])",
    ),
    (
        r#"def flat(xs):
    for x in xs:
        if isinstance(x, list):
            yield from flat(x)
        else:
            yield x
V = list(flat([1, [2, [3, 4]], 5]))"#,
        "[1, 2, 3, 4, 5]",
    ),
    (
        r#"log = []
def g():
    log.append("a")
    yield 1
    log.append("b")
    yield 2
it = g()
x = list(log)
next(it)
y = list(log)
V = x, y, list(it), log"#,
        "([], ['a'], [2], ['a', 'b'])",
    ),
    (
        r#"def g():
    while True:
        for i in range(3):
            if i == 2: break
            yield i
        else:
            yield "never"
        break
    else:
        yield "no"
    return
    yield 5
V = list(g())"#,
        "[0, 1]",
    ),
    (
        r#"def g(a, *rest, k=2):
    yield a
    yield from rest
    yield k
V = tuple(g(1, 3, 4, k=5)), max(g(1))"#,
        "((1, 3, 4, 5), 2)",
    ),
    (
        r#"class T:
    def __init__(self, xs): self.xs = xs
    def __iter__(self):
        for x in self.xs:
            yield x * 2
V = list(T([1, 2])), sum(T([3])), [*T((1,))]"#,
        "([2, 4], 6, [2])",
    ),
    (
        r#"def pairs(d):
    for k, v in d.items():
        yield k, v
V = dict(pairs({"a": 1, "b": 2}))"#,
        "{'a': 1, 'b': 2}",
    ),
    (
        r#"def g():
    yield
V = list(g())"#,
        "[None]",
    ),
    (
        r#"def g():
    x = 1
    def inc():
        nonlocal x
        x += 1
    yield x
    inc()
    yield x
V = list(g())"#,
        "[1, 2]",
    ),
    (
        r#"def g(n):
    if n: 
        yield n
        yield from g(n - 1)
V = list(g(4))"#,
        "[4, 3, 2, 1]",
    ),
    (
        r#"def g():
    yield 1
    raise ValueError("stop")
def f():
    out = []
    try:
        for x in g(): out.append(x)
    except ValueError: out.append("err")
    return out
V = f()"#,
        "[1, 'err']",
    ),
    (
        r#"def g():
    if False: yield 1
V = list(g()), next(g(), "none")"#,
        "([], 'none')",
    ),
    (
        r#"def g():
    for i in range(2):
        if i: yield "x"
        elif True: yield "y"
        else: yield "z"
V = list(g())"#,
        "['y', 'x']",
    ),
    (
        r#"def g():
    for i in range(2):
        for j in range(2):
            if j == 1: continue
            yield i, j
V = list(g())"#,
        "[(0, 0), (1, 0)]",
    ),
    (
        r#"import decimal
def g():
    yield decimal.Decimal(1)
    yield 3
V = list(g())[1]"#,
        "3",
    ),
];
