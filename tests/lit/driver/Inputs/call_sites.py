"""Calls as a type checker sees them: the first function is right, each line of the others is wrong."""

from tilefoundry import DType, Expr, TensorType
from tilefoundry.dsl import BinaryKind, DimVar, Mesh, P, ReduceKind, T, tf
from tilefoundry.dsl.T.cuda.mma import SM80_16x8x16_F32BF16BF16F32_TN


def right(x: Expr, y: Expr) -> Expr:
    total = tf.add(x, 1.0) * 2.0 + tf.reduce(x, axes=(1,), keepdim=False, kind="sum")
    least = min(DimVar("n", 1, 9), DimVar("m", 1, 5))
    first, second = tf.split(tf.cast(total, dtype="bf16"), axis=0, num_splits=2)
    total = total + tf.reduce(x, (0,), kind=ReduceKind.MAX)
    T.copy(x, T.alloc_tensor(TensorType((least, 4), "f32", None, "smem")))
    T.fill_(y, 0.0)
    T.mma(x, y, y, atom=T.cuda.mma.atom(op=SM80_16x8x16_F32BF16BF16F32_TN))
    total = tf.where(x == 1.0, total, y != x)
    return tf.concat(first, tf.cast(second, DType.bf16), tf.relu(x, loc="here"), axis=0) + tf.stack((x, y), 0)


def wrong_keyword(x: Expr) -> Expr:
    return tf.reduce(x, axis=(1,))


def wrong_literal(x: Expr) -> Expr:
    return tf.reduce(x, axes=(1,), kind="product")


def wrong_dtype(x: Expr) -> Expr:
    return tf.cast(x, dtype="f23")


def wrong_name(x: Expr) -> Expr:
    return tf.rsqr(x)


def wrong_dialect(x: Expr) -> Expr:
    return tf.alloc_tensor(x)


def wrong_use(x: Expr, y: Expr) -> Expr:
    return T.copy(x, y)


def missing_argument(x: Expr) -> Expr:
    return tf.cast(x)


def enum_of_another_kind(x: Expr) -> Expr:
    return tf.reduce(x, axes=(1,), kind=BinaryKind.ADD)


def wrong_dtype_of_a_type() -> Expr:
    return T.alloc_tensor(TensorType((4,), "f33"))


def wrong_storage_of_a_type() -> Expr:
    return T.alloc_tensor(TensorType((4,), "f32", None, "vram"))


def wrong_name_of_a_platform(x: Expr) -> None:
    T.cuda.fence(x)


def wrong_keyword_of_an_atom() -> None:
    T.cuda.mma.atom(spec=SM80_16x8x16_F32BF16BF16F32_TN)


def wrong_reduction() -> P:
    return P("product")


def wrong_bound() -> DimVar:
    return DimVar("n", lo="1", hi=9)


def wrong_operand(m: Mesh, x: Expr) -> None:
    T.sync(x)
