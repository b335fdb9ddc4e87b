//! Tensors by name from folders and NumPy files.

use std::collections::BTreeMap;
use std::path::Path;

use tf_testing::TempFolder;
use tf_types::DType;
use tf_value::Tensor;
use tf_value::io::{TensorMap, TensorStore, open_tensors, write_shards, write_tensors};

fn tensors() -> BTreeMap<String, Tensor> {
    let f32s = Tensor::from_f32(&[2, 3], &[1.0, -2.0, 3.5, 0.0, -0.0, f32::NAN]).unwrap();
    let scalar = Tensor::scalar(7i64);
    let half = f32s.cast(DType::BF16).unwrap();
    let eight = Tensor::from_f32(&[4], &[1.0, 2.0, 448.0, -0.5]).unwrap().cast(DType::Fp8E4M3).unwrap();
    let names = ["a.w", "a.n", "b", "c"].map(str::to_owned);
    names.into_iter().zip([f32s, scalar, half, eight]).collect()
}

fn same(store: &dyn TensorStore, want: &BTreeMap<String, Tensor>) {
    assert_eq!(store.names(), want.keys().cloned().collect::<Vec<_>>());
    for (name, tensor) in want {
        let info = store.info(name).unwrap();
        assert!(info.holds(tensor.dtype()) && info.shape == tensor.shape(), "{name}: {info:?}");
        let got = store.get_as(name, tensor.dtype()).unwrap().unwrap();
        assert_eq!((got.shape(), got.to_le_bytes()), (tensor.shape(), tensor.to_le_bytes()), "{name}");
    }
    assert!(store.info("nothing").is_none() && store.get_as("nothing", DType::F32).is_none());
}

fn write(path: &Path, tensors: &BTreeMap<String, Tensor>) {
    write_tensors(path, tensors.iter().map(|(name, tensor)| (name.as_str(), tensor))).unwrap();
}

#[test]
fn every_kind_of_store_gives_the_same_back() {
    let folder = TempFolder::new("value-stores-kinds");
    let want = tensors();
    same(&TensorMap(want.clone()), &want);
    for file in ["x.safetensors", "x.npz"] {
        let path = folder.join(file);
        write(&path, &want);
        same(open_tensors(&path).unwrap().as_ref(), &want);
    }
    let path = folder.join("a.w.npy");
    let one = BTreeMap::from([("a.w".to_owned(), want["a.w"].clone())]);
    write(&path, &one);
    same(open_tensors(&path).unwrap().as_ref(), &one);
    let error = write_tensors(&path, want.iter().map(|(name, tensor)| (name.as_str(), tensor))).unwrap_err();
    assert!(error.message.ends_with("an .npy file holds one tensor, not 4"), "{error}");
}

#[test]
fn shards_have_an_index() {
    let folder = TempFolder::new("value-stores-shards");
    let want = tensors();
    // 24 + 8 bytes of `a.*`, then 12 and 4.
    write_shards(&folder, &want, 32).unwrap();
    let mut files: Vec<_> =
        std::fs::read_dir(&*folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    let index = "model.safetensors.index.json";
    assert_eq!(files, ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors", index]);
    same(open_tensors(&*folder).unwrap().as_ref(), &want);
    // Without the index all files count.
    let text = std::fs::read_to_string(folder.join(index)).unwrap();
    std::fs::remove_file(folder.join(index)).unwrap();
    same(open_tensors(&*folder).unwrap().as_ref(), &want);
    let refused = |text: &str| {
        std::fs::write(folder.join(index), text).unwrap();
        open_tensors(&*folder).unwrap_err().message
    };
    assert!(refused("{").contains("is no valid index"));
    assert!(refused("{}").ends_with("it has no `weight_map`"));
    assert!(refused(&text.replace("\"b\"", "\"d\"")).ends_with("has no tensor `d`"));
    let outside = refused(r#"{"weight_map": {"b": "../x.safetensors"}}"#);
    assert!(outside.ends_with("the file of `b` is no name of a file beside it"), "{outside}");
}

#[test]
fn a_tensor_larger_than_a_shard_has_its_own() {
    let folder = TempFolder::new("value-stores-large");
    write_shards(&folder, &tensors(), 1).unwrap();
    let files = std::fs::read_dir(&*folder).unwrap().count();
    assert_eq!(files, 4 + 1);
    same(open_tensors(&*folder).unwrap().as_ref(), &tensors());
}

/// Only names and headers are held: a tensor is what its file has when it is asked for.
#[test]
fn tensors_are_read_when_they_are_asked_for() {
    let folder = TempFolder::new("value-stores-lazy");
    write_shards(&folder, &tensors(), 32).unwrap();
    let store = open_tensors(&*folder).unwrap();
    let path = folder.join("model-00001-of-00002.safetensors");
    let mut bytes = std::fs::read(&path).unwrap();
    let end = bytes.len();
    bytes[end - 32..].fill(0);
    std::fs::write(&path, bytes).unwrap();
    let read = |name: &str, dtype| store.get_as(name, dtype).unwrap().unwrap().to_f32_vec();
    assert_eq!((read("a.w", DType::F32), read("a.n", DType::I64)), (vec![0.0; 6], vec![0.0]));
    assert_eq!(read("c", DType::Fp8E4M3), [1.0, 2.0, 448.0, -0.5]);
}

/// What an archive has beside numbers is no reason to refuse the numbers.
#[test]
fn a_member_that_is_no_array_is_refused_when_it_is_asked_for() {
    let folder = TempFolder::new("value-stores-member");
    let (array, path) = (folder.join("x.npy"), folder.join("x.npz"));
    let one = BTreeMap::from([("x".to_owned(), tensors()["a.w"].clone())]);
    write(&array, &one);
    let numbers = std::fs::read(&array).unwrap();
    let mut archive = zip::ZipWriter::new(std::fs::File::create(&path).unwrap());
    let text = numbers.iter().copied().map(|byte| if byte == b'f' { b'U' } else { byte }).collect::<Vec<_>>();
    for (name, bytes) in [("x.npy", &numbers), ("names.npy", &text)] {
        archive.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        std::io::Write::write_all(&mut archive, bytes).unwrap();
    }
    archive.finish().unwrap();
    let store = open_tensors(&path).unwrap();
    assert_eq!(store.info("names").unwrap().stored, "no array of numbers");
    let error = store.get_as("names", DType::I64).unwrap().unwrap_err();
    assert!(error.message.starts_with("cannot read `names` of "), "{error}");
    assert_eq!(store.get_as("x", DType::F32).unwrap().unwrap().shape(), [2, 3]);
}

fn archive(path: &Path, members: &[(&str, &[u8])], method: zip::CompressionMethod) {
    let mut archive = zip::ZipWriter::new(std::fs::File::create(path).unwrap());
    for (name, bytes) in members {
        let options = zip::write::SimpleFileOptions::default().compression_method(method);
        archive.start_file(*name, options).unwrap();
        std::io::Write::write_all(&mut archive, bytes).unwrap();
    }
    archive.finish().unwrap();
}

#[test]
fn two_arrays_of_one_name_are_refused() {
    let folder = TempFolder::new("value-stores-twice");
    let (array, path) = (folder.join("x.npy"), folder.join("x.npz"));
    write(&array, &BTreeMap::from([("x".to_owned(), tensors()["a.w"].clone())]));
    let numbers = std::fs::read(&array).unwrap();
    archive(&path, &[("x.npy", &numbers), ("x", &numbers)], zip::CompressionMethod::Stored);
    let message = open_tensors(&path).unwrap_err().message;
    assert!(message.ends_with("x.npz is no valid npz file: two members are arrays named `x`"), "{message}");
    // The library refuses to write one name twice, so the second is renamed in the file.
    archive(&path, &[("x.npy", &numbers), ("y.npy", &numbers)], zip::CompressionMethod::Stored);
    let mut bytes = std::fs::read(&path).unwrap();
    for at in 0..bytes.len() - 5 {
        if &bytes[at..at + 5] == b"y.npy" {
            bytes[at] = b'x';
        }
    }
    std::fs::write(&path, bytes).unwrap();
    let message = open_tensors(&path).unwrap_err().message;
    assert!(message.ends_with("x.npz is no valid npz file: two members have one name"), "{message}");
}

/// A small file may claim to unpack to more than any memory holds.
#[test]
fn members_are_unpacked_as_far_as_their_headers_say() {
    let folder = TempFolder::new("value-stores-bomb");
    let (array, path) = (folder.join("x.npy"), folder.join("x.npz"));
    write(&array, &BTreeMap::from([("x".to_owned(), tensors()["a.w"].clone())]));
    let mut numbers = std::fs::read(&array).unwrap();
    archive(&path, &[("x.npy", &numbers)], zip::CompressionMethod::Deflated);
    assert_eq!(open_tensors(&path).unwrap().get_as("x", DType::F32).unwrap().unwrap().shape(), [2, 3]);
    numbers.resize(1 << 22, 0);
    archive(&path, &[("x.npy", &numbers)], zip::CompressionMethod::Deflated);
    let message = open_tensors(&path).unwrap().get_as("x", DType::F32).unwrap().unwrap_err().message;
    assert!(message.ends_with("has more than the 24 bytes of data that its shape (2, 3) takes"), "{message}");
}

#[test]
fn wrong_files_are_named() {
    let folder = TempFolder::new("value-stores-wrong");
    let refused = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        open_tensors(&path).unwrap_err().message
    };
    assert!(refused("x.npz", b"nothing").contains("x.npz is no valid npz file"));
    assert!(refused("x.npy", b"nothing").ends_with("x.npy is no valid npy file: it does not begin as a NumPy array"));
    assert!(open_tensors(folder.join("none.npz")).unwrap_err().message.starts_with("cannot read "));
    std::fs::write(folder.join("x.py"), "def f(x): return x").unwrap();
    let help = open_tensors(folder.join("x.py")).unwrap_err().help.unwrap();
    assert!(help.starts_with("tensor files are named .safetensors, .npz or .npy"), "{help}");
    let error = write_shards(&folder.join("x.py"), &tensors(), 32).unwrap_err();
    assert!(error.message.ends_with("x.py: it is a file, and shards take a folder"), "{error}");
    let empty = folder.join("empty");
    std::fs::create_dir(&empty).unwrap();
    assert!(open_tensors(&empty).unwrap_err().message.ends_with("has no .safetensors file"));
}
