"""Results of an earlier run are not overwritten without a word."""

from pathlib import Path

import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.cli import main
from ocp_dyn.cli.examples import asked, finish, parser
from ocp_dyn.cli.streams import claim
from ocp_dyn.cli.walk import folder_of
from ocp_dyn.gait.bodies import excessive_efforts
from tests.ocp.workflows.test_convergence import turn


def run(out: Path, *words: str) -> int:
    """A problem's command, on the smallest problem."""
    options, problem = asked(parser("a wheel"), ["--out", str(out), "--quiet", *words], lambda _: turn(0.3))
    return finish(options, problem.solve(progress=False), dict, "A wheel turns")


def test_a_second_run_is_refused_and_force_replaces_the_first(tmp_path, capsys):
    out = tmp_path / "walk"
    assert run(out) == 0
    made = {path.name for path in out.iterdir()}
    assert made == {"walk.npz", "report.md", "motion.png", "strip.png", "walk.gif"}
    before = (out / "report.md").stat().st_mtime_ns
    with pytest.raises(SystemExit) as stop:
        run(out)
    assert stop.value.code == 2
    assert "it holds results of an earlier run (report.md, walk.npz): give another folder, or --force" in (
        capsys.readouterr().err
    )
    assert (out / "report.md").stat().st_mtime_ns == before
    (out / "own.txt").write_text("mine")
    assert run(out, "--force", "--no-pictures") == 0
    assert {path.name for path in out.iterdir()} == {"walk.npz", "report.md", "own.txt"}
    assert "![" not in (out / "report.md").read_text()


def test_what_is_replaced_goes_first_so_that_a_run_that_is_cut_off_leaves_no_mixture(tmp_path):
    for name in ("walk_1.30.npz", "gait.png", "walk.gif", "own.png"):
        (tmp_path / name).write_bytes(b"old")
    (tmp_path / "report.md").write_text("![one](gait.png) ![elsewhere](../other/own.png)")
    claim(tmp_path, force=True)
    assert {path.name for path in tmp_path.iterdir()} == {"own.png"}
    claim(tmp_path / "not there yet", force=False)


def test_a_run_that_resumes_finds_what_an_earlier_one_has_left(tmp_path):
    (tmp_path / "speed_1.30.npz").write_bytes(b"a solution")
    options, _ = asked(parser("a library"), ["--out", str(tmp_path)], lambda _: 1, resumes=True)
    assert options.out == tmp_path
    assert (tmp_path / "speed_1.30.npz").read_bytes() == b"a solution"


def test_walks_have_folders_by_name():
    assert [folder_of(name).name for name in (None, "human", "talos", "robots/my_robot.urdf")] == [
        "walk", "walk", "walk_talos", "walk_my_robot",
    ]  # fmt: skip


def test_files_that_are_replaced_are_told(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for told in ("", "note: rod.json is replaced\n"):
        assert main(["convert", "pendulum", "--out", "rod.json"]) == 0
        assert capsys.readouterr().err == told


def test_efforts_that_cannot_be_are_a_remark(tmp_path, capsys):
    text = """<robot name="pup"><link name="base"><inertial><mass value="2.5"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link><link name="leg"><inertial>
<mass value="0.1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="knee" type="revolute"><parent link="base"/><child link="leg"/><origin xyz="0 0 -0.3"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="1000" velocity="9"/></joint></robot>"""
    (tmp_path / "pup.urdf").write_text(text)
    assert main(["check", str(tmp_path / "pup.urdf")]) == 0
    assert "an effort of 1000 N m at knee is more than 10 times what lifts the whole model of 2.6 kg" in (
        capsys.readouterr().out
    )
    model = od.parse_urdf(text, root=od.FloatingBase())
    assert any("an effort of 1000 N m" in told for told in ocp.Problem(model, [ocp.Phase("fall", 2, 0.1)]).check())
    assert not excessive_efforts(model.with_limits(effort={"knee": 20.0}))
    assert not excessive_efforts(od.models.human())
    assert not excessive_efforts(od.parse_urdf(text, root=None))
