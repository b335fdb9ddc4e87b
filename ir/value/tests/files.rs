//! Tensor files: round trips, atomic replacement, refusals of bad files.

use std::fs;

use tf_testing::TempFolder;
use tf_types::DType;
use tf_value::io::{TensorFile, write_tensors};
use tf_value::{Fp8E4M3, Tensor};

#[test]
fn every_dtype_round_trips_in_sorted_order() {
    let folder = TempFolder::new("value-round-trip");
    let (first, second) = (folder.join("a.safetensors"), folder.join("b.safetensors"));
    let x = Tensor::from_f32(&[2, 2], &[0.5, 1.0, 2.0, 4.0]).unwrap();
    let tensors: Vec<(String, Tensor)> = DType::ALL
        .into_iter()
        .filter(|&dtype| dtype != DType::F4E2M1)
        .map(|dtype| (format!("x.{dtype}"), x.cast(dtype).unwrap().permute(&[1, 0]).unwrap()))
        .collect();
    write_tensors(&first, tensors.iter().map(|(name, tensor)| (name.as_str(), tensor))).unwrap();
    write_tensors(&second, tensors.iter().rev().map(|(name, tensor)| (name.as_str(), tensor))).unwrap();
    assert_eq!(fs::read(&first).unwrap(), fs::read(&second).unwrap(), "order of arguments must not matter");
    let archives = [folder.join("a.npz"), folder.join("b.npz")];
    write_tensors(&archives[0], tensors.iter().map(|(name, tensor)| (name.as_str(), tensor))).unwrap();
    write_tensors(&archives[1], tensors.iter().rev().map(|(name, tensor)| (name.as_str(), tensor))).unwrap();
    assert_eq!(fs::read(&archives[0]).unwrap(), fs::read(&archives[1]).unwrap());
    let file = TensorFile::open(&first).unwrap();
    assert!(file.names().is_sorted());
    for (name, tensor) in &tensors {
        let back = file.get_as(name, tensor.dtype()).unwrap().unwrap();
        assert_eq!((back.dtype(), back.shape()), (tensor.dtype(), tensor.shape()));
        assert_eq!(back.to_le_bytes(), tensor.to_le_bytes());
    }
    assert!(file.get("y").is_none());
    assert_eq!(fs::read_dir(&*folder).unwrap().count(), 4, "no temporary file stays");
}

#[test]
fn u8_is_raw_bits_for_eight_bit_floats_and_numbers_otherwise() {
    let folder = TempFolder::new("value-bits");
    let path = folder.join("bits.safetensors");
    let bits = Tensor::from_vec(&[2], vec![Fp8E4M3(0x38), Fp8E4M3(0x40)]).unwrap();
    write_tensors(&path, [("x", &bits)]).unwrap();
    let file = TensorFile::open(&path).unwrap();
    let info = file.info("x").unwrap();
    assert_eq!((info.stored.as_str(), info.dtype), ("U8", None));
    assert!(file.get("x").unwrap().unwrap_err().message.ends_with("is U8"));
    assert_eq!(file.get_as("x", DType::Fp8E4M3).unwrap().unwrap().to_f32_vec(), [1.0, 2.0]);
    assert_eq!(file.get_as("x", DType::F32).unwrap().unwrap().to_f32_vec(), [56.0, 64.0]);
}

#[test]
fn bad_files_are_refused_in_words() {
    let folder = TempFolder::new("value-bad");
    let path = folder.join("bad.safetensors");
    let good = folder.join("good.safetensors");
    write_tensors(&good, [("x", &Tensor::from_f32(&[3], &[1.0, 2.0, 3.0]).unwrap())]).unwrap();
    let bytes = fs::read(&good).unwrap();
    let refusal = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        TensorFile::open(&path).unwrap_err().message
    };
    for length in 0..bytes.len() {
        let message = refusal(&bytes[..length]);
        assert!(message.contains("is no valid safetensors file"), "{length}: {message}");
    }
    assert!(refusal(&bytes[..bytes.len() - 1]).ends_with("its header describes 12 bytes of data, 11 follow"));
    assert!(refusal(&[&bytes[..], &[0]].concat()).ends_with("its header describes 12 bytes of data, 13 follow"));
    assert!(refusal(&[0xff; 64]).contains("does not fit a file of 64 bytes"));
    let with_header = |header: &str| {
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend_from_slice(&[0; 12]);
        let message = refusal(&bytes);
        assert!(message.contains("bad.safetensors is no valid safetensors file: its header: "), "{message}");
        message
    };
    with_header("{");
    with_header("[]");
    with_header("\u{0}");
    with_header(r#"{"x":{"dtype":"F32","shape":[4],"data_offsets":[0,12]}}"#);
    with_header(r#"{"x":{"dtype":"F99","shape":[3],"data_offsets":[0,12]}}"#);
    with_header(r#"{"x":{"dtype":"F32","shape":[3],"data_offsets":[12,0]}}"#);
    with_header(r#"{"x":{"dtype":"F32","shape":[3],"data_offsets":[0,9223372036854775807]}}"#);
    with_header(r#"{"x":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,12]}}"#);
    let twice = with_header(
        r#"{"x":{"dtype":"F32","shape":[3],"data_offsets":[0,12]},"x":{"dtype":"I32","shape":[3],"data_offsets":[0,12]}}"#,
    );
    assert!(twice.contains("its header: two tensors are named `x`"), "{twice}");
    let missing = TensorFile::open(folder.join("none")).unwrap_err();
    assert!(missing.message.starts_with("cannot read "), "{missing}");
    assert!(TensorFile::open(&*folder).unwrap_err().message.ends_with("it is no file"));
}

#[test]
fn writing_replaces_or_fails_whole() {
    let folder = TempFolder::new("value-atomic");
    let path = folder.join("x.safetensors");
    let x = Tensor::from_f32(&[1], &[1.0]).unwrap();
    write_tensors(&path, [("x", &x)]).unwrap();
    let error = write_tensors(&path, [("x", &x), ("x", &x)]).unwrap_err();
    assert!(error.message.ends_with("two tensors are named `x`"), "{error}");
    let error = write_tensors(&path, [("x", &x), ("a", &x), ("x", &x)]).unwrap_err();
    assert!(error.message.ends_with("two tensors are named `x`"), "{error}");
    assert!(TensorFile::open(&path).unwrap().contains("x"));
    let error = write_tensors(&folder.join("no/such/folder.safetensors"), [("x", &x)]).unwrap_err();
    assert!(error.message.starts_with("cannot write "), "{error}");
}

#[test]
fn a_dtype_that_is_not_read_is_named_with_those_that_are() {
    let folder = TempFolder::new("value-complex");
    let path = folder.join("x.safetensors");
    let header = r#"{"x":{"dtype":"C64","shape":[1],"data_offsets":[0,8]}}"#;
    let bytes = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[0; 8]].concat();
    fs::write(&path, bytes).unwrap();
    let error = TensorFile::open(&path).unwrap().get_as("x", DType::F32).unwrap().unwrap_err();
    assert!(error.message.ends_with("x.safetensors is C64, which is not read"), "{error}");
    assert!(error.help.unwrap().starts_with("store it as one of F64, F32"));
}

/// Dtypes that the language does not have are read as numbers, without a way round that loses some.
#[test]
fn foreign_numbers_are_cast_once() {
    let folder = TempFolder::new("value-foreign");
    let path = folder.join("x.safetensors");
    let read = |stored: &str, bytes: &[u8], count: usize, dtype| {
        let end = bytes.len();
        let header = format!(r#"{{"x":{{"dtype":"{stored}","shape":[{count}],"data_offsets":[0,{end}]}}}}"#);
        fs::write(&path, [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), bytes].concat()).unwrap();
        TensorFile::open(&path).unwrap().get_as("x", dtype).unwrap().unwrap()
    };
    let doubles = [16_777_217.0f64, -2.9, 3e10, 1e-300].map(f64::to_le_bytes).concat();
    let of = |dtype| read("F64", &doubles, 4, dtype);
    assert_eq!(of(DType::I64).to_i64_vec(), Ok(vec![16_777_217, -2, 30_000_000_000, 0]));
    assert_eq!(of(DType::I32).to_i64_vec(), Ok(vec![16_777_217, -2, i32::MAX.into(), 0]));
    assert_eq!(of(DType::Bool).to_i64_vec(), Ok(vec![1, 1, 1, 1]));
    assert_eq!(of(DType::F32).to_f32_vec(), [16_777_216.0, -2.9, 3e10, 0.0]);
    let integers: [(&str, &[u8], i64); 5] = [
        ("U8", &[200], 200),
        ("I8", &[200], -56),
        ("I16", &[0, 0x80], -32768),
        ("U16", &[0, 0x80], 32768),
        ("U32", &[0, 0, 0, 0x80], 1 << 31),
    ];
    for (stored, bytes, want) in integers {
        assert_eq!(read(stored, bytes, 1, DType::I64).to_i64_vec(), Ok(vec![want]), "{stored}");
        assert_eq!(read(stored, bytes, 1, DType::F32).to_f64_vec(), [want as f64], "{stored}");
    }
}
