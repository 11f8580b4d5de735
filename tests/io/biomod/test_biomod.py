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
musclegroup back OriginParent root InsertionParent plate endmusclegroup
muscle flexor
  Type hilldegroote
  statetype degroote
  musclegroup leg
  OriginPosition 0.1 0 0.1
  InsertionPosition 0 0.05 -0.1
  optimalLength 0.1
  maximalForce 1000
  tendonSlackLength 0.2
  pennationAngle 0.1
  maxVelocity 8
  PCSA 4.5
  usedamping 1
endmuscle
muscle rope Type idealizedactuator musclegroup back OriginPosition 0 0 1 InsertionPosition 0.1 0 0 maximalForce 30
  fatigueparameters type simple fatiguerate 0.01 endfatigueparameters endmuscle
viapoint first parent thigh muscle flexor musclegroup leg position 0 0.02 -0.05 endviapoint
viapoint second parent plate muscle flexor musclegroup leg position 0.1 0.02 -0.05 endviapoint
wrapping roll parent pelvis RT 0.1 0.2 0.3 xyz 0.1 0.2 0.3 type halfcylinder muscle rope musclegroup back radius 0.05
  length 0.2 endwrapping
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


def test_notes_tell_which_blocks_are_left_out():
    text = one("") + "\ncontact c endcontact\nghost g endghost\ncontact d endcontact"
    assert od.io.parse_biomod(text).notes == ("left out: 2 contact, 1 ghost",)
    assert od.io.parse_biomod(one("")).notes == ()


def test_a_ball_joint():
    model = od.io.parse_biomod("segment a rotations q mass 1 inertia 1 0 0 0 2 0 0 0 2 jointDampings 1 2 3 endsegment")
    assert (model.nq, model.nv, model.dofs.damping.tolist()) == (4, 3, [1, 2, 3])


def test_biorbd_agrees(tmp_path):
    biorbd = pytest.importorskip("biorbd")
    plain = re.sub(r"musclegroup(.*\n)*|/\* another\none \*/|meshcolor.*", "", BODY).replace("-pi pi", "-3 3")
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


LINES = """version 4
segment thigh rotations yx mass 7 com 0 0 -0.2 inertia 0.2 0 0 0 0.2 0 0 0 0.05 endsegment
segment shank parent thigh RT 0 0 0 xyz 0 0 -0.4 rotations x mass 3 inertia 0.05 0 0 0 0.05 0 0 0 0.01 endsegment
musclegroup leg OriginParent thigh InsertionParent shank endmusclegroup
musclegroup hip OriginParent {ground} InsertionParent shank endmusclegroup
"""
NUMBERS = "maximalForce 1000 optimalLength 0.1 tendonSlackLength 0.2 pennationAngle 0.1"
PATHS = f"""muscle plain Type hillthelen musclegroup leg OriginPosition 0 0.04 -0.1 InsertionPosition 0.1 0.02 -0.1
  {NUMBERS} endmuscle
muscle bent Type hilldegroote musclegroup leg OriginPosition 0 0.04 -0.1 InsertionPosition 0.1 0.02 -0.2
  {NUMBERS} endmuscle
viapoint first parent thigh muscle bent musclegroup leg position 0.01 0.06 -0.3 endviapoint
viapoint second parent shank muscle bent musclegroup leg position 0 0.06 0.02 endviapoint
muscle round Type hill musclegroup leg OriginPosition 0 -0.04 -0.1 InsertionPosition 0 -0.02 -0.3 {NUMBERS} endmuscle
wrapping roll parent thigh RTinMatrix 1 RT 0 0 1 0  -1 0 0 0  0 -1 0 -0.4  0 0 0 1
  type halfcylinder muscle round musclegroup leg radius 0.06 endwrapping
"""


def test_muscles_are_data():
    model = od.io.parse_biomod(BODY)
    flexor, rope = model.muscles
    assert (flexor.kind, rope.kind) == ("DeGrooteFregly2016Muscle", "IdealizedActuator")
    assert [(p.name, p.body) for p in flexor.path] == [
        ("flexor_origin", "pelvis"), ("first", "thigh"), ("second", "plate"), ("flexor_insertion", "thigh"),
    ]  # fmt: skip
    assert (flexor.path[0].point, flexor.path[2].point) == ((0.1, 0, 0.1), (0.1, 0.02, -0.05))
    assert (flexor.path[3].point, rope.path[0].point, rope.path[0].body) == ((0, 0.05, -0.1), (0, 0, 1), "root")
    assert (flexor.max_isometric_force, flexor.optimal_fiber_length) == (1000, 0.1)
    assert (flexor.tendon_slack_length, flexor.pennation_angle) == (0.2, 0.1)
    assert dict(flexor.parameters) == {"max_contraction_velocity": 8, "pcsa": 4.5, "use_damping": 1}
    assert (rope.max_isometric_force, rope.optimal_fiber_length) == (30, None)
    assert dict(rope.parameters) == {"fatigue.fatiguerate": 0.01}
    (roll,) = model.wraps
    assert (roll.kind, roll.body, roll.sizes, roll.quadrant) == ("cylinder", "pelvis", (0.05, 0.2), "x")
    assert roll.origin == (0.1, 0.2, 0.3)
    assert [wrap.wrap for wrap in rope.wraps] == ["roll"]
    placed = od.io.parse_biomod(BODY.replace("segment arm", "segment arm RT 0.1 0.2 0.3 xyz 0 0 0"))
    R, _ = od.pose(placed, "arm", np.zeros(placed.nq))
    P, _ = od.pose(placed, "pelvis", np.zeros(placed.nq))
    assert np.reshape(roll.rotation, (3, 3)) == pytest.approx((P.T @ R).full())
    assert od.muscles.HillMuscles.of(model).names == ("flexor",)


def test_half_cylinders_of_one_name_get_those_of_their_muscles():
    wrapping = PATHS[PATHS.index("wrapping roll") :]
    more = wrapping.replace("muscle round", "muscle plain")
    model = od.io.parse_biomod(LINES.format(ground="root") + PATHS + more)
    assert [wrap.name for wrap in model.wraps] == ["roll", "roll_plain"]
    assert [muscle.wraps[0].wrap for muscle in model.muscles if muscle.wraps] == ["roll_plain", "roll"]
    with pytest.raises(od.ModelError, match="wrapping 'roll': the name is taken"):
        od.io.parse_biomod(LINES.format(ground="root") + PATHS + more + more)


def test_a_half_cylinder_is_passed_on_its_side_x():
    model = od.io.parse_biomod(LINES.format(ground="root") + PATHS)
    r = 0.06
    ends = [np.array([0.04, 0.3]), np.array([0.02, 0.3])]  # from the axis: along x, and how far before or behind it
    straight = sum(np.sqrt(end @ end - r**2) for end in ends)
    arc = r * sum(np.arctan2(end[1], end[0]) - np.arccos(r / np.linalg.norm(end)) for end in ends)
    lengths = od.muscles.path_geometry(model, np.zeros(3)).lengths
    assert lengths[2] == pytest.approx(straight + arc, abs=1e-12)
    assert lengths[0] == pytest.approx(np.linalg.norm([0.1, -0.02, -0.4]), abs=1e-12)
    assert model.wraps[0].sizes[1] == 1e3  # no ends


def test_lengths_are_those_of_biorbd(tmp_path):
    biorbd = pytest.importorskip("biorbd")
    path = tmp_path / "leg.bioMod"
    path.write_text(LINES.format(ground="thigh") + PATHS)
    theirs, model = biorbd.Model(str(path)), od.load(path)
    for q in np.random.default_rng(3).uniform(-0.1, 1.0, (4, model.nv)):  # where the half cylinder is met
        given = biorbd.GeneralizedCoordinates(q)
        theirs.updateMuscles(given, True)
        found = [theirs.muscle(k).musculoTendonLength(theirs, given, True) for k in range(3)]
        assert od.muscles.path_geometry(model, q).lengths == pytest.approx(found, abs=1e-12)


COMPUTED = """version 4
variables $m 2.5 $l -0.3 $a pi/4 endvariables
segment a rotations xyz rangesQ -pi/2 PI/2
    -2*pi 1
    -1 (1+$l)
  rangesQdot -1 1
    -2 2
    -3 3
  RT $a 0 0 xyz 0 $l 2*$l mass $m*2 com 0 0 $l/2 inertia_xxyyzz 0.1 0.2 0.3 forceplate 1
endsegment
marker tip parent a position $l 0 -$l endmarker
segment b parent a RT 0.1 0.2 0.3 xyz 0 0 -0.4 rotations xy mass 1 com 0 0.1 -0.2 inertia 0.1 0 0 0 0.1 0 0 0 0.1
endsegment
segment c RT 0.3 0.1 0.3 xyz 0.2 0 -0.1 rotations xyz mass 1 com 0 0.1 -0.2 inertia 0.1 0 0 0 0.1 0 0 0 0.1
endsegment
"""
LOOPS = "".join(
    f"loopconstraint {name} predecessor b successor c rtpredecessor 0.1 0.3 -0.4 xyz 0.1 0.2 0.3 "
    f"rtsuccessor 0.2 -0.3 0.5 zyx 0.3 -0.2 0.1 axis {axis} stabilizationparameter 0.1\nendloopconstraint\n"
    for name, axis in (("side", "0 0 0 0 0 1"), ("turn", "1 0 0 0 0 0"))
)


def test_numbers_are_computed_from_variables():
    model = od.io.parse_biomod(COMPUTED)
    assert model.dofs.q_lower[:3].tolist() == [-np.pi / 2, -2 * np.pi, -1]
    assert model.dofs.q_upper[:3] == pytest.approx([np.pi / 2, 1, 0.7])
    assert model.mass == pytest.approx(7.0)
    assert model.markers[0].point == (-0.3, 0.0, 0.3)


def test_places_are_matrices_in_old_versions():
    matrix = "1 0 0 0.1  0 1 0 0.2  0 0 1 0.3  0 0 0 1"
    old = od.io.parse_biomod(one(f"RT {matrix}").replace("version 4", "version 2"))
    angles = "RTinMatrix 0 RT 0 0 0 xyz 0.1 0.2 0.3"
    assert old == od.io.parse_biomod(one(angles).replace("version 4", "version 1"))
    with pytest.raises(od.ModelError, match="RT: the sequence of axes"):
        od.io.parse_biomod(one(f"RT {matrix}"))


def test_computed_files_are_those_of_biorbd(tmp_path):
    biorbd = pytest.importorskip("biorbd")
    path, read_by_both = tmp_path / "body.bioMod", COMPUTED.replace("(1+$l)", "0.7")  # biorbd adds no variables
    path.write_text(read_by_both)
    theirs, model = biorbd.Model(str(path)), od.load(path)
    q, qd, qdd = np.random.default_rng(3).normal(size=(3, model.nv))
    tau = od.inverse_dynamics(model, q, qd, qdd).full().ravel()
    assert tau == pytest.approx(theirs.InverseDynamics(q, qd, qdd).to_array(), abs=1e-10)
    path.write_text(read_by_both + LOOPS)
    theirs, model = biorbd.Model(str(path)), od.load(path)
    assert [loop.label for loop in model.constraints] == ["side", "turn"]


OLD = """version 3
root_actuated 0
external_forces 0
segment a translations x rotations zxz mesh 1 2 3 mass 1 meshrt 0 0 0 xyz 1 1 1 meshcolor 1 0 0 com 0 0 0.1 patch 1 2 3
  inertia 1.2 9 9 0.1 1.1 9 0.2 0.3 0.05 endsegment
segment b rotations y mass 1 com 0.1 0 0 endsegment
scalingsegment a scalingtype axiswise endscalingsegment
loopconstraint predecessor a successor b axis 0 0 0 1 0 0
loopconstraint
"""


def test_old_files_and_words_on_one_line():
    model = od.io.parse_biomod(OLD)
    assert model.q_names == ("a_TransX", "a_RotZ", "a_RotX", "a_RotZ_2", "b_RotY")
    builder = od.ModelBuilder()
    builder.add_body("a0", od.Prismatic("x"))
    lower = [[1.2, 0.1, 0.2], [0.1, 1.1, 0.3], [0.2, 0.3, 0.05]]  # of RBDL; no body has such an inertia
    builder.add_body(
        "a",
        od.MultiDof([(0, 0, 1, 0, 0, 0), (1, 0, 0, 0, 0, 0), (0, 0, 1, 0, 0, 0)]),
        "a0",
        mass=1,
        com=(0, 0, 0.1),
        inertia=lower,
        inertia_check=False,
    )
    builder.add_body("b", od.Revolute("y"), mass=1, com=(0.1, 0, 0))
    q, qd = np.random.default_rng(4).normal(size=(2, 5))
    assert od.bias_force(model, q, qd).full() == pytest.approx(od.bias_force(builder.build(), q, qd).full(), abs=1e-12)
    (loop,) = model.constraints
    assert loop.rows == ("a-b.tx",)
    assert "scalingsegment" in model.notes[0]


def one(inside: str) -> str:
    return f"version 4\nsegment a\nrotations x mass 1 inertia 1 0 0 0 1 0 0 0 1\n{inside}\nendsegment"


GROUP = "\nmusclegroup g OriginParent a InsertionParent a endmusclegroup"
WRONG = {
    "block": ("segmnt a", "did you mean 'segment'"),
    "entry": (one("rotation x"), "line 4: segment 'a': unknown entry 'rotation': did you mean 'rotations'"),
    "open": ("segment a mass 1", "the file ends where endsegment is expected"),
    "open muscle": (one("") + "\nmuscle m", "line 6: the file ends where endmuscle is expected"),
    "word of a muscle": (one("") + "\nmuscle m optimallenght 1", "line 6: muscle 'm': unknown entry 'optimallenght'"),
    "type of a muscle": (one("") + "\nmuscle m type hil", "unknown word 'hil'"),
    "statetype": (one("") + "\nmuscle m statetype slow", "statetype: unknown word 'slow'"),
    "fatigue": (one("") + "\nmuscle m fatigueparameters rate 1", "fatigueparameters: unknown word 'rate'"),
    "group": (one("") + "\nmuscle m musclegroup leg endmuscle", "no group of muscles 'leg' yet"),
    "end of a group": (one("") + "\nmusclegroup g OriginParent b endmusclegroup", "musclegroup 'g': no segment 'b'"),
    "muscles of one name": (
        one("") + GROUP + "\nmuscle m musclegroup g endmuscle" * 2,
        "muscle 'm': the name is taken",
    ),
    "point of no muscle": (
        one("") + GROUP + "\nviapoint v parent a muscle m musclegroup g endviapoint",
        "viapoint 'v': no muscle 'm' in the group 'g'",
    ),
    "point in another group": (
        one("") + GROUP + GROUP.replace(" g", " h") + "\nmuscle m musclegroup g endmuscle viapoint v"
        " parent a muscle m musclegroup h endviapoint",
        "no muscle 'm' in the group 'h'",
    ),
    "point on no segment": (
        one("") + GROUP + "\nmuscle m musclegroup g endmuscle viapoint v parent b muscle m musclegroup g endviapoint",
        "viapoint 'v': no segment 'b'",
    ),
    "radius": (
        one("") + GROUP + "\nmuscle m musclegroup g endmuscle wrapping w parent a type halfcylinder muscle m "
        "musclegroup g endwrapping",
        "wrapping 'w': WrapObject w: its sizes must be positive",
    ),
    "type of a wrapping": (
        one("") + GROUP + "\nmuscle m musclegroup g endmuscle wrapping w parent a muscle m musclegroup g endwrapping",
        "wrapping 'w': it has no type",
    ),
    "nan": (one("mass nan"), "line 4: mass: expected a finite decimal number, got 'nan'"),
    "comma": (one("mass 0,5"), "got '0,5'"),
    "computed": (one("mass 2*(1"), "mass: a bracket is not closed"),
    "no variable": (one("mass $m"), "no variable '$m' stands before it"),
    "misspelled variable": ("variables $mas 1 endvariables " + one("mass $mass"), "did you mean 'mas'"),
    "variables": ("variables $m 1 $m 2 endvariables", "the variable '$m' is given twice"),
    "no variables": ("variables m 1 endvariables", "the variable 'm' is no name such as $mass"),
    "divided": (one("mass 1/0"), "is larger than"),
    "large": (one("mass 1e200"), "is larger than"),
    "letters": (one("rotations xw"), "one to three of the letters x, y, z"),
    "sequence": (one("RT 0 0 0 xy 0 0 0"), "the sequence must have three letters"),
    "matrix": (one("RTinMatrix 1 RT 2 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1"), "rotation must be orthonormal"),
    "parent": (one("parent b"), "no parent 'b' yet"),
    "end of a loop": (one("") + " loopconstraint axis 0 0 0 1 0 0", "the file ends where endloopconstraint is"),
    "name": (one("") + "\n" + one("")[9:], "the name 'a' is taken"),
    "ground": (one("").replace(" a", " root"), "the name 'root' is taken"),
    "ranges": (one("rangesQ -1 1 -1 1"), "2 ranges, expected 1"),
    "dampings": (one("jointDampings 1 2"), "2 dampings, expected 1"),
    "crossed": (one("rangesQ 1 -1"), "lies above"),
    "passive torque": (one("") + "\npassivetorque a", "Model.with_passive"),
    "loop": (one("") + "\nloopconstraint l predecessor b successor a endloopconstraint", "no segment 'b'"),
    "entry of a loop": (one("") + "\nloopconstraint l predeces b", "'predeces': did you mean 'predecessor'"),
    "axis of a loop": (
        one("") + "\nloopconstraint l predecessor a successor root endloopconstraint",
        "at least one axis and none that is zero",
    ),
    "ranges of a ball": (one("rotations q rangesQ -1 1 -1 1 -1 1"), "3 ranges, expected 4"),
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


@pytest.mark.slow
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
