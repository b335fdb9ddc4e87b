//! What code that is not run may change.

use super::{refused, same};

#[test]
fn what_unread_code_may_change_is_refused() {
    refused(TABLE);
}

#[test]
fn what_unread_code_cannot_change_stays_known() {
    same(KEPT);
}

const KEPT: &[(&str, &str)] = &[
    (
        r#"import weird
from tilefoundry import DType
x = weird.dtype(DType.nothing)
def bad():
    return Mesh(("a",), (2, 3), ("b",))
y = weird.run(bad())
z = weird.run(1 // 0)
V = 4"#,
        "4",
    ),
    (
        r#"try:
    import numpy as np
except ImportError:
    np = None
cfg = [1, 2]
z = np.zeros(cfg)
V = cfg"#,
        "[1, 2]",
    ),
    (
        r#"try:
    import numpy as np
except:
    np = None
cfg = {"a": [1]}
x = np.ones(cfg["a"])
y = [x, 3]
V = cfg, y[1]"#,
        "({'a': [1]}, 3)",
    ),
    (
        r#"try:
    from torch import nn
    import torch
except ModuleNotFoundError as e:
    nn = None
cfg = [3]
nn.Linear(cfg)
torch.foo(cfg)
V = cfg"#,
        "[3]",
    ),
    (
        r#"import logging
it = iter([1, 2])
logging.info(*it)
V = list(it)"#,
        "[]",
    ),
    (
        r#"it = iter([1, 2])
print(*it)
V = list(it)"#,
        "[]",
    ),
    (
        r#"cfg = [1, 2]
print(*cfg)
from torch import *
n = 3
V = n"#,
        "3",
    ),
    (
        r#"import math
from collections import Counter
xs = [1, 2]
c = Counter(xs)
V = xs, math.floor(2.5)"#,
        "([1, 2], 2)",
    ),
    (
        r#"import copy
a = [[1]]
b = copy.deepcopy(a)
V = a"#,
        "[[1]]",
    ),
    (
        r#"import numpy as np
cfg = [1, 2]
z = np.zeros(cfg)
V = cfg"#,
        "[1, 2]",
    ),
    (
        r#"a = [1]
undefined_fn(len(a))
V = 5"#,
        "5",
    ),
    (
        r#"xs = [1]
ys = [2]
undefined_fn(xs)
V = ys"#,
        "[2]",
    ),
    (
        r#"xs = [1]
for i in range(3):
    undefined_fn(i)
V = xs, i"#,
        "([1], 2)",
    ),
    (
        r#"import pytest
xs = [1]
@pytest.fixture
def f(): xs.append(1)
V = xs"#,
        "[1]",
    ),
    (
        r#"xs = [1, 2]
ys = [x for x in xs if undefined(x)]
V = xs"#,
        "[1, 2]",
    ),
    (
        r#"def f():
    x = undefined()
    return 4
V = f()"#,
        "4",
    ),
    (
        r#"def f(flag):
    if flag: return 1
    y = undefined_thing.attr
    return y
V = f(True)"#,
        "1",
    ),
    (
        r#"from collections import OrderedDict
V = OrderedDict(a=1, b=2) == OrderedDict(b=2, a=1), OrderedDict(a=1) == {"a": 1}, list(OrderedDict(a=1, b=2))"#,
        "(False, True, ['a', 'b'])",
    ),
    (
        r#"del undefined_name
V = 1"#,
        "1",
    ),
    (
        r#"from functools import lru_cache
@lru_cache
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
V = fib(50)"#,
        "12586269025",
    ),
];

const TABLE: &[(&str, &str)] = &[
    (
        r#"from heapq import heapify as hh
xs = [3, 1]
hh(xs)
V = xs"#,
        "it comes from `heapq`, and authoring files are read, not executed",
    ),
    (
        r#"from operator import ior
s = {1}
ior(s, {2})
V = len(s)"#,
        "it comes from `operator`, and authoring files are read, not executed",
    ),
    (
        r#"from collections import deque
it = iter([1, 2])
deque(it, maxlen=0)
V = list(it)"#,
        "it comes from `collections`, and authoring files are read, not executed",
    ),
    (
        r#"from statistics import mean
it = map(lambda x: x, [1, 2])
m = mean(it)
V = list(it)"#,
        "it comes from `statistics`, and authoring files are read, not executed",
    ),
    (
        r#"pi = 4
from math import *
V = pi"#,
        "`from math import *` may bind it anew, and is not read",
    ),
    (
        r#"x = 1
exec("x = 2")
V = x"#,
        "`exec` binds names by their text, which is not followed",
    ),
    (
        r#"x = 1
globals()["x"] = 2
V = x"#,
        "`globals` binds names by their text, which is not followed",
    ),
    (
        r#"x = 1
try:
    locals().update(x=2)
except KeyError:
    pass
V = x"#,
        "`locals` binds names by their text, which is not followed",
    ),
    (
        r#"class A:
    @property
    def p(self): return undefined_thing
V = getattr(A(), 'p', 3)"#,
        "the name `undefined_thing` is not defined",
    ),
    (
        r#"import heapq
xs = [3, 1]
heapq.heappush(xs, 0)
V = xs"#,
        "it comes from `heapq`, and authoring files are read, not executed",
    ),
    (
        r#"import numpy as np
cfg = {"a": [1]}
z = np.zeros(cfg["a"]).sum()
np.random.seed(0)
V = cfg"#,
        "it comes from `numpy`, and authoring files are read, not executed",
    ),
    (
        r#"import random
xs = [1, 2]
random.shuffle(xs)
V = xs"#,
        "it comes from `random`, and authoring files are read, not executed",
    ),
    (
        r#"import functools
out = []
functools.update_wrapper(out, len)
V = out"#,
        "it comes from `functools`, and authoring files are read, not executed",
    ),
    (
        r#"import weird
out = []
weird.apply(out.append, 3)
V = out"#,
        "it comes from `weird`, and authoring files are read, not executed",
    ),
    (
        r#"import weird
out = []
def add(): out.append(1)
weird.run(add)
V = out"#,
        "it comes from `weird`, and authoring files are read, not executed",
    ),
    (
        r#"import weird
out = []
weird.run(lambda: out.append(1))
V = out"#,
        "it comes from `weird`, and authoring files are read, not executed",
    ),
    (
        r#"import weird
class C:
    def __init__(self): self.n = 1
    def up(self): self.n = 2
c = C()
weird.run(c.up)
V = c.n"#,
        "it comes from `weird`, and authoring files are read, not executed",
    ),
    (
        r#"class C:
    N = 1
c = C()
undefined_fn(c).x = 5
V = c.N"#,
        "the name `undefined_fn` is not defined",
    ),
    (
        r#"a = []
b = (a, 1)
undefined_fn(b)
V = a"#,
        "the name `undefined_fn` is not defined",
    ),
    (
        r#"a = [1]
def f(): return a
undefined_fn(f)
V = a"#,
        "the name `undefined_fn` is not defined",
    ),
    (
        r#"xs = [1]
d = {"x": xs}
it = iter(xs)
undefined_fn(it)
V = d"#,
        "the name `undefined_fn` is not defined",
    ),
    (
        r#"xs = [1]
@undefined_deco
def f(): xs.append(1)
V = xs"#,
        "the name `undefined_deco` is not defined",
    ),
    (
        r#"xs = [1]
x = xs.append(undefined)
V = xs"#,
        "the name `undefined` is not defined",
    ),
    (
        r#"a = [1, 2, 3]
a[undefined] = 5
V = a"#,
        "the name `undefined` is not defined",
    ),
    (
        r#"a = [1]
a += undefined()
V = a"#,
        "the name `undefined` is not defined",
    ),
    (
        r#"import os
V = os.path.join("a", "b")"#,
        "it comes from `os`, and authoring files are read, not executed",
    ),
    (
        r#"if undefined_flag:
    V = 1
else:
    V = 2"#,
        "it is bound inside `if` at file level, which is not executed",
    ),
];
