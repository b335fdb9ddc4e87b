//! Round trips and refusals of artifacts.

use std::fs;

use serde_json::{Value as Json, json};
use tf_artifact::{Argument, Artifact, Entry, FORMAT, Kernel, Manifest, Parameter, Role};
use tf_testing::TempFolder;
use tf_types::DType;

const PTX: &str = "//\n.version 8.0\n.target sm_90 // the machine\n.address_size 64\n\n\
    // .entry commented_out\n.visible .entry scale(\n\t.param .u64 .ptr .global .align 1 scale_param_0,\n\
    \t.param .u64 .ptr .global .align 16 scale_param_1, // weights\n\t.param .b64 scale_param_2\n)\n.maxntid 256\n{\n\tret;\n}\n\
    .visible .entry second (.param .u64 p, .param .u64 q, .param .u32 n)\n{ ret; }\n";

fn manifest() -> Manifest {
    let parameter = |name: &str, role| Parameter { name: name.into(), dtype: DType::BF16, shape: vec![4, 8], role };
    Manifest {
        format: FORMAT,
        target: "sm_90".into(),
        producer: "tilefoundry 0.1.0".into(),
        entry: Entry {
            name: "f".into(),
            parameters: vec![parameter("x", Role::Input), parameter("w", Role::Const), parameter("y", Role::Output)],
            outputs: 1,
        },
        kernels: vec![Kernel {
            symbol: "scale".into(),
            grid: [128, 1, 1],
            block: [256, 1, 1],
            dynamic_shared_bytes: 1024,
            arguments: ["x", "w", "y"].map(|name| Argument::Parameter(name.into())).to_vec(),
        }],
    }
}

#[test]
fn written_artifacts_are_read_by_either_name() {
    let folder = TempFolder::new("artifact-round-trip");
    let artifact = Artifact::new(PTX.into(), manifest()).unwrap();
    let ptx = folder.join("k.ptx");
    let json = artifact.write(&ptx).unwrap();
    assert_eq!(json, folder.join("k.json"));
    assert_eq!(Artifact::read(&ptx).unwrap(), artifact);
    assert_eq!(Artifact::read(&json).unwrap(), artifact);
    assert_eq!(fs::read_to_string(&ptx).unwrap(), PTX);
    assert!(fs::read_to_string(&json).unwrap().contains(r#""dtype": "bf16""#));
    let error = artifact.write(&folder.join("k.json")).unwrap_err();
    assert!(error.message.contains("cannot have the manifest's extension"), "{error}");
    fs::remove_file(&json).unwrap();
    let error = Artifact::read(&ptx).unwrap_err();
    assert!(error.to_string().contains("k.json") && error.help.is_some(), "{error}");
}

/// Changes one field of the good manifest, by JSON pointer, and returns the refusal.
fn refusal(pointer: &str, value: Json) -> String {
    let folder = TempFolder::new(&format!("artifact{}", pointer.replace('/', "_")));
    let artifact = Artifact::new(PTX.into(), manifest()).unwrap();
    let path = artifact.write(&folder.join("k.ptx")).unwrap();
    let mut json: Json = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    *json.pointer_mut(pointer).unwrap() = value;
    fs::write(&path, json.to_string()).unwrap();
    let message = Artifact::read(&path).unwrap_err().message;
    message.split_once("k.json: ").expect("the file is named").1.to_owned()
}

#[test]
fn refusals_name_the_field() {
    let cases = [
        ("/format", json!(2), "format: this reads version 1, found 2"),
        ("/format", json!("one"), "format: expected the version number 1"),
        ("/target", json!("gfx90"), "target: expected an architecture such as sm_90, found `gfx90`"),
        ("/target", json!("sm_80"), "target: the manifest says sm_80, the PTX is for sm_90"),
        ("/entry/outputs", json!(4), "entry.outputs: 4 of 3 parameters cannot be results"),
        ("/entry/parameters/1/name", json!("x"), "entry.parameters[1].name: `x` is no name of its own"),
        ("/entry/parameters/1/dtype", json!("f4e2m1"), "entry.parameters[1].dtype: f4e2m1 has no host values"),
        ("/entry/parameters/0/shape", json!([4_294_967_296u64, 4_294_967_296u64]), "entry.parameters[0].shape: "),
        ("/entry/parameters/0/role", json!("output"), "entry.parameters[0].role: `x` must be input or const"),
        ("/entry/parameters/2/role", json!("input"), "entry.parameters[2].role: `y` must be output or in_out"),
        ("/kernels", json!([]), "kernels: an artifact launches at least one kernel"),
        ("/kernels/0/symbol", json!("scal"), "kernels[0].symbol: the PTX has no entry `scal`; it has scale, second"),
        ("/kernels/0/grid/1", json!(0), "kernels[0].grid[1]: expected 1 to 65535, found 0"),
        ("/kernels/0/block", json!([64, 64, 1]), "kernels[0].block: 4096 threads exceed the 1024 of a block"),
        ("/kernels/0/dynamic_shared_bytes", json!(300_000), "kernels[0].dynamic_shared_bytes: 300000 bytes exceed"),
        (
            "/kernels/0/arguments/2",
            json!({"parameter": "z"}),
            "kernels[0].arguments[2]: the entry has no parameter `z`",
        ),
        ("/kernels/0/arguments/2", json!({"parameter": "x"}), "entry.parameters[2]: no kernel receives the result `y`"),
        (
            "/kernels/0/arguments",
            json!([{"parameter": "y"}]),
            "kernels[0].arguments: `scale` takes 3 arguments, found 1",
        ),
        (
            "/kernels/0/symbol",
            json!("second"),
            "kernels[0].arguments[2]: `second` declares `.param .u32 n`, which is no device address",
        ),
        // Fields of the wrong type, by their path.
        ("/kernels/0/grid/1", json!("1"), "kernels[0].grid[1]: invalid type"),
        ("/entry/parameters/1/dtype", json!("f33"), "entry.parameters[1].dtype: unknown dtype `f33`"),
        ("/entry/parameters/1/role", json!("weight"), "entry.parameters[1].role: unknown variant `weight`"),
        ("/kernels/0/arguments/0", json!({"scratch": 8}), "kernels[0].arguments[0]: unknown variant `scratch`"),
        ("/entry", json!({}), "entry: missing field `name`"),
    ];
    for (pointer, value, expected) in cases {
        let message = refusal(pointer, value);
        assert!(message.starts_with(expected), "{pointer}: {message}");
    }
}

#[test]
fn no_json_is_refused() {
    let folder = TempFolder::new("artifact-no-json");
    fs::write(folder.join("k.ptx"), PTX).unwrap();
    fs::write(folder.join("k.json"), "{").unwrap();
    let error = Artifact::read(&folder.join("k.ptx")).unwrap_err();
    assert!(error.message.contains("the manifest is no JSON"), "{error}");
}
