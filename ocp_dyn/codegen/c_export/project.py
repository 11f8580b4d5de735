"""Build files of an export: CMakeLists.txt, and a file with which pkg-config finds the installed library."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..kernels.interface import Entry
from ..kernels.names import printable
from ..machine_code.toolchain import LARGE


def cmake(mark: str, prefix: str, sources: Sequence[str], large: Iterable[str]) -> str:
    """CMakeLists.txt: the library, install rules and, unless another project includes it, the example as a test.

    large: the sources of functions of more than LARGE instructions.
    """
    macro = prefix.upper()
    library_sources = [name for name in sources if name != f"{prefix}_external.c"]
    lines = [
        f"# {mark}.",
        "cmake_minimum_required(VERSION 3.11)",
        f"project({prefix} C)",
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
        f"set_target_properties({prefix} PROPERTIES",
        "  C_STANDARD 99 POSITION_INDEPENDENT_CODE ON WINDOWS_EXPORT_ALL_SYMBOLS ON)",
        f"target_include_directories({prefix} PUBLIC",
        "  $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}> $<INSTALL_INTERFACE:include>)",
        'if(CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")',
        f"  target_compile_options({prefix} PRIVATE",
        "    -O2 -ffp-contract=fast -fno-math-errno -fno-tree-slp-vectorize)",
        f"  if({macro}_ARCH)",
        f"    target_compile_options({prefix} PRIVATE -march=${{{macro}_ARCH}})",
        f"    target_compile_definitions({prefix} PRIVATE {macro}_ONE_SET)",
        "  endif()",
        *_spared(large),
        "endif()",
        "if(UNIX)",
        f"  target_link_libraries({prefix} PUBLIC m)",
        "endif()",
        'if(CMAKE_SYSTEM_NAME STREQUAL "Linux") # functions of libm are bound when the library loads, not in a first call',
        f"  target_link_libraries({prefix} PRIVATE -Wl,-z,now)",
        "endif()",
        f"install(TARGETS {prefix} LIBRARY DESTINATION lib ARCHIVE DESTINATION lib RUNTIME DESTINATION bin)",
        f"install(FILES {prefix}.h DESTINATION include)",
        f"install(FILES {prefix}.pc DESTINATION lib/pkgconfig)",
        "",
        "if(CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR)",
        "  enable_testing()",
        f"  add_executable({prefix}_example example.c)",
        f"  target_link_libraries({prefix}_example PRIVATE {prefix})",
        f"  add_test(NAME {prefix}_example COMMAND {prefix}_example)",
        "endif()",
    ]
    return "\n".join(lines) + "\n"


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


def pkg_config(mark: str, prefix: str, entries: Sequence[Entry]) -> str:
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
            "Version: 1.0.0",
            f"Libs: -L${{libdir}} -l{prefix} -lm",
            "Cflags: -I${includedir}",
            "",
        ]
    )
