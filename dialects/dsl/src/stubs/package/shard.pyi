from collections.abc import Sequence
from typing import Any, Literal

from tilefoundry.ir.types.dim import Dim

class Topology:
    """A level of parallel hardware."""

    def __init__(self, name: str, size: Dim | int | None = None) -> None: ...

class LayoutBase:
    """Where the elements of a tensor lie."""

class Layout(LayoutBase):
    def __init__(self, shape: Sequence[Dim | int], strides: Sequence[Dim | int] | None = None) -> None: ...

class ShardAttr:
    """What the positions along one mesh axis hold."""

class Split(ShardAttr):
    def __init__(self, axis: int) -> None: ...

class Broadcast(ShardAttr):
    def __init__(self) -> None: ...

class Dynamic(ShardAttr):
    def __init__(self) -> None: ...

class Partial(ShardAttr):
    def __init__(self, reduction: Literal["sum", "max", "min"]) -> None: ...

S = Split
B = Broadcast
P = Partial

class Mesh:
    """Named axes over the positions of levels."""

    def __init__(
        self,
        topologies: Sequence[Topology | str] | Topology | str = ...,
        layout: Layout | Sequence[Any] = ...,
        names: Sequence[str] = ...,
        *,
        topology: Topology | str = ...,
    ) -> None: ...
    def __enter__(self) -> Mesh: ...
    def __exit__(self, *exception: object) -> None: ...
    def __getitem__(self, key: Any) -> Mesh: ...
    def __getattr__(self, axis: str) -> Any: ...

class ShardLayout(LayoutBase):
    def __init__(self, layout: Layout, attrs: Sequence[ShardAttr], mesh: Mesh) -> None: ...

class ComposedLayout(LayoutBase):
    def __init__(
        self, inner: Layout | None = None, offset: Dim | int = 0, outer: Layout | ShardLayout | None = None
    ) -> None: ...
