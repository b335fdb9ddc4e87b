//! Ops position by position: each computes its part of the result from its parts of the operands.

mod conv;
mod exchange;
mod relation;
mod rope;
mod rows;
mod shape;

use std::rc::Rc;

pub use shape::entering;
use tf_core::op::{Op, OpView};
use tf_core::{Context, Expr};
use tf_hir as hir;
use tf_types::access::AccessRelation;
use tf_types::{Type, TypeKind};
use tf_value::rule::EvalFn;
use tf_value::{EvalCx, Tensor, Value};

use crate::dims::DimSizes;
use crate::mesh::digit::{Digit, Index, common};
use crate::mesh::fault::{Fault, Outcome, agreed};
use crate::mesh::parts::{Held, Parts, Take};
use crate::mesh::placement::{Cut, Holds, Placed};
use crate::mesh::transfer::aligned;

/// A tensor operand.
pub struct Operand<'c> {
    pub parts: Rc<Parts>,
    pub placed: Placed<'c>,
}

/// A call that is evaluated.
pub struct Call<'a, 'c> {
    pub cx: &'a Context<'c>,
    pub expr: Expr<'c>,
    pub view: OpView<'c>,
    pub rule: EvalFn,
    pub dims: &'a DimSizes<'c>,
    pub operands: Vec<Operand<'c>>,
    /// The placements of the result's tensors.
    pub results: Vec<Placed<'c>>,
    /// The axes of all meshes that occurred, with their names.
    pub axes: &'a [(Digit, String)],
}

type How = for<'a, 'b, 'c> fn(&'a Call<'b, 'c>) -> Outcome<'c, Vec<Parts>>;

/// Ops that are not evaluated by what their access relation says.
const TABLE: &[(u64, How)] = &[
    (hir::Reshard::DECL.name.key, shape::reshard),
    (hir::Local::DECL.name.key, shape::local),
    (hir::ShapeOf::DECL.name.key, shape::of_shape),
    (hir::Rank::DECL.name.key, shape::of_shape),
    (hir::FullLike::DECL.name.key, shape::full_like),
    (hir::Reshape::DECL.name.key, shape::reshape),
    (hir::Slice::DECL.name.key, shape::slice),
    (hir::Split::DECL.name.key, own),
    (hir::Quant::DECL.name.key, own),
    (hir::RepeatInterleave::DECL.name.key, own),
    (hir::IndexAdd::DECL.name.key, own),
    (hir::IndexCopy::DECL.name.key, own),
    (hir::IndexSelect::DECL.name.key, rows::index_select),
    (hir::InsertSlice::DECL.name.key, rows::insert_slice),
    (hir::CacheUpdate::DECL.name.key, rows::cache_update),
    (hir::Softmax::DECL.name.key, exchange::softmax),
    (hir::RmsNorm::DECL.name.key, exchange::rms_norm),
    (hir::MmaSm80::DECL.name.key, exchange::whole),
    (hir::WgmmaSm90::DECL.name.key, exchange::whole),
    (hir::Rope::DECL.name.key, rope::rope),
    (hir::Conv2d::DECL.name.key, conv::conv2d),
];

/// Ops whose operands may be Partial where their result is not.
const COMPLETING: &[u64] =
    &[hir::Reshard::DECL.name.key, hir::Local::DECL.name.key, hir::ShapeOf::DECL.name.key, hir::Rank::DECL.name.key];

/// The value of a call.
pub fn evaluate<'c>(call: &Call<'_, 'c>) -> Outcome<'c, Held> {
    let key = call.view.op.decl.name.key;
    if !COMPLETING.contains(&key) {
        check_terms(call)?;
    }
    let how = TABLE.iter().find(|(known, _)| *known == key).map_or(relation::by_relation as How, |(_, how)| *how);
    let meant: Vec<Digit> = call.operands.iter().flat_map(|operand| operand.parts.meant.iter().copied()).collect();
    let mut leaves = Vec::with_capacity(call.results.len());
    for (parts, placed) in how(call)?.into_iter().zip(&call.results) {
        let meant = [&meant[..], &parts.meant].concat();
        leaves.push(settled(parts.meant(&meant), placed)?);
    }
    Ok(held(call.expr.ty(), &mut leaves.into_iter()))
}

/// Terms that an operand holds along a mesh axis must be terms of the result too.
fn check_terms<'c>(call: &Call<'_, 'c>) -> Outcome<'c, ()> {
    for (operand, of) in call.operands.iter().enumerate() {
        for axis in &of.placed.mesh {
            let Holds::Terms(reduction) = axis.holds else { continue };
            let registry = &call.cx.ops().access;
            let relations = registry.get(call.view.op.id).map_or_else(Vec::new, |access| access(call.view, call.cx));
            let reads = |field: usize| {
                let of_field = |relation: &&AccessRelation<'c>| relation.field == field;
                relations.is_empty()
                    || relations.iter().filter(of_field).flat_map(|r| &r.reads).any(|read| read.operand == operand)
            };
            let held = |result: &Placed<'c>| {
                result.mesh.iter().any(|own| own.digit == axis.digit && matches!(own.holds, Holds::Terms(_)))
            };
            if !call.results.iter().enumerate().all(|(field, result)| !reads(field) || held(result)) {
                return Err(Fault::Terms { operand, reduction, axis: axis.name() });
            }
        }
    }
    Ok(())
}

/// A tensor of the result, checked against its type: the shape of a part, and that positions agree where they hold the same.
fn settled<'c>(parts: Parts, placed: &Placed<'c>) -> Outcome<'c, Rc<Parts>> {
    let (found, wanted) = (parts.tensors[0].shape(), placed.local_shape());
    if found != wanted {
        let [found, wanted] = [found, &wanted].map(tf_value::show_shape);
        return Err(format!("a position holds {found} of the result, where its type has {wanted}").into());
    }
    let parts = aligned(Rc::new(parts), placed)?;
    let same = |digit: &&Digit| placed.axis_of(digit).is_some_and(|axis| axis.holds == Holds::Same);
    let gone: Vec<Digit> =
        parts.digits.iter().filter(same).filter(|digit| !parts.meant.contains(digit)).copied().collect();
    if gone.is_empty() {
        return Ok(parts);
    }
    agreed(&parts, &gone, placed).map(Rc::new)
}

/// A value of that type made of its tensors.
pub fn held(ty: Type<'_>, leaves: &mut impl Iterator<Item = Rc<Parts>>) -> Held {
    match *ty.data() {
        TypeKind::Tuple(fields) => Held::Tuple(fields.iter().map(|&field| held(field, leaves)).collect()),
        _ => leaves.next().map_or(Held::Tuple(Vec::new()), Held::Tensor),
    }
}

/// An operand as positions read it: what they have, perhaps cut to what they need of it.
pub struct Input {
    pub parts: Rc<Parts>,
    pub cuts: Vec<Cut>,
}

impl Operand<'_> {
    /// As it is.
    pub fn own(&self) -> Input {
        Input { parts: Rc::clone(&self.parts), cuts: vec![Cut::new(); self.placed.shape.len()] }
    }
}

/// A position by its coordinates along the mesh axes that are told apart: `w=0 l=1`.
fn position(axes: &[(Digit, String)], known: &[Digit], at: &[usize]) -> String {
    let mut named: Vec<Digit> = Vec::new();
    let mut text = Vec::new();
    for (digit, name) in axes {
        let pieces: Vec<Digit> = known.iter().copied().filter(|piece| piece.lies_in(digit)).collect();
        if pieces.iter().all(|piece| named.contains(piece)) {
            continue;
        }
        text.push(format!("{name}={}", Index::new(known, &[*digit]).at(at)));
        named.extend(pieces);
    }
    text.join(" ")
}

/// Computes the tensors of a result at every position that the inputs tell apart.
pub fn at_positions<'c>(
    call: &Call<'_, 'c>,
    inputs: &[Input],
    mut compute: impl FnMut(Vec<Tensor>) -> Outcome<'c, Vec<Tensor>>,
) -> Outcome<'c, Vec<Parts>> {
    let cut: Vec<Digit> =
        inputs.iter().flat_map(|input| input.cuts.iter().flatten()).filter_map(|factor| factor.digit).collect();
    let known = common(inputs.iter().map(|input| &input.parts.digits[..]).chain([&cut[..]]))?;
    let readers: Vec<(Index, Take)> = inputs
        .iter()
        .map(|input| {
            let shape = input.parts.tensors[0].shape();
            (Index::new(&known, &input.parts.digits), Take::new(shape, &input.cuts, &known))
        })
        .collect();
    let mut found: Vec<Vec<Tensor>> = vec![Vec::new(); call.results.len()];
    crate::mesh::digit::each(&known, |at| {
        let tensors = inputs
            .iter()
            .zip(&readers)
            .map(|(input, (index, take))| take.part(&input.parts.tensors[index.at(at)], at).map_err(Fault::from));
        let results = compute(tensors.collect::<Outcome<'c, _>>()?);
        let results = results.map_err(|fault| fault.of_position(|| position(call.axes, &known, at)))?;
        found.iter_mut().zip(results).for_each(|(all, one)| all.push(one));
        Ok::<_, Fault<'c>>(())
    })?;
    let leaf = |(tensors, placed): (Vec<Tensor>, &Placed<'c>)| Parts {
        shape: placed.shape.clone(),
        digits: known.clone(),
        tensors,
        meant: Vec::new(),
    };
    Ok(found.into_iter().zip(&call.results).map(leaf).collect())
}

impl<'c> Call<'_, 'c> {
    /// The tensors that the op's own rule makes of these.
    pub fn apply(&self, operands: Vec<Tensor>) -> Outcome<'c, Vec<Tensor>> {
        let mut operands: Vec<Value> = operands.into_iter().map(Value::from).collect();
        let eval = EvalCx { dims: self.dims, result_type: self.expr.ty() };
        let (mut found, mut stack) = (Vec::new(), vec![(self.rule)(self.view, &mut operands, &eval)?]);
        while let Some(value) = stack.pop() {
            match value {
                Value::Tensor(tensor) => found.push(tensor),
                Value::Tuple(fields) => stack.extend(fields.into_iter().rev()),
            }
        }
        Ok(found)
    }
}

/// Every position computes from its own parts.
fn own<'c>(call: &Call<'_, 'c>) -> Outcome<'c, Vec<Parts>> {
    let inputs: Vec<Input> = call.operands.iter().map(Operand::own).collect();
    at_positions(call, &inputs, |tensors| call.apply(tensors))
}
