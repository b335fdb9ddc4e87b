# RUN: not %tf-opt %s --pipeline='evaluate{mesh=all random=7}' 2>&1 | FileCheck %s
# RUN: %tf-opt %s --pipeline='evaluate{entry=meant mesh=all random=7}' | FileCheck %s --check-prefix=MEANT
# A value that is Broadcast along a mesh axis must be one value there: that it is not, is found where it is made. A window that begins at
# a mesh coordinate is meant to differ.
from tilefoundry import func, module
from tilefoundry.dsl import Mesh, Tensor, Topology, tf
from tilefoundry.target import CudaTarget


@module(entry="f", target=CudaTarget("nvidia.h200_sxm"), topologies=(Topology("thread", 8),))
class M:
    @func
    def f(x: Tensor[(4, 8), "f32"]):
        with Mesh(("thread",), (2, 4), ("w", "l")) as m:
            parts = tf.reshard(x, layout=(4, 8 @ m.l), storage="rmem")
            own = tf.local(parts)
            # CHECK: error: `whole` = `tf.reshard`: positions along `l` hold different values, where the type says Broadcast
            # CHECK-NEXT: positions-disagree.py:[[@LINE+4]]
            # CHECK: made from `own`
            # CHECK: note: at [0, 0] position w=0 l=0 holds {{.*}}, position w=0 l=1 holds
            # CHECK: help: a value that is another at every position cannot be placed
            whole = tf.reshard(own, layout=(4, 2))
            return whole + whole

    # MEANT: out0 f32 (2, 4, 1, 8)
    @func
    def meant(x: Tensor[(8, 8), "f32"]):
        with Mesh(("thread",), (2, 4), ("w", "l")) as m:
            at = m.w * 4 + m.l
            row = tf.reshard(x[at : at + 1, :], layout=(1, 8), storage="rmem")
            return row + row
