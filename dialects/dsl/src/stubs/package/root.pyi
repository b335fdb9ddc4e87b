"""The names that authoring files import."""

from collections.abc import Callable, Sequence
from typing import Any

from tilefoundry.ir.core import Expr as Expr
from tilefoundry.ir.core.pattern import DimVarRangePat as DimVarRangePat
from tilefoundry.ir.types import DType as DType
from tilefoundry.ir.types import Storage as Storage
from tilefoundry.ir.types import TensorType as TensorType
from tilefoundry.ir.types.dim import DimVar as DimVar
from tilefoundry.ir.types.shard import B as B
from tilefoundry.ir.types.shard import Broadcast as Broadcast
from tilefoundry.ir.types.shard import ComposedLayout as ComposedLayout
from tilefoundry.ir.types.shard import Dynamic as Dynamic
from tilefoundry.ir.types.shard import Layout as Layout
from tilefoundry.ir.types.shard import Mesh as Mesh
from tilefoundry.ir.types.shard import P as P
from tilefoundry.ir.types.shard import Partial as Partial
from tilefoundry.ir.types.shard import S as S
from tilefoundry.ir.types.shard import ShardLayout as ShardLayout
from tilefoundry.ir.types.shard import Split as Split
from tilefoundry.ir.types.shard import Topology as Topology
from tilefoundry.module import Module as Module
from tilefoundry.module import module as module
from tilefoundry.target import Target

class Function:
    """A function of the module."""

    def __call__(self, *args: Expr | float) -> Expr: ...
    def specialize(self, pattern: DimVarRangePat) -> Callable[[Callable[..., Any]], Function]: ...
    def converter(self, weight: str) -> Callable[[Callable[..., Any]], Function]: ...

class PrimFunction:
    """A function over buffers."""

    def __call__(self, *args: Expr | float) -> None: ...

def func(
    function: Callable[..., Any] | None = None,
    *,
    target: Target | None = None,
    topologies: Sequence[Topology] | None = None,
) -> Any: ...
def prim_func(
    function: Callable[..., Any] | None = None, *, target: Target | None = None, outputs: int = 1
) -> Any: ...
def intrinsic(function: Callable[..., Any]) -> Callable[..., None]: ...
