"""Two decoder layers in the Qwen3 architecture with embedding, final norm and tied output head; causal prefill of 128 tokens.

Per layer: RMS norm, grouped-query attention with per-head RMS norm of queries and keys and rotary positions, residual,
RMS norm, SwiGLU, residual. Linear weights lie as (out, in). The layers come out of a factory and differ in name only.
"""
from __future__ import annotations

from tilefoundry import func, module
from tilefoundry.dsl import ConstTensor, Tensor, tf

S = 128
VOCAB = 8192
D = 1024
Q_HEADS = 16
KV_HEADS = 8
GROUP = Q_HEADS // KV_HEADS
HEAD = 64
INNER = 3072
ROWS = 128
EPS = 1e-6
SCALE = HEAD ** -0.5


def decoder_layer(index):
    @module(entry="layer")
    class DecoderLayer:
        @func
        def attend(
            q: Tensor[(1, S, Q_HEADS, HEAD), "f32"],
            k: Tensor[(1, S, KV_HEADS, HEAD), "f32"],
            v: Tensor[(1, S, KV_HEADS, HEAD), "f32"],
        ) -> Tensor[(1, S, Q_HEADS * HEAD), "f32"]:
            queries = tf.transpose(q, perm=(0, 2, 1, 3)) * SCALE
            keys = tf.transpose(tf.repeat_interleave(k, repeats=GROUP, axis=2), perm=(0, 2, 3, 1))
            values = tf.transpose(tf.repeat_interleave(v, repeats=GROUP, axis=2), perm=(0, 2, 1, 3))
            place = tf.arange(type=Tensor[(S,), "i64"])
            seen = tf.reshape(place, new_shape=(1, S)) <= tf.reshape(place, new_shape=(S, 1))
            scores = tf.where(seen, queries @ keys, -1e30)
            mixed = tf.softmax(scores, axis=-1) @ values
            return tf.reshape(tf.transpose(mixed, perm=(0, 2, 1, 3)), new_shape=(1, S, Q_HEADS * HEAD))

        @func
        def layer(
            h: Tensor[(1, S, D), "f32"],
            cos: Tensor[(ROWS, HEAD), "f32"],
            sin: Tensor[(ROWS, HEAD), "f32"],
            norm_in: ConstTensor[(D,), "f32"],
            w_q: ConstTensor[(Q_HEADS * HEAD, D), "f32"],
            w_k: ConstTensor[(KV_HEADS * HEAD, D), "f32"],
            w_v: ConstTensor[(KV_HEADS * HEAD, D), "f32"],
            norm_q: ConstTensor[(HEAD,), "f32"],
            norm_k: ConstTensor[(HEAD,), "f32"],
            w_o: ConstTensor[(D, Q_HEADS * HEAD), "f32"],
            norm_post: ConstTensor[(D,), "f32"],
            w_gate: ConstTensor[(INNER, D), "f32"],
            w_up: ConstTensor[(INNER, D), "f32"],
            w_down: ConstTensor[(D, INNER), "f32"],
        ) -> Tensor[(1, S, D), "f32"]:
            x = tf.rms_norm(h, norm_in, eps=EPS)
            q = tf.reshape(x @ tf.transpose(w_q, perm=(1, 0)), new_shape=(1, S, Q_HEADS, HEAD))
            k = tf.reshape(x @ tf.transpose(w_k, perm=(1, 0)), new_shape=(1, S, KV_HEADS, HEAD))
            v = tf.reshape(x @ tf.transpose(w_v, perm=(1, 0)), new_shape=(1, S, KV_HEADS, HEAD))
            place = tf.arange(type=Tensor[(S,), "i64"])
            q, k = tf.rope(tf.rms_norm(q, norm_q, eps=EPS), tf.rms_norm(k, norm_k, eps=EPS), cos, sin, place)
            h = h + attend(q, k, v) @ tf.transpose(w_o, perm=(1, 0))
            x = tf.rms_norm(h, norm_post, eps=EPS)
            gate = tf.silu(x @ tf.transpose(w_gate, perm=(1, 0)))
            return h + (gate * (x @ tf.transpose(w_up, perm=(1, 0)))) @ tf.transpose(w_down, perm=(1, 0))

    return DecoderLayer.renamed(f"layer{index}")


@module(entry="decoder")
class Decoder:
    layer0 = decoder_layer(0)
    layer1 = decoder_layer(1)

    @func
    def decoder(
        ids: Tensor[(S,), "i64"],
        cos: ConstTensor[(ROWS, HEAD), "f32"],
        sin: ConstTensor[(ROWS, HEAD), "f32"],
        embed: ConstTensor[(VOCAB, D), "f32"],
        norm_final: ConstTensor[(D,), "f32"],
    ):
        h = tf.reshape(tf.index_select(embed, ids), new_shape=(1, S, D))
        h = layer0(h, cos, sin)
        h = layer1(h, cos, sin)
        hidden = tf.rms_norm(h, norm_final, eps=EPS)
        logits = tf.reshape(hidden, new_shape=(S, D)) @ tf.transpose(embed, perm=(1, 0))
        return hidden, logits, tf.argmax(logits, axis=-1)
