"""`ocp-dyn gait` on a small walker of our own, written as an OpenSim model, with recordings that it has made itself."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.cli import main
from ocp_dyn.recordings import Recording, read, write
from ocp_dyn.recordings.fitting.placed import Placed

LENGTHS = {"femur": 0.4, "tibia": 0.4, "calcn": 0.0}
COORDINATES = ["hip_r", "knee_r", "ankle_r", "hip_l", "knee_l", "ankle_l"]


def osim() -> str:
    """A pelvis that moves freely, and two legs of three pins about z, the axis to the right."""

    def joint(kind: str, name: str, parent: str, child: str, at: str, coordinates: list[str]) -> str:
        offset = (
            f'<PhysicalOffsetFrame name="at"><socket_parent>{parent}</socket_parent><translation>{at}</translation>'
        )
        named = "".join(f'<Coordinate name="{c}"/>' for c in coordinates)
        return (
            f'<{kind} name="{name}"><socket_parent_frame>at</socket_parent_frame><socket_child_frame>{child}'
            f"</socket_child_frame><coordinates>{named}</coordinates><frames>{offset}</PhysicalOffsetFrame></frames></{kind}>"
        )

    bodies, markers = ["pelvis"], []
    free = ["p_list", "p_rotation", "p_tilt", "p_tx", "p_ty", "p_tz"]
    joints = [joint("FreeJoint", "root", "/ground", "/bodyset/pelvis", "0 0 0", free)]
    for side, z in (("r", 0.1), ("l", -0.1)):
        parent, at = "pelvis", f"0 -0.05 {z}"
        for kind, segment in (("hip", "femur"), ("knee", "tibia"), ("ankle", "calcn")):
            body = f"{segment}_{side}"
            bodies.append(body)
            name = f"{kind}_{side}"
            joints.append(joint("PinJoint", name, f"/bodyset/{parent}", f"/bodyset/{body}", at, [name]))
            parent, at = body, f"0 {-LENGTHS[segment]} 0"
    for k, body in enumerate(bodies):
        for i, place in enumerate(("0.1 0 0.05", "-0.05 -0.2 0.03", "0.02 -0.1 -0.06")):
            frame = f"<socket_parent_frame>/bodyset/{body}</socket_parent_frame>"
            markers.append(f'<Marker name="M{k}{i}">{frame}<location>{place}</location></Marker>')
    inertia = "<mass>5</mass><mass_center>0 -0.1 0</mass_center><inertia>0.1 0.1 0.1 0 0 0</inertia>"
    body_set = "".join(f'<Body name="{body}">{inertia}</Body>' for body in bodies)
    sets = f"<BodySet><objects>{body_set}</objects></BodySet><JointSet><objects>{''.join(joints)}</objects></JointSet>"
    sets += f"<MarkerSet><objects>{''.join(markers)}</objects></MarkerSet>"
    return f'<OpenSimDocument Version="40000"><Model name="walker">{sets}</Model></OpenSimDocument>'


LOADS = (
    '<OpenSimDocument Version="40000"><ExternalLoads><objects>{}</objects><datafile>forces.mot</datafile>'
    "</ExternalLoads></OpenSimDocument>"
)
LOAD = (
    '<ExternalForce name="{0}"><applied_to_body>calcn_{0}</applied_to_body>'
    "<force_identifier>ground_force_{0}_v</force_identifier><point_identifier>ground_force_{0}_p</point_identifier>"
    "<torque_identifier>ground_torque_{0}_</torque_identifier></ExternalForce>"
)
OTHER = '<IKMarkerTask name="of another"><weight>3</weight></IKMarkerTask>'
TASKS = f"<OpenSimDocument><IKTaskSet>{{}}{OTHER}</IKTaskSet></OpenSimDocument>"
TASK = '<IKMarkerTask name="M{}{}"><apply>{}</apply><weight>2</weight></IKMarkerTask>'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Model, markers, forces, external loads and tasks."""
    found = tmp_path_factory.mktemp("gait")
    (found / "walker.osim").write_text(osim())
    model = od.load(found / "walker.osim")
    t = np.arange(0, 2.0, 0.02)
    q = np.zeros((t.size, model.nq))
    for name, x in {"p_tx": 1.2 * t, "p_ty": 0.9 + 0.02 * np.sin(4 * np.pi * t)}.items():
        q[:, model.q_names.index(name)] = x
    for side, phase in (("r", 0.0), ("l", np.pi)):
        swing = 2 * np.pi * t + phase
        q[:, model.q_names.index(f"hip_{side}")] = 0.1 + 0.4 * np.cos(swing)
        q[:, model.q_names.index(f"knee_{side}")] = -0.5 + 0.4 * np.cos(swing + 1)
        q[:, model.q_names.index(f"ankle_{side}")] = 0.1 * np.sin(swing)
    placed = Placed(model)
    R, p, _, _ = placed.bodies(q)
    frames = [model.frame(m.body) for m in model.markers]
    points = [p[:, f.body] + R[:, f.body] @ np.array(f.X.point(list(m.point)).full()).ravel()
              for f, m in zip(frames, model.markers, strict=True)]  # fmt: skip
    write(Recording([m.name for m in model.markers], t, np.stack(points, axis=1), "m"), found / "walk.trc", up="y")
    names, columns = [], []
    for side, begin in (("r", 0.1), ("l", 0.6)):
        s = np.clip(((t - begin) % 1.0) / 0.6, 0, 1)
        up = 400 * np.sin(np.pi * s)
        for stem, values in (("force_{}_v", (0 * t, up, 0 * t)), ("force_{}_p", (1.2 * t, 0 * t, 0.1 + 0 * t)),
                             ("torque_{}_", (0 * t, 0 * t, 0 * t))):  # fmt: skip
            names += [f"ground_{stem.format(side)}{x}" for x in "xyz"]
            columns += values
    write(Recording(names, t, np.stack(columns, axis=1)), found / "forces.mot")
    (found / "loads.xml").write_text(LOADS.format(LOAD.format("r") + LOAD.format("l")))
    tasks = "".join(TASK.format(k, i, "false" if (k, i) == (0, 0) else "true") for k in range(7) for i in range(3))
    (found / "tasks.xml").write_text(TASKS.format(tasks))
    np.save(found / "q.npy", q)
    return found


@pytest.mark.slow
def test_a_recorded_walk_becomes_angles_moments_and_a_report(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(folder / name) for name in ("walker.osim", "walk.trc", "loads.xml")]
    out = folder / "gait"
    assert main(["gait", *files, "--weights", str(folder / "tasks.xml"), "--out", str(out), "--json"]) == 0
    text, notes = capsys.readouterr()
    assert "tasks.xml: left out: of another, which neither" in notes
    told = json.loads(text)
    assert told["marker_rms_m"] < 1e-6
    assert "M00" not in told["marker_rms_by_name_m"]
    assert told["frames_on_plates"] == told["frames"]
    assert told["residual_rms_on_plates"] == told["residual_rms"]
    assert told["strikes_s"]["calcn_r"][0] == pytest.approx(0.11, abs=0.01)
    model, q = od.load(folder / "walker.osim"), np.load(folder / "q.npy")
    coordinates = read(out / "coordinates.mot")
    for name in COORDINATES:
        np.testing.assert_allclose(coordinates[name], np.degrees(q[:, model.q_names.index(name)]), atol=1e-4)
    assert read(out / "moments.sto").names == model.qd_names
    report = (out / "report.md").read_text()
    assert "| M10 | 0.0 |" in report
    for side in ("right", "left"):
        assert f"![{side} side](gait_{side}.png)" in report
        assert (out / f"gait_{side}.png").stat().st_size > 10_000
        assert told["sides"][side]["stride_time_s"] == pytest.approx(1.0, abs=0.02)


SCALE = """<OpenSimDocument><ScaleTool><mass>61</mass><ModelScaler>
<scaling_order>manualScale measurements</scaling_order>
<MeasurementSet><objects><Measurement name="m">
<MarkerPairSet><objects><MarkerPair><markers>M10 M11</markers></MarkerPair></objects></MarkerPairSet>
<BodyScaleSet><objects><BodyScale name="{0}"><axes>X</axes></BodyScale></objects></BodyScaleSet>
</Measurement></objects></MeasurementSet>
<marker_file>static.trc</marker_file></ModelScaler>
<MarkerPlacer><IKTaskSet><objects>{1}</objects></IKTaskSet><marker_file>static.trc</marker_file></MarkerPlacer>
</ScaleTool></OpenSimDocument>"""


@pytest.mark.slow
def test_the_model_is_scaled_to_a_static_trial_first(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A subject a tenth larger stands still at first: by one factor for all bodies, and by the pairs of a setup."""
    monkeypatch.setattr("ocp_dyn.cli.gait.drawn", lambda *_: {})
    walk = read(folder / "walk.trc", up="y")
    for name, n in (("static.trc", 1), ("large.trc", 20)):
        write(Recording(walk.names, walk.times[:n], 1.1 * walk.values[:n], "m"), folder / name, up="y")
    table = read(folder / "forces.mot")
    write(Recording(table.names, walk.times[:20], table.values[:20]), folder / "short.mot")
    static, *files = (str(folder / name) for name in ("static.trc", "walker.osim", "large.trc", "short.mot"))
    out = folder / "scaled"
    assert main(["gait", files[0], static, *files[1:], "--mass", "61", "--out", str(out), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    model, subject = od.load(folder / "walker.osim"), od.load(out / "subject.json")
    written = od.load(out / "subject.osim")
    assert (written.q_names, written.markers) == (subject.q_names, subject.markers)
    assert set(told["factors"]) == set(model.body_names)
    assert told["factors"]["pelvis"] == pytest.approx([1.1, 1.1, 1.1], rel=0.02)
    assert told["mass_kg"] == pytest.approx(61) == pytest.approx(sum(float(body.m) for body in subject.I[1:]))
    assert told["marker_rms_m"] < 1e-3
    assert "Scaled by static.trc to 61.0 kg" in (out / "report.md").read_text()
    (folder / "scale.xml").write_text(SCALE.format("femur_r", "".join(TASK.format(1, k, "true") for k in range(3))))
    assert main(["gait", *files, "--setup", str(folder / "scale.xml"), "--out", str(out), "--json", "--force"]) == 0
    assert json.loads(capsys.readouterr().out)["factors"] == {"femur_r": pytest.approx([1.1, 1, 1])}
    for more, text in [
        ((*files, "--mass", "61"), "give STATIC before WALK"),
        ((*files, "--setup", str(folder / "scale.xml"), "--mass", "61"), "the setup has the mass"),
    ]:
        assert main(["gait", *more, "--out", str(folder / "no")]) == 2
        assert text in capsys.readouterr().err


def test_tables_name_the_feet_or_are_asked(folder: Path) -> None:
    table = od.recordings.read(folder / "forces.mot")
    by_file = od.recordings.read_external_loads(folder / "loads.xml")
    feet = {"ground_force_r_": "calcn_r", "ground_force_l_": "calcn_l"}
    np.testing.assert_array_equal(by_file.values, od.recordings.ground_forces(table, feet).values)
    from ocp_dyn.cli.gait import _feet, _guessed

    assert _guessed(table, od.load(folder / "walker.osim")) == feet
    assert _feet("a=b,c=d") == {"a": "b", "c": "d"}


def test_forces_of_plates_act_on_the_nearest_feet(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two plates, each of which one foot loads: the places and the forces are those of the feet."""
    from ocp_dyn.cli.gait import UsageError, _of_plates

    model, markers = od.load(folder / "walker.osim"), read(folder / "walk.trc", up="y")
    wrenches = np.zeros((markers.times.size, 2, 6))
    for plate, (first, last, marker) in enumerate(((5, 30, "M3"), (40, 60, "M6"))):  # bodies 3 and 6 are the feet
        middle = markers.select([f"{marker}{k}" for k in range(3)]).values.mean(axis=1)[first:last]
        push = np.array([0.0, 0.0, 600.0]) + 0 * middle
        wrenches[first:last, plate] = np.hstack([np.cross(middle * [1, 1, 0], push), push])
    plates = Recording(["plate1", "plate2"], markers.times, wrenches, "N m, N")
    seen = {"plates": plates}
    monkeypatch.setattr("ocp_dyn.recordings.read_c3d", lambda *_, **__: od.recordings.Capture(markers, None, **seen))
    options = argparse.Namespace(markers=folder / "walk.c3d", up="y", feet=None)
    found = _of_plates(options, model, markers)
    assert found.names == ("calcn_r", "calcn_l")
    np.testing.assert_allclose(found.values, wrenches)
    options.feet = "r=pelvis,l=torso"
    assert _of_plates(options, model, markers).names == ("pelvis",)
    options.feet = "r=torso"
    with pytest.raises(UsageError, match=r"no marker of .*walk\.c3d is one of those on torso, .*name the feet"):
        _of_plates(options, model, markers)
    seen.clear()
    with pytest.raises(UsageError, match="has no force plates: give FORCES"):
        _of_plates(options, model, markers)


@pytest.mark.slow
def test_mistakes(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, walk, forces = (str(folder / name) for name in ("walker.osim", "walk.trc", "forces.mot"))
    (tmp_path / "tasks.xml").write_text("<OpenSimDocument/>")
    (tmp_path / "weight.xml").write_text(TASKS.format('<IKMarkerTask name="a"><weight>-1</weight></IKMarkerTask>'))
    (tmp_path / "loads.xml").write_text(LOADS.format(LOAD.format("r").replace("calcn_r", "")))
    (tmp_path / "other.xml").write_text("<robot/>")
    for more, status, text in [
        ((model, walk, "none.mot"), 2, "no file 'none.mot'"),
        ((model, walk), 2, "forces are needed after .*walk.trc: a .mot, .sto, .xml file"),
        ((model, walk, forces, "--feet", "a"), 2, "--feet: BEGINNING=FRAME pairs"),
        ((model, walk, forces, "--feet", "ground_force_q_=calcn_r"), 1, "did you mean 'ground_force_"),
        ((model, walk, forces, "--weights", str(tmp_path / "tasks.xml")), 1, "tasks.xml, line 1.*no IKMarkerTask"),
        ((model, walk, forces, "--weights", str(tmp_path / "weight.xml")), 1, "weight must be a number, 0 or more"),
        ((model, walk, str(tmp_path / "loads.xml")), 1, "forces.mot"),
        ((model, walk, str(tmp_path / "other.xml")), 1, "an OpenSimDocument was expected, got <robot>"),
    ]:
        assert main(["gait", *more, "--out", str(tmp_path / "out")]) == status
        error = capsys.readouterr().err
        assert __import__("re").search(text, error), error
    assert not (tmp_path / "out").exists()
