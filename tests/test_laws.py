"""Laws: what does not depend on how a mechanism is described, for every algorithm of the registry.

The same mechanism in other units, in a turned, mirrored or moved world, with its frames elsewhere on the bodies, with
bodies, constraints and rows in another order, with joints split into joints of one dof: outputs change as the laws of
their quantities say (`ocp_dyn.functions.laws`). How joints, constraints and indices change stands in
`tests/laws/`; an algorithm is covered when it is registered.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.functions.laws import INDICES, Law
from ocp_dyn.functions.quantities import QUANTITIES
from ocp_dyn.functions.registry import REGISTRY
from tests.helpers import close, mostly_slow
from tests.laws.checks import (
    AT_ONCE,
    FREE,
    LOOSE,
    by_expressions,
    by_function,
    case,
    cases,
    changes,
    check,
    numbers,
)
from tests.laws.worlds import Change

QUICK = (
    od.forward_dynamics, od.mass_matrix, od.frame_jacobian_dot, od.kinetic_energy_regressor, od.d_difference, od.impact,
)  # fmt: skip


@mostly_slow("algorithm", REGISTRY, QUICK, ids=lambda a: REGISTRY[a].name)
@pytest.mark.slow
def test_all_changes_at_once(algorithm):
    """Change by change, and many mechanisms: python -m scripts.checks.search laws."""
    found = cases(algorithm, [*REGISTRY].index(algorithm) % len(FREE))
    for old in found:
        for change in changes(algorithm)[: 1 if len(found) > 1 else None]:
            check(algorithm, old, change)


OF_FUNCTIONS = od.forward_dynamics, od.mass_matrix, od.constrained_dynamics


@pytest.mark.parametrize("algorithm", OF_FUNCTIONS, ids=lambda a: REGISTRY[a].name)
@pytest.mark.slow
def test_of_functions(algorithm):
    """Laws of the model of fewest operations, which is another one in every description."""
    check(algorithm, cases(algorithm, 3)[0], AT_ONCE, by_function)


@mostly_slow("algorithm", REGISTRY, QUICK, ids=lambda a: REGISTRY[a].name)
@pytest.mark.slow
def test_numbers_and_expressions_agree(algorithm):
    """One source: the same of DM as of SX or MX, which take turns."""
    k = [*REGISTRY].index(algorithm)
    old = cases(algorithm, (k + 1) % len(FREE))[0]
    expected = old.call(algorithm, numbers)
    for a, b in zip(old.call(algorithm, by_expressions((ca.SX, ca.MX)[k % 2])), expected, strict=True):
        scale = 1 + np.abs(b).max(initial=0)
        close(a / scale, b / scale, LOOSE.get(REGISTRY[algorithm].name, 1e-9))


def test_quantities_say_how_they_change():
    """Every quantity of the registry has a law."""
    for signature in REGISTRY.values():
        for one in (*signature.inputs, *signature.outputs, *signature.optional_inputs, *signature.optional_outputs):
            assert one.law, f'{one.name} has no law: add one such as "E/dof" in ocp_dyn/functions/quantities.py'
            assert {factor.index for factor in Law.parse(one.law)} <= {*INDICES, None}


SI = {
    "m": (0, 1, 0),
    "rad": (0, 0, 0),
    "1": (0, 0, 0),
    "s": (0, 0, 1),
    "kg": (1, 0, 0),
    "N": (1, 1, -2),
    "J": (1, 2, -2),
    "W": (1, 2, -3),
}
LENGTHS = {
    "condition": (0, 1, 2),
    **dict.fromkeys(("vector", "axes", "body_axes", "body", "frame", "potential", "each_dof", None), (0,)),
}
"""Powers of the length that entries along an index have; of the others 0 and 1."""


def dimension_of(unit):
    """(mass, length, time) of a unit such as "N m s/rad"; None for other words."""
    total = np.zeros(3, dtype=int)
    for sign, part in zip((1, -1), unit.split("/"), strict=False):
        for word in part.split():
            name, _, power = word.partition("^")
            if name not in SI:
                return None
            total += sign * int(power or 1) * np.array(SI[name])
    return tuple(int(x) for x in total)


@pytest.mark.parametrize("quantity", QUANTITIES.values(), ids=lambda one: one.name)
def test_units_are_those_of_the_law(quantity):
    """As far as the text begins with units."""
    law = Law.parse(quantity.law)
    told = {dimension_of(unit.strip()) for unit in quantity.units.partition(";")[0].split(",")} - {None}
    powers = [[(-n if one.dual else n) for n in LENGTHS.get(one.index, (0, 1))] for one in law]
    mass, length, time = (sum(one.dimension[k] for one in law) for k in range(3))
    known = {(mass, length + a + b, time) for a in powers[0] for b in powers[1]}
    assert told <= known


@pytest.mark.parametrize(("law", "error", "said"), [
    ("E/dofs", ValueError, "got 'dofs'.*did you mean 'dof'"),
    ("E dof/dof", ValueError, "have one index"),
    ("E, E, E", ValueError, "'rows, columns'|rows, columns"),
    ("", ValueError, "a quantity needs a law"),
    (3, TypeError, "a law is a text such as"),
])  # fmt: skip
def test_what_is_no_law(law, error, said):
    with pytest.raises(error, match=said):
        Law.parse(law)


def test_a_wrong_result_breaks_a_law():
    """A term of the wrong dimension, sign or frame is found."""
    for wrong, change in (
        (lambda m, q, qd, qdd, **o: od.inverse_dynamics(m, q, qd, qdd) + 1e-6 * qd, Change(time=1e3)),
        (lambda m, q, qd, qdd, **o: od.inverse_dynamics(m, q, qd, qdd) * (1 + 1e-6 * q[1]), Change(frames=0.4)),
        (lambda m, q, qd, qdd, **o: od.inverse_dynamics(m, q, qd, qdd) + 1e-6 * m.gravity[2], Change(turned=True)),
    ):

        def evaluate(algorithm, model, static, needed, options, wrong=wrong):
            return wrong(model, *needed)

        with pytest.raises(AssertionError, match="relative error"):
            check(od.inverse_dynamics, case(FREE[0], "alone", 0), change, evaluate)
