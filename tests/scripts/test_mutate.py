"""Mutations of changed lines: what is changed, what is left alone, and which tests are asked."""

import pytest

from scripts.checks import mutate

TEXT = '''
def f(x: int | None = 3, *, y=True) -> int | None:
    """The larger one."""
    if x < 2 and not y:
        raise ValueError(f"x is {x + 1}")
    print(-x)
    return x + 1
'''
CHANGES = {
    "x: int | None": False, "-> int | None": False, "The larger": False, "5: x + 1": False,
    "2: 3  ->  4": True, "2: True  ->  False": True, "4: x < 2  ->  x <= 2": True,
    "4: x < 2 and (not y)  ->  x < 2 or not y": True,
    "4: not y  ->  y": True, "6: -x  ->  x": True, "6: print(-x)  ->  pass": True, "7: x + 1  ->  x - 1": True,
}  # fmt: skip


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "f.py"
    path.write_text(TEXT)
    return path


def test_conditions_numbers_and_statements_change_but_no_annotations_and_texts(file):
    changes = [mutation.change for mutation in mutate.mutations(file, None)]
    for change, made in CHANGES.items():
        assert any(change in told for told in changes) == made, change
    assert all(compile(mutation.text, "f", "exec") for mutation in mutate.mutations(file, None))


def test_other_lines_stay(file):
    assert {m.change.split(":")[0] for m in mutate.mutations(file, {7})} == {"7"}


def test_tests_are_those_of_the_room():
    root = mutate.ROOT / "ocp_dyn"
    assert mutate.tests_of(root / "ocp" / "solvers" / "block_ldl" / "plan.py") == "tests/ocp/solvers/block_ldl"
    assert mutate.tests_of(root / "integrators.py") == "tests"
