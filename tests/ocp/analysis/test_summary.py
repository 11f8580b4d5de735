"""The summary of a solution: its figures, as a table, as numbers for a report, and of motions that lack some of
them."""

from __future__ import annotations

import json
from dataclasses import fields, replace

import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from tests.motions import Motions


@pytest.fixture
def hop(motions: Motions) -> ocp.Solution:
    """Stance and flight of a trunk on a leg that turns in the hip and stretches."""
    return motions["hop"]


def swung() -> ocp.Solution:
    """A rotor without weight, turned in place."""
    builder = od.ModelBuilder("rotor", gravity=(0, 0, 0))
    builder.add_body("disc", od.Revolute("z"), mass=1, inertia=(1, 1, 1))
    rests = ocp.Boundary(lambda start, end: (start.q, 0.0, 0.0), "rests")
    phase = ocp.Phase("swing", 3, 0.5, objective=(ocp.TorqueSquared(),))
    return ocp.Problem(builder.build(), [phase], boundary=(rests,)).solve(progress=False)


def test_a_body_that_slides_has_no_peak_torque() -> None:
    builder = od.ModelBuilder("cart")
    builder.add_body("cart", od.Prismatic("x"), mass=1, inertia=(1, 1, 1))
    builder.add_body("pole", od.Revolute("y"), "cart", mass=1, inertia=(1, 1, 1), effort=0.0)
    phase = ocp.Phase("move", 3, 0.5, objective=(ocp.TorqueSquared(),))
    ends = [ocp.Rest([0.0, 0.0]), ocp.At([0.1, 0.0], "end")]
    found = ocp.Problem(builder.build(), [phase], boundary=ends).solve(progress=False).summary(defects=False)
    assert found.converged
    assert found.peak_torque is None


@pytest.mark.slow
def test_figures_are_those_of_the_motion(hop: ocp.Solution) -> None:
    found, defects, (stance, flight) = hop.summary(), hop.defects(), hop.phases
    weight = 10 * 9.81  # trunk, hip and leg
    assert found.converged
    assert found.step_length == hop.step_length
    assert found.duration == pytest.approx(stance.duration + flight.duration)
    assert found.phases == {"stance": stance.duration, "flight": flight.duration}
    assert found.speed == pytest.approx(0.8)
    assert found.cost == hop.cost
    assert found.objective == pytest.approx(sum(hop.cost.values()))
    assert (found.positive_work, found.negative_work) == hop.mechanical_work()
    assert found.cost_of_transport == pytest.approx(found.positive_work / (weight * hop.step_length))
    assert found.peak_torque == np.abs(hop.tau[:, 3]).max()  # of the hip: the leg's is a force
    assert np.abs(hop.tau[:, 4]).max() > found.peak_torque
    assert found.peak_vertical_force == pytest.approx(stance.lam[:, 2].max())
    assert found.peak_vertical_force_in_body_weights == pytest.approx(stance.lam[:, 2].max() / weight)
    assert found.defects is not None
    assert (found.defects.angle, found.defects.open_loop_length) == (defects.angle, defects.open_loop_length)
    assert (found.iterations, found.solve_seconds) == (hop.stats["iterations"], hop.stats["solve_seconds"])
    assert hop.summary(defects=False).defects is None


def test_a_large_defect_is_told_with_its_remedy(hop: ocp.Solution) -> None:
    found = hop.summary()
    assert "refines the grid" not in str(found)
    large = replace(found, defects=replace(found.defects, angle=0.06))
    assert "the defect is large: solve(accuracy=1e-3) refines the grid" in str(large)
    assert large.numbers().keys() == found.numbers().keys()


def test_numbers_bear_their_units(hop: ocp.Solution) -> None:
    summary = hop.summary()
    numbers = summary.numbers()
    assert json.loads(json.dumps(numbers)) == numbers
    assert numbers == {
        "converged": True, "status": summary.status, "objective": summary.objective, "duration_s": summary.duration,
        "stance_s": summary.phases["stance"], "flight_s": summary.phases["flight"],
        "step_length_m": summary.step_length,
        "speed_m_per_s": summary.speed, "cost_of_transport": summary.cost_of_transport,
        "positive_work_J": summary.positive_work, "negative_work_J": summary.negative_work,
        "peak_torque_Nm": summary.peak_torque, "peak_vertical_force_N": summary.peak_vertical_force,
        "peak_vertical_force_body_weights": summary.peak_vertical_force_in_body_weights,
        "defect_rad": summary.defects.angle, "defect_m": summary.defects.length,
        "open_loop_defect_rad": summary.defects.open_loop_angle, "open_loop_defect_m": summary.defects.open_loop_length,
        "iterations": summary.iterations, "infeasibility": summary.infeasibility,
        "build_seconds": summary.build_seconds, "solve_seconds": summary.solve_seconds,
    }  # fmt: skip


def test_a_phase_may_be_called_like_another_figure(hop: ocp.Solution) -> None:
    """Every figure keeps a key of its own; the other figures keep theirs."""
    stance, flight = hop.phases
    named = replace(hop, phases=(replace(stance, name="duration"), replace(flight, name="phase duration")))
    numbers = named.summary(defects=False).numbers()
    assert numbers["duration_s"] == hop.duration
    assert numbers["phase_duration_s"] == stance.duration
    assert numbers["phase_phase_duration_s"] == flight.duration


def test_a_table_shows_all_of_it(hop: ocp.Solution) -> None:
    lines = str(hop.summary(defects=False)).splitlines()
    assert lines[0].split() == ["status", hop.status]
    assert f"cost: TorqueSquared  {hop.cost['TorqueSquared']:.5g}".split() in [line.split() for line in lines]
    assert ["speed", "0.8", "m/s"] in [line.split() for line in lines]
    assert len({line.index(line.split("  ")[-1].strip()) for line in lines}) == 1  # one column of values
    assert not any(line.startswith(("defect", "worst")) for line in lines)


def test_figures_that_a_motion_lacks_are_none(hop: ocp.Solution) -> None:
    found = swung().summary()
    absent = {name for name in (f.name for f in fields(found)) if getattr(found, name) is None}
    assert absent == {
        "step_length", "sideways", "rise", "turn", "ladder", "speed", "cost_of_transport", "peak_vertical_force",
        "peak_vertical_force_in_body_weights"
    }  # fmt: skip
    assert not absent & found.numbers().keys()
    weightless = replace(hop, model=hop.model.with_gravity((0, 0, 0)))
    assert weightless.summary(defects=False).cost_of_transport is None
    assert found.numbers()["swing_s"] == found.numbers()["duration_s"] == 0.5


def test_the_duration_of_an_only_phase_is_shown_once() -> None:
    summary = swung().summary(defects=False)
    (name,) = summary.phases
    shown = [row for row, _ in summary.rows()]
    assert shown.count("duration") == 1
    assert name not in shown
    assert summary.numbers()[f"{name}_s"] == summary.duration


def test_a_motion_that_failed_has_a_summary(hop: ocp.Solution) -> None:
    stats = {"converged": False, "status": "Infeasible", "faults": ["stance: dynamics of 'hip' is off by 3", "another"]}
    lost = replace(hop, stats=stats, phases=tuple(replace(p, q=p.q * np.nan) for p in hop.phases))
    found = lost.summary()
    assert found.defects is None
    assert found.iterations is None
    assert found.worst_fault == stats["faults"][0]
    assert str(found).splitlines()[0].endswith("NOT CONVERGED (Infeasible)")
    assert stats["faults"][0] in str(found)
    with pytest.raises(TypeError, match="defects must be True or False, got 'no'"):
        hop.summary("no")  # type: ignore[arg-type]
