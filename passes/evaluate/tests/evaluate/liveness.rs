//! Values die at their last use: the op that uses them last is their only holder and may write its result over them.

use std::sync::Arc;

use tf_core::node::ModuleData;
use tf_core::op::{OpCall, RuleError, TypeRule};
use tf_core::{AnyFunction, Arena, Callee, Context, Expr, ExprKind, Meta, op};
use tf_evaluate::{Engine, Reference, Request, bind_dims};
use tf_hir::tensor::TupleGetItem;
use tf_types::{DType, Type};
use tf_value::{DialectBuilder, EvalCx, EvalRegistry, EvalRule, Tensor, Value, ValueError};

use crate::common::{add, function, grid, line, tensor, var};

/// Its operand, plus 1 where nobody else holds its elements.
#[op(dialect = "test", category = "test")]
struct Probe {
    /// The operand.
    #[input(Tensor)]
    x: (),
}

impl TypeRule for Probe {
    fn infer<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<Type<'c>, RuleError> {
        Ok(call.operands()[0].ty())
    }
}

impl EvalRule for Probe {
    fn eval<'c>(_: OpCall<'c, Self>, operands: &mut [Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        let x = std::mem::replace(&mut operands[0], Value::Tuple(Vec::new()));
        let array = x.as_tensor().and_then(Tensor::array::<f32>).cloned();
        drop(x);
        match array.ok_or_else(|| ValueError::new("f32 is expected"))?.try_into_owned_nocopy() {
            Ok(own) => Ok(Tensor::F32((own + 1.0).into_shared()).into()),
            Err(shared) => Ok(Tensor::F32(shared).into()),
        }
    }
}

fn context(arena: &Arena) -> (Context<'_>, Arc<EvalRegistry>) {
    let mut builder = DialectBuilder::default();
    tf_hir::register(&mut builder);
    builder.op::<Probe>().types().evaluates().done();
    let (ops, rules) = builder.freeze().unwrap();
    (Context::new(arena, ops), rules)
}

fn probe<'c>(cx: &Context<'c>, x: Expr<'c>) -> Expr<'c> {
    cx.call(Probe::new(cx), &[x], Meta::default()).unwrap()
}

/// What `body` gives for an `x` of one zero, which this function holds all the time.
fn run<'c>(cx: &Context<'c>, rules: &Arc<EvalRegistry>, x: Expr<'c>, body: Expr<'c>) -> Vec<f32> {
    let f = function(cx, "f", &[x], body);
    let entry = AnyFunction::Hir(f);
    let module = cx.module(ModuleData { functions: cx.alloc_slice(&[entry]), ..ModuleData::new(cx.symbol("m")) });
    let input = Tensor::zeros(&[1], DType::F32).unwrap();
    let inputs = std::slice::from_ref(&input);
    let dims = bind_dims(f.params, inputs, f.span).unwrap();
    let request = Request { cx, module, entry, inputs, outputs: &[], dims: &dims, argument: None };
    let outputs = Reference::new(Arc::clone(rules)).run(&request).unwrap();
    assert_eq!(input.to_f32_vec(), [0.0], "an input is never written");
    outputs.iter().flat_map(Tensor::to_f32_vec).collect()
}

#[test]
fn the_last_use_is_the_only_holder() {
    let arena = Arena::new();
    let (cx, rules) = &context(&arena);
    let x = var(cx, "x", tensor(cx, &[cx.dim(1)], DType::F32));
    let made = add(cx, x, x);
    assert_eq!(run(cx, rules, x, probe(cx, x)), [0.0], "the caller holds its input");
    assert_eq!(run(cx, rules, x, probe(cx, made)), [1.0]);
    assert_eq!(run(cx, rules, x, probe(cx, probe(cx, made))), [2.0]);
    // `made` is used again.
    let both = ExprKind::Tuple(cx.alloc_slice(&[probe(cx, made), made]));
    let both = cx.expr(both, cx.tuple(&[made.ty(), made.ty()]), Meta::default());
    assert_eq!(run(cx, rules, x, both), [0.0, 0.0]);
}

#[test]
fn loops_and_calls_hand_values_on() {
    let arena = Arena::new();
    let (cx, rules) = &context(&arena);
    let ty = tensor(cx, &[cx.dim(1)], DType::F32);
    let x = var(cx, "x", ty);
    let (i, carry) = (var(cx, "i", cx.scalar(DType::I64)), var(cx, "carry", ty));
    let made = add(cx, x, x);
    let four = |init, step| grid(cx, i, cx.dim(4), &[(carry, init, step)], None);
    let looped = four(made, probe(cx, carry));
    assert_eq!(run(cx, rules, x, looped), [4.0], "the first value of a carry and each later one");
    assert_eq!(run(cx, rules, x, probe(cx, looped)), [5.0], "the result of a loop");
    // What does not depend on the iteration is computed once, before the loop, and `made` dies there.
    assert_eq!(run(cx, rules, x, four(x, add(cx, carry, probe(cx, made)))), [4.0]);
    assert_eq!(run(cx, rules, x, probe(cx, add(cx, made, four(x, add(cx, carry, made))))), [1.0]);
    let y = var(cx, "y", ty);
    let callee = function(cx, "g", &[y], probe(cx, y));
    let call = |arg| {
        let kind = ExprKind::Call { callee: Callee::Function(callee), args: cx.alloc_slice(&[arg]) };
        cx.expr(kind, ty, Meta::at(line(cx, 3)))
    };
    assert_eq!(run(cx, rules, x, call(made)), [1.0], "an argument");
    assert_eq!(run(cx, rules, x, probe(cx, call(made))), [2.0], "the value of a call");
    assert_eq!(run(cx, rules, x, call(x)), [0.0]);
}

#[test]
fn a_field_dies_at_its_last_use_though_the_tuple_lives_on() {
    let arena = Arena::new();
    let (cx, rules) = &context(&arena);
    let ty = tensor(cx, &[cx.dim(1)], DType::F32);
    let x = var(cx, "x", ty);
    let pair = || {
        let fields = [add(cx, x, x), add(cx, x, add(cx, x, x))];
        cx.expr(ExprKind::Tuple(cx.alloc_slice(&fields)), cx.tuple(&[ty, ty]), Meta::default())
    };
    let field = |tuple, index| cx.call(TupleGetItem::new(cx, index), &[tuple], Meta::default()).unwrap();
    let tuple = pair();
    let body = add(cx, probe(cx, field(tuple, 0)), probe(cx, field(tuple, 1)));
    assert_eq!(run(cx, rules, x, body), [2.0], "each get is the last of its field");
    let tuple = pair();
    let body = add(cx, probe(cx, field(tuple, 0)), field(tuple, 0));
    let shared = run(cx, rules, x, body);
    assert_eq!(shared, [0.0], "another get of the field comes later");
    let tuple = pair();
    let body = cx.expr(
        ExprKind::Tuple(cx.alloc_slice(&[probe(cx, field(tuple, 1)), tuple])),
        cx.tuple(&[ty, tuple.ty()]),
        Meta::default(),
    );
    assert_eq!(run(cx, rules, x, body), [0.0; 3], "the tuple itself is used");
}

#[test]
fn what_nobody_uses_is_let_go() {
    let arena = Arena::new();
    let (cx, rules) = &context(&arena);
    let ty = tensor(cx, &[cx.dim(1)], DType::F32);
    let x = var(cx, "x", ty);
    let (y, unused) = (var(cx, "y", ty), var(cx, "unused", ty));
    // The same value is argument of both parameters, so that one that stays alive is a second holder.
    let callee = function(cx, "g", &[unused, y], probe(cx, y));
    let made = add(cx, x, x);
    let kind = ExprKind::Call { callee: Callee::Function(callee), args: cx.alloc_slice(&[made, made]) };
    let called = cx.expr(kind, ty, Meta::at(line(cx, 3)));
    assert_eq!(run(cx, rules, x, called), [1.0], "a parameter");
    // Two fields are one value, of which nobody gets the first; the tuple lives until the get of the third.
    let fields = cx.alloc_slice(&[made, made, add(cx, made, x)]);
    let tuple = cx.expr(ExprKind::Tuple(fields), cx.tuple(&[ty; 3]), Meta::default());
    let field = |index| cx.call(TupleGetItem::new(cx, index), &[tuple], Meta::default()).unwrap();
    assert_eq!(run(cx, rules, x, add(cx, probe(cx, field(1)), field(2))), [1.0], "a field");
}
