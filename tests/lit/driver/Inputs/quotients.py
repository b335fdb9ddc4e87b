from tilefoundry import func, module
from tilefoundry.dsl import Tensor, tf


@module()
class M:
    @func
    def quotients(x: Tensor[(64,), "i32"], y: Tensor[(64,), "i32"]):
        return x // y + x // y

    @func
    def rows(table: Tensor[(8, 4), "f32"], at: Tensor[(16,), "i64"]):
        return tf.index_select(table, at, dim=0) + tf.index_select(table, at, dim=0)
