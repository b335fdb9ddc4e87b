# RUN: %tf-opt %s --module=Model --pipeline=typeinfer,verify | FileCheck %s
# RUN: not %tf-opt %s --module=wrong 2>&1 | FileCheck %s --check-prefix=WRONG
# A model as it is written in Python: a configuration with derived values, a layer for each entry of a list, and what the file
# needs only where it is run.
import logging
import math
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Optional

from tilefoundry import func, module
from tilefoundry.dsl import ConstTensor, DimVar, Tensor, tf

if TYPE_CHECKING:
    import torch

logger = logging.getLogger(__name__)
Shape = tuple[int, ...]


class Act(Enum):
    RELU = "relu"
    SILU = "silu"


@dataclass(frozen=True)
class Config:
    hidden: int = 32
    heads: int = 2
    expand: float = 2.5
    acts: list[Act] = field(default_factory=lambda: [Act.SILU, Act.RELU])
    eps: Optional[float] = None

    def __post_init__(self):
        if self.hidden % self.heads:
            raise ValueError(f"{self.hidden} is not divisible by {self.heads}")
        if self.eps is None:
            object.__setattr__(self, "eps", 1e-5)

    @property
    def ffn(self) -> int:
        return round_up(int(self.hidden * self.expand), multiple=16)

    @classmethod
    def from_dict(cls, values: dict):
        return cls(**{name: value for name, value in values.items() if name in ("hidden", "heads")})


def round_up(n: int, *, multiple: int = 8) -> int:
    return (n + multiple - 1) // multiple * multiple


S = DimVar("s", 1, 65)
BASE = Config.from_dict({"hidden": 32, "heads": 2, "dropout": 0.1})
CFG = replace(BASE, expand=3.0)
assert math.isqrt(CFG.heads * CFG.heads) == CFG.heads


def layer(cfg: Config, index: int, act: Act):
    hidden, ffn = cfg.hidden, cfg.ffn

    @module(entry="mlp")
    class Layer:
        if act is Act.SILU:

            @func
            def gate(x: Tensor[(S, ffn), "f32"]) -> Tensor[(S, ffn), "f32"]:
                return tf.silu(x)

        else:

            @func
            def gate(x: Tensor[(S, ffn), "f32"]) -> Tensor[(S, ffn), "f32"]:
                return tf.relu(x)

        @func
        def mlp(
            x: Tensor[(S, hidden), "f32"],
            scale: ConstTensor[(hidden,), "f32"],
            up: ConstTensor[(hidden, ffn), "f32"],
            down: ConstTensor[(ffn, hidden), "f32"],
        ) -> Tensor[(S, hidden), "f32"]:
            h = tf.rms_norm(x, scale, eps=cfg.eps)
            return x + gate(h @ up) @ down

    return Layer.renamed(f"layer{index}")


def build(cfg: Config):
    make = partial(layer, cfg)
    layers = []
    for index, act in enumerate(cfg.acts):
        layers.append(make(index, act))
    return tuple(layers)


# CHECK: module @Model
# CHECK: module @layer0
# CHECK: hir.func @gate(%x: tensor<{{.*}}x96xf32>)
# CHECK: tf.silu
# CHECK: tf.rms_norm {{.*}}eps = 1e-5
# CHECK: module @layer1
# CHECK: tf.relu
@module
class Model:
    layers = build(CFG)

    def forward(self, x):
        for block in self.layers:
            x = block(x)
        return x


def steps(count):
    while count > 0:
        count -= 1
    return np.arange(count)


# Plain functions make constants; a function of the language calls none.
# WRONG: error: `steps` cannot be used: it is a plain Python function, and bodies call none
# WRONG: config.py:[[@LINE+3]]:16
@func
def wrong(x: Tensor[(4,), "f32"]):
    return x * steps(3)


if __name__ == "__main__":
    print(CFG)
    logger.info("%d layers", len(CFG.acts))
