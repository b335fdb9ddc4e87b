//! The program as a user runs it. A launch is made where a device exists; elsewhere its absence must be said.

use std::process::{Command, Output};

use tf_artifact::{Argument, Artifact, Entry, FORMAT, Kernel, Manifest, Parameter, Role};
use tf_testing::TempFolder;
use tf_types::DType;
use tf_value::Tensor;
use tf_value::io::{TensorFile, write_tensors};

/// `y[i] = x[i] + x[i]`, one thread an element.
const PTX: &str = "
.version 7.0
.target sm_80
.address_size 64
.visible .entry twice(.param .u64 px, .param .u64 py)
{
    .reg .b32 %r<2>;
    .reg .f32 %f<3>;
    .reg .b64 %d<6>;
    ld.param.u64 %d1, [px];
    ld.param.u64 %d2, [py];
    cvta.to.global.u64 %d1, %d1;
    cvta.to.global.u64 %d2, %d2;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %d3, %r1, 4;
    add.s64 %d4, %d1, %d3;
    add.s64 %d5, %d2, %d3;
    ld.global.f32 %f1, [%d4];
    add.f32 %f2, %f1, %f1;
    st.global.f32 [%d5], %f2;
    ret;
}
";

struct Folder(TempFolder);

impl Folder {
    /// An artifact `k.ptx` with its inputs and wanted results.
    fn new(test: &str) -> Self {
        let path = TempFolder::new(&format!("run-cli-{test}"));
        let parameter = |name: &str, role| Parameter { name: name.into(), dtype: DType::F32, shape: vec![4], role };
        let manifest = Manifest {
            format: FORMAT,
            target: "sm_80".into(),
            producer: "test".into(),
            entry: Entry {
                name: "f".into(),
                parameters: vec![parameter("x", Role::Input), parameter("y", Role::Output)],
                outputs: 1,
            },
            kernels: vec![Kernel {
                symbol: "twice".into(),
                grid: [1, 1, 1],
                block: [4, 1, 1],
                dynamic_shared_bytes: 0,
                arguments: ["x", "y"].map(|name| Argument::Parameter(name.into())).to_vec(),
            }],
        };
        Artifact::new(PTX.into(), manifest).unwrap().write(&path.join("k.ptx")).unwrap();
        let x = Tensor::from_f32(&[4], &[1.0, 2.0, 3.0, 4.0]).unwrap();
        let y = Tensor::from_f32(&[4], &[2.0, 4.0, 6.0, 8.0]).unwrap();
        write_tensors(&path.join("data.safetensors"), [("a.in.x", &x), ("a.out.y", &y)]).unwrap();
        Self(path)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_tf-run")).args(arguments).current_dir(&*self.0).output().unwrap()
    }

    fn refusal(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(output.stdout.is_empty());
        String::from_utf8(output.stderr).unwrap()
    }
}

#[test]
fn bad_arguments_and_files_end_in_a_message() {
    let folder = Folder::new("bad");
    assert_eq!(folder.refusal(&[]), "error: expected an artifact, a .ptx or .json file of emit-ptx; see --help\n");
    assert_eq!(folder.refusal(&["k.ptx", "input=x"]), "error: unknown option `input`; did you mean `inputs=`?\n");
    assert!(folder.refusal(&["none.ptx"]).starts_with("error: cannot read none.ptx: "));
    assert!(folder.refusal(&["k.ptx"]).starts_with("error: `f` takes `x`: name the file"));
    assert!(folder.refusal(&["k.ptx", "inputs=k.json"]).contains("k.json is no valid safetensors file"));
    let message = folder.refusal(&["k.json", "inputs=data.safetensors", "prefix=b.in."]);
    assert_eq!(message, "error: data.safetensors has no tensor for `x`: looked for `b.in.x`, `x`, `weights.x`\n");
    let help = folder.run(&["--help"]);
    assert!(help.status.success() && help.stdout.starts_with(b"tf-run ARTIFACT"));
}

#[test]
fn runs_and_compares_or_says_why_not() {
    let folder = Folder::new("run");
    let arguments = [
        "k.ptx",
        "inputs=data.safetensors",
        "prefix=a.in.",
        "expect=data.safetensors",
        "outputs=o.safetensors",
        "time=3",
    ];
    let probe = folder.run(&["--probe"]);
    if !probe.status.success() {
        let reason = String::from_utf8(probe.stdout).unwrap();
        assert_eq!(probe.status.code(), Some(1));
        assert!(reason.starts_with("no CUDA device: "), "{reason}");
        let message = folder.refusal(&arguments);
        assert!(message.starts_with("error: there is no CUDA d"), "{message}");
        assert!(!folder.0.join("o.safetensors").exists());
        eprintln!("skipped the launch: {reason}");
        return;
    }
    let output = folder.run(&arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let line: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((line["pass"].as_bool(), line["max_abs"].as_f64()), (Some(true), Some(0.0)));
    assert!(line["time_us"].as_f64().is_some_and(|time| time > 0.0));
    let out = TensorFile::open(folder.0.join("o.safetensors")).unwrap().get("out0").unwrap().unwrap();
    assert_eq!(out.to_f32_vec(), [2.0, 4.0, 6.0, 8.0]);
    let wrong = folder.run(&[
        "k.ptx",
        "inputs=data.safetensors",
        "prefix=a.in.",
        "expect=data.safetensors",
        "expect-prefix=a.in.x",
    ]);
    assert_eq!(wrong.status.code(), Some(1));
}
