# RUN: not %tf-opt %s 2>&1 | FileCheck %s
# A name from a module that the package does not have is refused where it is used, with the import that brought it.
from tilefoundry import func
from tilefoundry.dls import Tensor


@func
def f(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:
    return x


# CHECK: error: `Tensor` cannot be used: there is no module `tilefoundry.dls`; there are `tilefoundry.dsl`
# CHECK: imports.py:8:10
# CHECK: note: it is used in 1 more place
