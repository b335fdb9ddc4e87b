# RUN: %tf-opt %s --pipeline=typeinfer,verify | tee %t.tfir | FileCheck %s
# RUN: %tf-opt %t.tfir | diff %t.tfir -
# RUN: not %tf-opt %s --pipeline=lower-tir 2>&1 | FileCheck %s --check-prefix=LOWER
# Programs may be for Apple's matrix units; nothing generates code for them.
from tilefoundry import func, module
from tilefoundry.dsl import Tensor, Topology, tf
from tilefoundry.target import AmxTarget


# CHECK: module @Outer target("apple.m2_pro") topology(core = 8, amx = 1)
# LOWER: error: the module's target is `apple.m2_pro`, which runs no kernels
@module(entry="f", target=AmxTarget(), topologies=(Topology("core", 8), Topology("amx", 1)))
class Outer:
    @func
    def f(x: Tensor[(32, 32), "f32"]) -> Tensor[(32, 32), "f32"]:
        return tf.relu(x)
