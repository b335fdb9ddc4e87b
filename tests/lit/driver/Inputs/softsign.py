from tilefoundry import func
from tilefoundry.dsl import Tensor, demo, tf


@func
def f(x: Tensor[(4, 6), "f32"]) -> Tensor[(4, 6), "f32"]:
    y = demo.softsign(x, scale=2.0)
    return tf.relu(y)
