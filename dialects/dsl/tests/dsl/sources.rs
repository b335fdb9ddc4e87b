//! Random sources as authors write them. What of them is read is printed, and read again as the same module.

use std::cell::Cell;
use std::fmt::Write as _;

/// A source for a seed; most of them are right.
pub fn source(seed: u64) -> String {
    let mut writer = Writer {
        random: Cell::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
        out: HEAD.to_owned(),
        indent: 1,
        count: 0,
    };
    writer.file();
    writer.out
}

const HEAD: &str = r#"from tilefoundry import DType, Expr, TensorType, func, intrinsic, module, prim_func
from tilefoundry.dsl import ConstTensor, DimVar, DimVarRangePat, Mesh, T, Tensor, Topology, ceildiv, tf
from tilefoundry.ir.types.shard import B, ComposedLayout, Layout, S, ShardLayout
from tilefoundry.target import CpuTarget, CudaTarget

N = DimVar("n", 1, 65)
K = DimVar("k", 2, 33)
HALF = N // 2
LEAST = min(N, 32)
MOST = max(N - 4, HALF)
TILES = ceildiv(N, 4)
SCALE = 0.5


@intrinsic
def hint(a: Expr) -> None:
    assert a.type.dtype == DType.f32


@module(entry="step")
class Shared:
    @func
    def step(x: Tensor[(8, 16), "f32"], w: ConstTensor[(16,), "f32"]):
        return x * w

    def run(self, x):
        y = self.step(x)
        return y


@module(entry="main", target=CudaTarget("nvidia.h200_sxm"), topologies=(Topology("cta", 2), Topology("thread", 64)))
class Main:
    first = Shared
    rest = (Shared.renamed("second"), Shared.renamed("third"))
"#;

/// Names of values: few, so that they are bound again and hide each other.
const NAMES: [&str; 6] = ["a", "b", "c", "d", "i", "x"];
/// Extents of loops and what is a window of eight rows in them.
const RANGES: [&str; 8] = ["8", "2", "0, 8", "1, 7", "N", "LEAST", "min(N, 8)", "max(1, min(N, K)), N, 2"];
const DIMS: [&str; 9] = ["N", "HALF", "LEAST", "MOST", "TILES", "N + 3", "min(N * 2, 9)", "max(N, HALF)", "4"];

struct Writer {
    random: Cell<u64>,
    out: String,
    indent: usize,
    /// Names that are used once so far.
    count: usize,
}

impl Writer {
    fn below(&self, bound: usize) -> usize {
        let mut state = self.random.get();
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        self.random.set(state);
        (state >> 11) as usize % bound
    }

    fn one_of<'a>(&self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }

    /// A name that nothing else has.
    fn fresh(&mut self, base: &str) -> String {
        self.count += 1;
        format!("{base}{}", self.count)
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{}{text}", "    ".repeat(self.indent));
    }

    fn block(&mut self, head: &str, inside: impl FnOnce(&mut Self)) {
        self.line(head);
        self.indent += 1;
        inside(self);
        self.indent -= 1;
    }

    fn file(&mut self) {
        for at in 0..1 + self.below(2) {
            self.out.push('\n');
            self.line("@func");
            self.block(&format!("def part{at}(x: Tensor[(8, 16), \"f32\"], y: Tensor[(N, 16), \"f32\"]):"), |w| {
                w.values(&[])
            });
        }
        if self.below(3) == 0 {
            self.dispatch();
        }
        for at in 0..1 + self.below(2) {
            self.out.push('\n');
            self.line("@prim_func");
            self.block(&format!("def kernel{at}(x: Tensor[(N, 16), \"f32\"], y: Tensor[(N, 16), \"f32\"]):"), |w| {
                w.device()
            });
        }
        self.out.push('\n');
        self.line("@func");
        self.block(
            "def main(x: Tensor[(8, 16), \"f32\"], y: Tensor[(N, 16), \"f32\"], w: ConstTensor[(16,), \"f32\"]):",
            |w| {
                w.values(&["first(x)", "rest[1](x)", "part0(x, y)"]);
            },
        );
        if self.below(2) == 0 {
            self.out.push('\n');
            self.line("@main.converter(\"w\")");
            self.block("def _(raw: Tensor[(4, 4), \"f32\"]):", |w| w.line("return tf.reshape(raw, new_shape=(16,))"));
        }
        self.out.push('\n');
        self.line("@prim_func(target=CpuTarget())");
        self.block(
            "def host(x: Tensor[(N, 16), \"f32\"], s: Tensor[(), \"i64\"], y: Tensor[(N, 16), \"f32\"]):",
            |w| w.host(),
        );
        self.out.push('\n');
        self.block("def forward(self, x, y):", |w| {
            w.line("for layer in self.rest:");
            w.line("    x = layer.run(x)");
            w.line("return self.main(x, y)");
        });
    }

    fn dispatch(&mut self) {
        let signature = "(x: Tensor[(N, 16), \"f32\"]) -> Tensor[(N, 16), \"f32\"]:";
        self.out.push('\n');
        self.line("@func");
        self.block(&format!("def chosen{signature}"), |w| w.line("pass"));
        let middle = 2 + self.below(60);
        for (low, high, label) in [(1, middle, "_"), (middle, 65, "large")] {
            self.out.push('\n');
            self.line(&format!("@chosen.specialize(DimVarRangePat(\"n\", {low}, {high}))"));
            self.block(&format!("def {label}{signature}"), |w| {
                let value = w.one_of(&["tf.relu(x)", "x * SCALE", "tf.exp(x) + x"]);
                w.line(&format!("return {value}"));
            });
        }
    }

    /// The body of a `@func`. Values with eight rows are called by [`NAMES`], the others `y` and `rows`.
    fn values(&mut self, calls: &[&str]) {
        let mut known = vec!["x"];
        if self.below(4) == 0 {
            self.line("\"\"\"Computes it.\"\"\"");
        }
        self.line("rows = y * SCALE");
        for _ in 0..2 + self.below(6) {
            match self.below(10) {
                0 => self.placed(&known),
                1 | 2 => self.counted(&mut known, 0),
                3 => self.symbolic(),
                4 if !calls.is_empty() => {
                    let (name, call) = (self.one_of(&NAMES), self.one_of(calls));
                    let call = if call == "part0(x, y)" {
                        format!("part0({}, y)", self.one_of(&known.clone()))
                    } else {
                        call.to_owned()
                    };
                    self.line(&format!("{name} = {call}"));
                    known.retain(|other| *other != name);
                    if !call.starts_with("part0") {
                        known.push(name);
                    }
                    if known.is_empty() {
                        return self.line("return rows");
                    }
                }
                5 => {
                    let value = self.value(&known);
                    let name = self.one_of(&NAMES);
                    self.line(&format!("{name}: where(storage=\"{}\") = {value}", ["smem", "rmem"][self.below(2)]));
                    note(&mut known, name);
                }
                6 => {
                    let value = self.value(&known);
                    self.line(&format!("parts = [({value}) * 2.0 for _k in range({})]", 1 + self.below(3)));
                    let name = self.one_of(&NAMES);
                    self.line(&format!("{name} = parts[{}]", self.one_of(&["0", "-1"])));
                    note(&mut known, name);
                }
                7 => {
                    let (value, name) = (self.value(&known), self.one_of(&NAMES));
                    let other = self.one_of(&["top", "b", "c"]);
                    self.line(&format!("{name}, {other}_ = tf.topk({value}, k=16, axis=1)"));
                    note(&mut known, name);
                }
                _ => self.assignment(&mut known),
            }
        }
        match self.below(8) {
            0 => self.line(&format!("return {}, rows", self.one_of(&known.clone()))),
            1 => {
                let value = self.value(&known);
                self.line(&format!("return ({value}, ({}, rows))", self.one_of(&known.clone())));
            }
            2 => {
                let range = self.one_of(&RANGES);
                self.block(&format!("for step in range({range}):"), |w| {
                    let value = w.value(&known);
                    w.line(&format!("last = {value}"));
                });
            }
            _ => {
                let value = self.value(&known);
                self.line(&format!("return {value}"));
            }
        }
    }

    /// A value with eight rows.
    fn value(&self, known: &[&str]) -> String {
        let (a, b) = (self.one_of(known), self.one_of(known));
        match self.below(9) {
            0 => format!("{a} + {b}"),
            1 => format!("{a} * 0.5 - {b}"),
            2 => format!("tf.exp({a})"),
            3 => format!("tf.softmax({a}, axis=-1)"),
            4 => format!("{a} * tf.reduce({b}, axes=(1,), keepdim=True, kind=\"max\")"),
            5 => format!("tf.where({a} > {b}, {a}, -{b})"),
            6 => format!("max({a}, {b})"),
            7 => format!("tf.concat(({a}[0:3, :], {b}[-5:, :]), axis=0)"),
            _ => a.to_owned(),
        }
    }

    fn assignment(&mut self, known: &mut Vec<&str>) {
        let (value, name) = (self.value(known), self.one_of(&NAMES));
        self.line(&format!("{name} = {value}"));
        note(known, name);
    }

    /// Arithmetic on extents.
    fn symbolic(&mut self) {
        let (a, b) = (self.one_of(&DIMS), self.one_of(&DIMS));
        let rows = match self.below(4) {
            0 => format!("rows * tf.cast({a} + {b}, dtype=\"f32\")"),
            1 => "rows + y".to_owned(),
            2 => format!("rows * tf.cast(min({a}, {b}), dtype=\"f32\")"),
            _ => "y[0:N, :] + rows".to_owned(),
        };
        self.line(&format!("rows = {rows}"));
    }

    /// A loop, which may have others in it.
    fn counted(&mut self, known: &mut Vec<&str>, depth: usize) {
        let counter = self.one_of(&["i", "k", "step"]);
        let carried: Vec<&str> = (0..1 + self.below(2)).map(|_| self.one_of(&known.clone())).collect();
        let tiles = self.below(2) == 0;
        let head = match tiles {
            true => format!("for {counter} in tile(8, {}):", self.one_of(&["2", "4"])),
            false => format!("for {counter} in range({}):", self.one_of(&RANGES)),
        };
        let mut inside: Vec<&str> = known.iter().copied().filter(|name| *name != counter).collect();
        if inside.is_empty() {
            return;
        }
        self.block(&head, |w| {
            if w.below(3) == 0 {
                let source = w.one_of(&inside);
                let window = match tiles {
                    true => format!("{source}[{counter}, :]"),
                    false => format!("{source}[{counter}:{counter} + 1, 0:16]"),
                };
                let part = w.fresh("part");
                w.line(&format!("{part} = {window}"));
                let base = w.one_of(&inside);
                w.line(&format!("local = {base} * tf.reduce({part}, axes=(0,), keepdim=True, kind=\"sum\")"));
                inside.push("local");
            }
            if w.below(3) == 0 {
                let index = match w.below(3) {
                    0 => format!("{counter} + 1"),
                    1 => format!("{counter} * 2 + 3"),
                    _ => format!("min({counter}, 4)"),
                };
                let at = w.fresh("at");
                w.line(&format!("{at} = {index}"));
                let base = w.one_of(&inside);
                w.line(&format!("local = {base} * tf.cast({at}, dtype=\"f32\")"));
                note(&mut inside, "local");
            }
            if depth < 3 && w.below(2) == 0 {
                w.counted(&mut inside, depth + 1);
            }
            if carried.iter().all(|name| *name == counter) {
                let value = w.value(&inside);
                w.line(&format!("local = {value}"));
            }
            for name in carried.iter().filter(|name| **name != counter) {
                let value = w.value(&inside);
                w.line(&format!("{name} = {value}"));
            }
            if w.below(4) == 0 {
                let value = w.value(&inside);
                w.line(&format!("fresh = {value}"));
            }
        });
        known.retain(|name| *name != counter);
    }

    /// A mesh scope, from which a value comes back.
    fn placed(&mut self, known: &[&str]) {
        let value = self.one_of(known);
        let scope = self.below(3);
        let (head, layout) = match scope {
            0 => ("with Mesh((\"thread\",), (8, 8), (\"r\", \"l\")) as m:", "(8 @ m.r, 16 @ m.l)"),
            1 => (
                "with Mesh((\"cta\", \"thread\"), (2, 4, 16), (\"c\", \"r\", \"l\")) as m:",
                "(8 @ (m.c, m.r), 16 @ m.l)",
            ),
            _ => ("with Mesh((\"thread\",), (64,)) as m:", ""),
        };
        let (held, out) = (self.fresh("held"), self.fresh("placed"));
        self.block(head, |w| {
            if scope == 2 {
                return w.line(&format!("{out} = {value}[m.x : m.x + 1, :] * 2.0"));
            }
            w.line(&format!("{held} = tf.reshard({value}, layout={layout}, storage=\"rmem\")"));
            let changed = w.one_of(&["* 2.0", "+ 1.5", "- 0.25"]);
            w.line(&format!("{held} = {held} {changed}"));
            w.line(&format!("{out} = tf.reshard({held}, layout={layout}, storage=\"gmem\")"));
        });
        if self.below(2) == 0 {
            self.line(&format!("rows = rows * tf.reduce({out}, axes=(0, 1), keepdim=False, kind=\"sum\")"));
        }
    }

    /// A body for a device.
    fn device(&mut self) {
        if self.below(2) == 0 {
            self.line("t = T.alloc_tensor(TensorType((N, 16), \"f32\", None, \"smem\"))");
        } else {
            self.line("t = T.tensor_view(x, layout=Layout((N, 16), (16, 1)))");
        }
        let mut memory = vec!["x", "y", "t"];
        let with_mesh = self.below(2) == 0;
        if with_mesh {
            self.block(
                "with Mesh((Topology(\"thread\", 64),), Layout((2, 32), (32, 1)), names=(\"w\", \"l\")) as m:",
                |w| {
                    w.effects(&mut memory, 0, Some("m"));
                },
            );
        } else {
            self.effects(&mut memory, 0, None);
        }
    }

    fn host(&mut self) {
        let mut memory = vec!["x", "y"];
        self.effects(&mut memory, 0, None);
        if self.below(2) == 0 {
            self.line("launch(kernel0, x, y, grid=(x.shape[0],), block=(32,))");
        }
    }

    /// Statements of a `@prim_func`.
    fn effects(&mut self, memory: &mut Vec<&str>, depth: usize, mesh: Option<&str>) {
        let size = memory.len();
        let mut scalars = vec!["0", "3", "x.shape[0]"];
        for _ in 0..1 + self.below(4) {
            let (a, b) = (self.one_of(memory), self.one_of(memory));
            match self.below(14) {
                0 | 1 => {
                    let name = self.one_of(if depth == 0 { &["a", "b", "c"] } else { &["a", "d", "e", "f"] });
                    self.line(&format!("{name} = Tensor((N, 16), \"f32\", None, \"gmem\")"));
                    note(memory, name);
                }
                2 => {
                    let name = self.one_of(if depth == 0 { &["a", "b", "v"] } else { &["b", "u", "v"] });
                    self.line(&format!("{name} = T.tensor_view({a}, layout=Layout((N, 16), (16, 1)))"));
                    note(memory, name);
                }
                3 => {
                    let name = self.one_of(&["p", "q"]);
                    let (left, right) = (self.one_of(&scalars), self.one_of(&["2", "x.shape[0]"]));
                    let op = self.one_of(&["+", "*", "//", "%", "-"]);
                    if left.parse::<i64>().is_ok() && right == "2" {
                        continue;
                    }
                    self.line(&format!("{name} = {left} {op} {right}"));
                    note(&mut scalars, name);
                }
                4 | 5 if depth < 3 => {
                    let counter = self.one_of(&["i", "j", "p"]);
                    let stop = self.one_of(&scalars);
                    self.block(&format!("for {counter} in range({}{stop}):", self.one_of(&["", "1, "])), |w| {
                        w.effects(&mut memory.clone(), depth + 1, mesh);
                    });
                }
                6 if depth < 3 => {
                    let (left, right) = (self.one_of(&scalars), self.one_of(&["x.shape[0]", "min(x.shape[0], 7)"]));
                    self.block(&format!("if {left} < {right} and not {right} == 3:"), |w| {
                        w.effects(&mut memory.clone(), depth + 1, mesh);
                    });
                    if self.below(2) == 0 {
                        self.block(&format!("elif {left} + 1 > {right}:"), |w| {
                            w.effects(&mut memory.clone(), depth + 1, mesh)
                        });
                    }
                    if self.below(2) == 0 {
                        self.block("else:", |w| w.effects(&mut memory.clone(), depth + 1, mesh));
                    }
                }
                7 if depth < 2 => {
                    let left = self.one_of(&scalars);
                    self.block(&format!("while {left} > x.shape[0]:"), |w| {
                        w.effects(&mut memory.clone(), depth + 1, mesh)
                    });
                }
                8 => self.line(&format!("T.hint({a})")),
                9 => match mesh {
                    Some(mesh) => self.line(&format!("T.sync({mesh}{})", ["", "[0, :]", "[1:2, :]"][self.below(3)])),
                    None => self.line(&format!("T.fill({b}, {})", self.one_of(&["0.0", "-1.5", "1e30"]))),
                },
                10 => self.line(&format!("T.relu({a}, {b})")),
                11 => self.line(&format!("T.binary({a}, {b}, {b}, kind=\"{}\")", self.one_of(&["add", "mul", "max"]))),
                12 if mesh.is_some() => {
                    self.block(
                        &format!("if {}.w == 0 or {}.l > 3:", mesh.unwrap_or_default(), mesh.unwrap_or_default()),
                        |w| {
                            w.effects(&mut memory.clone(), depth + 1, mesh);
                        },
                    );
                }
                _ => self.line(&format!("T.copy({a}, {b})")),
            }
        }
        if memory.len() == size {
            self.line("T.copy(x, y)");
        }
    }
}

fn note<'a>(known: &mut Vec<&'a str>, name: &'a str) {
    if !known.contains(&name) {
        known.push(name);
    }
}
