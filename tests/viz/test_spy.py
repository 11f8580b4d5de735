"""Patterns of matrices: H, its factor, G, KKT matrices; names at the axes; errors."""

from __future__ import annotations

from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from casadi import DM, MX, SX

import ocp_dyn as od
from ocp_dyn.models import human, pendulum
from ocp_dyn.ocp.workflows.attempt import prepare
from ocp_dyn.ocp.workflows.pictures.kkt import kkt_pattern
from ocp_dyn.spatial_algebra.linalg import ltdl
from ocp_dyn.viz import spy
from ocp_dyn.viz.drawing import COLORS, FORCE
from ocp_dyn.viz.pictures.spy import NamedPattern, _groups, factor_of
from tests.hopper import problem as hop

pytestmark = pytest.mark.slow


def entries(pattern: ca.Sparsity) -> set[tuple[int, int]]:
    return set(zip(pattern.row(), pattern.get_col(), strict=True))


def drawn(axes) -> dict[tuple[int, int], tuple]:
    """Entries that are drawn as squares, and their colors."""
    (squares,) = axes.collections
    places = [tuple(np.floor(path.vertices.min(axis=0)).astype(int)[::-1].tolist()) for path in squares.get_paths()]
    return dict(zip(places, map(tuple, squares.get_facecolor()), strict=True))


def names(axes, upright: bool) -> list[str]:
    """Names in their order along an axis."""
    texts = [t for t in axes.texts if (t.get_rotation() == 90) == upright]
    return [t.get_text() for t in sorted(texts, key=lambda t: t.get_position()[0 if upright else 1])]


@pytest.mark.parametrize("seed", range(4))
def test_the_factor_has_the_pattern_of_the_numeric_one(seed):
    model = od.random_tree(7, 1.7, rng=np.random.default_rng(seed))
    H = od.function(od.mass_matrix, model, reduce=False)
    q = DM(model.random_q(np.random.default_rng(seed)))
    factor = ltdl(H(q), model.dof_parent)
    expected = {(k, j) for k, row in enumerate(factor.L) for j in row} | {(k, k) for k in range(model.nv)}
    assert entries(factor_of(NamedPattern(H.sparsity_out(0))).sparsity) == expected


def test_fill_in_is_green():
    A = np.array([[4.0, 1, 0, 1], [1, 4, 0, 0], [0, 0, 3, 1], [1, 0, 1, 5]])
    _, L = spy(A, factor=True).axes
    green = tuple(np.append(np.array([int(FORCE[k : k + 2], 16) for k in (1, 3, 5)]) / 255, 1.0))
    found = {entry for entry, color in drawn(L).items() if color == pytest.approx(green)}
    assert found == {(2, 0)}
    assert set(drawn(L)) == {(0, 0), (1, 0), (1, 1), (2, 0), (2, 2), (3, 0), (3, 2), (3, 3)}
    texts = [t.get_text() for t in L.figure.texts]
    assert texts == ["4 × 4, 10 nonzeros (62.5 %)", "L, 8 nonzeros, 1 of them fill-in (green)"]
    numeric = ltdl(ca.sparsify(DM(A)), [-1, 0, 1, 2])
    assert {(k, j) for k, row in enumerate(numeric.L) for j in row} == {e for e in drawn(L) if e[0] > e[1]}


def test_h_of_a_model_is_drawn_with_its_factor_and_the_names_of_the_joints():
    model = human()
    H, L = spy(model).axes
    f = od.function(od.mass_matrix, model)
    assert set(drawn(H)) == entries(f.sparsity_out(0))
    assert all(i >= j for i, j in drawn(L))
    assert names(H, upright=False) == names(H, upright=True) == names(L, upright=True) == list(model.qd_names)
    assert names(L, upright=False) == []
    k = model.qd_slice("knee_l").start, model.qd_slice("knee_r").start, model.qd_slice("lumbar").start
    color = [tuple(np.array([int(COLORS[s][n : n + 2], 16) for n in (1, 3, 5)]) / 255) for s in ("left", "right")]
    assert drawn(H)[k[0], k[0]][:3] == pytest.approx(color[0])
    assert drawn(H)[k[1], k[1]][:3] == pytest.approx(color[1])
    assert (k[0], k[1]) not in drawn(H)
    assert drawn(H)[k[2], k[2]][:3] not in color


def test_g_has_the_names_of_its_rows():
    model = human()
    feet = (od.Contact("sole_l"), od.Contact("sole_r", axes="xz"))
    (G,) = spy(od.function(od.constraint_jacobian, model, feet)).axes
    assert names(G, upright=False) == list(od.constraint_rows(feet))
    assert names(G, upright=True) == list(model.qd_names)
    both = od.function(od.constrained_equations, model, feet)
    (chosen,) = spy(both, output="G").axes
    assert drawn(chosen) == drawn(G)
    assert names(spy(both).axes[0], upright=False) == list(model.qd_names)  # its first matrix, H


def test_all_kinds_of_matrices_have_one_pattern():
    A = np.array([[1.0, 0, 2], [0, 0, 3]])
    x = ca.SX.sym("x", ca.sparsify(DM(A)).sparsity())
    kinds = [A, A != 0, ca.sparsify(DM(A)), x, MX(ca.sparsify(DM(A))), x.sparsity(), A.tolist(), SX(x)]
    for kind in kinds:
        (axes,) = spy(kind, rows=["a", "b"], columns=["u", "v", "w"]).axes
        assert set(drawn(axes)) == {(0, 0), (0, 2), (1, 2)}
        assert (names(axes, False), names(axes, True)) == (["a", "b"], ["u", "v", "w"])


def test_names_of_dofs_give_way_to_those_of_joints():
    dofs = ("root.x", "root.y", "root.z", "knee", "knee_2")
    assert _groups(dofs, (), 5, 0.2) == tuple((name, 1) for name in dofs)
    assert _groups(dofs, (), 5, 0.07) == (("root", 3), ("knee", 1), ("knee_2", 1))
    assert _groups(dofs, (), 5, 0.01) == ()


@pytest.mark.parametrize("order", ["kkt", "stages"])
def test_the_kkt_matrix_of_a_problem(order):
    problem = hop()
    pattern = kkt_pattern(problem, order)
    _, program = prepare(problem)
    n, m = program.n, program.row_lower.size
    W, A = program.evaluator.hessian_pattern, program.evaluator.jacobian_pattern
    upper = sum(i <= j for i, j in entries(W))
    diagonal = sum(i == j for i, j in entries(W))
    assert pattern.sparsity.shape == (n + m, n + m)
    assert pattern.sparsity.nnz() == 2 * upper - diagonal + 2 * A.nnz()
    assert pattern.sparsity.is_symmetric()
    assert sum(size for _, size in pattern.row_groups) == n + m
    labels = [name for name, _ in pattern.row_groups]
    if order == "stages":
        assert labels == ["stance", "flight", "whole motion"]
        inner = sum(size for name, size in pattern.row_groups[:2])
        distance = [abs(i - j) for i, j in entries(pattern.sparsity) if max(i, j) < inner]
        assert np.quantile(distance, 0.95) < 0.15 * inner  # the rest closes the period
    else:
        assert labels[:3] == ["stance", "flight", "whole motion"]
        assert labels[3:5] == ["rows: stance", "rows: flight"]
        assert not [e for e in entries(pattern.sparsity) if min(e) >= n]
    (axes,) = spy(problem, order=order).axes
    assert names(axes, upright=True) == labels
    assert spy(problem, order=order).texts[0].get_text().startswith(f"KKT matrix of monopod: {n} variables, {m} const")


def test_a_large_matrix_is_drawn_as_an_image(tmp_path: Path):
    n = 3000
    A = ca.Sparsity.banded(n, 1)
    (axes,) = spy(A, tmp_path / "a.png").axes
    (image,) = axes.images
    pixels = np.array(image.get_array())[..., 0]
    assert pixels.shape == (1400, 1400)
    inked = np.argwhere(pixels < 1)
    assert np.abs(inked[:, 0] - inked[:, 1]).max() <= 1
    assert len(set(inked[:, 0].tolist())) == 1400
    assert (tmp_path / "a.png").stat().st_size > 1000
    (axes,) = spy(ca.Sparsity.triplet(n, n, [0, 0], [7, n - 1])).axes
    pixels = np.array(axes.images[0].get_array())[..., 0]
    assert np.argwhere(pixels < 1).tolist() == [[0, 3], [0, 1399]]


@pytest.mark.parametrize(
    ("matrix", "options", "error", "message"),
    [
        (3, {}, TypeError, "spy needs a model, a Function, a problem, or a matrix"),
        ("H", {}, TypeError, "spy needs a model"),
        (np.zeros(3), {}, TypeError, "two dimensions"),
        (np.ones((2, 3)), {"factor": True}, ValueError, r"needs a symmetric matrix, got a pattern of shape \(2, 3\)"),
        (np.triu(np.ones((2, 2))), {"factor": True}, ValueError, "needs a symmetric matrix"),
        (np.ones((2, 2)), {"rows": ["a"]}, ValueError, r"rows must be 2 names, got 1: \['a'\]|rows must be 2 names"),
        (np.ones((2, 2)), {"columns": [1, 2]}, ValueError, "columns must be 2 names"),
        (np.ones((2, 2)), {"output": "C"}, ValueError, "output is the name of an output of a Function, got 'C'"),
        (np.ones((2, 2)), {"order": "time"}, ValueError, "order must be one of kkt, stages, got 'time'"),
        (np.ones((2, 2)), {"factor": 1}, TypeError, "spy: factor must be True or False, got 1"),
        (np.ones((2, 2)), {"path": "a.gif"}, ValueError, "a figure is written as one of"),
        (od.function(od.mass_matrix, pendulum(1)), {"output": "C"}, KeyError, "H has no output 'C'; its outputs are H"),
    ],
)
def test_spy_refuses(matrix, options, error, message):
    with pytest.raises(error, match=message):
        spy(matrix, **options)
