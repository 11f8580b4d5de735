"""Exported C in other people's builds: CMake by find_package and add_subdirectory, pkg-config, a plain C compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import ocp_dyn as od
from tests.helpers import close

TOOLS = ("cmake", "pkg-config", "cc", "c++")
pytestmark = pytest.mark.skipif(None in map(shutil.which, TOOLS), reason=f"needs {', '.join(TOOLS)}")

MODEL = od.models.pendulum(2)
ID = od.function(od.inverse_dynamics, MODEL)

MAIN = """
#include <stdio.h>
#include "arm.h"
int main(void)
{
    const double q[] = {0.1, 0.2}, qd[] = {0.3, 0.4}, qdd[] = {0.5, 0.6};
    double tau[ARM_ID_TAU_SIZE];
    if (arm_ID(q, qd, qdd, tau)) return 1;
    printf("%.17g %.17g\\n", tau[0], tau[1]);
    return 0;
}
"""
BY_PACKAGE = """
cmake_minimum_required(VERSION 3.11)
project(controller C CXX)
find_package(arm 2.1 REQUIRED)
message(STATUS "found arm ${arm_VERSION}")
add_executable(in_c main.c)
target_link_libraries(in_c PRIVATE arm::arm)
add_executable(in_cpp main.cpp)
target_link_libraries(in_cpp PRIVATE arm::arm)
"""
BY_FOLDER = """
cmake_minimum_required(VERSION 3.11)
project(controller CXX)
add_subdirectory(generated/arm arm)
add_executable(in_cpp main.cpp)
target_link_libraries(in_cpp PRIVATE arm::arm)
add_library(wrapper main.cpp)
target_link_libraries(wrapper PRIVATE arm::arm)
install(TARGETS wrapper DESTINATION lib)
"""


def run(*command: object, **variables: str) -> str:
    done = subprocess.run(
        [str(c) for c in command], capture_output=True, text=True, check=False, env={**os.environ, **variables}
    )
    assert done.returncode == 0, f"{command}:\n{done.stdout}\n{done.stderr}"
    return done.stdout


def check(printed: str) -> None:
    close(np.array(printed.split(), float), ID([0.1, 0.2], [0.3, 0.4], [0.5, 0.6]), 1e-14)


@pytest.fixture(scope="module")
def exported(tmp_path_factory) -> Path:
    return od.codegen.export([ID], tmp_path_factory.mktemp("exported") / "arm", version="2.1.0")


@pytest.fixture(scope="module")
def installed(exported) -> Path:
    """The library as CMake installs it, shared."""
    return install(exported, "ON")


def install(exported: Path, shared: str) -> Path:
    build, prefix = exported.parent / f"build_{shared}", exported.parent / f"prefix_{shared}"
    run("cmake", "-S", exported, "-B", build, f"-DBUILD_SHARED_LIBS={shared}")
    run("cmake", "--build", build)
    run("cmake", "--install", build, "--prefix", prefix)
    return prefix


def project(folder: Path, text: str) -> Path:
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text(text)
    for name in ("main.c", "main.cpp"):
        (folder / name).write_text(MAIN)
    return folder


@pytest.mark.parametrize("shared", ["ON", "OFF"])
@pytest.mark.slow
def test_find_package(exported, tmp_path, shared):
    prefix = install(exported, shared)
    library = prefix / "lib" / ("libarm.so" if shared == "ON" else "libarm.a")
    assert library.exists()
    consumer = project(tmp_path / "controller", BY_PACKAGE)
    printed = run("cmake", "-S", consumer, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    assert "found arm 2.1.0" in printed
    run("cmake", "--build", tmp_path / "build")
    for program in ("in_c", "in_cpp"):
        check(run(tmp_path / "build" / program))


@pytest.mark.slow
def test_find_package_of_another_version(installed, tmp_path):
    """A newer one, or one of another major version, is not taken."""
    for wanted in ("2.2", "1.0"):
        consumer = project(tmp_path / wanted, BY_PACKAGE.replace("arm 2.1", f"arm {wanted}").replace("C CXX", "C"))
        command = ["cmake", "-S", consumer, "-B", tmp_path / f"build{wanted}", f"-DCMAKE_PREFIX_PATH={installed}"]
        failed = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
        assert failed.returncode
        assert "2.1.0" in failed.stderr


@pytest.mark.slow
def test_add_subdirectory(exported, tmp_path):
    """In a project of C++ alone, which installs what it makes; the example and its test are not part of it."""
    consumer = project(tmp_path / "controller", BY_FOLDER)
    shutil.copytree(exported, consumer / "generated" / "arm")
    run("cmake", "-S", consumer, "-B", tmp_path / "build", "-DBUILD_SHARED_LIBS=ON")
    run("cmake", "--build", tmp_path / "build")
    check(run(tmp_path / "build" / "in_cpp"))
    assert not list((tmp_path / "build").rglob("*example*"))
    run("cmake", "--install", tmp_path / "build", "--prefix", tmp_path / "prefix")
    assert (tmp_path / "prefix" / "include" / "arm.h").exists()
    run("cmake", "-S", consumer, "-B", tmp_path / "build", "-DARM_INSTALL=OFF")
    run("cmake", "--install", tmp_path / "build", "--prefix", tmp_path / "bare")
    assert not (tmp_path / "bare" / "include").exists()


def test_pkg_config(installed, tmp_path):
    (tmp_path / "main.c").write_text(MAIN)
    where = {"PKG_CONFIG_PATH": str(installed / "lib" / "pkgconfig")}
    assert run("pkg-config", "--modversion", "arm", **where).strip() == "2.1.0"
    flags = run("pkg-config", "--cflags", "--libs", "arm", **where).split()
    run("cc", tmp_path / "main.c", *flags, "-o", tmp_path / "main")
    check(run(tmp_path / "main", LD_LIBRARY_PATH=str(installed / "lib")))


@pytest.mark.parametrize("compiler", ["cc", "c++"])
@pytest.mark.slow
def test_a_plain_compiler(exported, tmp_path, compiler):
    """All sources in one call, without a build system."""
    program = tmp_path / ("main.c" if compiler == "cc" else "main.cpp")
    program.write_text(MAIN)
    objects = []
    for source in sorted(exported.glob("arm*.c")):
        objects.append(tmp_path / f"{source.stem}.o")
        run("cc", "-std=c99", "-O1", "-c", source, "-o", objects[-1])
    run(compiler, f"-I{exported}", program, *objects, "-lm", "-o", tmp_path / "main")
    check(run(tmp_path / "main"))


@pytest.mark.parametrize("version", ["1.0-rc1", "", "1.2.3.4.5", "v1", 1.0, "1;2"])
def test_versions(tmp_path, version):
    with pytest.raises(ValueError, match="version must be one to four numbers"):
        od.codegen.export([ID], tmp_path / "arm", version=version)
    assert not (tmp_path / "arm").exists()
