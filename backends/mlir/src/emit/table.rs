//! Emission rules by op: a new TIR op is one file with its rule and one line in [`EmissionTable::builtin`].
use crate::emit::gpu::{self, Buffer, KernelCx};
use rustc_hash::FxHashMap;
use tf_core::{
    Diagnostic, Expr, Result,
    op::{Op, OpCall, OpView},
};

/// How an effect op is emitted inside a kernel.
pub(crate) trait EmitEffect: Op {
    /// Positions of the operands that it writes.
    const WRITES: &'static [usize];

    /// Appends what it does.
    ///
    /// # Errors
    /// What has no device form.
    fn emit<'a, 'c>(call: OpCall<'c, Self>, cx: &mut KernelCx<'a, 'c>) -> Result<()>;
}

/// How a value op that a `Let` binds is emitted inside a kernel.
pub(crate) trait EmitBuffer: Op {
    /// The buffer that `var` names.
    ///
    /// # Errors
    /// What has no device form.
    fn emit<'a, 'c>(call: OpCall<'c, Self>, var: Expr<'c>, cx: &mut KernelCx<'a, 'c>) -> Result<Buffer<'a, 'c>>;
}

type EffectFn = for<'a, 'c> fn(OpView<'c>, &mut KernelCx<'a, 'c>) -> Result<()>;
type BufferFn = for<'a, 'c> fn(OpView<'c>, Expr<'c>, &mut KernelCx<'a, 'c>) -> Result<Buffer<'a, 'c>>;

/// The rules of all ops, by the key of the op's name.
#[derive(Default)]
pub(crate) struct EmissionTable {
    effects: FxHashMap<u64, (EffectFn, &'static [usize])>,
    buffers: FxHashMap<u64, BufferFn>,
}

fn effect<'c, O: EmitEffect>(view: OpView<'c>, cx: &mut KernelCx<'_, 'c>) -> Result<()> {
    O::emit(tf_core::op::rules::typed(view), cx)
}

fn buffer<'a, 'c, O: EmitBuffer>(view: OpView<'c>, var: Expr<'c>, cx: &mut KernelCx<'a, 'c>) -> Result<Buffer<'a, 'c>> {
    O::emit(tf_core::op::rules::typed(view), var, cx)
}

impl EmissionTable {
    /// The rules of dialect `T`.
    pub(crate) fn builtin() -> Self {
        let mut table = Self::default();
        gpu::register(&mut table);
        table
    }

    pub(crate) fn effect<O: EmitEffect>(&mut self) {
        self.effects.insert(O::DECL.name.key, (effect::<O>, O::WRITES));
    }

    pub(crate) fn buffer<O: EmitBuffer>(&mut self) {
        self.buffers.insert(O::DECL.name.key, buffer::<O>);
    }

    /// The operands that a call of an effect op writes.
    pub(crate) fn writes<'c>(&self, view: OpView<'c>) -> impl Iterator<Item = Expr<'c>> {
        let positions = self.effects.get(&view.op.decl.name.key).map_or(&[][..], |(_, writes)| *writes);
        positions.iter().filter_map(move |&at| view.args.get(at).copied())
    }

    /// Emits an effect.
    ///
    /// # Errors
    /// An op without a rule, or what the rule refuses.
    pub(crate) fn emit_effect<'c>(&self, view: OpView<'c>, cx: &mut KernelCx<'_, 'c>) -> Result<()> {
        let rule = self.effects.get(&view.op.decl.name.key).ok_or_else(|| no_rule(view))?;
        rule.0(view, cx)
    }

    /// Emits the value of a `Let`.
    ///
    /// # Errors
    /// An op without a rule, or what the rule refuses.
    pub(crate) fn emit_buffer<'a, 'c>(
        &self,
        view: OpView<'c>,
        var: Expr<'c>,
        cx: &mut KernelCx<'a, 'c>,
    ) -> Result<Buffer<'a, 'c>> {
        let rule = self.buffers.get(&view.op.decl.name.key).ok_or_else(|| no_rule(view))?;
        rule(view, var, cx)
    }
}

fn no_rule(view: OpView<'_>) -> Diagnostic {
    Diagnostic::error(format!("`{}` has no form in device code", view.op.decl.name))
}
