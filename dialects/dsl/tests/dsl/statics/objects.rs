//! Lists, dicts, sets and tuples: who holds them, and how they change. Each with what `repr(V)` gives in CPython.

use super::same;

#[test]
fn changes_are_seen_under_every_name() {
    same(TABLE);
}

const TABLE: &[(&str, &str)] = &[
    ("V = {1,2} == {2,1}", "True"),
    ("V = ({1,2} <= {2,1,3}, {1} < {1}, {1,2} >= {2}, {3} > set())", "(True, False, True, True)"),
    (
        "V = sorted({3,1,2} | {5}), sorted({1,2,3} & {2,3}), sorted({1,2}-{2}), sorted({1,2}^{2,3})",
        "([1, 2, 3, 5], [2, 3], [1], [1, 3])",
    ),
    ("V = len({1, True, 1.0}), 2 in {1,2}, min({3,1}), max({3,1}), sum({1,2})", "(1, True, 1, 3, 3)"),
    (
        r#"s = {1}
t = s
t.add(2)
V = len(s), s is t, s == {1,2}"#,
        "(2, True, True)",
    ),
    (
        "V = isinstance({1}, set), isinstance(frozenset(), set), isinstance({1}, (list, set)), isinstance({}, set)",
        "(True, False, True, False)",
    ),
    ("s = frozenset([1,2]); V = s == {1,2}, len(s | {3})", "(True, 3)"),
    ("V = True == 1.0, True == 1, 1 == 1.0, True is True, 0 == False", "(True, True, True, True, True)"),
    ("V = {9223372036854775807: 1, 9223372036854775808.0: 2}", "{9223372036854775807: 1, 9.223372036854776e+18: 2}"),
    (
        r#"ys = [0, 1, 1]
xs = [10, 20]
xs[ys.pop()] += 1
V = xs, ys"#,
        "([10, 21], [0, 1])",
    ),
    (
        r#"b = [0, 0]
i = 0
i, b[i] = 1, 7
V = b, i"#,
        "([0, 7], 1)",
    ),
    (
        r#"a = b = []
a.append(1)
V = b, a is b"#,
        "([1], True)",
    ),
    (
        r#"x = [1,2]
i = 0
i = x[i] = 1
V = x, i"#,
        "([1, 1], 1)",
    ),
    (
        r#"V = [0,1,2,3,4][::-1], [0,1,2,3,4][3:0:-2], (0,1,2)[-2:], "hello"[::-2], [1,2,3][5:], [1,2,3][-10:2], "abc"[1:-1]"#,
        "([4, 3, 2, 1, 0], [3, 1], (1, 2), 'olh', [], [1, 2], 'b')",
    ),
    (
        r#"xs = [0,1,2,3,4,5]
xs[1:3] = [9, 9, 9]
a = list(xs)
xs[::2] = [7] * len(xs[::2])
b = list(xs)
xs[2:] = []
del xs[0]
V = a, b, xs"#,
        "([0, 9, 9, 9, 3, 4, 5], [7, 9, 7, 9, 7, 4, 7], [9])",
    ),
    ("V = sum([0.5, 0.25]), sum([1, 2.5]), sum([[1], [2]], [])", "(0.75, 3.5, [1, 2])"),
    (
        r#"xs = [1, 2]
ys = xs
xs = xs + [3]
V = ys, xs"#,
        "([1, 2], [1, 2, 3])",
    ),
    (
        r#"xs = [1, 2]
ys = xs
xs += (3,)
V = ys, xs is ys"#,
        "([1, 2, 3], True)",
    ),
    (
        r#"xs = [1]
ys = xs
xs *= 3
V = ys"#,
        "[1, 1, 1]",
    ),
    (
        r#"d = {"a": 1}
e = d
d |= {"b": 2}
V = e, d is e"#,
        "({'a': 1, 'b': 2}, True)",
    ),
    (
        r#"s = {1}
t = s
s |= {2}
V = sorted(t), s is t"#,
        "([1, 2], True)",
    ),
    (
        r#"t = ([1],)
t[0].append(2)
V = t"#,
        "([1, 2],)",
    ),
    (
        r#"xs = []
xs.append(xs)
V = len(xs), xs[0] is xs"#,
        "(1, True)",
    ),
    (
        r#"d = {}
d['d'] = d
V = d['d']['d'] is d, len(d)"#,
        "(True, 1)",
    ),
    (
        r#"grid = [[0] * 2] * 2
grid[0][0] = 1
V = grid"#,
        "[[1, 0], [1, 0]]",
    ),
    (
        r#"d = dict(a=1, b=2)
e = d.copy()
e["a"] = 5
V = d, e, d.get("z"), d.get("z", 3), d.pop("a"), d, d.setdefault("q", []), d"#,
        "({'b': 2, 'q': []}, {'a': 5, 'b': 2}, None, 3, 1, {'b': 2, 'q': []}, [], {'b': 2, 'q': []})",
    ),
    ("d = {1: 'a', True: 'b', 1.0: 'c'}; V = d", "{1: 'c'}"),
    (r#"V = {**{"a": 1}, "a": 2, **{"b": 3}}"#, "{'a': 2, 'b': 3}"),
    (
        r#"xs = [3, 1, 2]
r = xs.sort()
V = xs, r"#,
        "([1, 2, 3], None)",
    ),
    (
        r#"V = sorted("banana"), max("abc"), min(["b", "a"]), max([1, 5], [2]), max((1, 2), (1, 3)), max([], default=None), max(1, True), min(1, True)"#,
        "(['a', 'a', 'a', 'b', 'n', 'n'], 'c', 'a', [2], (1, 3), None, 1, 1)",
    ),
    (
        r#"V = 3 in [1, 2, 3], 3.0 in [1, 2, 3], [1] in [[1]], None in [None], "a" not in ["b"], (1, 2) < (1, 2, 0), [1, 2] < [1, 3], (1, "a") < (2, 0)"#,
        "(True, True, True, True, True, True, True, True)",
    ),
    (
        r#"V = None == 0, None is None, [] == (), {} == [], "1" == 1, 1 == "1", (1,) == [1], {} == set(), [] is None"#,
        "(False, True, False, False, False, False, False, False, False)",
    ),
    (r#"V = 0 or "a", "" and 5, 1 and 2, None or [] or 0, not []"#, "('a', '', 2, 0, True)"),
    (
        r#"add = [].append
xs = []
add = xs.append
add(1); add(2)
V = xs"#,
        "[1, 2]",
    ),
    (
        r#"a = [1]
b = [a, a]
b[0].append(2)
V = b, b[0] is b[1]"#,
        "([[1, 2], [1, 2]], True)",
    ),
    (
        "V = math.floor(-2.5), math.ceil(2.1), math.trunc(-2.9), math.sqrt(16), math.gcd(12, 18), math.lcm(4, 6), math.log2(8), math.isqrt(17), math.prod([2, 3]), math.factorial(5), math.comb(5, 2), math.log(8, 2), math.pow(2, 3), math.inf, math.floor(1e15)",
        "(-3, 3, -2, 4.0, 6, 12, 3.0, 4, 6, 120, 10, 3.0, 8.0, inf, 1000000000000000)",
    ),
    (
        r#"s = {1, 2, 3}
s.discard(9); s.remove(1); s.update([7], (8,))
V = sorted(s), s.issubset({2, 3, 7, 8, 9}), s.isdisjoint({1}), sorted(s.union([1])), sorted(s.difference([2]))"#,
        "([2, 3, 7, 8], True, True, [1, 2, 3, 7, 8], [3, 7, 8])",
    ),
    (
        r#"xs = [3, 1]
ys = sorted(xs)
ys.append(0)
V = xs, ys"#,
        "([3, 1], [1, 3, 0])",
    ),
    (
        r#"with_lists = {"a": [1]}
alias = with_lists["a"]
alias.append(2)
V = with_lists"#,
        "{'a': [1, 2]}",
    ),
    (
        r#"xs = [1, 2, 3]
xs[0], xs[2] = xs[2], xs[0]
V = xs"#,
        "[3, 2, 1]",
    ),
    (
        r#"(a, b), c = "xy", 3
[d, e] = 1, 2
V = a, b, c, d, e"#,
        "('x', 'y', 3, 1, 2)",
    ),
    (
        r#"d = {}
V = d.setdefault("a", []).append(1), d"#,
        "(None, {'a': [1]})",
    ),
    (
        r#"d = {"b": 1, "a": 2}
d["b"] = 3
del d["a"]
d["a"] = 4
V = d, d.popitem(), d"#,
        "({'b': 3}, ('a', 4), {'b': 3})",
    ),
    ("print([].append(1)); xs = []; print(xs.append(5)); V = xs", "[5]"),
    (
        r#"xs = [1]
print(xs.pop())
V = xs"#,
        "[]",
    ),
    (
        r#"V = type(1) is int, type("a") == str, type([]) is list, type(True) is bool, type(1) == float, type({}) is dict"#,
        "(True, True, True, True, False, True)",
    ),
    (
        r#"d = {"x": {"y": [1, 2]}}
d["x"]["y"][0] += 10
d["x"]["z"] = d["x"]["y"]
d["x"]["z"].append(5)
V = d"#,
        "{'x': {'y': [11, 2, 5], 'z': [11, 2, 5]}}",
    ),
    (
        r#"xs = [1, 2, 3, 4, 5]
V = xs[-3:], xs[:-1], xs[::2], xs[4:1:-1], xs[-1:-4:-1], xs[10:], xs[:0]"#,
        "([3, 4, 5], [1, 2, 3, 4], [1, 3, 5], [5, 4, 3], [5, 4, 3], [], [])",
    ),
    (
        "V = True + 1, True * 5, True / 2, sum([True, True]), True < 2, max(True, 0), -True, True ** 2, True // 1, 5 % True, False == 0.0",
        "(2, 5, 0.5, 2, True, True, -1, 1, 1, 0, True)",
    ),
    (
        r#"V = [1, 2] * 2, 2 * [1], (1,) * 3, "ab" * 0, [1] * -1, [] + [1], (1,) + (2,), "a" "b""#,
        "([1, 2, 1, 2], [1, 1], (1, 1, 1), '', [], [1], (1, 2), 'ab')",
    ),
    (
        r#"V = [3, 1] < [3, 2], (1, 2) == (1.0, 2.0), [1, [2, 3]] == [1, [2, 3]], {"a": [1]} == {"a": [1]}, {1: 2} == {1.0: 2.0}, (1,) != (2,), [] < [0]"#,
        "(True, True, True, True, True, True, True)",
    ),
    (r#"V = 3 == "3", 3 != "3", [1] == 1, None != 0, "" == None"#, "(False, True, False, True, False)"),
    ("V = len is len, int is int, max is min", "(True, True, False)"),
    (
        r#"xs = [1]
V = xs is xs, xs is not [1], xs == [1], [xs] == [[1]], xs in [[1]]"#,
        "(True, True, True, True, True)",
    ),
    (
        r#"a, b = {"x": 1, "y": 2}
V = a, b"#,
        "('x', 'y')",
    ),
    (
        r#"V = sorted([(2, "b"), (1, "z"), (2, "a")]), sorted({"b": 1, "a": 2}), sorted([True, 0, 2]), sorted([1.5, 1, 0])"#,
        "([(1, 'z'), (2, 'a'), (2, 'b')], ['a', 'b'], [0, True, 2], [0, 1, 1.5])",
    ),
    (
        r#"assert True
assert [1], "x"
V = 1"#,
        "1",
    ),
    (
        r#"xs = [1, 2, 3]
del xs[0], xs[-1]
V = xs"#,
        "[2]",
    ),
    (
        r#"lst = [1, 2, 3]
lst[lst.index(2)], lst[0] = 20, lst.pop()
V = lst"#,
        "[3, 20]",
    ),
    (
        r#"a = []
a.append(a)
b = [a]
a.append(b)
V = a[1][0] is a, len(a)"#,
        "(True, 2)",
    ),
    (
        r#"s = {(1, 2), (1, 2)}
t = set()
t.add((1,))
V = len(s), (1,) in t, s == {(1, 2)}, s | t == {(1,), (1, 2)}, s - s == set(), bool(set()), s.copy() is s"#,
        "(1, True, True, True, True, False, False)",
    ),
    (
        r#"s = {"a", "b"}
V = "-".join(sorted(s)), len(s), "a" in s, s == set("ba"), max(s), sum({1, 2}), any(s), all({0, 1}), sorted(s, reverse=True)"#,
        "('a-b', 2, True, True, 'b', 3, True, False, ['b', 'a'])",
    ),
    (
        r#"s = {1, 2}
t = {*s, 3}
V = len(t), t >= s"#,
        "(3, True)",
    ),
];
