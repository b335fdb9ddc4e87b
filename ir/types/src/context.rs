//! The factory of interned values.

use std::cell::RefCell;
use std::hash::Hash;
use std::sync::Arc;

use bumpalo_herd::Member;
use rustc_hash::FxHashMap;

use crate::arena::advise_huge_pages;
use crate::dim::{DimKind, DimOp, DimVar};
use crate::intern::{Interner, Symbol};
use crate::layout::{ComposedLayoutData, LayoutData, OuterLayout};
use crate::mesh::{MeshData, MeshLayout, are_positional};
use crate::shard::ShardLayoutData;
use crate::{
    Arena, ComposedLayout, DType, Dim, Layout, Mesh, ShardAttr, ShardLayout, Storage, TensorLayout, TensorType,
    Topology, Type, TypeKind,
};

#[derive(Default)]
struct Tables<'c> {
    strings: Interner<'c, str>,
    dims: Interner<'c, DimKind<'c>>,
    dim_lists: Interner<'c, [Dim<'c>]>,
    symbol_lists: Interner<'c, [Symbol<'c>]>,
    topology_lists: Interner<'c, [Topology<'c>]>,
    attr_lists: Interner<'c, [ShardAttr<'c>]>,
    type_lists: Interner<'c, [Type<'c>]>,
    layouts: Interner<'c, LayoutData<'c>>,
    composed: Interner<'c, ComposedLayoutData<'c>>,
    meshes: Interner<'c, MeshData<'c>>,
    shards: Interner<'c, ShardLayoutData<'c>>,
    types: Interner<'c, TypeKind<'c>>,
}

/// Makes interned symbols, dims, layouts, meshes and types in an [`Arena`].
///
/// A context belongs to one thread; [`TypeContext::fork`] makes one for another thread that shares
/// the tables, so that values of both are equal iff they are the same pointer.
pub struct TypeContext<'c> {
    tables: Arc<Tables<'c>>,
    arena: &'c Arena,
    bump: Member<'c>,
    /// Symbols this thread has asked for, to keep the hot path free of locks.
    seen: RefCell<FxHashMap<&'c str, Symbol<'c>>>,
    /// Of the compound dims that this thread has met.
    pub(crate) normal_forms: RefCell<FxHashMap<Dim<'c>, Dim<'c>>>,
}

impl<'c> TypeContext<'c> {
    /// A context with empty tables.
    #[must_use]
    pub fn new(arena: &'c Arena) -> Self {
        Self::over(Arc::default(), arena)
    }

    /// A context for another thread over the same tables.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self::over(Arc::clone(&self.tables), self.arena)
    }

    fn over(tables: Arc<Tables<'c>>, arena: &'c Arena) -> Self {
        Self { tables, arena, bump: arena.member(), seen: RefCell::default(), normal_forms: RefCell::default() }
    }

    /// How many bytes of the arena this context has filled.
    #[must_use]
    pub fn arena_bytes(&self) -> usize {
        let bump = self.bump.as_bump();
        bump.allocated_bytes() - bump.chunk_capacity()
    }

    /// Copies a value into the arena.
    pub fn alloc<T: Copy>(&self, value: T) -> &'c T {
        let room = self.bump.as_bump().chunk_capacity();
        let place: &'c T = self.bump.alloc(value);
        if room < size_of::<T>() {
            advise_huge_pages(std::ptr::from_ref(place).addr(), self.bump.as_bump().chunk_capacity());
        }
        place
    }

    /// Copies a slice into the arena.
    pub fn alloc_slice<T: Copy>(&self, values: &[T]) -> &'c [T] {
        if values.is_empty() { &[] } else { self.bump.alloc_slice_copy(values) }
    }

    /// Copies a string into the arena, without interning it.
    pub fn alloc_str(&self, text: &str) -> &'c str {
        self.bump.alloc_str(text)
    }

    fn unique<T: Copy + Hash + Eq>(&self, table: &Interner<'c, T>, value: T) -> &'c T {
        table.intern(&value, || self.bump.alloc(value))
    }

    fn unique_slice<T: Copy + Hash + Eq>(&self, table: &Interner<'c, [T]>, values: &[T]) -> &'c [T] {
        table.intern(values, || self.bump.alloc_slice_copy(values))
    }

    /// The symbol of that text.
    pub fn symbol(&self, text: &str) -> Symbol<'c> {
        if let Some(&symbol) = self.seen.borrow().get(text) {
            return symbol;
        }
        let symbol = Symbol(self.tables.strings.intern(text, || self.bump.alloc_str(text)));
        self.seen.borrow_mut().insert(symbol.0, symbol);
        symbol
    }

    /// The unique slice of these symbols.
    pub fn symbols(&self, names: &[Symbol<'c>]) -> &'c [Symbol<'c>] {
        self.unique_slice(&self.tables.symbol_lists, names)
    }

    /// The integer as a dim.
    pub fn dim(&self, value: i64) -> Dim<'c> {
        Dim(self.unique(&self.tables.dims, DimKind::Const(value)))
    }

    /// A dim variable; its bounds satisfy `lo < hi`.
    pub fn dim_var(&self, var: DimVar<'c>) -> Dim<'c> {
        Dim(self.unique(&self.tables.dims, DimKind::Var(var)))
    }

    /// `lhs op rhs`, neither folded nor normalised.
    pub fn dim_op(&self, op: DimOp, lhs: Dim<'c>, rhs: Dim<'c>) -> Dim<'c> {
        Dim(self.unique(&self.tables.dims, DimKind::Op(op, lhs, rhs)))
    }

    /// The unique slice of these dims, as they are.
    pub fn dims(&self, dims: &[Dim<'c>]) -> &'c [Dim<'c>] {
        self.unique_slice(&self.tables.dim_lists, dims)
    }

    /// The unique slice of these integers as dims.
    pub fn const_dims(&self, values: &[i64]) -> &'c [Dim<'c>] {
        let dims: Vec<_> = values.iter().map(|&v| self.dim(v)).collect();
        self.dims(&dims)
    }

    /// A layout, its dims in normal form; `strides`, where given, has one entry per axis.
    pub fn layout(&self, shape: &[Dim<'c>], strides: Option<&[Dim<'c>]>) -> Layout<'c> {
        debug_assert!(strides.is_none_or(|s| s.len() == shape.len()));
        let data = LayoutData { shape: self.normal_dims(shape), strides: strides.map(|s| self.normal_dims(s)) };
        Layout(self.unique(&self.tables.layouts, data))
    }

    /// A composed layout, its offset in normal form.
    pub fn composed_layout(
        &self,
        inner: Option<Layout<'c>>,
        offset: Dim<'c>,
        outer: Option<OuterLayout<'c>>,
    ) -> ComposedLayout<'c> {
        let offset = self.simplify(offset);
        ComposedLayout(self.unique(&self.tables.composed, ComposedLayoutData { inner, offset, outer }))
    }

    /// A mesh, unchecked. Names that the axes have anyway are left out, so that both ways of writing it are one mesh.
    pub fn mesh(&self, topologies: &[Topology<'c>], layout: MeshLayout<'c>, names: &[Symbol<'c>]) -> Mesh<'c> {
        let names = if are_positional(names) { &[] } else { names };
        let data = MeshData { topologies: self.topologies(topologies), layout, names: self.symbols(names) };
        Mesh(self.unique(&self.tables.meshes, data))
    }

    /// The unique slice of these topologies, sizes in normal form.
    pub fn topologies(&self, topologies: &[Topology<'c>]) -> &'c [Topology<'c>] {
        let normal = |t: &Topology<'c>| Topology { name: t.name, size: t.size.map(|size| self.simplify(size)) };
        let normal: Vec<_> = topologies.iter().map(normal).collect();
        self.unique_slice(&self.tables.topology_lists, &normal)
    }

    /// A placement with attributes on layout axes, unchecked.
    pub fn shard_layout(&self, layout: Layout<'c>, attrs: &[ShardAttr<'c>], mesh: Mesh<'c>) -> ShardLayout<'c> {
        let attrs = self.unique_slice(&self.tables.attr_lists, attrs);
        ShardLayout(self.unique(&self.tables.shards, ShardLayoutData { layout, attrs, mesh }))
    }

    fn type_of(&self, kind: TypeKind<'c>) -> Type<'c> {
        Type(self.unique(&self.tables.types, kind))
    }

    /// A tensor type; its extents get their normal form.
    pub fn tensor(
        &self,
        shape: &[Dim<'c>],
        dtype: DType,
        layout: Option<TensorLayout<'c>>,
        storage: Storage,
    ) -> Type<'c> {
        self.type_of(TypeKind::Tensor(TensorType { shape: self.normal_dims(shape), dtype, layout, storage }))
    }

    /// The same tensor type again, as a handle.
    pub fn tensor_type(&self, tensor: TensorType<'c>) -> Type<'c> {
        self.tensor(tensor.shape, tensor.dtype, tensor.layout, tensor.storage)
    }

    /// A rank-0 type without layout in `umat`: literals and induction variables.
    pub fn scalar(&self, dtype: DType) -> Type<'c> {
        self.tensor(&[], dtype, None, Storage::Umat)
    }

    /// A tuple type.
    pub fn tuple(&self, fields: &[Type<'c>]) -> Type<'c> {
        self.type_of(TypeKind::Tuple(self.types(fields)))
    }

    /// The unique slice of these types.
    pub fn types(&self, types: &[Type<'c>]) -> &'c [Type<'c>] {
        self.unique_slice(&self.tables.type_lists, types)
    }

    /// The unit type.
    pub fn unit(&self) -> Type<'c> {
        self.type_of(TypeKind::Unit)
    }

    /// A function type.
    pub fn callable(&self, params: &[Type<'c>], result: Type<'c>) -> Type<'c> {
        self.type_of(TypeKind::Callable { params: self.types(params), result })
    }
}
