"""Programs on which the faults of loops.rs are wrong."""

from tilefoundry import func, module
from tilefoundry.dsl import Tensor, tf


@module(entry="f")
class DroppedCarry:
    @func
    def f(x: Tensor[(8,), "f32"], y: Tensor[(8,), "f32"]):
        acc = x
        for i in range(4):
            acc = acc + y
        return acc


@module(entry="f")
class ExchangedCarries:
    @func
    def f(x: Tensor[(8,), "f32"], y: Tensor[(8,), "f32"]):
        a = x
        b = y
        for i in range(3):
            a = a * y
            b = b + x
        return a - b


@module(entry="f")
class EagerCarry:
    @func
    def f(x: Tensor[(8,), "f32"], y: Tensor[(8,), "f32"]):
        a = x
        b = y
        for i in range(3):
            c = a
            a = a + y
            b = c
        return a * b


@module(entry="f")
class WrongInitialValue:
    @func
    def f(x: Tensor[(8,), "f32"], y: Tensor[(8,), "f32"]):
        acc = x
        for i in range(4):
            acc = acc + y
        return acc


@module(entry="f")
class OffByOne:
    @func
    def f(x: Tensor[(8,), "f32"], y: Tensor[(8,), "f32"]):
        acc = x
        for i in range(4):
            acc = acc + y
        return acc


@module(entry="f")
class LateStart:
    @func
    def f(x: Tensor[(8,), "f32"], y: Tensor[(8,), "f32"]):
        acc = x
        for i in range(4):
            acc = acc + y
        return acc


@module(entry="f")
class LostUnrolledHalf:
    @func
    def f(x: Tensor[(8,), "f32"], y: Tensor[(8,), "f32"]):
        acc = x
        for i in range(4):
            acc = acc + y
        return acc


@module(entry="f")
class HoistedCarry:
    @func
    def f(x: Tensor[(8,), "f32"], y: Tensor[(8,), "f32"]):
        acc = x
        for i in range(4):
            acc = acc + y
        return acc
