"""The derivatives of a kind of block, kept on disk: to differentiate takes ten times longer than to read it back.

They are in the private directory of `codegen.cache`, under a digest of the block's values and of the code that
differentiates.
"""

from __future__ import annotations

import functools
import hashlib
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import casadi as ca

from ..codegen import cache

SOURCES = ("*.py", "joints/*.py", "model/*.py", "ocp/blocks.py", "ocp/chain.py", "ocp/derived.py")
"""Files of this library whose text may decide what is derived from given values."""

SLOW = 0.1
"""Seconds of differentiating from which it is worth a file."""


class Derived(NamedTuple):
    """first: (z, p) -> (gradient of f, nonzeros of dg/dz); second: (z, p, lam_f, lam_g) -> nonzeros of the Hessian's
    upper half; gauss: (z, p, lam_f) -> nonzeros of Gauss and Newton's half of that of f; and the two patterns."""

    first: ca.Function
    second: ca.Function
    gauss: ca.Function
    jacobian_pattern: ca.Sparsity
    hessian_pattern: ca.Sparsity


def digest(*values: ca.Function) -> str:
    """What the derivatives of a block depend on: its values, this library's rules, CasADi's version."""
    parts = (*(f.serialize() for f in values), _version())
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


@functools.cache
def _version() -> str:
    root = Path(__file__).parents[1]
    text = "".join(path.read_text(encoding="utf-8") for pattern in SOURCES for path in sorted(root.glob(pattern)))
    return f"{ca.CasadiMeta.version()} {hashlib.sha256(text.encode()).hexdigest()}"


def derived(key: str, derive: Callable[[], Derived]) -> Derived:
    """What an earlier process derived under this key, or what `derive` gives, kept for the next one if that was slow."""
    place = cache.directory()
    path = cache.find(place, key, ".graph")
    if path is not None:
        unpack = ca.StringDeserializer(zlib.decompress(path.read_bytes()).decode("ascii"))
        return Derived(*(unpack.unpack() for _ in Derived._fields))
    begin = time.perf_counter()
    made = derive()
    if time.perf_counter() - begin > SLOW:
        pack = ca.StringSerializer()
        for part in made:
            pack.pack(part)
        with cache.stage(place) as stage:
            file = stage / "made.graph"
            file.write_bytes(zlib.compress(pack.encode().encode("ascii"), 1))
            cache.store(place, key, file)
    return made
