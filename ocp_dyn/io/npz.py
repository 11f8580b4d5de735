"""Reads arrays from untrusted .npz files: everything that a file declares is checked against its bytes.

`numpy.load` allocates what a header declares before it looks for the data, evaluates headers as Python literals, and
lets a dozen kinds of exceptions through for damaged bytes. Here every declared size is compared with the bytes first, a
header is matched and not evaluated, and every error is one ValueError.
"""

from __future__ import annotations

import io
import math
import re
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np

from .._base.types import Array

LARGEST_RATIO = 1032
"""Largest number of bytes that one byte compressed by deflate can stand for."""

DAMAGED = (
    *(ValueError, TypeError, OSError, EOFError, NotImplementedError, RuntimeError, KeyError, IndexError, OverflowError),
    *(zipfile.BadZipFile, zlib.error, struct.error),
)
"""Exceptions that zipfile, zlib and numpy raise for damaged bytes."""

OVERHEAD = 64
"""Bytes that a short compressed array may hold in addition."""

HEADER = re.compile(
    rb"\{'descr': '([<>|][fiuU]\d{1,8})', 'fortran_order': (True|False), "
    rb"'shape': \(((?:\d{1,12}, ?)*(?:\d{1,12})?)\), \} *\n"
)
"""Header that numpy writes before an array of real numbers, of integers or of text."""


def read_arrays(path: Path) -> dict[str, Array]:
    """All arrays of an .npz file by name, each with its checksum checked.

    Raises OSError if the file cannot be read, ValueError if it is no .npz file or damaged; the message leaves out the
    file's name. Memory: a few times what the file holds.
    """
    with path.open("rb") as file:
        if file.read(4) != b"PK\x03\x04":
            raise ValueError("it is not an .npz file")
        content = b"PK\x03\x04" + file.read()
    try:  # all bytes are read: an OSError from here on is about their content, not about the disk
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            _check_members(members, len(content))
            return {member.filename.removesuffix(".npy"): _array(archive.read(member)) for member in members}
    except DAMAGED as error:
        raise ValueError(str(error)[:100]) from error


def _check_members(members: list[zipfile.ZipInfo], size: int) -> None:
    """Checks that the members are arrays under different names, and that a file of this size can hold what they
    declare."""
    if sum(member.compress_size for member in members) > size:
        raise ValueError("it declares more than it holds")
    if len({member.filename for member in members}) < len(members):
        raise ValueError("two arrays in it have the same name")
    for member in members:
        if not member.filename.endswith(".npy") or member.compress_type not in (
            zipfile.ZIP_STORED,
            zipfile.ZIP_DEFLATED,
        ):
            raise ValueError(f"{member.filename[:80]!r} in it is not an array")
        ratio = LARGEST_RATIO if member.compress_type == zipfile.ZIP_DEFLATED else 1
        if member.file_size > ratio * member.compress_size + OVERHEAD:
            raise ValueError(f"{member.filename[:80]!r} in it declares more than it holds")


def _array(data: bytes) -> Array:
    """The array that the bytes of an .npy file hold."""
    if data[:6] != b"\x93NUMPY" or len(data) < 12:
        raise ValueError("an array in it has no header")
    begin, form = (10, "<H") if data[6] == 1 else (12, "<I")
    length = struct.unpack(form, data[8:begin])[0]
    match = HEADER.fullmatch(data, begin, begin + length) if begin + length <= len(data) else None
    if match is None:
        raise ValueError("an array in it has a header that is not numpy's, or holds other than numbers and text")
    dtype = np.dtype(match[1].decode())
    shape = tuple(int(n) for n in re.findall(rb"\d+", match[3]))
    body = memoryview(data)[begin + length :]
    if math.prod(shape) * dtype.itemsize != len(body):
        raise ValueError(f"an array in it declares the shape {shape} of {dtype} and holds {len(body)} bytes")
    found = np.frombuffer(body, dtype, math.prod(shape)) if len(body) else np.zeros(math.prod(shape), dtype)
    return np.array(found.reshape(shape, order="F" if match[2] == b"True" else "C"), dtype.newbyteorder("="), order="C")
