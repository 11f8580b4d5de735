"""Long chains of bodies: the number of calls of CasADi grows with the bodies, not with the entries of the results."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.dynamics.subtrees import children_of, depth_first, matrix_by_bodies, square_matrix, symmetric_matrix
from tests.helpers import calls


def chain(n):
    builder = od.ModelBuilder("chain")
    for i in range(n):
        builder.add_body(
            f"b{i}", od.Revolute("xyz"[i % 3]), f"b{i - 1}" if i else "world", origin=(0, 0, -0.1), mass=1.0,
            com=(0.01, 0.0, -0.05), inertia=(0.01, 0.012, 0.003),
        )  # fmt: skip
    return builder.build()


ALGORITHMS = {
    "q": (od.mass_matrix, od.gravity_force, od.center_of_mass, od.centroidal_momentum_matrix, od.potential_energy),
    "q qd": (od.bias_force, od.coriolis_matrix, od.kinetic_energy, od.centroidal_momentum, od.momentum_matrix_dot),
    "q qd qdd": (
        od.inverse_dynamics, od.inverse_dynamics_regressor, od.inverse_dynamics_derivatives, od.forward_dynamics,
    ),
    "q qd qdd mu": (od.inverse_dynamics_second_derivatives,),
}  # fmt: skip
SHORT, LONG = (chain(n) for n in (6, 18))


@pytest.mark.parametrize("algorithm", [f for group in ALGORITHMS.values() for f in group], ids=lambda f: f.__name__)
@pytest.mark.slow
def test_calls_of_algorithms(algorithm):
    names = next(key for key, group in ALGORITHMS.items() if algorithm in group).split()
    found = []
    for model in (SHORT, LONG):
        numbers = {"q": model.nq, **dict.fromkeys(("qd", "qdd", "mu"), model.nv)}
        given = [ca.DM.ones(numbers[x]) / 3 for x in names]
        algorithm(model, *given)  # what is found once per model
        found.append(calls(lambda model=model, given=given: algorithm(model, *given)))
    assert found[1] < 3.2 * found[0]


@pytest.mark.slow
def test_calls_of_files_and_edits(tmp_path):
    def by_files(model):
        od.io.mjcf_text(model)
        od.io.urdf_text(model)
        od.save_model(model, tmp_path / "model.json")
        od.load_model(tmp_path / "model.json")
        model.lock_joints({model.joint_names[-1]: 0.0})
        od.reduce(model)

    for step in (lambda model: chain(model.nb), by_files):
        assert calls(lambda step=step: step(LONG)) < 3.5 * calls(lambda step=step: step(SHORT))


def test_matrices_of_bodies_in_another_order(rng):
    """Subtrees whose bodies are not numbered one after the other: rows and columns come back in the order of the
    dofs."""
    builder = od.ModelBuilder()
    kinds = (od.Spherical(), od.Revolute("z"), od.Planar(), od.Revolute("x"), od.Universal("x", "y"))
    for i, (joint, p) in enumerate(zip(kinds, (0, 1, 1, 2, 3), strict=True), 1):
        builder.add_body(f"b{i}", joint, f"b{p}" if p else "world", mass=1)
    model = builder.build()
    assert children_of(model) == [[1], [2, 3], [4], [5], [], []]
    assert depth_first(model) == [1, 2, 4, 3, 5]
    subtrees = {1: [1, 2, 4, 3, 5], 2: [2, 4], 3: [3, 5], 4: [4], 5: [5]}
    A, B = rng.normal(size=(model.nv, model.nv)), rng.normal(size=(model.nv, 2 * model.nb))
    A_found, B_found, S_found = np.zeros_like(A), np.zeros_like(B), np.zeros_like(A)
    rows, below, wide = {}, {}, {}
    for i, subtree in subtrees.items():
        own = list(model.dofs_of(i))
        dofs = [k for j in subtree for k in model.dofs_of(j)]
        columns = [2 * (j - 1) + k for j in subtree for k in range(2)]
        rows[i], below[i] = ca.DM(A[np.ix_(own, dofs)]), ca.DM(A[np.ix_(dofs[len(own) :], own)])
        wide[i] = ca.DM(B[np.ix_(own, columns)])
        A_found[np.ix_(own, dofs)] = A[np.ix_(own, dofs)]
        A_found[np.ix_(dofs, own)] = A[np.ix_(dofs, own)]
        B_found[np.ix_(own, columns)] = B[np.ix_(own, columns)]
        S_found[np.ix_(own, dofs)] = A[np.ix_(own, dofs)]
        S_found[np.ix_(dofs[len(own) :], own)] = A[np.ix_(own, dofs[len(own) :])].T
        S_found[np.ix_(own, own)] = np.triu(A[np.ix_(own, own)]) + np.triu(A[np.ix_(own, own)], 1).T
    assert np.array_equal(square_matrix(model, rows, below).full(), A_found)
    assert np.array_equal(symmetric_matrix(model, rows).full(), S_found)
    assert np.array_equal(matrix_by_bodies(model, wide, 2).full(), B_found)
