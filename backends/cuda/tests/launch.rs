//! Binding of inputs, the absence of a driver, and, where a device exists, a launch.

use tf_artifact::{Argument, Artifact, Entry, FORMAT, Kernel, Manifest, Parameter, Role};
use tf_cuda::{CudaError, devices, run, run_timed};
use tf_types::DType;
use tf_value::Tensor;

/// `y[i] = x[i] + x[i]` for 32 elements, one thread each.
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

fn artifact(ptx: &str) -> Artifact {
    let parameter = |name: &str, role| Parameter { name: name.into(), dtype: DType::F32, shape: vec![32], role };
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
            block: [32, 1, 1],
            dynamic_shared_bytes: 0,
            arguments: ["x", "y"].map(|name| Argument::Parameter(name.into())).to_vec(),
        }],
    };
    Artifact::new(ptx.into(), manifest).unwrap()
}

fn x() -> Tensor {
    Tensor::from_f32(&[32], &(0..32).map(|i| i as f32).collect::<Vec<_>>()).unwrap()
}

#[test]
fn inputs_that_do_not_fit_are_refused_before_the_driver_is_asked() {
    let refusal = |inputs: &[(&str, Tensor)]| run(&artifact(PTX), 0, inputs).unwrap_err().to_string();
    assert_eq!(refusal(&[]), "`f` needs the input `x`: f32 of shape (32,)");
    assert_eq!(refusal(&[("x", x()), ("y", x())]), "`f` takes no input `y`; it takes x");
    assert_eq!(refusal(&[("x", x()), ("x", x())]), "the input `x` is given twice");
    let short = Tensor::zeros(&[31], DType::F32).unwrap();
    assert_eq!(refusal(&[("x", short)]), "the input `x` must be f32 of shape (32,), found f32 of shape (31,)");
    let half = x().cast(DType::F16).unwrap();
    assert_eq!(refusal(&[("x", half)]), "the input `x` must be f32 of shape (32,), found f16 of shape (32,)");
}

/// Without a driver or a device: the error in words. With one: the values, the time, and the refusals that only a driver can make.
#[test]
fn launches_or_says_why_not() {
    match devices() {
        Err(CudaError::NoDriver) => {
            let error = run(&artifact(PTX), 0, &[("x", x())]).unwrap_err();
            assert_eq!(error, CudaError::NoDriver);
            assert_eq!(error.to_string(), "there is no CUDA driver: the library libcuda.so cannot be loaded");
            eprintln!("skipped the launch: {error}");
        }
        Err(error) => eprintln!("skipped the launch: {error}"),
        Ok(devices) if devices.is_empty() => {
            let error = run(&artifact(PTX), 0, &[("x", x())]).unwrap_err();
            assert_eq!(error, CudaError::NoDevice { ordinal: 0, count: 0 });
            eprintln!("skipped the launch: {error}");
        }
        Ok(devices) => {
            let timed = run_timed(&artifact(PTX), 0, &[("x", x())], 5).unwrap();
            let want: Vec<f32> = (0..32).map(|i| 2.0 * i as f32).collect();
            assert_eq!(timed.outputs[0].to_f32_vec(), want);
            assert!(timed.median_us.is_some_and(|time| time > 0.0));
            let error = run(&artifact(PTX), devices.len(), &[("x", x())]).unwrap_err();
            assert_eq!(error, CudaError::NoDevice { ordinal: devices.len(), count: devices.len() });
            let broken = PTX.replace("add.f32 %f2", "add.f32 %missing");
            let error = run(&artifact(&broken), 0, &[("x", x())]).unwrap_err();
            assert!(matches!(error, CudaError::Ptx { .. }), "{error}");
        }
    }
}
