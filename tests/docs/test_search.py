"""Words of the field lead to a page: the search of the pages ranks as Sphinx's search in the browser does."""

import re
from functools import cache
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {path.relative_to(DOCS).with_suffix("").as_posix(): path.read_text(encoding="utf-8") for path in
         DOCS.rglob("*.md") if "_build" not in path.parts}  # fmt: skip
WIDTH = 98
"""Letters of a line of code that fit the column of text, whose width and type docs/_static/ocp_dyn.css sets."""

TYPED = {
    "MPC": "how_to/predictive_control", "model predictive control": "how_to/predictive_control",
    "weak muscle": "how_to/strength how_to/own_walks", "csv": "how_to/save_and_plot", "cite": "index",
    "BibTeX": "index", "reproducible": "how_to/reproducibility", "latex": "how_to/paper_figures",
    "figure": "how_to/paper_figures", "Windows": "install",
    "macOS": "install", "MSVC": "install", "compiler": "install", "conda": "install", "pandas": "how_to/save_and_plot",
    "Excel": "how_to/save_and_plot", "gif": "how_to/save_and_plot", "video": "how_to/save_and_plot",
    "c3d": "how_to/recordings", "trc": "how_to/recordings", "EMG": "how_to/muscle_driven",
    "force plate": "how_to/gait_analysis", "motion capture": "how_to/gait_analysis",
    "inverse dynamics": "how_to/gait_analysis", "joint moments": "how_to/gait_analysis",
    "osim": "how_to/opensim_models", "Moco": "coming_from/opensim", "bioptim": "coming_from/bioptim_muscod",
    "scaling": "how_to/scale_a_model", "prosthesis": "how_to/own_walks", "exoskeleton": "how_to/own_walks",
    "normative data": "how_to/validate", "metabolic cost": "how_to/effort", "knee load": "how_to/joint_loads",
    "static optimization": "how_to/muscle_driven", "moment arm": "how_to/muscle_paths", "stairs": "gallery",
    "running": "gallery", "URDF": "how_to/load_urdf", "xacro": "how_to/load_urdf", "humanoid": "how_to/load_urdf",
    "quadruped": "how_to/walk_any_model", "ROS": "how_to/load_urdf how_to/c_and_cmake",
    "Gazebo": "how_to/sdf_models", "MJCF": "how_to/mujoco_models how_to/simulators",
    "code generation": "how_to/export_c", "embedded": "how_to/export_c how_to/export_controller",
    "Simulink": "how_to/simulink", "MATLAB": "how_to/simulink", "CMake": "how_to/c_and_cmake",
    "whole-body control": "how_to/control_in_mujoco", "terrain": "how_to/any_ground",
    "friction cone": "how_to/any_ground", "infeasible": "how_to/diagnose", "does not converge": "how_to/diagnose",
    "initial guess": "how_to/multistart", "local minimum": "how_to/multistart", "warm start": "how_to/sweeps",
    "cluster": "how_to/populations", "mesh refinement": "how_to/accuracy", "swing-up": "quickstart",
    "collocation": "tutorials/04_walking_problem theory/optimal_control", "stability": "theory/floquet",
    "limit cycle": "theory/floquet", "quaternion": "conventions", "signs": "conventions", "units": "conventions",
    "automatic differentiation": "theory/casadi_functions", "Jacobian": "theory/derivatives",
    "articulated body": "theory/recursive_algorithms", "Newton-Euler": "theory/recursive_algorithms",
    "natural coordinates": "theory/formulations", "inverse optimal control": "theory/inverse_optimal_control",
    "closed loop": "how_to/custom_contact", "cost function": "how_to/custom_terms",
    "series elastic actuator": "how_to/add_a_state", "benchmark": "performance", "ssh": "how_to/viewer",
    "Hill-type muscle": "how_to/muscle_driven", "real time": "performance", "obstacle": "how_to/custom_terms",
}  # fmt: skip
"""Words that people type, and the page, or one of the pages, that must be among the first three results."""


def index_entries(text: str) -> list[str]:
    listed = re.findall(r"^```\{index\} (.+)$", text, re.MULTILINE)
    return [entry.strip().lower() for line in listed for entry in line.split(",")]


@cache
def searched(page: str) -> tuple[str, list[str], str]:
    """Title, index entries and words of a page."""
    text = PAGES[page].lower()
    return re.search(r"^# (.+)$", text, re.MULTILINE)[1], index_entries(text), " " + re.sub(r"\W+", " ", text)


def score(query: str, page: str) -> float:
    """Points of a page: of an index entry or a title that holds the words, else of words in its title or text."""
    title, entries, words_of_page = searched(page)
    best = [100 * len(query) / len(entry) for entry in entries if query in entry]
    best += [15 + 100 * len(query) / len(title)] if query in title else []
    words = re.findall(r"\w+", query)
    if all(f" {word}" in words_of_page for word in words):
        best += [15.0 if word in title else 5.0 for word in words]
    return max(best, default=0.0)


@pytest.mark.parametrize("typed", TYPED)
def test_words_of_the_field_lead_to_a_page(typed):
    found = {page: score(typed.lower(), page) for page in PAGES}
    wanted = max(found[page] for page in TYPED[typed].split())
    assert wanted > 0
    better = [page for page in found if found[page] >= wanted and page not in TYPED[typed].split()]
    assert len(better) < 3, better


@pytest.mark.parametrize("page", PAGES)
def test_lines_of_code_fit_their_column(page):
    inside, drawn = "", ("{math", "{index", "{toctree", "{image", "{figure", "{note", "{admonition", "{api", "{grid")
    for line in PAGES[page].splitlines():
        fence = re.match(r"\s*`{3,}(.*)", line)
        if fence:
            inside = "" if inside else fence[1].strip() or "text"
        elif inside and not inside.startswith(drawn):
            assert len(line) <= WIDTH, line


def test_every_page_that_answers_a_question_has_words_to_be_found_by():
    for page, text in PAGES.items():
        if page.startswith(("how_to/", "theory/")) and page != "theory/index":
            assert index_entries(text), page
