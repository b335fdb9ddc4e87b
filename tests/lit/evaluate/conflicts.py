# What positions may not do to memory that they share is reported with both positions and both statements.
# RUN: %tf-opt %s --split-input-file --verify-diagnostics --pipeline='evaluate{random=1}' -o /dev/null

# Each thread writes its element and reads that of another one.
from tilefoundry import DType, TensorType, module, prim_func
from tilefoundry.dsl import B, Mesh, S, T, Tensor, Topology
from tilefoundry.ir.types.shard import Layout, ShardLayout
from tilefoundry.target import CpuTarget, CudaTarget


@module(entry="f", target=CudaTarget("nvidia.h200_sxm"), topologies=(Topology("thread", 64),))
class ReadOfWrite:
    @prim_func(target=CudaTarget("nvidia.h200_sxm"))
    def f(x: Tensor[(64,), "f32"], out: Tensor[(64,), "f32"]):
        with Mesh((Topology("thread", 64),), Layout((8, 8), (8, 1)), names=("p", "q")) as m:
            mine = T.tensor_view(x, layout=ShardLayout(layout=Layout((8, 8), (8, 1)), attrs=(S(0), S(1)), mesh=m))
            result = T.tensor_view(out, layout=ShardLayout(layout=Layout((8, 8), (8, 1)), attrs=(S(0), S(1)), mesh=m))
            box = T.alloc_tensor(TensorType((64,), "f32", None, "smem"))
            own = T.tensor_view(box, layout=ShardLayout(layout=Layout((8, 8), (8, 1)), attrs=(S(0), S(1)), mesh=m))
            turned = T.tensor_view(box, layout=ShardLayout(layout=Layout((8, 8), (1, 8)), attrs=(S(0), S(1)), mesh=m))
            T.copy(mine, own)
            # expected-error@+3 {{thread 1 of block 0 reads element [8] of `box`, which thread 8 of block 0 writes with no barrier between}}
            # expected-note@-2 {{thread 8 of block 0 writes it here}}
            # expected-help@+1 {{put a `T.sync` that both take part in between the two accesses}}
            T.copy(turned, result)

# -----

# With the barrier it is right: the next write needs one too, because threads may still read.
from tilefoundry import DType, TensorType, module, prim_func
from tilefoundry.dsl import B, Mesh, S, T, Tensor, Topology
from tilefoundry.ir.types.shard import Layout, ShardLayout
from tilefoundry.target import CpuTarget, CudaTarget


@module(entry="f", target=CudaTarget("nvidia.h200_sxm"), topologies=(Topology("thread", 64),))
class WriteOfRead:
    @prim_func(target=CudaTarget("nvidia.h200_sxm"))
    def f(x: Tensor[(64,), "f32"], out: Tensor[(64,), "f32"]):
        with Mesh((Topology("thread", 64),), Layout((8, 8), (8, 1)), names=("p", "q")) as m:
            mine = T.tensor_view(x, layout=ShardLayout(layout=Layout((8, 8), (8, 1)), attrs=(S(0), S(1)), mesh=m))
            result = T.tensor_view(out, layout=ShardLayout(layout=Layout((8, 8), (8, 1)), attrs=(S(0), S(1)), mesh=m))
            box = T.alloc_tensor(TensorType((64,), "f32", None, "smem"))
            own = T.tensor_view(box, layout=ShardLayout(layout=Layout((8, 8), (8, 1)), attrs=(S(0), S(1)), mesh=m))
            turned = T.tensor_view(box, layout=ShardLayout(layout=Layout((8, 8), (1, 8)), attrs=(S(0), S(1)), mesh=m))
            held = T.alloc_tensor(
                TensorType((64,), "f32", ShardLayout(layout=Layout((8, 8), (0, 0)), attrs=(S(0), S(1)), mesh=m), "rmem")
            )
            T.copy(mine, own)
            T.sync(m)
            T.copy(turned, held)
            T.binary(held, held, held, kind="add")
            # expected-error@+3 {{thread 1 of block 0 writes element [1] of `box`, which thread 8 of block 0 reads with no barrier between}}
            # expected-note@-3 {{thread 8 of block 0 reads it here}}
            # expected-help@+1 {{put a `T.sync` that both take part in between the two accesses}}
            T.copy(held, own)
            T.sync(m)
            T.copy(own, result)

# -----

# A barrier orders those who take part in it: here the first warp, and thread 1 reads what a thread of the second one wrote.
from tilefoundry import DType, TensorType, module, prim_func
from tilefoundry.dsl import B, Mesh, S, T, Tensor, Topology
from tilefoundry.ir.types.shard import Layout, ShardLayout
from tilefoundry.target import CpuTarget, CudaTarget


@module(entry="f", target=CudaTarget("nvidia.h200_sxm"), topologies=(Topology("thread", 64),))
class OfSomeThreads:
    @prim_func(target=CudaTarget("nvidia.h200_sxm"))
    def f(x: Tensor[(64,), "f32"], out: Tensor[(64,), "f32"]):
        with Mesh((Topology("thread", 64),), Layout((8, 8), (8, 1)), names=("p", "q")) as m:
            mine = T.tensor_view(x, layout=ShardLayout(layout=Layout((8, 8), (8, 1)), attrs=(S(0), S(1)), mesh=m))
            result = T.tensor_view(out, layout=ShardLayout(layout=Layout((8, 8), (8, 1)), attrs=(S(0), S(1)), mesh=m))
            box = T.alloc_tensor(TensorType((64,), "f32", None, "smem"))
            own = T.tensor_view(box, layout=ShardLayout(layout=Layout((8, 8), (8, 1)), attrs=(S(0), S(1)), mesh=m))
            turned = T.tensor_view(box, layout=ShardLayout(layout=Layout((8, 8), (1, 8)), attrs=(S(0), S(1)), mesh=m))
            T.copy(mine, own)
            T.sync(m[0:4, :])
            # expected-error@+3 {{thread 4 of block 0 reads element [32] of `box`, which thread 32 of block 0 writes with no barrier between}}
            # expected-note@-3 {{thread 32 of block 0 writes it here}}
            # expected-help@+1 {{put a `T.sync`}}
            T.copy(turned, result)

# -----

# All threads write other values to one element.
from tilefoundry import DType, TensorType, module, prim_func
from tilefoundry.dsl import B, Mesh, S, T, Tensor, Topology
from tilefoundry.ir.types.shard import Layout, ShardLayout
from tilefoundry.target import CpuTarget, CudaTarget


@module(entry="f", target=CudaTarget("nvidia.h200_sxm"), topologies=(Topology("thread", 64),))
class WriteOfWrite:
    @prim_func(target=CudaTarget("nvidia.h200_sxm"))
    def f(x: Tensor[(64,), "f32"], out: Tensor[(64,), "f32"]):
        with Mesh((Topology("thread", 64),), Layout((8, 8), (8, 1)), names=("p", "q")) as m:
            mine = T.tensor_view(x, layout=ShardLayout(layout=Layout((8, 8), (8, 1)), attrs=(S(0), S(1)), mesh=m))
            one = T.tensor_view(out, layout=ShardLayout(layout=Layout((8, 8), (0, 0)), attrs=(S(0), S(1)), mesh=m))
            # expected-error@+2 {{thread 1 of block 0 writes element [0] of `out`, to which thread 0 of block 0 writes another value in the same statement}}
            # expected-help@+1 {{give each thread elements of its own, by the layout or the start of the view, or let one thread write}}
            T.copy(mine, one)

# -----

# Blocks do not meet at a barrier of their threads.
from tilefoundry import DType, TensorType, module, prim_func
from tilefoundry.dsl import B, Mesh, S, T, Tensor, Topology
from tilefoundry.ir.types.shard import Layout, ShardLayout
from tilefoundry.target import CpuTarget, CudaTarget


@module(entry="f", target=CudaTarget("nvidia.h200_sxm"), topologies=(Topology("cta", 2), Topology("thread", 32)))
class OtherBlocks:
    @prim_func(target=CudaTarget("nvidia.h200_sxm"))
    def f(x: Tensor[(64,), "f32"], out: Tensor[(64,), "f32"]):
        with Mesh((Topology("cta", 2), Topology("thread", 32)), Layout((2, 32), (32, 1)), names=("c", "t")) as m:
            mine = T.tensor_view(x, layout=ShardLayout(layout=Layout((2, 32), (32, 1)), attrs=(S(0), S(1)), mesh=m))
            result = T.tensor_view(out, layout=ShardLayout(layout=Layout((2, 32), (32, 1)), attrs=(S(0), S(1)), mesh=m))
            flipped = T.tensor_view(out, layout=ShardLayout(layout=Layout((2, 32), (1, 2)), attrs=(S(0), S(1)), mesh=m))
            held = T.alloc_tensor(
                TensorType((64,), "f32", ShardLayout(layout=Layout((2, 32), (0, 0)), attrs=(S(0), S(1)), mesh=m), "rmem")
            )
            T.copy(mine, result)
            T.sync(m)
            # expected-error@+3 {{thread 16 of block 0 reads element [32] of `out`, which holds nothing yet}}
            # expected-note@-11 {{`out` holds nothing before it is written}}
            # expected-help@+1 {{write it before}}
            T.copy(flipped, held)

# -----

# A thread that goes another way does not come to the barrier.
from tilefoundry import DType, TensorType, module, prim_func
from tilefoundry.dsl import B, Mesh, S, T, Tensor, Topology
from tilefoundry.ir.types.shard import Layout, ShardLayout
from tilefoundry.target import CpuTarget, CudaTarget


@module(entry="f", target=CudaTarget("nvidia.h200_sxm"), topologies=(Topology("thread", 64),))
class MissingThreads:
    @prim_func(target=CudaTarget("nvidia.h200_sxm"))
    def f(x: Tensor[(64,), "f32"], out: Tensor[(64,), "f32"]):
        with Mesh((Topology("thread", 64),), Layout((8, 8), (8, 1)), names=("p", "q")) as m:
            mine = T.tensor_view(x, layout=ShardLayout(layout=Layout((8, 8), (8, 1)), attrs=(S(0), S(1)), mesh=m))
            result = T.tensor_view(out, layout=ShardLayout(layout=Layout((8, 8), (8, 1)), attrs=(S(0), S(1)), mesh=m))
            box = T.alloc_tensor(TensorType((64,), "f32", None, "smem"))
            own = T.tensor_view(box, layout=ShardLayout(layout=Layout((8, 8), (8, 1)), attrs=(S(0), S(1)), mesh=m))
            turned = T.tensor_view(box, layout=ShardLayout(layout=Layout((8, 8), (1, 8)), attrs=(S(0), S(1)), mesh=m))
            if m.p < 4:
                # expected-error@+3 {{threads 0 to 31 of block 0 wait at `T.sync` for threads 32 to 63, which never come}}
                # expected-note@+2 {{they have come to the end of the function}}
                # expected-help@+1 {{every thread that takes part must come to the same barrier}}
                T.sync(m)

# -----

# Two barriers are two, also where they have the same threads.
from tilefoundry import DType, TensorType, module, prim_func
from tilefoundry.dsl import B, Mesh, S, T, Tensor, Topology
from tilefoundry.ir.types.shard import Layout, ShardLayout
from tilefoundry.target import CpuTarget, CudaTarget


@module(entry="f", target=CudaTarget("nvidia.h200_sxm"), topologies=(Topology("thread", 64),))
class OtherBarrier:
    @prim_func(target=CudaTarget("nvidia.h200_sxm"))
    def f(x: Tensor[(64,), "f32"], out: Tensor[(64,), "f32"]):
        with Mesh((Topology("thread", 64),), Layout((8, 8), (8, 1)), names=("p", "q")) as m:
            mine = T.tensor_view(x, layout=ShardLayout(layout=Layout((8, 8), (8, 1)), attrs=(S(0), S(1)), mesh=m))
            result = T.tensor_view(out, layout=ShardLayout(layout=Layout((8, 8), (8, 1)), attrs=(S(0), S(1)), mesh=m))
            box = T.alloc_tensor(TensorType((64,), "f32", None, "smem"))
            own = T.tensor_view(box, layout=ShardLayout(layout=Layout((8, 8), (8, 1)), attrs=(S(0), S(1)), mesh=m))
            turned = T.tensor_view(box, layout=ShardLayout(layout=Layout((8, 8), (1, 8)), attrs=(S(0), S(1)), mesh=m))
            if m.p < 4:
                # expected-error@+3 {{threads 0 to 31 of block 0 wait at `T.sync` for threads 32 to 63, which never come}}
                # expected-note@+4 {{threads 32 to 63 wait here}}
                # expected-help@+1 {{every thread that takes part must come to the same barrier}}
                T.sync(m)
            else:
                T.sync(m)

# -----

# Asynchronous copies are waited for.
from tilefoundry import DType, TensorType, module, prim_func
from tilefoundry.dsl import B, Mesh, S, T, Tensor, Topology
from tilefoundry.ir.types.shard import Layout, ShardLayout
from tilefoundry.target import CpuTarget, CudaTarget


@module(entry="f", target=CudaTarget("nvidia.h200_sxm"), topologies=(Topology("thread", 64),))
class Asynchronous:
    @prim_func(target=CudaTarget("nvidia.h200_sxm"))
    def f(x: Tensor[(64,), "f32"], out: Tensor[(64,), "f32"]):
        with Mesh((Topology("thread", 64),), Layout((8, 8), (8, 1)), names=("p", "q")) as m:
            mine = T.tensor_view(x, layout=ShardLayout(layout=Layout((8, 8), (8, 1)), attrs=(S(0), S(1)), mesh=m))
            result = T.tensor_view(out, layout=ShardLayout(layout=Layout((8, 8), (8, 1)), attrs=(S(0), S(1)), mesh=m))
            box = T.alloc_tensor(TensorType((64,), "f32", None, "smem"))
            own = T.tensor_view(box, layout=ShardLayout(layout=Layout((8, 8), (8, 1)), attrs=(S(0), S(1)), mesh=m))
            turned = T.tensor_view(box, layout=ShardLayout(layout=Layout((8, 8), (1, 8)), attrs=(S(0), S(1)), mesh=m))
            T.copy_async(mine, own)
            T.cp_async_commit()
            # expected-error@+3 {{thread 0 of block 0 reads element [0] of `box`, which thread 0 of block 0 still copies asynchronously}}
            # expected-note@-3 {{the copy is started here}}
            # expected-help@+1 {{wait for its group by `T.cp_async_wait` before}}
            T.copy(own, result)

# -----

# A group that may still be pending is not waited for.
from tilefoundry import DType, TensorType, module, prim_func
from tilefoundry.dsl import B, Mesh, S, T, Tensor, Topology
from tilefoundry.ir.types.shard import Layout, ShardLayout
from tilefoundry.target import CpuTarget, CudaTarget


@module(entry="f", target=CudaTarget("nvidia.h200_sxm"), topologies=(Topology("thread", 64),))
class Pending:
    @prim_func(target=CudaTarget("nvidia.h200_sxm"))
    def f(x: Tensor[(64,), "f32"], out: Tensor[(64,), "f32"]):
        with Mesh((Topology("thread", 64),), Layout((8, 8), (8, 1)), names=("p", "q")) as m:
            mine = T.tensor_view(x, layout=ShardLayout(layout=Layout((8, 8), (8, 1)), attrs=(S(0), S(1)), mesh=m))
            result = T.tensor_view(out, layout=ShardLayout(layout=Layout((8, 8), (8, 1)), attrs=(S(0), S(1)), mesh=m))
            box = T.alloc_tensor(TensorType((64,), "f32", None, "smem"))
            own = T.tensor_view(box, layout=ShardLayout(layout=Layout((8, 8), (8, 1)), attrs=(S(0), S(1)), mesh=m))
            turned = T.tensor_view(box, layout=ShardLayout(layout=Layout((8, 8), (1, 8)), attrs=(S(0), S(1)), mesh=m))
            T.copy_async(mine, own)
            T.cp_async_commit()
            T.cp_async_commit()
            T.cp_async_wait(n=1)
            T.copy(own, result)
            T.sync(m)
            T.copy_async(mine, own)
            T.cp_async_commit()
            T.cp_async_wait(n=1)
            # expected-error@+3 {{thread 0 of block 0 reads element [0] of `box`, which thread 0 of block 0 still copies asynchronously}}
            # expected-note@-4 {{the copy is started here}}
            # expected-help@+1 {{wait for its group}}
            T.copy(own, result)
