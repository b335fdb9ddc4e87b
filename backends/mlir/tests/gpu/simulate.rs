//! Runs a `gpu.func` on the CPU: all threads of a CTA in lockstep, one CTA after another.
//!
//! It checks what hardware would not report: accesses out of bounds, misaligned vectors, shared memory that one thread
//! writes and another reads without a barrier between.
use std::collections::HashMap;

use melior::ir::{
    BlockLike, BlockRef, Module, OperationRef, RegionLike, Type, TypeLike, Value, ValueLike,
    attribute::{DenseI64ArrayAttribute, FloatAttribute, IntegerAttribute, StringAttribute},
    operation::OperationLike,
    r#type::{IntegerType, MemRefType},
};

use crate::scalar::{Num, binary, intrinsic, round, unary};

/// A buffer of the kernel; floats that nothing wrote are NaN.
pub type Memory = Vec<Num>;

#[derive(Clone, Copy, Default)]
struct Trace {
    written: Option<(u32, usize)>,
    read: Option<(u32, usize)>,
}

#[derive(Clone)]
enum Slot {
    Lanes(Vec<Num>),
    Global(usize),
    Shared(usize),
}

struct Cta<'m> {
    threads: usize,
    block: [i64; 3],
    cta: [i64; 3],
    global: &'m mut Vec<Memory>,
    shared: Vec<(Memory, Vec<Trace>)>,
    epoch: u32,
    values: HashMap<usize, Slot>,
}

/// Runs the kernel of that name; `arguments` are its parameters' contents.
pub fn run(module: &Module<'_>, name: &str, arguments: &mut Vec<Memory>) {
    let kernel = find(module, name);
    let sizes = |attribute: &str| -> [i64; 3] {
        let text = kernel.attribute(attribute).expect("known sizes").to_string();
        let inner = text.split(':').nth(1).expect("an array").trim_end_matches('>').to_owned();
        let sizes: Vec<i64> = inner.split(',').map(|n| n.trim().parse().expect("a number")).collect();
        sizes.try_into().expect("three sizes")
    };
    let (grid, block) = (sizes("known_grid_size"), sizes("known_block_size"));
    let entry = kernel.region(0).unwrap().first_block().unwrap();
    for z in 0..grid[2] {
        for y in 0..grid[1] {
            for x in 0..grid[0] {
                let mut cta = Cta {
                    threads: block.iter().product::<i64>() as usize,
                    block,
                    cta: [x, y, z],
                    global: arguments,
                    shared: vec![],
                    epoch: 0,
                    values: HashMap::new(),
                };
                cta.enter(entry);
                cta.block(entry);
            }
        }
    }
}

fn operations<'c, 'a>(block: BlockRef<'c, 'a>) -> impl Iterator<Item = OperationRef<'c, 'a>> {
    std::iter::successors(block.first_operation(), |operation| operation.next_in_block())
}

fn op_name(operation: &OperationRef<'_, '_>) -> String {
    operation.name().as_string_ref().as_str().unwrap().to_owned()
}

fn find<'c, 'a>(module: &'a Module<'c>, name: &str) -> OperationRef<'c, 'a> {
    for outer in operations(module.body()).filter(|o| op_name(o) == "gpu.module") {
        for function in operations(outer.region(0).unwrap().first_block().unwrap()) {
            let symbol = function.attribute("sym_name").and_then(StringAttribute::try_from);
            if symbol.is_ok_and(|s| s.value() == name) {
                return function;
            }
        }
    }
    panic!("no kernel `{name}`")
}

fn key(value: Value<'_, '_>) -> usize {
    value.to_raw().ptr as usize
}

impl Cta<'_> {
    fn enter(&mut self, entry: BlockRef<'_, '_>) {
        for index in 0..entry.argument_count() {
            let argument: Value = entry.argument(index).unwrap().into();
            let slot = if index < self.global.len() {
                Slot::Global(index)
            } else {
                let memref = MemRefType::try_from(argument.r#type()).unwrap();
                let len = melior::ir::ShapedTypeLike::dim_size(&memref, 0).unwrap();
                let melior::ir::r#type::DimSize::Static(len) = len else { panic!("static") };
                let element = melior::ir::ShapedTypeLike::element(&memref);
                let initial = if element.is_float() { Num::F(f32::NAN) } else { Num::I(0x5555) };
                self.shared.push((vec![initial; len as usize], vec![Trace::default(); len as usize]));
                Slot::Shared(self.shared.len() - 1)
            };
            self.values.insert(key(argument), slot);
        }
    }

    /// Runs a block; gives the operands of its terminator.
    fn block(&mut self, block: BlockRef<'_, '_>) -> Vec<Slot> {
        for operation in operations(block) {
            let name = op_name(&operation);
            if matches!(name.as_str(), "scf.yield" | "gpu.return") {
                return operation.operands().map(|v| self.values[&key(v)].clone()).collect();
            }
            self.operation(&name, operation);
        }
        vec![]
    }

    fn lanes(&self, value: Value<'_, '_>) -> Vec<Num> {
        match &self.values[&key(value)] {
            Slot::Lanes(lanes) => lanes.clone(),
            _ => panic!("{value} is memory"),
        }
    }

    fn uniform(&self, value: Value<'_, '_>) -> i64 {
        let lanes = self.lanes(value);
        assert!(lanes.iter().all(|l| l.int() == lanes[0].int()), "a loop bound differs between threads");
        lanes[0].int()
    }

    fn set(&mut self, operation: OperationRef<'_, '_>, result: usize, lanes: Vec<Num>) {
        let value: Value = OperationLike::result(&operation, result).unwrap().into();
        let r#type = value.r#type();
        let lanes = lanes.into_iter().map(|lane| fit(lane, r#type)).collect();
        self.values.insert(key(value), Slot::Lanes(lanes));
    }

    fn operation(&mut self, name: &str, operation: OperationRef<'_, '_>) {
        let operands: Vec<Value> = operation.operands().collect();
        let integer =
            |attribute: &str| IntegerAttribute::try_from(operation.attribute(attribute).unwrap()).unwrap().value();
        match name {
            "arith.constant" => {
                let value = operation.attribute("value").unwrap();
                let constant = match (FloatAttribute::try_from(value), IntegerAttribute::try_from(value)) {
                    (Ok(float), _) => Num::F(float.value() as f32),
                    (_, Ok(integer)) => Num::I(integer.value()),
                    _ => Num::I(i64::from(value.to_string() == "true")),
                };
                self.set(operation, 0, vec![constant; self.threads]);
            }
            "gpu.thread_id" | "gpu.block_id" => {
                let text = operation.attribute("dimension").unwrap().to_string();
                let axis = ["x", "y", "z"].iter().position(|d| text.contains(&format!("dim {d}"))).unwrap();
                let lanes = (0..self.threads as i64).map(|t| match name {
                    "gpu.block_id" => self.cta[axis],
                    _ => [t, t / self.block[0], t / self.block[0] / self.block[1]][axis] % self.block[axis],
                });
                let lanes = lanes.map(Num::I).collect();
                self.set(operation, 0, lanes);
            }
            "gpu.barrier" => self.epoch += 1,
            "gpu.shuffle" => {
                let (from, distance) = (self.lanes(operands[0]), self.uniform(operands[1]) as usize);
                let moved = (0..self.threads).map(|t| from[t ^ distance].clone()).collect();
                self.set(operation, 0, moved);
            }
            "scf.for" => self.repeat(operation, &operands),
            "memref.load" | "vector.load" => {
                let width = vector_width(OperationLike::result(&operation, 0).unwrap().r#type());
                let starts = self.lanes(operands[1]);
                let loaded =
                    starts.iter().enumerate().map(|(t, at)| self.load(operands[0], t, at.int(), width)).collect();
                self.set(operation, 0, loaded);
            }
            "memref.store" | "vector.store" => {
                let (values, starts) = (self.lanes(operands[0]), self.lanes(operands[2]));
                for (t, (value, at)) in values.into_iter().zip(starts).enumerate() {
                    self.store(operands[1], t, at.int(), value);
                }
            }
            "vector.extract" => {
                let position =
                    DenseI64ArrayAttribute::try_from(operation.attribute("static_position").unwrap()).unwrap();
                let at = position.element(0).unwrap() as usize;
                let lanes = self.lanes(operands[0]).into_iter().map(|v| v.vector()[at].clone()).collect();
                self.set(operation, 0, lanes);
            }
            "vector.from_elements" => {
                let parts: Vec<_> = operands.iter().map(|&v| self.lanes(v)).collect();
                let lanes = (0..self.threads).map(|t| Num::V(parts.iter().map(|p| p[t].clone()).collect())).collect();
                self.set(operation, 0, lanes);
            }
            "arith.select" => {
                let parts: Vec<_> = operands.iter().map(|&v| self.lanes(v)).collect();
                let choose = |t: usize| parts[if parts[0][t].int() & 1 == 1 { 1 } else { 2 }][t].clone();
                self.set(operation, 0, (0..self.threads).map(choose).collect());
            }
            _ => {
                let parts: Vec<_> = operands.iter().map(|&v| self.lanes(v)).collect();
                let result = OperationLike::result(&operation, 0).unwrap().r#type();
                let from = operands.first().map_or(result, |v| v.r#type());
                let predicate = if name.starts_with("arith.cmp") { integer("predicate") } else { 0 };
                let function = operation.attribute("intrin").and_then(StringAttribute::try_from);
                let compute = |t: usize| {
                    let arguments: Vec<Num> = parts.iter().map(|p| p[t].clone()).collect();
                    match (&function, &arguments[..]) {
                        (Ok(function), _) => intrinsic(function.value(), &arguments),
                        (_, [x]) => unary(name, x, bits(from), result.is_float(), bits(result)),
                        (_, [x, y]) => binary(name, x, y, predicate, bits(from)),
                        _ => panic!("no simulation of `{name}`"),
                    }
                };
                self.set(operation, 0, (0..self.threads).map(compute).collect());
            }
        }
    }

    fn repeat(&mut self, operation: OperationRef<'_, '_>, operands: &[Value<'_, '_>]) {
        let [start, stop, step] = [0, 1, 2].map(|at| self.uniform(operands[at]));
        let body = operation.region(0).unwrap().first_block().unwrap();
        let mut carried: Vec<Slot> = operands[3..].iter().map(|&v| self.values[&key(v)].clone()).collect();
        let mut at = start;
        while at < stop {
            let induction: Value = body.argument(0).unwrap().into();
            self.values.insert(key(induction), Slot::Lanes(vec![Num::I(at); self.threads]));
            for (number, slot) in carried.into_iter().enumerate() {
                let argument: Value = body.argument(number + 1).unwrap().into();
                self.values.insert(key(argument), slot);
            }
            carried = self.block(body);
            at += step;
        }
        for (number, slot) in carried.into_iter().enumerate() {
            let result: Value = OperationLike::result(&operation, number).unwrap().into();
            self.values.insert(key(result), slot);
        }
    }

    fn load(&mut self, memref: Value<'_, '_>, thread: usize, at: i64, width: usize) -> Num {
        assert_eq!(at % width as i64, 0, "a vector load of {width} from element {at} is misaligned");
        let range = at as usize..at as usize + width;
        let found: Vec<Num> = match self.values[&key(memref)] {
            Slot::Global(number) => self.global[number][range].to_vec(),
            Slot::Shared(number) => {
                let (memory, trace) = &mut self.shared[number];
                for trace in &mut trace[range.clone()] {
                    let race = trace.written.is_some_and(|(epoch, by)| epoch == self.epoch && by != thread);
                    assert!(!race, "thread {thread} reads element {at} that another wrote without a barrier between");
                    // With several readers the one noted must differ from any writer: keep the first of two.
                    let other = trace.read.filter(|(epoch, by)| *epoch == self.epoch && *by != thread);
                    trace.read = Some(other.map_or((self.epoch, thread), |_| (self.epoch, usize::MAX)));
                }
                memory[range].to_vec()
            }
            Slot::Lanes(_) => panic!("no memory"),
        };
        if width == 1 { found[0].clone() } else { Num::V(found) }
    }

    fn store(&mut self, memref: Value<'_, '_>, thread: usize, at: i64, value: Num) {
        let values = match value {
            Num::V(values) => values,
            one => vec![one],
        };
        assert_eq!(at % values.len() as i64, 0, "a vector store of {} to element {at} is misaligned", values.len());
        for (offset, value) in values.into_iter().enumerate() {
            let at = at as usize + offset;
            match self.values[&key(memref)] {
                Slot::Global(number) => self.global[number][at] = value,
                Slot::Shared(number) => {
                    let (memory, trace) = &mut self.shared[number];
                    let now = |noted: Option<(u32, usize)>| noted.filter(|(epoch, _)| *epoch == self.epoch);
                    let reader = now(trace[at].read).is_some_and(|(_, by)| by != thread);
                    assert!(
                        !reader,
                        "thread {thread} overwrites element {at} that another reads without a barrier between"
                    );
                    let writer = now(trace[at].written).is_some_and(|(_, by)| by != thread);
                    assert!(!writer || memory[at] == value, "two threads write different values to element {at}");
                    memory[at] = value;
                    trace[at].written = Some((self.epoch, thread));
                }
                Slot::Lanes(_) => panic!("no memory"),
            }
        }
    }
}

fn vector_width(r#type: Type<'_>) -> usize {
    let text = r#type.to_string();
    text.strip_prefix("vector<").map_or(1, |rest| rest.split('x').next().unwrap().parse().unwrap())
}

/// Width of a number, 64 for index.
fn bits(r#type: Type<'_>) -> u32 {
    if r#type.is_index() {
        return 64;
    }
    IntegerType::try_from(r#type)
        .map_or_else(|_| if r#type.is_float() { r#type.float_width() } else { 0 }, |i| i.width())
}

/// The value as its type holds it.
fn fit(value: Num, r#type: Type<'_>) -> Num {
    match value {
        Num::F(x) => Num::F(round(x, r#type.is_bf16(), r#type.is_f16())),
        Num::I(x) => match bits(r#type) {
            64 | 0 => Num::I(x),
            1 => Num::I(x & 1),
            width => Num::I(x << (64 - width) >> (64 - width)),
        },
        vector => vector,
    }
}
