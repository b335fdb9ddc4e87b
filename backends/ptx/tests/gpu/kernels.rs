//! PTX of small kernels: access widths, shuffles, math without a vendor library, metadata.
use crate::common::{assemble, ptx};
use tf_mlir::Session;
use tf_ptx::{Arch, PtxOptions, compile};

const COPY: &str = "gpu.module @kernels {
  gpu.func @copy(%x: memref<4096xf32> {llvm.noalias, llvm.readonly}, %h: memref<8192xbf16>,
                 %o: memref<4096xf32>, %g: memref<8192xbf16>)
      workgroup(%w: memref<512xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c128 = arith.constant 128 : index
    %first = arith.muli %b, %c128 : index
    %id = arith.addi %first, %t : index
    %i = arith.muli %id, %c4 : index
    %j = arith.muli %id, %c8 : index
    %s = arith.muli %t, %c4 : index
    %v = vector.load %x[%i] {alignment = 16 : i64} : memref<4096xf32>, vector<4xf32>
    vector.store %v, %w[%s] {alignment = 16 : i64} : memref<512xf32, #gpu.address_space<workgroup>>, vector<4xf32>
    gpu.barrier
    %u = vector.load %w[%s] {alignment = 16 : i64} : memref<512xf32, #gpu.address_space<workgroup>>, vector<4xf32>
    vector.store %u, %o[%i] {alignment = 16 : i64} : memref<4096xf32>, vector<4xf32>
    %n = vector.load %h[%j] {alignment = 16 : i64} : memref<8192xbf16>, vector<8xbf16>
    vector.store %n, %g[%j] {alignment = 16 : i64} : memref<8192xbf16>, vector<8xbf16>
    gpu.return
  }
}";

#[test]
fn vector_accesses_are_128_bits_wide() {
    for arch in Arch::known().map(Arch::name) {
        let result = ptx(COPY, arch);
        // LLVM writes four 32-bit or two 64-bit lanes, depending on the architecture.
        let count = |what: &str| result.ptx.matches(what).count();
        let wide = |what: &str| count(&format!("{what}.v4.b32")) + count(&format!("{what}.v2.b64"));
        assert_eq!(wide("ld.global.nc"), 1, "{}", result.ptx);
        assert_eq!((wide("ld.global"), wide("st.global")), (1, 2));
        assert_eq!((wide("ld.shared"), wide("st.shared")), (1, 1));
        assert_eq!(count(".shared .align 16 .b8"), 1);
        assert_eq!(count("bar.sync"), 1);
        assert!(result.ptx.contains(&format!(".target {arch}")));
        assemble(&result.ptx, arch);
    }
}

#[test]
fn kernel_metadata() {
    let result = ptx(COPY, "sm_90");
    let [kernel] = &result.kernels[..] else { panic!("{:?}", result.kernels) };
    assert_eq!((kernel.name.as_str(), kernel.parameters), ("copy", 4));
    assert_eq!((kernel.block, kernel.shared_bytes), (Some([128, 1, 1]), 2048));
    assert!(result.ptx.contains(".reqntid 128, 1, 1") && result.ptx.contains(".minnctapersm 1"));
    assert!(!result.ptx.contains(".maxntid"));
    assert!(result.llvm_ir.contains("define ptx_kernel void @copy"));
}

#[test]
fn lane_reduction_shuffles_and_contracts() {
    let text = "gpu.module @kernels {
  gpu.func @sum(%x: memref<32xf32>, %o: memref<32xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %t = gpu.thread_id x
    %width = arith.constant 32 : i32
    %c16 = arith.constant 16 : i32
    %c8 = arith.constant 8 : i32
    %v0 = memref.load %x[%t] : memref<32xf32>
    %s0, %p0 = gpu.shuffle xor %v0, %c16, %width : f32
    %v1 = arith.addf %v0, %s0 : f32
    %s1, %p1 = gpu.shuffle xor %v1, %c8, %width : f32
    %m = arith.mulf %v1, %v1 fastmath<contract> : f32
    %v2 = arith.addf %m, %s1 fastmath<contract> : f32
    memref.store %v2, %o[%t] : memref<32xf32>
    gpu.return
  }
}";
    let result = ptx(text, "sm_80");
    assert_eq!(result.ptx.matches("shfl.sync.bfly.b32").count(), 2, "{}", result.ptx);
    assert_eq!(result.ptx.matches("fma.rn.f32").count(), 1);
    assemble(&result.ptx, "sm_80");
}

#[test]
fn dynamic_shared_memory_and_partial_barriers() {
    let text = "gpu.module @kernels {
  gpu.func @f(%x: memref<128xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %id = arith.constant 1 : i32
    %threads = arith.constant 64 : i32
    %mask = arith.constant 0xFF00 : i32
    %bytes = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %w = memref.view %bytes[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<128xf32, #gpu.address_space<workgroup>>
    %v = memref.load %x[%t] : memref<128xf32>
    memref.store %v, %w[%t] : memref<128xf32, #gpu.address_space<workgroup>>
    nvvm.barrier id = %id number_of_threads = %threads
    nvvm.bar.warp.sync %mask : i32
    %u = memref.load %w[%t] : memref<128xf32, #gpu.address_space<workgroup>>
    memref.store %u, %x[%t] : memref<128xf32>
    gpu.return
  }
}";
    let result = ptx(text, "sm_90");
    for expected in [".extern .shared .align 16 .b8 __dynamic_shmem__0[]", "bar.sync \t1, 64", "bar.warp.sync \t65280"]
    {
        assert!(result.ptx.contains(expected), "no `{expected}` in {}", result.ptx);
    }
    assert_eq!(result.kernels[0].shared_bytes, 0);
    assemble(&result.ptx, "sm_90");
}

#[test]
fn what_cannot_be_compiled_is_refused() {
    let session = Session::new();
    let options = PtxOptions::new("sm_90".parse().unwrap());
    let error =
        |text: &str, options: &PtxOptions| compile(&session, &session.parse(text).unwrap(), options).unwrap_err();
    assert_eq!(error("module {}", &options).message, "the module holds no gpu.module");
    assert_eq!(
        error("gpu.module @a {}\ngpu.module @b {}", &options).message,
        "the module holds more than one gpu.module"
    );
    let level = PtxOptions { optimization: 4, ..options };
    assert_eq!(error("gpu.module @a {}", &level).message, "optimization level 4 is not one of 0, 1, 2, 3");
    let library = "gpu.module @kernels { gpu.func @f(%x: memref<1xf32>) kernel {
      %c0 = arith.constant 0 : index
      %v = memref.load %x[%c0] : memref<1xf32>
      %e = math.exp %v : f32
      memref.store %e, %x[%c0] : memref<1xf32>
      gpu.return } }";
    assert_eq!(error(library, &options).message, "GPU code calls functions that are not defined: __nv_expf");
}
