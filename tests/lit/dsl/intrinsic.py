# RUN: %tf-opt %s --module=prefetch | tee %t.tfir | FileCheck %s
# RUN: %tf-opt %t.tfir | diff %t.tfir -
# RUN: %tf-opt %s --module=prefetch --pipeline=emit-dsl -o %t.py
# RUN: FileCheck %s --check-prefix=DSL < %t.py
# RUN: %tf-opt %t.py | grep tir.intrinsic | FileCheck %s
# RUN: not %tf-opt %s --module=wrong 2>&1 | FileCheck %s --check-prefix=WRONG
# RUN: not %tf-opt %s --module=prefetch --pipeline=emit-mlir 2>&1 | FileCheck %s --check-prefix=EMIT
# A file declares statements of its own: the parameters are operands, the body checks them at each use.
from tilefoundry import Expr, VerifyError, intrinsic, prim_func
from tilefoundry.dsl import T, Tensor
from tilefoundry.target import CpuTarget


@intrinsic
def prefetch_row(row: Expr, ahead: Expr) -> None:
    """Asks for a row before it is needed."""
    if row.type.dtype != ahead.type.dtype:
        raise VerifyError(f"the rows are of {len(row.type.shape)} and {len(ahead.type.shape)} axes and other dtypes")


# DSL: @intrinsic
# DSL-NEXT: def prefetch_row(a0: Expr, a1: Expr) -> None:
# DSL-NEXT: pass
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
