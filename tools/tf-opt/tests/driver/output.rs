//! What is written, and where.

use std::process::{Command, Stdio};

use crate::common::{Place, files};

#[test]
fn the_last_artifact_or_the_ir() {
    let place = Place::new("output");
    assert!(place.ok(&["square.py", "--pipeline=emit-dot"]).starts_with("digraph \"M\" {\n"));
    assert!(place.ok(&["square.py", "--pipeline=emit-dot,print"]).starts_with("module @M"));
    assert_eq!(place.ok(&["square.py", "--pipeline=emit-dot", "-o", "out.dot"]), "");
    assert!(std::fs::read_to_string(place.path("out.dot")).unwrap().contains("tf.unary"));
    assert!(place.ok(&["square.py", "-o", "-"]).starts_with("module @M"));
    let table = place.ok(&["square.py", "--pipeline=evaluate{random=7 outputs=out.safetensors}"]);
    assert!(table.starts_with("output") && table.contains("(4, 6)"), "{table}");
    assert_eq!(files(&place.0), ["out.dot", "out.safetensors", "square.py", "tf-opt"]);
}

#[test]
fn a_failure_leaves_the_old_file() {
    let place = Place::new("atomic");
    std::fs::write(place.path("out.tfir"), "old").unwrap();
    place.refused(&["square.py", "--pipeline=evaluate", "-o", "out.tfir"]);
    assert_eq!(std::fs::read_to_string(place.path("out.tfir")).unwrap(), "old");
    let error = place.refused(&["square.py", "-o", "no/such/folder.tfir"]);
    assert!(error.contains("cannot write `no/such/folder.tfir`: "), "{error}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let place = Place::new("pipe");
    let mut child = Command::new(place.path("tf-opt"))
        .args(["square.py"])
        .current_dir(&*place.0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}
