"""The ground in pictures and files: stairs repeated with the motion, stones, rails, a ground that is a function."""

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.viz.terrain.faces import faces_of
from ocp_dyn.viz.terrain.side import Ground
from ocp_dyn.viz.terrain.slabs import edges, risers, slabs

RISE, TREAD = 0.2, 0.4


def ball():
    builder = od.ModelBuilder("ball")
    builder.add_body("ball", od.FloatingBase(), joint_name="root", mass=2, inertia=(0.1,) * 3)
    builder.add_frame("foot", "ball", (0, 0, -0.3))
    return builder.build()


def motion(terrain=None, step=None, plane=None, places=None):
    """A made-up motion of one phase, on one foot."""
    model = ball()
    q = np.tile([0, 0, 0.3, 0, 0, 0, 1.0], (3, 1))
    q[:, 0] = np.linspace(0, TREAD if step else 0.1, 3)
    contact = od.Contact(model.frame("foot"))
    phase = ocp.PhaseMotion(
        "stand", np.array([0, 0.1, 0.2]), q, np.zeros((3, 6)), np.zeros((2, 6)), np.zeros((2, 6)), np.ones((2, 6)),
        (contact,), places or {"foot": np.zeros(3)}, 0.0, {} if plane is None else {"foot": plane},
    )  # fmt: skip
    moves = {"step_length": 0.0} if step is None else {"step_length": step[0], "rise": step[1]}
    return ocp.Solution(
        model=model, phases=(phase,), cost={}, impulses=(), mirrored=False, terrain=terrain,
        stats={"converged": True, "status": "made up"}, **moves,
    )  # fmt: skip


def test_level_ground_has_no_faces():
    assert faces_of(motion()) == []
    assert not Ground(motion(), 1)


def test_stairs_go_on_with_the_motion():
    terrain = ocp.stairs(RISE, TREAD, 3, landing=TREAD, x=-TREAD / 2)
    climbing = motion(terrain, (TREAD, RISE))
    ground = Ground(climbing, 2)
    found = {round(float(face.corners[:, 2].mean()) / RISE): face for face in ground.faces}
    assert len(found) == len(ground.faces)  # images that coincide are drawn once
    assert min(found) < -2
    assert max(found) > 5
    for k, face in found.items():
        np.testing.assert_allclose(face.corners[:, 0].mean(), (k - 1) * TREAD, atol=1e-9)
    line = ground.profile(ground.faces, -0.5, 1.1)
    for x, z in ((-0.45, 0.0), (0.0, RISE), (0.45, 2 * RISE), (1.05, 4 * RISE)):
        assert np.interp(x, *line.T) == pytest.approx(z, abs=1e-9)
    assert not Ground(motion(terrain), 1).profile(faces_of(motion(terrain)), -9, -8)[:, 1].any()  # the base ground


def test_profile_of_ramps_and_of_a_function():
    ramp = motion(ocp.ramp(0.5, 2.0))
    line = Ground(ramp, 1).profile(faces_of(ramp), -0.5, 1.5)
    assert np.interp(1.0, *line.T) == pytest.approx(np.tan(0.5))
    hills = motion(ocp.Terrain(ground=lambda x, y: 0.1 * ca.sin(x)))
    ground = Ground(hills, 1)
    assert ground
    assert np.interp(0.7, *ground.profile([], 0, 2).T) == pytest.approx(0.1 * np.sin(0.7), abs=1e-4)


def test_planes_of_footholds_are_drawn_without_a_terrain():
    rail = ocp.Patch((0, 0.4, 0.9), (0, -1, 0.5), length=2.0, width=0.05, name="rail")
    (face,) = faces_of(motion(plane=rail))
    assert not face.solid
    np.testing.assert_allclose(face.corners, rail.corners)
    (plate,) = faces_of(motion(plane=ocp.Plane((1, 0, 0.5))))
    assert plate.solid
    np.testing.assert_allclose(plate.corners.mean(axis=0), [1, 0, 0.5], atol=1e-12)
    terrain = ocp.stairs(RISE, TREAD, 2)
    stair = terrain.plane(1)
    assert len(faces_of(motion(terrain, plane=stair))) == 3
    assert len(faces_of(motion(terrain, plane=ocp.Plane(stair.point)))) == 3


def test_slabs_and_risers():
    faces = faces_of(motion(ocp.stairs(RISE, TREAD, 2)))
    vertices, triangles = slabs(faces)
    assert vertices.shape == (24, 3)
    assert triangles.max() == 23
    assert edges(faces).shape == (12, 2, 3)
    upright = risers(faces)
    front = [r for r in upright if np.ptp(r[:, 0]) < 1e-9 and np.allclose(r[:, 0], 0.0)]
    assert len(front) == 1
    assert np.ptp(front[0][:, 2]) == pytest.approx(RISE)


@pytest.mark.parametrize(
    "terrain",
    [
        ocp.stairs(RISE, TREAD, 2),
        ocp.Terrain([ocp.Patch((0, 0, 0.5), length=1, width=1)], ground=lambda x, y: 0.1 * ca.sin(x) + 0.2 * y),
    ],
    ids=["stairs", "hills"],
)
@pytest.mark.slow
def test_files_keep_the_ground(terrain, tmp_path):
    patch = ocp.Patch((0, 0.4, 0.9), (0, -1, 0.5), length=2.0, width=0.05, name="rail")
    saved = motion(terrain, plane=patch)
    saved.save(tmp_path / "a.npz")
    loaded = ocp.Solution.load(tmp_path / "a.npz")
    assert loaded.phases[0].planes["foot"] == patch
    assert loaded.terrain.patches == terrain.patches
    for x, y in ((-0.3, 0.1), (0.3, 0.0), (1.7, -0.5)):
        assert float(loaded.terrain.height(x, y)) == pytest.approx(float(terrain.height(x, y)), abs=2e-4)
    loaded.save(tmp_path / "b.npz")
    again = ocp.Solution.load(tmp_path / "b.npz").terrain
    assert float(again.height(1.0, 0.6)) == pytest.approx(float(loaded.terrain.height(1.0, 0.6)), abs=1e-12)
    motion().save(tmp_path / "c.npz")
    assert ocp.Solution.load(tmp_path / "c.npz").terrain is None


@pytest.mark.slow
def test_pictures_of_the_ground(tmp_path):
    climbing = motion(ocp.stairs(RISE, TREAD, 3, landing=TREAD, x=-TREAD / 2), (TREAD, RISE))
    strip = od.viz.stick_figure(climbing, poses=3)
    assert len(strip.axes[0].lines) == 3  # the ground under each pose
    page = climbing.animate(tmp_path / "a.html", steps=1, fps=5)
    text = page.read_text()
    assert '"faces":[[' in text
    assert '"risers":[[' in text
    climbing.animate(tmp_path / "a.gif", steps=1, fps=10, view="side+front")
    assert (tmp_path / "a.gif").stat().st_size > 1000
