//! Allocations: memory that the device has.

use tf_core::op::OpCall;
use tf_core::{Expr, Span};
use tf_target::Device;
use tf_tir::held::Held;
use tf_tir::memory::addresses::addressed;
use tf_tir::memory::alloc_tensor::AllocTensor;
use tf_types::{DimVars, Storage, TensorType};

use super::Check;
use crate::verify::target;

/// Buffers in shared memory start at multiples of so many bytes.
const SHARED_ALIGNMENT: i64 = 16;
/// Bytes of a register.
const REGISTER: i64 = 4;

impl<'c> Check<'_, 'c> {
    /// What a binding allocates.
    pub(super) fn buffer(&mut self, value: Expr<'c>, span: Option<Span>) {
        let Some(view) = value.op_call() else { return };
        if let Some(alloc) = OpCall::<AllocTensor>::new(view)
            && let Some(tensor) = alloc.tensor_type().as_tensor()
        {
            self.extents(tensor, span);
            // A placement without static positions has no known size.
            if let (Some(device), Ok(held)) = (self.device, Held::of(tensor)) {
                self.fits(device, tensor, &held, span);
            }
        }
    }

    /// Dims of an allocation have values: from the shapes of parameters, or as sizes of levels that a launch decides.
    fn extents(&mut self, tensor: &TensorType<'c>, span: Option<Span>) {
        let mut used = DimVars::default();
        tensor.shape.iter().for_each(|&dim| used.add_dim(dim));
        let Some(&first) = used.as_slice().iter().find(|var| !self.dims.as_slice().contains(var)) else { return };
        let mut levels = DimVars::default();
        self.scope.meshes.iter().for_each(|mesh| levels.add_mesh(*mesh));
        if !levels.as_slice().contains(&first) {
            let message = format!(
                "dim `{}` is in the shape of the buffer, but no parameter of `{}` has it",
                first.name, self.function.name
            );
            self.errors.add(span, message).help =
                Some("dims get their values from the shapes of parameters".to_owned());
        }
    }

    /// Shared memory of a CTA and registers of its threads.
    fn fits(&mut self, device: &Device, tensor: &TensorType<'c>, held: &Held<'c>, span: Option<Span>) {
        let element = i64::from(tensor.dtype.bits().div_ceil(8));
        match tensor.storage {
            Storage::Smem => {
                let bytes = addressed(held).saturating_mul(element);
                let Ok(limit) = device.integer("shared_memory_per_cta") else { return };
                let before = self.shared_bytes;
                let aligned = bytes.saturating_add(SHARED_ALIGNMENT - 1) / SHARED_ALIGNMENT * SHARED_ALIGNMENT;
                self.shared_bytes = before.saturating_add(aligned);
                if before <= limit && self.shared_bytes > limit {
                    let message = format!(
                        "`{}` allocates {} bytes of smem, but a CTA of `{}` has {limit}",
                        self.function.name, self.shared_bytes, device.name
                    );
                    self.errors.add(span, message);
                }
            }
            Storage::Rmem => {
                let Ok(registers) = device.integer("registers_per_sm") else { return };
                let threads = self.scope.threads().unwrap_or(1);
                let held_bytes = (held.local_len() as i64).saturating_mul(element);
                let needed = held_bytes.saturating_mul(threads) / REGISTER;
                if needed > registers {
                    let message = format!(
                        "a buffer in rmem needs {needed} registers for {threads} threads, but an SM of `{}` has {registers}",
                        device.name
                    );
                    self.errors.add(span, message).help =
                        Some("split it over more threads, or put it into smem".to_owned());
                }
            }
            storage => target::storage(&mut self.errors, device, storage, span),
        }
    }
}
