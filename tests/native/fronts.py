"""Fronts for tests of the dense kernels: the library made of their sources, matrices, and the check of a factored
front."""

import ctypes
import functools
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ocp_dyn.native.toolchain import find_compiler
from ocp_dyn.native.variants import FOLDER

SOURCES = sorted((FOLDER / "block_ldl").glob("dense*.c"))
SIGNATURES = {
    "dense_work": "ii",
    "dense_update_work": "iii",
    "dense_update": "iiipipipiip",
    "dense_front": "iipiddpppp",
    "dense_forward": "iipip",
    "dense_diagonal": "ipp",
    "dense_backward": "iipip",
}


@functools.cache
def dense_library() -> ctypes.CDLL:
    """The dense kernels as a library; compiled once per process."""
    compiler = find_compiler()
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "dense.so")
        flags = [*compiler.flags, "-O2", "-fvisibility=default", "-shared"]
        subprocess.run([*compiler.command, *flags, *map(str, SOURCES), "-o", str(made), "-lm"], check=True)
        library = ctypes.CDLL(str(made))
    for name, arguments in SIGNATURES.items():
        function = getattr(library, name)
        function.argtypes = [{"i": ctypes.c_long, "d": ctypes.c_double, "p": ctypes.c_void_p}[a] for a in arguments]
        function.restype = ctypes.c_long
    return library


def aligned(count: int) -> np.ndarray:
    """Numbers that begin at a multiple of 64 bytes; all are NaN, so that nothing unset can be read unseen."""
    memory = np.full(count + 8, np.nan)
    offset = -memory.ctypes.data // 8 % 8
    return memory[offset : offset + count]


@dataclass
class Front:
    """A factored front: A[order][:, order] = L D L' + [0 0; 0 S]."""

    order: np.ndarray
    L: np.ndarray
    D: np.ndarray
    S: np.ndarray
    negative: int
    blocks: np.ndarray
    columns: np.ndarray

    @property
    def e(self) -> int:
        return self.D.shape[0]


def factor(library, A, n, threshold=1e-8, tiny=0.0):
    """Front of the library, or None if it reports numbers that are not finite."""
    rows = len(A)
    ld = (rows + 7) // 8 * 8
    memory, work = aligned(ld * rows), aligned(library.dense_work(n, rows - n) + 1)
    F = memory.reshape(rows, ld).T
    F[:rows] = np.where(np.tri(rows, dtype=bool), A, np.nan)
    work[-1] = 77.0
    order, blocks, negative = np.full(n, -1, dtype=np.intc), np.full(2 * n + 1, 77.0), ctypes.c_long(-1)
    outputs = order.ctypes.data, blocks.ctypes.data, ctypes.addressof(negative), work.ctypes.data
    e = library.dense_front(n, rows - n, F.ctypes.data, ld, threshold, tiny, *outputs)
    assert (work[-1], blocks[-1]) == (77.0, 77.0), "written beyond the end"
    if e < 0:
        return None
    L = np.tril(F[:rows, :e], -1) + np.eye(rows, e)
    D, S = np.diag(blocks[0 : 2 * e : 2]), np.tril(F[e:rows, e:rows])
    for j in np.flatnonzero(blocks[1 : 2 * e : 2]):
        D[j, j + 1] = D[j + 1, j] = blocks[2 * j + 1]
    whole = np.concatenate([order, np.arange(n, rows)])
    return Front(whole, L, D, S + np.tril(S, -1).T, negative.value, blocks, F[:rows, :e].copy(order="F"))


def check(library, A, n, threshold=1e-8, tiny=0.0):
    """Factors A, and checks everything that holds for all matrices."""
    front = factor(library, A, n, threshold, tiny)
    e, L, D = front.e, front.L, front.D
    assert sorted(front.order[:n]) == list(range(n))
    product, sizes = L @ D @ L.T, abs(L) @ abs(D) @ abs(L.T)
    product[e:, e:] += front.S
    sizes[e:, e:] += abs(front.S)
    wanted = A[np.ix_(front.order, front.order)]
    assert (abs(product - wanted) <= 1e-13 * (sizes + abs(wanted).max())).all()
    assert abs(L).max(initial=0) <= (1 + 1e-12) / threshold
    assert abs(L[:n]).max(initial=0) <= (2.8 if front.e == n and n == len(A) else 1 / threshold)
    pairs = np.flatnonzero(front.blocks[1 : 2 * e : 2])
    assert (np.diff(pairs) > 1).all()
    assert (pairs < e - 1).all()
    assert not L[pairs + 1, pairs].any()
    assert front.negative == (np.linalg.eigvalsh(D) < 0).sum()
    assert not front.blocks[2 * e : -1].any()
    assert not good_diagonals(front, n, threshold, max(tiny, 1e-9 * sizes.max(initial=1))).any()
    return front


def good_diagonals(front, n, threshold, noise):
    """Whether a delayed row could have been eliminated alone."""
    own = np.arange(n - front.e)
    others = abs(front.S - np.diag(np.diag(front.S)))[own]
    return (abs(front.S[own, own]) > noise) & (
        others.max(axis=1, initial=0) < 0.999 * abs(front.S[own, own]) / threshold
    )


SIZES = [(1, 0), (1, 3), (2, 5), (3, 1), (5, 9), (8, 8), (16, 3), (17, 40), (24, 25), (25, 24), (33, 17), (49, 50)]
SIZES += [(70, 13), (97, 101)]
KINDS = ["random", "definite", "KKT", "scaled", "scaled KKT", "zero columns", "low rank", "strong boundary", "one row"]


def symmetric(rng, rows):
    A = rng.standard_normal((rows, rows))
    return A + A.T


def kkt(rng, n, rows):
    """Own rows [H J'; J 0] with a singular diagonal H, shuffled; any boundary."""
    A, k = symmetric(rng, rows), n // 3
    A[:n, :n] = np.diag(rng.random(n) * (rng.random(n) < 0.5) * (np.arange(n) < n - k))
    A[n - k : n, : n - k] = J = rng.standard_normal((k, n - k))
    A[: n - k, n - k : n] = J.T
    order = np.concatenate([rng.permutation(n), np.arange(n, rows)])
    return A[np.ix_(order, order)]


def matrix(kind, rng, n, rows):
    A = kkt(rng, n, rows) if "KKT" in kind else symmetric(rng, rows)
    if "scaled" in kind:
        scale = 10.0 ** rng.uniform(-8, 8, rows)
        A *= scale[:, None] * scale
    factors, own = np.ones(rows), np.arange(rows) < n
    if kind == "definite":
        A += 2 * rows * np.eye(rows)
    if kind == "zero columns":
        A[np.ix_(own & (np.arange(rows) % 5 == 2), own)] = 0
        A[np.ix_(own, own & (np.arange(rows) % 5 == 2))] = 0
    if kind == "low rank":
        U = rng.standard_normal((n, (n + 1) // 2))
        A[:n, :n] = U @ np.diag(rng.standard_normal(U.shape[1])) @ U.T
    if kind == "strong boundary":
        factors[:n] = 10.0 ** rng.uniform(-2, 12, n)
    if kind == "one row":
        factors[n // 2] = 1e12
    A[n:, :n] *= factors[:n]
    A[:n, n:] = A[n:, :n].T
    return A
