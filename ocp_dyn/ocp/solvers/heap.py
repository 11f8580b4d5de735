"""Memory of a solver's factorizations: kept between iterations, returned to the system at the end."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from typing import Any

M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_THRESHOLD = -1, -2, -3
"""Parameters of glibc's mallopt."""

DEFAULT_THRESHOLD = 128 * 1024
"""Size [bytes] of a block from which glibc returns freed memory to the system, unless it is changed."""

LARGE_THRESHOLD = 1 << 30
"""The same within `kept_memory`."""


@contextlib.contextmanager
def kept_memory() -> Iterator[None]:
    """Within this context the C library keeps freed memory, up to a gigabyte, instead of returning it to the system.

    A sparse factorization frees and allocates the same tens of megabytes in every iteration. If this memory is
    returned, the system clears every page again, which takes a third of the time and more. No effect if the C library
    is not glibc.
    """
    try:
        libc: Any = ctypes.CDLL(None)
        mallopt, trim = libc.mallopt, libc.malloc_trim
    except (OSError, AttributeError, TypeError):
        yield
        return
    trim.argtypes = [ctypes.c_size_t]
    mallopt(M_MMAP_THRESHOLD, LARGE_THRESHOLD)
    mallopt(M_TRIM_THRESHOLD, LARGE_THRESHOLD)
    mallopt(M_TOP_PAD, LARGE_THRESHOLD // 16)
    try:
        yield
    finally:
        mallopt(M_MMAP_THRESHOLD, DEFAULT_THRESHOLD)
        mallopt(M_TRIM_THRESHOLD, DEFAULT_THRESHOLD)
        mallopt(M_TOP_PAD, DEFAULT_THRESHOLD)
        trim(0)
