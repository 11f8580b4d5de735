"""Variants of the native libraries for processors, the choice among them, and the making of those of a wheel."""

from __future__ import annotations

import ctypes
import platform
import subprocess
import sys

import pytest

from ocp_dyn.native import variants, wheel
from ocp_dyn.native.toolchain import find_compiler
from ocp_dyn.native.variants import NAMES, VARIANTS, file_name, supported, variants_of
from ocp_dyn.native.wheel import platform_tag
from tests.helpers import REPOSITORY

OF_A_SERVER = frozenset(
    [
        "fpu",
        "sse",
        "sse2",
        "ht",
        "pni",
        "ssse3",
        "fma",
        "cx16",
        "sse4_1",
        "sse4_2",
        "movbe",
        "popcnt",
        "xsave",
        "avx",
        "f16c",
        "lahf_lm",
        "abm",
        "bmi1",
        "avx2",
        "bmi2",
        "avx512f",
        "avx512dq",
        "avx512cd",
        "avx512bw",
        "avx512vl",
    ]
)


@pytest.mark.parametrize(
    ("missing", "best"),
    [("", "x86-64-v4"), ("avx512vl", "x86-64-v3"), ("fma", "x86-64-v2"), ("avx", "x86-64-v2"), ("popcnt", None)],
)
def test_a_processor_gets_the_fastest_variant_that_it_runs(missing, best):
    found = supported("x86_64", OF_A_SERVER - {missing})
    assert (found[0].name if found else None) == best
    assert found == variants_of("x86_64")[len(variants_of("x86_64")) - len(found) :]  # and all slower ones


def test_other_machines():
    assert [variant.name for variant in supported("aarch64", frozenset())] == ["arm64"]
    assert supported("riscv64", OF_A_SERVER) == []
    assert supported("x86_64", frozenset()) == []


INFO = "processor\t: 0\nmodel name\t: some: 1\nflags\t\t: fpu sse4_1 avx\n\nprocessor\t: 1\nflags\t\t: fpu\n"


@pytest.mark.parametrize(("text", "features"), [(INFO, {"fpu", "sse4_1", "avx"}), ("", set()), (None, set())])
def test_features_are_those_that_linux_lists(tmp_path, monkeypatch, text, features):
    path = tmp_path / "cpuinfo"
    if text is not None:
        path.write_text(text)
    monkeypatch.setattr(variants, "CPU_INFO", path)
    assert variants.processor_features() == features


def test_the_best_file_of_the_package_is_taken(tmp_path, monkeypatch):
    monkeypatch.setattr(variants, "PREBUILT", tmp_path / "prebuilt")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(variants, "processor_features", lambda: OF_A_SERVER - {"avx512f"})
    assert variants.prebuilt("tables") is None
    (tmp_path / "prebuilt").mkdir()
    for variant in VARIANTS:
        (tmp_path / "prebuilt" / file_name("tables", variant)).touch()
    assert variants.prebuilt("tables").name == "tables-x86-64-v3.so"
    variants.prebuilt("tables").unlink()
    assert variants.prebuilt("tables").name == "tables-x86-64-v2.so"
    assert variants.prebuilt("riccati") is None


def test_every_library_has_a_folder():
    assert sorted(path.parent.name for path in variants.FOLDER.glob("*/*.c")) == sorted(
        name for name in NAMES for path in variants.sources(variants.FOLDER / name) if path.suffix == ".c"
    )


NEEDS = b"\x7fELF\0libm.so.6\0libc.so.6\0ld-linux-x86-64.so.2\0hypot\0GLIBC_2.2.5\0GLIBC_2.%d\0"


@pytest.mark.parametrize(
    ("contents", "tag"),
    [
        ([NEEDS % 14], "manylinux_2_17_x86_64"),
        ([NEEDS % 14, NEEDS % 35, NEEDS % 9], "manylinux_2_35_x86_64"),
        ([NEEDS % 35, b"\0libgomp.so.1\0GLIBC_2.14\0"], "linux_x86_64"),
        ([b"\0libc.musl-x86_64.so.1\0"], "linux_x86_64"),
    ],
)
def test_the_tag_tells_the_oldest_system(contents, tag):
    assert platform_tag(contents, "linux_x86_64") == tag


LEVEL = """
#if defined(__AVX512F__)
enum { FOUND = 4 };
#elif defined(__AVX2__)
enum { FOUND = 3 };
#elif defined(__SSE4_2__)
enum { FOUND = 2 };
#else
enum { FOUND = 0 };
#endif
__attribute__((visibility("default"))) int level(void) { return FOUND; }
"""
LEVELS = {"x86-64-v2": 2, "x86-64-v3": 3, "x86-64-v4": 4}


@pytest.mark.skipif(find_compiler() is None or not variants_of(platform.machine()), reason="no C compiler")
def test_all_variants_are_made(tmp_path, monkeypatch):
    folder = tmp_path / "sources" / "small"
    folder.mkdir(parents=True)
    (folder / "small.c").write_text(LEVEL)
    for name, value in (("FOLDER", folder.parent), ("NAMES", ("small",))):
        monkeypatch.setattr(wheel, name, value)
    made = wheel.make(tmp_path)
    assert [path.name for path in made] == [file_name("small", v) for v in variants_of(platform.machine())]
    for variant in supported(platform.machine(), variants.processor_features()):
        expected = LEVELS.get(variant.name, 0)
        assert ctypes.CDLL(str(tmp_path / file_name("small", variant))).level() == expected
    assert platform_tag((path.read_bytes() for path in made), "linux_any").startswith("manylinux_2_")


def test_the_package_build_needs_python_alone(tmp_path):
    """-S: without the packages that are installed, as in an isolated build."""
    command = [sys.executable, "-S", "-m", "ocp_dyn.native.wheel", str(tmp_path)]
    environment = {"PATH": str(tmp_path), "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "there is no C compiler\n")
