//! Hidden shape scalars.

use tf_core::hidden::{
    forwarded_shape_scalars, hidden_scalar, mentioned_shape_scalars, shape_scalar, shape_scalar_name, shape_scalars,
};
use tf_core::node::{PrimFunctionData, TirCallee};
use tf_core::{Context, Expr, PrimFunction, StmtKind};
use tf_types::DType;

use crate::common::{cuda, dim, rows, tensor, var, with_context};

fn prim<'c>(cx: &Context<'c>, params: &[Expr<'c>]) -> PrimFunction<'c> {
    let (name, params) = (cx.symbol("p"), cx.alloc_slice(params));
    let body = cx.stmt(StmtKind::Return, None);
    cx.prim_function(PrimFunctionData { name, params, body, output_count: 0, target: cuda(cx), doc: None, span: None })
}

#[test]
fn a_scalar_is_hidden_by_name_type_and_axis() {
    with_context(|cx| {
        let x = var(cx, "x_shape_0", rows(cx));
        let i32 = cx.scalar(DType::I32);
        let is_hidden = |name: &str, ty| hidden_scalar(&[x], var(cx, name, ty)).is_some();
        // Split at the last `_shape_`.
        assert!(is_hidden("x_shape_0_shape_1", i32));
        assert!(!is_hidden("x_shape_0_shape_2", i32), "the rank is 2");
        assert!(!is_hidden("x_shape_0_shape_01", i32) && !is_hidden("x_shape_0_shape_", i32));
        assert!(!is_hidden("y_shape_0", i32), "no such parameter");
        assert!(!is_hidden("x_shape_0_shape_1", cx.scalar(DType::I64)));
        assert!(!is_hidden("x_shape_0_shape_1", rows(cx)));
        let scalar = shape_scalar(cx, x, 1);
        assert_eq!(scalar.var_name(), Some(shape_scalar_name(cx, cx.symbol("x_shape_0"), 1)));
        assert!(hidden_scalar(&[x], scalar) == Some((x, 1)));
        assert!(hidden_scalar(&[scalar], scalar).is_none(), "its base is no tensor");
    });
}

#[test]
fn hidden_parameters_come_last_in_order() {
    with_context(|cx| {
        let (b, a) = (var(cx, "b", tensor(cx, &[cx.dim(4), dim(cx, "N", 1, 5)])), var(cx, "a", rows(cx)));
        let scalars = shape_scalars(cx, &[b, a]);
        let names: Vec<_> = scalars.iter().map(|s| s.var_name().unwrap().to_string()).collect();
        assert_eq!(names, ["a_shape_0", "b_shape_1"]);
        let p = prim(cx, &[b, a, scalars[0], scalars[1]]);
        assert!(p.visible_params() == [b, a]);
        assert!(p.hidden_params() == [(scalars[0], a, 0), (scalars[1], b, 1)]);
        let p = cx.prim_function(PrimFunctionData { output_count: 1, ..*p });
        assert!(p.inputs_and_outputs() == (vec![b], vec![a]), "hidden parameters are no outputs");
        assert!(p.misplaced_hidden_param().is_none());
        assert!(prim(cx, &[b, scalars[1], a]).misplaced_hidden_param() == Some(scalars[1]));
    });
}

#[test]
fn an_authored_function_takes_what_its_body_mentions() {
    with_context(|cx| {
        let n = dim(cx, "N", 1, 5);
        let params = [
            var(cx, "c", tensor(cx, &[cx.dim(4), n])),
            var(cx, "a", rows(cx)),
            var(cx, "b", tensor(cx, &[n, dim(cx, "M", 1, 3)])),
        ];
        let names = |body| -> Vec<String> {
            let scalars = mentioned_shape_scalars(cx, &params, body);
            scalars.iter().map(|scalar| scalar.var_name().unwrap().to_string()).collect()
        };
        let done = cx.stmt(StmtKind::Return, None);
        assert!(names(done).is_empty());
        // The first parameter that has `N` as an axis is `c`; `M` is mentioned nowhere.
        let half = tensor(cx, &[cx.dim_floor_div(n, cx.dim(2))]);
        let bound = StmtKind::Let { var: var(cx, "h", half), value: var(cx, "v", half), body: done };
        assert_eq!(names(cx.stmt(bound, None)), ["c_shape_1"]);
        let effect =
            StmtKind::Evaluate { callee: TirCallee::Symbol(cx.symbol("g")), args: cx.alloc_slice(&params[1..2]) };
        let both = [cx.stmt(effect, None), cx.stmt(bound, None)];
        assert_eq!(names(cx.stmt(StmtKind::Sequential(cx.alloc_slice(&both)), None)), ["c_shape_1", "a_shape_0"]);
    });
}

#[test]
fn callers_pass_extents_of_their_parameters() {
    with_context(|cx| {
        let callee_params = [var(cx, "a", rows(cx)), shape_scalar(cx, var(cx, "a", rows(cx)), 0)];
        let callee = prim(cx, &callee_params);
        let (x, y) = (var(cx, "x", rows(cx)), var(cx, "y", rows(cx)));
        assert!(forwarded_shape_scalars(callee, &[y], &[x, y]) == Ok(vec![(y, 0)]));
        let local = var(cx, "local", rows(cx));
        assert!(forwarded_shape_scalars(callee, &[local], &[x, y]) == Ok(vec![(x, 0)]), "the same dim");
        assert!(forwarded_shape_scalars(callee, &[local], &[]) == Err(callee_params[1]));
    });
}
