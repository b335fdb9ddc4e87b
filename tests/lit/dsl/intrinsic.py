# RUN: %tf-opt %s --module=prefetch | tee %t.tfir | FileCheck %s
# RUN: %tf-opt %t.tfir | diff %t.tfir -
# RUN: %tf-opt %s --module=prefetch --pipeline=emit-dsl -o %t.py
# RUN: FileCheck %s --check-prefix=DSL < %t.py
# RUN: %tf-opt %t.py | diff %t.tfir -
# RUN: not %tf-opt %s --module=wrong 2>&1 | FileCheck %s --check-prefix=WRONG
# RUN: sed -e 's/%%y: tensor<8xf32/%%y: tensor<8xbf16/' -e '/tir.intrinsic/s/tensor<8xf32/tensor<8xbf16/' %t.tfir > %t.other.tfir
# RUN: not %tf-opt %t.other.tfir --pipeline=verify 2>&1 | FileCheck %s --check-prefix=OTHER
# RUN: not %tf-opt %s --module=prefetch --pipeline=emit-mlir 2>&1 | FileCheck %s --check-prefix=EMIT
# A file declares statements of its own: the parameters are operands, the body checks them at each use. The IR keeps the
# declaration by itself: constants of the file stand in place of their names, functions that it calls stand inside it.
from tilefoundry import Expr, VerifyError, intrinsic, prim_func
from tilefoundry.dsl import T, Tensor
from tilefoundry.target import CpuTarget

WIDTH = 8


def rank(operand):
    return len(operand.type.shape)


@intrinsic
def prefetch_row(row: Expr, ahead: Expr) -> None:
    """Asks for a row before it is needed."""
    assert row.shape[-1] == WIDTH
    if row.type.dtype != ahead.type.dtype:
        raise VerifyError(f"the rows are of {rank(row)} and {rank(ahead)} axes and other dtypes")


# CHECK: intrinsic @prefetch_row(row, ahead) source("def prefetch_row(row: Expr, ahead: Expr) -> None:\n{{.*}} == 8\n

# DSL: from tilefoundry import Expr, VerifyError, intrinsic, prim_func
# DSL: @intrinsic
# DSL-NEXT: def prefetch_row(row: Expr, ahead: Expr) -> None:
# DSL-NEXT:     """Asks for a row before it is needed."""
# DSL-EMPTY:
# DSL-NEXT:     def rank(operand):
# DSL-NEXT:         return len(operand.type.shape)
# DSL-EMPTY:
# DSL:          assert row.shape[-1] == 8
# DSL: T.prefetch_row(x, y)


@prim_func(target=CpuTarget())
def prefetch(x: Tensor[(4, 8), "f32", "host"], y: Tensor[(8,), "f32", "host"]):
    # CHECK: tir.intrinsic @prefetch_row(%x, %y) : (tensor<4x8xf32, host>, tensor<8xf32, host>)
    # CHECK: tir.intrinsic @prefetch_row(%y, %x) : (tensor<8xf32, host>, tensor<4x8xf32, host>)
    # EMIT: error: no code is known for the intrinsic `prefetch_row`
    prefetch_row(x, y)
    T.prefetch_row(y, ahead=x)


@prim_func(target=CpuTarget())
def wrong(x: Tensor[(4, 8), "f32"], y: Tensor[(8,), "bf16"]):
    # WRONG: error: `prefetch_row` does not take these operands: the rows are of 2 and 1 axes and other dtypes
    # WRONG: intrinsic.py:[[@LINE+2]]:5
    # WRONG: stated here
    prefetch_row(x, y)


# The checks run on the IR, too.
# OTHER: error: `prefetch_row` does not take these operands: the rows are of 2 and 1 axes and other dtypes
# OTHER: tir.intrinsic @prefetch_row(%x, %y)
# OTHER: note: stated here
# OTHER: <intrinsic prefetch_row>:9:9
