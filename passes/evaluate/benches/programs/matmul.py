"""A product of two square matrices."""
from tilefoundry import func, module
from tilefoundry.dsl import Tensor, tf


@module(entry="run")
class Matmul:
    @func
    def run(a: Tensor[(1024, 1024), "f32"], b: Tensor[(1024, 1024), "f32"]):
        return a @ b
