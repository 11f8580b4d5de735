"""The validation: its cases, the measured gaits it chooses, faults of a subject's file, report and status; one walk."""

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.walking import WalkCase as Case
from problems import validate

UNITS = ("hip flexion from trunk", "knee flexion", "ankle dorsiflexion", "vertical force", "forward force", "hip power")


def gait(speed=1.3, slope=0.0):
    figures = {"speed_m_per_s": speed, "slope": slope, "dimensionless_speed": speed / 3.01, "stride_frequency_Hz": 0.9,
               "swing_knee_peak_deg": 60.0, "leg_length_m": 0.92}  # fmt: skip
    events = {"opposite toe-off": 10.0, "opposite heel strike": 50.0, "toe-off": 60.0}
    return ocp.Gait("right", f"a walk at {speed}", dict.fromkeys(UNITS, np.zeros(101)), events, figures)


class Solved(SimpleNamespace):
    """A solution of a walk that takes no time to solve."""

    def gait(self):
        return gait(*self.case)

    components = ()
    model = od.models.human(73.0)

    def metabolic_rate(self, rate):
        """A cost per distance of 3 + (speed - 1.2)^2."""
        assert isinstance(rate, ocp.MetabolicRate)
        assert rate.tendons
        return SimpleNamespace(gross=self.case[0] * (3.0 + (self.case[0] - 1.2) ** 2))

    def save(self, path):
        path.write_text("saved")

    def plot(self, path, reference):
        path.write_text(", ".join(r.name for r in reference))


def maker(fails=(), never=()):
    """A maker of problems: the first try fails at the speeds `fails`, all tries at `never`. calls: (speed, slope,
    start)."""
    calls = []

    def make(speed):
        def solve(values, progress, interrupt, start=None):
            slope = round(float(np.tan(values["slope"])), 6)
            calls.append((speed, slope, None if start is None else start.case[0]))
            converged = speed not in never and (speed not in fails or start is not None)
            status = "Solve_Succeeded" if converged else "Infeasible_Problem_Detected"
            return Solved(
                case=(speed, slope), converged=converged, status=status, stats={"iterations": 7, "worst_row": "x"}
            )

        return SimpleNamespace(solve=solve, parameters=[ocp.Parameter("slope", 0.0)])

    return make, calls


def test_cases_begin_in_the_middle_and_slopes_come_last():
    found = od.walking.walk_cases((0.7, 1.3, 2.0), (-0.08, 0.0, 0.08), (0.8, 1.3))
    assert found[0] == Case(1.3)
    assert set(found[:3]) == {Case(0.7), Case(1.3), Case(2.0)}
    assert set(found[3:]) == {Case(v, s) for v in (0.8, 1.3) for s in (-0.08, 0.08)}
    assert found[3].speed == 1.3
    assert od.walking.walk_cases((1.0,), (0.08,), (1.3,)) == [Case(1.3, 0.08)]
    assert (Case(1.3).name, Case(0.8, -0.08).name) == ("walk_1.30", "walk_0.80_slope_-8")
    assert (Case(1.3).title, Case(0.8, 0.08).title) == ("1.30 m/s", "0.80 m/s, slope +8 %")


@pytest.mark.slow
def test_walks_by_muscles_stand_beside_electromyograms(tmp_path, capsys):
    assert validate.main(["--muscles", "--quick", "--quiet", "--no-pictures", "--json", "--speeds", "1.3", "--out",
                          str(tmp_path)]) == 0  # fmt: skip
    walk = json.loads(capsys.readouterr().out.splitlines()[-1])["walk_1.30"]
    soleus = walk["activity"]["soleus"]
    assert soleus["measured_percent"] == [[30, 60]]
    assert soleus["agreement"] > 0.6
    assert len(walk["activity"]) >= 8
    report = (tmp_path / "report.md").read_text()
    (line,) = (line for line in report.splitlines() if line.startswith("| soleus |"))
    assert f"| 30 to 60 | {soleus['active_percent'][0][0]} to" in line
    with pytest.raises(SystemExit):
        validate.main(["--muscles", "--slopes", "0.08"])
    assert "slopes must lie between 0 and 0" in capsys.readouterr().err


def test_bands_are_those_of_the_speed_on_level_ground():
    def names(*of, subject=None):
        return [r.name for r in od.walking.fitting_references(gait(*of), subject)]

    assert names(1.3) == ["Winter 1991", "Rajagopal 2016", "Schwartz 2008, free"]
    assert names(0.7) == ["Schwartz 2008, slow"]
    assert names(2.0) == ["Schwartz 2008, very fast"]
    assert names(1.3, 0.08) == []
    own = ocp.GaitReference("her", {})
    assert names(1.3, 0.08, subject=own) == ["her"]
    assert names(1.6, subject=own) == ["her", "Schwartz 2008, fast"]


def test_a_walk_that_is_not_found_starts_once_more_from_the_nearest_one():
    make, calls = maker(fails={2.0}, never={0.7})
    found = list(od.walking.validated_walks([Case(1.3), Case(1.1), Case(2.0), Case(0.7), Case(1.3, 0.08)], make))
    assert calls == [(1.3, 0.0, None), (1.1, 0.0, None), (2.0, 0.0, None), (2.0, 0.0, 1.3), (0.7, 0.0, None),
                     (0.7, 0.0, 1.1), (1.3, 0.08, None)]  # fmt: skip
    assert [w.solution.converged for w in found] == [True, True, True, False, True]
    assert [w.start for w in found] == [None, None, Case(1.3), None, None]
    assert found[3].gait is None
    assert len(found[0].comparisons) == 3
    assert {e.figure for e in found[4].gait.expected()} == {"stride_frequency_Hz", "metabolic_cost_J_per_kg_m"}
    numbers = od.walking.validation_numbers(found)
    assert (numbers["walks"], numbers["converged"]) == (5, 4)
    assert numbers["walk_2.00"]["own_guess"] is False
    assert "figures" not in numbers["walk_0.70"]
    assert numbers["walk_1.30"]["measured"][0]["figure"] == "stride_frequency_Hz"
    json.dumps(numbers, allow_nan=False)


def test_the_preferred_speed_is_that_of_the_least_cost_per_distance():
    make, _ = maker(never={0.7})
    found = list(od.walking.validated_walks([Case(v) for v in (1.6, 0.7, 1.0, 1.3, 2.0)] + [Case(1.3, 0.08)], make))
    assert od.walking.preferred_speed(found) == pytest.approx(1.2)
    assert od.walking.validation_numbers(found)["speed_of_least_metabolic_cost_m_per_s"] == pytest.approx(1.2)
    assert od.walking.preferred_speed(found[:1]) is None
    assert od.walking.preferred_speed([w for w in found if w.case.speed >= 1.3]) is None  # the slowest is the cheapest


@pytest.mark.slow
def test_the_report_has_all_walks_tables_and_sources(tmp_path):
    make, _ = maker(never={0.7})
    found = list(od.walking.validated_walks([Case(1.3), Case(2.0), Case(0.7), Case(1.3, 0.08), Case(1.0)], make))
    od.walking.write_validation(found, tmp_path / "report.md", "male, 73 kg, 1.741 m")
    text = (tmp_path / "report.md").read_text()
    assert "| 0.70 m/s | no: Infeasible_Problem_Detected | 7 |" in text
    assert "least at **1.20 m/s**" in text
    assert "### Winter 1991, adults at their natural cadence" in text
    winter = found[0].comparisons[0]["knee flexion"]
    assert f"| knee flexion [degrees] | {winter.rmse:.2g}, -, {winter.within:.0f} % |" in text
    assert "## 1.30 m/s, slope +8 %\n\n![all curves over the stride](walk_1.30_slope_+8.png)" in text
    assert "### Slope +8 %" in text
    assert "0.9; 0.894; +1 %" in text
    assert "- van der Zee et al., Scientific Data 9 (2022)" in text
    assert "- D. A. Winter" in text
    od.walking.plot_validation(found, tmp_path / "speeds.png")
    assert (tmp_path / "speeds.png").stat().st_size > 20_000


SUBJECT = """\
# name: subject 7
# mass: 61 kg
# stature: 1.66 m
# sex: female
# speed: 1.25 m/s
percent,knee flexion mean,knee flexion sd
""" + "\n".join(f"{k},{20 + 10 * np.sin(k / 16)},5" for k in range(0, 100, 5))  # fmt: skip


@pytest.mark.slow
def test_a_subject_walks_with_her_body_and_speed(tmp_path, monkeypatch, capsys):
    path = tmp_path / "subject.csv"
    path.write_text(SUBJECT)
    make, calls = maker()
    bodies = []

    def problem(speed, body, *, quick=False, **_):
        bodies.append(body)
        return make(speed)

    monkeypatch.setattr(validate, "problem", problem)
    out = tmp_path / "out"
    assert validate.main(["--data", str(path), "--out", str(out), "--json"]) == 0
    assert calls == [(1.25, 0.0, None)]
    assert bodies[-1] == {"mass": 61.0, "height": 1.66, "sex": "female"}
    assert (out / "walk_1.25.png").read_text() == "subject 7, Winter 1991, Rajagopal 2016, Schwartz 2008, free"
    assert "Held beside the subject **subject 7**" in (out / "report.md").read_text()
    printed = capsys.readouterr()
    assert "subject 7" in printed.out
    assert json.loads(printed.out.splitlines()[-1])["walk_1.25"]["curves"]["subject 7"]["knee_flexion_rmse"] > 10
    assert "1/1  1.25 m/s: 7 iterations" in printed.err
    assert validate.main(["--data", str(path), "--speeds", "1.0", "--slopes", "0", "--mass", "70", "--quiet"]) == 0
    assert (calls[-1], bodies[-1]["mass"]) == ((1.0, 0.0, None), 70.0)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (SUBJECT.replace("# speed: 1.25 m/s\n", ""), [], "the speed of the subject is missing: add a line '# speed:"),
        (SUBJECT.replace("flexion sd", "flexion std"), [], r"line 6: column 3: no curve 'knee flexion std'"),
        (SUBJECT, ["--speeds", "3"], "speed must lie between 0.5 and 2.2|speeds must lie between 0.5 and 2.2"),
        (SUBJECT.replace("61 kg", "610 kg"), [], "mass"),
        (SUBJECT, ["--slopes", "0.5"], "slopes must lie between -0.3 and 0.3"),
        (SUBJECT + "\n# slope: 0.5", [], r"slopes must lie between -0.3 and 0.3.* got 0.5"),
        (SUBJECT, ["--mass", "0"], "mass must lie between 20 and 250 kg"),
        (SUBJECT, ["--height", "0"], "height must lie between 1 and 2.3 m"),
    ],
)
def test_faults_of_the_file_and_of_the_options_end_in_one_message(tmp_path, capsys, text, options, message):
    path = tmp_path / "subject.csv"
    path.write_text(text)
    with pytest.raises(SystemExit) as ended:
        validate.main(["--data", str(path), *options])
    assert ended.value.code == 2
    assert re.search(message, capsys.readouterr().err)


def test_the_status_tells_whether_all_walks_were_found(monkeypatch, capsys):
    make, _ = maker(never={0.7})
    monkeypatch.setattr(validate, "problem", lambda speed, body, quick=False, **_: make(speed))
    assert validate.main(["--speeds", "0.7", "1.1", "--slopes", "0"]) == 1
    assert "NOT FOUND, Infeasible_Problem_Detected" in capsys.readouterr().err


@pytest.mark.slow
def test_an_interrupted_run_reports_what_was_found(monkeypatch, tmp_path):
    stopped = Solved(case=(1.1, 0.0), converged=False, status="Interrupted", stats={"iterations": 1})
    make = SimpleNamespace(solve=lambda **_: stopped, parameters=())
    monkeypatch.setattr(validate, "problem", lambda speed, body, quick=False, **_: make)
    assert validate.main(["--speeds", "1.1", "1.3", "--slopes", "0", "--out", str(tmp_path), "--quiet"]) == 130
    assert "Interrupted" in (tmp_path / "report.md").read_text()


@pytest.mark.slow
def test_a_walk_is_held_beside_measurements(motions, monkeypatch, tmp_path, capsys):
    slope = validate.problem(1.3, quick=True).parameters[-1]
    assert (slope.name, slope.value) == ("slope", 0.0)
    found = SimpleNamespace(solve=lambda **_: motions["human walk"], parameters=())
    monkeypatch.setattr(validate, "problem", lambda speed, body, quick, **_: found)
    code = validate.main(["--quick", "--speeds", "1.3", "--slopes", "0", "--out", str(tmp_path), "--json", "--quiet"])
    assert code == 0
    numbers = json.loads(capsys.readouterr().out.splitlines()[-1])["walk_1.30"]
    assert numbers["converged"]
    assert numbers["own_guess"]
    assert numbers["figures"]["speed_m_per_s"] == pytest.approx(1.3)
    assert 0.7 < numbers["figures"]["stride_frequency_Hz"] < 1.2
    assert {path.name for path in tmp_path.iterdir()} == {"report.md", "speeds.png", "walk_1.30.npz", "walk_1.30.png"}
    again = ocp.Solution.load(tmp_path / "walk_1.30.npz").gait("left")
    assert again.figures == pytest.approx({name: numbers["figures"][name] for name in again.figures}, rel=1e-6)
    assert numbers["figures"]["metabolic_rate_W_per_kg"] > 1
    # hip, knee and ankle turn the same way as those of people
    for curve in ("hip flexion from trunk", "knee flexion", "ankle dorsiflexion", "vertical force"):
        assert again.compare("winter")[curve].correlation > 0.5


def test_every_figure_and_curve_is_a_row_with_its_band(tmp_path):
    make, _ = maker(never={0.7})
    found = list(od.walking.validated_walks([Case(1.3), Case(0.7), Case(1.3, 0.08)], make))
    rows = {(o.what, o.source): o for o in od.walking.objections(found[0])}
    knee = found[0].comparisons[0]["knee flexion"]
    assert rows["knee flexion [degrees]", "Winter 1991"] == (
        "knee flexion [degrees]", f"RMSE {knee.rmse:.2g}", f"SD {knee.spread:.2g}", "Winter 1991", True
    )  # fmt: skip
    assert rows["vertical force [body weights]", "Rajagopal 2016"].outside is None
    swing = rows["swing knee peak deg", "Schwartz et al."]
    assert (swing.value, swing.outside) == ("60", False)
    assert swing.band.startswith("60.5 ± 9.")
    assert od.walking.objections(found[1]) == []
    od.walking.write_bodies({"a man": found, "nobody": found[1:2]}, tmp_path / "bodies.md")
    lines = (tmp_path / "bodies.md").read_text().splitlines()
    assert "| nobody | 0.70 m/s | no: Infeasible_Problem_Detected | 0 | 0 |  |" in lines
    man = next(line for line in lines if line.startswith("| a man | 1.30 m/s | yes |"))
    assert f"knee flexion [degrees] RMSE {knee.rmse:.2g} (SD {knee.spread:.2g})" in man
    assert "swing knee" not in man
    assert not any("slope" in line for line in lines)


@pytest.mark.slow
def test_bodies_have_lists_of_one_length_or_one_value_for_all(monkeypatch, tmp_path, capsys):
    bodies = []

    def problem(speed, body, *, quick=False, **_):
        bodies.append((body["mass"], body["height"], body["sex"]))
        return maker()[0](speed)

    monkeypatch.setattr(validate, "problem", problem)
    options = ["--mass", "55", "110", "--sex", "female", "male", "--speeds", "1.1", "--slopes", "0", "--quiet"]
    assert validate.main([*options, "--json", "--out", str(tmp_path)]) == 0
    assert set(bodies) == {(55.0, 1.741, "female"), (110.0, 1.741, "male")}
    names = {"female_55_1.741", "male_110_1.741"}
    assert {path.name for path in tmp_path.iterdir()} == names | {"bodies.md"}
    assert (tmp_path / "male_110_1.741" / "report.md").is_file()
    assert json.loads(capsys.readouterr().out.splitlines()[-1]).keys() == names | {"seconds"}
    with pytest.raises(SystemExit):
        validate.main([*options, "--height", "1.6", "1.7", "1.8"])
    assert "mass: give one value for all bodies, or 3" in capsys.readouterr().err
