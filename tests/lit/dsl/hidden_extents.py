# RUN: %tf-opt %s --pipeline=verify | tee %t.tfir | FileCheck %s
# RUN: %tf-opt %t.tfir --pipeline=verify | diff %t.tfir -
# RUN: %tf-opt %t.tfir --pipeline=emit-dsl -o %t.py
# RUN: FileCheck %s --check-prefix=DSL < %t.py
# RUN: %tf-opt %t.py --pipeline=verify | diff %t.tfir -
# A device function takes the extents that its body mentions as its last parameters; callers pass them on, a launch does without,
# and the author sees nothing of them.
from tilefoundry import module, prim_func
from tilefoundry.dsl import DimVar, T, Tensor
from tilefoundry.target import CpuTarget, CudaTarget

N = DimVar("n", 1, 65)


@module(entry="host", target=CudaTarget("nvidia.h200_sxm"))
class Rows:
    # CHECK: tir.func @copy(%src: tensor<[#n]x8xf32>, %dst: tensor<[#n]x8xf32>, %src_shape_0: tensor<i32, rmem>)
    # CHECK-SAME: outputs(1)
    # DSL: def copy(
    # DSL-NOT: shape
    @prim_func
    def copy(src: Tensor[(N, 8), "f32"], dst: Tensor[(N, 8), "f32"]):
        T.copy(src, dst)

    # CHECK: tir.func @kernel(%x: {{.*}}, %out: {{.*}}, %x_shape_0: tensor<i32, rmem>)
    # CHECK: [[N:%[0-9]+]] = shape_of %x[0]
    # CHECK: tir.call @copy(%x, %out, [[N]])
    # DSL: copy(x, out)
    @prim_func
    def kernel(x: Tensor[(N, 8), "f32"], out: Tensor[(N, 8), "f32"]):
        copy(x, out)

    # CHECK: tir.func @host(%x: tensor<[#n]x8xf32>, %out: tensor<[#n]x8xf32>) target("cpu")
    # CHECK: T.launch @kernel, {{.*}}, %x, %out :
    @prim_func(target=CpuTarget())
    def host(x: Tensor[(N, 8), "f32"], out: Tensor[(N, 8), "f32"]):
        launch(kernel, x, out, grid=(x.shape[0],), block=(32,))
