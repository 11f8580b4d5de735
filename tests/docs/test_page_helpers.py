"""Helpers of the pages: drawings of frames, whose arrows lie where the library says, and the display of code."""

import importlib.util

import numpy as np
import pytest

from tests.helpers import REPOSITORY

pytest.importorskip("IPython")


def loaded(name):
    spec = importlib.util.spec_from_file_location(name, REPOSITORY / "docs" / "_pages" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def drawings():
    return loaded("drawings")


def words(figure):
    return " ".join(text.get_text() for axes in figure.axes for text in axes.texts)


@pytest.mark.slow
def test_drawings_name_what_they_show(drawings):
    assert "qd[3:6], body axes" in words(drawings.base_velocity())
    assert "X_{tree}" in words(drawings.link_frames())
    assert "half_length" in words(drawings.foothold())
    assert "lam[3:6]" in words(drawings.contact_axes())
    titles = [axes.get_title() for axes in drawings.joint_motions().axes]
    assert titles[0] == "od.Revolute('z')"
    assert len(titles) == len(drawings.JOINTS)


@pytest.mark.slow
def test_the_human_stands_on_the_ground(drawings, monkeypatch):
    drawn = []
    kept = drawings.Scene.frame
    monkeypatch.setattr(drawings.Scene, "frame", lambda s, R, p, *a, **k: (drawn.append(p), kept(s, R, p, *a, **k)))
    drawings.human_frames()
    heights = np.array(drawn)[:, 2]
    assert heights.min() == pytest.approx(0.0, abs=0.05)
    assert 1.2 < heights.max() < 1.6  # shoulders


def test_a_scene_projects_as_the_library_draws(drawings):
    from matplotlib.figure import Figure

    s = drawings.Scene(Figure().subplots(), 0, 90)  # from above
    assert np.allclose(s.at([[1, 2, 3], [0, 1, 0]]), [[1, 2], [0, 1]])
    side = drawings.Scene(Figure().subplots(), 0, 0)
    assert np.allclose(side.at((1, 2, 3)), (1, 3))
    R, p = drawings.pose(drawings.od.models.pendulum(), "link1", [0.5])
    assert np.allclose(R, [[np.cos(0.5), 0, np.sin(0.5)], [0, 1, 0], [-np.sin(0.5), 0, np.cos(0.5)]])
    assert p.shape == (3,)


def test_code_is_shown_without_docstring_and_decorator():
    import ocp_dyn as od

    shown = loaded("theory_pages").code(od.bias_force, od.gravity_force).data
    assert shown.count("```python") == 2
    assert "@checks_arguments" not in shown
    assert '"""' not in shown
    assert "    return inverse_dynamics(model, q, qd, model.rest(q), f_ext, loads=loads)" in shown
    assert shown.startswith("```python\ndef bias_force(")


def test_results_that_differ_stop_the_build(capsys):
    agree = loaded("theory_pages").agree
    agree("here", [1.0, 2.0], np.array([1.0, 2.0 + 2e-10]))
    assert capsys.readouterr().out == "here: difference 2e-10\n"
    with pytest.raises(AssertionError, match=r"there: the results differ by 1\.0e-03"):
        agree("there", [1.0, 2.0], [1.0, 2.001])
    agree("nearly", 1.0, 1.001, tolerance=0.01)
