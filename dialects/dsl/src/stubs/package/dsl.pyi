from typing import Any

from tilefoundry import func as func
from tilefoundry.dsl import T as T
from tilefoundry.dsl import storage as storage
from tilefoundry.dsl import tf as tf
from tilefoundry.ir.core.pattern import DimVarRangePat as DimVarRangePat
from tilefoundry.ir.types.dim import DimVar as DimVar
from tilefoundry.ir.types.dim import ceildiv as ceildiv
from tilefoundry.ir.types.kinds import BinaryKind as BinaryKind
from tilefoundry.ir.types.kinds import ReduceKind as ReduceKind
from tilefoundry.ir.types.kinds import UnaryKind as UnaryKind
from tilefoundry.ir.types.shard import B as B
from tilefoundry.ir.types.shard import Broadcast as Broadcast
from tilefoundry.ir.types.shard import Mesh as Mesh
from tilefoundry.ir.types.shard import P as P
from tilefoundry.ir.types.shard import Partial as Partial
from tilefoundry.ir.types.shard import S as S
from tilefoundry.ir.types.shard import Split as Split
from tilefoundry.ir.types.shard import Topology as Topology

# Annotations of the language hold values, which no type checker reads as types.
Tensor: Any
ConstTensor: Any
