"""Calls of an op of a plugin as a type checker sees them: the last one is wrong."""

from tilefoundry import Expr
from tilefoundry.dsl import demo, tf


def right(x: Expr) -> Expr:
    return demo.softsign(tf.relu(x), scale=2.0)


def wrong_keyword(x: Expr) -> Expr:
    return demo.softsign(x, scales=2.0)
