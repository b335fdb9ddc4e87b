"""Programs on which the faults of axes.rs are wrong."""

from tilefoundry import func, module
from tilefoundry.dsl import Tensor, tf


@module(entry="f")
class WrongAxis:
    @func
    def f(x: Tensor[(4, 4), "f32"]):
        return tf.reduce(x, axes=(0,), keepdim=False, kind="sum")


@module(entry="f")
class WrongReduction:
    @func
    def f(x: Tensor[(4, 4), "f32"]):
        return tf.reduce(x, axes=(1,), kind="mean")


@module(entry="f")
class LostAbsolute:
    @func
    def f(x: Tensor[(4, 4), "f32"]):
        return tf.reduce(x, axes=(1,), kind="abs_max")


@module(entry="f")
class ConcatAxis:
    @func
    def f(x: Tensor[(4, 4), "f32"], y: Tensor[(4, 4), "f32"]):
        return tf.concat(x, y, axis=0)


@module(entry="f")
class InversePermutation:
    @func
    def f(x: Tensor[(3, 3, 3), "f32"]):
        return tf.transpose(x, perm=(1, 2, 0))


@module(entry="f")
class ReshapeForTranspose:
    @func
    def f(x: Tensor[(2, 3), "f32"]):
        return tf.transpose(x, perm=(1, 0))


@module(entry="f")
class SoftmaxAxis:
    @func
    def f(x: Tensor[(4, 6), "f32"]):
        return tf.softmax(x, axis=-1)


@module(entry="f")
class ReversedParts:
    @func
    def f(x: Tensor[(8,), "f32"]):
        low, high = tf.split(x, axis=0, num_splits=2)
        return low * high * high
