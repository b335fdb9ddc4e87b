//! Reductions of modules as wholes.

mod declared;
mod functions;
mod nested;
mod variants;

use tf_core::node::{Child, ModuleData};
use tf_core::{Context, Module};

use crate::{OnModule, Reduction};

/// All of them, those that cut most first.
pub(crate) fn reductions() -> Vec<Box<dyn Reduction>> {
    vec![
        Box::new(OnModule(nested::Lifted)),
        Box::new(OnModule(nested::Children)),
        Box::new(OnModule(declared::Methods)),
        Box::new(OnModule(declared::Entry)),
        Box::new(OnModule(functions::Functions)),
        Box::new(OnModule(variants::Chosen)),
        Box::new(OnModule(variants::Variants)),
        Box::new(OnModule(variants::Converters)),
        Box::new(OnModule(declared::Header)),
    ]
}

/// The tree with other data in its modules, children first; `edit` gets the number of a module, owners first, and its data over edited
/// children. What it leaves as it was stays the same module.
pub(crate) fn edited<'c>(
    cx: &Context<'c>,
    root: Module<'c>,
    edit: &mut dyn FnMut(usize, ModuleData<'c>) -> Option<ModuleData<'c>>,
) -> Module<'c> {
    let tree = root.tree();
    let mut new: rustc_hash::FxHashMap<Module<'c>, Module<'c>> = rustc_hash::FxHashMap::default();
    for (number, &module) in tree.iter().enumerate().rev() {
        let children = module.children.iter().map(|child| match *child {
            Child::One(child) => Child::One(new[&child]),
            Child::Group(name, modules) => {
                let modules: Vec<_> = modules.iter().map(|child| new[child]).collect();
                Child::Group(name, cx.alloc_slice(&modules))
            }
        });
        let children: Vec<_> = children.collect();
        let is_same = module.child_modules().all(|child| new[&child] == child);
        let data = if is_same { *module } else { ModuleData { children: cx.alloc_slice(&children), ..*module } };
        let made = match edit(number, data) {
            Some(data) => cx.module(data),
            None if is_same => module,
            None => cx.module(data),
        };
        new.insert(module, made);
    }
    new[&root]
}

#[cfg(test)]
mod tests {
    use super::{declared, functions, nested, variants};
    use crate::testing::{check, reduced};
    use crate::{ModuleReduction, OnModule};

    fn of(reduction: impl ModuleReduction, text: &str, places: std::ops::Range<usize>) -> (usize, Option<String>) {
        reduced(&OnModule(reduction), text, places)
    }

    const TREE: &str = r#"module @m target("cpu") topology() entry(@f) metadata(level = 3) {
  hir.func @f(%x: tensor<4xf32>) -> tensor<4xf32> { %0 = call @c::@g(%x) : (tensor<4xf32>) -> tensor<4xf32>  hir.return %0 }
  module @c { hir.func @g(%y: tensor<4xf32>) -> tensor<4xf32> {
    %0 = tf.unary %y {kind = "exp"} : (tensor<4xf32>) -> tensor<4xf32>
    hir.return %0 } }
  method @forward(x) source("def forward(self, x):") { return $x }
}"#;

    /// As above without the method, which may call any function.
    fn tree() -> String {
        TREE.lines().filter(|line| !line.contains("method")).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn declarations_go() {
        let (count, after) = of(declared::Header, &tree(), 0..3);
        let after = after.expect("it is reduced");
        assert_eq!(count, 3);
        assert!(after.starts_with("module @m entry(@f) {"), "{after}");
        let (count, after) = of(declared::Header, &tree(), 1..2);
        assert_eq!(count, 3);
        assert!(after.expect("it is reduced").starts_with("module @m topology() entry(@f) metadata(level = 3) {"));
        let (count, after) = of(declared::Entry, &tree(), 0..1);
        assert_eq!(count, 1);
        assert!(!after.expect("it is reduced").contains("entry"));
    }

    #[test]
    fn a_child_stands_for_the_tree() {
        let after = r#"module @c target("cpu") topology() { hir.func @g(%y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tf.unary %y {kind = "exp"} : (tensor<4xf32>) -> tensor<4xf32>
  hir.return %0 } }"#;
        check(&OnModule(nested::Lifted), &tree(), 0..1, 1, after);
    }

    #[test]
    fn children_go_and_what_is_called_in_them_becomes_an_instance() {
        let (count, after) = of(nested::Children, &tree(), 0..1);
        assert_eq!(count, 1);
        let after = after.expect("it is reduced");
        assert!(!after.contains("module @c") && after.contains("hir.instance"), "{after}");
    }

    #[test]
    fn functions_go_and_parameters_stand_in_for_their_results() {
        let before = r#"module @m {
  hir.func @g(%y: tensor<4xf32>) -> tensor<4xf32> { %0 = tf.unary %y {kind = "exp"} : (tensor<4xf32>) -> tensor<4xf32>  hir.return %0 }
  hir.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = tf.unary %0 {kind = "abs"} : (tensor<4xf32>) -> tensor<4xf32>
    hir.return %1 } }"#;
        let after = r#"module @m { hir.func @f(%v0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = tf.unary %v0 {kind = "abs"} : (tensor<4xf32>) -> tensor<4xf32>
    hir.return %0 } }"#;
        check(&OnModule(functions::Functions), before, 0..1, 2, after);
        assert_eq!(of(functions::Functions, before, 0..2), (2, None));
    }

    #[test]
    fn methods_go() {
        let (count, after) = of(declared::Methods, TREE, 0..1);
        assert_eq!(count, 1);
        assert!(!after.expect("it is reduced").contains("method"));
    }

    const DISPATCH: &str = r#"#S = dim<"S", 1, 9>
module @m {
  hir.func @f(%x: tensor<[#S]xf32>, %w: const tensor<4xf32>) -> tensor<[#S]xf32> {
    hir.variant "small" [S = 1 to 5] (%x: tensor<[#S]xf32>, %w: const tensor<4xf32>) -> tensor<[#S]xf32> { hir.return %x }
    hir.variant [S = 5 to 9] (%x: tensor<[#S]xf32>, %w: const tensor<4xf32>) -> tensor<[#S]xf32> {
      %0 = tf.unary %x {kind = "exp"} : (tensor<[#S]xf32>) -> tensor<[#S]xf32>
      hir.return %0 }
    hir.converter w @to_w (%raw: const tensor<4xf32>) -> tensor<4xf32> { hir.return %raw }
  }
}"#;

    #[test]
    fn variants_go_or_stand_for_their_prototype() {
        let (count, after) = of(variants::Variants, DISPATCH, 0..1);
        let after = after.expect("it is reduced");
        assert_eq!(count, 2);
        assert!(!after.contains("small") && after.contains("[S = 1 to 9]"), "{after}");
        assert_eq!(of(variants::Variants, DISPATCH, 0..2), (2, None));
        let (count, after) = of(variants::Chosen, DISPATCH, 1..2);
        let after = after.expect("it is reduced");
        assert_eq!(count, 2);
        assert!(!after.contains("hir.variant") && after.contains("exp"), "{after}");
        let (count, after) = of(variants::Converters, DISPATCH, 0..1);
        assert_eq!(count, 1);
        assert!(!after.expect("it is reduced").contains("converter"));
    }
}
