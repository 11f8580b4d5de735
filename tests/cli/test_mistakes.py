"""Mistakes on the command line: one line that names the remedy, and the exit status."""

from __future__ import annotations

from pathlib import Path

import pytest

import ocp_dyn as od
from tests.cli.test_commands import URDF, status
from tests.helpers import DATA


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["info", "pendulm"], 2, "no file 'pendulm', and no model or robot of this name: did you mean 'pendulum'"),
        (["info", "."], 2, "'.' is a folder"),
        (["info", "pendulum", "--jsn"], 2, "unrecognized arguments: --jsn: did you mean '--json'?"),
        (["plot", "solution.npz", "--what", "strp"], 2, "invalid choice: 'strp'"),
        (["plot", "solution.npz", "--what", "strp"], 2, ": did you mean 'strip'?"),
        (["info", DATA / "nothing.urdf"], 2, "no file"),
        (["check", "nothing.urdf"], 2, "no file 'nothing.urdf'; expected a file of a model"),
        (["export", "pendulum"], 2, "arguments are required: --out"),
        (["export", "pendulum", "--functions", "IDD", "--out", "x"], 2, "no function 'IDD': did you mean 'ID'"),
        (["export", "pendulum", "--functions", "FDc", "--out", "x"], 2, "FDc needs contacts: --feet"),
        (["export", "pendulum", "--functions", "pose", "--out", "x"], 2, "pose needs arguments that a command line"),
        (["export", "pendulum", "--functions", "G", "--feet", "tipp", "--out", "x"], 2, "'tipp': did you mean 'tip'"),
        (["export", "pendulum", "--functions", " , ", "--out", "x"], 2, "at least one name is needed"),
        (["export", "pendulum", "--lanes", "3", "--out", "x"], 2, "lanes"),
        (["convert", "pendulum", "--out", "x.sdf"], 2, "the name of an MJCF file ends in .xml, of a URDF in .urdf"),
        (
            ["convert", "pendulum", "--out", "x.json", "--ball", "tip=1"],
            2,
            "--box, --ball and --drop are for MJCF and URDF",
        ),
        (
            ["convert", "pendulum", "--out", "x.xml", "--ball", "tip"],
            2,
            (
                "--ball FRAME=RADIUS, and its center in the frame if it lies elsewhere, ,CX,CY,CZ; lengths in meters; "
                "got 'tip'"
            ),
        ),
        (["convert", "pendulum", "--out", "x.xml", "--box", "tip=1,2"], 2, "--box FRAME=X,Y,Z (half sizes)"),
        (["convert", "pendulum", "--out", "x.xml", "--ball", "tip=-1"], 2, "radius"),
        (["convert", "pendulum", "--out", "x.xml", "--ball", "tp=1"], 2, "no frame 'tp': did you mean 'tip'"),
        (["convert", "pendulum", "--out", "x.xml", "--world"], 2, "--world is for URDF, not for .xml"),
        (["convert", "pendulum", "--out", "x.urdf", "--visuals", "none"], 2, "--visuals is for MJCF, not for .urdf"),
        (["convert", "human", "--out", "x.xml"], 1, "To write it without them: --drop passive"),
        (["convert", "human", "--out", "x.urdf"], 1, "To write it without them: --drop passive,effort"),
        (["convert", "pendulum", "--out", "x.json", "--world"], 2, "--world is for URDF, not for .json"),
        (["convert", "pendulum", "--out", "x.json", "--visuals", "none"], 2, "--visuals is for MJCF, not for .json"),
        (["convert", "pendulum", "--out", "x.xml", "--box", "tip=1,1,1,0,0"], 2, "--box FRAME=X,Y,Z (half sizes), and"),
        (["bench", "pendulum", "--seconds", "0"], 2, "--seconds must lie between 0 and 60"),
        (["show", "pendulum", "--out", "x.doc"], 2, "the name of a picture ends in one of .png"),
        (["plot", "nothing.npz"], 2, "no file 'nothing.npz'"),
        (["plot", "arm.urdf", "--out", "x.gif"], 2, "--out x.gif: --what motion is written as one of .png, .pdf, .svg"),
        (["plot", "arm.urdf", "--what", "animation", "--out", "x.png"], 2, "written as one of .gif, .html, .mp4"),
        (["plot", "arm.urdf", "--what", "summary", "--out", "x.txt"], 2, "--what summary is printed, not written"),
        (["show", "solution.npz", "--view", "side"], 2, "--view and --labels are for pictures of a model"),
        (["show", "pendulum", "--labels", "joints", "--out", "x.html"], 2, "for pictures of a model, not for pages"),
        (["show", "nothing.npz"], 2, "no file 'nothing.npz'"),
        (["show", "solution.npz", "--root", "fixed"], 2, "--root is for URDFs and robots by name; a solution"),
        (["info", "solution.npz"], 2, "solution.npz is a solution; expected a model"),
        (["info", "pendulum", "--root", "floating"], 2, "--root is for URDFs and robots by name; the root of pendulum"),
        (["info", "model.json", "--root", "planar"], 2, "the root of model.json is a joint of the model"),
        (["check", "."], 2, "'.' is a folder; expected a file of a model"),
        (["check", "talos"], 2, "no file 'talos'; expected a file of a model, not a name"),
        (["walk", "tallos"], 2, "no file and no robot 'tallos': did you mean 'talos'"),
        (["walk", "ur5"], 2, "show no two or four feet, "),
        (
            ["walk", "arm.urdf"],
            2,
            "name their links or frames, --feet LEFT,RIGHT or --feet FRONT_LEFT,",
        ),
        (["walk", "leg.osim"], 2, "has no root that floats in space"),
        (["walk", "--feet", "a,b"], 2, "--feet is an option of a robot on two feet or a quadruped; here walks a human"),
        (["walk", "solo12", "--steps", "2"], 2, "--steps is an option of a human or a robot on two feet; here walks a"),
        (["walk", "talos", "--mass", "80"], 2, "--mass is an option of a human; here walks a robot on two feet"),
        (["walk", "talos", "--flight", "0"], 2, "--flight is an option of a quadruped; here"),
        (
            ["walk", "solo12", "--sole", "1", "2"],
            2,
            "--sole is an option of a robot on two feet; here walks a quadruped",
        ),
        (["walk", "solo12", "--flight", "1", "--overlap", "1"], 2, "--flight and --overlap exclude each other"),
        (["walk", "--speed", "9"], 2, "speed must lie between 0.5 and 2.2 m/s"),
        (["walk", "--speed", "x"], 2, "invalid float value: 'x'"),
        (["walk", "--spede", "1.2"], 2, "unrecognized arguments: --spede: did you mean '--speed'"),
        (["walk", "--spee", "1.2"], 2, "unrecognized arguments: --spee"),
        (["problems", "extending.cost", "--out", "x"], 2, "extending.cost has no options, got --out x"),
        (["problems", "jmp"], 2, "no problem 'jmp': did you mean 'jump'?"),
        (["completion", "csh"], 2, "invalid choice: 'csh'"),
        (["export", "pendulum", "--out", ""], 2, "argument --out: the name is empty; write . for the current folder"),
        (["walk", "--out", ""], 2, "argument --out: the name is empty"),
        (["check", ""], 2, "argument FILE: the name is empty"),
        (["dance"], 2, "invalid choice: 'dance'"),
        (["chek", "x"], 2, "no command 'chek': did you mean 'check'?"),
        ([], 2, "the following arguments are required: COMMAND"),
    ],
)
@pytest.mark.slow
def test_mistakes_get_one_line_and_status_2(arguments, code, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for file in ("arm.urdf", "leg.osim", "model.json", "solution.npz"):
        (tmp_path / file).write_text(URDF)
    if not od.robots.installed() and "ur5" in arguments:
        pytest.skip("example-robot-data is not installed")
    assert status(*arguments) == code
    out, err = capsys.readouterr()
    assert message in err
    assert "usage:" not in err
    assert err.count("\n") == 1
    assert not out
    assert "Traceback" not in err
    assert {path.name for path in tmp_path.iterdir()} == {"arm.urdf", "leg.osim", "model.json", "solution.npz"}


def test_errors_of_files_name_the_file(tmp_path, monkeypatch, capsys):
    make = Path.mkdir

    def refuse(path: Path, *arguments: object, **options: object) -> None:
        if path.name.startswith(".export-"):
            raise PermissionError(13, "Permission denied", str(path))
        make(path, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Path, "mkdir", refuse)
    assert status("export", "pendulum", "--functions", "H", "--out", tmp_path) == 1
    assert capsys.readouterr().err == f"ocp-dyn export: {tmp_path}: Permission denied\n"


def test_a_folder_that_cannot_be_written_to_is_reported_before_the_solver_runs(tmp_path, monkeypatch, capsys):
    def refuse(dir: Path) -> None:
        raise PermissionError(13, "Permission denied", str(dir / "tmp"))

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    assert status("problems", "simplest_walker", "--out", tmp_path) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err == (
        f"ocp-dyn problems simplest_walker: error: --out {tmp_path}: no file can be written there: Permission denied\n"
    )
