# Memory holds nothing before it is written, and views stay inside of it.
# RUN: %tf-opt %s --split-input-file --verify-diagnostics --pipeline='evaluate{random=1}' -o /dev/null

from tilefoundry import DType, TensorType, module, prim_func
from tilefoundry.dsl import B, Mesh, S, T, Tensor, Topology
from tilefoundry.ir.types.shard import Layout, ShardLayout
from tilefoundry.target import CpuTarget, CudaTarget


@module(entry="f", target=CpuTarget())
class Unwritten:
    @prim_func(target=CpuTarget())
    def f(x: Tensor[(4, 6), "f32"], out: Tensor[(4, 6), "f32"]):
        held = T.alloc_tensor(TensorType((4, 6), "f32", None, "host"))
        # expected-error@+3 {{the host reads element [0, 0] of `held`, which holds nothing yet}}
        # expected-note@-2 {{`held` holds nothing before it is written}}
        # expected-help@+1 {{write it before; an input needs a tensor}}
        T.binary(x, held, out, kind="add")

# -----

# A part is not the whole.
from tilefoundry import DType, TensorType, module, prim_func
from tilefoundry.dsl import B, Mesh, S, T, Tensor, Topology
from tilefoundry.ir.types.shard import Layout, ShardLayout
from tilefoundry.target import CpuTarget, CudaTarget


@module(entry="f", target=CpuTarget())
class PartlyWritten:
    @prim_func(target=CpuTarget())
    def f(x: Tensor[(4, 6), "f32"], out: Tensor[(4, 6), "f32"]):
        held = T.alloc_tensor(TensorType((4, 6), "f32", None, "host"))
        T.copy(x, held)
        again = T.alloc_tensor(TensorType((4, 6), "f32", None, "host"))
        rows = T.tensor_view(again, 0, 0, layout=Layout((3, 6), (6, 1)), shape=(3, 6))
        T.fill(rows, 1.0)
        # expected-error@+3 {{the host reads element [3, 0] of `again`, which holds nothing yet}}
        # expected-note@-4 {{`again` holds nothing before it is written}}
        # expected-help@+1 {{write it before}}
        T.binary(held, again, out, kind="add")

# -----

# An allocation in a loop is new in every iteration.
from tilefoundry import DType, TensorType, module, prim_func
from tilefoundry.dsl import B, Mesh, S, T, Tensor, Topology
from tilefoundry.ir.types.shard import Layout, ShardLayout
from tilefoundry.target import CpuTarget, CudaTarget


@module(entry="f", target=CpuTarget())
class NewInEachIteration:
    @prim_func(target=CpuTarget())
    def f(x: Tensor[(4, 6), "f32"], out: Tensor[(4, 6), "f32"]):
        T.copy(x, out)
        for i in range(0, 3, 1):
            held = T.alloc_tensor(TensorType((4, 6), "f32", None, "host"))
            if i < 2:
                T.copy(x, held)
            # expected-error@+3 {{the host reads element [0, 0] of `held`, which holds nothing yet}}
            # expected-note@-4 {{`held` holds nothing before it is written}}
            # expected-help@+1 {{write it before}}
            T.binary(out, held, out, kind="add")

# -----

# What a function gives has to be written.
from tilefoundry import DType, TensorType, module, prim_func
from tilefoundry.dsl import B, Mesh, S, T, Tensor, Topology
from tilefoundry.ir.types.shard import Layout, ShardLayout
from tilefoundry.target import CpuTarget, CudaTarget


@module(entry="f", target=CpuTarget())
class NoResult:
    @prim_func(target=CpuTarget())
    def f(x: Tensor[(4, 6), "f32"], out: Tensor[(4, 6), "f32"]):
        # expected-error@-1 {{`f` ends, and element [3, 0] of `out` was not written}}
        rows = T.tensor_view(out, 0, 0, layout=Layout((3, 6), (6, 1)), shape=(3, 6))
        T.fill(rows, 1.0)

# -----

# A start that is computed is checked when it is.
from tilefoundry import DType, TensorType, module, prim_func
from tilefoundry.dsl import B, Mesh, S, T, Tensor, Topology
from tilefoundry.ir.types.shard import Layout, ShardLayout
from tilefoundry.target import CpuTarget, CudaTarget


@module(entry="f", target=CpuTarget())
class OutsideOfTheAxis:
    @prim_func(target=CpuTarget())
    def f(x: Tensor[(4, 6), "f32"], out: Tensor[(4, 6), "f32"]):
        T.copy(x, out)
        for i in range(0, 4, 1):
            # expected-error@+3 {{the host: the view `rows` is 3 to 5 of axis 0 of `x`, which has 4}}
            # expected-note@-4 {{the memory is here}}
            # expected-help@+1 {{a window stays inside each axis}}
            rows = T.tensor_view(x, i, 0, layout=Layout((2, 6), (6, 1)), shape=(2, 6))

# -----

# A window does not run over the end of a row.
from tilefoundry import DType, TensorType, module, prim_func
from tilefoundry.dsl import B, Mesh, S, T, Tensor, Topology
from tilefoundry.ir.types.shard import Layout, ShardLayout
from tilefoundry.target import CpuTarget, CudaTarget


@module(entry="f", target=CpuTarget())
class OutsideOfTheRow:
    @prim_func(target=CpuTarget())
    def f(x: Tensor[(4, 6), "f32"], out: Tensor[(4, 6), "f32"]):
        T.copy(x, out)
        for i in range(0, 4, 1):
            # expected-error@+3 {{the host: the view `columns` is 3 to 7 of axis 1 of `x`, which has 6}}
            # expected-note@-4 {{the memory is here}}
            # expected-help@+1 {{a window stays inside each axis}}
            columns = T.tensor_view(x, 0, i, layout=Layout((2, 4), (6, 1)), shape=(2, 4))

# -----

# One start for the memory as a whole.
from tilefoundry import DType, TensorType, module, prim_func
from tilefoundry.dsl import B, Mesh, S, T, Tensor, Topology
from tilefoundry.ir.types.shard import Layout, ShardLayout
from tilefoundry.target import CpuTarget, CudaTarget


@module(entry="f", target=CpuTarget())
class OutsideOfTheMemory:
    @prim_func(target=CpuTarget())
    def f(x: Tensor[(4, 6), "f32"], out: Tensor[(4, 6), "f32"]):
        T.copy(x, out)
        for i in range(0, 40, 8):
            # expected-error@+2 {{the host: the view `part` is elements 24 to 31 of `x`, which has 24}}
            # expected-note@-4 {{the memory is here}}
            part = T.tensor_view(x, i, layout=Layout((8,), (1,)), shape=(8,))

# -----

# Values that an op does not take are those of a statement.
from tilefoundry import DType, TensorType, module, prim_func
from tilefoundry.dsl import B, Mesh, S, T, Tensor, Topology
from tilefoundry.ir.types.shard import Layout, ShardLayout
from tilefoundry.target import CpuTarget, CudaTarget


@module(entry="f", target=CpuTarget())
class ZeroDivisor:
    @prim_func(target=CpuTarget())
    def f(x: Tensor[(), "i32"], y: Tensor[(), "i32"], out: Tensor[(), "i32"]):
        T.binary(x, x, y, kind="sub")
        # expected-error@+1 {{`T.binary`: `div` of i32 divides by zero}}
        T.binary(x, y, out, kind="div")

# -----

# A loop goes forward.
from tilefoundry import DType, TensorType, module, prim_func
from tilefoundry.dsl import B, Mesh, S, T, Tensor, Topology
from tilefoundry.ir.types.shard import Layout, ShardLayout
from tilefoundry.target import CpuTarget, CudaTarget


@module(entry="f", target=CpuTarget())
class Backward:
    @prim_func(target=CpuTarget())
    def f(step: Tensor[(), "i64"], out: Tensor[(4,), "f32"]):
        T.fill(out, 0.0)
        T.fill(step, 0)
        # expected-error@+1 {{the step of a loop is at least 1, found 0}}
        for i in range(0, 4, step):
            T.fill(out, 1.0)
