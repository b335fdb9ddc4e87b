//! Modules: header, members, children.

use rustc_hash::FxHashMap;
use tf_core::node::{AnyFunction, Child, Function, MetaValue, Method, ModuleData, Target};
use tf_core::{Literal, Module, TargetKind};
use tf_types::Symbol;

use super::Parser;
use super::cursor::{Failed, Parsed};
use super::lexer::Kind;
use super::link::{Reference, Use};

/// A module before its functions are linked.
pub struct ModuleText<'c> {
    /// Without what stands between its braces.
    header: ModuleData<'c>,
    /// Indices in [`Parser::functions`].
    members: Vec<usize>,
    instances: Vec<usize>,
    children: Vec<ChildText<'c>>,
    methods: Vec<Method<'c>>,
}

enum ChildText<'c> {
    One(Box<ModuleText<'c>>),
    Group(Symbol<'c>, Vec<ModuleText<'c>>),
}

impl<'c> Parser<'_, '_, 'c> {
    /// The whole file.
    pub fn parse(mut self) -> Result<Module<'c>, Vec<tf_core::Diagnostic>> {
        self.alias_definitions();
        self.intrinsic_declarations();
        let root = self.module();
        if root.is_ok() && self.token.kind != Kind::End {
            self.expected("the end of the file");
        }
        self.check_references();
        match root {
            Ok(root) if self.errors.is_empty() => {
                let functions = self.linked()?;
                Ok(self.build(root, &functions))
            }
            _ => Err(self.errors),
        }
    }

    /// Makes the nodes, children first; the text bounds the nesting.
    fn build(&self, text: ModuleText<'c>, functions: &[AnyFunction<'c>]) -> Module<'c> {
        let ModuleText { header, members, instances, children, methods } = text;
        let members: Vec<_> = members.into_iter().map(|at| functions[at]).collect();
        let instance = |at| match functions[at] {
            AnyFunction::Hir(function) => Some(function),
            AnyFunction::Tir(_) => None,
        };
        let instances: Vec<Function<'c>> = instances.into_iter().filter_map(instance).collect();
        let mut below = Vec::with_capacity(children.len());
        for child in children {
            below.push(match child {
                ChildText::One(module) => Child::One(self.build(*module, functions)),
                ChildText::Group(name, modules) => {
                    let modules: Vec<_> = modules.into_iter().map(|module| self.build(module, functions)).collect();
                    Child::Group(name, self.cx.alloc_slice(&modules))
                }
            });
        }
        self.cx.module(ModuleData {
            functions: self.cx.alloc_slice(&members),
            instances: self.cx.alloc_slice(&instances),
            children: self.cx.alloc_slice(&below),
            methods: self.cx.alloc_slice(&methods),
            ..header
        })
    }

    /// `module @name … { members }`.
    fn module(&mut self) -> Parsed<ModuleText<'c>> {
        let header = self.module_header();
        if header.is_err() {
            // Members are read all the same, for their errors.
            while self.token.kind != Kind::End && !self.at(b'{') && !self.token.first {
                self.advance();
            }
            self.accept(b'{');
        }
        self.modules += 1;
        let mut text = ModuleText {
            header: *header.as_ref().unwrap_or(&ModuleData::new(self.cx.symbol(""))),
            members: Vec::new(),
            instances: Vec::new(),
            children: Vec::new(),
            methods: Vec::new(),
        };
        while self.token.kind != Kind::End && !self.at(b'}') {
            self.braces = self.modules;
            if self.member(&mut text).is_err() {
                self.skip_to_member();
            }
        }
        self.modules -= 1;
        let closed = self.close_module(header.is_ok());
        self.braces = self.modules;
        header?;
        closed?;
        Ok(text)
    }

    fn close_module(&mut self, report: bool) -> Parsed<()> {
        if self.accept(b'}') {
            return Ok(());
        }
        if report {
            self.expected("`}`");
        }
        Err(Failed)
    }

    fn member(&mut self, text: &mut ModuleText<'c>) -> Parsed<()> {
        let word = if self.token.kind == Kind::Word { self.text_of(self.token) } else { "" };
        match word {
            "hir.func" | "tir.func" => text.members.push(self.function()?),
            "hir.instance" => text.instances.push(self.function()?),
            "method" => text.methods.push(self.method()?),
            "module" => text.children.push(ChildText::One(Box::new(self.child()?))),
            "group" => {
                self.advance();
                let (_, name) = self.symbol("the name of the group")?;
                self.expect(b'{')?;
                self.modules += 1;
                let mut modules = Vec::new();
                while self.at_word("module") {
                    modules.push(self.child()?);
                }
                self.modules -= 1;
                self.expect(b'}')?;
                text.children.push(ChildText::Group(name, modules));
            }
            _ => {
                let failed = self.expected("`hir.func`, `tir.func`, `module`, `group`, `method` or `}`");
                self.advance();
                return Err(failed);
            }
        }
        Ok(())
    }

    fn child(&mut self) -> Parsed<ModuleText<'c>> {
        let outer = self.path;
        let child = self.nested(Self::module);
        self.path = outer;
        child
    }

    /// Leaves out what stands before the next member or the end of the module.
    pub fn skip_to_member(&mut self) {
        let level = self.modules;
        while self.token.kind != Kind::End && !self.at_member() && !(self.at(b'}') && self.braces <= level) {
            self.advance();
        }
        self.braces = level;
    }

    /// `module @name target("…") topology(…) entry(@f) metadata(…) {`.
    fn module_header(&mut self) -> Parsed<ModuleData<'c>> {
        self.expect_word("module")?;
        let (token, name) = self.symbol("the name of the module")?;
        if self.modules > 0 {
            let path: Vec<_> = self.path.iter().copied().chain([name]).collect();
            self.path = self.cx.symbols(&path);
        }
        let mut data = ModuleData::new(name);
        loop {
            if self.at_word("target") {
                let first = self.token;
                data.target = Some(self.target()?);
                data.header.target = self.location(self.span_from(first))?;
            } else if self.accept_word("topology") {
                let levels = self.list([b'(', b')'], |p| {
                    let first = p.token;
                    let level = p.level()?;
                    Ok((level, p.location(p.span_from(first))?))
                })?;
                let (levels, spans): (Vec<_>, Vec<_>) = levels.into_iter().unzip();
                data.topologies = Some(self.cx.topologies(&levels));
                data.header.levels = self.cx.alloc_slice(&spans);
            } else if self.accept_word("entry") {
                self.expect(b'(')?;
                let (token, name) = self.symbol("the name of a function")?;
                self.expect(b')')?;
                self.references.push(Reference { token, key: (self.path, name), how: Use::Entry });
                data.entry = Some(name);
                self.entries.insert(self.path, name);
                data.header.entry = self.location(self.span(token))?;
            } else if self.accept_word("metadata") {
                data.metadata = self.metadata()?;
            } else {
                break;
            }
        }
        data.span = self.location(self.span(token))?;
        self.expect(b'{')?;
        Ok(data)
    }

    /// `target("cpu")`, `target("nvidia.h200_sxm")`, `target("apple.m2_pro")`.
    pub fn target(&mut self) -> Parsed<Target<'c>> {
        self.expect_word("target")?;
        self.expect(b'(')?;
        let device = self.string()?;
        self.expect(b')')?;
        Ok(match device.as_str() {
            "cpu" => Target { kind: TargetKind::Cpu, device: self.cx.symbol("") },
            // Devices are named after their vendor.
            apple if apple.starts_with("apple.") => Target { kind: TargetKind::Amx, device },
            _ => Target { kind: TargetKind::Cuda, device },
        })
    }

    fn metadata(&mut self) -> Parsed<&'c [(Symbol<'c>, MetaValue<'c>)]> {
        let mut seen: FxHashMap<Symbol<'c>, ()> = FxHashMap::default();
        let entries = self.list([b'(', b')'], |p| {
            let token = p.token;
            let name = p.word_or_string("a name")?;
            if seen.insert(name, ()).is_some() {
                return Err(p.error_at(token, format!("`{name}` is given twice")));
            }
            p.expect(b'=')?;
            Ok((name, p.meta_value()?))
        })?;
        Ok(self.cx.alloc_slice(&entries))
    }

    fn meta_value(&mut self) -> Parsed<MetaValue<'c>> {
        if self.accept_word("none") {
            return Ok(MetaValue::None);
        }
        match self.token.kind {
            Kind::Str => Ok(MetaValue::Str(self.string()?)),
            Kind::Punct(b'[') => {
                let items = self.nested(|p| p.list([b'[', b']'], Self::meta_value))?;
                Ok(MetaValue::List(self.cx.alloc_slice(&items)))
            }
            _ => Ok(match self.literal("a value")? {
                Literal::Bool(v) => MetaValue::Bool(v),
                Literal::Int(v) => MetaValue::Int(v),
                Literal::Float(v) => MetaValue::Float(v.to_bits()),
            }),
        }
    }
}
