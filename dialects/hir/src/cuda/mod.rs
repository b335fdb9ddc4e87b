//! Matrix instructions as values: one tile of a product, with operands placed as the instruction holds them.

mod mma_sm80;
mod product;
mod wgmma_sm90;

pub use mma_sm80::MmaSm80;
pub use product::Orientation;
use tf_value::DialectBuilder;
pub use wgmma_sm90::WgmmaSm90;

pub(crate) fn register(r: &mut DialectBuilder) {
    mma_sm80::register(r);
    wgmma_sm90::register(r);
}
