//! Types, layouts, meshes and their aliases.

use std::fmt::Write;

use rustc_hash::{FxHashMap, FxHashSet};
use tf_types::{
    ComposedLayout, DimVar, Layout, Mesh, MeshLayout, OuterLayout, ShardAttr, ShardLayout, Storage, TensorLayout,
    TensorType, Topology, Type, TypeKind,
};

use crate::syntax::{LONGEST_INLINE, is_word, write_quoted, write_word};

/// Writes types and what they consist of. Every distinct one is rendered once.
pub struct TypeWriter<'c> {
    /// Without aliases everything is written where it stands, for messages.
    aliases: bool,
    definitions: String,
    taken: FxHashSet<String>,
    numbers: [u32; 3],
    types: FxHashMap<Type<'c>, Box<str>>,
    layouts: FxHashMap<TensorLayout<'c>, Box<str>>,
    meshes: FxHashMap<Mesh<'c>, Box<str>>,
    vars: FxHashMap<DimVar<'c>, Box<str>>,
}

/// Numbered aliases.
#[derive(Clone, Copy)]
enum Numbered {
    Type,
    Layout,
    Mesh,
}

/// Texts without aliases end here: a tuple type may share its fields and be exponentially longer than its definition.
const LONGEST_MESSAGE: usize = 2000;

impl<'c> TypeWriter<'c> {
    pub fn new(aliases: bool) -> Self {
        Self {
            aliases,
            definitions: String::new(),
            taken: FxHashSet::default(),
            numbers: [0; 3],
            types: FxHashMap::default(),
            layouts: FxHashMap::default(),
            meshes: FxHashMap::default(),
            vars: FxHashMap::default(),
        }
    }

    pub fn into_definitions(self) -> String {
        self.definitions
    }

    fn define(&mut self, name: &str, text: &str) {
        let _ = writeln!(self.definitions, "{name} = {text}");
    }

    /// The next free name; one may be taken by a dim variable.
    fn numbered(&mut self, kind: Numbered, text: &str) -> Box<str> {
        let prefix = match kind {
            Numbered::Type => "!t",
            Numbered::Layout => "#layout",
            Numbered::Mesh => "#mesh",
        };
        loop {
            let number = &mut self.numbers[kind as usize];
            let name = format!("{prefix}{number}");
            *number += 1;
            if !self.taken.contains(&name) {
                self.define(&name, text);
                self.taken.insert(name.clone());
                return name.into();
            }
        }
    }

    pub fn write_dim_var(&mut self, out: &mut String, var: DimVar<'c>) {
        if let Some(name) = self.vars.get(&var) {
            out.push_str(name);
            return;
        }
        let base = if is_word(var.name.as_str()) { format!("#{}", var.name) } else { "#dim".to_owned() };
        let mut name = base.clone();
        let mut number = 1;
        while self.aliases && self.taken.contains(&name) {
            name = format!("{base}_{number}");
            number += 1;
        }
        let mut text = "dim<".to_owned();
        write_quoted(&mut text, var.name.as_str());
        let _ = write!(text, ", {}, {}>", var.lo, var.hi);
        self.define(&name, &text);
        self.taken.insert(name.clone());
        out.push_str(&name);
        self.vars.insert(var, name.into());
    }

    /// Not recursive: fields may nest as deep as the program is long.
    pub fn write_type(&mut self, out: &mut String, ty: Type<'c>) {
        if let Some(text) = self.types.get(&ty) {
            out.push_str(text);
            return;
        }
        let mut stack = vec![ty];
        while let Some(&top) = stack.last() {
            let first = stack.len();
            match *top.data() {
                _ if self.types.contains_key(&top) => {}
                TypeKind::Tensor(_) | TypeKind::Unit => {}
                TypeKind::Tuple(fields) => stack.extend(fields.iter().filter(|f| !self.types.contains_key(f))),
                TypeKind::Callable { params, result } => {
                    stack.extend(params.iter().chain([&result]).filter(|f| !self.types.contains_key(f)));
                }
            }
            if stack.len() > first {
                stack[first..].reverse();
                continue;
            }
            if !self.types.contains_key(&top) {
                let text = self.render_type(top);
                self.types.insert(top, text);
            }
            stack.pop();
        }
        out.push_str(&self.types[&ty]);
    }

    fn render_type(&mut self, ty: Type<'c>) -> Box<str> {
        let mut text = String::new();
        match *ty.data() {
            TypeKind::Unit => text.push_str("unit"),
            TypeKind::Tensor(tensor) => self.render_tensor(&mut text, tensor),
            TypeKind::Tuple(fields) => {
                text.push_str("tuple<");
                self.rendered_list(&mut text, fields);
                text.push('>');
            }
            TypeKind::Callable { params, result } => {
                text.push('(');
                self.rendered_list(&mut text, params);
                text.push_str(") -> ");
                text.push_str(&self.types[&result]);
            }
        }
        if !self.aliases && text.len() > LONGEST_MESSAGE {
            return "tuple<…>".into();
        }
        if self.aliases && text.len() > LONGEST_INLINE {
            return self.numbered(Numbered::Type, &text);
        }
        text.into()
    }

    fn rendered_list(&self, text: &mut String, types: &[Type<'c>]) {
        for (at, ty) in types.iter().enumerate() {
            if at > 0 {
                text.push_str(", ");
            }
            text.push_str(&self.types[ty]);
        }
    }

    fn render_tensor(&mut self, text: &mut String, tensor: TensorType<'c>) {
        let TensorType { shape, dtype, layout, storage } = tensor;
        if shape.is_empty() && layout.is_none() && storage == Storage::Umat {
            text.push_str(dtype.name());
            return;
        }
        text.push_str("tensor<");
        for &dim in shape {
            match dim.as_const() {
                Some(value) if value >= 0 => {
                    let _ = write!(text, "{value}x");
                }
                _ => {
                    text.push('[');
                    self.write_dim(text, dim);
                    text.push_str("]x");
                }
            }
        }
        text.push_str(dtype.name());
        if let Some(layout) = layout {
            text.push_str(", ");
            self.write_layout(text, layout);
        }
        if storage != Storage::Gmem {
            text.push_str(", ");
            text.push_str(storage.name());
        }
        text.push('>');
    }

    pub fn write_layout(&mut self, out: &mut String, layout: TensorLayout<'c>) {
        if let Some(text) = self.layouts.get(&layout) {
            out.push_str(text);
            return;
        }
        let mut text = String::new();
        match layout {
            TensorLayout::Plain(plain) => {
                text.push_str("layout<");
                self.write_strided(&mut text, plain);
                text.push('>');
            }
            TensorLayout::Composed(composed) => self.write_composed(&mut text, composed),
            TensorLayout::Shard(shard) => self.render_shard(&mut text, shard),
        }
        let long = text.len() > LONGEST_INLINE || matches!(layout, TensorLayout::Shard(_));
        let text = if self.aliases && long { self.numbered(Numbered::Layout, &text) } else { text.into() };
        out.push_str(&text);
        self.layouts.insert(layout, text);
    }

    /// `(4, 8):(8, 1)`.
    fn write_strided(&mut self, out: &mut String, layout: Layout<'c>) {
        self.write_dims(out, layout.shape(), ['(', ')']);
        if let Some(strides) = layout.strides() {
            out.push(':');
            self.write_dims(out, strides, ['(', ')']);
        }
    }

    fn write_composed(&mut self, out: &mut String, composed: ComposedLayout<'c>) {
        out.push_str("composed<");
        if let Some(inner) = composed.inner {
            out.push_str("inner = ");
            self.write_strided(out, inner);
            out.push_str(", ");
        }
        out.push_str("offset = ");
        self.write_dim(out, composed.offset);
        if let Some(outer) = composed.outer {
            out.push_str(", outer = ");
            match outer {
                OuterLayout::Plain(layout) => self.write_strided(out, layout),
                OuterLayout::Shard(shard) => self.write_layout(out, TensorLayout::Shard(shard)),
            }
        }
        out.push('>');
    }

    fn render_shard(&mut self, text: &mut String, shard: ShardLayout<'c>) {
        text.push_str("shard<");
        self.write_strided(text, shard.layout);
        text.push_str(", [");
        for (at, attr) in shard.attrs.iter().enumerate() {
            if at > 0 {
                text.push_str(", ");
            }
            match attr {
                ShardAttr::Split(axis) => {
                    let _ = write!(text, "S({axis})");
                }
                ShardAttr::Broadcast => text.push('B'),
                ShardAttr::Partial(reduction) => {
                    text.push_str("P(");
                    write_quoted(text, reduction.as_str());
                    text.push(')');
                }
                ShardAttr::Dynamic => text.push_str("dynamic"),
            }
        }
        text.push_str("], ");
        self.write_mesh(text, shard.mesh);
        text.push('>');
    }

    pub fn write_mesh(&mut self, out: &mut String, mesh: Mesh<'c>) {
        if let Some(text) = self.meshes.get(&mesh) {
            out.push_str(text);
            return;
        }
        let mut text = "mesh<[".to_owned();
        for (at, &level) in mesh.topologies.iter().enumerate() {
            text.push_str(if at > 0 { ", " } else { "" });
            self.write_level(&mut text, level);
        }
        text.push_str("], ");
        match mesh.layout {
            MeshLayout::Plain(layout) => self.write_strided(&mut text, layout),
            MeshLayout::Sliced(composed) => self.write_composed(&mut text, composed),
        }
        if !mesh.names.is_empty() {
            text.push_str(", [");
            for (at, name) in mesh.names.iter().enumerate() {
                if at > 0 {
                    text.push_str(", ");
                }
                write_word(&mut text, name.as_str());
            }
            text.push(']');
        }
        text.push('>');
        let text = if self.aliases { self.numbered(Numbered::Mesh, &text) } else { text.into() };
        out.push_str(&text);
        self.meshes.insert(mesh, text);
    }

    /// `cta = 8, thread = ?`.
    pub fn write_level(&mut self, out: &mut String, level: Topology<'c>) {
        write_word(out, level.name.as_str());
        out.push_str(" = ");
        match level.size {
            Some(size) => self.write_dim(out, size),
            None => out.push('?'),
        }
    }
}
