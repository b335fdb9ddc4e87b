//! Code that is not run: what names in it stand for, and which classes and frozen instances it changes.

use super::{refused, same};

const IF: &str = "it is bound inside `if` at file level, which is not executed";

#[test]
fn a_change_through_another_name_is_one_of_what_it_stands_for() {
    let changes = [
        "y = xs\n    y += [3]",
        "y = xs[0]\n    y.append(3)",
        "first, *_ = xs\n    first.append(3)",
        "y = xs or []\n    y.append(3)",
        "y = xs if flag else None\n    y.append(3)",
        "y = {'a': xs}\n    y['a'].append(3)",
        "y = xs.append\n    y(3)",
        "for y in xs: y.append(3)",
        "[y.append(3) for y in xs]",
        "(y := xs).append(3)",
        "box.xs = xs\n    box.xs.append(3)",
        "def g(): xs.append(1)\n    g()",
        "g = lambda: xs.append(1)\n    g()",
        "class A:\n        def __init__(self): xs.append(1)\n    A()",
        "match xs:\n        case y: y.append(3)",
    ];
    for change in changes {
        refused(&[(
            &format!("import torch\nxs = [[1]]\nif torch.cuda.is_available():\n    {change}\nV = len(xs)"),
            IF,
        )]);
    }
}

#[test]
fn classes_that_code_that_is_not_run_assigns_to_are_not_known() {
    let changes = [
        ("def bump(): A.n = 2", "bump()"),
        ("def bump(): setattr(A, 'n', 2)", "bump()"),
        ("def get(): return A\ndef bump(): get().n = 2", "bump()"),
        ("class B(A):\n    @classmethod\n    def bump(cls): cls.n = 2", "B.bump()"),
        ("class B:\n    def bump(self): A.n = 2\nb = B()", "b.bump()"),
        ("class B:\n    @staticmethod\n    def reg(f): A.n = 2", "@B.reg\n    def f(): pass"),
    ];
    for (define, change) in changes {
        let lines = format!(
            "import torch\nclass A:\n    n = 1\n{define}\nif torch.cuda.is_available():\n    {change}\nV = A.n"
        );
        let lines = if define.contains("cls.n") { lines.replace("V = A.n", "V = B.n") } else { lines };
        refused(&[(&lines, IF)]);
    }
}

#[test]
fn decorators_that_are_not_run_are_calls() {
    let why = "it is a plain Python class with the base `torch.nn.Module`, which is not read";
    refused(&[
        (
            r#"import torch
known = []
def reg(f):
    known.append(f)
    return f
@reg
class A(torch.nn.Module): pass
V = len(known)"#,
            why,
        ),
        (
            r#"import torch
known = []
def reg(f):
    known.append(f)
    return f
@reg
@torch.no_grad()
def f(): pass
V = len(known)"#,
            "a decorator of `f` may change it, which is not followed",
        ),
    ]);
}

#[test]
fn frozen_instances_change_only_where_code_goes_around_it() {
    const HEAD: &str = "import torch
@dataclass(frozen=True)
class C:
    n: int = 1
c = C()
class M(torch.nn.Module): pass
";
    for change in ["object.__setattr__(c, 'n', 2)", "c.__dict__['n'] = 2"] {
        let lines = format!("{HEAD}def thaw(): {change}\nif torch.cuda.is_available():\n    thaw()\nV = c.n");
        refused(&[(&lines, IF)]);
    }
    for use_of in ["M(c).cuda().eval()", "torch.anything(c)", "if torch.cuda.is_available():\n    M(c).to(c)"] {
        same(&[(&format!("{HEAD}m = None\n{use_of}\nV = c.n"), "1")]);
    }
}

#[test]
fn numbers_texts_and_copies_of_a_configuration_change_nothing_of_it() {
    const HEAD: &str = "import json, logging, torch
@dataclass
class C:
    n: int = 1
    @classmethod
    def of(cls, raw): return cls(n=raw.n)
c = C()
def go(n): return n + 1
";
    let uses = [
        "logging.getLogger().info('%s', c)",
        "with open('x', 'w') as f: json.dump(asdict(c), f)",
        "with open('x', 'w') as f: f.write(f'{c.n}')",
        "if torch.cuda.is_available(): y = go(c.n)",
        "if torch.cuda.is_available(): print(len(str(c)))",
        "if torch.cuda.is_available(): d = C(4)",
        "d = C.of(torch.load('x'))",
        "if torch.cuda.is_available(): d = C.of(torch.load('x'))",
    ];
    for used in uses {
        same(&[(&format!("{HEAD}{used}\nV = c.n, C(2).n"), "(1, 2)")]);
    }
    refused(&[
        (&format!("{HEAD}if torch.cuda.is_available():\n    c.n = [1]\n    go(c.n)\nV = c.n"), IF),
        (&format!("{HEAD}if torch.cuda.is_available():\n    go(c)\nV = c.n"), IF),
    ]);
}

#[test]
fn what_is_chosen_among_objects_changes_each_of_them() {
    const HEAD: &str = "import torch
import numpy as np
xs = []
class A:
    n = 1
flag = torch.cuda.is_available()
";
    let why = "it comes from `torch`, and authoring files are read, not executed";
    for change in [
        "u = xs if flag else []\nu.append(3)",
        "u = [xs, 1][flag]\nu.append(3)",
        "u = {'a': xs}[flag]\nu.append(3)",
        "u = ([xs, 3][flag:])[0]\nu.append(3)",
        "f = xs.append if flag else print\nf(2)",
        "f = (lambda: xs.append(1)) if flag else print\nf()",
    ] {
        let shown = super::shown(&format!("{HEAD}{change}\nV = len(xs)"));
        assert!(shown.as_ref().is_err_and(|found| found.contains(why)), "{change}: {shown:?}");
    }
    let shown = super::shown(&format!("{HEAD}C = A if flag else object\nC.n = 2\nV = A.n"));
    assert!(shown.as_ref().is_err_and(|found| found.contains(why)), "{shown:?}");
    same(&[(&format!("{HEAD}sizes = [8, 16]\nn = sizes[flag]\nn.anything()\nV = sizes"), "[8, 16]")]);
}
