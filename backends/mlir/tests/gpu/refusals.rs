//! What has no device form is refused at its statement.
use tf_core::{
    AnyFunction, Arena, Diagnostic, Literal, Meta, Module, Span,
    node::{FunctionData, ModuleData},
};
use tf_mlir::{Session, emit::emit_module};
use tf_tir::{arith::unary::Unary, memory::fill::Fill, nn::mma::Mma, sync::barrier::Sync};
use tf_types::{DType, Storage, kinds::UnaryKind};

use crate::{
    common::context,
    tir::{Kernel, mesh, place},
};

fn refusal<'c>(cx: &tf_core::Context<'c>, module: Module<'c>) -> Diagnostic {
    let session = Session::new();
    emit_module(&session, module, cx.sources()).map(|m| m.as_operation().to_string()).unwrap_err()
}

/// A kernel with one more statement, made by `f`, at line 3.
fn at_line_3(f: impl for<'a, 'c> FnOnce(&mut Kernel<'a, 'c>)) -> Diagnostic {
    let arena = Arena::new();
    let cx = context(&arena);
    let file = cx.sources().add("k.py", "");
    let mut k = Kernel::new(&cx);
    k.param(&[64], DType::F32);
    k.span = Some(Span::new(file, (3, 5), (3, 9)));
    f(&mut k);
    let error = refusal(&cx, k.finish(1, 64));
    assert_eq!(error.span.map(|s| (s.line.get(), s.column)), Some((3, 5)), "{error:?}");
    error
}

#[test]
fn storages_without_a_device_form() {
    for storage in [Storage::Tmem, Storage::Gmem, Storage::Host] {
        let error = at_line_3(|k| {
            let ty = k.cx.tensor(k.cx.const_dims(&[64]), DType::F32, None, storage);
            k.alloc(ty);
        });
        assert_eq!(error.message, format!("a buffer in {storage} cannot be allocated by device code"));
    }
}

#[test]
fn too_much_in_one_position() {
    let error = at_line_3(|k| {
        let ty = k.cx.tensor(k.cx.const_dims(&[256, 64]), DType::F32, None, Storage::Rmem);
        k.alloc(ty);
    });
    assert_eq!(error.message, "one position would hold 16384 elements at once, more than 2048");
    let error = at_line_3(|k| {
        k.shared(&[256, 64], DType::F32);
    });
    assert_eq!(error.message, "`f` needs 65536 bytes of shared memory, a CTA has 49152");
}

#[test]
fn too_many_multiply_adds_in_one_position() {
    let error = at_line_3(|k| {
        let [c, a, b] = [[40, 48], [40, 42], [42, 48]].map(|shape| {
            let ty = k.cx.tensor(k.cx.const_dims(&shape), DType::F32, None, Storage::Rmem);
            k.alloc(ty)
        });
        k.effect(Mma::new(k.cx, None), &[c, a, b]);
    });
    assert_eq!(error.message, "one position would run 80640 multiply-adds in one `T.mma`, more than 65536");
}

#[test]
fn matrix_instructions() {
    let atom = "SM80_16x8x16_F32BF16BF16F32_TN";
    let error = at_line_3(|k| {
        let [c, a, b] = [[16, 8], [16, 16], [16, 8]].map(|shape| {
            let ty = k.cx.tensor(k.cx.const_dims(&shape), DType::F32, None, Storage::Rmem);
            k.alloc(ty)
        });
        k.effect(Mma::new(k.cx, Some(k.cx.symbol(atom))), &[c, a, b]);
    });
    assert_eq!(error.message, format!("the matrix instruction `{atom}` has no form in device code yet"));
}

#[test]
fn barriers_of_some_threads() {
    let error = at_line_3(|k| {
        let half = mesh(k.cx, &[("thread", 32)], &[32]);
        k.effect(Sync::new(k.cx, half), &[]);
    });
    assert_eq!(error.message, "`T.sync` of all 32 threads of a mesh, but the CTA has 64");
    let error = at_line_3(|k| {
        let grid = mesh(k.cx, &[("cta", 8)], &[8]);
        k.effect(Sync::new(k.cx, grid), &[]);
    });
    assert_eq!(error.message, "`T.sync` of all CTAs is not built yet");
}

#[test]
fn meshes_larger_than_the_launch() {
    let error = at_line_3(|k| {
        let large = mesh(k.cx, &[("thread", 128)], &[128]);
        let placed = place(k.cx, &[128], large, "S0");
        let x = k.shared(&[128], DType::F32);
        k.load(x, &[128], placed);
    });
    assert_eq!(error.message, "mesh axis `a0` needs 128 threads in a CTA, the launch starts 64");
}

#[test]
fn operands_that_lie_elsewhere() {
    let error = at_line_3(|k| {
        let threads = mesh(k.cx, &[("thread", 64)], &[2, 32]);
        let [a, b] = ["S0 S1", "S1 S0"].map(|attrs| place(k.cx, &[64, 64], threads, attrs));
        let (x, y) = (k.registers(&[64, 64], DType::F32, a), k.registers(&[64, 64], DType::F32, b));
        let one = k.float(1.0, DType::F32);
        k.effect(Fill::new(k.cx), &[x, one]);
        k.effect(Unary::new(k.cx, UnaryKind::Neg), &[x, y]);
    });
    assert_eq!(error.message, "a position does not hold the elements of this operand that it needs");
    let error = at_line_3(|k| {
        let threads = mesh(k.cx, &[("thread", 64)], &[2, 32]);
        let placed = place(k.cx, &[64], threads, "B S0");
        let x = k.registers(&[64], DType::F32, placed);
        k.effect(Unary::new(k.cx, UnaryKind::Neg), &[x, x]);
    });
    assert_eq!(error.message, "a register is read before it is written");
}

#[test]
fn a_product_over_a_split_k() {
    let error = at_line_3(|k| {
        let threads = mesh(k.cx, &[("thread", 64)], &[2, 32]);
        let [c, a, b] = ["B B", "S1 B", "S0 B"].map(|attrs| place(k.cx, &[4, 4], threads, attrs));
        let [c, a, b] = [c, a, b].map(|placed| {
            let tile = k.registers(&[4, 4], DType::F32, placed);
            let one = k.float(1.0, DType::F32);
            k.effect(Fill::new(k.cx), &[tile, one]);
            tile
        });
        k.effect(Mma::new(k.cx, None), &[c, a, b]);
    });
    assert_eq!(error.message, "`T.mma` needs the whole of k at each position, but k is split");
}

#[test]
fn modules_that_are_not_lowered() {
    let arena = Arena::new();
    let cx = context(&arena);
    let value = cx.constant(Literal::Float(1.0), DType::F32, Meta::default());
    let name = cx.symbol("g");
    let function = cx.function(FunctionData::new(name, &[], value, value.ty()));
    let data = ModuleData::new(name);
    let functions = cx.alloc_slice(&[AnyFunction::Hir(function)]);
    let error = refusal(&cx, cx.module(ModuleData { functions, ..data }));
    assert_eq!(error.message, "function `g` is HIR, code is emitted from TIR");
    assert_eq!(error.help.as_deref(), Some("run lower-tir first"));

    let mut k = Kernel::new(&cx);
    k.param(&[4], DType::F32);
    let kernel = k.finish(1, 32).lookup("f").unwrap();
    let functions = cx.alloc_slice(&[kernel]);
    let error = refusal(&cx, cx.module(ModuleData { functions, ..data }));
    assert_eq!(error.message, "nothing launches `f`, so its grid and block are unknown");
}
