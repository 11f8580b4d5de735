"""Build files of an export: CMakeLists.txt, and a file with which pkg-config finds the installed library."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..._types import shown
from ..kernels.interface import Entry
from ..kernels.names import printable
from ..machine_code.toolchain import LARGE


def check_version(version: object) -> None:
    """ValueError unless `version` is a version that CMake and pkg-config compare: one to four numbers."""
    if not isinstance(version, str) or not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9}){0,3}", version):
        raise ValueError(f'version must be one to four numbers, such as "1.2.3", got {shown(version)}')


def cmake(
    mark: str, prefix: str, sources: Sequence[str], large: Iterable[str], version: str, packed: bool = False
) -> str:
    """CMakeLists.txt: the library PREFIX::PREFIX, install rules and, unless another project includes it, the example as
    a test.

    large: the sources of functions of more than LARGE instructions. version: of the library, "1.2.3". packed: whether
    some code is packed; then the option PREFIX_PLAIN chooses the other form of it.
    """
    macro = prefix.upper()
    library_sources = [name for name in sources if name != f"{prefix}_external.c"]
    lines = [
        f"# {mark}.",
        "cmake_minimum_required(VERSION 3.11...3.31)",
        f"project({prefix} VERSION {version} LANGUAGES C)",
        "",
        f'set({macro}_ARCH "" CACHE STRING',
        '  "instruction set for -march, such as native; empty: any processor, and batches choose at run time")',
        "if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)",
        "  set(CMAKE_BUILD_TYPE Release)",
        "endif()",
        "if(CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR)",
        '  option(BUILD_SHARED_LIBS "build a shared library, which Python and CasADi can load" ON)',
        "endif()",
        "",
        f"set({macro}_SOURCES",
        *(f"  {name}" for name in library_sources),
        ")",
        *_external(prefix, sources),
        f"add_library({prefix} ${{{macro}_SOURCES}})",
        f"add_library({prefix}::{prefix} ALIAS {prefix})",
        f"set_target_properties({prefix} PROPERTIES",
        "  C_STANDARD 99 POSITION_INDEPENDENT_CODE ON WINDOWS_EXPORT_ALL_SYMBOLS ON)",
        f"target_include_directories({prefix} PUBLIC",
        "  $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}> $<INSTALL_INTERFACE:include>)",
        'if(CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")',
        f"  target_compile_options({prefix} PRIVATE",
        # vectors wider than a register pass between static functions only, so that no convention matters
        "    -O2 -ffp-contract=fast -fno-math-errno -fno-tree-slp-vectorize -Wno-psabi)",
        f"  if({macro}_ARCH)",
        f"    target_compile_options({prefix} PRIVATE -march=${{{macro}_ARCH}})",
        f"    target_compile_definitions({prefix} PRIVATE {macro}_ONE_SET)",
        "  endif()",
        *_spared(large),
        "endif()",
        *(_plain(prefix) if packed else []),
        "if(UNIX)",
        f"  target_link_libraries({prefix} PUBLIC m)",
        "endif()",
        *_bound_when_loaded(prefix),
        *_installed(prefix),
        "",
        "if(CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR)",
        "  enable_testing()",
        f"  add_executable({prefix}_example example.c)",
        f"  target_link_libraries({prefix}_example PRIVATE {prefix})",
        f"  add_test(NAME {prefix}_example COMMAND {prefix}_example)",
        "endif()",
    ]
    return "\n".join(lines) + "\n"


def _plain(prefix: str) -> list[str]:
    macro = prefix.upper()
    return [
        f'option({macro}_PLAIN "code without vector statements, which compilers other than GCC and Clang get" OFF)',
        f"if({macro}_PLAIN)",
        f"  target_compile_definitions({prefix} PRIVATE {macro}_PLAIN)",
        "endif()",
    ]


def _bound_when_loaded(prefix: str) -> list[str]:
    return [
        f"get_target_property({prefix.upper()}_KIND {prefix} TYPE)",
        f'if({prefix.upper()}_KIND STREQUAL "SHARED_LIBRARY" AND CMAKE_SYSTEM_NAME STREQUAL "Linux")',
        "  # functions of libm are bound when the library loads, not in a first call",
        f'  set_property(TARGET {prefix} APPEND_STRING PROPERTY LINK_FLAGS " -Wl,-z,now")',
        "endif()",
    ]


def _installed(prefix: str) -> list[str]:
    """Install rules: library, header, files for find_package and pkg-config."""
    folder = f"lib/cmake/{prefix}"
    version_file = f"${{CMAKE_CURRENT_BINARY_DIR}}/{prefix}ConfigVersion.cmake"
    return [
        "",
        f'option({prefix.upper()}_INSTALL "install the library, its header, and files for find_package and pkg-config" ON)',
        f"if({prefix.upper()}_INSTALL)",
        "  include(CMakePackageConfigHelpers)",
        f'  write_basic_package_version_file("{version_file}" COMPATIBILITY SameMajorVersion)',
        f"  install(TARGETS {prefix} EXPORT {prefix}Targets",
        "    LIBRARY DESTINATION lib ARCHIVE DESTINATION lib RUNTIME DESTINATION bin)",
        f"  install(EXPORT {prefix}Targets FILE {prefix}Config.cmake NAMESPACE {prefix}:: DESTINATION {folder})",
        f'  install(FILES "{version_file}" DESTINATION {folder})',
        f"  install(FILES {prefix}.h DESTINATION include)",
        f"  install(FILES {prefix}.pc DESTINATION lib/pkgconfig)",
        "endif()",
    ]


def _external(prefix: str, sources: Sequence[str]) -> list[str]:
    if f"{prefix}_external.c" not in sources:
        return []
    macro = prefix.upper()
    return [
        f'option({macro}_CASADI "add the functions under their names without the prefix, for casadi.external" ON)',
        f"if({macro}_CASADI)",
        f"  list(APPEND {macro}_SOURCES {prefix}_external.c)",
        "endif()",
    ]


def _spared(large: Iterable[str]) -> list[str]:
    names = list(large)
    if not names:
        return []
    return [
        f"  # functions of more than {LARGE} operations: -O2 would compile much longer and gain little speed",
        f"  set_source_files_properties({' '.join(names)} PROPERTIES COMPILE_OPTIONS -O1)",
    ]


def pkg_config(mark: str, prefix: str, entries: Sequence[Entry], version: str) -> str:
    """PREFIX.pc, for the folder lib/pkgconfig of the place where the library is installed."""
    models = list(dict.fromkeys(printable(entry.model) for entry in entries if entry.model))
    # $ and # have a meaning in this format
    of = f" of {', '.join(models)}".replace("$", "$$").replace("#", "") if models else ""
    functions = ", ".join(entry.name for entry in entries)
    return "\n".join(
        [
            f"# {mark}.",
            "prefix=${pcfiledir}/../..",
            "libdir=${prefix}/lib",
            "includedir=${prefix}/include",
            "",
            f"Name: {prefix}",
            f"Description: Functions{of}: {functions}",
            f"Version: {version}",
            f"Libs: -L${{libdir}} -l{prefix} -lm",
            "Cflags: -I${includedir}",
            "",
        ]
    )
