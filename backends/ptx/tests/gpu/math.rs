//! Every math function compiles for the GPU without a vendor library.
use crate::common::assemble;
use melior::ir::{
    Block, BlockLike, Location, Module, Region, RegionLike, Type,
    attribute::{StringAttribute, TypeAttribute},
    operation::OperationBuilder,
    r#type::FunctionType,
};
use tf_mlir::{MathBuilder, MathFn, Session, Target};
use tf_ptx::{PtxOptions, compile};

/// A kernel that replaces the first element of its buffer by a function of it.
fn kernel<'s>(session: &'s Session, function: MathFn) -> Module<'s> {
    let context = session.context();
    let location = Location::unknown(context);
    let r#type = |text: &str| Type::parse(context, text).unwrap();
    let identifier = |name: &str| melior::ir::Identifier::new(context, name);
    let (buffer, float, index) = (r#type("memref<1xf32>"), r#type("f32"), r#type("index"));

    let block = Block::new(&[(buffer, location)]);
    let memory = block.argument(0).unwrap().into();
    let zero = OperationBuilder::new("arith.constant", location)
        .add_results(&[index])
        .add_attributes(&[(identifier("value"), melior::ir::Attribute::parse(context, "0 : index").unwrap())]);
    let zero = block.append_operation(zero.build().unwrap()).result(0).unwrap().into();
    let load = OperationBuilder::new("memref.load", location).add_operands(&[memory, zero]).add_results(&[float]);
    let x = block.append_operation(load.build().unwrap()).result(0).unwrap().into();
    let y = MathBuilder::new(context, &block, location, Target::Gpu).unary(function, x).unwrap();
    let store = OperationBuilder::new("memref.store", location).add_operands(&[y, memory, zero]);
    block.append_operation(store.build().unwrap());
    block.append_operation(OperationBuilder::new("gpu.return", location).build().unwrap());
    let body = Region::new();
    body.append_block(block);

    let kernels = Block::new(&[]);
    let function = OperationBuilder::new("gpu.func", location).add_regions([body]).add_attributes(&[
        (identifier("sym_name"), StringAttribute::new(context, "f").into()),
        (identifier("function_type"), TypeAttribute::new(FunctionType::new(context, &[buffer], &[]).into()).into()),
        (identifier("gpu.kernel"), melior::ir::Attribute::unit(context)),
    ]);
    kernels.append_operation(function.build().unwrap());
    let region = Region::new();
    region.append_block(kernels);
    let module = Module::new(location);
    let holder = OperationBuilder::new("gpu.module", location)
        .add_regions([region])
        .add_attributes(&[(identifier("sym_name"), StringAttribute::new(context, "kernels").into())]);
    module.body().append_operation(holder.build().unwrap());
    module
}

#[test]
fn no_function_needs_a_library() {
    let session = Session::new();
    for function in MathFn::ALL {
        for arch in ["sm_80", "sm_90"] {
            let module = kernel(&session, function);
            let result = compile(&session, &module, &PtxOptions::new(arch.parse().unwrap())).unwrap();
            assert!(!result.ptx.contains("__nv_") && !result.ptx.contains("call"), "{}", result.ptx);
            let expected = match function {
                MathFn::Exp | MathFn::Exp2 | MathFn::Tanh | MathFn::Erf => "ex2.approx.f32",
                MathFn::Rsqrt => "rsqrt.approx.f32",
                MathFn::Sqrt => "sqrt.rn.f32",
                _ => "st.global",
            };
            assert!(result.ptx.contains(expected), "{function:?}: {}", result.ptx);
            assemble(&result.ptx, arch);
        }
    }
}
