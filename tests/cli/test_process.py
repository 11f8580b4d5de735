"""`ocp-dyn` as a process: a quick start, pipes, Ctrl-C, a folder of the user's called problems, completion in a
shell."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import ocp_dyn as od
from ocp_dyn.cli import completion, main
from tests.helpers import REPOSITORY

COMMAND = [sys.executable, "-m", "ocp_dyn"]


def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=False, **options)


def test_help_loads_neither_numpy_nor_casadi():
    code = """
import sys
from ocp_dyn.cli import main
try:
    main(["walk", "--help"])
except SystemExit:
    pass
assert not {"numpy", "casadi", "ocp_dyn._base.types"} & set(sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert not done.stderr
    assert "usage: ocp-dyn walk" in done.stdout


@pytest.fixture
def decoy(tmp_path: Path) -> dict[str, object]:
    """Options of a process in a folder whose own `problems` must not be taken for the library's."""
    (tmp_path / "problems").mkdir()
    for name in ("__init__", "human_walk"):
        (tmp_path / f"problems/{name}.py").write_text("raise RuntimeError('the problems of the user')\n")
    return {
        "cwd": tmp_path,
        "env": {"PYTHONPATH": str(REPOSITORY), "PATH": "/usr/bin:/bin", "MPLCONFIGDIR": str(tmp_path)},
    }


@pytest.mark.slow
def test_problems_of_the_user_are_left_alone(decoy):
    done = run("problems", "human_walk", "--help", **decoy)
    assert not done.stderr
    assert done.stdout.startswith("usage: ocp-dyn problems human_walk")
    code = "import problems"
    user = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, **decoy)
    assert "the problems of the user" in user.stderr


@pytest.mark.slow
def test_a_copy_of_the_package_alone_takes_no_foreign_problems(decoy):
    folder = Path(str(decoy["cwd"]))
    (folder / "ocp_dyn").mkdir()
    for name in ("__init__.py", "problems/__init__.py"):
        (folder / "ocp_dyn" / name).parent.mkdir(exist_ok=True)
        shutil.copy(REPOSITORY / "ocp_dyn" / name, folder / "ocp_dyn" / name)
    code = "import ocp_dyn.problems as p; assert p.__path__ == [], p.__path__"
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    assert not done.stderr


FULL = Path("/dev/full")


HELP = (  # of a problem, without loading it
    "import sys; from ocp_dyn.cli.streams import Parser, run_command; "
    "sys.exit(run_command(Parser('problem').parse_args))"
)


@pytest.mark.skipif(not FULL.is_char_device(), reason="no device that is always full")
@pytest.mark.parametrize(("program", "unbuffered"), [(["-m", "ocp_dyn"], "1"), (["-c", HELP], "")])
def test_help_that_cannot_be_written_is_an_error(program, unbuffered):
    """argparse alone takes no notice of it."""
    with FULL.open("w") as full:
        done = subprocess.run(
            [sys.executable, *program, "--help"], stdout=full, stderr=subprocess.PIPE, text=True,
            cwd=REPOSITORY, env=os.environ | {"PYTHONUNBUFFERED": unbuffered}, check=False,
        )  # fmt: skip
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.endswith(": standard output: No space left on device")


def test_all_problems_end_in_one_way():
    """By `run_command`, which tells when their output cannot be written."""
    for path in (REPOSITORY / "problems").glob("[a-z]*.py"):
        assert path.read_text().endswith("    sys.exit(run_command(main))\n"), path


@pytest.mark.skipif(os.name != "posix", reason="pipes of a shell")
def test_a_reader_that_stops_ends_the_help_of_a_problem_without_a_word():
    pipe = f'{sys.executable} -c "{HELP}" --help | true; exit ${{PIPESTATUS[0]}}'
    done = subprocess.run(["bash", "-c", pipe], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) in ((141, ""), (0, ""))  # 0 if the pipe took it all before its reader ended


@pytest.mark.skipif(not FULL.is_char_device(), reason="no device that is always full")
def test_output_that_nobody_reads():
    """A reader that is gone, a full disk, no standard output at all."""
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    program = f"{sys.executable} -m ocp_dyn info --help"
    for line in (f"set -o pipefail; {program} | true", f"{program} > /dev/full", f"{program} >&-"):
        done = subprocess.run(
            ["bash", "-c", line], cwd=REPOSITORY, env=buffered, capture_output=True, text=True, check=False
        )
        if line.endswith("full"):
            assert (done.returncode, done.stderr) == (1, "ocp-dyn: standard output: No space left on device\n")
        else:
            assert done.returncode in (0, 141)
            assert not done.stderr or line.endswith("-")  # argparse then takes the other stream


@pytest.mark.slow
def test_letters_that_a_terminal_has_not(tmp_path, capsys):
    builder = od.ModelBuilder("日本")
    builder.add_body("rod", od.Revolute("z"), mass=1)
    od.save_model(builder.build(), tmp_path / "model.json")
    ascii = {"env": {**os.environ, "PYTHONIOENCODING": "ascii"}, "cwd": REPOSITORY}
    shown = run("info", str(tmp_path / "model.json"), **ascii)
    assert shown.stdout.startswith(r"\u65e5\u672c: 1 bodies")
    assert main(["info", str(tmp_path / "model.json"), "--json"]) == 0
    told = capsys.readouterr().out
    assert told.isascii()
    assert json.loads(told)["name"] == "日本"


def test_without_standard_output_results_go_nowhere(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["info", "pendulum"]) == 0


@pytest.mark.slow
def test_ctrl_c_ends_a_walk_with_one_line(tmp_path):
    walk = subprocess.Popen(
        [*COMMAND, "walk", "--quick", "--out", str(tmp_path)],
        cwd=REPOSITORY,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    for line in walk.stderr:
        if "iteration" in line:
            break
    walk.send_signal(signal.SIGINT)
    out, err = walk.communicate(timeout=60)
    assert walk.returncode == 130
    assert err.endswith(f"interrupted; {tmp_path / 'walk.npz'} holds the best iterate\n")
    assert "Traceback" not in err
    assert not out
    assert [path.name for path in tmp_path.iterdir()] == ["walk.npz"]


# Completion


def completed(*words: str, cwd: Path) -> set[str]:
    """Completions of the last word in a real bash."""
    pytest.importorskip("shtab")
    typed = " ".join(f'"{word}"' for word in words)
    script = f"{completion.script('bash')}\nCOMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; _shtab_ocp_dyn"
    code = f'{script}; printf "%s\\n" "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "--norc", "-c", code], cwd=cwd, capture_output=True, text=True, check=True)
    assert not done.stderr
    return set(done.stdout.split("\n")) - {""}


@pytest.mark.slow
def test_bash_completes(tmp_path):
    (tmp_path / "my robot.urdf").touch()
    for words, found in {
        ("in",): {"info"},
        ("info", "five"): {"five_link_biped", "five_bar_pendulum"},
        ("info", "my"): {"my robot.urdf"},
        ("check", "my"): {"my robot.urdf"},
        ("export", "human", "--pre"): {"--prefix", "--precision"},
        ("export", "human", "--precision", ""): {"double", "single"},
        ("walk", "--out", "my"): {"my robot.urdf"},
        ("walk", "solo"): {"solo8", "solo12"},
        ("problems", "small.r"): {"small.rotor", "small.reach"},
        ("completion", ""): {"bash", "zsh", "fish"},
        ("--v",): {"--version"},
    }.items():
        got = completed("ocp-dyn", *words, cwd=tmp_path)
        assert found <= got, words
        assert all(name.startswith(words[-1]) for name in got)
    assert completed("ocp-dyn", "walk", "--out", "so", cwd=tmp_path) == set()  # files alone, no robots


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_scripts_for_other_shells_have_names_and_files(shell, capsys):
    pytest.importorskip("shtab")
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for words in completion.names().values():
        assert " ".join(words) in script
    if shutil.which(shell):
        done = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True, check=False)
        assert not done.stderr


def test_completion_says_what_it_needs(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 2
    assert 'pip install "ocp_dyn[completion]"' in capsys.readouterr().err
