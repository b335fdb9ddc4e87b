"""Programs on which the faults of statements.rs are wrong."""

from tilefoundry import DType, TensorType, module, prim_func
from tilefoundry.dsl import Mesh, S, T, Tensor, Topology
from tilefoundry.ir.types.shard import Layout, ShardLayout
from tilefoundry.target import CpuTarget, CudaTarget


@module(entry="f", target=CudaTarget("nvidia.h200_sxm"), topologies=(Topology("thread", 32),))
class MissingBarrier:
    @prim_func(target=CudaTarget("nvidia.h200_sxm"))
    def f(x: Tensor[(32,), "f32"], out: Tensor[(32,), "f32"]):
        with Mesh((Topology("thread", 32),), Layout((4, 8), (8, 1)), names=("p", "q")) as m:
            source = T.tensor_view(x, layout=ShardLayout(layout=Layout((4, 8), (8, 1)), attrs=(S(0), S(1)), mesh=m))
            target = T.tensor_view(out, layout=ShardLayout(layout=Layout((4, 8), (8, 1)), attrs=(S(0), S(1)), mesh=m))
            box = T.alloc_tensor(TensorType(shape=(32,), dtype=DType.f32, layout=Layout((32,), (1,)), storage="smem"))
            rows = T.tensor_view(box, layout=ShardLayout(layout=Layout((4, 8), (8, 1)), attrs=(S(0), S(1)), mesh=m))
            turned = T.tensor_view(box, layout=ShardLayout(layout=Layout((4, 8), (1, 4)), attrs=(S(0), S(1)), mesh=m))
            T.copy(source, rows)
            T.sync(m)
            T.copy(turned, target)


@module(entry="f", target=CpuTarget())
class LostStore:
    @prim_func(target=CpuTarget())
    def f(x: Tensor[(8,), "f32"], y: Tensor[(8,), "f32"], out: Tensor[(8,), "f32"]):
        T.copy(x, out)
        T.binary(out, y, out, kind="add")


@module(entry="f", target=CpuTarget())
class LostCopy:
    @prim_func(target=CpuTarget())
    def f(x: Tensor[(8,), "f32"], y: Tensor[(8,), "f32"], out: Tensor[(8,), "f32"]):
        T.unary(x, out, kind="neg")
        T.copy(y, out)


@module(entry="f", target=CpuTarget())
class ReorderedStores:
    @prim_func(target=CpuTarget())
    def f(x: Tensor[(8,), "f32"], y: Tensor[(8,), "f32"], out: Tensor[(8,), "f32"]):
        T.binary(x, y, out, kind="add")
        T.binary(out, x, out, kind="mul")


@module(entry="f", target=CpuTarget())
class ExchangedBranches:
    @prim_func(target=CpuTarget())
    def f(plain: Tensor[(), "bool"], x: Tensor[(8,), "f32"], y: Tensor[(8,), "f32"], out: Tensor[(8,), "f32"]):
        if plain:
            T.copy(x, out)
        else:
            T.unary(y, out, kind="neg")


@module(entry="f", target=CpuTarget())
class LoopOnce:
    @prim_func(target=CpuTarget())
    def f(x: Tensor[(8,), "f32"], y: Tensor[(8,), "f32"], out: Tensor[(8,), "f32"]):
        T.copy(x, out)
        for i in range(0, 4, 1):
            T.binary(out, y, out, kind="add")
