# RUN: %tf-opt %s --module=Host --pipeline=typeinfer,verify -o %t.tfir
# RUN: FileCheck %s < %t.tfir
# RUN: %tf-opt %t.tfir --pipeline=verify | diff %t.tfir -
# RUN: %tf-opt %s --module=Host --pipeline=emit-dsl -o %t.py
# RUN: FileCheck %s --check-prefix=DSL < %t.py
# RUN: %tf-opt %t.py | diff %t.tfir -
# RUN: not %tf-opt %s --module=Stranger 2>&1 | FileCheck %s --check-prefix=STRANGER
# RUN: not %tf-opt %s --module=NoEntry 2>&1 | FileCheck %s --check-prefix=NONE
# RUN: not %tf-opt %s --module=Host --pipeline=emit-mlir 2>&1 | FileCheck %s --check-prefix=EMIT
# A launch of a child module starts its entry.
from tilefoundry import func, module, prim_func
from tilefoundry.dsl import T, Tensor, tf
from tilefoundry.target import CpuTarget


@module(entry="kernel")
class Copies:
    @prim_func
    def kernel(x: Tensor[(8, 4), "f32"], y: Tensor[(8, 4), "f32"]):
        T.copy(x, y)


@module(entry="host")
class Host:
    steps = (Copies.renamed("first"), Copies.renamed("second"))

    @module(entry="double")
    class Values:
        @func
        def double(x: Tensor[(8, 4), "f32"]) -> Tensor[(8, 4), "f32"]:
            sum = x + x
            return sum

    # CHECK: !t0 = (tensor<8x4xf32>, tensor<8x4xf32>) -> unit
    # CHECK: T.launch @second, 1, 1, 1, 32, 1, 1, %x, %y : (!t0, i64,
    # CHECK: T.launch @Values, 1, 1, 1, 32, 1, 1, %x, %y : (!t0, i64,
    # DSL: launch(steps[1], x, y, grid=(1, 1, 1), block=(32, 1, 1)
    # DSL: launch(Values, x, y, grid=(1, 1, 1), block=(32, 1, 1)
    # EMIT: error: `@second` is no function of the module, and code of other modules is not generated
    # EMIT: define what is launched in `Host`
    @prim_func(target=CpuTarget())
    def host(x: Tensor[(8, 4), "f32"], y: Tensor[(8, 4), "f32"]):
        launch(steps[1], x, y, grid=(1,), block=(32,))
        launch(Values, x, y, grid=(1,), block=(32,))


@module(entry="host")
class Stranger:
    @prim_func(target=CpuTarget())
    def host(x: Tensor[(8, 4), "f32"], y: Tensor[(8, 4), "f32"]):
        # STRANGER: error: `launch` starts a child of this module, and the module `Copies` is none
        # STRANGER: launch-module.py:[[@LINE+2]]:16
        # STRANGER: attach it in the `@module` class of the caller: `Copies = Copies`
        launch(Copies, x, y, grid=(1,), block=(32,))


@module(entry="host")
class NoEntry:
    @module
    class Parts:
        @prim_func
        def kernel(x: Tensor[(8, 4), "f32"], y: Tensor[(8, 4), "f32"]):
            T.copy(x, y)

    @prim_func(target=CpuTarget())
    def host(x: Tensor[(8, 4), "f32"], y: Tensor[(8, 4), "f32"]):
        # NONE: error: `launch` starts the entry of a module, and `Parts` has none
        # NONE: launch-module.py:[[@LINE+1]]:16
        launch(Parts, x, y, grid=(1,), block=(32,))
