# RUN: not %tf-opt %s --module=Levels --pipeline=verify 2>&1 | FileCheck %s --check-prefix=LEVELS
# RUN: not %tf-opt %s --module=Body --pipeline=verify 2>&1 | FileCheck %s --check-prefix=BODY
# RUN: not %tf-opt %s --module=Device --pipeline=verify 2>&1 | FileCheck %s --check-prefix=DEVICE
# RUN: not %tf-opt %s --module=Umat --pipeline=verify 2>&1 | FileCheck %s --check-prefix=UMAT
# A message about what a module declares points at the declaration.
from tilefoundry import func, module
from tilefoundry.dsl import Tensor, Topology
from tilefoundry.target import CudaTarget


# LEVELS: error: level `thread` has 4096 positions, but `nvidia.h200_sxm` allows at most 1024
# LEVELS-NEXT: header.py:[[@LINE+1]]:52
@module(entry="f", topologies=(Topology("cta", 4), Topology("thread", 4096)))
class Levels:
    @func
    def f(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:
        return x


@module(entry="f")
class Body:
    # BODY: error: `nvidia.h200_sxm` has no level `warp`; it has `cta`, `thread`
    # BODY-NEXT: header.py:[[@LINE+1]]:19
    topologies = (Topology("warp", 4),)

    @func
    def f(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:
        return x


# DEVICE: error: unknown device `nvidia.h2`
# DEVICE-NEXT: header.py:[[@LINE+1]]:27
@module(entry="f", target=CudaTarget("nvidia.h2"))
class Device:
    @func
    def f(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:
        return x


@module(entry="f")
class Umat:
    @func
    # UMAT: error: parameter `x` of `f` is in umat, which is no place in memory
    # UMAT-NEXT: header.py:[[@LINE+1]]:11
    def f(x: Tensor[(), "i64", "umat"]) -> Tensor[(), "i64"]:
        return x
