"""Models to JSON and back: bit for bit, and an error for every malformed file."""

import copy
import dataclasses
import json

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.io import load_model, model_from_dict, model_to_dict, save_model
from ocp_dyn.io.json import JOINT_CLASSES


def small_model() -> od.Model:
    builder = od.ModelBuilder("grüße", gravity=(0.1, 0.2, -9.81))
    builder.add_body("base", od.FloatingBase(name="free"), mass=2.0, com=(0.1, 0, 0), inertia=(1, 1, 1))
    builder.add_body(
        "arm", od.Revolute((1, 2, 3)), "base", origin=(0, 0, 1 / 3), mass=0.1, lower=-1, velocity=3, damping=0.1,
    )  # fmt: skip
    builder.add_body("tool", od.Fixed(), "arm", origin=(0, 0.1, 0), mass=1e-3)
    builder.add_frame("mark", "world", origin=(1, 2, 3))
    return builder.build()


def assert_same(a: od.Model, b: od.Model) -> None:
    """Every field of both models is equal to the last bit, sparsity patterns and types included."""
    assert [f.name for f in dataclasses.fields(a)] == [
        "name", "gravity", "parent", "joints", "X_tree", "I", "joint_names", "body_names", "frames", "dofs",
        "mimics", "file_joints", "shape_files", "passive", "coordinate_names", "constraints", "annotations",
        "bushings",
    ], "a new field of Model must be saved too, unless it is a note on this machine's files"  # fmt: skip
    for key in ("name", "gravity", "parent", "joints", "joint_names", "body_names", "mimics", "file_joints", "passive",
                "coordinate_names", "constraints", "annotations", "bushings"):  # fmt: skip
        assert getattr(a, key) == getattr(b, key), key
        assert type(getattr(a, key)) is type(getattr(b, key))
    assert [type(j) for j in a.joints] == [type(j) for j in b.joints]
    assert list(a.frames) == list(b.frames)
    for f, g in zip(a.frames.values(), b.frames.values(), strict=True):
        assert (f.name, f.body) == (g.name, g.body)
    same_parts([f.X for f in a.frames.values()], [f.X for f in b.frames.values()])
    same_parts(a.X_tree, b.X_tree)
    same_parts(a.I, b.I)
    for key, value in vars(a.dofs).items():
        assert value.tobytes() == getattr(b.dofs, key).tobytes(), key
        assert not getattr(b.dofs, key).flags.writeable


def same_parts(xs, ys) -> None:
    assert len(xs) == len(ys)
    for x, y in zip(xs, ys, strict=True):
        for part, other in zip(vars(x).values(), vars(y).values(), strict=True):
            assert part.sparsity() == other.sparsity()
            assert np.array(part.nonzeros()).tobytes() == np.array(other.nonzeros()).tobytes()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.slow
def test_round_trip_of_random_trees(seed, tmp_path):
    model = od.random_tree(30, 1.5, rng=np.random.default_rng(seed))
    assert_same(model, model_from_dict(model_to_dict(model)))
    path = tmp_path / "model.json"
    save_model(model, path)
    assert_same(model, load_model(path))
    assert list(tmp_path.iterdir()) == [path]


def test_round_trip_of_names_frames_and_limits(tmp_path):
    model = small_model()
    save_model(model, str(tmp_path / "m.json"))
    again = load_model(str(tmp_path / "m.json"))
    assert_same(model, again)
    assert again.frame("tool").body == 2
    assert again.dofs.q_upper[-1] == np.inf
    assert again.joints[1].name == "free"


NEED_AXES = {
    od.FunctionJoint: lambda: od.FunctionJoint([od.JointAxis("z", od.SimmSpline((0, 1, 2), (0, 0.1, 0.3)))]),
    od.Helical: lambda: od.Helical((1, 2, 3, 0.4, 0.5, -0.6)),
    od.MultiDof: lambda: od.MultiDof([(0, 0, 0, 1, 2, 2), (0, 3, 4, 0, 0, 0), (1, 1, 1, 0.1, 0.2, 0.7)]),
}


def test_round_trip_of_every_kind_of_joint():
    for kind in JOINT_CLASSES.values():
        if kind is not od.Fixed:
            builder = od.ModelBuilder()
            builder.add_body("b", NEED_AXES[kind]() if kind in NEED_AXES else kind(), mass=1.0)
            model = builder.build()
            assert_same(model, model_from_dict(json.loads(json.dumps(model_to_dict(model), allow_nan=False))))


@pytest.mark.slow
def test_axes_come_back_to_the_last_bit():
    rng = np.random.default_rng(0)
    data = model_to_dict(small_model())
    for _ in range(200):
        axis = od.Revolute(rng.normal(size=3)).axis
        data["bodies"][1]["joint"]["axis"] = list(axis)
        assert model_from_dict(data).joints[2].axis == axis


def test_file_is_plain_json_with_a_body_per_line(tmp_path):
    path = tmp_path / "m.json"
    save_model(small_model(), path)
    text = path.read_text(encoding="utf-8")
    data = json.loads(text)
    assert (data["format"], data["version"], data["name"]) == ("ocp_dyn model", 1, "grüße")
    assert sum('"joint_name"' in row for row in text.splitlines()) == 2
    assert data["bodies"][1]["q_upper"] == ["inf"]


def test_a_failed_save_leaves_the_old_file(tmp_path):
    path = tmp_path / "m.json"
    save_model(small_model(), path)
    before = path.read_bytes()

    class Own(od.Revolute):
        pass

    builder = od.ModelBuilder()
    builder.add_body("b", Own("x"), mass=1.0)
    with pytest.raises(
        od.ModelError, match="body 'b': a joint of class Own cannot be written to JSON: it is not a frozen"
    ):
        save_model(builder.build(), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(FileNotFoundError):
        save_model(small_model(), tmp_path / "nowhere" / "m.json")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        save_model(small_model(), tmp_path / "folder")
    assert sorted(tmp_path.iterdir()) == [tmp_path / "folder", path]


def test_joint_fields_that_json_cannot_hold_are_refused(monkeypatch):
    @dataclasses.dataclass(frozen=True)
    class Own(od.Translation):
        law: object = print

    monkeypatch.setitem(JOINT_CLASSES, "Own", Own)
    builder = od.ModelBuilder()
    builder.add_body("b", Own(), mass=1.0)
    with pytest.raises(od.ModelError, match=r"body 'b': Own.law = <.*> cannot be written to JSON"):
        model_to_dict(builder.build())


def test_symbols_are_refused():
    model = small_model()
    heavy = od.Inertia(ca.SX.sym("m"), ca.DM(3, 1), ca.DM(3, 3))
    with pytest.raises(od.ModelError, match=r"body 'arm': holds symbols \(SX\).*put numbers in"):
        model_to_dict(dataclasses.replace(model, I=(*model.I[:2], heavy)))


def test_nan_is_refused():
    model = small_model()
    with pytest.raises(od.ModelError, match="NaN"):
        model_to_dict(dataclasses.replace(model, gravity=(0.0, 0.0, float("nan"))))


DELETE = object()
ROTATED = [[0, 0, 1], [1, 0, 0], [0, 1, 0]]
MALFORMED = [
    (("format",), "other", r"format is 'other', expected 'ocp_dyn model'"),
    (("format",), DELETE, "'format' is missing"),
    (("version",), 2, "version is 2, this library reads 1"),
    (("version",), True, "version is True"),
    (("name",), 3, "model: 'name' must be a string, got 3"),
    (("gravity",), [0, 0], "'gravity' must be a list of 3 finite numbers"),
    (("gravity",), [0, 0, "inf"], "'gravity' must be a list of 3 finite numbers"),
    (("gravity",), [0, 0, True], "'gravity' must be"),
    (("gravity",), [0, 0, 10**400], "'gravity' must be"),
    (("gravity",), "down", "'gravity' must be"),
    (("bodies",), {}, "'bodies' must be a list"),
    (("bodies",), [], "bodies is empty"),
    (("bodies", 0), 5, r"bodies\[0\] must be an object, got 5"),
    (("bodies", 0, "parent"), 1, r"bodies\[0\]: 'parent' must be a body index from 0 \(the ground\) to 0, got 1"),
    (("bodies", 1, "parent"), -1, r"bodies\[1\]: 'parent'"),
    (("bodies", 1, "parent"), 1.0, r"bodies\[1\]: 'parent'"),
    (("bodies", 1, "name"), "base", "body names must be unique.*'base' twice"),
    (("bodies", 1, "name"), "", "body names must be unique and not empty"),
    (("bodies", 1, "name"), "other", r"bodies\[1\]: frames must hold 'other'"),
    (("bodies", 1, "joint_name"), "free", "joint names must be unique.*'free' twice"),
    (("bodies", 1, "joint"), DELETE, r"bodies\[1\]: 'joint' is missing"),
    (("bodies", 1, "joint", "kind"), "Hinge", r"no kind of joint 'Hinge'; known: Cylindrical, Euler"),
    (("bodies", 1, "joint", "kind"), "_TranslateRotate", "no kind of joint"),
    (("bodies", 1, "joint", "kind"), "A" * 5000, r"no kind of joint '.{1,200}; known: .{1,400}: joints=\(MyClass,\)$"),
    (("bodies", 1, "joint", "kind"), ["Revolute"], "'kind' must be a string"),
    (("bodies", 1, "joint", "axis"), [0, 0, 0], "axis must not be zero"),
    (("bodies", 1, "joint", "axis"), [0, 0, 2], r"'axis' must be \(0.0, 0.0, 1.0\) for a Revolute"),
    (("bodies", 1, "joint", "axis"), [0, 1], "axis must be 3"),
    (("bodies", 1, "joint", "axis"), "z", "'axis' must be"),
    (("bodies", 1, "joint", "axis"), DELETE, "'axis' is missing"),
    (("bodies", 1, "joint", "pitch"), 1.0, "Revolute has no 'pitch'; it has: axis"),
    (("bodies", 0, "joint", "rotation"), "euler_abc", "rotation must be one of"),
    (("bodies", 0, "joint", "rotation"), [1], "rotation must be one of"),
    (("bodies", 0, "X_tree", "E"), [[1, 0, 0]], "'E' must be 3 rows of 3 numbers"),
    (("bodies", 0, "X_tree", "E"), [[1, 0], [0, 1], [0, 0]], "'E' must be a list of 3 finite"),
    (("bodies", 0, "X_tree", "E"), [[1, 0, 0], [0, 1, 0], [0, 0, -1]], "'E' must be a rotation"),
    (("bodies", 0, "X_tree", "r"), [0, 0, None], "'r' must be a list of 3 finite"),
    (("bodies", 0, "inertia", "m"), -1, "'m' must be a finite number >= 0, got -1"),
    (("bodies", 0, "inertia", "h"), [1], "'h' must be"),
    (("bodies", 0, "inertia", "I"), ROTATED, "'I' must be a symmetric matrix"),
    (("bodies", 1, "q_lower"), [], r"bodies\[1\]: 'q_lower' must be a list of 1 numbers"),
    (("bodies", 1, "q_lower"), ["-infinity"], r"bodies\[1\]: 'q_lower'"),
    (("bodies", 1, "q_lower"), ["inf"], None),
    (("bodies", 1, "q_upper"), [-2], "q_lower must not lie above q_upper"),
    (("bodies", 1, "damping"), [-2], "damping must not be negative"),
    (("frames", 1, "body"), 3, r"frames\[1\]: 'body' must be a body index"),
    (("frames", 1, "body"), 1, r"bodies\[1\]: frames must hold 'arm' as a frame of body 2"),
    (("frames", 1, "name"), "base", "frame names must be unique.*'base' twice"),
    (("frames", 1, "X"), DELETE, r"frames\[1\]: 'X' is missing"),
]


@pytest.mark.parametrize(("path", "value", "message"), MALFORMED)
@pytest.mark.slow
def test_malformed_entries(path, value, message):
    data = copy.deepcopy(model_to_dict(small_model()))
    at = data
    for key in path[:-1]:
        at = at[key]
    if value is DELETE:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    if message is None:  # the upper limit is infinite too: no error
        assert model_from_dict(data).dofs.q_lower[-1] == np.inf
        return
    with pytest.raises(od.ModelError, match=message):
        model_from_dict(data)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "m.json: not JSON"),
        (b"<robot/>", "m.json: not JSON"),
        (b"\xff\xfe\x00", "m.json: not"),
        (b"[]", r"m.json: model must be an object, got \[\]"),
        (b"{}", "m.json: model: 'format' is missing; write the file with save_model"),
        (b'{"format": "ocp_dyn model", "version": 1, "gravity": [0, 0, NaN]}', "NaN is not a number a model may hold"),
        (b'{"format": 1, "format": 2}', "the key 'format' stands twice"),
        (b"[" * 100_000, "m.json: not a model file"),
        (b"1" * 5000, "m.json: not a model file"),
    ],
)
def test_malformed_files(content, message, tmp_path):
    (tmp_path / "m.json").write_bytes(content)
    with pytest.raises(od.ModelError, match=message):
        load_model(tmp_path / "m.json")


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"m\.json"):
        load_model(tmp_path / "m.json")
