"""One decoding step of attention over a long context, in single ops."""
from tilefoundry import func, module
from tilefoundry.dsl import Tensor, tf

HEADS = 32
HEAD = 128
CONTEXT = 4096


@module(entry="run")
class Attention:
    @func
    def run(
        q: Tensor[(HEADS, 1, HEAD), "f32"],
        k: Tensor[(HEADS, CONTEXT, HEAD), "f32"],
        v: Tensor[(HEADS, CONTEXT, HEAD), "f32"],
    ):
        scores = (q @ tf.transpose(k, perm=(0, 2, 1))) * HEAD ** -0.5
        return tf.softmax(scores, axis=-1) @ v
