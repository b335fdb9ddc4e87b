# A module is printed back as authoring text: imports that are used, dims and meshes by name, one statement a value.
#
# RUN: %tf-opt %s --pipeline=emit-dsl -o %t.py && FileCheck %s --input-file=%t.py
# RUN: %python -m py_compile %t.py
# RUN: %tf-opt %t.py --pipeline=typeinfer,verify,emit-dsl | diff %t.py -
# RUN: %tf-opt %s --pipeline=emit-dsl{show_types} | FileCheck %s --check-prefix=TYPES
# RUN: %tf-opt %s --pipeline=emit-dsl{metadata=name,location} | FileCheck %s --check-prefix=FACTS
from tilefoundry import func, module
from tilefoundry.dsl import ConstTensor, DimVar, DimVarRangePat, Mesh, P, Tensor, Topology, tf
from tilefoundry.target import CudaTarget

ROWS = DimVar("rows", 1, 65)

# CHECK:      from tilefoundry.module import module
# CHECK-NEXT: from tilefoundry import func
# CHECK-NEXT: from tilefoundry.target import CudaTarget
# CHECK-NEXT: from tilefoundry.dsl.tf import *  # noqa: F401, F403
# CHECK-NEXT: from tilefoundry.dsl import ConstTensor, Tensor
# CHECK-NEXT: from tilefoundry.dsl.storage import rmem
# CHECK:      rows = DimVar("rows", 1, 65)
# CHECK:      thread = Mesh((Topology("thread", 32),), Layout((4, 8), (8, 1)), names=("w", "l"))
# CHECK:      @module(entry="run", target=CudaTarget("nvidia.h200_sxm"), topologies=(Topology("thread", 32),))
# CHECK-NEXT: class Net:
#
# A child is a class inside; one of a group is a class of the file, which the group names.
# CHECK:          @module(entry="scale")
# CHECK-NEXT:     class head:
# CHECK:          blocks = (block0, block0.renamed("block1"))


@module(entry="scale")
class Block:
    @func
    def scale(x: Tensor[(4, 8), "f32"], gain: ConstTensor[(8,), "f32"]):
        return x * gain


@module(entry="run", target=CudaTarget("nvidia.h200_sxm"), topologies=(Topology("thread", 32),))
class Net:
    head = Block
    blocks = tuple([Block.renamed("block0"), Block.renamed("block1")])

    # A prototype has its variants below it, and below what they call.
    # CHECK:          @func
    # CHECK-NEXT:     def any(
    # CHECK-NEXT:         x: Tensor[(rows, 8), "f32"],
    # CHECK-NEXT:     ) -> Tensor[(rows, 8), "f32"]:
    # CHECK-NEXT:         pass
    @func
    def any(x: Tensor[(ROWS, 8), "f32"]) -> Tensor[(ROWS, 8), "f32"]:
        pass

    # CHECK:          def twice(
    @func
    def twice(x: Tensor[(ROWS, 8), "f32"]):
        return x + x

    # CHECK:          @any.specialize(DimVarRangePat("rows", 1, 9))
    # CHECK-NEXT:     def few(
    # CHECK:              v0 = twice(x)
    # CHECK:          @any.specialize(DimVarRangePat("rows", 9, 65))
    # CHECK-NEXT:     def _(
    @any.specialize(DimVarRangePat("rows", 1, 9))
    def few(x: Tensor[(ROWS, 8), "f32"]) -> Tensor[(ROWS, 8), "f32"]:
        return twice(x)

    @any.specialize(DimVarRangePat("rows", 9, 65))
    def _(x: Tensor[(ROWS, 8), "f32"]) -> Tensor[(ROWS, 8), "f32"]:
        return x

    # A constraint is a line of its own. The start of a carry has its name; windows of tile loops are subscripts, moved ones too.
    # CHECK:          def run(
    # CHECK-NEXT:         x: Tensor[(4, 8), "f32"],
    # CHECK-NEXT:         y: Tensor[(4, 64), "f32"],
    # CHECK-NEXT:     ) -> Tensor[(4, 8), "f32"]:
    # CHECK-NEXT:         """Sums tiles."""
    # CHECK-NEXT:         x: where(storage=rmem)
    # CHECK-NEXT:         v0 = head(x)
    # CHECK-NEXT:         acc = blocks[1](v0)
    # CHECK-NEXT:         v1 = 2.0
    # CHECK-NEXT:         for k in tile(48, 8):
    # CHECK-NEXT:             v2 = y[:, k]
    # CHECK-NEXT:             v3 = y[:, k + 8]
    # CHECK-NEXT:             v4 = mul(v3, v1)
    # CHECK-NEXT:             part = add(v2, v4)
    # CHECK-NEXT:             part: where(layout=(4 @ thread, _))
    # CHECK-NEXT:             acc_2 = add(acc, part)
    # CHECK-NEXT:             acc = acc_2
    # CHECK-NEXT:         return acc
    # TYPES:          v4 = mul(v3, v1)  # Tensor[(4, 8), "f32"]
    # FACTS:          part = add(v2, v4)  # name=part; loc={{.*}}dsl.py:[[@LINE+7]]:
    @func
    def run(x: Tensor[(4, 8), "f32"], y: Tensor[(4, 64), "f32"]):
        """Sums tiles."""
        x: where(storage="rmem")
        acc = blocks[1](head(x))
        for k in tile(48, 8):
            part: where(layout=(4 @ thread, _)) = y[:, k] + y[:, k + 8] * 2.0
            acc = acc + part
        return acc

    # Placements of signatures are sugar, those of `reshard` are spelled out.
    # CHECK:          y: Tensor[(4, 8), "f32", ((4, 8 @ thread.l), {thread.w @ P("sum")}), "rmem"],
    # CHECK:          v0 = reshard(
    # CHECK-NEXT:         y, layout=ShardLayout(layout=Layout((4, 8), None), attrs=(S(0), S(1)), mesh=thread)
    # CHECK-NEXT:     )
    @func
    def placed(
        y: Tensor[
            (4, 8),
            "f32",
            ((4, 8 @ Mesh(("thread",), (4, 8), ("w", "l")).l), {Mesh(("thread",), (4, 8), ("w", "l")).w @ P("sum")}),
            "rmem",
        ],
    ):
        with Mesh(("thread",), (4, 8), ("w", "l")) as m:
            return reshard(y, layout=(4 @ m.w, 8 @ m.l))

    # Methods are kept as they are written, with the values of constants.
    # CHECK:          def forward(self, x, y):
    # CHECK-NEXT:         return self.run(x, y)
    def forward(self, x, y):
        return self.run(x, y)
