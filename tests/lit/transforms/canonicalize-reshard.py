# RUN: %tf-opt %s --pipeline='typeinfer,canonicalize' | FileCheck %s
# A value that is spread and put together again is the value, unless terms are added up on the way.
from tilefoundry import func, module
from tilefoundry.dsl import Mesh, P, Tensor, Topology, tf
from tilefoundry.target import CudaTarget


@module(target=CudaTarget("nvidia.h200_sxm"), topologies=(Topology("thread", 64),))
class Reshards:
    # CHECK-LABEL: hir.func @back
    #       CHECK:   %[[HELD:.*]] = tf.reshard %x
    #  CHECK-NEXT:   hir.return %[[HELD]]
    @func
    def back(x: Tensor[(16, 64), "f32"]):
        with Mesh(("thread",), (4, 16), ("w", "l")) as m:
            held = tf.reshard(x, layout=(16 @ m.w, 64), storage="rmem")
            there = tf.reshard(held, layout=(16, 64 @ m.l), storage="rmem")
            return tf.reshard(there, layout=(16 @ m.w, 64), storage="rmem")

    # CHECK-LABEL: hir.func @completed
    # CHECK-COUNT-3: tf.reshard
    @func
    def completed(x: Tensor[(16, 64), "f32"]):
        with Mesh(("thread",), (4, 16), ("w", "l")) as m:
            terms = tf.reshard(x, layout=((16, 64), {m.w @ P("sum")}), storage="rmem")
            whole = tf.reshard(terms, layout=(16, 64), storage="rmem")
            return tf.reshard(whole, layout=((16, 64), {m.w @ P("sum")}), storage="rmem")
