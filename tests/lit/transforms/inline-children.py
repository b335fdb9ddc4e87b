# RUN: %tf-opt %s --pipeline='inline,verify' | FileCheck %s
# RUN: %tf-opt %s --pipeline=inline --remarks=missed -o /dev/null 2>&1 | FileCheck %s --check-prefix=MISSED
# A call of a child leaves out the child's constants, and the owner of the child alone may do so: such a call stays in its module.
from tilefoundry import func, module
from tilefoundry.dsl import ConstTensor, Tensor, tf


@module(entry="scale")
class Leaf:
    @func
    def scale(x: Tensor[(8,), "f32"], w: ConstTensor[(8,), "f32"]):
        return x * w


@module(entry="twice")
class Middle:
    leaf = Leaf

    @func
    def once(x: Tensor[(8,), "f32"]):
        return leaf(x)

    @func
    def twice(x: Tensor[(8,), "f32"]):
        return once(once(x))


@module(entry="plain")
class Other:
    @func
    def plain(x: Tensor[(8,), "f32"]):
        return tf.exp(x)


# MISSED: the constants of `scale` are its module's
# MISSED: `once` is of another module and calls a child of its own
# CHECK-LABEL: hir.func @top
#  CHECK-NEXT:   "exp"
#  CHECK-NEXT:   call @middle::@once
#  CHECK-NEXT:   call @middle::@once
#  CHECK-NEXT:   hir.return
# CHECK-LABEL: hir.func @twice
#  CHECK-NEXT:   call @leaf::@scale(%x)
#  CHECK-NEXT:   call @leaf::@scale
#  CHECK-NEXT:   hir.return
@module(entry="top")
class Top:
    middle = Middle
    other = Other

    @func
    def top(x: Tensor[(8,), "f32"]):
        return middle(other(x))
