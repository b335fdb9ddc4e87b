//! Compiles GPU modules to PTX and, where the assembler is found, to machine code.
mod common;
mod kernels;
mod math;
mod nn;
mod programs;
