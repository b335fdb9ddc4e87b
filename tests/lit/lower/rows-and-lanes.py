# RUN: %tf-opt %s --pipeline=typeinfer,lower-tir | FileCheck %s
# The rows of 16 are shared out to warps, a row to the lanes of its warp: the mean needs shuffles only, no workspace and no barrier.
from tilefoundry import func, module
from tilefoundry.dsl import Mesh, Tensor, Topology, tf
from tilefoundry.target import CudaTarget

# CHECK-DAG: #[[VIEW:.*]] = shard<(4, 4, 32, 16):(2048, 512, 16, 1), [S(0), S(2)], #{{.*}}>
# CHECK-DAG: #[[REGS:.*]] = shard<(4, 4, 32, 16):(0, 16, 0, 1), [S(0), S(2)], #{{.*}}>
# CHECK-DAG: #[[CELLS:.*]] = shard<(4, 4, 1, 1):(0, 1, 0, 0), [S(0), B], #{{.*}}>
# CHECK-LABEL: tir.func @centre(%x: tensor<16x512xf32>, %out: tensor<16x512xf32>)
#       CHECK: tir.mesh thread = #
#       CHECK: let %[[XV:.*]] = T.tensor_view %x {layout = #[[VIEW]]}
#       CHECK: let %[[X:.*]] = T.alloc_tensor {tensor_type = [[T:.*]]}
#       CHECK: T.copy %[[XV]], %[[X]]
#   CHECK-NOT: smem
#       CHECK: T.reduce %[[X]], %[[R:.*]] {axes = [1], kind = "mean"}
#   CHECK-NOT: T.sync
#       CHECK: T.binary %[[X]], %[[R]], %[[Y:.*]] {kind = "sub"}
#       CHECK: let %[[OUT:.*]] = T.tensor_view %out
#       CHECK: T.copy %[[Y]], %[[OUT]]
# CHECK-LABEL: tir.func @main
#       CHECK: T.launch @centre, 1, 1, 1, 128, 1, 1, %x, %out


@module(entry="centre", target=CudaTarget("nvidia.h200_sxm"), topologies=(Topology("thread", 128),))
class Centre:
    @func
    def centre(x: Tensor[(16, 512), "f32"]) -> Tensor[(16, 512), "f32"]:
        with Mesh(("thread",), (4, 32), ("warp", "lane")) as t:
            held = tf.reshard(x, layout=(16 @ t.warp, 512 @ t.lane), storage="rmem")
            centred = held - tf.reduce(held, axes=(1,), kind="mean")
            return tf.reshard(centred, layout=(16 @ t.warp, 512 @ t.lane), storage="gmem")
