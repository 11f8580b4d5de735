"""Given states at the ends: independent of what feet and loops hold."""

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.ocp.statement.state.given_states import free_directions


def biped():
    """A trunk on two legs of six joints with flat feet, 14 kg."""
    builder = od.ModelBuilder("biped")
    builder.add_body("trunk", od.FloatingBase(), mass=8.0, inertia=(0.2, 0.2, 0.2))
    for side, y in (("l", 0.1), ("r", -0.1)):
        parent, origin = "trunk", (0.0, y, 0.0)
        for name, axis in (("yaw", "z"), ("tilt", "x"), ("hip", "y"), ("knee", "y"), ("ankle", "y"), ("roll", "x")):
            body = f"{name}_{side}"
            builder.add_body(body, od.Revolute(axis), parent, origin=origin, mass=0.5, com=(0, 0, -0.15),
                             inertia=(0.01, 0.01, 0.01))  # fmt: skip
            parent, origin = body, (0.0, 0.0, -0.3 if name in ("hip", "knee") else 0.0)
        builder.add_frame(f"sole_{side}", parent, (0.0, 0.0, -0.05))
    return builder.build()


def standing(model, bend=0.4):
    """Both feet flat on the ground, below the hips."""
    q = np.array(model.neutral())
    q[2] = 0.05 + 0.6 * np.cos(bend)
    for side in "lr":
        for name, angle in (("hip", -bend), ("knee", 2 * bend), ("ankle", -bend)):
            q[model.q_slice(f"{name}_{side}_joint")] = angle
    return q


def stand(places, *conditions, count=2):
    model = biped()
    feet = [ocp.Foothold(od.Contact(f"sole_{side}"), **places(side)) for side in "lr"]
    phase = ocp.Phase("stand", count, 0.2, feet, objective=[ocp.TorqueSquared()])
    return ocp.Problem(model, [phase], boundary=conditions, posture=standing(model), integrator="gauss:2")


def fixed(side):
    return {"x": 0.0, "y": 0.1 if side == "l" else -0.1, "yaw": 0.0}


@pytest.mark.parametrize("places", [fixed, lambda side: {}], ids=["given places", "free places"])
@pytest.mark.parametrize("where", ["start", "end"])
@pytest.mark.slow
def test_rows_that_the_feet_imply_are_left_out(places, where):
    q = standing(biped())
    repeated = "depend on the others"
    problem = stand(places, ocp.Rest(q, where=where))
    assert not any(repeated in text or "rank" in text for text in problem.check())
    found = problem.solve(progress=False, check=True)
    np.testing.assert_allclose(found.q[0 if where == "start" else -1], q, atol=1e-6)
    np.testing.assert_allclose(found.qd[0 if where == "start" else -1], 0.0, atol=1e-5)


@pytest.mark.slow
def test_the_same_rows_written_out_repeat_them():
    q = standing(biped())
    whole = ocp.Boundary(lambda start, end: (ca.vertcat(start.q[:6] - q[:6], start.q[7:] - q[7:], start.qd), 0, 0))
    assert any("depend on the others" in text for text in stand(fixed, whole).check())


def test_directions_that_contacts_leave_free():
    model = biped()
    q = standing(model)
    foot = ocp.Foothold(od.Contact("sole_l"), x=0.0, y=0.1)
    position, velocity = free_directions(model, [foot], q)
    assert position.shape == velocity.shape == (18, 12)
    G = np.array(od.constraint_jacobian(model, [foot.contact], q).full())
    np.testing.assert_allclose(G @ velocity, 0.0, atol=1e-12)
    np.testing.assert_allclose(position.T @ position, np.eye(12), atol=1e-12)
    open_foot = ocp.Foothold(od.Contact("sole_l"))  # x and y are free: the state decides them
    assert free_directions(model, [open_foot], q)[0].shape == (18, 14)
    toe = ocp.Foothold(od.Contact("sole_l", point=(0.1, 0, 0)), of=open_foot)
    assert free_directions(model, [open_foot, toe], q)[0].shape == (18, 14)
    assert free_directions(model, [], q)[0].shape == (18, 18)


def test_a_wheel_has_all_rows_and_errors_name_what_is_wrong():
    builder = od.ModelBuilder("wheel")
    builder.add_body("rim", od.Revolute("z"), mass=1, inertia=(0.5, 0.5, 1))
    phase = ocp.Phase("turn", 4, 1.0, objective=[ocp.TorqueSquared()])
    found = ocp.Problem(builder.build(), [phase], boundary=[ocp.Rest([0.1]), ocp.At([1.0], "end")]).solve(
        progress=False
    )
    assert found.q[[0, -1], 0] == pytest.approx([0.1, 1.0])
    assert found.qd[0, 0] == pytest.approx(0.0)
    assert abs(found.qd[-1, 0]) > 0.5
    with pytest.raises(ValueError, match=r"Rest: q of .* must be 1 finite numbers"):
        ocp.Problem(builder.build(), [phase], boundary=[ocp.Rest([0.1, 0.2])])
    with pytest.raises(ValueError, match="where must be one of start, end"):
        ocp.At([0.0], where="middle")
    q = standing(biped())
    q[2] += 0.05
    with pytest.raises(ValueError, match=r"Rest: q is 0\.05 m or rad off what sole_l, sole_r hold"):
        stand(fixed, ocp.Rest(q))


def test_a_measured_state_is_a_parameter():
    """Rows that the feet imply are left out as of numbers; a new value needs no new problem."""
    model, q = biped(), standing(biped())
    q0, qd0 = ocp.Parameter("q0", q), ocp.Parameter("qd0", np.zeros(18))
    problem = stand(fixed, ocp.At(q0, qd=qd0))
    assert problem.resolved.parameters == (q0, qd0)
    step = 0.01 * np.arange(18.0)
    moved = np.array(model.integrate(q, step).full()).ravel()
    instant = ocp.Instant(model, ca.DM(moved), ca.DM(2 * step), values={"q0": ca.DM(q), "qd0": ca.DM(step)})
    rows = np.array(problem.conditions[0].rows(instant, instant)[0]).ravel()
    free = free_directions(model, problem.phases[0].held, q)
    np.testing.assert_allclose(rows, np.concatenate([N.T @ step for N in free]), atol=1e-12)
    assert rows.size < 36

    builder = od.ModelBuilder("wheel")
    builder.add_body("rim", od.Revolute("z"), mass=1, inertia=(0.5, 0.5, 1))
    phase = ocp.Phase("turn", 4, 1.0, objective=[ocp.TorqueSquared()])
    angle, rate = ocp.Parameter("angle", 0.0), ocp.Parameter("rate", 0.0)
    turn = ocp.Problem(builder.build(), [phase], boundary=[ocp.At(angle, qd=rate), ocp.At([1.0], "end", qd=[0.3])])
    found = turn.solve(values={"angle": 0.2, "rate": -0.1}, progress=False, check=True)
    np.testing.assert_allclose([*found.q[[0, -1], 0], *found.qd[[0, -1], 0]], [0.2, 1.0, -0.1, 0.3], atol=1e-9)
    with pytest.raises(ValueError, match=r"At: qd of .* must be 1 numbers, got Parameter 'both' of 2"):
        ocp.Problem(builder.build(), [phase], boundary=[ocp.At([0.0], qd=ocp.Parameter("both", [0.0, 1.0]))])
    with pytest.raises(ValueError, match=r"At: qd of .* must be 1 finite numbers"):
        ocp.Problem(builder.build(), [phase], boundary=[ocp.At([0.0], qd=[0.0, 1.0])])


def test_a_missing_side_of_bounds_is_free():
    builder = od.ModelBuilder("wheel")
    builder.add_body("rim", od.Revolute("z"), mass=1, inertia=(0.5, 0.5, 1))

    def peak(**sides):
        ends = [ocp.Rest([0.0]), ocp.Rest([-1.0], where="end")]
        path = [ocp.Path(lambda instant: instant.qd, name="rate", **sides)]
        phase = ocp.Phase("turn", 10, 1.0, objective=[ocp.TorqueSquared()], path=path)
        return ocp.Problem(builder.build(), [phase], boundary=ends).solve(progress=False, check=True).qd.min()

    assert peak(lower=-1.3) == pytest.approx(-1.3)
    assert peak(upper=0.0) == pytest.approx(peak(upper=5.0), abs=1e-6)
    assert ocp.Path(lambda instant: instant.q).rows(ocp.Instant(builder.build(), ca.DM([0.0]), ca.DM([0.0])))[1:] == (
        0,
        0,
    )
    free = ocp.Boundary(lambda start, end: (end.q, 1.0, None))
    phase = ocp.Phase("turn", 4, 1.0, objective=[ocp.TorqueSquared()])
    found = ocp.Problem(builder.build(), [phase], boundary=[ocp.Rest([0.0]), free]).solve(progress=False, check=True)
    assert found.q[-1, 0] >= 1.0 - 1e-6
    assert ocp.Foothold(od.Contact("foot"), yaw=(-0.1, 0.1)).yaw == (-0.1, 0.1)
