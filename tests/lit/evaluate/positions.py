# RUN: %tf-opt %s --pipeline='evaluate{entry=own mesh=all random=7}' | FileCheck %s --check-prefix=OWN
# RUN: %tf-opt %s --pipeline='evaluate{entry=own mesh=all random=7 outputs=%t.safetensors}' && %python -c "import json,sys; f=open(sys.argv[1],'rb'); print(json.loads(f.read(int.from_bytes(f.read(8),'little')))['out0']['shape'])" %t.safetensors | FileCheck %s --check-prefix=FILE
# RUN: %tf-opt %s --pipeline='evaluate{entry=coordinate mesh=all}' | FileCheck %s --check-prefix=COORDINATE
# RUN: %tf-opt %s --pipeline='evaluate{entry=completed mesh=assembled random=7}' | FileCheck %s --check-prefix=WHOLE
# RUN: not %tf-opt %s --pipeline='evaluate{entry=own mesh=assembled random=7}' 2>&1 | FileCheck %s --check-prefix=NONE
# RUN: not %tf-opt %s --pipeline='evaluate{entry=own mesh=some random=7}' 2>&1 | FileCheck %s --check-prefix=WHICH
# RUN: not %tf-opt %s --pipeline='evaluate{entry=own mesh=all on=cpu-jit random=7}' 2>&1 | FileCheck %s --check-prefix=ENGINE
# RUN: not %tf-opt %reference/programs/square.py --pipeline='lower-tir,evaluate{mesh=all random=7}' 2>&1 | FileCheck %s --check-prefix=TIR
# With `mesh=all` every position evaluates for itself, and results have the positions as leading axes; with `mesh=assembled` they are the
# values that positions make up.
from tilefoundry import func, module
from tilefoundry.dsl import Mesh, Tensor, Topology, tf
from tilefoundry.target import CudaTarget

# OWN: out0 {{.*}} (2, 4, 2, 2)
# OWN-NEXT: positions w=2 l=4
# FILE: [2, 4, 2, 2]
# COORDINATE: out0 i64 (2, 4) 0 7 3.500000
# WHOLE: out0 f32 (4, 6)
# WHOLE-NOT: positions
# NONE: error: result 0: it is another value at every position; `mesh=all` gives them all
# NONE-NEXT: positions.py:[[@LINE+14]]:20
# WHICH: error: option `mesh` of `evaluate`: expected `all` or `assembled`, found `some`
# ENGINE: only the engine `reference` knows positions, found `on=cpu-jit`
# TIR: error: `mesh` evaluates HIR functions, but what is to run is a TIR function
# TIR: help: evaluate before `lower-tir`


@module(entry="own", target=CudaTarget("nvidia.h200_sxm"), topologies=(Topology("thread", 8),))
class M:
    # A part of each position, as a value of its own.
    @func
    def own(x: Tensor[(4, 8), "f32"]):
        with Mesh(("thread",), (2, 4), ("w", "l")) as m:
            held = tf.reshard(x, layout=(4 @ m.w, 8 @ m.l), storage="rmem")
            return tf.local(held)

    @func
    def coordinate():
        with Mesh(("thread",), (2, 4), ("w", "l")) as m:
            return m.w * 4 + m.l

    # Positions along `l` hold terms of a sum until it is completed.
    @func
    def completed(a: Tensor[(4, 8), "f32"], b: Tensor[(8, 6), "f32"]) -> Tensor[(4, 6), "f32"]:
        with Mesh(("thread",), (2, 4), ("w", "l")) as m:
            left = tf.reshard(a, layout=(4, 8 @ m.l), storage="rmem")
            right = tf.reshard(b, layout=(8 @ m.l, 6), storage="rmem")
            return tf.reshard(left @ right, layout=(4, 6), storage="gmem")
