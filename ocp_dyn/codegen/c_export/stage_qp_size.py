"""Memory and operations of the solver of quadratic programs in stages, `native/stage_qp`, by its sizes."""

from __future__ import annotations

BLOCK = 8

Sizes = tuple[int, int, int, int, int, int]
"""Stages, nx, nu, rows of C, rows of E, n of the double integrator or 0: as in `struct stage_qp_sizes`."""


def _padded(n: int) -> int:
    return -(-n // BLOCK) * BLOCK


def numbers_of(sizes: Sizes) -> int:
    """Numbers of 8 bytes that `stage_qp_numbers` returns: the parts of memory.c, each in whole blocks."""
    N, nx, nu, m, ne, n = sizes
    u, x = _padded(nu), _padded(nx)
    width, rows = u + x, ne + nx
    values = m + width
    sides, inner = 2 * values, max(m, 3 * nu, nx, rows)
    stage = [5 * [width], 2 * [m], 12 * [sides], 4 * [values], [m * width, ne * width, ne, 0 if n else nx * width]]
    stage += [[nx * x, x, 1, nu * width, nu * width, nx * x, nx * x, x, u, u, x, m]]
    stage += [[-(-sides // 2), -(-u // 2), 4]]
    work = [width * width, max(nu, nx) * width, max(rows, nu) * (width + BLOCK), m * width, rows, m]
    work += [2 * width, 2 * width, width] + 3 * [inner, -(-inner // 2), -(-inner // 2)]
    return (N + 2) * sum(_padded(part) for parts in stage for part in parts) + sum(map(_padded, work))


def operations_of(sizes: Sizes, factorizations: int) -> int:
    """The most floating-point operations of a solve: every matrix is full, every bound is present."""
    N, nx, nu, m, ne, n = sizes
    w, rank = nx + nu, min(nu, ne + nx)
    factor = m * w * w + 2 * rank * w * w + nu * w * w + nx * nx * nu + 2 * rank * rank * w
    factor += 10 * nx * nx if n else 3 * nx * nx * w + nx * w * w
    vectors = 2 * (8 * m * w + 6 * nu * w + 4 * rank * w) + 120 * (m + w)
    return N * (factorizations * (factor + vectors) + 4 * (ne + nx) * (ne + nx) * w)
