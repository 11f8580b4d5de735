"""bioMod in small files of the tests' own: beside the same body by `ModelBuilder`, beside biorbd, errors."""

import random
import re

import numpy as np
import pytest

import ocp_dyn as od

BODY = """version 4
gravity 0.1 0.2 -9.7
// a comment
/* another
one */
segment pelvis
  RT 0.1 0.2 0.3 xyz 0.4 0.5 0.6
  translations xyz
  rotations zxy
  rangesQ -1 1 -1 1 -1 1 -2 2 -2 2 -pi pi
  mass 10
  CenterOfMass 0.01 0.02 0.1
  inertia 0.2 0.01 0.02  0.01 0.3 -0.03  0.02 -0.03 0.25
endsegment
segment plate
  parent pelvis
  RT 0.5 0 0.2 zyx 0.1 0 0.3
  mass 2
  com 0 0.1 0
  inertia 0.1 0 0 0 0.1 0 0 0 0.1
endsegment
segment thigh
  parent plate
  RTinMatrix 1
  RT 1 0 0 0.1
     0 0 -1 0.2
     0 1 0 0.3
     0 0 0 1
  rotations yx
  jointDampings 0.1 0.2
  mass 7
  com 0 0 -0.2
  inertia 0.2 0 0 0 0.2 0 0 0 0.05
  meshcolor 1 0 0
endsegment
segment arm
  parent pelvis
  rotations y
  mass 3
  com 0 0.1 -0.2
  inertia 0.05 0 0 0 0.05 0 0 0 0.01
endsegment
marker heel
  parent thigh
  position 0.1 0.2 -0.4
  technical 1
endmarker
marker side parent plate position 0.3 0.1 0 endmarker
musclegroup leg  OriginParent pelvis InsertionParent thigh endmusclegroup
"""


def x_turn(angle):
    return od.rpy_matrix((angle, 0, 0))


def y_turn(angle):
    return od.rpy_matrix((0, angle, 0))


def z_turn(angle):
    return od.rpy_matrix((0, 0, angle))


def built():
    """The same body: rotations of RT are carried along, one after the other."""
    builder = od.ModelBuilder("", (0.1, 0.2, -9.7))
    place = {"origin": (0.4, 0.5, 0.6), "rotation": x_turn(0.1) @ y_turn(0.2) @ z_turn(0.3)}
    axes = [(0, 0, 0, *row) for row in np.eye(3)] + [(*row, 0, 0, 0) for row in np.eye(3)[[2, 0, 1]]]
    inertia = [[0.2, 0.01, 0.02], [0.01, 0.3, -0.03], [0.02, -0.03, 0.25]]
    builder.add_body("pelvis", od.MultiDof(axes), **place, mass=10, com=(0.01, 0.02, 0.1), inertia=inertia)
    turn = z_turn(0.5) @ x_turn(0.2)
    builder.add_body("plate", od.Fixed(), "pelvis", origin=(0.1, 0, 0.3), rotation=turn, mass=2, com=(0, 0.1, 0),
                     inertia=(0.1, 0.1, 0.1))  # fmt: skip
    builder.add_body("thigh", od.Universal("y", "x"), "plate", origin=(0.1, 0.2, 0.3), rotation=x_turn(np.pi / 2),
                     mass=7, com=(0, 0, -0.2), inertia=(0.2, 0.2, 0.05))  # fmt: skip
    builder.add_body("arm", od.Revolute("y"), "pelvis", mass=3, com=(0, 0.1, -0.2), inertia=(0.05, 0.05, 0.01))
    return builder.build()


def test_the_same_equations_as_by_the_builder():
    model, other = od.io.parse_biomod(BODY), built()
    assert model.q_names == ("pelvis_TransX", "pelvis_TransY", "pelvis_TransZ", "pelvis_RotZ", "pelvis_RotX",
                             "pelvis_RotY", "thigh_RotY", "thigh_RotX", "arm_RotY")  # fmt: skip
    q, qd, qdd = np.random.default_rng(2).normal(size=(3, 9))
    expected = od.inverse_dynamics(other, q, qd, qdd).full()
    assert od.inverse_dynamics(model, q, qd, qdd).full() == pytest.approx(expected, abs=1e-11)
    heel, side = model.markers
    assert (heel.name, heel.body, heel.point) == ("heel", "thigh", (0.1, 0.2, -0.4))
    place = od.point_position(model, side.body, q, side.point).full()
    assert place == pytest.approx(od.point_position(other, "plate", q, (0.3, 0.1, 0)).full(), abs=1e-12)


def test_ranges_and_dampings(tmp_path):
    (tmp_path / "body.bioMod").write_text(BODY)
    model = od.load(tmp_path / "body.bioMod")
    assert model.name == "body"
    assert model.dofs.q_upper.tolist() == [1, 1, 1, 2, 2, np.pi, np.inf, np.inf, np.inf]
    assert model.dofs.q_lower.tolist() == [-1, -1, -1, -2, -2, -np.pi, -np.inf, -np.inf, -np.inf]
    assert model.dofs.damping.tolist() == [0, 0, 0, 0, 0, 0, 0.1, 0.2, 0]


def test_a_segment_called_base():
    """The ground is called so only where no segment is."""
    inertia = "mass 1 inertia 1 0 0 0 1 0 0 0 1 endsegment"
    text = f"segment first parent base rotations x {inertia} segment base rotations x {inertia}"
    model = od.io.parse_biomod(f"{text} segment last parent base rotations y {inertia}")
    assert model.parent == (-1, 0, 0, 2)


def test_a_ball_joint():
    model = od.io.parse_biomod("segment a rotations q mass 1 inertia 1 0 0 0 2 0 0 0 2 jointDampings 1 2 3 endsegment")
    assert (model.nq, model.nv, model.dofs.damping.tolist()) == (4, 3, [1, 2, 3])


def test_biorbd_agrees(tmp_path):
    biorbd = pytest.importorskip("biorbd")
    plain = re.sub(r"musclegroup.*|/\* another\none \*/|meshcolor.*", "", BODY).replace("-pi pi", "-3 3")
    path = tmp_path / "body.bioMod"
    path.write_text(plain)
    theirs, model = biorbd.Model(str(path)), od.load(path)
    assert tuple(name.to_string() for name in theirs.nameDof()) == model.q_names
    rng = np.random.default_rng(3)
    q, qd, qdd = rng.normal(size=(3, model.nv))
    smooth = od.mass_matrix(model, q).full()
    assert smooth == pytest.approx(theirs.massMatrix(q).to_array(), abs=1e-11)
    tau = od.inverse_dynamics(model, q, qd, qdd).full().ravel() - model.dofs.damping * qd  # its sign, with dampings
    assert tau == pytest.approx(theirs.InverseDynamics(q, qd, qdd).to_array(), abs=1e-10)
    moved = od.forward_dynamics(model, q, qd, qdd, loads=od.Loads(passive=True)).full().ravel()
    assert moved == pytest.approx(theirs.ForwardDynamics(q, qd, qdd).to_array(), abs=1e-10)
    for k, marker in enumerate(model.markers):
        place = od.point_position(model, marker.body, q, marker.point).full().ravel()
        assert place == pytest.approx(theirs.marker(q, k).to_array(), abs=1e-12)


def one(inside: str) -> str:
    return f"version 4\nsegment a\nrotations x mass 1 inertia 1 0 0 0 1 0 0 0 1\n{inside}\nendsegment"


WRONG = {
    "block": ("segmnt a", "did you mean 'segment'"),
    "entry": (one("rotation x"), "line 4: segment 'a': unknown entry 'rotation': did you mean 'rotations'"),
    "open": ("segment a mass 1", "the file ends where endsegment is expected"),
    "open muscle": (one("") + "\nmuscle m", "line 6: it has no endmuscle"),
    "nan": (one("mass nan"), "line 4: mass: expected a finite decimal number, got 'nan'"),
    "comma": (one("mass 0,5"), "got '0,5'"),
    "computed": (one("mass $m"), "a file that computes is not read"),
    "variables": ("variables $m 1 endvariables", "a file that computes is not read"),
    "large": (one("mass 1e200"), "is larger than"),
    "letters": (one("rotations xw"), "one to three of the letters x, y, z"),
    "sequence": (one("RT 0 0 0 xy 0 0 0"), "the sequence must have three letters"),
    "matrix": (one("RTinMatrix 1 RT 2 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1"), "rotation must be orthonormal"),
    "parent": (one("parent b"), "no parent 'b' yet"),
    "name": (one("") + "\n" + one("")[9:], "the name 'a' is taken"),
    "ground": (one("").replace(" a", " root"), "the name 'root' is taken"),
    "ranges": (one("rangesQ -1 1 -1 1"), "2 ranges, expected 1"),
    "dampings": (one("jointDampings 1 2"), "2 dampings, expected 1"),
    "inertia": (one("inertia 1 0 0 0 1 0 0 0 9"), "no body has"),
    "crossed": (one("rangesQ 1 -1"), "lies above"),
    "loop": (one("") + "\nloopconstraint", "close the loop by od.Loop"),
    "actuator": (one("") + "\nactuator a", "Model.with_limits"),
    "marker": (one("") + "\nmarker m parent b position 0 0 0 endmarker", "marker 'm': no segment 'b'"),
    "entry of a marker": (one("") + "\nmarker m parent a place 0 0 0 endmarker", "unknown entry 'place'"),
    "markers of one name": (one("") + "\nmarker m parent a endmarker" * 2, "stands there twice"),
    "empty": ("", "has no moving body"),
    "encoding": (b"segment \xff", "save it as UTF-8"),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_error_names_the_line(name):
    given, words = WRONG[name]
    with pytest.raises(od.ModelError) as error:
        od.io.parse_biomod(given, source="body.bioMod")
    assert words in str(error.value)
    unplaced = ("empty", "encoding", "markers of one name")
    assert re.match(r"body\.bioMod, line \d+: ", str(error.value)) or name in unplaced
    with pytest.raises(TypeError, match="must be a str or bytes"):
        od.io.parse_biomod(3)


def test_mutated_files_meet_model_errors_only():
    rng, loaded = random.Random(4), 0
    words = ["nan", "1e999", "-1", "", "pi", "x", "q", "a", "root", "\x00", "é", "segment", "endsegment", "/*", "RT"]
    for _ in range(300):
        parts = BODY.split(" ")
        for _ in range(rng.randint(1, 3)):
            parts[rng.randrange(len(parts))] = rng.choice([*words, rng.choice(parts)])
        try:
            od.io.parse_biomod(" ".join(parts))
            loaded += 1
        except od.ModelError:
            pass
    assert loaded
