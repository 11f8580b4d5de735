"""The hook of the package build: a wheel brings the native libraries along if there is a C compiler, else it is pure.

A pure wheel makes them on the user's machine, if that has a compiler, and does without them otherwise. Checkouts do the
same: an editable installation compiles nothing.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class NativeLibraries(BuildHookInterface[Any]):
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "standard":
            return
        self._folder = TemporaryDirectory()
        # a program of its own, so that it takes the sources beside this file, whatever this process has imported
        command = [sys.executable, "-m", "ocp_dyn.native.wheel", self._folder.name]
        environment = os.environ | {"PYTHONPATH": self.root}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            self.app.display_warning(f"a wheel without native libraries: {done.stderr.strip()}")
            return
        for path in Path(self._folder.name).iterdir():
            build_data["force_include"][str(path)] = f"ocp_dyn/native/prebuilt/{path.name}"
        build_data.update(pure_python=False, tag=f"py3-none-{done.stdout.strip()}")

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version == "standard":
            self._folder.cleanup()
