//! What takes too long is refused, whatever does the work, and soon.

use super::shown;

/// Values that would take much longer than the steps of a file, each by another way.
const ENDLESS: &[&str] = &[
    "V = list(range(10**9))",
    "V = len([0] * 10**9)",
    "V = len('a' * 10**9)",
    "V = sum(range(10**9))",
    "V = max(range(10**9))",
    "V = sorted(range(10**9))",
    "V = math.prod([1] * 60000 for i in range(10**9))",
    "V = tuple(range(10**8))",
    "V = list(repeat(1, 10**12))",
    "V = list(product(range(1000), range(1000), range(1000)))",
    "V = 10 ** 10 ** 10",
    "V = f'{1:>1000000000}'",
    "V = 'a'.ljust(10 ** 9)",
    "V = round(1.5, 10 ** 9)",
    "V = '-'.join(str(i) for i in range(10**9))",
    "xs = list(range(60000))\nV = [sum(xs) for i in range(10**6)]",
    "xs = list(range(60000))\nV = [max(xs) for i in range(10**6)]",
    "xs = list(range(60000))\nV = [any(xs[:0]) or all(xs[1:]) for i in range(10**6)]",
    "xs = list(range(60000))\nV = [len(sorted(xs)) for i in range(10**6)]",
    "xs = list(range(60000))\nV = [xs.insert(0, 1) for i in range(10**6)]",
    "xs = list(range(60000))\nV = [xs.pop(0) for i in range(10**6)]",
    "xs = list(range(60000))\nV = [xs.reverse() for i in range(10**6)]",
    "xs = list(range(60000))\nV = [-1 in xs for i in range(10**6)]",
    "xs = list(range(60000))\nV = [len(xs[::2]) for i in range(10**6)]",
    "xs = list(range(60000))\nV = [xs == xs[:] for i in range(10**6)]",
    "xs = list(range(60000))\nV = [len(xs + [1]) for i in range(10**6)]",
    "d = {i: i for i in range(30000)}\nV = [len(dict(d)) for i in range(10**6)]",
    "d = {i: i for i in range(30000)}\nV = [d.update(d) for i in range(10**6)]",
    "d = {i: i for i in range(30000)}\nV = [d.pop(i) for i in range(10**6)]",
    "d = {str(i): i for i in range(30000)}\nV = [len(dict(**d)) for i in range(10**6)]",
    "s = set(range(30000))\nV = [len(s | {i}) for i in range(10**6)]",
    "s = 'a' * 4000\nV = [s.count('b') for i in range(10**6)]",
    "s = 'a' * 4000\nV = [s.upper() + s[1:2] for i in range(10**6)]",
    "s = '%s' * 1000\nt = tuple(range(1000))\nV = [s % t for i in range(10**6)]",
    "a = [0]\nfor i in range(40):\n    a = [a, a]\nV = a == [a]",
    "a = b = 1\nfor i in range(13):\n    a, b = (a, a), (b, b)\nV = [a == b for i in range(10**6)]",
    "a = 1\nfor i in range(13):\n    a = (a, a)\nd = {}\nV = [a in d for i in range(10**6)]",
    "class A:\n    pass\na = A()\nV = [setattr(a, f'x{i}', i) for i in range(10**6)]",
    "xs = [1]\nfor x in xs:\n    xs.append(x)\nV = xs",
    "xs = [1]\nxs.extend(x for x in xs)\nV = xs",
    "class A:\n    def __eq__(self, other):\n        return self == other\nV = A() == A()",
    "class A:\n    def __iter__(self):\n        return iter(self)\nV = list(A())",
    "m = []\nfor i in range(700):\n    m = chain(m, [1])\nV = next(m)",
    "f = lambda: 1\nfor i in range(100):\n    f = partial(f)\nV = f()",
    "a = []\na.append(a)\nV = a",
    "a = []\na.append(a)\nb = []\nb.append(b)\nV = a == b",
    "a = []\na.append(a)\nV = {tuple(a): 1}",
    "d = {}\nd['a'] = d\nV = f'{d}'",
    "while True:\n    V = 1",
];

#[test]
fn work_of_every_kind_is_counted() {
    for lines in ENDLESS {
        let start = std::time::Instant::now();
        let result = shown(lines);
        assert!(result.is_err(), "{lines}: {result:?}");
        // Without optimisation, beside other tests.
        assert!(start.elapsed().as_secs() < 20, "{lines}: {:?}", start.elapsed());
    }
}

const IMPORTS: &str = "from tilefoundry.dsl import DimVar\nfrom tilefoundry.ir.types.shard import Layout\n";

/// What is wide is walked at each use.
#[test]
fn width_is_counted() {
    let many = |count: usize, line: fn(usize) -> String| (0..count).map(line).collect::<String>();
    let data = format!("@dataclass\nclass C:\n{}c = C()\n", many(500, |i| format!("    a{i}: int = {i}\n")));
    let sum = format!("n = 0\n{}", many(100, |i| format!("n = n + DimVar('n{i}', 1, 65)\n")));
    let named = many(500, |i| format!("a{i}=i, "));
    let endless = "for i in range(10**7):\n    V =";
    let code = many(2_000, |_| "        x = x + x\n".to_owned());
    for lines in [
        format!("{data}{endless} C({named})"),
        format!("{data}{endless} replace(c, a1=i)"),
        format!("{data}{endless} asdict(c)"),
        format!("{sum}{endless} min(n, i, n + 1)"),
        format!("xs = (1,) * 5000\n{endless} Layout(xs, xs)"),
        format!("for i in range(10**7):\n    @func\n    def V(x: Tensor[(4,), \"f32\"]):\n{code}        return x"),
    ] {
        let start = std::time::Instant::now();
        let result = shown(&format!("{IMPORTS}{lines}"));
        let start_of = &lines[lines.len() - 60..];
        assert!(result.as_ref().is_err_and(|why| why.contains("1048576 steps")), "{start_of}: {result:?}");
        assert!(start.elapsed().as_secs() < 20, "{start_of}: {:?}", start.elapsed());
    }
    let kwargs = many(500, |i| format!("a{i}={i}, "));
    let calls = format!("def f({kwargs}):\n    return a0\nfor i in range(10**7):\n    V = f({named})");
    assert!(shown(&calls).is_err());
    let chain = |count| {
        format!(
            "class C0:\n    a = 4\n{}V = C{count}.a",
            many(count, |i| format!("class C{}(C{i}):\n    pass\n", i + 1))
        )
    };
    assert_eq!(shown(&chain(64)).as_deref(), Ok("4"));
    let why = shown(&chain(65)).unwrap_err();
    assert!(why.ends_with("that extends more than 64 others"), "{why}");
}

/// Depth and cycles cost nothing where nobody looks.
#[test]
fn depth_and_cycles_are_no_harm() {
    for lines in [
        "a = []\nfor i in range(20000):\n    a = [a]\nV = 4",
        "a = {}\nfor i in range(20000):\n    a = {1: a}\nV = 4",
        "class N:\n    pass\na = N()\nfor i in range(20000):\n    b = N()\n    b.x = a\n    a = b\nV = 4",
        "m = []\nfor i in range(20000):\n    m = chain(m, [1])\nV = 4",
        "a = []\na.append(a)\nundefined(a)\nV = 4",
        "xs = [[i] for i in range(20000)]\nfor i in range(300000):\n    undefined(xs)\nV = 4",
        "while True:\n    pass\nV = 4",
    ] {
        assert_eq!(shown(lines).as_deref(), Ok("4"), "{lines}");
    }
}

/// A loop that takes too much says so where its names are used.
#[test]
fn long_loops_say_so() {
    let why = "the constants of the file take more than 1048576 steps";
    assert_eq!(shown("for V in range(10**7):\n    undefined(V)"), Err(why.to_owned()));
    assert_eq!(shown("n = 0\nfor i in range(10**7):\n    n += i\nV = n"), Err(why.to_owned()));
}
