//! What a file states before and beside its functions.

mod bases;
mod classes;
mod constants;
mod control;
mod dataclasses;
mod effects;
mod functions;
mod generators;
mod iteration;
mod library;
mod limits;
mod links;
mod numbers;
mod objects;
mod refused;
mod unread;

use crate::common::with_source;

/// What the tables use without an import of their own.
const HEAD: &str = "import functools
import itertools
import math
from abc import ABC, abstractmethod
from collections import OrderedDict, namedtuple
from dataclasses import asdict, dataclass, field, replace
from enum import Enum, IntEnum, StrEnum, auto
from functools import cache, cached_property, lru_cache, partial, reduce
from itertools import chain, product, repeat
from types import SimpleNamespace
from typing import ClassVar, NamedTuple
from tilefoundry import func, module
from tilefoundry.dsl import Mesh, Tensor, Topology, tf
";

/// `repr(V)` after these lines of a file, or the first message.
fn shown(lines: &str) -> Result<String, String> {
    let module = "@module(topologies=(Topology(\"<\" + repr(V) + \">\", 8),))\nclass Shown:\n    @func\n    \
        def f(x: Tensor[(4,), \"f32\"]):\n        return x\n";
    with_source(&format!("{HEAD}{lines}\n{module}"), |_, result| match result {
        Ok(module) => {
            let name = module.topologies.and_then(|levels| levels.first()).map(|level| level.name.to_string());
            Ok(name.unwrap_or_default().trim_start_matches('<').trim_end_matches('>').to_owned())
        }
        Err(errors) => {
            let message = errors[0].message.trim_start_matches("`V` cannot be used: ");
            Err(message.trim_start_matches("a value in it cannot be used: ").to_owned())
        }
    })
}

/// Lines, and what `V` is after them in CPython.
fn same(table: &[(&str, &str)]) {
    for (lines, want) in table {
        assert_eq!(shown(lines).as_deref(), Ok(*want), "{lines}");
    }
}

/// Lines, and why `V` is not known after them.
fn refused(table: &[(&str, &str)]) {
    for (lines, why) in table {
        assert_eq!(shown(lines), Err((*why).to_owned()), "{lines}");
    }
}
