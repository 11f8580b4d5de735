"""Display in notebooks: cards of the central objects, figures and animations that show themselves, progress."""

from __future__ import annotations

import base64
import pickle
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from casadi import SX

import ocp_dyn as od
from ocp_dyn._base.display import Progress, picture_of, table
from ocp_dyn.models import bricard, five_link_biped, pendulum
from ocp_dyn.ocp import Phase, Problem, TorqueSquared
from ocp_dyn.viz import animate, plot, stick_figure
from ocp_dyn.viz.shown import path as shown_path
from tests.hopper import problem as hop
from tests.ocp.workflows.test_convergence import turn
from tests.viz.motions import once


class Reader(HTMLParser):
    """The texts of the cells of all tables, and whether all tags are closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.open: list[str] = []
        self.images: list[str] = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag: str, attributes: list) -> None:
        if tag == "img":
            self.images.append(dict(attributes)["src"])
        elif tag != "br":
            self.open.append(tag)
            self.cells += [""] if tag in ("td", "th") else []

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("td", "th"):
            self.cells[-1] += data


def png_size(data: bytes) -> tuple[int, int]:
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    return int.from_bytes(data[16:20]), int.from_bytes(data[20:24])


# Models, constraints, Functions


@pytest.mark.slow
def test_a_model_shows_its_picture_its_sizes_and_its_tree():
    model = five_link_biped()
    html = model._repr_html_()
    read = Reader(html)
    assert "5 bodies, nq = 5, nv = 5, mass = 40 kg" in html
    assert read.cells[:6] == ["body", "joint", "kind", "q", "qd", "mass [kg]"]
    assert set(model.body_names) | set(model.joint_names) <= set(read.cells)
    data, size = model._repr_png_()
    assert png_size(data) == pytest.approx((2 * size["width"], 2 * size["height"]), abs=1)
    (source,) = read.images
    assert base64.b64decode(source.removeprefix("data:image/png;base64,")) == data
    assert "<details open>" in html
    assert "<details open>" not in od.models.human()._repr_html_()  # a long tree is folded


def test_names_are_text_not_html():
    builder = od.ModelBuilder("<b>bold</b>")
    builder.add_body("a<script>", od.Revolute("y"), mass=1.0, com=(0.0, 0.0, -1.0))
    builder.add_frame("x&y", "a<script>", (0.0, 0.0, -1.0))
    html = builder.build()._repr_html_()
    assert "a<script>" in Reader(html).cells
    assert "<script" not in html
    assert "x&amp;y" in html


def test_a_model_that_cannot_be_drawn_shows_its_table():
    model = od.with_parameters(pendulum(1), {"mass:link1": SX.sym("m")})
    assert model._repr_png_() is None
    assert "symbolic" in Reader(model._repr_html_()).cells


@pytest.mark.slow
def test_a_closed_chain_shows_its_loops():
    html = bricard()._repr_html_()
    assert Reader(html).images
    assert "<div>1 degree of freedom</div>" in html
    assert {loop.name for loop in bricard().loops} <= set(Reader(html).cells)


def test_contacts_and_sets_show_their_rows():
    foot = od.Contact("foot", point=(0.1, 0.0, -0.05), axes="xz")
    cells = Reader(foot._repr_html_()).cells
    assert cells == ["name", "kind", "at", "rows", "foot", "Contact", "(0.1, 0, -0.05) m", "tx tz"]
    sole = od.plane_contacts("sole", [(0, 0, 0), (1, 0, 0)])
    tail = (foot,)
    both = sole + tail
    assert isinstance(both, od.ConstraintSet)
    assert isinstance(tail + sole, od.ConstraintSet)
    cells = Reader(both._repr_html_()).cells
    assert [cells[k] for k in (4, 8, 12)] == ["sole", "sole#2", "foot"]
    assert "3 constraints, 4 rows" in both._repr_html_()
    assert "0 constraints, 0 rows" in od.ConstraintSet()._repr_html_()
    fixed = od.JointCoupling("a", "b", 2.0)
    assert "JointCoupling" in Reader(fixed._repr_html_()).cells


def test_a_set_of_constraints_is_a_tuple():
    contacts = (od.Contact("tip", axes="xz"),)
    found = od.ConstraintSet(contacts)
    assert found == contacts
    assert hash(found) == hash(contacts)
    assert pickle.loads(pickle.dumps(found)) == contacts
    model = pendulum(2)
    assert od.function(od.constraint_jacobian, model, found) is od.function(od.constraint_jacobian, model, contacts)
    with pytest.raises(TypeError, match="constraints must be a tuple of constraints such as Contact, got 3 in it"):
        od.ConstraintSet([3])
    assert od.ConstraintSet(contacts[0]) == contacts  # a single one is a set, too
    for wrong in (np.zeros((2, 2)), SX.sym("x"), 3, "tip"):
        with pytest.raises(TypeError, match="constraints must be a tuple of constraints such as Contact, got"):
            od.ConstraintSet(wrong)


def test_a_function_shows_signature_sizes_units_and_operations():
    model = od.models.human()
    f = od.function(od.inverse_dynamics, model)
    html = f._repr_html_()
    cells = Reader(html).cells
    assert ": (q, qd, qdd) → (tau)" in html
    assert f"{f.n_instructions():,} operations of human_male".replace(",", " ") in html
    row = cells.index("tau")
    assert cells[row : row + 3] == ["tau", "29", "N m, N"]
    assert cells[row + 3] == "root.x, root.y, root.z, …, shoulder_r.rx, shoulder_r.rz, elbow_r"
    H = od.function(od.mass_matrix, model)
    assert f"29 × 29, {H.nnz_out(0)} nonzeros" in H._repr_html_()


def test_compiled_functions_show_their_arrays(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("CC", "")
    model = pendulum(2)
    with pytest.warns(RuntimeWarning, match="no C compiler"):
        fast = od.codegen.compile([od.function(od.inverse_dynamics, model), od.function(od.mass_matrix, model)])
    cells = Reader(fast._repr_html_()).cells
    assert cells[6:9] == ["ID", "q (2), qd (2), qdd (2)", "tau (2)"]
    assert cells[12:15] == ["H", "q (2)", "H (2 × 2)"]
    assert "no compiler was found" in fast._repr_html_()
    assert Reader(fast.ID._repr_html_()).cells[6:] == cells[6:12]


def test_a_table_moves_the_rows_of_a_tree_in():
    assert "padding-left: 2.4em" in table(("a",), [("b",), ("c",)], [0, 2])


# Problems


def test_a_problem_prints_in_a_few_lines():
    text = repr(hop())
    assert text.startswith("Problem of <Model ")
    assert len(text.splitlines()) == 1 + len(hop().phases)
    assert len(text) < 400
    assert "'stance'" in text
    plain = Problem(pendulum(1), [Phase("swing", 1, 0.5)])
    assert repr(plain).endswith("implicit, midpoint, phases\n  'swing': 1 interval, 0.5 s, on no contact")


@pytest.mark.slow
def test_a_problem_shows_its_phases_and_sizes():
    problem = hop()
    html = problem._repr_html_()
    read = Reader(html)
    (data, _), (source,) = problem._repr_png_(), read.images
    assert base64.b64decode(source.removeprefix("data:image/png;base64,")) == data
    values = dict(zip(read.cells[::2], read.cells[1::2], strict=True))
    assert values["constraint rows"] == "counted when the problem is solved"
    solution = problem.solve(progress=False)
    again = Reader(problem._repr_html_()).cells
    later = dict(zip(again[::2], again[1::2], strict=True))
    assert later["variables"] == values["variables"]
    assert int(values["variables"].split(",")[0]) == solution.stats["variables"]
    assert int(later["constraint rows"]) == solution.stats["constraints"]


def test_the_strip_of_phases_has_a_bar_where_a_contact_is_held():
    problem = hop()
    (axes,) = picture_of(problem).axes
    texts = [t.get_text() for t in axes.texts]
    for phase in problem.phases:
        assert phase.name.replace("_", " ") in texts
    held = sum(len(phase.footholds) for phase in problem.phases)
    assert sum(text.endswith(" rows") for text in texts) == held


def test_a_problem_that_cannot_be_transcribed_still_shows_itself():
    builder = od.ModelBuilder("one side")
    builder.add_body("trunk", od.FloatingBase(), mass=1.0, inertia=(1, 1, 1))
    builder.add_body("arm", od.Revolute("y"), "trunk", origin=(0, 0.3, 0), mass=1.0, com=(0, 0, -1), inertia=(1, 1, 1))
    problem = Problem(builder.build(), [Phase("flight", 1, 0.5)], periodic=od.ocp.Periodic(1.0, mirror=True))
    read = Reader(problem._repr_html_())
    assert read.images
    assert read.cells[1].startswith("not counted, the problem cannot be built: ")


# Figures, animations, progress


def test_summary_and_defects_are_tables():
    solution = once(pendulum(2), [0.0, 0.0], [0.5, 1.0])
    summary = solution.summary()
    assert Reader(summary._repr_html_()).cells == [text for row in summary.rows() for text in row]
    found = solution.defects()
    cells = Reader(found._repr_html_()).cells
    assert cells[:3] == ["defect", "angles", "lengths"]
    assert cells[4:6] == [f"{found.angle:.3g} rad", f"{found.length:.3g} m"]
    assert cells[7:] == [f"{found.open_loop_angle:.3g} rad", f"{found.open_loop_length:.3g} m"]
    assert found.angle != found.open_loop_angle


@pytest.mark.slow
def test_a_simulated_motion_shows_its_overview_and_its_errors():
    model, anchor = pendulum(2), od.Contact("tip", axes="xz")
    t = np.linspace(0.0, 1.0, 5)
    free = od.formulations.Trajectory(model, t, np.outer(t, [1.0, 2.0]), np.ones((5, 2)))
    held = od.formulations.Trajectory(model, t, free.q, free.qd, (anchor,))
    assert repr(free) == "Trajectory of 'pendulum_2': 5 states in 1 s"
    cells = Reader(free._repr_html_())
    assert cells.cells == ["states", "5 in 1 s", "energy error", f"{free.energy_error:.2g}"]
    assert len(cells.images) == 1
    worst = np.abs(held.velocity_errors).max()
    assert Reader(held._repr_html_()).cells[-1] == f"{worst:.2g} m/s, rad/s"


@pytest.mark.slow
def test_a_figure_shows_itself_and_can_be_pickled(walk):
    for figure in (plot(walk), stick_figure(walk, poses=2), plot(pendulum(1))):
        data, size = figure._repr_png_()
        inches = figure.get_size_inches()
        assert png_size(data) == pytest.approx(tuple(2 * figure.dpi * inches), abs=1)
        assert (size["width"], size["height"]) == tuple(np.round(figure.dpi * inches))
    assert pickle.loads(pickle.dumps(figure))._repr_png_()[0] == data


def test_an_animation_shows_itself_and_is_a_path(tmp_path: Path, monkeypatch):
    solution = once(pendulum(2), [1.0, 0.3], [-1.0, 0.0])
    path = animate(solution, tmp_path / "a.gif", size=(240, 160))
    assert isinstance(path, Path)
    assert path == tmp_path / "a.gif"
    source = re.search(r'src="data:image/gif;base64,([^"]+)"', path._repr_html_())
    assert base64.b64decode(source[1]) == path.read_bytes()
    page = animate(solution, tmp_path / "a.html")._repr_html_()
    inside = HTMLFrame(page).page
    assert inside == (tmp_path / "a.html").read_text()
    (tmp_path / "a.mp4").write_bytes(b"film")
    film = shown_path.AnimationPath(tmp_path / "a.mp4")
    assert film._repr_html_().startswith("<video controls")
    monkeypatch.setattr(shown_path, "LARGEST_SHOWN", 3)
    assert film._repr_html_() is None
    assert path.parent._repr_html_() is None if hasattr(path.parent, "_repr_html_") else True
    path.unlink()
    assert path._repr_html_() is None


class HTMLFrame(HTMLParser):
    """The page inside a frame."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.page = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list) -> None:
        assert tag == "iframe"
        self.page = dict(attributes)["srcdoc"]


def test_progress_in_a_notebook_is_one_line_that_changes(monkeypatch, capfd):
    published = []

    def publish(data, metadata, *, transient, update):
        published.append((data["text/plain"], transient["display_id"], update))

    shell = SimpleNamespace(kernel=object(), display_pub=SimpleNamespace(publish=publish))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    problem = Problem(pendulum(1), [Phase("swing", 4, 0.5, objective=[TorqueSquared()])])
    problem.solve()
    texts, ids, updates = zip(*published, strict=True)
    assert len(set(ids)) == 1
    assert list(updates) == [False] + [True] * (len(updates) - 1)
    assert "Solve_Succeeded after" in texts[-1]
    assert "\n" not in texts[-1]
    assert capfd.readouterr() == ("", "")
    problem.solve(progress=False)
    assert len(published) == len(texts)
    problem.solve()
    assert published[-1][1] not in ids  # a new run has a line of its own


def test_progress_elsewhere_is_lines_on_standard_error(monkeypatch, capsys):
    terminal = SimpleNamespace(get_ipython=lambda: SimpleNamespace())  # IPython without a kernel
    for module in (None, terminal):
        monkeypatch.setitem(sys.modules, "IPython", module)
        say = Progress()
        say("one")
        say("two")
        Progress(on=False)("three")
        assert capsys.readouterr() == ("", "one\ntwo\n")


def test_a_closed_stream_ends_progress_but_not_the_run(monkeypatch):
    class Closed:
        def write(self, text):
            raise BrokenPipeError

        def flush(self):
            raise BrokenPipeError

    say = Progress()
    monkeypatch.setattr(sys, "stderr", Closed())
    say("one")
    assert not say.on


def test_an_animation_without_a_path_shows_itself(tmp_path):
    wheel = turn(0.3).solve(progress=False)
    shown = wheel.animate()
    assert shown._repr_html_().startswith("<iframe")
    assert repr(shown).startswith("Animation of wheel: a notebook shows it")
    path = shown.save(tmp_path / "a.html")
    assert path.read_text() == wheel.animate(tmp_path / "b.html").read_text()
    with pytest.raises(ValueError, match=r"'a\.gif': a page is written as \.html; animate\('a\.gif'\)"):
        shown.save("a.gif")
