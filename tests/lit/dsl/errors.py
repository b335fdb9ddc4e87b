# RUN: not %tf-opt %s --module=UnknownOp 2>&1 | FileCheck %s --check-prefix=OP
# RUN: not %tf-opt %s --module=Contract 2>&1 | FileCheck %s --check-prefix=CONTRACT
# RUN: not %tf-opt %s --module=Indivisible 2>&1 | FileCheck %s --check-prefix=SPLIT
# RUN: not %tf-opt %s --module=Dtypes 2>&1 | FileCheck %s --check-prefix=DTYPE
# Errors stand at the line and column of the source, with what was found there and the way out.
from tilefoundry import func, module
from tilefoundry.dsl import Mesh, Tensor, Topology, tf
from tilefoundry.target import CudaTarget


@module(entry="f")
class UnknownOp:
    @func
    def f(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:
        # OP: error: {{.*}}`rsqr`
        # OP: errors.py:[[@LINE+2]]:16
        # OP: did you mean {{.*}}rsqrt
        return tf.rsqr(x)


@module(entry="f")
class Contract:
    @func
    def f(h: Tensor[(8, 64), "bf16"], w: Tensor[(32, 16), "bf16"]) -> Tensor[(8, 16), "bf16"]:
        # CONTRACT: error: `tf.matmul` contracts 64 with 32
        # CONTRACT: errors.py:[[@LINE+1]]:16
        return tf.matmul(h, w)


@module(entry="f", topologies=(Topology("thread", 128),))
class Indivisible:
    @func
    def f(x: Tensor[(13, 64), "f32"]) -> Tensor[(13, 64), "f32"]:
        with Mesh(("thread",), (4, 32), ("warp", "lane")) as t:
            # SPLIT: error: {{.*}}13
            # SPLIT: errors.py:[[@LINE+1]]:
            return tf.reshard(x, layout=(13 @ t.warp, 64 @ t.lane), storage="rmem")


@module(entry="f")
class Dtypes:
    @func
    def f(x: Tensor[(8,), "bf16"]) -> Tensor[(8,), "bf16"]:
        # DTYPE: error: {{.*}}bf16{{.*}}i64
        # DTYPE: errors.py:[[@LINE+1]]:16
        return x + 1
