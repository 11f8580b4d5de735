"""Results of an earlier run are not overwritten without a word."""

from pathlib import Path

import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.cli import main
from ocp_dyn.cli.examples import asked, finish, parser
from ocp_dyn.cli.reporting import Section, append_picture, save_report, sections_of
from ocp_dyn.cli.streams import claim
from ocp_dyn.cli.walk import folder_of
from ocp_dyn.gait.bodies import excessive_efforts
from ocp_dyn.native.provenance import provenance
from tests.ocp.workflows.test_convergence import turn


def run(out: Path, *words: str) -> int:
    """A problem's command, on the smallest problem."""
    options, problem = asked(parser("a wheel"), ["--out", str(out), "--quiet", *words], lambda _: turn(0.3))
    return finish(options, problem.solve(progress=False), dict, "A wheel turns")


@pytest.mark.slow
def test_a_second_run_is_refused_and_force_replaces_the_first(tmp_path, capsys):
    out = tmp_path / "walk"
    assert run(out) == 0
    made = {path.name for path in out.iterdir()}
    assert made == {"walk.npz", "report.md", "report.html", "motion.png", "strip.png", "walk.gif"}
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
    assert {path.name for path in out.iterdir()} == {"walk.npz", "report.md", "report.html", "own.txt"}
    assert "![" not in (out / "report.md").read_text()


@pytest.mark.slow
def test_quick_is_quick_unless_all_pictures_are_asked_for(tmp_path, capsys):
    pictures = {}
    for words in ((), ("--pictures",), ("--no-pictures",)):
        out = tmp_path / f"walk{words}"
        run(out, "--quick", *words)
        pictures[words] = {path.name for path in out.iterdir()} - {"walk.npz", "report.md", "report.html"}
    assert pictures[()] == {"strip.png"}
    assert pictures["--pictures",] == {"strip.png", "motion.png", "walk.gif"}
    assert pictures["--no-pictures",] == set()
    with pytest.raises(SystemExit):
        run(tmp_path, "--pictures", "--no-pictures")


def people_of(**values: float) -> od.ocp.Gait:
    return od.ocp.Gait("right", "a walk", {}, {}, {"speed_m_per_s": 1.3, "leg_length_m": 0.9, **values})


def test_the_report_has_sections_with_units_and_the_values_of_people():
    measured = {"center_of_mass_rise_m": 0.01, "stance_percent": 60.0, "heel_off_percent": 38.2}
    people = people_of(dimensionless_speed=0.44, push_off_moment_Nm_per_kg=9.0, **measured).expected()
    numbers = {
        "speed_m_per_s": 1.2999999, "stance_s": 0.61, "heel_off_percent_of_stride": 38.2, "center_of_mass_rise_m": 0.01,
        "iterations": 12, "gross_cost_J_per_kg_m": 3.36054, "status": "Solve_Succeeded", "hops": 3,
        "outside_measured_bands": "told by the column",
    }  # fmt: skip
    rows = {(s.title, row[0]): (s.head, row[1:]) for s in sections_of(numbers, people) for row in s.rows}
    assert rows["Steps", "speed"][1] == ("1.3", "m/s")
    assert rows["Times", "stance"][1][:2] in {("0.61", "s"), ("60", "%")}
    assert rows["Torques, work and energy", "gross cost"][1][:2] == ("3.3605", "J/(kg m)")
    assert rows["Solver", "iterations"] == (("figure", "value", "unit"), ("12", ""))
    assert rows["Result", "hops"][1] == ("3", "")
    rise = rows["Joints and body", "center of mass rise"][1]
    assert rise == ("**0.01**", "m", "0.0413 ± 0.0079", "Orendurff et al.")
    assert {name for _, name in rows}.isdisjoint({"outside measured bands"})
    assert rows["Torques, work and energy", "push off moment"][1][:2] == (
        "9",
        "N m/kg",
    )  # grows with the legs: not judged
    heel_off = [row for s in sections_of(numbers, people) for row in s.rows if row[0] == "heel off"]
    assert heel_off == [("heel off", "38.2", "% of the stride", "35.5 ± 2.2", "Perry & Burnfield")]
    assert rows["Torques, work and energy", "push off moment"][1][3].endswith(", children")


def test_the_report_of_a_browser_has_the_same_tables(tmp_path):
    sections = [Section("A < B", ("figure", "value"), [("x", "**2**")], "text & more", {"strip.png": "poses"})]
    save_report(tmp_path, "A title", sections, provenance())
    append_picture(tmp_path, "more.png")
    html, text = ((tmp_path / f"report.{kind}").read_text(encoding="utf-8") for kind in ("html", "md"))
    assert "<h2>A &lt; B</h2>" in html
    assert "<b>2</b>" in html
    assert "text &amp; more" in html
    assert html.index('src="strip.png"') < html.index('src="more.png"') < html.index("</body>")
    assert text.startswith("# A title\n\n## A < B\n\n| figure | value |\n| --- | --- |\n| x | **2** |\n\ntext & more\n")
    assert text.endswith("\n![more](more.png)\n")
    assert od.__version__ in text
    assert od.__version__ in html


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


@pytest.mark.slow
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
    follows = text.replace('effort="1000"', 'effort="9"').replace("</joint>", '<mimic joint="other"/></joint>')
    leg = '<link name="mate"/><joint name="other" type="revolute"><parent link="leg"/><child link="mate"/></joint>'
    (tmp_path / "pup.urdf").write_text(follows.replace("</robot>", leg + "</robot>"))
    assert main(["check", str(tmp_path / "pup.urdf")]) == 0
    assert "note: joint 'knee' mimics joint 'other': load with mimic=" in capsys.readouterr().out
    model = od.parse_urdf(text, root=od.FloatingBase())
    assert any("an effort of 1000 N m" in told for told in ocp.Problem(model, [ocp.Phase("fall", 2, 0.1)]).check())
    assert not excessive_efforts(model.with_limits(effort={"knee": 20.0}))
    assert not excessive_efforts(od.models.human())
    assert not excessive_efforts(od.parse_urdf(text, root=None))
