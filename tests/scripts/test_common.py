"""Common parts of benchmarks: tables, the clock, processes of their own."""

from __future__ import annotations

import pytest

from scripts.common import Table, in_process, microseconds


def test_a_table_prints_titles_cells_and_remarks(capsys):
    table = Table({"problem": "<10s", "status": "8s", "s": "7.2f", "count": "8,"})
    table.row("hopper", "good", 1.25, 1234)
    table.row("biped", None, after="too slow")
    head, first, second = capsys.readouterr().out.splitlines()
    assert head == "problem     status      s   count"
    assert first == "hopper        good   1.25   1,234"
    assert second == "biped            -  too slow"


def test_the_clock_counts_states():
    calls = []
    assert 0 < microseconds(lambda: calls.append(sum(range(1000))), states=2, repetitions=3) < 1e5
    assert len(calls) > 5


@pytest.mark.parametrize(("arguments", "limit", "fault"), [
    (["--help"], 60.0, ""),
    (["--none"], 60.0, "error: unrecognized arguments: --none"),
    (["--help"], 1e-3, "more than 0.001 s"),
])  # fmt: skip
def test_a_process_of_its_own_tells_its_fault(arguments, limit, fault):
    lines, told = in_process("scripts.checks.links", arguments, limit)
    assert told.endswith(fault)
    assert bool(told) == bool(fault)
    assert fault or lines[0].startswith("usage:")
