# RUN: %tf-opt %s --pipeline=lower-tir,emit-mlir | %mlir-opt | FileCheck %s
# RUN: %tf-opt %s --pipeline='lower-tir{target=cpu},emit-mlir' | %mlir-opt | FileCheck %s --check-prefix=CPU
# A kernel is a gpu.func whose registers are values; the host launches it. On the CPU the same program is loops over memrefs.
from tilefoundry import func, module
from tilefoundry.dsl import Mesh, Tensor, Topology, tf
from tilefoundry.target import CudaTarget

#       CHECK: gpu.module @kernels
#       CHECK: gpu.func @twice({{.*}}memref<64xf32>{{.*}}) kernel
#       CHECK: gpu.thread_id
#       CHECK: vector.load {{.*}} vector<2xf32>
# CHECK-COUNT-2: arith.mulf
#       CHECK: vector.store
#       CHECK: func.func @main
#       CHECK: gpu.launch_func @kernels::@twice

#   CPU-NOT: gpu
#       CPU: func.func @twice(%{{.*}}: memref<64xf32>, %{{.*}}: memref<64xf32>)
#       CPU: scf.for
#       CPU: arith.mulf


@module(entry="twice", target=CudaTarget("nvidia.h200_sxm"), topologies=(Topology("thread", 32),))
class Twice:
    @func
    def twice(x: Tensor[(64,), "f32"]) -> Tensor[(64,), "f32"]:
        with Mesh(("thread",), (32,), ("lane",)) as t:
            held = tf.reshard(x, layout=(64 @ t.lane,), storage="rmem")
            return tf.reshard(held * 2.0, layout=(64 @ t.lane,), storage="gmem")
