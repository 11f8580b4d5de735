"""The commands of `ocp-dyn`, run in this process: results, exit statuses, messages."""

from __future__ import annotations

import argparse
import importlib
import json
import re
from pathlib import Path

import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.cli import main
from ocp_dyn.cli.inputs import CONSTRAINED, MODELS, PLAIN
from tests.helpers import REPOSITORY

needs_robots = pytest.mark.skipif(not od.robots.installed(), reason="example-robot-data is not installed")

URDF = """<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><mass value="2"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <link name="tip"/>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="2" effort="30" velocity="4"/></joint>
  <joint name="end" type="fixed"><parent link="upper"/><child link="tip"/><origin xyz="0 0 1"/></joint>
</robot>
"""


@pytest.fixture
def arm(tmp_path: Path) -> str:
    (tmp_path / "arm.urdf").write_text(URDF)
    return str(tmp_path / "arm.urdf")


def status(*arguments: object) -> int:
    """The exit status of a command, as the process would have it."""
    try:
        return main([str(argument) for argument in arguments])
    except SystemExit as end:
        return int(end.code or 0)


def test_info_shows_tree_limits_and_frames(arm, capsys):
    assert status("info", arm) == 0
    text = capsys.readouterr().out
    assert text.startswith("arm: 1 bodies, nq = 1, nv = 1, mass = 2 kg")
    assert re.search(r"shoulder +-1 +2 +4 +30 +0 +0\n", text)
    assert re.search(r"upper +tip\n", text)


def test_info_as_json(arm, capsys):
    assert status("info", arm, "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["name"], data["nq"], data["mass"], data["frames"]["tip"]) == ("arm", 1, 2.0, "upper")
    assert (data["joints"][0]["upper"], data["joints"][0]["mass"]) == ([2.0], 2.0)
    assert status("info", "pendulum", "--json") == 0
    assert json.loads(capsys.readouterr().out)["joints"][0]["upper"] == [None]  # no limit


def test_info_shows_limits_of_a_floating_base(tmp_path, capsys):
    """Coordinates of its translations; entries of a quaternion are no coordinates of single dofs."""
    builder = od.ModelBuilder("ball")
    lower = [-1, -2, -3, -0.5, -np.inf, -np.inf, -np.inf]
    builder.add_body("a", od.FloatingBase(), mass=1, inertia=(1, 1, 1), damping=0.5, lower=lower)
    od.save_model(builder.build(), tmp_path / "ball.json")
    assert status("info", tmp_path / "ball.json") == 0
    out = capsys.readouterr().out
    assert re.search(r"root.z +-3 +- +- +- +0.5 +0\n", out)
    assert re.search(r"root.wx +- +- +- +- +0.5 +0\n", out)


def test_info_shows_passive_torques(tmp_path, capsys):
    model = od.models.pendulum(2)
    one, other = model.qd_names
    elements = [od.ExponentialTorque(one, 2.0, {other: -1.5}), od.OneSidedSpring(other, 30.0, 0.25, side="below")]
    od.save_model(model.with_passive(elements), tmp_path / "rods.json")
    assert status("info", tmp_path / "rods.json") == 0
    out = capsys.readouterr().out
    assert re.search(rf"{one} +ExponentialTorque +gain 2, slopes {other}: -1.5, offset 0\n", out)
    assert re.search(rf"{other} +OneSidedSpring +stiffness 30, start 0.25, smoothing 0.02, side below\n", out)
    assert status("info", tmp_path / "rods.json", "--json") == 0
    shown = json.loads(capsys.readouterr().out)["passive"]
    assert shown[0] == {"kind": "ExponentialTorque", "dof": one, "gain": 2.0, "slopes": [[other, -1.5]], "offset": 0.0}


@pytest.mark.slow
def test_names_of_models_and_json_files_are_taken(tmp_path, capsys):
    for name in MODELS:
        assert status("info", name) == 0
    assert status("info") == 0
    out = capsys.readouterr().out
    assert all(name in out for name in (*MODELS, *od.robots.names()))
    assert status("info", "--json") == 0
    assert json.loads(capsys.readouterr().out)["robots"]["talos"] == "humanoid"
    od.save_model(od.models.pendulum(), tmp_path / "rod.json")
    assert status("info", tmp_path / "rod.json") == 0
    assert "pendulum_1" in capsys.readouterr().out


@needs_robots
@pytest.mark.slow
def test_a_robot_on_legs_floats_unless_told_otherwise(capsys):
    path = od.robots.path("solo12")
    for arguments, nv in ((("solo12",), 18), ((path,), 18), ((path, "--root", "fixed"), 12), (("z1",), 7)):
        assert status("info", *arguments) == 0
        out, err = capsys.readouterr()
        assert f"nv = {nv}," in out
        assert ("its root link floats" in err) == (arguments == (path,))
    assert status("info", od.robots.path("hector")) == 0
    assert "is one rigid body: it floats" in capsys.readouterr().err


def test_faults_of_files_are_status_1_and_debug_shows_the_traceback(tmp_path, capsys):
    (tmp_path / "bad.urdf").write_text(URDF.replace('value="2"', 'value="-2"'))
    for arguments in (["info"], ["export", "--out", str(tmp_path / "c")], ["bench"], ["show", "--view", "side"]):
        assert status(arguments[0], tmp_path / "bad.urdf", *arguments[1:]) == 1
        err = capsys.readouterr().err
        assert "line 3: link 'upper': mass must not be negative" in err or "mass must not be negative" in err
        assert "Traceback" not in err
        assert err.startswith(f"ocp-dyn {arguments[0]}: ")
    assert status("info", tmp_path / "bad.urdf", "--debug") == 1
    assert "Traceback" in capsys.readouterr().err


def test_check_lists_faults_in_the_form_of_editors(arm, tmp_path, capsys):
    assert status("check", arm) == 0
    assert capsys.readouterr().out == f"{arm}: no faults\n"
    bad = tmp_path / "bad.urdf"
    bad.write_text(URDF.replace('value="2"', 'value="-2"').replace('upper="2"', 'upper="-2"').replace('4"', '0"'))
    assert status("check", bad) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{bad}:3: link 'upper': mass must not be negative")
    assert lines[1].startswith(f"{bad}:6: joint 'shoulder': lower limit -1.0 lies above upper limit -2.0")
    assert lines[2].startswith(f"{bad}:6: note: joint 'shoulder' <limit>: velocity=\"0\"")
    assert lines[3:] == [f"{bad}: 2 faults, 1 note"]
    assert status("check", bad, "--json") == 1
    data = json.loads(capsys.readouterr().out)
    assert data["faults"] == 2
    assert [entry["kind"] for entry in data["found"]] == ["fault", "fault", "note"]


@pytest.mark.slow
def test_export_writes_c(tmp_path, capsys):
    folder = tmp_path / "rod"
    arguments = ("export", "pendulum", "--functions", "ID, FDc,G", "--feet", "tip", "--points", "--lanes", "2")
    assert status(*arguments, "--precision", "single", "--prefix", "arm", "--out", folder) == 0
    assert "README.md tells how to call them" in capsys.readouterr().out
    assert {"arm_ID.c", "arm_FDc.c", "arm_G.c", "arm.h"} <= {path.name for path in folder.iterdir()}
    header = (folder / "arm.h").read_text()
    assert "arm_ID_batch" in header
    assert "const float" in header
    assert "tip.tz" in header
    assert "tip.rx" not in header
    (folder / "notes.txt").write_text("mine")
    (folder / "build").mkdir()
    (folder / "build" / "rod_ID.o").write_text("compiled")
    assert status("export", "pendulum", "--functions", "ID", "--derivatives", "jac", "--out", folder, "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert data["functions"].keys() == {"ID"}
    assert data["files"]["rod_ID.c"] > 500
    assert data["files"]["rod_jac_ID.c"] > 500
    assert data["files"]["simulink/sfun_rod.c"] == (folder / "simulink/sfun_rod.c").stat().st_size
    assert {"notes.txt", "build/rod_ID.o"}.isdisjoint(data["files"])


@pytest.mark.slow
def test_every_function_that_is_offered_can_be_made():
    from argparse import Namespace

    from ocp_dyn.cli.inputs import functions_of

    options = Namespace(functions=",".join(sorted(PLAIN | CONSTRAINED)), feet="tip", points=True, file="pendulum")
    made = functions_of(options, od.models.pendulum(2))
    assert {f.name() for f in made} == PLAIN | CONSTRAINED


@needs_robots
@pytest.mark.slow
def test_robots_by_name_have_their_feet(tmp_path, capsys):
    assert status("export", "solo12", "--functions", "G", "--out", tmp_path / "solo", "--json") == 0
    assert "FL_FOOT.tx" in (tmp_path / "solo/solo.h").read_text()


@pytest.mark.slow
def test_bench_measures(capsys):
    assert status("bench", "pendulum", "--functions", "ID,H", "--seconds", "0.002", "--json") == 0
    rows = json.loads(capsys.readouterr().out)["functions"]
    assert rows.keys() == {"ID", "H"}
    assert 0 < rows["ID"]["interpreted_us"] < 1e3
    for key in ("batch_us", "compiled_us"):  # None without a compiler
        assert 0 < (rows["ID"][key] or 1) < 1e3
    assert status("bench", "pendulum", "--functions", "ID,integrate", "--seconds", "0.002", "--no-compile") == 0
    out, err = capsys.readouterr()
    assert re.search(r"integrate +\d+ +[\d.e-]+ +- +-\n", out)
    assert "ID ..." in err


def test_times_are_medians_per_call_and_per_state(monkeypatch, capsys):
    """With a clock that goes on by 2 ms at every call."""
    from ocp_dyn.cli import bench

    now = [0.0]

    def call() -> None:
        now[0] += 2e-3

    with monkeypatch.context() as patched:
        patched.setattr("time.perf_counter", lambda: now[0])
        assert bench._seconds(call, 1.0) == pytest.approx(2e-3)
    model = od.models.pendulum()
    f = od.function(od.inverse_dynamics, model)
    assert [np.shape(x) for x in bench._states(model, f, 1)] == 3 * [(1,)]
    assert [np.shape(x) for x in bench._states(model, f, 5)] == 3 * [(5, 1)]
    monkeypatch.setattr(bench, "_seconds", lambda call, budget: 2e-3)
    assert status("bench", "pendulum", "--functions", "ID", "--json") == 0
    row = json.loads(capsys.readouterr().out)["functions"]["ID"]
    assert row["interpreted_us"] == pytest.approx(2e3)
    if row["compiled_us"] is not None:
        assert (row["compiled_us"], row["batch_us"]) == pytest.approx((2e3, 2.0))


@pytest.mark.slow
def test_show_draws_a_picture(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)  # no viewer
    assert status("show", "pendulum") == 0
    assert "the viewer is not installed" in capsys.readouterr().err
    assert status("show", "pendulum", "--labels", "joints") == 0
    assert capsys.readouterr().out == "pendulum_1.png\n"
    assert (tmp_path / "pendulum_1.png").stat().st_size > 2000
    assert status("show", "pendulum", "--view", "front", "--out", "rod.svg") == 0
    assert (tmp_path / "rod.svg").stat().st_size > 2000


@pytest.mark.slow
def test_show_opens_the_viewer(tmp_path, capsys, monkeypatch):
    pytest.importorskip("viser")
    from problems.small.rotor import problem

    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr(od.viz.viewer.Viewer, "block", lambda self: None)
    assert status("show", "pendulum") == 0
    out, err = capsys.readouterr()
    assert [out] == [f"{url}\n" for url in opened]
    assert "Ctrl-C ends the viewer" in err
    problem(10).solve(progress=False).save(tmp_path / "rotor.npz")
    assert status("show", tmp_path / "rotor.npz", "--no-browser") == 0
    assert len(opened) == 1
    assert status("show", tmp_path / "rotor.npz", "--out", tmp_path / "rotor.html") == 0
    assert (tmp_path / "rotor.html").stat().st_size > 100_000
    monkeypatch.chdir(tmp_path)
    assert status("show", "pendulum", "--view", "side") == 0
    assert (tmp_path / "pendulum_1.png").exists()  # what asks for a picture does not open the viewer
    assert status("show", tmp_path / "rotor.npz", "--out", tmp_path / "rotor.png") == 2
    assert "a motion has no single picture" in capsys.readouterr().err


def test_walk_runs_the_problem_of_its_file(tmp_path, monkeypatch, capsys):
    """With the options that the problem's own command would read. The problems themselves have tests of their own."""
    from ocp_dyn.cli import walk
    from ocp_dyn.problems import human_walk, robot_trot, robot_walk

    asked: list[tuple[str, argparse.Namespace]] = []

    def run_problem(name: str, options: argparse.Namespace, program: str) -> int:
        asked.append((name, options))
        return 0

    monkeypatch.setattr(walk, "run_problem", run_problem)
    monkeypatch.setattr(od.walking, "as_built", lambda name: name)
    monkeypatch.setattr(
        od.walking, "find_feet", lambda name: tuple("abcd") if name.endswith("paws.urdf") else ("a", "b")
    )
    (tmp_path / "r.urdf").write_text("<robot/>")
    (tmp_path / "paws.urdf").write_text("<robot/>")
    file, modules = str(tmp_path / "r.urdf"), {"human": human_walk, "robot": robot_walk, "trot": robot_trot}
    human = "--toes --load 15 --lock knee_r=0.3 ankle_l --prosthesis ankle_r=500 --backward --slope -0.05"
    human += " --step-length 0.6 0.7 --step-width 0.1 --step-time 0.5 0.6 --steps 2"
    for given, problem, direct in (
        ("", "human", ""),
        ("human --speed 1.5 --mass 60", "human", "--speed 1.5 --mass 60"),
        ("talos --quick --quiet", "robot", "talos --quick --quiet"),
        ("solo12", "trot", "solo12"),
        (f"{file} --feet a,b", "robot", f"{file} --left-foot a --right-foot b"),
        (file, "robot", f"{file} --left-foot a --right-foot b"),
        (f"{tmp_path}/paws.urdf", "trot", f"{tmp_path}/paws.urdf"),  # the points under its feet, not their links
        (f"{file} --feet a,b,c,d", "trot", f"{file} --feet a b c d"),
        ("--mass 60 --sex female", "human", "--mass 60 --sex female"),
        ("--slope -0.1 --load 0", "human", "--slope -0.1 --load 0"),
        ("talos --lock a b --lock-light", "robot", "talos --lock a b --lock-light"),
        ("talos --sole 0.1 0.05 --double-support 0.15", "robot", "talos --sole 0.1 0.05 --double-support 0.15"),
        (human, "human", human),
    ):
        assert status("walk", *given.split(), "--out", str(tmp_path)) == 0
        name, got = asked.pop()
        assert f"ocp_dyn.problems.{name}" == modules[problem].__name__
        read = modules[problem].arguments().parse_args([*direct.split(), "--out", str(tmp_path)])
        assert vars(got) == vars(read) | {"alone": False}
        assert f"report: {tmp_path}/report.md" in capsys.readouterr().out
    assert status("walk", file, "--feet", "a,b,c") == 2
    monkeypatch.setattr(walk, "run_problem", lambda *_: 130)  # Ctrl-C: nothing is told about files that are not there
    capsys.readouterr()
    for more in ([], ["--json"]):
        assert status("walk", "--out", str(tmp_path), *more) == 130
        assert not capsys.readouterr().out


def test_walk_prints_one_object_that_names_the_files(tmp_path, monkeypatch, capsys):
    from ocp_dyn.cli import examples, walk
    from problems.small import rotor

    def run_problem(name: str, options: argparse.Namespace, program: str) -> int:
        return examples.finish(options, rotor.problem().solve(progress=False), dict, "a title")

    monkeypatch.setattr(walk, "run_problem", run_problem)
    monkeypatch.setattr(examples, "write", lambda *_, **__: None)
    assert status("walk", "--out", str(tmp_path), "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["converged"], found["files"]) == (True, [str(tmp_path / "walk.npz")])


def test_walk_has_every_option_of_its_problems():
    """All that a problem's own command takes, but for the grid."""
    from ocp_dyn.cli.options import make_parser
    from ocp_dyn.problems import human_walk, robot_trot, robot_walk

    (commands,) = (action.choices for action in make_parser()._actions if isinstance(action.choices, dict))
    known = {text for action in commands["walk"]._actions for text in action.option_strings}
    for problem in (human_walk, robot_walk, robot_trot):
        own = {text for action in problem.arguments()._actions for text in action.option_strings}
        assert own - {"--intervals", "--urdf", "--left-foot", "--right-foot", "--subject"} <= known


@pytest.mark.slow
def test_plot_draws_a_saved_solution(tmp_path, capsys):
    from problems.small.rotor import problem

    problem(10).solve(progress=False).save(tmp_path / "rotor.npz")
    for what, name in (("motion", "rotor.png"), ("strip", "s.png"), ("overview", "new/o.png")):
        given = [] if what == "motion" else ["--what", what, "--out", tmp_path / name]
        assert status("plot", tmp_path / "rotor.npz", *given) == 0
        assert capsys.readouterr().out == f"{tmp_path / name}\n"
        assert (tmp_path / name).stat().st_size > 5000
    assert status("plot", tmp_path / "rotor.npz", "--what", "summary") == 0
    assert "duration" in capsys.readouterr().out
    assert status("plot", tmp_path / "rotor.npz", "--reference", "winter") == 1
    assert "needs a periodic motion" in capsys.readouterr().err
    assert status("plot", tmp_path / "rotor.npz", "--reference", "winter", "--what", "strip") == 2
    (tmp_path / "no.npz").write_bytes(b"no")
    assert status("plot", tmp_path / "no.npz") == 1


@pytest.mark.slow
def test_problems_are_listed_and_run(tmp_path, capsys):
    assert status("problems") == 0
    out = capsys.readouterr().out
    assert not re.search(r"^  .*\.$", out, re.MULTILINE)  # first sentences, without their periods
    root = Path(od.__file__).parents[1]
    for path in (root / "problems").rglob("[a-z]*.py"):
        assert f"  {'.'.join(path.relative_to(root / 'problems').with_suffix('').parts)} " in out
    assert status("problems", "--path", "rotor") == 0
    assert Path(capsys.readouterr().out.strip()).read_text().startswith('"""The quickest half turn')
    assert status("problems", "small/rotor.py", "--out", tmp_path) == 0
    assert (tmp_path / "rotor.png").exists()
    capsys.readouterr()
    assert status("problems", "extending.cost", "--help") == 0
    assert capsys.readouterr().out.startswith("A cost")
    for given in (("--path", "slope"), ("slope", "--path")):
        assert status("problems", *given) == 0
        assert Path(capsys.readouterr().out.strip()).samefile(REPOSITORY / "problems/slope.py")
    assert status("problems", "simplest_walker", "--json") == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])
    assert status("problems", "simplest_walker", "--help") == 0
    text = capsys.readouterr().out
    assert text.startswith("usage: ocp-dyn problems simplest_walker ")
    assert "python -m ocp_dyn.problems.simplest_walker" in text
    assert importlib.import_module("ocp_dyn.cli.examples").PROGRAM.get() == ""  # as before


def test_numbers_that_are_not_finite_are_null_in_json(capsys):
    from argparse import Namespace

    from ocp_dyn.cli.examples import finish
    from problems.small import rotor

    solution = rotor.problem().solve(progress=False)
    options = Namespace(out=None, json=True, quiet=True)
    assert finish(options, solution, lambda: {"width": float("nan")}, "a rotor") == 0
    numbers = json.loads(capsys.readouterr().out.splitlines()[-1], parse_constant=lambda name: pytest.fail(name))
    assert numbers["width"] is None
    assert numbers["converged"] is True


def test_reports_list_the_bounds_that_decide(tmp_path, capsys, monkeypatch):
    """Ten of them, and how many more there are; a motion free of bounds says so."""
    from argparse import Namespace

    from ocp_dyn.cli.examples import finish
    from problems.small import rotor

    solution = rotor.problem().solve(progress=False)
    monkeypatch.setattr("ocp_dyn._base.display.FAILURES", ())
    for name in ("plot", "animate"):
        monkeypatch.setattr(od.ocp.Solution, name, lambda *_: None)
    monkeypatch.setattr("ocp_dyn.cli.reporting.stick_figure", lambda *_: None)
    options = Namespace(out=tmp_path, json=True, quiet=True)
    one = od.ocp.DecidingBound("duration", "duration of turn", "upper", 0.9, "s", ("a", "b"), 3.0, 5.0, 2, 4.0, 0.1)
    for names, more in (("", ""), ("ab", ""), ("abcdefghijkl", "and 2 more that are worth less")):
        bounds = od.ocp.DecidingBounds(tuple(one._replace(name=f"duration of {name}") for name in names))
        monkeypatch.setattr("ocp_dyn.ocp.analysis.summary.deciding", lambda _, bounds=bounds: bounds)
        assert finish(options, solution, dict, "a rotor") == 0
        printed, report = capsys.readouterr().out, (tmp_path / "report.md").read_text()
        shown = report.count("| upper | 0.9 s | a, b | 3 - 5 | 2 | 4 per s |")
        assert shown == printed.count("0.9 s  a, b    3 - 5") == min(10, len(names))
        assert more in report
        assert more in printed
        assert ("worth less" in printed) == (len(names) > 10)
        assert ("No bound of a duration" in report) == (not names)
        told = json.loads(printed.splitlines()[-1])["deciding_bounds"]
        assert [bound["name"][-1] for bound in told] == list(names)


def test_texts_are_written_in_utf_8_whatever_the_locale(tmp_path, monkeypatch):
    """A robot may have letters that the encoding of the locale has not."""
    from ocp_dyn.cli.reporting import write

    def write_text(self: Path, text: str, encoding: str | None = None) -> int:
        assert encoding == "utf-8"
        return self.write_bytes(text.encode(encoding))

    solution = od.ocp.Solution.load(_rotor(tmp_path))
    monkeypatch.setattr("pathlib.Path.write_text", write_text)
    for name in ("plot", "animate"):
        monkeypatch.setattr(od.ocp.Solution, name, lambda *_: None)
    write(tmp_path, solution, {}, solution.deciding(), "日本 walks", quiet=True)
    assert (tmp_path / "report.md").read_text(encoding="utf-8").startswith("# 日本 walks\n")


def _rotor(folder: Path) -> Path:
    from problems.small import rotor

    return rotor.problem().solve(progress=False).save(folder / "rotor.npz")


def test_help_has_examples_and_statuses(capsys):
    assert status("--help") == 0
    top = capsys.readouterr().out
    commands = re.findall(r"^    ([a-z]+)\b", top, re.MULTILINE)
    assert len(commands) == 13
    for command in commands:
        assert status(command, "--help") == 0
        text = capsys.readouterr().out
        assert f"ocp-dyn {command}" in text.split("examples:")[1]
        assert "exit status: 0 fine; 1 a fault" in text
        assert max(map(len, text.splitlines())) <= 120
    assert status("--version") == 0
    assert capsys.readouterr().out == f"ocp-dyn {od.__version__}\n"


def test_ctrl_c_and_unexpected_errors(monkeypatch, capsys):
    from ocp_dyn.cli import info

    def interrupted(options: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(info, "run", interrupted)
    assert status("info", "pendulum") == 130
    assert capsys.readouterr().err == "\nocp-dyn info: interrupted\n"

    def broken(options: object) -> int:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(info, "run", broken)
    assert status("info", "pendulum") == 1
    assert "unexpected ZeroDivisionError: by zero; --debug shows" in capsys.readouterr().err


def test_convert_writes_models_for_simulators(arm, tmp_path, capsys):
    assert (
        status("convert", arm, "--out", tmp_path / "arm.xml", "--ball", "tip=0.02", "--box", "tip=0.1, 0.2, 0.3") == 0
    )
    captured = capsys.readouterr()
    assert captured.out == f"{tmp_path / 'arm.xml'}\n"
    assert captured.err == ""
    text = (tmp_path / "arm.xml").read_text()
    assert 'type="sphere" size="0.02"' in text
    assert 'type="box" size="0.1 0.2 0.3"' in text
    placed = ["--ball", "upper=0.02,0,0,0.02", "--box", "upper=0.1,0.2,0.3,1,2,0.3"]
    assert status("convert", arm, "--out", tmp_path / "arm.xml", *placed) == 0
    capsys.readouterr()
    text = (tmp_path / "arm.xml").read_text()
    assert 'type="sphere" size="0.02" pos="0 0 0.02"' in text
    assert 'type="box" size="0.1 0.2 0.3" pos="1 2 0.3"' in text
    assert status("convert", arm, "--out", tmp_path / "new.urdf", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {
        "file": str(tmp_path / "new.urdf"),
        "shapes": [],
        "dofs": ["shoulder"],
    }
    back = od.load_urdf(tmp_path / "new.urdf")
    assert (back.joint_names, back.dofs.tau_max.tolist()) == (("shoulder",), [30])
    assert status("convert", tmp_path / "new.urdf", "--out", tmp_path / "arm.json") == 0
    assert od.load_model(tmp_path / "arm.json").frame_names == back.frame_names
    capsys.readouterr()
    assert status("convert", tmp_path / "arm.json", "--out", tmp_path / "a.mjcf", "--visuals", "none") == 0
    assert "nothing in this file touches the ground: --ball FRAME=RADIUS" in capsys.readouterr().err
    assert 'type="capsule"' not in (tmp_path / "a.mjcf").read_text()


@needs_robots
@pytest.mark.slow
def test_convert_gives_robots_their_feet(tmp_path, capsys):
    assert status("convert", "solo12", "--out", tmp_path / "solo.xml", "--json") == 0
    assert json.loads(capsys.readouterr().out)["shapes"] == ["FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"]
    assert status("convert", "talos", "--out", tmp_path / "t.urdf", "--drop", "limits,armature", "--world") == 0
    text = (tmp_path / "t.urdf").read_text()
    assert '<link name="world"' in text
    assert text.count('<box size="0.18 0.1 0.01"') == 2


def test_convert_locks_joints_that_move_no_mass(tmp_path, capsys):
    b = od.ModelBuilder()
    b.add_body("arm", od.Revolute("y"), mass=1, inertia=(1, 1, 1))
    b.add_body("finger", od.Revolute("y"), "arm")
    od.save_model(b.build(), tmp_path / "arm.json")
    assert status("convert", tmp_path / "arm.json", "--out", tmp_path / "arm.xml") == 1
    assert "moved by finger_joint" in (text := capsys.readouterr().err)
    assert "lock all of them by --lock-massless" in text
    assert status("convert", tmp_path / "arm.json", "--out", tmp_path / "arm.xml", "--lock-massless") == 0
    text = (tmp_path / "arm.xml").read_text()
    assert 'name="arm_joint"' in text
    assert "finger_joint" not in text


@pytest.mark.slow
def test_convert_closes_the_loops_of_ready_models(tmp_path, capsys):
    assert status("convert", "n_four_bar", "--out", tmp_path / "bars.xml") == 0
    text = (tmp_path / "bars.xml").read_text()
    chain = od.models.n_four_bar()
    assert text.count("<connect ") == len(chain.loops)
    assert '<key name="closed"' in text
    assert "closed loops" not in capsys.readouterr().err
    assert status("convert", "n_four_bar", "--out", tmp_path / "bars.urdf") == 0
    assert "has closed loops, which this file does not hold" in capsys.readouterr().err
    with pytest.raises(TypeError, match=r"write its \.model, with constraints="):
        od.io.mjcf_text(chain)


def test_a_ready_model_with_the_name_of_a_robot_has_no_shapes_of_it(tmp_path, capsys):
    assert status("convert", "human", "--out", tmp_path / "human.xml", "--drop", "passive") == 0
    assert "nothing in this file touches the ground" in capsys.readouterr().err


def test_convert_tells_of_inertias_by_its_options(tmp_path, capsys):
    b = od.ModelBuilder()
    b.add_body("arm", od.Revolute("y"), mass=1, inertia=(1, 1, 3), inertia_check=False)
    od.save_model(b.build(), tmp_path / "arm.json")
    assert status("convert", tmp_path / "arm.json", "--out", tmp_path / "arm.xml") == 1
    assert capsys.readouterr().err.endswith("the nearest that a body can have by --balance\n")
    assert status("convert", tmp_path / "arm.json", "--out", tmp_path / "arm.xml", "--balance") == 0


def test_convert_keeps_joints_that_follow_others(tmp_path):
    finger = '<link name="finger"/><joint name="f" type="prismatic"><parent link="upper"/><child link="finger"/>'
    finger += '<limit lower="0" upper="1" effort="1" velocity="1"/><mimic joint="shoulder" multiplier="3"/></joint>'
    (tmp_path / "m.urdf").write_text(URDF.replace("</robot>", finger + "</robot>"))
    assert status("convert", tmp_path / "m.urdf", "--out", tmp_path / "n.urdf") == 0
    assert '<mimic joint="shoulder" multiplier="3"' in (tmp_path / "n.urdf").read_text()
