//! Bounds of memory and of the stack that do not depend on the machine.

use tf_core::{Arena, Context};
use tf_gen::Shape;
use tf_text::{PrintOptions, parse_module, print_module};

const COUNT: usize = 20_000;

/// At most 200 bytes of the arena a node, made or parsed.
#[test]
fn arena_bytes_of_a_node() {
    for shape in Shape::ALL {
        let registry = tf_gen::registry().unwrap();
        let arena = Arena::new();
        let cx = Context::new(&arena, registry.clone());
        let text = print_module(tf_gen::module(&cx, shape, COUNT), &PrintOptions::default());
        let made = cx.arena_bytes() / COUNT;
        let arena = Arena::new();
        let cx = Context::new(&arena, registry);
        let file = cx.sources().add("gen.tfir", text);
        assert!(parse_module(&cx, file).is_ok());
        let parsed = cx.arena_bytes() / COUNT;
        assert!(made <= 200 && parsed <= 200, "{shape:?}: {made} bytes made, {parsed} parsed");
        assert!(made >= 64 && parsed >= 64, "{shape:?}: {made} bytes made, {parsed} parsed: are they counted?");
    }
}

/// The deepest graph on the smallest stack.
#[test]
fn text_of_a_chain_needs_no_stack() {
    let work = || {
        let arena = Arena::new();
        let cx = Context::new(&arena, tf_gen::registry().unwrap());
        let text = print_module(tf_gen::module(&cx, Shape::Chain, COUNT), &PrintOptions::default());
        let file = cx.sources().add("gen.tfir", text.clone());
        let Ok(module) = parse_module(&cx, file) else { panic!("the text parses") };
        assert_eq!(print_module(module, &PrintOptions::default()), text);
    };
    std::thread::Builder::new().stack_size(256 << 10).spawn(work).unwrap().join().unwrap();
}
