# RUN: not %tf-opt %s --pipeline='evaluate{mesh=all dims=tokens:3 random=7}' 2>&1 | FileCheck %s
# RUN: %tf-opt %s --pipeline='evaluate{entry=right mesh=assembled dims=tokens:3 random=7}' | FileCheck %s --check-prefix=RIGHT
# Terms of a reduction are no value: where something takes them for it, evaluation by position says so. Here a prototype takes a product
# that is not completed; its variants are typed for whole values.
from tilefoundry import func, module
from tilefoundry.dsl import DimVar, DimVarRangePat, Mesh, Tensor, Topology, tf
from tilefoundry.target import CudaTarget

T = DimVar("tokens", 1, 9)


@module(entry="wrong", target=CudaTarget("nvidia.h200_sxm"), topologies=(Topology("cta", 4),))
class M:
    @func
    def act(x: Tensor[(T, 6), "f32"]) -> Tensor[(T, 6), "f32"]:
        pass

    @act.specialize(DimVarRangePat("tokens", 1, 9))
    def all_of(x: Tensor[(T, 6), "f32"]) -> Tensor[(T, 6), "f32"]:
        return tf.relu(x)

    @func
    def wrong(a: Tensor[(T, 8), "f32"], b: Tensor[(8, 6), "f32"]):
        with Mesh(("cta",), (4,), ("part",)) as g:
            term = tf.reshard(a, layout=(T, 8 @ g.part)) @ tf.reshard(b, layout=(8 @ g.part, 6))
            # CHECK: error: {{.*}}positions along `part` hold terms of a sum that is not completed here
            # CHECK-NEXT: positions-terms.py:[[@LINE+3]]
            # CHECK: `term` is P("sum") on `part`
            # CHECK: help: reshard it to Broadcast or Split on `part` first: that completes the sum
            return act(term)

    # RIGHT: out0 f32
    @func
    def right(a: Tensor[(T, 8), "f32"], b: Tensor[(8, 6), "f32"]):
        with Mesh(("cta",), (4,), ("part",)) as g:
            term = tf.reshard(a, layout=(T, 8 @ g.part)) @ tf.reshard(b, layout=(8 @ g.part, 6))
            return act(tf.reshard(term, layout=(T, 6)))
