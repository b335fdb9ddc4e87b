//! Metadata of expressions, extents.

use tf_core::equal::structurally_equal;
use tf_core::node::constraint::{AxisConstraint, BindingConstraint, ConstraintData, LayoutConstraint};
use tf_core::node::{Constraint, FunctionData};
use tf_core::{Diagnostic, Meta, Span};
use tf_types::{DType, Storage, Symbol};

use crate::common::{identity, made, module, rows, var, with_context};

#[test]
fn at_most_one_of_a_class_in_its_place() {
    with_context(|cx| {
        let file = cx.sources().add("k.py", "x = y\n");
        let span = Span::new(file, (1, 1), (1, 6));
        let plain = var(cx, "x", rows(cx));
        assert_eq!(plain.binding_name(), None);
        assert_eq!(plain.diagnostic_location(cx.sources()), None);
        assert!(plain.remove_metadata::<Symbol<'_>>(cx) == plain);
        let named = plain.replace_metadata(cx, cx.symbol("a"));
        assert!(named != plain && plain.binding_name().is_none());
        assert_eq!(named.binding_name(), Some(cx.symbol("a")));
        assert_eq!(named.diagnostic_location(cx.sources()).as_deref(), Some("a"));
        let both = named.replace_metadata(cx, span);
        assert_eq!(both.metadata::<Span>(), Some(span));
        assert_eq!(both.metadata::<Symbol<'_>>(), Some(cx.symbol("a")));
        assert_eq!(both.diagnostic_location(cx.sources()).as_deref(), Some("k.py:1:1"));
        assert_eq!(both.replace_metadata(cx, cx.symbol("b")).binding_name(), Some(cx.symbol("b")));
        let data = ConstraintData { layout: None, mesh: None, storage: Some(Storage::Smem) };
        let constrained = both.replace_metadata(cx, cx.constraint(data).unwrap());
        assert!(constrained.metadata::<Constraint<'_>>().is_some());
        assert_eq!(constrained.source_metadata(), Meta::at(span).named(cx.symbol("a")));
        assert_eq!(constrained.remove_metadata::<Span>(cx).span(), None);
    });
}

#[test]
fn metadata_labels_and_documentation_are_no_part_of_equality() {
    with_context(|cx| {
        let plain = made(cx, "f", rows(cx), |x| x);
        let data = ConstraintData { layout: None, mesh: None, storage: Some(Storage::Smem) };
        let constraint = cx.constraint(data).unwrap();
        let x = var(cx, "x", rows(cx)).replace_metadata(cx, constraint).replace_metadata(cx, cx.symbol("a"));
        let other = identity(cx, "f", &[x]);
        let (label, doc) = (Some(cx.symbol("small")), Some(cx.symbol("Says what it does.")));
        let other = cx.function(FunctionData { label, doc, ..*other });
        let modules = [plain, other].map(|function| cx.module(module(cx, "m", &[function])));
        assert!(structurally_equal(modules[0], modules[1]));
    });
}

#[test]
fn a_constraint_requires_something_and_binds_a_topology_once() {
    with_context(|cx| {
        let cta = cx.symbol("cta");
        let constraint = |axes: &[_], bindings: &[_]| -> Result<(), Diagnostic> {
            let layout = LayoutConstraint { axes: cx.alloc_slice(axes), bindings: cx.alloc_slice(bindings) };
            ConstraintData { layout: Some(layout), mesh: None, storage: None }.check()
        };
        let split = AxisConstraint::Split(Some(cx.dim(4)), cta);
        assert!(constraint(&[AxisConstraint::Any, split], &[]).is_ok());
        let twice = "the constraint binds topology `cta` twice";
        assert_eq!(constraint(&[split, split], &[]).unwrap_err().message, twice);
        assert_eq!(constraint(&[split], &[(cta, BindingConstraint::Broadcast)]).unwrap_err().message, twice);
        let nothing = ConstraintData { layout: None, mesh: None, storage: None };
        let Err(error) = cx.constraint(nothing) else { panic!("nothing is required") };
        assert_eq!(error.message, "the constraint requires nothing");
        assert_eq!(error.help.as_deref(), Some("give `layout=`, `mesh=` or `storage=`"));
    });
}

#[test]
fn extents_are_those_of_tensor_parameters() {
    with_context(|cx| {
        let x = var(cx, "x", rows(cx));
        let extent = cx.shape_of(x, 1, Meta::default()).unwrap();
        assert_eq!(extent.ty(), cx.tensor(&[], DType::I32, None, Storage::Rmem));
        let Err(error) = cx.shape_of(x, 2, Meta::default()) else { panic!("the rank is 2") };
        assert_eq!(error.message, "`x` is Tensor[(S, 8), \"f32\"]: it has no extent 2");
        assert!(cx.shape_of(extent, 0, Meta::default()).is_err());
    });
}
