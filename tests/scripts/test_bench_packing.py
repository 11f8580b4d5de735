"""Packed beside plain code: what is measured, and how its table tells goals."""

import shutil
import subprocess

import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.codegen.kernels.emit import emit
from scripts import bench_dynamics
from scripts.bench import packing, packing_tables
from scripts.bench.robots import Robot

ROW = {
    "operations": 100, "statements": 60, "moves": 3, "paired": 0.8, "one plain": 1.0, "one packed": 0.6, "one ratio": 0.6,
    "kB plain": 10.0, "kB packed": 5.0, "kB ratio": 0.5, "s plain": 1.0, "s packed": 0.5, "s ratio": 0.5,
    "write plain": 0.1, "write packed": 0.4, "write ratio": 4.0,
}  # fmt: skip
ALL = {"turn plain": 3.0, "turn packed": 1.5, "turn ratio": 0.5}


def test_compilers_are_called_by_name_and_version():
    assert packing._named("gcc (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright") == "gcc 12.2.0"
    assert packing._named("Debian clang version 16.0.6 (15~deb12u1)\nTarget: x86_64") == "clang 16.0.6"
    assert packing._named("cc (GCC) 13.1.1") == "gcc 13.1.1"
    assert packing._named("icx 2024.1") == "icx 2024.1"


def test_counts_are_those_of_the_kernel():
    f = od.function(od.mass_matrix, od.models.five_link_biped())
    kernel = emit(f, "kernel", pack=True)
    found = packing.counts(kernel)
    assert found["operations"] == emit(f, "kernel").statements
    vectors = kernel.packing.vectors
    assert found["paired"] == pytest.approx(sum(w * n for w, n in vectors.items()) / found["operations"])
    assert found["operations"] - found["statements"] == sum((w - 1) * n for w, n in vectors.items())
    assert 0.05 < found["paired"] < 0.5


def test_ratios_are_medians_of_neighbors():
    times = np.array([[1.0, 0.5], [2.0, 1.2], [10.0, 5.5]])  # a slower clock meets both forms
    assert packing.summary(times) == {"plain": 2.0, "packed": 1.2, "ratio": pytest.approx(0.55)}


@pytest.mark.skipif(shutil.which("gcc") is None or shutil.which("objdump") is None, reason="needs gcc and objdump")
def test_sizes_are_those_of_executable_sections(tmp_path):
    source = tmp_path / "f.c"
    source.write_text(
        "int table[99] = {1}; int f(int x) { return x + 1; }\n__attribute__((cold)) int g(void) { return 2; }"
    )
    made = source.with_suffix(".o")
    subprocess.run(["gcc", "-O2", "-c", str(source), "-o", str(made)], check=True)
    printed = subprocess.run(["objdump", "-h", str(made)], capture_output=True, text=True, check=True).stdout
    words = [line.split() for line in printed.splitlines()]
    expected = sum(int(line[2], 16) for line in words if len(line) == 7 and line[1].startswith(".text"))
    assert packing.code_size(made.read_bytes()) == expected > 0
    with pytest.raises(ValueError, match="ELF"):
        packing.code_size(b"MZ")


@pytest.mark.slow
def test_both_forms_are_measured_again_and_again_and_in_turn():
    found = packing.compilers()
    if not found:
        pytest.skip("no compiler")
    robot = Robot(od.models.human(), ("sole_l", "sole_r"))
    (rows,) = packing.measure(robot, ("ID", "G"), dict([next(iter(found.items()))])).values()
    assert list(rows) == ["ID", "G", "all"]
    assert all(x > 0 for row in rows.values() for x in row.values())
    for name in ("ID", "G"):
        assert set(rows[name]) == set(ROW) | set(ALL)
        assert rows[name]["kB ratio"] < 0.7  # the size does not depend on what else this machine does
        assert rows[name]["turn plain"] < 50
    assert rows["all"]["turn plain"] == pytest.approx(rows["ID"]["turn plain"] + rows["G"]["turn plain"], rel=0.5)


def test_other_results_are_refused():
    class Fake:
        def __init__(self, *numbers):
            self.numbers = np.array(numbers)

        def results(self):
            return self.numbers

    packing._compare("ID", Fake(1.0, 2.0), Fake(1.0, 2.0 + 1e-9))
    with pytest.raises(RuntimeError, match=r"packed ID differs from plain ID by 1\.0e-01"):
        packing._compare("ID", Fake(1.0, 2.0), Fake(1.0, 2.2))
    with pytest.raises(RuntimeError, match="nan"):
        packing._compare("ID", Fake(1.0), Fake(np.nan))


def test_the_table_tells_goals_and_peers():
    rows = {"ID": ROW | {"Pinocchio": 2.0}, "all": ALL}
    title, head, first, last = packing_tables.lines("talos_reduced", 38, "gcc 12", rows)
    assert title.startswith("talos_reduced, 38 dof, gcc 12")
    assert head.split()[-3:] == ["us", "plain/P", "packed/P"]
    assert "80 %" in first
    assert "0.60 (0.55)" in first
    assert "0.50 (0.70)" in first
    assert first.endswith("2.000     0.50     0.30 (0.25)")
    assert last.split() == ["all", "-", "3.000", "1.500", "0.50", "-", "-", "-"]


def test_misses_are_told_as_they_are_printed():
    table = {
        "talos_reduced": {"gcc 12": {"ID": ROW | {"Pinocchio": 2.0}, "C": ROW | {"one ratio": 0.554, "kB ratio": 0.71}}}
    }
    assert packing_tables.misses(table) == [
        "talos_reduced ID, gcc 12: time 0.60, goal 0.55",
        "talos_reduced ID, gcc 12: time over Pinocchio's 0.30, goal 0.25",
        "talos_reduced C, gcc 12: code 0.71, goal 0.70",
    ]
    assert packing_tables.goals("ur5_robot", "ID", ROW | {"paired": 0.5}) == {}


def test_tables_of_a_page_have_a_cell_for_every_column(tmp_path):
    table = {
        "human": {"gcc 12": {"ID": ROW | {"turn ratio": 0.7}, "all": ALL}, "clang 16": {"ID": ROW, "all": ALL}},
        "talos_reduced": {"gcc 12": {"ID": ROW | {"Pinocchio": 2.0}, "G": ROW}},
    }
    dofs = {"human": 29, "talos_reduced": 38}
    lines = list(packing_tables.markdown(table, dofs))
    assert lines[1].startswith("| human, 29 dofs | operations |")
    assert lines[3] == "| ID | 100 | 60 | 1 | 0.6 | 0.60 | 0.70 | 10 | 5 | 0.50 | 0.50 | 0.60 / - / 0.50 / 0.50 |"
    assert lines[4] == "| all in turn |  |  |  |  |  | 0.50 |  |  |  |  | - / 0.50 / - / - |"
    assert lines[-2].endswith("| 2 | 0.50 / 0.30 |")
    assert [line.count("|") for line in lines if line] == [13] * 4 + [14] * 4
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- packing -->\nold\n<!-- end of packing -->\nafter\n", encoding="utf-8")
    bench_dynamics.write_packing(page, table, dofs)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before")
    assert text.endswith("after\n")
    assert "old" not in text
    assert lines[3] in text
    assert "Goals missed: talos_reduced ID, gcc 12: time 0.60, goal 0.55" in text


@pytest.mark.slow
def test_the_picture_has_a_panel_per_robot_and_compiler(tmp_path):
    table = {"human": {"gcc 12": {"ID": ROW, "all": ALL}, "clang 16": {"ID": ROW}}, "arm": {"gcc 12": {"C": ROW}}}
    packing_tables.plot(tmp_path / "x.png", table)
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
