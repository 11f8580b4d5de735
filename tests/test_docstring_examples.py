"""The examples in docstrings: they run and show what is printed, and everything that users call has one.

A module's examples run with the names that the docstrings of `ocp_dyn` and `ocp_dyn.ocp` define, in a test for each
module. Numbers are compared to six digits; a zero may be structural ("00") or the rounding error of one.
"""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import re
import types
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from tests.test_architecture import NAMES

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?(?![\w])")
SPACES = (
    od,
    od.codegen,
    od.formulations,
    od.io,
    od.models,
    od.muscles,
    ocp,
    od.viz,
    od.walking,
    od.replay,
    od.control,
    od.simulation,
    od.recordings,
)

WITHOUT_EXAMPLE = {
    "load_subject": "needs the file of a subject; the how-to page on OpenSim's models shows it",
    "read_external_loads": "needs two files; the how-to page on gait analysis shows them",
    "muscle_body": "needs the file of a body; its docstring shows it",
    "muscle_person": "needs the file of a subject; its docstring shows it",
    "muscle_tracking": "needs a recording; the how-to page on muscles shows it",
    "SweepPoint": "a protocol for classes of the user; GridPoint is one and has an example",
    "show": "opens a viewer in the browser; the tutorials show it",
    "Viewer": "a running viewer, see show",
    "plot_gait_cycle": "needs a walking motion, which takes longer to solve than all examples together",
    "walk_figures": "needs a walking motion, too",
    "biped_figures": "needs a walking motion, too",
    "peak_torques": "needs a walking motion, too",
    "metabolism": "needs a walking motion, too",
    "muscle_timing": "needs a walking motion, too",
    "muscle_figures": "needs a walking motion, too",
    "simulated_recording": "needs a walking motion, too",
    "SimulatedRecording": "what simulated_recording returns",
    "estimate_errors": "needs two walking motions",
    **dict.fromkeys(
        (
            "compliant_walk_figures",
            "jump_figures",
            "point_foot_figures",
            "zero_dynamics_of_rabbit",
            "plot_zero_dynamics",
            "optimal_constraints",
            "ValidatedWalk",
            "validated_walks",
            "validation_numbers",
            "fitting_references",
            "plot_validation",
            "write_validation",
            "write_bodies",
            "plot_gait_table",
            "write_gait_table",
        ),
        "needs a motion that takes long to solve; a ready problem shows it",
    ),
    "animate_simulation": "draws for seconds; the ready problem mechanisms shows it",
    "plot_passive_gait": "the ready problems compass_gait and simplest_walker show it",
}
"""Names that users call and that have no example, with the reason."""
SOLVING = re.compile(r"\.solve\(|\bturn\(|solve_along\(|\.compile\(|Sweep\(|human\(|person\(|biped\(|solution\b")
"""Causes of slow examples of a module: problems that are solved, code that is compiled, large models."""


def called_by_users() -> dict[str, Any]:
    """All public functions and classes of the library by name."""
    found: dict[str, Any] = {}
    for space in SPACES:
        for name in dir(space):
            value = getattr(space, name)
            known = callable(value) and str(getattr(value, "__module__", "")).startswith("ocp_dyn")
            if known and not name.startswith("_") and not isinstance(value, types.ModuleType):
                found[name] = value
    return found


def examples_of(thing: Any) -> list[doctest.Example]:
    return doctest.DocTestParser().get_examples(thing.__doc__ or "")


METHODS = {
    od.Model: (
        "with_gravity with_inertia with_limits with_frame attach lock_joints subtree scale q_slice frame q_dot "
        "integrate difference neutral random_q"
    ),
    ocp.Problem: "solve check rti kkt_pattern",
    ocp.Solution: (
        "summary defects drift active deciding variables multipliers bound_multipliers floquet floquet_multipliers "
        "animate plot to_csv table save load mechanical_work cost_of_transport sample"
    ),
}
"""Methods that users call most."""

DATA = (
    ocp.Solution, ocp.PhaseMotion, ocp.Summary, ocp.Defects, ocp.Drift, ocp.Floquet, ocp.Active, ocp.ActiveSet,
    ocp.DecidingBound, ocp.DecidingBounds, ocp.Slope, ocp.Sensitivities, ocp.LimitCycle,
)  # fmt: skip
"""Classes of results, whose fields are described in their docstring or where they are declared."""


@cache
def shared_names() -> dict[str, Any]:
    """The names that all examples use."""
    found: dict[str, Any] = {}
    for module in (od, ocp):
        for example in examples_of(module):
            assert not example.want
            exec(example.source, found)
    return found


class ToSixDigits(doctest.OutputChecker):
    """Texts are equal; numbers in them to six digits, and to 1e-9."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        if super().check_output(want, got, optionflags):
            return True
        texts = [NUMBER.sub("#", text).split() for text in (want, got)]
        numbers = [[float(x) for x in NUMBER.findall(text)] for text in (want, got)]
        return texts[0] == texts[1] and all(abs(a - b) <= 2e-6 * abs(b) + 1e-9 for a, b in zip(*numbers, strict=True))


def doctests_of(name: str) -> list[doctest.DocTest]:
    """The examples of the docstrings that stand in a module."""
    module = importlib.import_module(name)
    return [
        test for test in doctest.DocTestFinder(exclude_empty=True).find(module, name, module=module) if test.examples
    ]


def module_params() -> list[Any]:
    """The modules with examples; slow ones marked."""
    found = []
    for name, path in NAMES.items():
        text = path.read_text()
        if ">>> " in text and name not in ("ocp_dyn", "ocp_dyn.ocp"):
            code = "\n".join(line for line in text.splitlines() if line.lstrip().startswith((">>> ", "... ")))
            marks = [pytest.mark.slow] if SOLVING.search(code) else []
            found.append(pytest.param(name, marks=marks))
    return found


@pytest.mark.parametrize("name", module_params())
def test_examples_show_what_is_printed(name: str) -> None:
    runner = doctest.DocTestRunner(checker=ToSixDigits(), optionflags=FLAGS, verbose=False)
    report: list[str] = []
    tests = doctests_of(name)
    assert tests
    for test in tests:
        test.globs = dict(shared_names())
        runner.run(test, out=report.append)
    assert not report, "".join(report)


def test_everything_that_users_call_has_an_example() -> None:
    called = called_by_users()
    assert len(called) > 300
    lacking = {name for name, value in called.items() if not any(e.want for e in examples_of(value))}
    assert lacking == set(WITHOUT_EXAMPLE)


@pytest.mark.parametrize("made", METHODS)
def test_methods_that_users_call_most_have_an_example(made: type) -> None:
    names = METHODS[made].split()
    assert [name for name in names if not examples_of(inspect.unwrap(getattr(made, name)))] == []


def described(made: type) -> set[str]:
    """Words of the docstrings of a class and its bases, and fields with a docstring below them."""
    found: set[str] = set()
    for base in made.__mro__:
        if not base.__module__.startswith("ocp_dyn"):
            continue
        found |= set(re.findall(r"\w+", base.__doc__ or ""))
        tree = ast.parse(Path(inspect.getfile(base)).read_text())
        (node,) = (n for n in ast.walk(tree) if isinstance(n, ast.ClassDef) and n.name == base.__name__)
        for field, text in zip(node.body, node.body[1:], strict=False):
            if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
                assert isinstance(field.target, ast.Name)
                found.add(field.target.id)
    return found


@pytest.mark.parametrize("made", DATA)
@pytest.mark.slow
def test_fields_and_methods_of_results_are_described(made: Any) -> None:
    names = [field.name for field in fields(made)] if is_dataclass(made) else made._fields
    assert [name for name in names if name not in described(made)] == []
    members = inspect.getmembers(made, lambda value: callable(value) or isinstance(value, property))
    assert [name for name, value in members if not name.startswith("_") and not value.__doc__] == []


def test_numbers_are_compared_to_six_digits() -> None:
    check = ToSixDigits().check_output
    assert check("DM([00, 0.333333])", "DM([0, 0.33333330])", FLAGS)
    assert check("DM(0)", "DM(-1.2e-17)", FLAGS)
    assert not check("DM(0.333333)", "DM(0.333343)", FLAGS)
    assert not check("DM(2)", "DM([2, 2])", FLAGS)
    assert not check("P2 moves", "P3 moves", FLAGS)
