# RUN: %tf-opt %s --pipeline='evaluate{entry=whole random=7}'
# RUN: not %tf-opt %s --pipeline='evaluate{entry=part random=7}' 2>&1 | FileCheck %s
# Evaluation without positions has the value as a whole, and no part of it.
from tilefoundry import func, module
from tilefoundry.dsl import Mesh, Tensor, Topology, tf
from tilefoundry.target import CudaTarget

# CHECK: error: `tf.local`: a value split over `w` is another part at every position
# CHECK: help: evaluate with `mesh=all`


@module(entry="whole", target=CudaTarget("nvidia.h200_sxm"), topologies=(Topology("thread", 64),))
class M:
    @func
    def whole(x: Tensor[(16, 64), "f32"]) -> Tensor[(16, 64), "f32"]:
        with Mesh(("thread",), (4, 16), ("w", "l")) as m:
            held = tf.reshard(x, layout=(16, 64), storage="rmem")
            return tf.local(held)

    @func
    def part(x: Tensor[(16, 64), "f32"]):
        with Mesh(("thread",), (4, 16), ("w", "l")) as m:
            held = tf.reshard(x, layout=(16 @ m.w, 64), storage="rmem")
            return tf.local(held)
