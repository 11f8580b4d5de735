"""`python -m scripts.checks.scaling MODEL.osim...`: models scaled to random subjects beside OpenSim's Scale Tool.

A setup file with measurements between markers, manual factors and a marker placer is written with a static trial that
is made from random sizes and a random posture, with errors of some mm. OpenSim runs it in a process of its own,
OPENSIM_PYTHON if this environment variable names the Python that has it; `read_scale_setup` and `scaled_to` do it here.
Compared are masses, centers, inertias, joint frames and joints, markers, paths, wrap objects, lengths of muscles, the
factors that were planted, and the mass matrix at random configurations.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import casadi as ca
import numpy as np

import ocp_dyn as od
from ocp_dyn import recordings

RUN = "import opensim, sys; opensim.Logger.setLevelString('Error'); opensim.ScaleTool(sys.argv[1]).run()"
"""Program of OpenSim's process, in the folder of the setup."""
TO_Y_UP = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])


def add(parent: ElementTree.Element, tag: str, text: Any = "", **attributes: str) -> ElementTree.Element:
    made = ElementTree.SubElement(parent, tag, attributes)
    made.text = text if isinstance(text, str) else " ".join(repr(float(x)) for x in np.ravel(text))
    return made


def objects(parent: ElementTree.Element, tag: str) -> ElementTree.Element:
    return add(add(parent, tag), "objects")


def groups_of(model: od.Model) -> dict[str, list[str]]:
    """Names of the frames that are fixed to each moving body."""
    found: dict[str, list[str]] = {name: [] for name in model.body_names}
    for name, frame in model.frames.items():
        if frame.body:
            found[model.body_names[frame.body - 1]].append(name)
    return found


class Case:
    """A subject: factors, static trial, setup, in a folder."""

    def __init__(self, path: Path, folder: Path, seed: int, keep: bool, errors: float) -> None:
        self.path, self.folder, self.rng = path, folder, np.random.default_rng(seed)
        self.model = od.load(path, keep_locked=True)
        self.keep, self.mass = keep, float(self.rng.uniform(50, 90))
        self.factors = {}
        for name, group in groups_of(self.model).items():
            alone = len(group) == 1 and not self._couples(name)
            s = self.rng.uniform(0.85, 1.15, 3) if alone else np.repeat(self.rng.uniform(0.85, 1.15), 3)
            self.factors |= {one: tuple(s.tolist()) for one in group}
        self.trial = self._trial(errors)
        self._setup()

    def _couples(self, name: str) -> bool:
        """Whether a body is in a coupling, which OpenSim scales only by equal factors."""
        return bool(self.model.constraints)

    def _trial(self, errors: float) -> recordings.Recording:
        """Markers of the scaled model in a posture near the default, with errors [m]; y up in the file."""
        real = recordings.scale_segments(self.model, self.factors)
        q = np.array(real.configurations["default"]) + self.rng.uniform(-0.1, 0.1, real.nq)
        q = np.clip(q, real.dofs.q_lower, real.dofs.q_upper)
        if real.constraints:
            q = np.array(od.assemble_q(real, real.constraints, q)).ravel()
        places = [np.array(od.point_position(real, m.body, q, m.point)).ravel() for m in real.markers]
        samples = np.array(places)[None] + errors * self.rng.standard_normal((5, len(places), 3))
        found = recordings.Recording([m.name for m in real.markers], 0.01 * np.arange(5), samples, "m")
        recordings.write(found, self.folder / "static.trc", up="y")
        self.posture = q
        return recordings.read(self.folder / "static.trc", up="y")

    def _setup(self) -> None:
        root = ElementTree.Element("OpenSimDocument", Version="40000")
        tool = add(root, "ScaleTool", name="subject")
        add(tool, "mass", self.mass)
        add(add(tool, "GenericModelMaker"), "model_file", str(self.path))
        scaler = add(tool, "ModelScaler")
        add(scaler, "scaling_order", "measurements manualScale")
        self._measurements(objects(scaler, "MeasurementSet"))
        scales = objects(scaler, "ScaleSet")
        for k, group in enumerate(groups_of(self.model).values()):
            for name in group if k % 2 or self.model.constraints else ():  # the others are measured
                scale = add(scales, "Scale")
                add(scale, "scales", self.factors[name])
                add(scale, "segment", name)
        for part in (scaler, placer := add(tool, "MarkerPlacer")):
            add(part, "marker_file", "static.trc")
            add(part, "time_range", (0.0, 0.03))
        add(scaler, "preserve_mass_distribution", str(self.keep).lower())
        add(scaler, "output_model_file", "scaled.osim")
        tasks = objects(placer, "IKTaskSet")
        for marker in self.model.markers:
            add(add(tasks, "IKMarkerTask", name=marker.name), "weight", self.rng.uniform(1, 10))
        for name in self.model.q_names[6:]:
            task = add(tasks, "IKCoordinateTask", name=name)
            add(task, "weight", 0.01)
            add(task, "value_type", "default_value")
        add(placer, "output_model_file", "placed.osim")
        ElementTree.ElementTree(root).write(self.folder / "setup.xml")

    def _measurements(self, parent: ElementTree.Element) -> None:
        """For every body with two markers: all its axes by the first two; then one axis by another pair."""
        for name in self.model.body_names:
            own = [m.name for m in self.model.markers if m.body == name]
            for axes, pairs in (("X Y Z", [own[:2]]), ("Y", [own[1:3], own[:2]])):
                if all(len(pair) == 2 for pair in pairs):
                    one = add(parent, "Measurement", name=f"{name}_{axes[0]}")
                    for pair in pairs:
                        add(add(objects(one, "MarkerPairSet") if pair is pairs[0] else one[0][0], "MarkerPair"),
                            "markers", " ".join(pair))  # fmt: skip
                    bodies = objects(one, "BodyScaleSet")
                    for body in groups_of(self.model)[name]:
                        add(add(bodies, "BodyScale", name=body), "axes", "X Y Z" if body != name or len(
                            groups_of(self.model)[name]) > 1 else axes)  # fmt: skip

    def theirs(self, name: str) -> od.Model:
        return od.load(self.folder / name, keep_locked=True)

    def run(self) -> dict[str, float]:
        python = os.environ.get("OPENSIM_PYTHON", sys.executable)
        done = subprocess.run([python, "-c", RUN, "setup.xml"], cwd=self.folder, capture_output=True, text=True,
                              check=False, timeout=300)  # fmt: skip
        if not (self.folder / "placed.osim").is_file():
            raise RuntimeError(f"OpenSim made no model: {done.stdout[-500:]} {done.stderr[-500:]}")
        setup = recordings.read_scale_setup(self.folder / "setup.xml")
        subject = recordings.scaled_to(self.model, self.trial, setup)
        marked = {marker.name: marker for marker in subject.model.markers}
        scaled = recordings.scale_segments(
            self.model, subject.factors, mass=self.mass, preserve_mass_distribution=self.keep
        )
        found = differences(scaled, self.theirs("scaled.osim"), self.rng)
        placed = self.theirs("placed.osim")
        apart = [np.linalg.norm(np.subtract(m.point, marked[m.name].point)) for m in placed.markers]
        found["placed markers [m]"] = max(apart, default=0.0)
        return found


def numbers(x: Any) -> Any:
    return np.array(ca.DM(x).full())


def differences(ours: od.Model, theirs: od.Model, rng: Any) -> dict[str, float]:
    """Largest differences of two models of the same names; lengths in m, others relative."""
    found: dict[str, float] = {}

    def note(key: str, a: Any, b: Any, relative: bool = False) -> None:
        a, b = np.array(a, dtype=float), np.array(b, dtype=float)
        off = float(np.abs(a - b).max(initial=0.0))
        size = max(float(np.abs(b).max(initial=0.0)), 1e-300) if relative else 1.0
        found[key] = max(found.get(key, 0.0), off / size)

    for i, _ in ours.edges:
        a, b = ours.I[i], theirs.I[i]
        note("mass", a.m, b.m, True)
        note("center [m]", a.central()[0], b.central()[0])
        note("inertia", a.central()[1], b.central()[1], True)
        note("joint frames [m]", ours.X_tree[i].r, theirs.X_tree[i].r)
    for name, f in ours.frames.items():
        note("frames [m]", f.X.r, theirs.frames[name].X.r)
    for a, b in zip(ours.markers, theirs.markers, strict=True):
        note("markers [m]", a.point, b.point)
    for a, b in zip(ours.wraps, theirs.wraps, strict=True):
        note("wrap objects [m]", (*a.sizes, *a.origin), (*b.sizes, *b.origin))
    for a, b in zip(ours.muscles, theirs.muscles, strict=True):
        for p, r in zip(a.path, b.path, strict=True):
            if hasattr(p, "point"):
                note("path points [m]", p.point, r.point)
        wrapped = " of wrapped paths" if a.wraps else ""
        if a.optimal_fiber_length is not None:
            lengths = [(m.optimal_fiber_length, m.tendon_slack_length) for m in (a, b)]
            note(f"fiber and tendon{wrapped}", *lengths, True)
    for _ in range(5):
        q = rng.uniform(-0.5, 0.5, ours.nq)
        note("mass matrix", numbers(od.mass_matrix(ours, q)), numbers(od.mass_matrix(theirs, q)), True)
    return found


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", type=Path, nargs="+")
    parser.add_argument("--cases", type=int, default=4, help="random subjects for each model")
    parser.add_argument("--errors", type=float, default=0.003, help="of the markers [m]")
    options = parser.parse_args(argv)
    for path in options.models:
        worst: dict[str, float] = {}
        for k in range(options.cases):
            with tempfile.TemporaryDirectory() as folder:
                for key, x in Case(path.resolve(), Path(folder), k, bool(k % 2), options.errors).run().items():
                    worst[key] = max(worst.get(key, 0.0), x)
        print(f"{path.name}, {options.cases} subjects")
        for key, x in worst.items():
            print(f"  {key:32} {x:.1e}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
