#!/usr/bin/env python3
# -*- coding: utf-8 -*-
# RUN: %tf-opt %s --module=Net --pipeline=typeinfer,verify | FileCheck %s
# RUN: %tf-opt %s --module=Net --pipeline='evaluate{random=1 dims=n:3}'
# RUN: not %tf-opt %s --module=published 2>&1 | FileCheck %s --check-prefix=JSON
"""A script around a program: a command line, a reference in torch, timing, logging, a configuration from a file."""
from __future__ import annotations

import argparse
import json
import logging
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Optional, Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

import tilefoundry as tfy
from tilefoundry import func, module
from tilefoundry.dsl import ConstTensor, DimVar, Tensor, tf
from tilefoundry.runtime import runtime_func, runtime_module

if TYPE_CHECKING:
    from collections.abc import Iterable

logger = logging.getLogger(__name__)
logging.basicConfig(level=logging.INFO)
torch.manual_seed(0)
np.random.seed(0)

ROOT = Path(__file__).resolve().parent
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}
HIDDEN: int = 64
EPS: float = 1e-6
N = DimVar("n", 1, 129)
DTYPE = "f32"

__version__ = "0.1"


def published_config(path: Path | None = None) -> dict:
    path = ROOT / "config.json" if path is None else path
    return json.loads(path.read_text(encoding="utf-8"))


config = published_config()
WIDTH = config["hidden_size"]


@func
def published(x: Tensor[(4, WIDTH), "f32"]) -> Tensor[(4, WIDTH), "f32"]:
    return tf.relu(x)


# JSON: error: `WIDTH` cannot be used: it comes from `json`, and authoring files are read, not executed
# JSON: host-script.py:[[#]]:29
# JSON: note: it is used in 1 more place
# JSON-NOT: error
# CHECK: module @Net entry(@run)
# CHECK: hir.func @run
@module(entry="run")
class Net:
    """The program."""

    @func
    def run(
        x: Tensor[(N, HIDDEN), DTYPE], w: ConstTensor[(HIDDEN, HIDDEN), DTYPE]
    ) -> Tensor[(N, HIDDEN), DTYPE]:
        """What it computes."""
        y = tf.matmul(x, w)
        return tf.relu(y) + EPS


@runtime_module(Net)
class Twin:
    """What runs in place of the program."""

    @runtime_func
    def run(self, x, w):
        assert tuple(w.shape) == (HIDDEN, HIDDEN), tuple(w.shape)
        return F.relu(x @ w) + EPS


class Reference(nn.Module):
    def __init__(self, hidden: int = HIDDEN) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.randn(hidden, hidden))

    @torch.no_grad()
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(x @ self.w) + EPS


def parse_args(argv: Optional[Sequence[str]] = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=8)
    parser.add_argument("--check", action="store_true")
    return parser.parse_args(argv)


def timeit(fn: Callable[..., Any], *args: Any, repeat: int = 10) -> float:
    start = time.perf_counter()
    for _ in range(repeat):
        fn(*args)
    return (time.perf_counter() - start) / repeat


def main(argv: Optional[Sequence[str]] = None) -> int:
    args = parse_args(argv)
    reference = Reference()
    x = torch.randn(args.n, HIDDEN, device=DEVICE)
    with torch.no_grad():
        expected = reference(x)
    try:
        got = tfy.evaluate(Net, x)
    except RuntimeError as error:
        logger.error("failed: %s", error)
        return 1
    print(f"max error {(expected - got).abs().max():.3e}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
