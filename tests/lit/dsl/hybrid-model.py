# RUN: %tf-opt %s --module=Hybrid --pipeline=typeinfer,verify | FileCheck %s
# RUN: %tf-opt %s --module=Hybrid --pipeline=emit-dsl -o %t.py && %python -m py_compile %t.py
# RUN: %tf-opt %t.py --pipeline=typeinfer,emit-dsl -o %t.again.py && diff %t.py %t.again.py
# RUN: %tf-opt %s --module=Hybrid --pipeline='evaluate{entry=layer1.mixer random=3 dims=past:5}'
# RUN: %tf-opt %s --module=Hybrid --pipeline='evaluate{entry=layer0.moe.select random=3}'
"""A decoder of two kinds of layers as such files are written: one factory for every size, modules that share an orchestration
method, converters of stored weights, and beside it what the host does with torch."""
from __future__ import annotations

import math
import os
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

_HERE = os.path.dirname(os.path.abspath(__file__))
if _HERE not in sys.path:
    sys.path.insert(0, _HERE)

from tilefoundry import DType, func, module  # noqa: E402
from tilefoundry.dsl import ConstTensor, DimVar, Tensor, tf  # noqa: E402
from tilefoundry.dsl.tf import *  # noqa: E402, F403
from tilefoundry.evaluator import to_torch_dtype  # noqa: E402
from tilefoundry.ir.types.shard import Topology  # noqa: E402
from tilefoundry.target import CudaTarget  # noqa: E402

#: Where the weights lie, if the environment says.
_ENV = os.environ.get("HYBRID_WEIGHTS")
WEIGHTS = Path(_ENV) if _ENV else None


@dataclass(frozen=True)
class Shape:
    """One structural configuration."""

    hidden: int
    heads: int
    experts: int
    chosen: int
    vocab: int
    #: The longest context.
    most: int
    eps: float
    torch_dtype: str
    kinds: tuple[str, ...]

    @property
    def head(self) -> int:
        return self.hidden // self.heads

    @property
    def dtype(self) -> str:
        return {"bfloat16": "bf16", "float32": "f32"}[str(self.torch_dtype).removeprefix("torch.")]

    def replace(self, **changes) -> "Shape":
        from dataclasses import replace as _replace

        return _replace(self, **changes)


_CYCLE = ("recurrent",) + ("attention",)

PUBLISHED = Shape(
    hidden=16, heads=2, experts=4, chosen=2, vocab=32, most=64, eps=1e-5, torch_dtype="torch.float32", kinds=_CYCLE * 3
)


def cut(layers: int, base: Shape = PUBLISHED) -> Shape:
    if layers > len(base.kinds):
        raise ValueError(f"{layers} > the published {len(base.kinds)}")
    return base.replace(kinds=base.kinds[:layers])


def build(shape):
    """The model at one configuration, as a dict of its modules."""
    _H = shape.hidden
    _D = shape.head
    _DT = shape.dtype
    _SCALE = 1.0 / math.sqrt(shape.head)
    _TORCH_DT = to_torch_dtype(DType.from_name(_DT))
    PAST = DimVar("past", 0, shape.most)

    @module(entry="mixer")
    class Recurrent:
        """A gated state of fixed size."""

        @func
        def norm(x: Tensor[(1, _H), _DT]) -> Tensor[(1, _H), _DT]:
            wide = tf.cast(x, dtype="f32")
            ms = tf.reduce(wide * wide, axes=(-1,), keepdim=True, kind="mean")
            return tf.cast(wide * tf.rsqrt(ms + shape.eps), dtype=_DT)

        @func
        def mixer(
            x: Tensor[(1, _H), _DT],
            gamma: ConstTensor[(_H,), _DT],
            w_in: ConstTensor[(_H, 2 * _H), _DT],
            state: Tensor[(1, _H), _DT],
        ):
            # One projection, two halves.
            both = (norm(x) * gamma) @ w_in
            gate = both[:, :_H]
            entry = both[:, _H : 2 * _H]
            fresh = state * tf.sigmoid(gate) + entry
            return tf.silu(fresh), fresh

        # ---- raw checkpoint -> declared weight

        @mixer.converter("gamma")
        def _(
            stored_gamma: ConstTensor[(_H,), _DT],
        ) -> Tensor[(_H,), _DT]:
            # Stored as a delta from one.
            return stored_gamma + tf.full_like(stored_gamma, value=1.0)

        @mixer.converter("w_in")
        def _(
            stored_in: ConstTensor[(2 * _H, _H), _DT],
        ) -> Tensor[(_H, 2 * _H), _DT]:
            return tf.transpose(stored_in, perm=(1, 0))

    @module(entry="mixer")
    class Attention:
        @func
        def mixer(
            x: Tensor[(1, _H), _DT],
            w_q: ConstTensor[(_H, _H), _DT],
            w_k: ConstTensor[(_H, _H), _DT],
            k_cache: Tensor[(1, PAST, shape.heads, _D), _DT],
        ):
            q = tf.reshape(x @ w_q, new_shape=(1, 1, shape.heads, _D)) * _SCALE
            k_new = tf.reshape(x @ w_k, new_shape=(1, 1, shape.heads, _D))
            # Two groups of scores, over the past and over the token itself.
            k_past = tf.reshape(tf.transpose(k_cache, perm=(0, 2, 1, 3)), new_shape=(1, 1, shape.heads, PAST, _D))
            q_past = tf.reshape(q, new_shape=(1, 1, shape.heads, 1, _D))
            past = tf.reduce(q_past * k_past, axes=(-1,), keepdim=True, kind="sum")
            own = tf.reduce(q * k_new, axes=(-1,), keepdim=True, kind="sum")
            peak = tf.max(tf.reduce(past, axes=(-2,), keepdim=False, kind="max"), own)
            total = (
                tf.reduce(tf.exp(past - tf.reshape(peak, new_shape=(1, 1, shape.heads, 1, 1))), axes=(-2,), keepdim=False, kind="sum")
                + tf.exp(own - peak)
            )
            return tf.reshape(k_new / total, new_shape=(1, _H)), k_new

    @module(entry="select")
    class Router:
        @func
        def select(
            x: Tensor[(1, _H), _DT],
            # Weights alone are constants.
            w_router: ConstTensor[(_H, shape.experts), _DT],
        ):
            probs = tf.softmax(tf.cast(x @ w_router, dtype="f32"), axis=-1)
            top, indices = tf.topk(probs, k=shape.chosen, axis=-1)
            return tf.cast(top / tf.reduce(top, axes=(-1,), keepdim=True, kind="sum"), dtype=_DT), indices

    @module(entry="mix")
    class Experts:
        router = Router

        @func
        def select(x: Tensor[(1, _H), _DT]):
            return router(x)  # noqa: F821

        @func
        def mix(
            x: Tensor[(1, _H), _DT],
            weights: Tensor[(1, shape.chosen), _DT],
            indices: Tensor[(1, shape.chosen), "i64"],
            w_up: ConstTensor[(shape.experts, _H, _H), _DT],
        ) -> Tensor[(1, _H), _DT]:
            up = tf.index_select(w_up, tf.reshape(indices, new_shape=(shape.chosen,)), dim=0)
            each = tf.matmul(up, tf.reshape(x, new_shape=(1, _H, 1)))
            each = tf.reshape(each, new_shape=(1, shape.chosen, _H)) * tf.reshape(weights, new_shape=(1, shape.chosen, 1))
            return tf.reduce(each, axes=(1,), keepdim=False, kind="sum")

        def forward(self, x):
            weights, indices = self.router.select(x)
            return self.mix(x, weights, indices)

    def _layer_forward(self, x, mixer_args):
        """One step of a layer, whatever its mixer."""
        mixed, *state = self.mixer(x, *mixer_args)
        attended = self.residual(x, mixed)
        return self.residual(attended, self.moe(attended)), tuple(state)

    @module(entry="residual")
    class RecurrentLayer:
        mixer = Recurrent.renamed("mixer")
        moe = Experts.renamed("moe")

        @func
        def residual(a: Tensor[(1, _H), _DT], b: Tensor[(1, _H), _DT]) -> Tensor[(1, _H), _DT]:
            return a + b * tf.full_like(b, value=0.22)

        forward = _layer_forward

    @module(entry="residual")
    class AttentionLayer:
        mixer = Attention.renamed("mixer")
        moe = Experts.renamed("moe")

        @func
        def residual(a: Tensor[(1, _H), _DT], b: Tensor[(1, _H), _DT]) -> Tensor[(1, _H), _DT]:
            return a + b * tf.full_like(b, value=0.22)

        forward = _layer_forward

    LAYER_OF = {"recurrent": RecurrentLayer, "attention": AttentionLayer}
    _STATES = frozenset({"k_cache", "state"})

    def _with_state(mixer, mixer_args, state):
        """*mixer_args* with *state* where *mixer* declares it."""
        names = [param.name for param in mixer.entry_function().params if not param.is_const][1:]
        at = next(index for index, name in enumerate(names) if name in _STATES)
        return (*mixer_args[:at], *state, *mixer_args[at:])

    def advance(kind, state, fresh):
        import torch  # noqa: PLC0415

        if kind == "recurrent":
            return fresh
        return tuple(torch.cat([old, new], dim=1) for old, new in zip(state, fresh))

    @module(target=CudaTarget("nvidia.h200_sxm"))
    class Hybrid:
        """The layers in order, and the step around them."""

        topologies = (Topology("cta", 132), Topology("thread", 256))

        layers = tuple(LAYER_OF[kind].renamed(f"layer{index}") for index, kind in enumerate(shape.kinds))

        @func
        def embed(table: ConstTensor[(shape.vocab, _H), _DT], ids: Tensor[(1,), "i64"]) -> Tensor[(1, _H), _DT]:
            return tf.index_select(table, ids, dim=0) * 12.0

        @func
        def head(x: Tensor[(1, _H), _DT], table: ConstTensor[(shape.vocab, _H), _DT]) -> Tensor[(1, shape.vocab), _DT]:
            # The table is the head as well.
            return x @ tf.transpose(table, perm=(1, 0))

        def decode(self, x, layer_args, states):
            if len(states) != len(self.modules):
                raise ValueError(f"{len(self.modules)} layers, {len(states)} states")
            fresh = []
            for layer, args, state in zip(self.modules, layer_args, states):
                x, new = layer(x, _with_state(layer.mixer, args, state))
                fresh.append(new)
            return x, tuple(fresh)

        def forward(self, ids, layer_args, states):
            x, fresh = self.decode(self.embed(ids), layer_args, states)
            return self.head(x), fresh

        def start(self, device="cuda"):
            import torch  # noqa: PLC0415

            empty = torch.zeros(1, 0, shape.heads, _D, dtype=_TORCH_DT, device=device)
            return tuple((empty,) if kind == "attention" else (torch.zeros(1, _H),) for kind in shape.kinds)

        def append(self, states, fresh):
            return tuple(advance(kind, old, new) for kind, old, new in zip(shape.kinds, states, fresh))

    return {"shape": shape, "Hybrid": Hybrid, "Router": Router, "LAYER_OF": LAYER_OF}


# The sizes that a tool can name.
_REAL = build(cut(2))
shape = _REAL["shape"]
Router = _REAL["Router"]
Hybrid = _REAL["Hybrid"]

_RAW = {
    "recurrent": {"stored_in": "linear.in_proj.weight", "stored_gamma": "norm.weight"},
    "attention": {"w_q": "self_attn.q_proj.weight"},
}


def aliases(of=PUBLISHED, *, prefix="model", head="lm_head.weight"):
    names: dict[str, object] = {"table": f"{prefix}.embed_tokens.weight"}
    for index, kind in enumerate(of.kinds):
        for canonical, raw in _RAW[kind].items():
            names[f"layer{index}.mixer.{canonical}"] = f"{prefix}.layers.{index}.{raw}"
    return names


@lru_cache(maxsize=None)
def _rope(device):
    import torch  # noqa: PLC0415

    return torch.outer(torch.arange(shape.most, device=device), torch.ones(shape.head))


__all__ = ["Hybrid", "Router", "aliases", "build"]

# CHECK: module @Hybrid target("nvidia.h200_sxm") topology(cta = 132, thread = 256)
# CHECK: hir.func @embed
# CHECK: module @layer0 entry(@residual)
# CHECK: module @mixer entry(@mixer)
# CHECK: hir.func @mixer(%x: tensor<1x16xf32>
# CHECK: converter
# CHECK: module @router entry(@select)
# CHECK: def forward(self, x, mixer_args):
# CHECK: module @layer1 entry(@residual)
# CHECK: hir.func @mixer(%x: tensor<1x16xf32>, %w_q: const tensor<16x16xf32>, %w_k: const tensor<16x16xf32>, %k_cache: tensor<1x[#past]x2x8xf32>)
# CHECK-NOT: module @layer2
