"""Several walks in one figure, differences, use of strength; figures that fit a page."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.text import Text

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.gait.data import POSITIVE, UNITS
from ocp_dyn.ocp.motion.strength_use import strength_use
from ocp_dyn.viz.print_layout import latex, reflow
from tests.ocp.workflows.test_convergence import turn

KNEE, HIP = "knee flexion", "hip flexion"


def gait(name, knee, **curves):
    found = {KNEE: np.full(101, knee)} | {key: np.full(101, x) for key, x in curves.items()}
    return ocp.Gait("right", name, found, {"toe-off": 60.0}, {"speed_m_per_s": 1.2}, kind="simulated")


HEALTHY, WEAK = gait("healthy", 5.0, **{HIP: 10.0}), gait("weak", 8.0)


def texts(figure):
    return [text.get_text() for text in figure.findobj(Text)]


def line(axes, name):
    (found,) = [one for one in axes.lines if one.get_label() == name]
    return found


def test_every_curve_tells_what_is_positive():
    assert set(POSITIVE) == set(UNITS)


def test_two_walks_in_one_figure():
    figure = od.viz.plot({"healthy": HEALTHY, "weak": WEAK, "people": "winter"}, quantities=["angles"])
    hip, knee, ankle = figure.axes
    assert [axes.get_title(loc="left") for axes in figure.axes] == [HIP, KNEE, "ankle dorsiflexion"]
    assert knee.get_ylabel() == "degrees (+ flexion)"
    assert [line(knee, name).get_ydata()[0] for name in ("healthy", "weak")] == [5.0, 8.0]
    assert line(knee, "healthy").get_color() != line(knee, "weak").get_color()
    assert len(knee.collections) == 1  # the band of the people
    assert [one.get_label() for one in hip.lines if one.get_label() in ("healthy", "weak", "people")] == ["healthy"]
    assert "● people" in texts(figure)
    mean = ocp.gait_reference("winter").curves[KNEE].mean
    np.testing.assert_array_equal(line(knee, "people").get_ydata(), mean)
    assert ankle.collections


def test_a_group_of_walks_is_a_mean_with_a_band_a_table_and_a_curve_by_its_name(tmp_path):
    group = [HEALTHY, WEAK, gait("third", 11.0)]
    figure = od.viz.plot({"all": group, "weak": [WEAK]}, quantities=[KNEE])
    (knee,) = figure.axes
    assert line(knee, "all").get_ydata()[0] == 8.0
    (band,) = knee.collections  # one walk has none
    heights = band.get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == (8 - 2 * 3.0, 8 + 2 * 3.0)
    assert [one.get_xdata()[0] for one in knee.lines if one.get_label().startswith("_child")].count(60.0) == 2
    mean = ocp.gait_reference(group)
    assert (mean.name, mean.kind, mean.numbers, [*mean.curves]) == (
        "mean of 3 gaits",
        "simulated",
        {"speed": 1.2},
        [KNEE],
    )
    frame = mean.to_dataframe()
    assert frame.loc[50.0].to_dict() == {f"{KNEE} mean": 8.0, f"{KNEE} sd": 3.0}
    assert frame.attrs["units"] == dict.fromkeys(frame.columns, "degrees")
    again = ocp.gait_reference(mean.to_csv(tmp_path / "mean.csv"))
    np.testing.assert_array_equal(again.curves[KNEE], mean.curves[KNEE])
    assert (again.name, again.numbers) == (mean.name, mean.numbers)
    rows = od.viz.plot(
        {"weak": WEAK, "people": "schwartz_free"}, quantities=["forces", "knee power", "knee extension moment"]
    )
    titles = [axes.get_title(loc="left") for axes in rows.axes]
    assert titles == ["vertical force", "forward force", "knee power", "knee extension moment"]
    failed = replace(WEAK, title="NOT CONVERGED: weak", mark="NOT CONVERGED")
    assert ocp.gait_reference([HEALTHY, failed]).name == "NOT CONVERGED: mean of 2 gaits"
    assert "NOT CONVERGED" in texts(od.viz.plot({"all": [HEALTHY, failed]}, quantities=[KNEE]))
    with pytest.raises(ValueError, match="empty list"):
        ocp.gait_reference([])
    with pytest.raises(ValueError, match="no curve is known of all"):
        ocp.gait_reference([WEAK, ocp.Gait("right", "hip", {HIP: np.zeros(101)}, {}, {})])
    with pytest.raises(TypeError, match=r"takes no joints.*knee extension moment"):
        od.viz.plot({"weak": WEAK}, joints=["knee"])


def test_differences_from_the_first_walk():
    figure = od.viz.plot_differences({"healthy": HEALTHY, "weak": WEAK}, quantities=["angles"])
    assert [axes.get_title(loc="left") for axes in figure.axes] == [KNEE]
    assert line(figure.axes[0], "weak").get_ydata()[50] == 3.0
    assert "difference from healthy" in texts(figure)
    banded = od.viz.plot_differences({"people": "winter", "weak": WEAK}, quantities=["angles"])
    (band,) = banded.axes[0].collections
    sd = ocp.gait_reference("winter").curves[KNEE].sd
    assert band.get_paths()[0].vertices[:, 1].max() == pytest.approx(2 * sd.max())
    with pytest.raises(ValueError, match="needs two walks or more"):
        od.viz.plot_differences({"healthy": HEALTHY})
    with pytest.raises(ValueError, match="no curve in common"):
        od.viz.plot_differences({"weak": WEAK, "hip": ocp.Gait("right", "hip", {HIP: np.zeros(101)}, {}, {})})


def test_errors_of_several_walks():
    with pytest.raises(TypeError, match="walks are given by name"):
        od.viz.plot_gaits([HEALTHY, WEAK])
    with pytest.raises(ValueError, match="1 to 6 walks"):
        od.viz.plot({})
    with pytest.raises(ValueError, match="'wheel' is no walk"):
        od.viz.plot({"wheel": turn(0.3).solve(progress=False)})
    with pytest.raises(KeyError, match="did you mean 'winter'"):
        od.viz.plot({"people": "wintr"})


def test_a_gait_is_a_reference_and_is_not_called_measured(tmp_path):
    found = ocp.gait_reference(WEAK)
    assert (found.name, found.kind, found.numbers["speed"]) == ("weak", "simulated", 1.2)
    np.testing.assert_array_equal(found.curves[KNEE].mean, 8.0)
    assert np.isnan(found.curves[KNEE].sd).all()
    again = ocp.gait_reference(WEAK.to_csv(tmp_path / "weak.csv"))
    assert (again.name, again.kind) == ("weak", "simulated")
    figure = HEALTHY.plot(reference=WEAK, quantities=["angles"])
    assert "weak: simulated" in texts(figure)
    assert not any("measured" in text for text in texts(figure))
    assert any("RMSE 3" in text for text in texts(figure))


# Use of strength


def pair() -> od.Model:
    builder = od.ModelBuilder("pair")
    for name in ("left", "right"):
        builder.add_body(f"{name}_body", od.Revolute("z"), joint_name=name, mass=1, inertia=(0.5, 0.5, 1))
    return builder.build()


@pytest.mark.parametrize(
    ("events", "shaded"),
    [({"opposite toe-off": 10.0, "opposite heel strike": 50.0}, 2), ({"opposite heel strike": 50.0}, 1), ({}, 0)],
)
@pytest.mark.slow
def test_double_support_is_shaded_as_far_as_it_is_known(events, shaded):
    walk = replace(HEALTHY, events=HEALTHY.events | events)
    made = walk.plot(quantities=["angles"])
    assert len(made.axes[0].patches) == shaded
    assert ("double support" in [text.get_text() for text in made.texts]) == bool(shaded)


@pytest.mark.slow
def test_the_largest_use_of_strength():
    builder = od.ModelBuilder("two")
    for name in ("knee_l", "knee_r", "free"):
        builder.add_body(name, od.Revolute("z"), joint_name=f"{name}_joint", mass=1, inertia=(0.5, 0.5, 1))
    model = builder.build().with_limits(effort={"knee_l_joint": 8.0, "knee_r_joint": [(-12.0, 50.0)]})
    ends = [ocp.Rest([0.0] * 3), ocp.Rest([1.0, 0.5, 0.2], where="end")]
    phase = ocp.Phase("turn", 10, 1.0, objective=[ocp.TorqueSquared()])
    found = ocp.Problem(model, [phase], boundary=ends).solve(progress=False, check=True)
    used = found.strength_use()
    shares = {one.dof: one.share for one in used}
    tau = found.tau
    assert shares["knee_l_joint"] == pytest.approx(np.abs(tau[:, 0]).max() / 8.0)
    assert shares["knee_r_joint"] == pytest.approx(max(tau[:, 1].max() / 50.0, -tau[:, 1].min() / 12.0))
    assert "free_joint" not in shares
    assert [one.share for one in used] == sorted(shares.values(), reverse=True)
    assert used.line.startswith("knee_l_joint ")
    assert ("use of strength", used.line) in found.summary(defects=False).rows()
    assert found.summary(defects=False).numbers()["largest_use_of_strength"] == used[0].share
    figure = od.viz.plot_strength(found, most=1)
    assert [bar.get_width() for bar in figure.axes[0].patches] == [pytest.approx(100 * used[0].share)]
    with pytest.raises(ValueError, match="no joint of this motion"):
        od.viz.plot_strength(replace(found, model=model.with_limits(effort=np.inf)))
    with pytest.raises(TypeError, match="plot_strength needs a solved motion"):
        od.viz.plot_strength([1])


@pytest.mark.slow
def test_both_steps_of_a_mirrored_stride_count(motions):
    walk = motions["human walk"]
    entries = {entry.dof: entry for entry in strength_use(walk)}
    assert entries.keys() >= {"knee_l", "hip_l.rx"}
    for dof, entry in entries.items():
        partner, sign = walk.mirror().images[dof]
        other = entries[partner]
        assert other.share == entry.share, dof
        if partner != dof:
            assert other.torque == sign * entry.torque, dof
    assert " and " in strength_use(walk).line.split(",")[0]
    assert max(entry.time for entry in entries.values()) > walk.duration


def test_use_of_strength_that_depends_on_angle_and_speed(tmp_path):
    """A hard and a soft `TorqueCapacity`, and the limits of the model, whichever is smallest; also from a file."""
    model = pair().with_limits(effort={"left": 8.0, "right": 50.0})
    falling = ocp.TorqueCapacity({"right": (None, lambda q, qd: 9.0 - 4 * q - 2 * qd)})
    weak = ocp.TorqueCapacity({"left": (lambda q, qd: 6.0 + q, None)})
    phase = ocp.Phase("turn", 10, 1.0, objective=[ocp.TorqueSquared(), ocp.Soft(weak)], path=[falling])
    ends = [ocp.Rest([0.0] * 2), ocp.Rest([0.8, 0.5], where="end")]
    found = ocp.Problem(model, [phase], boundary=ends).solve(progress=False, check=True)
    (q, qd), tau = (((x[1:] + x[:-1]) / 2).T for x in (found.q, found.qd)), found.tau.T
    right = np.where(tau[1] > 0, tau[1] / (9.0 - 4 * q[1] - 2 * qd[1]), -tau[1] / 50.0).max()
    left = np.where(tau[0] > 0, tau[0] / 8.0, -tau[0] / np.minimum(8.0, 6.0 + q[0])).max()
    again = ocp.Solution.load(found.save(tmp_path / "turn.npz"))
    for used in (found.strength_use(), again.strength_use(), found.summary(defects=False).strength):
        assert {one.dof: one.share for one in used} == pytest.approx({"left": left, "right": right})


# Pages


def test_panels_flow_into_the_width():
    assert reflow([[1, 2, 3], [4, 5, 6]], 3) == [[1, 2, 3], [4, 5, 6]]
    assert reflow([[1, 2, 3], [4, 5, 6]], 2) == [[1, 4], [2, 5], [3, 6]]  # a column for each row
    assert reflow([[1, 2, 3], [4, 5]], 2) == [[1, 2], [3, 4], [5]]
    assert reflow([[1, 2, 3], [4, 5, 6]], 1) == [[1], [2], [3], [4], [5], [6]]


@pytest.mark.parametrize("style", ["paper", "latex"])
@pytest.mark.slow
def test_a_figure_of_a_paper_has_its_width_and_embedded_type(style, tmp_path):
    solution = turn(0.3).solve(progress=False)
    path = tmp_path / "turn.pdf"
    figure = solution.plot(path, width=3.4, style=style)
    assert figure.get_size_inches()[0] == pytest.approx(3.4)
    assert len({round(axes.get_position().x0, 3) for axes in figure.axes}) == 2
    assert not any("wheel" in text for text in texts(figure))  # the caption has the title
    data = path.read_bytes()
    assert b"/CIDFontType2" in data
    assert b"/Type3" not in data
    label = figure.axes[0].get_ylabel()
    assert label == ("degrees (+ about z)" if style == "paper" else r"[$^\circ$] (+ about z)")
    sizes = [axes.yaxis.label.get_fontsize() for axes in figure.axes]
    assert min(sizes) >= 5.0
    assert max(sizes) < 8.0
    for axes in figure.axes:
        box = axes.get_tightbbox(figure.canvas.get_renderer())
        assert 0 <= box.x0
        assert box.x1 <= figure.bbox.width


def test_widths_and_styles_that_are_wrong():
    solution = turn(0.3).solve(progress=False)
    with pytest.raises(ValueError, match="style must be one of screen, paper, latex"):
        solution.plot(style="papr")
    with pytest.raises(ValueError, match="width \\[inches\\] must be"):
        solution.plot(width=0.1)
    figure = od.viz.plot({"a": HEALTHY}, width=7, style="paper")
    assert figure.get_size_inches()[0] == pytest.approx(7)
    assert figure.axes[-1].get_position().x1 > 0.9  # two panels share the width
    assert figure.axes[-1].get_xlabel() == "stride of the right leg [%]"


def test_labels_in_latex():
    assert latex("N m (+ extension)") == r"[$\mathrm{N\,m}$] (+ extension)"
    assert latex("N m/kg (+ extension)") == r"[$\mathrm{N\,m/kg}$] (+ extension)"
    assert latex("m (+ along x)") == r"[$\mathrm{m}$] (+ along x)"
    assert latex("degrees/s") == r"[$^\circ\!/\mathrm{s}$]"
    assert latex("gait cycle [%]") == r"gait cycle [$\%$]"
    assert latex("cm from the heel") == "cm from the heel"


def test_captions_stand_under_the_poses_of_what_does_not_walk():
    """A pendulum that swings to one side hangs from even places; no caption is cut off."""
    phase = ocp.Phase("swing", 6, 0.5, objective=[ocp.TorqueSquared()])
    problem = ocp.Problem(od.models.pendulum(), [phase], boundary=[ocp.Rest([0.2]), ocp.At([0.8], "end")])
    solution = problem.solve(progress=False)
    narrow = od.viz.stick_figure(solution, width=3.4)
    assert narrow.get_size_inches()[0] == pytest.approx(3.4)
    assert not narrow.texts  # a caption has the title
    assert_captions_are_inside(narrow)
    assert_captions_are_inside(od.viz.stick_figure(solution))


def assert_captions_are_inside(figure):
    figure.canvas.draw()
    (axes,) = figure.axes
    captions = [text for text in axes.texts if text.get_text().endswith(" s")]
    places = [text.get_position()[0] for text in captions]
    assert len(captions) >= 2
    assert np.diff(places, 2) == pytest.approx(0, abs=1e-9)
    for text in captions:
        extent = text.get_window_extent().transformed(axes.transData.inverted())
        assert axes.get_xlim()[0] <= extent.x0 < extent.x1 <= axes.get_xlim()[1]
