"""Memory of a solver's factorisations: kept between iterations, given back at the end."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from typing import Any

M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_THRESHOLD = -1, -2, -3
"""Parameters of glibc's mallopt."""

DEFAULT = 128 * 1024
LARGE = 1 << 30


@contextlib.contextmanager
def kept_memory() -> Iterator[None]:
    """Within this context the C library keeps freed memory, up to a gigabyte, instead of returning it to the system.

    A sparse factorisation frees and allocates the same tens of megabytes in every iteration, and the system clears
    every page of them: a third of its time and more. No effect if the C library is not glibc.
    """
    try:
        libc: Any = ctypes.CDLL(None)
        mallopt, trim = libc.mallopt, libc.malloc_trim
    except (OSError, AttributeError, TypeError):
        yield
        return
    trim.argtypes = [ctypes.c_size_t]
    mallopt(M_MMAP_THRESHOLD, LARGE)
    mallopt(M_TRIM_THRESHOLD, LARGE)
    mallopt(M_TOP_PAD, LARGE // 16)
    try:
        yield
    finally:
        mallopt(M_MMAP_THRESHOLD, DEFAULT)
        mallopt(M_TRIM_THRESHOLD, DEFAULT)
        mallopt(M_TOP_PAD, DEFAULT)
        trim(0)
