# RUN: not %tf-opt %s --module=Unplaced --pipeline=lower-tir 2>&1 | FileCheck %s --check-prefix=UNPLACED
# RUN: not %tf-opt %s --module=OverCtas --pipeline=lower-tir 2>&1 | FileCheck %s --check-prefix=CTAS
# RUN: not %tf-opt %s --module=Scratch --pipeline=lower-tir 2>&1 | FileCheck %s --check-prefix=SCRATCH
# What lowering cannot do it refuses at the source line, with the way out.
from tilefoundry import func, module
from tilefoundry.dsl import Mesh, Tensor, Topology, tf
from tilefoundry.target import CudaTarget

H200 = CudaTarget("nvidia.h200_sxm")


@module(entry="f", target=H200, topologies=(Topology("thread", 32),))
class Unplaced:
    @func
    def f(x: Tensor[(32,), "f32"]) -> Tensor[(32,), "f32"]:
        # UNPLACED: error: a kernel computes in registers, but this value lies in gmem
        # UNPLACED: refusals.py:[[@LINE+2]]:16
        # UNPLACED: help: reshard the operands to rmem first
        return x + x


@module(entry="f", target=H200, topologies=(Topology("cta", 4), Topology("thread", 32)))
class OverCtas:
    @func
    def f(x: Tensor[(4, 32), "f32"]) -> Tensor[(1, 32), "f32"]:
        with Mesh(("cta", "thread"), (4, 32), ("c", "t")) as m:
            held = tf.reshard(x, layout=(4 @ m.c, 32 @ m.t), storage="rmem")
            # CTAS: error: axis 0 is reduced but split over CTAs by `c`
            # CTAS: refusals.py:[[@LINE+1]]:
            total = tf.reduce(held, axes=(0,), kind="sum")
            return tf.reshard(total, layout=(1, 32 @ m.t), storage="gmem")


@module(entry="f", target=H200, topologies=(Topology("thread", 32),))
class Scratch:
    @func
    def f(x: Tensor[(32,), "f32"]) -> Tensor[(32,), "f32"]:
        with Mesh(("thread",), (32,), ("t",)) as m:
            held = tf.reshard(x, layout=(32 @ m.t,), storage="rmem")
            # SCRATCH: error: a move to gmem that is not the function's result
            # SCRATCH: refusals.py:[[@LINE+1]]:
            parked = tf.reshard(held, layout=(32 @ m.t,), storage="gmem")
            again = tf.reshard(parked, layout=(32 @ m.t,), storage="rmem")
            return tf.reshard(again, layout=(32 @ m.t,), storage="gmem")
