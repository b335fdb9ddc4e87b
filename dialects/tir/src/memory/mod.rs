//! Buffers: allocation, views, data movement.

pub mod addresses;
pub mod alloc_tensor;
pub mod copy;
pub mod fill;
pub mod memory_span;
pub mod ptr_of;
pub mod tensor_view;
