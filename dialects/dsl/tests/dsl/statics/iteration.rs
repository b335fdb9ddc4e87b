//! Loops, comprehensions, iterators and views. Each with what `repr(V)` gives in CPython.

use super::same;

#[test]
fn iterators_are_those_of_python() {
    same(TABLE);
}

const TABLE: &[(&str, &str)] = &[
    (
        r#"fs = [lambda: i for i in range(3)]
V = [f() for f in fs]"#,
        "[2, 2, 2]",
    ),
    (
        r#"fs = []
for i in range(3):
    fs.append(lambda: i)
V = [f() for f in fs]"#,
        "[2, 2, 2]",
    ),
    (
        r#"def outer():
    xs = []
    for i in range(3):
        def g(): return i
        xs.append(g)
    return xs
V = [f() for f in outer()]"#,
        "[2, 2, 2]",
    ),
    (
        r#"m = map(lambda x: x * 2, [1,2,3])
a = next(m)
V = a, list(m), list(m)"#,
        "(2, [4, 6], [])",
    ),
    (
        r#"z = zip([1,2],[3,4]); a = next(z)
V = a, list(z)"#,
        "((1, 3), [(2, 4)])",
    ),
    (
        r#"e = enumerate("ab", 1); next(e)
V = list(e)"#,
        "[(2, 'b')]",
    ),
    ("f = filter(lambda x: x > 1, [1,2,3]); V = next(f), list(f), next(f, 'end')", "(2, [3], 'end')"),
    (
        r#"it = iter([1,2,3])
V = next(it), next(it), list(it), next(it, 0)"#,
        "(1, 2, [3], 0)",
    ),
    ("it = iter([1,2,3]); V = [a + b for a in it for b in it]", "[3, 4]"),
    ("it = iter(range(6)); V = list(zip(it, it))", "[(0, 1), (2, 3), (4, 5)]"),
    ("it = iter([1,2,3,4]); V = 2 in it, list(it)", "(True, [3, 4])"),
    (
        r#"xs = [1,2,3]
it = iter(xs)
next(it)
xs.append(9)
V = list(it)"#,
        "[2, 3, 9]",
    ),
    (
        r#"d = {"a": 1}
k = d.keys(); v = d.values(); i = d.items()
d["b"] = 2
V = list(k), list(v), list(i), len(k), "b" in k"#,
        "(['a', 'b'], [1, 2], [('a', 1), ('b', 2)], 2, True)",
    ),
    (
        r#"xs = [1,2,3]
out = []
for x in xs:
    out.append(x)
    if x < 3: xs.append(x + 10)
    if len(xs) > 8: break
V = out, xs"#,
        "([1, 2, 3, 11, 12], [1, 2, 3, 11, 12])",
    ),
    (
        r#"xs = [1,2,3,4]
for x in xs: xs.remove(x)
V = xs"#,
        "[2, 4]",
    ),
    (
        r#"xs = list(range(10))
del xs[::3]
V = xs"#,
        "[1, 2, 4, 5, 7, 8]",
    ),
    (
        r#"xs = list(range(10))
del xs[8:2:-2]
V = xs"#,
        "[0, 1, 2, 3, 5, 7, 9]",
    ),
    (
        r#"a, *b, c = range(5)
(d, *e), f = [1], 2
V = a, b, c, d, e, f"#,
        "(0, [1, 2, 3], 4, 1, [], 2)",
    ),
    (
        r#"out = []
for x in [1,2,3]:
    if x == 5: break
else:
    out.append('else')
i = 0
while i < 3:
    i += 1
    if i == 2: break
else:
    out.append('w')
V = out, i"#,
        "(['else'], 2)",
    ),
    (
        r#"xs = [last := x for x in range(4)]
V = xs, last"#,
        "([0, 1, 2, 3], 3)",
    ),
    (
        r#"def f():
    t = [k := i for i in range(3)]
    return k
V = f()"#,
        "2",
    ),
    (
        r#"grid = [[0] * 2 for _ in range(2)]
grid[0][0] = 1
V = grid"#,
        "[[1, 0], [0, 0]]",
    ),
    (
        r#"d = dict([("a", 1), ("b", 2)], c=3); V = d, list(d), list(reversed(d)), "a" in d, dict(zip("xy", (1, 2)))"#,
        "({'a': 1, 'b': 2, 'c': 3}, ['a', 'b', 'c'], ['c', 'b', 'a'], True, {'x': 1, 'y': 2})",
    ),
    (
        "V = list(range(10, 0, -3)), range(3) == range(0, 3, 1), len(range(10**12)), 5 in range(10), 5.0 in range(10), range(10)[2:8:2][1], list(reversed(range(3))), range(0) == range(5, 5)",
        "([10, 7, 4, 1], True, 1000000000000, True, True, 4, [2, 1, 0], True)",
    ),
    ("V = any(x > 2 for x in [1, 2, 3]), all(x > 2 for x in []), any([]), all([1, 0])", "(True, True, False, False)"),
    (
        r#"seen = []
def p(x): seen.append(x); return x > 1
r = any(p(x) for x in [1, 2, 3])
V = r, seen"#,
        "(True, [1, 2])",
    ),
    (
        r#"seen = []
V = next(x for x in [1, 2, 3] if not seen.append(x) and x > 1), seen"#,
        "(2, [1, 2])",
    ),
    (
        r#"g = (x * k for x in [1, 2])
k = 10
V = list(g), list(g)"#,
        "([10, 20], [])",
    ),
    (
        r#"xs = [1, 2]
g = (x for x in xs)
xs.append(3)
V = list(g)"#,
        "[1, 2, 3]",
    ),
    (
        "V = list(map(lambda a, b: a + b, [1, 2], [3, 4, 5])), list(zip()), list(zip([1])), list(enumerate([]))",
        "([4, 6], [], [(1,)], [])",
    ),
    (
        r#"V = list(chain([1], (2,), "a")), list(product([1, 2], "ab")), list(repeat(1, 3)), list(product([0, 1], repeat=2))"#,
        "([1, 2, 'a'], [(1, 'a'), (1, 'b'), (2, 'a'), (2, 'b')], [1, 1, 1], [(0, 0), (0, 1), (1, 0), (1, 1)])",
    ),
    (
        "V = [i for i in range(10) if i % 2 if i > 3], {i: i * i for i in range(3)}, [(a, b) for a in range(2) for b in range(a, 2)], [[j for j in range(i)] for i in range(3)]",
        "([5, 7, 9], {0: 0, 1: 1, 2: 4}, [(0, 0), (0, 1), (1, 1)], [[], [0], [0, 1]])",
    ),
    (
        r#"xs = [1, 2, 3]
V = list(map(xs.index, [2, 3])), list(map(str, xs)), list(map(float, xs))"#,
        "([1, 2], ['1', '2', '3'], [1.0, 2.0, 3.0])",
    ),
    (
        r#"counter = [0]
def nxt():
    counter[0] += 1
    return counter[0]
V = [nxt() for _ in range(3)], counter, (nxt(), nxt()), nxt() + nxt() * 10"#,
        "([1, 2, 3], [7], (4, 5), 76)",
    ),
    (
        r#"V = bool(0.0), bool(""), bool([0]), bool(()), bool(None), bool(range(0)), bool({}), bool("a")"#,
        "(False, False, True, False, False, False, False, True)",
    ),
    (
        r#"xs = list(range(5))
xs.insert(-1, 9); xs.insert(100, 7); xs.reverse()
V = xs, xs.pop(1), xs.index(9), xs.count(9), xs"#,
        "([7, 9, 3, 2, 1, 0], 4, 1, 1, [7, 9, 3, 2, 1, 0])",
    ),
    (r#"V = {x % 2 for x in range(10)} == {0, 1}, len({x for x in "hello"})"#, "(True, 4)"),
    ("V = [f(2) for f in [lambda x: x + 1, lambda x: x * 5]]", "[3, 10]"),
    (
        r#"i = 5
V = [i for i in range(3)], i"#,
        "([0, 1, 2], 5)",
    ),
    (
        r#"for i in range(3): pass
V = i"#,
        "2",
    ),
    (
        r#"out = []
list(map(out.append, [1, 2]))
V = out"#,
        "[1, 2]",
    ),
    (
        r#"fs = {}
for name in ["a", "b"]:
    fs[name] = lambda name=name: name
V = fs["a"](), fs["b"]()"#,
        "('a', 'b')",
    ),
    (
        r#"x = [1, 2, 3]
def f():
    return [y + z for y in x for z in range(y) if z]
V = f()"#,
        "[3, 4, 5]",
    ),
    (
        r#"xs = [5, 6]
i = 1
V = [xs[i] for i in range(2)], i"#,
        "([5, 6], 1)",
    ),
    ("V = [(i, j) for i in range(3) if i for j in range(i) if j != 1]", "[(1, 0), (2, 0)]"),
    (
        r#"x = 5
V = [x for x in [x, x + 1]], x"#,
        "([5, 6], 5)",
    ),
    ("V = [[x for x in range(y)] for y in range(3)]", "[[], [0], [0, 1]]"),
    (
        r#"V = {k: v for k, v in {"a": 1, "b": 2}.items() if v > 1}, {v: k for k, v in [("x", 1)]}"#,
        "({'b': 2}, {1: 'x'})",
    ),
    (
        r#"def f():
    for i in range(3):
        for j in range(3):
            if j == 1: break
            if i == 2: return (i, j)
        else:
            return "no"
    return "end"
V = f()"#,
        "(2, 0)",
    ),
    (
        r#"a = [1, 2, 3]
for i, x in enumerate(a):
    a[i] = x * 2
V = a"#,
        "[2, 4, 6]",
    ),
    (
        r#"m = [[0] * 3 for _ in range(2)]
for r in m:
    r[0] = 9
m[1][1:] = [7, 8]
V = m"#,
        "[[9, 0, 0], [9, 7, 8]]",
    ),
    (
        r#"d = {}
for w in ["a", "b", "a"]:
    d[w] = d.get(w, 0) + 1
V = d"#,
        "{'a': 2, 'b': 1}",
    ),
    (
        r#"d = {"a": 1, "b": 2}
for k, v in list(d.items()):
    if v == 1: del d[k]
V = d"#,
        "{'b': 2}",
    ),
    (
        r#"d = {"a": 1}
for k, v in d.items():
    d[k] = v + 1
V = d"#,
        "{'a': 2}",
    ),
    (
        r#"r = range(10)
V = r[2:5] == range(2, 5), r[::-1][0], list(r[8:2:-2]), len(r[5:]), r[-1], 3 in r[::2], tuple(range(3, 0, -1)), range(5)[1:][1:][0]"#,
        "(True, 9, [8, 6, 4], 5, 9, False, (3, 2, 1), 2)",
    ),
    (
        r#"V = sum(range(101)), max(range(5)), min(range(3, 9)), list(zip(range(3), "abc")), dict(enumerate("ab"))"#,
        "(5050, 4, 3, [(0, 'a'), (1, 'b'), (2, 'c')], {0: 'a', 1: 'b'})",
    ),
    (
        r#"V = str(1.0), str(1e100), str(-0.0), repr(0.1), str(True), str(None), str([1, "a"]), str((1,)), str({"a": (1, 2)}), str(range(3))"#,
        r#"('1.0', '1e+100', '-0.0', '0.1', 'True', 'None', "[1, 'a']", '(1,)', "{'a': (1, 2)}", 'range(0, 3)')"#,
    ),
    (
        r#"it = iter([1, 2])
V = it is iter(it), list(it), list(it)"#,
        "(True, [1, 2], [])",
    ),
    (
        r#"r = reversed([1, 2, 3])
V = next(r), list(r), list(r)"#,
        "(3, [2, 1], [])",
    ),
    (
        r#"xs = [1, 2, 3]
r = reversed(xs)
xs.append(4)
xs[2] = 9
V = list(r)"#,
        "[9, 2, 1]",
    ),
    (
        r#"it = iter([1, 2, 3, 4])
a, b, *c = it
V = a, b, c, list(it)"#,
        "(1, 2, [3, 4], [])",
    ),
    (
        r#"a, b = iter([1, 2])
V = a, b"#,
        "(1, 2)",
    ),
    (r#"V = [*range(3), *"ab", *(1,)], (*[1], 2), {*[1]} == {1}, [*{}]"#, "([0, 1, 2, 'a', 'b', 1], (1, 2), True, [])"),
    (
        r#"def f(*a): return a
V = f(*map(str, [1, 2]), *(x for x in [3]))"#,
        "('1', '2', 3)",
    ),
    (
        r#"V = max(x * 2 for x in [1, 3]), ",".join(str(i) for i in range(3)), sorted(x for x in "ba"), tuple(i for i in ()), set(i for i in [1, 1]) == {1}, dict((k, 1) for k in "ab")"#,
        "(6, '0,1,2', ['a', 'b'], (), True, {'a': 1, 'b': 1})",
    ),
    ("V = [x for x in sorted({3, 1, 2}, reverse=True)]", "[3, 2, 1]"),
    (
        r#"V = any([]), all([]), any([0, "", None]), all([1, "a", [0]]), any(k for k in {}), sum([], 5), min([4], default=1)"#,
        "(False, True, False, True, False, 5, 4)",
    ),
    (
        r#"xs = []
for i in range(3): xs = [xs]
V = xs"#,
        "[[[[]]]]",
    ),
    (
        r#"s = {5}
for x in s: y = x
V = y, [x for x in s], list(s), next(iter(s))"#,
        "(5, [5], [5], 5)",
    ),
];
