//! CPU functions: TIR built by hand, compiled, run, and compared with the tensor engine and the reference values.
mod decomposed;
mod elementwise;
mod programs;
mod refusals;
mod structure;
mod support;
mod values;
