//! Passes that are wrong on purpose: each leaves IR that every rule accepts and that computes something else. Tests of `--check-each`
//! and of reduction, and material for docs/finding-a-wrong-pass.md.
//!
//! A file is one family. `programs/FAMILY.py` has a module for each of its faults, named after it: `fault-wrong-axis` is wrong on
//! `WrongAxis`. What restates a public report names it.

mod axes;
mod dtypes;
mod fault;
mod floats;
mod functions;
mod integers;
mod loops;
mod operands;
mod order;
mod placement;
mod sharing;
mod statements;
mod windows;

tf_plugin::tilefoundry_plugin!(register);

fn register(r: &mut tf_plugin::Registrar<'_>) {
    operands::register(r);
    axes::register(r);
    dtypes::register(r);
    floats::register(r);
    integers::register(r);
    loops::register(r);
    windows::register(r);
    order::register(r);
    sharing::register(r);
    functions::register(r);
    placement::register(r);
    statements::register(r);
}
