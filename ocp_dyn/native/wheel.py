"""The libraries of a wheel: every library for every variant of the processors of this kind, and the tag of the wheel.

`python -m ocp_dyn.native.wheel FOLDER` fills a folder and prints the platform of the tag; without a C compiler that can
do it, it prints the reason on stderr and ends with status 1. The package build runs it, so this module imports nothing
but Python's own modules.
"""

from __future__ import annotations

import ctypes
import os
import platform
import re
import sys
import sysconfig
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from .processes import group
from .toolchain import find_compiler
from .variants import FOLDER, NAMES, file_name, processor_features, sources, supported, variants_of

NEEDED = re.compile(rb"\0((?:lib|ld-linux)[\w.+-]*\.so[\w.]*)(?=\0)")
"""Names of libraries in a library's table of texts."""

VERSION = re.compile(rb"\0GLIBC_(\d+)\.(\d+)(?:\.\d+)?(?=\0)")
"""Versions of the C library that functions need."""

EVERYWHERE = re.compile(rb"(?:libc|libm)\.so\.6|libpthread\.so\.0|libgcc_s\.so\.1|ld-linux[\w.-]*\.so\.\d")
"""Libraries that PEP 600 allows."""

OLDEST = (2, 17)
"""The oldest C library of PEP 600 for these processors."""


def make(folder: Path) -> list[Path]:
    """Compiles all libraries into a folder; RuntimeError without a compiler, if it fails, or if this processor does not
    load what it should run."""
    compiler, variants = find_compiler(), variants_of(platform.machine())
    if compiler is None:
        raise RuntimeError("there is no C compiler")
    if platform.system() != "Linux" or not variants:
        raise RuntimeError(f"there are no variants for {platform.system()} on {platform.machine()}")
    wanted = [(name, variant) for name in NAMES for variant in variants]
    with TemporaryDirectory() as stage, group() as compilers, ThreadPoolExecutor(os.cpu_count()) as pool:

        def one(name: str, flag: str, made: Path) -> Path:
            compiler.make_library(compilers, sources(FOLDER / name), Path(stage), made, flag)
            return made

        tasks = [pool.submit(one, name, v.flag, folder / file_name(name, v)) for name, v in wanted]
        made = [task.result() for task in tasks]
    own = {variant.name for variant in supported(platform.machine(), processor_features())}
    for path, (_, variant) in zip(made, wanted, strict=True):
        if variant.name in own:
            try:
                ctypes.CDLL(str(path))
            except OSError as error:
                raise RuntimeError(f"the compiler {compiler.name} is not one for this machine: {error}") from None
    return made


def platform_tag(contents: Iterable[bytes], system: str) -> str:
    """The platform of a wheel with these libraries: manylinux of the newest version of the C library that they need, or
    `system` if they need a library that not every Linux has."""
    versions = [OLDEST]
    for content in contents:
        if any(not EVERYWHERE.fullmatch(name) for name in NEEDED.findall(content)):
            return system
        versions += [(int(major), int(minor)) for major, minor in VERSION.findall(content)]
    major, minor = max(versions)
    return f"manylinux_{major}_{minor}_{system.removeprefix('linux_')}"


def main() -> int:
    try:
        made = make(Path(sys.argv[1]))
    except (OSError, RuntimeError) as error:
        print(error, file=sys.stderr)
        return 1
    system = re.sub(r"[-.]", "_", sysconfig.get_platform())
    print(platform_tag((path.read_bytes() for path in made), system))
    return 0


if __name__ == "__main__":
    sys.exit(main())
