# RUN: %tf-opt %s --pipeline=typeinfer,lower-tir | FileCheck %s
# Rows held by warps become columns held by warps: every element changes its owner, through shared memory and a barrier.
from tilefoundry import func, module
from tilefoundry.dsl import Mesh, Tensor, Topology, tf
from tilefoundry.target import CudaTarget

# CHECK-LABEL: tir.func @turn
#       CHECK: let %[[S:.*]] = T.alloc_tensor {tensor_type = tensor<32x32xf32, #{{.*}}, smem>}
#       CHECK: let %[[MINE:.*]] = T.tensor_view %[[S]]
#       CHECK: T.copy %{{.*}}, %[[MINE]]
#       CHECK: T.sync {mesh = #{{.*}}}
#       CHECK: let %[[THEIRS:.*]] = T.tensor_view %[[S]]
#       CHECK: T.copy %[[THEIRS]],


@module(entry="turn", target=CudaTarget("nvidia.h200_sxm"), topologies=(Topology("thread", 128),))
class Turn:
    @func
    def turn(x: Tensor[(32, 32), "f32"]) -> Tensor[(32, 32), "f32"]:
        with Mesh(("thread",), (4, 32), ("warp", "lane")) as t:
            rows = tf.reshard(x, layout=(32 @ t.warp, 32 @ t.lane), storage="rmem")
            columns = tf.reshard(tf.exp(rows), layout=(32 @ t.lane, 32 @ t.warp), storage="rmem")
            return tf.reshard(columns, layout=(32 @ t.lane, 32 @ t.warp), storage="gmem")
