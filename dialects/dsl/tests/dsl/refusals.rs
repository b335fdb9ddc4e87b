//! The reference's wrong and right sources, as far as this version reads them.

use crate::common::{reference, with_source};
use serde_json::Value;
use tf_core::Diagnostic;

/// Rules that are decided here; every other case needs an op or construct that is refused as not supported.
const COVERED: &[&str] = &[
    "unknown_op",
    "unknown_bare_op",
    "tir_op_in_function",
    "underscore_selector_in_function",
    "undefined_name",
    "loop_local_used_after",
    "augmented_in_loop",
    "augmented_in_function",
    "return_in_loop",
    "with_in_loop",
    "bare_expression",
    "bare_expression_in_loop",
    "while_statement",
    "if_statement",
    "try_statement",
    "yield_statement",
    "nested_function",
    "empty_return",
    "no_return",
    "chained_assignment",
    "pass_mixed",
    "with_on_other_context",
    "chained_comparison",
    "power_operator",
    "bitwise_operator",
    "comprehension_with_if",
    "comprehension_two_for",
    "comprehension_tuple_target",
    "comprehension_over_call",
    "unpack_tensor",
    "unknown_dtype",
    "shapeless_tensor",
    "slice_in_shape",
    "too_many_slots",
    "unknown_storage",
    "parameter_without_annotation",
    "two_bounds_of_one_dim",
    "empty_dim_range",
    "unknown_cast_dtype",
    "unknown_enum_value",
    "too_many_arguments",
    "range_keyword",
    "range_four_arguments",
    "loop_over_other",
    "loop_bound_not_a_dim",
    "loop_without_assignment",
    "subscript_rank",
    "index_out_of_range",
    "negative_index_on_symbol",
    "window_size_at_run_time",
    "indivisible_split",
    "dynamic_split",
    "bool_extent",
    "mesh_axis_twice",
    "states_not_last",
    "two_stride_tuples",
    "stride_rank",
    "partial_without_reduction",
    "placeholder_axis",
    "unknown_mesh",
    "unknown_mesh_axis",
    "bare_mesh_of_two_axes",
    "layout_of_other_size",
    "sugar_without_mesh",
    "undeclared_topology",
    "reshard_to_umat",
    "reshard_storage_alone",
    "reshard_to_host",
    "reshard_to_plain_layout",
    "mesh_alias_after_suite",
    "empty_class_body",
    "entry_names_nothing",
    "forward_reference",
    "stray_member",
    "dunder_call",
    "plain_nested_class",
    "duplicate_function",
    "duplicate_function_bare_module",
    "topologies_not_a_tuple",
    "topology_twice",
    "target_as_string",
    "weight_of_two_types",
    "call_arity",
    "call_keyword",
    "call_shape",
    "dtype_mismatch",
    "int_literal_with_float",
    "not_broadcastable",
    "mod_of_floats",
    "not_of_floats",
    "and_of_floats",
    "matmul_inner",
    "matmul_rank",
    "reduce_axis_out_of_range",
    "reduce_axis_twice",
    "declared_return_differs",
    "slice_start_dtype",
    "carry_changes_dtype",
    "slice_stride",
    "storage_conflict",
    "split_conflict",
    "partial_through_exp",
    "partial_times_partial",
    "partial_plus_plain",
    "partial_minus_partial",
    "max_of_partial_sum",
    "slice_narrows_split",
    "inner_split_on_one_side",
    "different_meshes",
    "static_window_off_end",
    "static_window_past_by_one",
    "slice_op_off_end",
    "strided_slice_off_end",
    "dynamic_bare_axis_into_rmem",
    "dynamic_bare_axis_into_smem",
    "declared_return_dtype",
    "declared_return_storage",
    "declared_return_layout",
    "carry_changes_storage",
    "carry_changes_placement",
    "carry_becomes_partial",
    "mesh_smaller_than_level",
    "mesh_larger_than_level",
    "mesh_of_two_levels",
    "mesh_two_axes_of_symbolic_level",
    "mesh_of_other_dim",
    "mean_of_integers",
    "exp_of_integers",
    "exp2_of_integers",
    "log_of_integers",
    "log2_of_integers",
    "rsqrt_of_integers",
    "add_of_bools",
    "mul_of_bools",
    "neg_of_bool",
    "sum_of_bools",
];

/// Sources that must be read.
const ACCEPTED: &[&str] = &[
    "tile_one_argument",
    "tile_one_argument_as_index",
    "mesh_topology_keyword",
    "mesh_topology_keyword_extents",
    "mesh_topology_keyword_layout",
    "deferred_extent_omitted",
    "deferred_extent_none",
    "deferred_extent_beside_mesh",
    "class_body_topologies",
    "class_body_topologies_empty",
    "docstring_in_function",
    "tile_window_is_a_coordinate",
    "symbolic_split_of_equal_extent",
    "dynamic_bare_axis_in_gmem",
    "return_without_slots",
    "return_with_its_storage",
    "complete_to_partial",
    "carry_takes_layout_of_yield",
    "rank0_unary",
    "rank0_binary",
    "rank0_cast",
    "mesh_slice_of_value",
    "mesh_slice_of_enclosing",
    "mesh_of_symbolic_level",
    "mesh_of_two_levels",
    "fp8_parameter",
    "integer_abs",
    "integer_neg",
    "integer_square",
    "integer_ceil",
    "integer_round",
    "integer_div",
    "integer_sum",
];

fn cases(file: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(&reference(file)).expect("the file is JSON");
    all["cases"].as_array().expect("it has cases").clone()
}

fn text<'a>(case: &'a Value, field: &str) -> &'a str {
    case[field].as_str().unwrap_or_default()
}

fn errors(source: &str) -> Vec<Diagnostic> {
    with_source(source, |_, result| result.err().unwrap_or_default())
}

fn is_unbuilt(error: &Diagnostic) -> bool {
    error.message.contains("not supported yet")
}

/// Short and numeric keywords count as whole words.
fn holds(message: &str, keyword: &str) -> bool {
    let (message, keyword) = (message.to_lowercase(), keyword.to_lowercase());
    let is_word = keyword.chars().all(|c| c.is_ascii_digit()) || (keyword.len() == 1 && keyword != "&");
    if !is_word {
        return message.contains(&keyword);
    }
    message.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == keyword)
}

/// What is wrong with a message, if anything.
fn complaint(case: &Value, error: &Diagnostic) -> Option<String> {
    let missing: Vec<_> = case["keywords"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .filter(|keyword| !keyword.split('|').any(|k| holds(&error.message, k)))
        .collect();
    if !missing.is_empty() {
        return Some(format!("lacks {missing:?}: {}", error.message));
    }
    let (line, column) = (case["line"].as_u64()? as u32, case["column"].as_u64()? as u32);
    let Some(span) = error.span else { return Some("has no place".to_owned()) };
    let covers = span.column == column || (span.column < column && (span.end_line > line || column < span.end_column));
    if span.line.get() != line || !covers {
        return Some(format!("is at {}:{}, not {line}:{column}", span.line, span.column));
    }
    None
}

#[test]
fn wrong_sources_are_refused_in_the_right_place() {
    let mut failures = Vec::new();
    let mut covered = 0;
    for case in cases("refusals.json") {
        let id = text(&case, "id");
        if COVERED.contains(&id) {
            covered += 1;
            match errors(text(&case, "source")).first() {
                None => failures.push(format!("{id} is accepted")),
                Some(error) => failures.extend(complaint(&case, error).map(|c| format!("{id} {c}"))),
            }
            let twin = errors(text(&case, "accepted"));
            if let Some(error) = twin.iter().find(|e| !is_unbuilt(e)) {
                failures.push(format!("{id}: the accepted twin: {}", error.message));
            }
        } else if text(&case, "stage") != "evaluate" {
            let errors = errors(text(&case, "source"));
            if !errors.iter().any(is_unbuilt) {
                failures.push(format!("{id} is neither covered nor refused as unsupported: {errors:?}"));
            }
        }
    }
    assert_eq!(covered, COVERED.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn right_sources_are_read() {
    let mut failures = Vec::new();
    for case in cases("accepted.json") {
        let id = text(&case, "id");
        let errors = errors(text(&case, "source"));
        match errors.first() {
            Some(error) if ACCEPTED.contains(&id) => failures.push(format!("{id}: {}", error.message)),
            Some(error) if !is_unbuilt(error) => failures.push(format!("{id}: {}", error.message)),
            None if !ACCEPTED.contains(&id) => failures.push(format!("{id} is read but not listed")),
            _ => {}
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
