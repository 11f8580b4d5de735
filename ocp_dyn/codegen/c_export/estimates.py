"""Size and time of an export, estimated before it begins: automatic differentiation can give hundreds of megabytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import casadi as ca

from ..._base.checks import warn_user
from ..._base.types import names_in_message
from ...functions.description import describe

BYTES_PER_INSTRUCTION = {False: 50, True: 100}
SECONDS_PER_INSTRUCTION = {False: 25e-6, True: 75e-6}
"""Size of the C code and time to write it, on one core of 2023, by whether it is packed."""

LARGE = 1_000_000
"""Number of instructions of derivatives beyond which an export warns: 50 MB of C code, which compile for minutes."""


class EffortWarning(RuntimeWarning):
    """Warning of an export that takes long and gives very long code.

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", od.codegen.EffortWarning)  # a long export stops instead of warning
    ...     files = od.codegen.generate([od.function(od.mass_matrix, rod)], "rod", derivatives=["jac"])
    >>> len(files["rod_H.c"]) < 10_000
    True
    """


def derivative_instructions(f: ca.Function, kind: str) -> int:
    """Number of instructions of the derivative `kind` of f, of scalar operations, by automatic differentiation.

    A rough upper estimate: a derivative in one direction repeats about three times the instructions of f. A Jacobian
    takes two for every direction, of which there are as many as a coloring of its pattern has colors; it is up to six
    times shorter where a direction reaches a branch of the tree only.
    """
    count = f.n_instructions()
    if kind in ("fwd1", "adj1"):
        return 3 * count
    if kind == "jac":
        return count + 2 * count * _directions(f)
    return derivative_instructions(f.reverse(1), "jac")


def _directions(f: ca.Function) -> int:
    """Number of directions for the whole Jacobian of f, forward or reverse, whichever needs fewer."""
    inputs = [i for i in range(f.n_in()) if f.nnz_in(i)]
    outputs = [j for j in range(f.n_out()) if f.nnz_out(j)]
    if not inputs or not outputs:
        return 0
    pattern = ca.blockcat([[ca.DM(f.jac_sparsity(j, i), 1) for i in inputs] for j in outputs]).sparsity()
    return min(int(p.uni_coloring(p.T).size2()) for p in (pattern, pattern.T))


def _expanded(f: ca.Function) -> ca.Function | None:
    """f as scalar operations; None for a function that contains others."""
    try:
        return f if f.is_a("SXFunction") else f.expand()
    except RuntimeError:
        return None


def known(f: ca.Function, kind: str) -> bool:
    """Whether recursions give the derivative, which then is short."""
    description = describe(f)
    return bool(description and description.derivatives and description.derivatives.knows(kind))


def warn_of_derivatives(functions: Iterable[ca.Function], kinds: Sequence[str], packs: bool = True) -> None:
    """Warns if the derivatives of some functions would have more than LARGE instructions; packs: code is packed."""
    for f in functions:
        unknown = [kind for kind in kinds if not known(f, kind)]
        scalar = _expanded(f) if unknown else None
        sizes = {} if scalar is None else {kind: derivative_instructions(scalar, kind) for kind in unknown}
        total = sum(sizes.values())
        if total <= LARGE:
            continue
        large = [kind for kind, size in sizes.items() if size > total / 4]
        # jac_adj1 is not exported without adj1
        rest = tuple(kind for kind in kinds if kind not in large and not (kind == "jac_adj1" and "adj1" in large))
        remedy = f"derivatives={rest!r}" if rest else "derivatives=False"
        warn_user(
            f"the derivatives {names_in_message(large)} of {f.name()} have up to {total / 1e6:.1f} million "
            "instructions, as CasADi differentiates its graph: up to "
            f"{total * BYTES_PER_INSTRUCTION[packs] / 1e6:.0f} MB of C code, written in up to "
            f"{total * SECONDS_PER_INSTRUCTION[packs]:.0f} s and compiled in many times that. Without them: {remedy}",
            EffortWarning,
        )
