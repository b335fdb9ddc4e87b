//! Evaluation of TIR: statements over buffers, by all positions of a launch.
//!
//! A function becomes [`code`] once for the sizes of its dims: what each op means is found by its rule then. Threads that are at one place of
//! the code run an instruction together ([`schedule`]), so that values are computed for many positions at once. [`memory`] knows of every
//! element whether it holds something and who accessed it last ([`sets`]), and [`order`] which accesses a barrier separates.

mod code;
mod compile;
mod cta;
mod lanes;
mod memory;
mod order;
mod report;
mod run;
mod scalar;
mod schedule;
mod sets;
mod statements;
mod team;

pub use run::run;
