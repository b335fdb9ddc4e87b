//! MLIR's execution engine, with failures reported instead of crashing on a null engine.
use crate::{BackendError, Session};
use melior::{StringRef, ir::Module};
use mlir_sys::{
    MlirExecutionEngine, mlirExecutionEngineCreate, mlirExecutionEngineDestroy, mlirExecutionEngineInvokePacked,
    mlirExecutionEngineLookupPacked, mlirExecutionEngineRegisterSymbol,
};
use std::ffi::{CStr, c_char, c_int};

pub(super) struct Engine {
    raw: MlirExecutionEngine,
}

impl Engine {
    /// Compiles a module in the LLVM dialect; it is not needed afterwards.
    pub(super) fn new(session: &Session, module: &Module<'_>, optimization: u8) -> Result<Self, BackendError> {
        if optimization > 3 {
            return Err(BackendError::new(format!("optimization level {optimization} is not one of 0, 1, 2, 3")));
        }
        session.attempt("cannot compile the module for the host", || {
            // SAFETY: the module is alive during the call and no libraries are passed.
            let raw = unsafe {
                mlirExecutionEngineCreate(module.to_raw(), i32::from(optimization), 0, std::ptr::null(), false, false)
            };
            if raw.ptr.is_null() {
                return Err(());
            }
            let engine = Self { raw };
            engine.define("puts", say as *mut ());
            engine.define("abort", stop as *mut ());
            Ok(engine)
        })
    }

    /// Compiled code that calls `name` calls `function`.
    fn define(&self, name: &str, function: *mut ()) {
        // SAFETY: the engine is not null and nothing is compiled before the first look-up.
        unsafe { mlirExecutionEngineRegisterSymbol(self.raw, StringRef::new(name).to_raw(), function.cast()) }
    }

    /// Makes sure that a function and all it calls resolve.
    pub(super) fn lookup(&self, name: &str) -> Result<(), BackendError> {
        let symbol = interface(name);
        // SAFETY: the engine is not null.
        let found = unsafe { mlirExecutionEngineLookupPacked(self.raw, StringRef::new(&symbol).to_raw()) };
        if found.is_null() {
            return Err(BackendError::new(format!("function `{name}` or a symbol that it calls does not resolve")));
        }
        Ok(())
    }

    /// # Safety
    /// The arguments must fit the function.
    pub(super) unsafe fn call(&self, name: &str, arguments: &mut [*mut ()]) -> Result<(), BackendError> {
        // MLIR adds the interface prefix itself here.
        let symbol = StringRef::new(name);
        // SAFETY: passed on to the caller.
        let result =
            unsafe { mlirExecutionEngineInvokePacked(self.raw, symbol.to_raw(), arguments.as_mut_ptr().cast()) };
        if result.value == 0 {
            return Err(BackendError::new(format!("cannot call `{name}`")));
        }
        Ok(())
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // SAFETY: owned and not null.
        unsafe { mlirExecutionEngineDestroy(self.raw) }
    }
}

/// What an assertion of compiled code says, in place of the C library's `puts`, whose text would be lost in a buffer.
///
/// # Safety
/// `text` is a C string.
unsafe extern "C" fn say(text: *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(text) };
    eprintln!("error: {}", text.to_string_lossy());
    0
}

/// The end of a failed assertion: compiled code cannot return an error, and an abort would tell no exit status.
extern "C" fn stop() -> ! {
    std::process::exit(1)
}

fn interface(name: &str) -> String {
    format!("_mlir_ciface_{name}")
}
