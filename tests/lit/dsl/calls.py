# RUN: %tf-opt %s --module=Model | FileCheck %s
# RUN: %tf-opt %s --module=Model -o %t && %tf-opt - < %t | diff %t -
# RUN: %tf-opt %s --module=Model --pipeline=typeinfer,verify | diff %t -
# RUN: not %tf-opt %s --module=Inexpressible 2>&1 | FileCheck %s --check-prefix=INSIDE
# RUN: not %tf-opt %s --module=Shapes 2>&1 | FileCheck %s --check-prefix=SHAPES
# A parameter without a layout takes values of any layout and storage: the call is of an instance of the callee, which is typed
# for its arguments. Calls with the same types share one; it belongs to the module of the callee.
from tilefoundry import func, module
from tilefoundry.dsl import ConstTensor, Mesh, Tensor, Topology, tf
from tilefoundry.target import CudaTarget

THREADS = (Topology("thread", 4),)


@func
def gate(x: Tensor[(4, 8), "f32"]):
    return tf.sigmoid(x)


@module(entry="scaled")
class Scale:
    @func
    def scaled(x: Tensor[(4, 8), "f32"], by: ConstTensor[(8,), "f32"]):
        return x * 2.0


# CHECK-LABEL: module @Model
@module(entry="f", target=CudaTarget("nvidia.h200_sxm"), topologies=THREADS)
class Model:
    scale = Scale

    # CHECK: hir.func @total(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
    @func
    def total(x: Tensor[(4, 8), "f32"]):
        acc = x * 0.0
        for i in range(4):
            acc = acc + x
        return acc

    @func
    def twice(x: Tensor[(4, 8), "f32"]):
        return total(total(x))

    # CHECK-LABEL: hir.func @f
    @func
    def f(x: Tensor[(4, 8), "f32"]):
        # The types of the declaration: the callee itself.
        # CHECK: call @twice(%x)
        plain = twice(x)
        with Mesh(("thread",), (4,), ("t",)) as m:
            held = tf.reshard(plain, layout=(4 @ m.t, 8), storage="rmem")
            # CHECK: %a = call @twice$1(%held)
            # CHECK: %b = call @scale::@scaled$1(%a)
            a = twice(held)
            b = scale(a)
            # A function of the file is a private callee of the module.
            # CHECK: call @gate$1(%b)
            # CHECK: call @gate$1(%a)
            return gate(b) + gate(a)

    # A callee's callees are elaborated too; loops carry the types of their initial values.
    # CHECK: hir.instance @total$1(%x: [[T:tensor<4x8xf32, #.*, rmem>]]) -> [[T]] origin(@total)
    # CHECK: hir.grid %i = 0 to 4 step 1 iter(%{{.*}} = %acc) : [[T]]
    # CHECK: hir.instance @twice$1(%x: [[T]]) -> [[T]] origin(@twice)
    # CHECK: call @total$1(%x)
    # CHECK: call @total$1(%0)
    # CHECK: hir.instance @gate(%x: tensor<4x8xf32>)
    # CHECK: hir.instance @gate$1(%x: [[T]]) -> [[T]] origin(@gate)
    # The constants of a child come with it and keep their type.
    # CHECK: module @scale
    # CHECK: hir.instance @scaled$1(%x: [[T]], %by: const tensor<8xf32>) -> [[T]] origin(@scaled)


@module(entry="f", target=CudaTarget("nvidia.h200_sxm"), topologies=THREADS)
class Inexpressible:
    @func
    def flat(x: Tensor[(3, 4), "f32"]):
        # A layout that an op cannot express is refused there.
        # INSIDE: error: {{.*}}reshape
        # INSIDE: calls.py:[[@LINE+1]]:16
        return tf.reshape(x, new_shape=(2, 6))

    @func
    def f(x: Tensor[(3, 4), "f32"]):
        with Mesh(("thread",), (4,), ("t",)) as m:
            held = tf.reshard(x, layout=(3, 4 @ m.t), storage="rmem")
            # INSIDE: return flat(held)
            # INSIDE-NEXT: ---------- in this call of `flat`
            return flat(held)


@module(entry="f")
class Shapes:
    @func
    def g(x: Tensor[(3, 4), "f32"]):
        return x

    @func
    def f(x: Tensor[(4, 3), "f32"]):
        # SHAPES: error: the parameter `x` of `g` is Tensor[(3, 4), "f32"], found Tensor[(4, 3), "f32"]
        # SHAPES: calls.py:[[@LINE+1]]:16
        return g(x)
