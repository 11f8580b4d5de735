"""Derivatives of exports: by recursions where they are known, told and warned of where they are long; interruptions."""

from __future__ import annotations

import gc
import shutil
import weakref
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn._base import display
from ocp_dyn.codegen.c_export import estimates, library, writing
from ocp_dyn.codegen.text.differentiated import differentiated
from ocp_dyn.functions.description import describe
from tests.helpers import close, tree


def robot(**of_the_arm: float) -> od.Model:
    """A free body with an arm on a ball joint, and a hinge at its end."""
    builder = od.ModelBuilder("robot")
    builder.add_body("base", od.FloatingBase(), mass=1, com=(0.1, 0, 0.2), inertia=(1, 2, 3))
    builder.add_body("upper", od.Spherical(), "base", origin=(0, 1, 0), mass=1, com=(0, 0, -1), inertia=(1, 1, 2))
    builder.add_body("lower", od.Revolute((1, 2, 3)), "upper", origin=(0, 0, -1), mass=1, com=(0, 1, 0), **of_the_arm)
    return builder.build()


ARMATURE = od.Loads(armature=True)
MODEL, SPRUNG = robot(armature=0.3), robot(stiffness=3.0, damping=0.5, rest=0.4)
CONTACTS = (od.Contact("lower"),)
FEW_ROWS = (od.Contact("lower", axes="xz"),)
REDUNDANT = (*FEW_ROWS, od.Contact("lower", point=(0, 0, 0), axes="zy"))
"""The z row occurs twice."""


def by_casadi(f: ca.Function, kind: str) -> ca.Function:
    """The derivative by automatic differentiation."""
    known, f.description = f.description, None
    try:
        return differentiated(f, kind)
    finally:
        f.description = known


@pytest.mark.parametrize(
    ("make", "kinds"),
    [
        (lambda: od.function(od.inverse_dynamics, MODEL), ("jac", "adj1")),
        (lambda: od.function(od.forward_dynamics, MODEL, loads=ARMATURE), ("jac_adj1",)),
        (lambda: od.function(od.constrained_dynamics, SPRUNG, FEW_ROWS, loads=od.Loads(passive=True)), ("jac",)),
        (lambda: od.function(od.constrained_dynamics, MODEL, REDUNDANT), ("jac",)),
        (lambda: od.function(od.impact, MODEL, FEW_ROWS, e=0.5), ("jac",)),
    ],
    ids=["ID", "FD", "springs", "redundant", "restitution"],
)
@pytest.mark.slow
def test_recursions_give_the_derivatives(rng, make, kinds):
    """Equal to automatic differentiation, in name, inputs, outputs and value, at quaternions of any length."""
    f = make()
    for kind in kinds:
        made, expected = differentiated(f, kind), by_casadi(f, kind)
        assert (made.name(), made.name_in(), made.name_out()) == (
            expected.name(),
            expected.name_in(),
            expected.name_out(),
        )
        assert [made.sparsity_in(i) for i in range(made.n_in())] == [
            expected.sparsity_in(i) for i in range(made.n_in())
        ]
        values = [ca.DM(made.sparsity_in(i), rng.normal(size=made.nnz_in(i))) for i in range(made.n_in())]
        for got, wanted in zip(made.call(values), expected.call(values), strict=True):
            close(got, wanted, 1e-9)
        if kind != "adj1" and expected.n_instructions() > 4000:
            assert made.n_instructions() < 0.8 * expected.n_instructions()


@pytest.mark.parametrize(
    "make",
    [
        lambda: od.function(od.constrained_dynamics, MODEL, CONTACTS, solver="null"),
        lambda: od.function(od.constrained_dynamics, MODEL, FEW_ROWS, residual=True),
        lambda: od.function(od.inverse_dynamics, MODEL, loads=od.Loads(external=("upper",))),
        lambda: od.function(od.inverse_dynamics, MODEL, parameters=("gravity",)),
        lambda: od.function(od.forward_dynamics, SPRUNG, loads=od.Loads(passive=True)),
        lambda: od.function(od.impact, MODEL, FEW_ROWS, e="input"),
        lambda: od.function(od.mass_matrix, MODEL),
    ],
    ids=["solver", "residual", "wrenches", "parameters", "springs", "restitution", "H"],
)
@pytest.mark.slow
def test_what_only_casadi_differentiates(make):
    f = make()
    assert describe(f).derivatives is None
    assert differentiated(f, "jac").n_in() == f.n_in() + f.n_out()


@pytest.mark.slow
def test_derivatives_outlive_the_model():
    """A Function keeps a copy of the model for them, and no model beyond its own life."""
    model = od.random_tree(2, 1, (od.Revolute("z"),), np.random.default_rng(1))
    f = od.function(od.inverse_dynamics, model)
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None
    assert describe(f).derivatives.of(f, "jac") is not None


def test_joints_whose_velocities_are_not_rates():
    class Geared(od.Revolute):
        """Its velocity is twice the rate of its q."""

        def q_dot(self, q, qd):
            return qd / 2

    builder = od.ModelBuilder()
    builder.add_body("a", Geared("z"), mass=1, com=(1, 0, 0))
    f = od.function(od.forward_dynamics, builder.build())
    assert describe(f).derivatives.of(f, "jac") is None
    assert differentiated(f, "jac").name() == "jac_FD"


@pytest.mark.slow
def test_constraints_on_the_entries_of_a_quaternion(rng):
    """The recursion takes a quaternion's length for meaningless; phi(q) of a user may see it, and CasADi then."""
    q0 = MODEL.q_slice("root").start
    raw = od.CustomConstraint(lambda q: q[q0 + 6] * q[-1] - 0.1)
    placed = od.CustomConstraint(lambda q: od.point_position(MODEL, "lower", q)[2])
    for one, known in (
        (raw, False),
        (od.Baumgarte(raw, 0.2), False),
        (placed, True),
        (od.Baumgarte(placed, 0.2), True),
    ):
        f = od.function(od.constrained_dynamics, MODEL, [one])
        assert describe(f).derivatives.knows("jac") is known
    f = od.function(od.constrained_dynamics, MODEL, [raw])
    q, qd, tau = MODEL.random_q(rng), rng.normal(size=MODEL.nv), rng.normal(size=MODEL.nv)
    J = differentiated(f, "jac")(q, qd, tau, 0, 0)[0].full()
    step = 1e-6 * q
    close((f(q + step, qd, tau)[0] - f(q - step, qd, tau)[0]) / 2e-6, J @ q, 1e-6)


# Estimates


@pytest.mark.slow
def test_estimates_are_near(rng):
    """Within a factor of three of what automatic differentiation gives; more where a tree has branches, never less."""
    f = od.function(od.constrained_dynamics, MODEL, FEW_ROWS)
    for kind in ("jac", "adj1", "fwd1", "jac_adj1"):
        size = estimates.derivative_instructions(f, kind)
        assert 0.9 < size / by_casadi(f, kind).n_instructions() < 3, kind
    branched = od.function(od.bias_force, tree("forest"))
    for kind in ("jac", "adj1", "fwd1", "jac_adj1"):
        assert 1 < estimates.derivative_instructions(branched, kind) / by_casadi(branched, kind).n_instructions() < 6


def test_long_derivatives_are_told_before_they_are_made(monkeypatch):
    f = od.function(od.impact, MODEL, FEW_ROWS)
    monkeypatch.setattr(estimates, "LARGE", 20_000)
    message = (
        r"derivatives jac_adj1 of impact have up to 0\.\d million instructions.*up to \d+ MB.*derivatives=\('jac', "
        r"'fwd1', 'adj1'\)"
    )
    monkeypatch.setattr(library, "entries", None)
    with pytest.raises(TypeError), pytest.warns(estimates.EffortWarning, match=message):
        od.codegen.generate([f], "robot", derivatives=True)  # nothing is differentiated before


@pytest.mark.slow
def test_the_remedy_is_one_that_exports_take(monkeypatch):
    """Both jac_adj1 and adj1 of a function are left out if recursions give the first alone."""
    model = od.models.pendulum(2)
    f = od.function(od.constrained_dynamics, model, (od.Contact(model.frame_names[-1], axes="x"),))
    monkeypatch.setattr(estimates, "LARGE", 1)
    with pytest.warns(estimates.EffortWarning, match=r"derivatives fwd1, adj1 of FDc .* derivatives=\('jac',\)$"):
        estimates.warn_of_derivatives([f], ("jac", "fwd1", "adj1", "jac_adj1"))
    od.codegen.generate([f], "robot", derivatives=("jac",))


def test_short_derivatives_are_not_told(monkeypatch, recwarn):
    monkeypatch.setattr(estimates, "LARGE", 20_000)
    fs = [od.function(od.inverse_dynamics, MODEL), od.function(od.constrained_dynamics, MODEL, FEW_ROWS)]
    estimates.warn_of_derivatives(fs, ("jac", "fwd1", "adj1", "jac_adj1"))
    assert not recwarn.list


# Progress


@pytest.mark.slow
def test_progress_of_long_exports(capsys, monkeypatch):
    f = od.function(od.mass_matrix, MODEL)
    od.codegen.generate([f], "robot")
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(display, "REPORT_INTERVAL", -1.0)
    od.codegen.generate([f], "robot", derivatives=("jac",))
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "ocp_dyn: differentiating H: jac"
    assert said[1].startswith(f"ocp_dyn: writing H ({f.n_instructions()} instructions); 0 of 2 functions, ")
    assert said[2].startswith("ocp_dyn: writing jac_H (")
    od.codegen.generate([f], "robot", derivatives=("jac",), progress=False)
    assert capsys.readouterr().err == ""


def test_a_long_function_is_told_before_it_is_written(capsys, monkeypatch):
    monkeypatch.setitem(estimates.SECONDS_PER_INSTRUCTION, True, 1.0)
    od.codegen.generate([od.function(od.mass_matrix, MODEL)], "robot")
    assert "writing H" in capsys.readouterr().err


# Interruptions


def test_an_interrupted_export_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(library, "_code", interrupted)
    with pytest.raises(KeyboardInterrupt):
        od.codegen.export([od.function(od.mass_matrix, MODEL)], tmp_path / "robot")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("after", [0, 1, 4, 9])
@pytest.mark.slow
def test_earlier_files_come_back(tmp_path, monkeypatch, after):
    """An export into a folder with an earlier one, interrupted while it replaces files."""
    target = tmp_path / "robot"
    od.codegen.export([od.function(od.mass_matrix, MODEL)], target)
    (target / "simulink" / "sfun_robot.c").unlink()
    if after == 9:  # interrupted with a folder that was just made, and one file in it
        shutil.rmtree(target / "simulink")
    (target / "notes.txt").write_text("mine")
    before = {path.relative_to(target): path.read_text() for path in target.rglob("*") if path.is_file()}
    moves = Path.replace
    count = 0

    def interrupted(path: Path, to: Path) -> Path:
        nonlocal count
        if path.parent.name in ("files", "simulink") and "files" in path.parts:
            count += 1
            if count > after:
                monkeypatch.setattr(Path, "replace", moves)
                raise KeyboardInterrupt
        return moves(path, to)

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        od.codegen.export([od.function(od.bias_force, MODEL)], target)
    assert {path.relative_to(target): path.read_text() for path in target.rglob("*") if path.is_file()} == before
    assert sorted(tmp_path.iterdir()) == [target]
    od.codegen.export([od.function(od.bias_force, MODEL)], target)
    assert (target / "robot_C.c").exists()
    assert not (target / "robot_H.c").exists()
    assert (target / "notes.txt").read_text() == "mine"


@pytest.mark.slow
def test_sources_of_functions_that_an_export_no_longer_has_go(tmp_path):
    """Files of the same header, with all their variants; not those of another export, nor of the user."""
    ID, H, C = (od.function(f, MODEL) for f in (od.inverse_dynamics, od.mass_matrix, od.bias_force))
    od.codegen.export([ID, H], tmp_path, prefix="arm", lanes=8)
    od.codegen.export([C], tmp_path, prefix="arm_left")
    (tmp_path / "arm_mine.c").write_text("/* see arm.h. */")
    od.codegen.export([C], tmp_path, prefix="arm")
    left = {path.name for path in tmp_path.iterdir() if path.suffix in (".c", ".inc", ".h")}
    assert left == {"arm.c", "arm.h", "arm_C.c", "arm_external.c", "arm_left.c", "arm_left.h", "arm_left_C.c",
                    "arm_left_external.c", "arm_mine.c", "example.c"}  # fmt: skip


def test_a_folder_that_another_export_has_just_made(tmp_path):
    """Its files stay, and the files of this export are moved into it."""
    complete, target = tmp_path / "files", tmp_path / "robot"
    complete.mkdir()
    target.mkdir()
    (target / "other.c").write_text("other")
    assert not writing._appears(complete, target)
    assert (target / "other.c").exists()
    assert writing._appears(complete, tmp_path / "new")


def test_a_file_where_a_folder_must_be(tmp_path):
    (tmp_path / "robot").mkdir()
    (tmp_path / "robot" / "simulink").write_text("mine")
    with pytest.raises(ValueError, match="writes a directory 'simulink'"):
        od.codegen.export([od.function(od.mass_matrix, MODEL)], tmp_path / "robot")
    assert [path.name for path in (tmp_path / "robot").iterdir()] == ["simulink"]
    assert writing.check_target(tmp_path / "other", ["a"]) is None
