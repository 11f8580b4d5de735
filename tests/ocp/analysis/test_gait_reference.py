"""Measured gaits: the tables that ship, faults of tables, agreement of curves and figures, pictures with bands."""

import csv
import re
from dataclasses import replace

import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.gait.compare import measured_figures
from ocp_dyn.gait.data import PERCENT, UNITS
from ocp_dyn.gait.reference import FOLDER, Curve, named_references

EVENTS = {"opposite toe-off": 10.0, "opposite heel strike": 50.0, "toe-off": 60.0}


def gait(**curves):
    """A gait of these curves, whose names have underscores for blanks; others are zero."""
    zero = np.zeros(101)
    named = {name.replace("_", " "): curve for name, curve in curves.items()}
    return ocp.Gait("right", "a walk", dict.fromkeys(UNITS, zero) | named, EVENTS, {"speed_m_per_s": 1.3})


def reference(**curves):
    found = {name.replace("_", " "): Curve(np.asarray(mean), np.full(101, sd)) for name, (mean, sd) in curves.items()}
    return ocp.GaitReference("people", found)


TABLE = """\
# name: subject 7
# A remark: with a colon, and numbers 1, 2
# speed: 1.25 m/s
# stature: 1.70
# cadence: 110 steps/min
# sex: female
percent,knee flexion mean,knee flexion sd,vertical force
0,4,1,0
10,8,1,0.5
20,16,,1
30,8,1,1
40,6,1,1
50,8,1,1
60,30,1,0
70,60,1,0
80,40,1,0
90,20,1,0
"""


def test_a_table_is_read(tmp_path):
    path = tmp_path / "subject.csv"
    path.write_text(TABLE)
    found = ocp.gait_reference(path)
    assert (found.name, found.sex, found.source) == ("subject 7", "female", "")
    assert dict(found.numbers) == {"speed": 1.25, "stature": 1.7, "cadence": 110}
    knee, force = found.curves["knee flexion"], found.curves["vertical force"]
    assert knee.mean[[0, 5, 10, 70]] == pytest.approx([4, 6, 8, 60])
    assert knee.mean[[95, 100]] == pytest.approx([12, 4])  # closes at its first point
    assert force.mean[[5, 95, 100]] == pytest.approx([0.25, 0, 0])  # a force does not
    assert knee.sd == pytest.approx(1.0)  # the empty cell lies on a line
    assert np.isnan(force.sd).all()
    assert ocp.gait_reference(found) is found
    assert repr(found) == "GaitReference 'subject 7': knee flexion, vertical force"


@pytest.mark.parametrize(
    ("old", "new", "line", "text"),
    [
        ("percent,knee", "time,knee", 7, "the first column must be 'percent', got 'time'"),
        ("knee flexion mean", "knee flexon mean", 7, r"column 2: no curve 'knee flexon'.*knee flexion"),
        ("knee flexion mean,", "", 7, "'knee flexion sd' has no column 'knee flexion mean' beside it: add it"),
        (",vertical force", ",knee flexion mean", 7, "column 4: 'knee flexion mean' stands there twice"),
        ("# stature: 1.70", "# stature: tall", 4, r"stature must be a number of m, got 'tall'"),
        ("# stature: 1.70", "# stature: 170 cm", 4, r"stature is given in m, got '170 cm': convert it"),
        ("# stature: 1.70", "# statur: 1.70", 4, r"no key 'statur' is known.*stature"),
        ("# speed: 1.25 m/s", "# speed: -1 m/s", 3, "speed must be positive and finite"),
        ("female", "f", 0, "sex must be male or female, got 'f'"),
        ("# sex: female", "# slope: 8", 0, "such as 0.08 for 8 %, got 8"),
        ("10,8,1,0.5", "10,8,1", 9, "3 cells in this line, 4 names of columns"),
        ("10,8,1,0.5", "10,8,1,high", 9, "column 4: not a number: 'high': leave unknown cells empty"),
        ("10,8,1,0.5", '10,8,1,"0,5"', 9, "column 4: not a number: '0,5': write numbers with a point"),
        ("20,16,,1", "5,16,,1", 10, "percent must ascend, got 5 after 10"),
        ("0,4,1,0\n", "2,4,1,0\n", 8, "percent must begin at 0, the heel strike, got 2"),
        ("90,20,1,0", "120,20,1,0", 17, "percent must end near 100, got 120"),
        ("# stature: 1.70", "# height: 1.70", 4, "no key 'height' is known: did you mean 'stature'"),
        ("# stature: 1.70", "# Step width: 0.1 m", 4, "no key 'Step width' is known: did you mean 'step_width'"),
        ("# stature: 1.70", "# speed: 1.3 m/s", 4, "speed stands there twice"),
        ("# stature: 1.70", "# slope: 8 %", 4, "slope is given without a unit, got '8 %'"),
        ("percent,knee", "percent;knee", 7, "separate columns by commas"),
        ("vertical force", "", 7, "column 4 has no name: remove it"),
        ("10,8,1,0.5", "10,8,-1,0.5", 9, "'knee flexion sd' must not be negative, got -1"),
        ("10,8,1,0.5", "10,inf,1,0.5", 9, "'knee flexion' must be finite"),
        ("10,8,1,0.5", "10,8,inf,0.5", 9, "'knee flexion' must be finite"),
        ("10,8,1,0.5", "10,8,1,-700", 7, "'vertical force' is in body weights, got -700: convert the column"),
        ("10,8,1,0.5", "10,,1,0.5", 7, "'knee flexion' has no numbers between 0 and 20 %"),
        ("20,16,,1", "20,16,1,", 7, "'vertical force' has no numbers between 10 and 30 %"),
        ("30,8,1,1\n", "", 10, "20 % of the stride are missing after 20 %: add points"),
        ("90,20,1,0\n", "", 16, "20 % of the stride are missing after 80 %: add points"),
    ],
)
def test_faults_of_a_table_are_told_with_line_and_remedy(tmp_path, old, new, line, text):
    assert TABLE.count(old) == 1
    path = tmp_path / "subject.csv"
    path.write_text(TABLE.replace(old, new))
    with pytest.raises(ValueError, match=r"subject.csv: \d+ fault") as caught:
        ocp.gait_reference(str(path))
    where = f"  line {line}: " if line else "  "
    told = [fault for fault in str(caught.value).splitlines()[1:] if fault.startswith(where)]
    assert any(re.search(text, fault) for fault in told), str(caught.value)


def test_all_faults_are_told_at_once(tmp_path):
    path = tmp_path / "subject.csv"
    path.write_text(TABLE.replace("40,6,1,1", "40,x,1,1").replace("1.70", "0").replace("50,8,1,1", "50,8"))
    with pytest.raises(ValueError, match=r"3 faults in the table:\n  line 4: .*\n  line 12: .*\n  line 13: "):
        ocp.gait_reference(path)
    path.write_text("\n".join(TABLE.splitlines()[:7] + [f"{k},x,1,1" for k in range(0, 100, 4)]))
    with pytest.raises(ValueError, match=r"25 faults in the table(.*\n){20}.*\n  ... and 5 more"):
        ocp.gait_reference(path)
    path.write_text("# mass: 70 kg\n")
    with pytest.raises(ValueError, match="there is no table: a line with the names of columns"):
        ocp.gait_reference(path)
    path.write_text("percent\n" + "\n".join(map(str, range(0, 100, 5))))
    with pytest.raises(ValueError, match="line 1: there is no curve beside percent; there are hip flexion"):
        ocp.gait_reference(path)
    path.write_text(TABLE.replace(",1,", ",,"))
    assert np.isnan(ocp.gait_reference(path).curves["knee flexion"].sd).all()
    path.write_bytes(TABLE.encode("utf-16"))
    with pytest.raises(ValueError, match="not a text in UTF-8"):
        ocp.gait_reference(path)
    with pytest.raises(KeyError, match=r"no measured gait 'winer'.*winter"):
        ocp.gait_reference("winer")
    with pytest.raises(FileNotFoundError):
        ocp.gait_reference(tmp_path / "none.csv")


def test_the_tables_that_ship():
    assert len(named_references()) == 7
    for name in named_references():
        found = ocp.gait_reference(name)
        assert found.source
        assert found.subjects
        for curve, (mean, sd) in found.curves.items():
            assert np.isfinite(mean).all(), (name, curve)
            assert (sd >= 0).all() or name == "rajagopal", (name, curve)  # one person has no deviation
    winter = ocp.gait_reference("winter")
    assert winter.numbers["speed"] == 1.325
    assert winter.curves["knee flexion"].mean[[0, 14, 72]] == pytest.approx([3.97, 21.67, 64.86])
    assert winter.curves["vertical force"].sd[14] == pytest.approx(0.075)
    free = ocp.gait_reference("schwartz_free")
    assert free.curves["ankle plantar flexion moment"].mean.max() == pytest.approx(1.23, abs=0.01)
    assert free.curves["ankle power"].mean.argmax() == 54
    assert free.numbers["dimensionless_speed"] == pytest.approx(0.429, abs=1e-3)
    with (FOLDER / "speeds.csv").open(newline="") as file:
        assert all(row["source"] for row in csv.DictReader(file))


def test_agreement_of_curves():
    sine = np.sin(2 * np.pi * PERCENT / 100)
    found = gait(knee_flexion=2 * sine + 1).compare(reference(knee_flexion=(2 * sine, 0.6)))["knee flexion"]
    assert found.rmse == pytest.approx(1.0)
    assert found.offset == pytest.approx(1.0)
    assert found.correlation == pytest.approx(1.0)
    assert found.within == pytest.approx(100.0)
    assert found.unit == "degrees"
    found = gait(knee_flexion=-sine).compare(reference(knee_flexion=(sine, 0.5)))["knee flexion"]
    assert found.correlation == pytest.approx(-1.0)
    assert found.rmse == pytest.approx(np.sqrt(np.mean((2 * sine) ** 2)))
    assert found.within == pytest.approx(100 * np.mean(np.abs(2 * sine) <= 1.0))
    unknown = gait().compare(reference(knee_flexion=(sine, np.nan)))["knee flexion"]
    assert np.isnan(unknown.within)
    assert np.isnan(unknown.correlation)  # the walk's knee is constant


def test_forces_are_compared_while_one_of_the_feet_is_on_the_ground():
    on = (PERCENT <= 62).astype(float)
    walk = gait(vertical_force=(PERCENT <= 60).astype(float))
    found = walk.compare(reference(vertical_force=(on, 0.1)))["vertical force"]
    assert found.rmse == pytest.approx(np.sqrt(2 / 63))
    assert found.within == pytest.approx(100 * 61 / 63)
    pressure = np.where(PERCENT <= 60, 0.5, np.nan)
    found = gait(center_of_pressure_along=pressure).compare(reference(center_of_pressure_along=(on, 0.1)))
    assert found["center of pressure along"].rmse == pytest.approx(0.5)
    with pytest.raises(KeyError, match="no curve 'hip power' is in both; there are center of pressure along"):
        found["hip power"]


def test_figures_of_people_are_interpolated_at_the_speed_and_the_slope():
    def at(speed, slope=0.0, **others):
        walk = replace(gait(), figures={"speed_m_per_s": speed, "slope": slope, "stride_frequency_Hz": 0.9} | others)
        return {e.source.split()[0]: e for e in walk.expected() if e.figure == "stride_frequency_Hz"}

    assert at(1.0)["van"].mean == pytest.approx((0.74 + 0.836) / 2)
    assert at(1.0)["van"].deviation == pytest.approx(100 * (0.9 / 0.788 - 1))
    assert at(1.3)["Koelewijn"].sd == pytest.approx(0.046)
    assert np.isnan(at(1.0)["van"].sd)
    assert set(at(1.3, 0.08)) == {"Koelewijn"}
    assert at(1.3, 0.08)["Koelewijn"].mean == pytest.approx(0.894)
    assert at(1.3, -0.08)["Koelewijn"].mean == pytest.approx(0.952)
    assert "Jordan" not in at(2.0)
    assert at(2.1)["van"].mean == pytest.approx(1.107)
    assert at(3.0) == {}
    assert at(1.3, 0.04) == {}
    assert at(1.0, leg_length_m=0.76).keys() == at(1.0, double_support_percent=20.0).keys() == at(1.0).keys()
    assert at(1.0, leg_length_m=0.6) == {}  # of a child
    assert at(1.3, double_support_percent=0.0) == {}  # of a run
    walk = replace(gait(), figures={"speed_m_per_s": 1.3, "step_width_leg_lengths": 0.12, "dimensionless_speed": 0.43,
                                    "swing_knee_peak_deg": 60.0})  # fmt: skip
    child = replace(walk, figures=walk.figures | {"leg_length_m": 0.6})
    assert child.expected() == walk.expected()  # these depend on the dimensionless speed, or on none
    found = {e.figure: e for e in walk.expected()}
    assert found["step_width_leg_lengths"].mean == 0.13
    assert found["swing_knee_peak_deg"].mean == pytest.approx(60.46, abs=0.1)
    assert found["swing_knee_peak_deg"].sd == pytest.approx(4.8, abs=0.1)
    assert {line.quantity for line in measured_figures()} > {"metabolic_cost_J_per_kg_m", "double_support_percent"}


def test_figures_outside_the_bands_are_named():
    """Two standard deviations beyond every source that tells one."""
    figures = {"speed_m_per_s": 0.7, "slope": 0.0, "leg_length_m": 0.92, "dimensionless_speed": 0.2902}
    walk = replace(gait(), figures=figures | {"center_of_mass_rise_m": 0.0274 + 0.0105, "stance_percent": 65.9})
    assert [e.figure for e in walk.outside()] == ["center_of_mass_rise_m"]
    assert walk.outside()[0].line == "center of mass rise m 0.0379 (people 0.0274 ± 0.0052)"
    assert "outside the measured band: center of mass rise m 0.0379" in str(walk)
    near = replace(walk, figures=walk.figures | {"center_of_mass_rise_m": 0.0274 - 0.0103})
    assert near.outside() == []
    assert "outside" not in str(near)
    strong = replace(near, figures=near.figures | {"push_off_moment_Nm_per_kg": 3.0})
    assert strong.outside() == []  # those of children do not judge adults
    steep = replace(walk, figures=walk.figures | {"slope": 0.08})
    assert steep.outside() == []
    events = replace(gait(), events=EVENTS | {"heel-off": 25.0}, figures={"dimensionless_speed": 0.43, "slope": 0.0})
    assert [e.figure for e in events.outside()] == ["heel_off_percent"]  # 10 % of the opposite foot is inside


def test_metabolic_costs_of_people_are_per_distance():
    """A walk at 1.3 m/s needs more power than one at 0.8 m/s, and some 3 to 5 W/kg; the article has J/kg/m."""
    level = [m for m in measured_figures() if m.quantity == "metabolic_cost_J_per_kg_m" and m.slope == 0]
    for source in {m.source for m in level}:
        rates = [m.mean * m.speed for m in sorted(level, key=lambda m: m.speed) if m.source == source]
        assert 2 < rates[0] < 3 < rates[-1] < 6, source


def test_a_comparison_as_text_and_numbers():
    own = replace(reference(knee_flexion=(np.zeros(101), 1.0)), numbers={"cadence": 100.0}, subjects="five people")
    walk = replace(gait(knee_flexion=np.full(101, 0.5)), figures={"cadence_steps_per_min": 110.0, "slope": 0.0})
    found = walk.compare(own)
    assert found.numbers() == {
        "knee_flexion_rmse": 0.5,
        "knee_flexion_offset": 0.5,
        "knee_flexion_within_2_sd_percent": 100.0,
    }
    assert found.figures[0].deviation == pytest.approx(10)
    lines = str(found).splitlines()
    assert lines[0] == "a walk, beside people, five people"
    assert lines[3].split() == ["knee", "flexion", "0.5", "degrees", "+0.5", "-", "100"]
    assert lines[6].split() == ["cadence", "steps", "per", "min", "110", "100", "+10", "%", "people"]
    assert "knee flexion" in found._card_html()
    assert repr(found) == "GaitComparison of 'a walk' with 'people, five people': 1 curves"


def test_a_gait_becomes_a_table_that_can_be_read_again(tmp_path):
    walk = replace(gait(knee_flexion=PERCENT * 0.1, center_of_pressure_along=np.where(PERCENT < 60, 0.3, np.nan)),
                   figures={"speed_m_per_s": 1.3, "slope": -0.05, "step_width_m": 0.1})  # fmt: skip
    again = ocp.gait_reference(walk.to_csv(tmp_path / "new" / "walk.csv"))
    assert dict(again.numbers) == {"speed": 1.3, "slope": -0.05, "step_width": 0.1}
    assert set(again.curves) == set(walk.curves)
    assert again.curves["knee flexion"].mean == pytest.approx(PERCENT * 0.1)


@pytest.mark.slow
def test_pictures_show_curves_over_bands(tmp_path):
    walk = gait(knee_flexion=30 * np.sin(np.pi * PERCENT / 100) ** 2)
    figure = walk.plot(tmp_path / "walk.png", reference=["winter", "schwartz_free"], quantities=("angles", "moments"))
    assert (tmp_path / "walk.png").stat().st_size > 10_000
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["hip flexion from trunk", "knee flexion", "ankle dorsiflexion", "hip extension moment",
                      "knee extension moment", "ankle plantar flexion moment"]  # fmt: skip
    knee = figure.axes[1]
    bands = [c for c in knee.collections if c.get_label().startswith("_") and len(c.get_paths()[0].vertices) > 100]
    assert len(bands) == 2
    low, high = bands[0].get_paths()[0].vertices[:, 1].min(), bands[0].get_paths()[0].vertices[:, 1].max()
    winter = ocp.gait_reference("winter").curves["knee flexion"]
    assert low == pytest.approx((winter.mean - 2 * winter.sd).min())
    assert high == pytest.approx((winter.mean + 2 * winter.sd).max())
    assert any(text.get_text().startswith("RMSE") for text in knee.texts)
    assert any("D. A. Winter" in text.get_text() for text in figure.texts)
    assert len(walk.plot(quantities="forces").axes) == 3
    with pytest.raises(ValueError, match="quantities must be some of angles"):
        walk.plot(quantities=("angle",))


def test_a_single_measured_curve_has_a_line_and_no_band():
    walk = gait()
    figure = walk.plot(reference=reference(knee_flexion=(PERCENT, np.nan)), quantities="angles")
    knee = figure.axes[1]
    assert [len(line.get_xdata()) for line in knee.lines if len(line.get_xdata()) == 101] == [101, 101]
    assert any("people: measured" in text.get_text() for text in figure.texts)


def test_plot_of_a_solution_takes_quantities_only_beside_a_reference():
    builder = od.ModelBuilder("wheel")
    builder.add_body("rim", od.Revolute("z"), mass=1, inertia=(1, 1, 1))
    wheel = ocp.Problem(builder.build(), [ocp.Phase("turn", 2, 1.0)]).solve(progress=False)
    for draw in (wheel.plot, lambda *a, **o: od.viz.plot(wheel, *a, **o)):
        with pytest.raises(TypeError, match="takes quantities as its only option, got 'joints'"):
            draw(reference="winter", joints=["legs"])
        with pytest.raises(ValueError, match="needs a periodic motion"):
            draw(reference="winter")
