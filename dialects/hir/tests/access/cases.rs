//! A random small call of every op.

use tf_core::node::ExprKind;
use tf_core::op::OpInstance;
use tf_core::{Context, Expr, Literal, Meta};
use tf_hir::cuda::Orientation;
use tf_hir::{
    Approximation, Arange, ArgMax, Binary, CacheUpdate, Cast, Clamp, Concat, Conv2d, FullLike, Gelu, IndexAdd,
    IndexCopy, IndexSelect, InsertSlice, LayerNorm, MatMul, MmaSm80, Quant, QuantScheme, Rank, Reduce, Relu,
    RepeatInterleave, Reshape, Reshard, RmsNorm, Rope, ShapeOf, Sigmoid, Silu, Slice, Softmax, Softplus, Split, Stack,
    Tanh, TopK, Transpose, TupleGetItem, Unary, WgmmaSm90, Where, Zeros,
};
use tf_types::kinds::{BinaryKind, ReduceKind, UnaryKind};
use tf_types::{DType, Dim, Storage, TensorLayout, Type};

use crate::draw::{Draw, Fill, Leaf};

/// An op and the tensors of its operands; only a tuple has several.
pub struct Case<'c> {
    pub op: OpInstance<'c>,
    pub operands: Vec<Vec<Leaf>>,
}

/// Makes cases; extents are drawn from `extents`.
pub struct Cases<'a, 'c> {
    pub cx: &'a Context<'c>,
    pub draw: Draw,
    pub extents: &'a [usize],
}

fn leaf(shape: &[usize], dtype: DType, fill: Fill) -> Vec<Leaf> {
    vec![Leaf { shape: shape.to_vec(), dtype, fill }]
}

fn float(shape: &[usize]) -> Vec<Leaf> {
    leaf(shape, DType::F32, Fill::Any)
}

impl<'c> Cases<'_, 'c> {
    fn extent(&mut self) -> usize {
        self.draw.pick(self.extents)
    }

    fn shape(&mut self, least: usize, most: usize) -> Vec<usize> {
        let rank = least + self.draw.below(most - least + 1);
        (0..rank).map(|_| self.extent()).collect()
    }

    fn dims(&self, shape: &[usize]) -> Vec<Dim<'c>> {
        shape.iter().map(|&extent| self.cx.dim(extent as i64)).collect()
    }

    /// What broadcasts to the shape.
    fn thinned(&mut self, shape: &[usize]) -> Vec<usize> {
        let missing = if self.draw.one_in(3) { self.draw.below(shape.len() + 1) } else { 0 };
        shape[missing..].iter().map(|&extent| if self.draw.one_in(4) { 1 } else { extent }).collect()
    }

    /// Two shapes that broadcast to `shape`: one of them is it.
    fn pair(&mut self, shape: &[usize]) -> [Vec<usize>; 2] {
        let thin = self.thinned(shape);
        if self.draw.one_in(2) { [thin, shape.to_vec()] } else { [shape.to_vec(), thin] }
    }

    /// As an axis or counted from the end.
    fn signed(&mut self, axis: usize, rank: usize) -> i64 {
        axis as i64 - if self.draw.one_in(2) { rank as i64 } else { 0 }
    }

    /// A window of `size` on an axis: its first index, as a literal or as a value.
    fn start(&mut self, room: usize) -> Vec<Leaf> {
        let fill = match self.draw.below(3) {
            0 => Fill::Literal(0),
            1 => Fill::Literal(self.draw.below(room + 1) as i64),
            _ => Fill::Between(0, room as i64),
        };
        leaf(&[], DType::I64, fill)
    }

    /// The factors of the extents, in their order, in other groups.
    fn regrouped(&mut self, shape: &[usize]) -> Vec<usize> {
        let mut groups = vec![1];
        for &extent in shape {
            let mut rest = extent;
            while rest > 1 {
                let factor = (2..=rest).find(|factor| rest % factor == 0).unwrap_or(rest);
                if self.draw.one_in(3) {
                    groups.push(1);
                }
                *groups.last_mut().unwrap() *= factor;
                rest /= factor;
            }
        }
        groups
    }

    /// A case of the op; panics for an op it does not know, so that none is forgotten.
    pub fn case(&mut self, name: &str) -> Case<'c> {
        let cx = self.cx;
        let tensor_type = |shape: &[Dim<'c>], dtype| cx.tensor(shape, dtype, None, Storage::Gmem);
        let (op, operands) = match name {
            "binary" => {
                let (kind, shape) = (self.draw.pick(BinaryKind::ALL), self.shape(0, 3));
                let dtype = match kind {
                    BinaryKind::And | BinaryKind::Or | BinaryKind::Eq | BinaryKind::Ne => DType::Bool,
                    BinaryKind::FloorDiv | BinaryKind::Mod => DType::I32,
                    _ => DType::F32,
                };
                (Binary::new(cx, kind), self.pair(&shape).map(|shape| leaf(&shape, dtype, Fill::Any)).to_vec())
            }
            "unary" => {
                let kinds: Vec<_> = UnaryKind::ALL.iter().copied().filter(|kind| *kind != UnaryKind::Cast).collect();
                let kind = self.draw.pick(&kinds);
                let dtype = if kind == UnaryKind::Not { DType::Bool } else { DType::F32 };
                (Unary::new(cx, kind), vec![leaf(&self.shape(0, 3), dtype, Fill::Any)])
            }
            "clamp" => (Clamp::new(cx, -1.0, 1.5), vec![float(&self.shape(0, 3))]),
            "softplus" => (Softplus::new(cx), vec![float(&self.shape(0, 3))]),
            "relu" => (Relu::new(cx), vec![float(&self.shape(0, 3))]),
            "sigmoid" => (Sigmoid::new(cx), vec![float(&self.shape(0, 3))]),
            "tanh" => (Tanh::new(cx), vec![float(&self.shape(0, 3))]),
            "silu" => (Silu::new(cx), vec![float(&self.shape(0, 3))]),
            "gelu" => {
                let form = self.draw.pick(Approximation::ALL);
                (Gelu::new(cx, form), vec![float(&self.shape(0, 3))])
            }
            "cast" => (Cast::new(cx, DType::BF16), vec![float(&self.shape(0, 3))]),
            "full_like" => (FullLike::new(cx, 1.5), vec![float(&self.shape(0, 3))]),
            "shape_of" => (ShapeOf::new(cx), vec![float(&self.shape(0, 3))]),
            "rank" => (Rank::new(cx), vec![float(&self.shape(0, 3))]),
            "reshard" => (Reshard::new(cx, None, None), vec![float(&self.shape(0, 3))]),
            "arange" => {
                let shape = self.shape(1, 1);
                (Arange::new(cx, tensor_type(&self.dims(&shape), DType::I64), None, 2), vec![])
            }
            "zeros" => {
                let shape = self.shape(0, 3);
                (Zeros::new(cx, tensor_type(&self.dims(&shape), DType::F32)), vec![])
            }
            "where" => {
                let shape = self.shape(0, 3);
                let condition = leaf(&self.thinned(&shape), DType::Bool, Fill::Any);
                let [input, other] = self.pair(&shape).map(|shape| float(&shape));
                (Where::new(cx), vec![condition, input, other])
            }
            "reshape" => {
                let shape = self.shape(0, 3);
                let new = self.regrouped(&shape);
                (Reshape::new(cx, cx.dims(&self.dims(&new))), vec![float(&shape)])
            }
            "transpose" => {
                let shape = self.shape(0, 3);
                let perm: Vec<_> = self.draw.order(shape.len()).into_iter().map(|axis| axis as i64).collect();
                (Transpose::new(cx, cx.alloc_slice(&perm)), vec![float(&shape)])
            }
            "slice" => self.slice(),
            "insert_slice" => {
                let shape = self.shape(1, 3);
                let update: Vec<_> = shape.iter().map(|&extent| self.window(extent)).collect();
                let mut operands = vec![float(&shape), float(&update)];
                operands.extend(shape.iter().zip(&update).map(|(extent, size)| self.start(extent - size)));
                (InsertSlice::new(cx), operands)
            }
            "concat" => {
                let shape = self.shape(1, 3);
                let axis = self.draw.below(shape.len());
                let input = |cases: &mut Self| {
                    let mut input = shape.clone();
                    input[axis] = cases.extent();
                    float(&input)
                };
                let operands = (0..=self.draw.below(3)).map(|_| input(self)).collect();
                (Concat::new(cx, self.signed(axis, shape.len())), operands)
            }
            "stack" => {
                let shape = self.shape(0, 2);
                let axis = self.draw.below(shape.len() + 1);
                let count = 1 + self.draw.below(3);
                (Stack::new(cx, self.signed(axis, shape.len() + 1)), vec![float(&shape); count])
            }
            "split" => {
                let shape = self.shape(1, 3);
                let axis = self.draw.below(shape.len());
                let divisors: Vec<_> = (1..=shape[axis]).filter(|parts| shape[axis].is_multiple_of(*parts)).collect();
                let parts = self.draw.pick(&divisors);
                (Split::new(cx, self.signed(axis, shape.len()), parts as i64), vec![float(&shape)])
            }
            "tuple_get_item" => {
                let fields: Vec<_> = (0..3).flat_map(|_| float(&self.shape(0, 2))).collect();
                (TupleGetItem::new(cx, self.draw.below(3) as i64), vec![fields])
            }
            "reduce" => {
                let shape = self.shape(0, 3);
                let count = self.draw.below(shape.len() + 1);
                let axes: Vec<_> =
                    self.draw.order(shape.len()).into_iter().take(count).map(|axis| axis as i64).collect();
                let kind = self.draw.pick(ReduceKind::ALL);
                (Reduce::new(cx, cx.alloc_slice(&axes), self.draw.one_in(2), kind), vec![float(&shape)])
            }
            "argmax" => {
                let (shape, axis) = self.searched();
                (ArgMax::new(cx, self.signed(axis, shape.len())), vec![float(&shape)])
            }
            "topk" => {
                let (shape, axis) = self.searched();
                let k = 1 + self.draw.below(shape[axis]);
                let axis = self.signed(axis, shape.len());
                (TopK::new(cx, cx.dim(k as i64), axis, self.draw.one_in(2), true), vec![float(&shape)])
            }
            "softmax" => {
                let (shape, axis) = self.searched();
                (Softmax::new(cx, self.signed(axis, shape.len())), vec![float(&shape)])
            }
            "rms_norm" => {
                let (mut shape, _) = self.searched();
                *shape.last_mut().unwrap() = self.extent().max(2);
                (RmsNorm::new(cx, 0.5), vec![float(&shape), float(&shape[shape.len() - 1..])])
            }
            "layer_norm" => {
                let (mut shape, _) = self.searched();
                *shape.last_mut().unwrap() = self.extent().max(2);
                let first = self.draw.below(shape.len());
                let affine = float(&shape[first..]);
                (LayerNorm::new(cx, self.signed(first, shape.len()), 0.5), vec![float(&shape), affine.clone(), affine])
            }
            "index_select" => {
                let shape = self.shape(1, 3);
                let axis = self.draw.below(shape.len());
                let index = leaf(&[self.extent()], DType::I64, Fill::Between(0, shape[axis] as i64 - 1));
                (IndexSelect::new(cx, self.signed(axis, shape.len())), vec![float(&shape), index])
            }
            "index_add" | "index_copy" => {
                let shape = self.shape(1, 3);
                let axis = self.draw.below(shape.len());
                let mut source = shape.clone();
                source[axis] = 1 + self.draw.below(shape[axis]);
                let index = leaf(&[source[axis]], DType::I64, Fill::Distinct(shape[axis]));
                let dim = self.signed(axis, shape.len());
                let op = if name == "index_add" { IndexAdd::new(cx, dim) } else { IndexCopy::new(cx, dim) };
                (op, vec![float(&shape), index, float(&source)])
            }
            "cache_update" => {
                let (mut cache, length) = (self.shape(4, 4), self.extent());
                let mut new = cache.clone();
                cache[1] = length + self.draw.below(3);
                new[1] = length;
                let number = |fill| leaf(&[1, 1][..], DType::I32, fill);
                let position = number(Fill::Between(0, (cache[1] - length) as i64));
                let count = leaf(&[], DType::I32, Fill::Between(1, length as i64));
                (CacheUpdate::new(cx), vec![float(&cache), position, count, float(&new)])
            }
            "quant" => {
                let mut shape = self.shape(1, 3);
                let group = 2 * (1 + self.draw.below(2));
                *shape.last_mut().unwrap() *= group;
                (Quant::new(cx, QuantScheme::PerTokenGroup, group as i64, None), vec![float(&shape)])
            }
            "repeat_interleave" => {
                let shape = self.shape(1, 3);
                let axis = self.draw.below(shape.len());
                let repeats = 1 + self.draw.below(3) as i64;
                (RepeatInterleave::new(cx, repeats, self.signed(axis, shape.len())), vec![float(&shape)])
            }
            "matmul" => {
                let (batch, [m, k, n]) = (self.shape(0, 2), [self.extent(), self.extent(), self.extent()]);
                let with = |mut batch: Vec<usize>, matrix: [usize; 2]| {
                    batch.extend(matrix);
                    float(&batch)
                };
                let [left, right] = self.pair(&batch);
                (MatMul::new(cx), vec![with(left, [m, k]), with(right, [k, n])])
            }
            "conv2d" => self.conv2d(),
            "rope" => {
                let (batch, length, size) = (self.shape(0, 1), self.extent(), 2 * self.extent());
                let heads = |cases: &mut Self| {
                    let mut shape = batch.clone();
                    shape.extend([length, cases.extent(), size]);
                    float(&shape)
                };
                let (q, k, rows) = (heads(self), heads(self), 1 + self.draw.below(4));
                let positions = leaf(&self.regrouped(&[length]), DType::I64, Fill::Between(0, rows as i64 - 1));
                (Rope::new(cx), vec![q, k, float(&[rows, size]), float(&[rows, size]), positions])
            }
            "mma_sm80_16x8x16" => {
                let (half, acc) = (DType::F16, DType::F32);
                let op = MmaSm80::new(cx, half, half, acc, Orientation::T, Orientation::N);
                (op, vec![leaf(&[16, 16], half, Fill::Any), leaf(&[16, 8], half, Fill::Any)])
            }
            "wgmma_sm90_64x128x16" => {
                let (half, acc) = (DType::F16, DType::F32);
                let op = WgmmaSm90::new(cx, half, half, acc, Orientation::T, Orientation::N);
                (op, vec![leaf(&[64, 16], half, Fill::Any), leaf(&[16, 128], half, Fill::Any)])
            }
            other => panic!("no cases of `{other}`"),
        };
        Case { op, operands }
    }

    /// A shape with an axis of 2 elements or more, over which a comparison depends on all.
    fn searched(&mut self) -> (Vec<usize>, usize) {
        let mut shape = self.shape(1, 3);
        let axis = self.draw.below(shape.len());
        shape[axis] = shape[axis].max(2);
        (shape, axis)
    }

    /// The size of a window, now and then the whole axis.
    fn window(&mut self, extent: usize) -> usize {
        if self.draw.one_in(2) { extent } else { 1 + self.draw.below(extent) }
    }

    fn slice(&mut self) -> (OpInstance<'c>, Vec<Vec<Leaf>>) {
        let shape = self.shape(0, 3);
        let (mut sizes, mut strides, mut starts) = (Vec::new(), Vec::new(), Vec::new());
        for &extent in &shape {
            let size = self.window(extent);
            let most = if size > 1 { (extent - 1) / (size - 1) } else { 2 };
            let stride = if self.draw.one_in(2) { 1 } else { 1 + self.draw.below(most) };
            sizes.push(size);
            strides.push(stride);
            starts.push(self.start(extent - 1 - (size - 1) * stride));
        }
        let (sizes, strides) = (self.dims(&sizes), self.dims(&strides));
        let mut operands = vec![float(&shape)];
        operands.extend(starts);
        (Slice::new(self.cx, self.cx.dims(&sizes), self.cx.dims(&strides)), operands)
    }

    fn conv2d(&mut self) -> (OpInstance<'c>, Vec<Vec<Leaf>>) {
        let groups = self.draw.pick(&[1, 1, 2]);
        let (per_group, out) = (self.extent(), groups * self.extent());
        let pair = |cases: &mut Self, least: usize, count: usize| -> [usize; 2] {
            [0, 1].map(|_| least + cases.draw.below(count))
        };
        let (stride, padding, dilation) = (pair(self, 1, 2), pair(self, 0, 2), pair(self, 1, 2));
        let kernel = pair(self, 1, 2);
        let image = [0, 1].map(|axis| self.extent().max((kernel[axis] - 1) * dilation[axis] + 1));
        let input = float(&[self.extent(), groups * per_group, image[0], image[1]]);
        let weight = float(&[out, per_group, kernel[0], kernel[1]]);
        let ints = |pair: [usize; 2]| self.cx.alloc_slice(&pair.map(|n| n as i64));
        let op = Conv2d::new(self.cx, ints(stride), ints(padding), ints(dilation), groups as i64);
        (op, vec![input, weight, float(&[out])])
    }
}

/// The operands as expressions; a tensor has the layout that `layout` gives for operand and shape.
pub fn operands<'c>(
    cx: &Context<'c>,
    case: &Case<'c>,
    mut layout: impl FnMut(usize, &Leaf) -> (Option<TensorLayout<'c>>, Storage),
) -> Vec<Expr<'c>> {
    let mut leaf = |at: usize, leaf: &Leaf| {
        if let Fill::Literal(value) = leaf.fill {
            return cx.constant(Literal::Int(value), leaf.dtype, Meta::default());
        }
        let shape: Vec<_> = leaf.shape.iter().map(|&extent| cx.dim(extent as i64)).collect();
        let (layout, storage) = layout(at, leaf);
        cx.var(cx.symbol("x"), cx.tensor(&shape, leaf.dtype, layout, storage), Meta::default())
    };
    let operand = |(at, leaves): (usize, &Vec<Leaf>)| match &leaves[..] {
        [one] => leaf(at, one),
        fields => {
            let fields: Vec<_> = fields.iter().map(|field| leaf(at, field)).collect();
            let types: Vec<Type<'c>> = fields.iter().map(|field| field.ty()).collect();
            cx.expr(ExprKind::Tuple(cx.alloc_slice(&fields)), cx.tuple(&types), Meta::default())
        }
    };
    case.operands.iter().enumerate().map(operand).collect()
}
