//! Runs the assembler, where there is one.
use std::{
    env,
    path::PathBuf,
    process::{Command, Stdio},
};
use tf_ptx::{Ptx, PtxOptions, compile};

/// Compiles the text of an MLIR module for an architecture.
pub fn ptx(text: &str, arch: &str) -> Ptx {
    let session = tf_mlir::Session::new();
    let module = session.parse(text).unwrap();
    compile(&session, &module, &PtxOptions::new(arch.parse().unwrap())).unwrap()
}

/// Assembles PTX and asserts that nothing was spilled; says so where no assembler is found.
pub fn assemble(ptx: &str, arch: &str) {
    let cached = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../.cache/ptxas/ptxas");
    let path = env::var_os("TF_PTXAS").map_or(cached, PathBuf::from);
    if !path.exists() {
        println!("skipped: no ptxas");
        return;
    }
    let file = env::temp_dir().join(format!("tf-ptx-{}-{arch}.ptx", std::process::id()));
    std::fs::write(&file, ptx).unwrap();
    let output = Command::new(path)
        .args(["-v", "-o", "/dev/null", &format!("-arch={arch}")])
        .arg(&file)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    std::fs::remove_file(&file).unwrap();
    let report = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{report}");
    assert!(report.contains("0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads"), "{report}");
}
