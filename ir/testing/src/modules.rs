//! Modules.

use tf_core::node::{Child, HeaderSpans, MetaValue, ModuleData, Target};
use tf_core::{AnyFunction, Function, Module, TargetKind};
use tf_types::{Mesh, Symbol, Topology};

use crate::Generator;

impl<'c> Generator<'_, 'c> {
    /// A root whose children nest `depth` deep.
    pub fn module(&mut self, depth: usize, name: &str) -> Module<'c> {
        let (data, _) = self.module_data(depth, name);
        let device = self.cx.symbol("nvidia.h200_sxm");
        let target = self.rng.once_in(2).then_some(Target { kind: TargetKind::Cuda, device });
        self.cx.module(ModuleData { target, ..data })
    }

    /// A module and the functions that its owner may call.
    fn module_data(&mut self, depth: usize, name: &str) -> (ModuleData<'c>, Vec<Function<'c>>) {
        let cx = self.cx;
        let topologies = self.topologies();
        // Functions place values on levels of their module only.
        let outer = (self.types.clone(), self.meshes.clone(), self.open.clone(), self.levels.clone());
        if let Some(levels) = topologies {
            self.levels = levels.iter().map(|level| level.name).collect();
        }
        let has_levels = |mesh: Mesh<'c>| topologies.is_none_or(|levels| mesh.check_levels(levels).is_ok());
        self.meshes.retain(|&mesh| has_levels(mesh));
        self.open.clone_from(&self.meshes);
        self.types.retain(|ty| ty.leaves().iter().filter_map(|tensor| tensor.shard()).all(|s| has_levels(s.mesh)));
        let mut callable: Vec<Function<'c>> = Vec::new();
        let mut children = Vec::new();
        if depth > 0 {
            for _ in 0..self.rng.below(3) {
                children.push(self.child(depth - 1, &mut callable));
            }
        }
        let from_children = callable.len();
        self.below.clone_from(&callable);
        let mut functions = Vec::new();
        let least = usize::from(!self.options.odd && self.options.hir_functions > 0);
        for _ in 0..least.max(self.rng.below(self.options.hir_functions + 1)) {
            let name = self.new_name("f");
            let function = match self.options.parts && self.rng.once_in(4) {
                true => self.prototype(name.as_str(), &callable),
                false => {
                    let function = self.function(name.as_str(), &callable);
                    let converts = self.options.parts && self.rng.once_in(3);
                    if converts { self.with_converter(function, &callable) } else { function }
                }
            };
            callable.push(function);
            functions.push(AnyFunction::Hir(function));
        }
        let mut instances = Vec::new();
        let own = callable[from_children..].to_vec();
        if self.options.parts && self.options.odd && !own.is_empty() {
            for number in 0..self.rng.below(3) {
                let of = self.rng.pick(&own);
                let instance = self.instance(of, number, &callable);
                callable.push(instance);
                instances.push(instance);
            }
        }
        self.launched = functions.iter().map(|function| (function.name(), *function)).collect();
        for child in children.iter().flat_map(|child: &Child<'c>| child.modules()) {
            self.launched.extend(child.entry_function().map(|entry| (child.name, entry)));
        }
        let mut prims = Vec::new();
        for _ in 0..self.rng.below(self.options.tir_functions + 1) {
            let name = self.new_name("p");
            let function = self.prim_function(name.as_str(), &prims);
            prims.push(function);
            self.launched.push((function.name, AnyFunction::Tir(function)));
            functions.push(AnyFunction::Tir(function));
        }
        if self.options.odd && self.rng.once_in(2) {
            functions.reverse();
        }
        let entry = (!functions.is_empty() && self.rng.once_in(2)).then(|| self.rng.pick(&functions).name());
        let count = if self.options.odd { self.rng.below(3) } else { 0 };
        let methods: Vec<_> = (0..count).map(|at| self.method(["forward", "init caches"][at])).collect();
        (self.types, self.meshes, self.open, self.levels) = outer;
        let levels: Vec<_> = topologies.unwrap_or_default().iter().map(|_| self.meta().span).collect();
        let entry_span = entry.and_then(|_| self.meta().span);
        let header = HeaderSpans { target: None, entry: entry_span, levels: cx.alloc_slice(&levels) };
        let data = ModuleData {
            functions: cx.alloc_slice(&functions),
            instances: cx.alloc_slice(&instances),
            children: cx.alloc_slice(&children),
            methods: cx.alloc_slice(&methods),
            metadata: self.metadata(),
            entry,
            topologies,
            span: self.meta().span,
            header,
            ..ModuleData::new(cx.symbol(name))
        };
        (data, callable.split_off(from_children))
    }

    fn child(&mut self, depth: usize, callable: &mut Vec<Function<'c>>) -> Child<'c> {
        let cx = self.cx;
        let mut one = |generator: &mut Self| {
            let name = generator.new_name("c");
            let (data, functions) = generator.module_data(depth, name.as_str());
            // A call stays under the same levels.
            if data.topologies.is_none() {
                callable.extend(functions);
            }
            cx.module(data)
        };
        if self.rng.once_in(2) {
            return Child::One(one(self));
        }
        let least = usize::from(!self.options.odd);
        let modules: Vec<_> = (0..least + self.rng.below(3)).map(|_| one(self)).collect();
        Child::Group(self.new_name("group"), cx.alloc_slice(&modules))
    }

    fn topologies(&mut self) -> Option<&'c [Topology<'c>]> {
        let cx = self.cx;
        if self.rng.once_in(2) {
            return None;
        }
        let all = [
            Topology { name: cx.symbol("cta"), size: Some(cx.dim(4)) },
            Topology { name: cx.symbol("thread"), size: None },
        ];
        Some(cx.topologies(&all[self.rng.below(2)..]))
    }

    fn metadata(&mut self) -> &'c [(Symbol<'c>, MetaValue<'c>)] {
        let cx = self.cx;
        let values = [
            MetaValue::None,
            MetaValue::Bool(true),
            MetaValue::Int(-3),
            MetaValue::Float(self.float().to_bits()),
            MetaValue::Str(cx.symbol("-O3 \"x\"")),
            MetaValue::List(cx.alloc_slice(&[MetaValue::Int(1), MetaValue::List(&[])])),
        ];
        let names = ["opt", "two words"];
        let count = if self.options.odd { self.rng.below(3) } else { 0 };
        let entries: Vec<_> = names[..count].iter().map(|name| (cx.symbol(name), self.rng.pick(&values))).collect();
        cx.alloc_slice(&entries)
    }
}
