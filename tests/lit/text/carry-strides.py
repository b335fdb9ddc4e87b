# RUN: %tf-opt %s -o %t && %tf-opt - < %t | diff %t -
# RUN: %tf-opt %s | FileCheck %s
# A loop may yield what differs from its carry in strides only; the text reads back.
from tilefoundry import func, module
from tilefoundry.dsl import Mesh, Tensor, Topology, tf
from tilefoundry.target import CudaTarget

# CHECK: hir.grid %{{.*}} = 0 to 4 step 1 iter(%total{{.*}} = %total)


@module(entry="f", target=CudaTarget("nvidia.h200_sxm"), topologies=(Topology("thread", 128),))
class Carry:
    @func
    def f(x: Tensor[(16, 128), "f32"]) -> Tensor[(16, 1), "f32"]:
        with Mesh(("thread",), (4, 32), ("warp", "lane")) as t:
            held = tf.reshard(x, layout=(16 @ t.warp, 128 @ t.lane), storage="rmem")
            first = tf.reduce(held, axes=(1,), kind="max")
            total = tf.reshard(first, layout=((4 @ t.warp, 4, 1, 1), (0, 1, 0, 0)), storage="rmem")
            for i in range(4):
                total = tf.reduce(held * total, axes=(1,), kind="max")
            return tf.reshard(total, layout=(16 @ t.warp, 1), storage="gmem")
