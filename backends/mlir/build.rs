//! Distributions ship MLIR's C API only as static archives (`libMLIRCAPI*.a`), while mlir-sys in
//! shared mode links with `-lMLIR-C`. This writes a linker script of that name that pulls the
//! archives in and keeps MLIR and LLVM themselves shared. Cargo hands the search path on to every
//! dependent, so this crate is the only place that needs it.
use std::{
    env,
    error::Error,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

const PREFIX_VARIABLE: &str = "MLIR_SYS_220_PREFIX";
const SHARED_VARIABLE: &str = "MLIR_SYS_LINK_SHARED";
const DEFAULT_PREFIX: &str = "/usr/lib/llvm-22";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed={PREFIX_VARIABLE}");
    println!("cargo:rerun-if-env-changed={SHARED_VARIABLE}");
    if env::var(SHARED_VARIABLE).as_deref() != Ok("1") {
        return Ok(());
    }
    let prefix = env::var(PREFIX_VARIABLE).unwrap_or_else(|_| DEFAULT_PREFIX.into());
    let libraries = Path::new(&prefix).join("lib");
    if !libraries.is_dir() {
        return Err(format!(
            "no LLVM 22 at `{prefix}`: install the MLIR 22 development packages or set {PREFIX_VARIABLE}"
        )
        .into());
    }
    let script = linker_script(&libraries)?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("libMLIR-C.so"), script)?;
    println!("cargo:rustc-link-search=native={}", out.display());
    Ok(())
}

fn linker_script(libraries: &Path) -> Result<String, Box<dyn Error>> {
    let mut archives: Vec<String> = fs::read_dir(libraries)?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.starts_with("libMLIRCAPI") || name.starts_with("libMLIRExecutionEngine"))
        .filter(|name| name.ends_with(".a"))
        .collect();
    archives.sort();
    if archives.is_empty() {
        return Err(format!("no libMLIRCAPI*.a in `{}`: install libmlir-22-dev", libraries.display()).into());
    }
    let mut script = String::from("/* GNU ld script */\nGROUP (\n");
    for archive in archives {
        writeln!(script, "  {}", libraries.join(archive).display())?;
    }
    script.push_str(")\n");
    for shared in ["libMLIR.so", "libLLVM.so"] {
        writeln!(script, "INPUT ( {} )", libraries.join(shared).display())?;
    }
    Ok(script)
}
