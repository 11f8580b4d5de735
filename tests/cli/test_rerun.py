"""`ocp-dyn rerun`: own files, ready problems, points of sweeps; files that name no problem, or one that has changed."""

from __future__ import annotations

import argparse
import functools
import io
import json
import pickle
import sys
import textwrap
from dataclasses import replace

import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.cli import examples
from ocp_dyn.cli.main import main
from ocp_dyn.cli.rerunning import command
from ocp_dyn.cli.rerunning.comparison import apart
from ocp_dyn.cli.sweeping.command import FileFunction, python_file
from ocp_dyn.ocp.workflows import origin
from ocp_dyn.ocp.workflows.sweeps import tasks

FILE = """
    import casadi as ca
    import ocp_dyn as od
    from ocp_dyn import ocp

    def build(angle=1.0, intervals=8):
        wheel = od.ModelBuilder("rotor")
        wheel.add_body("wheel", od.Revolute("z"), mass=1, inertia=(1, 1, 1), effort=40.0)
        rest = ocp.Boundary(lambda s, e: (ca.vertcat(s.q, s.qd, e.q - angle, e.qd), 0, 0))
        turn = ocp.Phase("turn", intervals, 1.0, objective=[ocp.TorqueSquared()])
        return ocp.Problem(wheel.build(), [turn], boundary=[rest])

    turn = build(0.7)
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "turn.py"
    path.write_text(textwrap.dedent(FILE))
    return path


@pytest.fixture
def saved(file, monkeypatch):
    """The file of the solution of `turn`, as the program turn.py saves it."""
    module = python_file(file)[1]
    monkeypatch.setitem(sys.modules, "__main__", module)
    solution = module.turn.solve(progress=False, threads=1, tolerance=1e-7, mu_init=0.01)
    return solution.save(file.with_suffix(".npz"))


def of(capsys, *words):
    status = main(["rerun", *map(str, words)])
    out, err = capsys.readouterr()
    return status, out, err


@pytest.mark.slow
def test_a_program_s_problem_is_solved_again_to_the_last_bit(saved, capsys):
    solve = ocp.Solution.load(saved).stats["provenance"]["solve"]
    assert (solve["tolerance"], solve["threads"], solve["options"]) == (1e-7, 1, {"mu_init": 0.01})
    status, out, err = of(capsys, saved, "--quiet", "--yes")
    assert (status, err) == (0, "")
    assert "the two motions are the same to the last bit" in out
    assert out.split()[:2] == ["saved", "again"]


@pytest.mark.slow
def test_another_problem_is_told_by_how_far_it_is(saved, file, capsys, tmp_path):
    again = tmp_path / "again.npz"
    status, out, err = of(
        capsys, saved, "--quiet", "--problem", f"{file}:build", "--arguments", "angle=0.75", "--json", "--out", again
    )
    assert status == 1
    found = json.loads(out)
    assert found["q"] == pytest.approx(0.05, abs=1e-6)
    assert (found["dof"], found["same_bits"]) == ("wheel_joint", False)
    assert found["cost"]["again"] == pytest.approx(found["cost"]["saved"] * (0.75 / 0.7) ** 2, rel=1e-6)
    assert "the two programs differ" in err
    assert ocp.Solution.load(again).q[-1, 0] == pytest.approx(0.75)
    # on another grid: curves are compared at even times
    status, out, _ = of(
        capsys, saved, "--quiet", "--problem", f"{file}:build", "--arguments", "angle=0.7", "intervals=9", "--json"
    )
    found = json.loads(out)
    assert 1e-6 < found["q"] < 0.02
    assert found["tau"] is None
    words = ["--quiet", "--problem", f"{file}:build", "--arguments", "angle=0.7", "intervals=9", "--within", "0.05"]
    assert of(capsys, saved, *words)[0] == 0


def test_a_changed_file_is_not_run_unless_it_is_named(saved, file, capsys):
    file.write_text(textwrap.dedent(FILE).replace("build(0.7)", "build(0.8)") + "raise SystemExit('it was run')\n")
    status, out, err = of(capsys, saved)
    assert (status, out) == (1, "")
    assert "turn.py, which has changed since, so its code is not run" in err
    assert f"--problem {file}:turn" in err
    file.unlink()
    assert "which is not there any more; name the problem" in of(capsys, saved)[2]


@pytest.mark.parametrize("answer", [None, "", "no", "y"])
def test_code_of_others_runs_after_a_yes(saved, file, capsys, monkeypatch, answer):
    """A note says what is run; without a terminal, or without a yes at it, nothing is."""
    monkeypatch.setattr(command, "python_file", lambda path: pytest.fail("run") if answer != "y" else sys.exit("run"))
    keys = io.StringIO(f"{answer}\n")
    keys.isatty = lambda: answer is not None
    monkeypatch.setattr(sys, "stdin", keys)
    if answer == "y":
        with pytest.raises(SystemExit, match="run"):
            main(["rerun", str(saved)])
        err = capsys.readouterr().err
    else:
        status, out, err = of(capsys, saved)
        assert (status, out) == (1, "")
        assert ("is not run without a yes: read it, then add --yes" if answer is None else "was not run") in err
    assert f"{saved} was made by {file.resolve()}, which is run to make the problem again" in err
    assert ("run it? [y/N]" in err) is (answer is not None)


@pytest.mark.slow
def test_a_file_that_moved_with_its_solution_is_found(saved, file, capsys, tmp_path):
    (tmp_path / "there").mkdir()
    for path in (saved, file):
        path.rename(tmp_path / "there" / path.name)
    assert of(capsys, tmp_path / "there/turn.npz", "--quiet", "--yes")[0] == 0


@pytest.mark.slow
def test_a_solution_without_a_name_asks_for_it(file, tmp_path, capsys, monkeypatch):
    module = python_file(file)[1]
    monkeypatch.delattr(sys.modules["__main__"], "__file__", raising=False)
    path = module.build(0.3).solve(progress=False, threads=1).save(tmp_path / "own.npz")
    status, _, err = of(capsys, path)
    assert status == 1
    assert "holds a solution but not its problem" in err
    assert "--problem my_walk.py:NAME" in err
    assert of(capsys, path, "--quiet", "--problem", f"{file}:build", "--arguments", "angle=0.3")[0] == 0
    for words, told in (
        (["--problem", f"{file}"], "FILE.py:NAME"),
        (["--problem", f"{file}:bild"], "did you mean 'build'"),
        (["--problem", f"{file}:FOLDER"], "has no 'FOLDER'"),
        (["--problem", f"{file}:ca"], "is no Problem"),
        (["--problem", f"{tmp_path}/none.py:build"], "no Python file"),
        (["--problem", f"{file}:build", "--arguments", "0.3"], "NAME=VALUE"),
        (["--arguments", "angle=0.3"], "which is missing"),
    ):
        status, _, err = of(capsys, path, *words)
        assert status == 2, words
        assert told in err, err


@pytest.mark.slow
def test_points_of_sweeps_name_their_call(file, tmp_path, capsys):
    source = file.read_text(encoding="utf-8")
    make = FileFunction(str(file), source, "build")
    task = tasks.Task(None, pickle.dumps(make), arguments=(("angle", 0.4),))
    found = tasks.find(task)
    path = tmp_path / "angle_0.4.npz"
    path.write_bytes(found.content)
    made = ocp.Solution.load(path).stats["provenance"]["problem"]
    assert (made["file"], made["name"], made["arguments"]) == (str(file), "build", {"angle": 0.4})
    assert found.figures["problem"] == made["digest"]
    assert found.figures["made_with"].startswith("ocp_dyn ")
    assert of(capsys, path, "--quiet", "--yes")[0] == 0


@pytest.mark.slow
def test_ready_problems_run_their_command_again(tmp_path, capsys):
    options = ["--form", "explicit", "--intervals", "8", "--quiet", "--no-pictures", "--out", str(tmp_path / "step")]
    assert main(["problems", "five_link", *options]) == 0
    capsys.readouterr()
    path = tmp_path / "step/walk.npz"
    made = ocp.Solution.load(path).stats["provenance"]["problem"]
    assert (made["command"], made["file"], made["options"]["intervals"]) == ("five_link", "walk.npz", 8)
    assert "no_pictures" not in made["options"]
    # a file of an earlier version, whose command had fewer options, or of somebody who would write elsewhere
    solution = ocp.Solution.load(path)
    told = solution.stats["provenance"]
    (options := told["problem"]["options"]).pop("torque")
    options["out"] = str(tmp_path / "elsewhere")
    solution.save(path)
    status, out, err = of(capsys, path, "--quiet")
    assert (status, err) == (0, "")
    assert "to the last bit" in out
    assert not (tmp_path / "elsewhere").exists()
    assert "ocp_dyn " in (tmp_path / "step/report.md").read_text()


def test_functions_of_ready_problems_are_named_by_their_module():
    from ocp_dyn.problems import five_link

    made = origin.origin_of_call(five_link.problem, (), {"intervals": 5})
    expected = {"module": "ocp_dyn.problems.five_link", "name": "problem", "arguments": {"intervals": 5}, "variant": []}
    assert made == expected
    bound = functools.partial(functools.partial(five_link.problem, "explicit"), torque="linear")
    again = origin.origin_of_call(bound, (6,), {"integrator": "rk4"})
    assert again["variant"] == ["explicit", 6]
    assert again["arguments"] == {"torque": "linear", "integrator": "rk4"}


@pytest.mark.slow
def test_the_dof_of_the_largest_difference_is_named():
    swing = ocp.Phase("swing", 3, 1.0, objective=[ocp.TorqueSquared()])
    one = ocp.Problem(od.models.pendulum(2), [swing]).solve(progress=False, threads=1)
    (phase,) = one.phases
    other = replace(one, phases=(replace(phase, q=phase.q + np.array([0.01, -0.2])),))
    found = apart(one, other)
    assert (found.dof, found.same_bits) == ("joint2", False)
    assert (found.q, found.tau) == (pytest.approx(0.2), 0.0)
    assert apart(one, one) == (0.0, "joint1", 0.0, True)


def test_a_solution_that_was_read_keeps_the_name_of_its_problem(saved, tmp_path):
    examples.keep(argparse.Namespace(out=tmp_path / "copy", ready_problem="replay"), ocp.Solution.load(saved))
    copied = ocp.Solution.load(tmp_path / "copy/walk.npz").stats["provenance"]["problem"]
    assert copied == ocp.Solution.load(saved).stats["provenance"]["problem"]


@pytest.mark.slow
def test_a_solve_from_another_solution_is_told(file, tmp_path, capsys):
    module = python_file(file)[1]
    near = module.build(0.3).solve(progress=False, threads=1)
    solution = module.build(0.35).solve(progress=False, threads=1, guess=near)
    assert solution.stats["provenance"]["begin"] == "another solution"
    path = solution.save(tmp_path / "near.npz")
    _, _, err = of(capsys, path, "--quiet", "--problem", f"{file}:build", "--arguments", "angle=0.35")
    assert "the saved solve began from another solution, this one from the first guess" in err


@pytest.mark.parametrize("content", [b"no archive", None, {"provenance": 3}, {"provenance": {"problem": []}}])
def test_other_files_meet_a_clear_error(tmp_path, capsys, content):
    path = tmp_path / "other.npz"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is None:
        np.savez(path, q=np.zeros(3))
    else:
        np.savez(path, about=np.array(json.dumps({"stats": content})))
    status, _, err = of(capsys, path)
    assert status == 1
    assert str(path) in err
    assert of(capsys, tmp_path / "none.npz")[0] == 2
