# RUN: %tf-opt %s --module=Product --pipeline=verify | FileCheck %s
# RUN: %tf-opt %s --module=Product --pipeline=emit-dsl -o %t.py && %tf-opt %t.py --pipeline=verify,emit-dsl -o %t.again.py && diff %t.py %t.again.py
# RUN: %tf-opt %s --module=Product --pipeline='evaluate{random=5}' > %t.named && %tf-opt %s --module=Unnamed --pipeline='evaluate{random=5}' | diff %t.named -
# RUN: not %tf-opt %s --module=Elsewhere --pipeline=verify 2>&1 | FileCheck %s --check-prefix=ELSEWHERE
"""A matrix instruction by hand: its fragments fit every scope that has its threads, whatever the axes are called; types are
written as annotations and by their fields."""
from __future__ import annotations

from tilefoundry import DType, TensorType, module, prim_func
from tilefoundry.dsl import T, Tensor
from tilefoundry.ir.types.shard import Layout, Mesh, Topology
from tilefoundry.ir.types.storage import StorageKind
from tilefoundry.target import CpuTarget, CudaTarget

_OP = T.cuda.mma.SM80_16x8x16_F32BF16BF16F32_TN
_LANES = Layout(shape=(4, 8), strides=(1, 4))
_CUDA = CudaTarget("nvidia.h200_sxm")


def build(lanes, names):
    @module(entry="host", topologies=(Topology("thread", 32),))
    class Product:
        @prim_func(target=_CUDA)
        def device(a: Tensor[(16, 16), "bf16"], b: Tensor[(16, 8), "bf16"], c: Tensor[(16, 8), "f32"]):
            atom = T.cuda.mma.atom(op=_OP)
            with Mesh((Topology("thread", 32),), lanes, names=names) as m:
                a_view = T.tensor_view(a, layout=atom.A)
                b_view = T.tensor_view(b, layout=atom.B)
                a_frag = T.alloc_tensor(
                    TensorType(shape=(16, 16), dtype=DType.bf16, layout=atom.A, storage=StorageKind.RMEM)
                )
                b_frag = T.alloc_tensor(Tensor[(16, 8), "bf16", atom.B, "rmem"])
                acc = T.alloc_tensor(tensor_type=Tensor[(16, 8), "f32", atom.C, "rmem"])
                T.copy(a_view, a_frag)
                T.copy(b_view, b_frag)
                T.fill(acc, 0.0)
                T.sync(m)
                T.mma(acc, a_frag, b_frag, atom=atom)
                c_view = T.tensor_view(c, layout=atom.C)
                T.copy(acc, c_view)

        @prim_func(target=CpuTarget())
        def host(a: Tensor[(16, 16), "bf16"], b: Tensor[(16, 8), "bf16"], c: Tensor[(16, 8), "f32"]):
            launch(device, a, b, c, grid=(1, 1, 1), block=(32, 1, 1))  # noqa: F821

    return Product


# CHECK: tir.func @device
# CHECK: T.mma
# CHECK: T.launch @device
Product = build(_LANES, ("warp", "lane"))
Unnamed = build(_LANES, ())
# ELSEWHERE: error: `T.tensor_view` is over Mesh(thread 32; x=4, y=8; strides (1, 4)), which is not open here
# ELSEWHERE: note: open: Mesh(thread 32; warp=8, lane=4)
Elsewhere = build(Layout((8, 4), (4, 1)), ("warp", "lane"))
