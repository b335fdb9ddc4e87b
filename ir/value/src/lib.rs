//! Host values of the evaluator: typed arrays, their arithmetic, tensor files, comparison.
//!
//! Nothing here but [`rule`] and [`tir`] knows an IR node. A [`Tensor`] is an n-d array of one dtype; clones and views share
//! storage. All results are the same at any number of threads.

pub mod io;
pub mod rule;
pub mod tir;

mod activation;
mod assemble;
mod binary;
mod blocks;
mod cast;
mod compare;
mod conv;
mod element;
mod error;
mod extent;
mod fold;
mod fp8;
mod gather;
mod index;
mod kernel;
mod layout_view;
mod math;
mod matmul;
mod norm;
mod order;
mod pointwise;
mod product;
mod quant;
mod reduce;
mod rope;
mod rows;
mod tensor;
mod unary;
mod value;
mod vector;
mod view;

pub use activation::Activation;
pub use blocks::LargeBlocks;
pub use cast::promote;
pub use compare::{Comparison, Mismatch, Tolerance, compare};
pub use conv::ConvGeometry;
pub use element::{Element, Numeric, SharedArray};
pub use error::ValueError;
pub use extent::extent;
pub use fp8::{F8E8M0, Fp8E4M3};
pub use half::{bf16, f16};
pub use layout_view::{as_layout_view, from_layout_view};
pub use rule::{DialectBuilder, EvalCx, EvalRegistry, EvalRule, literal};
pub use tensor::{Tensor, element_count, f4e2m1_refused, show_shape};
pub use value::Value;
pub use view::{broadcast_shapes, normalize_axis};
