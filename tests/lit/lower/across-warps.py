# RUN: %tf-opt %s --pipeline=typeinfer,lower-tir | FileCheck %s
# The reduced axis is split over warps: their terms meet in shared memory, one slot a warp, lane and cell (4 x 32 x 4).
from tilefoundry import func, module
from tilefoundry.dsl import Mesh, Tensor, Topology, tf
from tilefoundry.target import CudaTarget

# CHECK-LABEL: tir.func @total
#       CHECK: let %[[WS:.*]] = T.alloc_tensor {tensor_type = tensor<512xf32, smem>}
#       CHECK: T.reduce %{{.*}}, %{{.*}}, %[[WS]] {axes = [0], kind = "sum"}


@module(entry="total", target=CudaTarget("nvidia.h200_sxm"), topologies=(Topology("thread", 128),))
class Total:
    @func
    def total(x: Tensor[(64, 128), "f32"]) -> Tensor[(1, 128), "f32"]:
        with Mesh(("thread",), (4, 32), ("warp", "lane")) as t:
            held = tf.reshard(x, layout=(64 @ t.warp, 128 @ t.lane), storage="rmem")
            return tf.reshard(tf.reduce(held, axes=(0,), kind="sum"), layout=(1, 128 @ t.lane), storage="gmem")
