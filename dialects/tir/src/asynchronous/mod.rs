//! Copies that a thread does not wait for.

pub mod copy_async;
pub mod cp_async_commit;
pub mod cp_async_wait;
