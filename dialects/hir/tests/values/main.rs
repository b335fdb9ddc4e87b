//! Every op against an implementation by indices: each form and dtype, ranks 0 to 6, empty and large extents, strided views, operands that
//! others hold and ones that nobody does, special numbers.
//!
//! An op that is registered has a row in [`OPS`]: without one the test fails by its name.

mod arrange;
mod draw;
mod hostile;
mod math;
mod nd;
mod placed;
mod round;
mod rows;
mod run;
mod search;
mod sums;
mod want;

use tf_types::DType;
use tf_types::kinds::{BinaryKind, ReduceKind, UnaryKind};

use draw::{Case, Gen};

/// A case of the op; `None` where there is none of that rank.
type Make = for<'c> fn(&mut Gen<'_, 'c>) -> Option<Case<'c>>;

/// An op, how many forms its attributes make that are worth a case each, and its cases.
const OPS: &[(&str, usize, Make)] = &[
    ("binary", BinaryKind::ALL.len(), math::binary),
    ("clamp", math::BOUNDS.len(), math::clamp),
    ("softplus", 1, math::softplus),
    ("unary", UnaryKind::ALL.len(), math::unary),
    ("arange", 1, arrange::arange),
    ("argmax", 1, search::argmax),
    ("cache_update", 1, arrange::cache_update),
    ("cast", DType::ALL.len(), math::cast),
    ("concat", 1, arrange::concat),
    ("full_like", math::FULL.len(), math::full_like),
    ("index_add", 1, search::index_add),
    ("index_copy", 1, search::index_copy),
    ("index_select", 1, search::index_select),
    ("insert_slice", 1, arrange::insert_slice),
    ("quant", 1, rows::quant),
    ("rank", 1, arrange::rank),
    ("reduce", ReduceKind::ALL.len(), sums::reduce),
    ("repeat_interleave", 1, arrange::repeat_interleave),
    ("reshape", 1, arrange::reshape),
    ("shape_of", 1, arrange::shape_of),
    ("slice", 1, arrange::slice),
    ("split", 1, arrange::split),
    ("stack", 1, arrange::stack),
    ("topk", 4, search::topk),
    ("transpose", 1, arrange::transpose),
    ("tuple_get_item", 1, arrange::tuple_get_item),
    ("where", 1, math::choose),
    ("zeros", 1, arrange::zeros),
    ("conv2d", 1, sums::conv2d),
    ("gelu", 2, math::gelu),
    ("layer_norm", 1, rows::layer_norm),
    ("matmul", 1, sums::matmul),
    ("relu", 1, math::relu),
    ("rms_norm", 1, rows::rms_norm),
    ("rope", 1, rows::rope),
    ("sigmoid", 1, math::sigmoid),
    ("silu", 1, math::silu),
    ("softmax", 1, rows::softmax),
    ("tanh", 1, math::tanh),
    ("local", 2, placed::local),
    ("reshard", 3, placed::reshard),
    ("mma_sm80_16x8x16", sums::INSTRUCTIONS.len(), sums::mma),
    ("wgmma_sm90_64x128x16", sums::INSTRUCTIONS.len(), sums::wgmma),
];

#[test]
fn every_op_has_a_row() {
    let arena = tf_core::Arena::new();
    let (cx, _) = &run::context(&arena);
    let registered: Vec<_> = cx.ops().iter().map(|(_, decl)| decl.name.name).collect();
    let without: Vec<_> = registered.iter().filter(|name| !OPS.iter().any(|(op, ..)| op == *name)).collect();
    assert!(
        without.is_empty(),
        "no naive twin of {without:?}: add a row to `OPS` and what the op computes, by indices"
    );
    assert!(OPS.iter().all(|(name, ..)| registered.contains(name)));
}

/// The rows number `part` of every `parts`.
fn check(part: usize, parts: usize) {
    let wrong: Vec<String> = OPS.iter().skip(part).step_by(parts).flat_map(|row| run::all(*row)).collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
}

#[test]
fn values_are_right_part_0() {
    check(0, 4);
}

#[test]
fn values_are_right_part_1() {
    check(1, 4);
}

#[test]
fn values_are_right_part_2() {
    check(2, 4);
}

#[test]
fn values_are_right_part_3() {
    check(3, 4);
}
