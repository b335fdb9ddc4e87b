# RUN: %tf-opt %s --pipeline='typeinfer,lower-tir{target=cpu}' | FileCheck %s
# On the CPU values are logical: no mesh, no views of parts, host buffers only.
from tilefoundry import func, module
from tilefoundry.dsl import Mesh, Tensor, Topology, tf
from tilefoundry.target import CudaTarget

#   CHECK-NOT: mesh
# CHECK-LABEL: tir.func @scale(%x: tensor<8x64xf32, host>, %out: tensor<8x64xf32, host>) target("cpu")
#       CHECK: let %[[C:.*]] = T.alloc_tensor {tensor_type = tensor<f32, host>}
#       CHECK: T.fill %[[C]], 2.0
#       CHECK: let %[[Y:.*]] = T.alloc_tensor {tensor_type = tensor<8x64xf32, host>}
#       CHECK: T.binary %x, %[[C]], %[[Y]] {kind = "mul"}
#       CHECK: T.copy %[[Y]], %out
#   CHECK-NOT: T.launch


@module(entry="scale", target=CudaTarget("nvidia.h200_sxm"), topologies=(Topology("thread", 32),))
class Scale:
    @func
    def scale(x: Tensor[(8, 64), "f32"]) -> Tensor[(8, 64), "f32"]:
        with Mesh(("thread",), (32,), ("lane",)) as t:
            held = tf.reshard(x, layout=(8, 64 @ t.lane), storage="rmem")
            return tf.reshard(held * 2.0, layout=(8, 64 @ t.lane), storage="gmem")
