"""Programs on which the faults of placement.rs are wrong."""

from tilefoundry import func, module
from tilefoundry.dsl import Mesh, P, Tensor, Topology, tf
from tilefoundry.target import CudaTarget

H200 = CudaTarget("nvidia.h200_sxm")
THREADS = (Topology("thread", 4),)


@module(entry="f", target=H200, topologies=THREADS)
class LostPartial:
    @func
    def f(x: Tensor[(4, 8), "f32"], y: Tensor[(8, 6), "f32"]):
        with Mesh(("thread",), (4,), ("l",)) as m:
            terms = tf.reshard(x, layout=(4, 8 @ m.l), storage="rmem") @ tf.reshard(y, layout=(8 @ m.l, 6), storage="rmem")
            return tf.reshard(terms, layout=(4, 6))


@module(entry="f", target=H200, topologies=THREADS)
class TermsForValue:
    @func
    def f(x: Tensor[(4, 8), "f32"], y: Tensor[(8, 6), "f32"]):
        with Mesh(("thread",), (2, 2), ("w", "l")) as m:
            terms = tf.reshard(x, layout=(4 @ m.w, 8 @ m.l), storage="rmem") @ tf.reshard(y, layout=(8 @ m.l, 6), storage="rmem")
            return tf.local(tf.reshard(terms, layout=(4 @ m.w, 6)))


@module(entry="f", target=H200, topologies=THREADS)
class WrongIdentity:
    @func
    def f(x: Tensor[(4, 6), "f32"]):
        with Mesh(("thread",), (4,), ("l",)) as m:
            return tf.local(tf.reshard(x, layout=((4, 6), {m.l @ P("max")}), storage="rmem"))


@module(entry="f", target=H200, topologies=THREADS)
class HeldOnce:
    @func
    def f(x: Tensor[(4, 6), "f32"]):
        with Mesh(("thread",), (2, 2), ("w", "l")) as m:
            return tf.local(tf.reshard(x, layout=(4 @ m.w, 6), storage="rmem"))


@module(entry="f", target=H200, topologies=THREADS)
class WrongSplitAxis:
    @func
    def f(x: Tensor[(8, 8), "f32"]):
        with Mesh(("thread",), (4,), ("l",)) as m:
            return tf.local(tf.reshard(x, layout=(8 @ m.l, 8), storage="rmem"))


@module(entry="f", target=H200, topologies=THREADS)
class SwappedMeshAxes:
    @func
    def f(x: Tensor[(4, 8), "f32"]):
        with Mesh(("thread",), (2, 2), ("w", "l")) as m:
            return tf.local(tf.reshard(x, layout=(4 @ m.w, 8 @ m.l), storage="rmem"))


@module(entry="f", target=H200, topologies=THREADS)
class CyclicParts:
    @func
    def f(x: Tensor[(8, 6), "f32"]):
        with Mesh(("thread",), (4,), ("l",)) as m:
            return tf.local(tf.reshard(x, layout=(8 @ m.l, 6), storage="rmem"))
