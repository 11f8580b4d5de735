"""Recordings for the fuzz: mutated .trc, .mot, .sto, .csv and .c3d files, and setup files of scaling."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np

import ocp_dyn as od
from ocp_dyn.recordings.formats import _c3d_child, c3d

from .files import NUMBERS, Case, Rng, _damaged, _from_file, pick

WORDS = [*NUMBERS, "0,5", "time", "endheader", "nan", "mm", "m", "x" * 3000, "\t", "\n", "=", "1e400", "a=b", "1,2,3"]
"""Texts that are put in the place of others."""

SETUP = """<OpenSimDocument>\t<ScaleTool>\t<mass>\t62.5\t</mass>
<ModelScaler>\t<scaling_order>\tmeasurements manualScale\t</scaling_order>
<MeasurementSet>\t<objects>\t<Measurement name="m">\t<MarkerPairSet>\t<objects>
<MarkerPair>\t<markers>\ta b\t</markers>\t</MarkerPair>
</objects>\t</MarkerPairSet>\t<BodyScaleSet>\t<objects>
<BodyScale name="femur">\t<axes>\tX Y\t</axes>\t</BodyScale>
</objects>\t</BodyScaleSet>\t</Measurement>\t</objects>\t</MeasurementSet>
<ScaleSet>\t<objects>\t<Scale>\t<scales>\t1 1.2 0.9\t</scales>\t<segment>\tpelvis\t</segment>
</Scale>\t</objects>\t</ScaleSet>
<time_range>\t1 2\t</time_range>\t<preserve_mass_distribution>\ttrue\t</preserve_mass_distribution>\t</ModelScaler>
<MarkerPlacer>\t<IKTaskSet>\t<objects>\t<IKMarkerTask name="a">\t<weight>\t3\t</weight>\t</IKMarkerTask>
<IKCoordinateTask name="knee">\t<value_type>\tmanual_value\t</value_type>\t<value>\t0.2\t</value>
</IKCoordinateTask>\t</objects>\t</IKTaskSet>\t</MarkerPlacer>\t</ScaleTool>\t</OpenSimDocument>"""
"""A setup file whose elements and texts are parted by tabs."""


@cache
def _originals() -> dict[str, list[bytes]]:
    """Whole files of every format, as the library writes them, and headers of other programs."""
    rng = np.random.default_rng(0)
    t = np.arange(6) / 100
    points = rng.normal(size=(6, 3, 3))
    points[2, 1] = np.nan
    turns = rng.normal(size=(6, 2, 4))
    turns /= np.linalg.norm(turns, axis=-1, keepdims=True)
    made = {
        ".trc": [od.recordings.Recording(["R.Heel", "R.Toe", "S2"], t, points, ("m",))],
        ".sto": [
            od.recordings.Recording(["knee_angle", "pelvis_tx"], t, rng.normal(size=(6, 2)), ("deg",), "walk"),
            od.recordings.Recording(["torso_imu", "pelvis_imu"], t, turns),
        ],
        ".mot": [od.recordings.Recording(["r", "l"], t, rng.normal(size=(6, 2, 6)) * 100)],
        ".csv": [od.recordings.Recording(["hip", "knee"], t, rng.normal(size=(6, 2)), ("rad", "rad"))],
    }
    found: dict[str, list[bytes]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for ending, recordings in made.items():
            for k, recording in enumerate(recordings):
                path = Path(folder) / f"{k}{ending}"
                od.recordings.write(recording, path)
                found.setdefault(ending, []).append(path.read_bytes())
    found[".mot"].append(b"name a\ndatacolumns 2\ndatarows 2\nrange 0 1\nendheader\ntime\thip\n0 1\n1 2\n")
    found[".xml"] = [SETUP.encode()]
    if importlib.util.find_spec("ezc3d"):
        found[".c3d"] = [_c3d(points)]
    return found


def _c3d(points: np.ndarray) -> bytes:
    import ezc3d

    made = ezc3d.c3d()
    made["parameters"]["POINT"]["RATE"]["value"] = [100]
    made["parameters"]["POINT"]["LABELS"]["value"] = ["R.Heel", "R.Toe", "S2"]
    made["parameters"]["POINT"]["UNITS"]["value"] = ["mm"]
    made["data"]["points"] = np.concatenate([points, np.ones((6, 3, 1))], axis=2).transpose(2, 1, 0)
    with tempfile.TemporaryDirectory() as folder:
        made.write(f"{folder}/a.c3d")
        return Path(folder, "a.c3d").read_bytes()


def recordings(rng: Rng, ending: str = "") -> Case:
    """A mutated file of a recording; by default of any ending."""
    originals = _originals()
    ending = ending or pick(list(originals), rng)
    raw = pick(originals[ending], rng)
    raw = _damaged(raw, rng) if ending == ".c3d" or rng.random() < 0.4 else _changed(raw, rng)
    up = pick([None, None, "y", "z"], rng)
    decimal = pick([".", ".", ","], rng)
    if ending == ".xml":
        read_setup = od.recordings.read_scale_setup
        return Case(f"{ending}, {raw[:1500]!r}", lambda: _from_file(raw, ending, lambda path: repr(read_setup(path))))
    with_forks = patch.object(c3d, "subprocess", SimpleNamespace(run=_forked, TimeoutExpired=subprocess.TimeoutExpired))

    def read() -> str:
        with with_forks:
            return _from_file(raw, ending, lambda path: repr(od.recordings.read(path, up=up, decimal=decimal)))

    return Case(f"{ending}, up={up!r}, decimal={decimal!r}, {raw[:1200]!r}", read)


def _forked(command: list[str], timeout: float, **_: Any) -> subprocess.CompletedProcess[bytes]:
    """Output and exit code of the process that reads a .c3d file, as of `subprocess.run`, forked from this one: to
    start Python takes a hundred times as long as to read."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as error:
        child = os.fork()
        if not child:
            os.dup2(out.fileno(), 1)
            os.dup2(error.fileno(), 2)
            sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")  # a test runner has others
            code = _c3d_child.main(command[-2], int(command[-1]))
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        ended, end = 0, time.monotonic() + timeout
        while not ended:
            ended, status = os.waitpid(child, os.WNOHANG)
            if time.monotonic() > end:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                raise subprocess.TimeoutExpired(command, timeout)
            time.sleep(0.0005)
        out.seek(0), error.seek(0)
        return subprocess.CompletedProcess(command, os.waitstatus_to_exitcode(status), out.read(), error.read())


def _changed(raw: bytes, rng: Rng) -> bytes:
    """A text with words, lines or columns that are changed, left out or repeated."""
    lines = [line.split("\t") for line in raw.decode().split("\n")]
    for _ in range(int(rng.integers(1, 4))):
        row = lines[int(rng.integers(len(lines)))]
        k = int(rng.integers(len(row)))
        match int(rng.integers(6)):
            case 0:
                row[k] = pick(WORDS, rng)
            case 1:
                del row[k]
                row += [""] * (not row)
            case 2:
                row.insert(k, row[k])
            case 3:
                lines.insert(int(rng.integers(len(lines))), row)
            case 4:
                lines = [line for line in lines if line is not row] or [[""]]
            case _:
                for line in lines:
                    line[k : k + 1] = []
                    line += [""] * (not line)
    return "\n".join("\t".join(row) for row in lines).encode(pick(["utf-8", "utf-8", "utf-16", "utf-16-le"], rng))
