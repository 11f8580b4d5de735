"""`ocp-dyn export`: functions of a model as C code."""

from __future__ import annotations

import argparse

from .. import _names as od
from ..codegen.c_export.writing import exported_files
from .inputs import functions_of, model_of, words
from .streams import UsageError, as_json, table, tell_replaced


def run(options: argparse.Namespace) -> int:
    functions = functions_of(options, model_of(options))
    tell_replaced(options.out / "README.md")
    try:
        folder = od.codegen.export(
            functions, options.out, prefix=options.prefix, dense=options.dense, lanes=options.lanes,
            precision=options.precision, derivatives=words(options.derivatives) or False,
            pack=not options.no_pack,
        )  # fmt: skip
    except (TypeError, ValueError) as error:
        raise UsageError(str(error)) from None
    sizes = {f.name(): int(f.n_instructions()) for f in functions}
    files = {path.relative_to(folder).as_posix(): path.stat().st_size for path in exported_files(folder)}
    if options.json:
        print(as_json({"folder": str(folder), "functions": sizes, "files": files}))
        return 0
    print(table(("function", "instructions"), [(name, str(size)) for name, size in sizes.items()], right=[1]))
    print(f"\n{len(files)} files, {sum(files.values()) / 1e3:.0f} kB, in {folder}: README.md tells how to call them")
    return 0
