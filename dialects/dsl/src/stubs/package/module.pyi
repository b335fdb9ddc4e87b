from collections.abc import Callable, Sequence

from tilefoundry.ir.core import Expr
from tilefoundry.ir.types.shard import Topology
from tilefoundry.target import Target

class Module:
    """A compilation unit; called as a child of another it runs its entry."""

    name: str
    def __call__(self, *args: Expr | float) -> Expr: ...
    def renamed(self, name: str) -> Module: ...

def module(
    class_: type | None = None,
    *,
    entry: str | None = None,
    target: Target | None = None,
    topologies: Sequence[Topology] | None = None,
) -> Callable[[type], Module]: ...
