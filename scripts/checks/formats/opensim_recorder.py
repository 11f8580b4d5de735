"""`python opensim_recorder.py MODEL.osim OUT.npz`: what OpenSim computes for a model at random states.

Runs where `opensim` and NumPy are installed, and uses nothing of this library. Columns are in the order of Simbody's
speeds; coordinates are freed, muscles and other forces are left out.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import opensim

STATES = 5


def vector(v: Any) -> Any:
    return np.array([v.get(k) for k in range(v.size())])


def three(v: Any) -> Any:
    return np.array([v.get(k) for k in range(3)])


class Recorder:
    """A model whose coordinates are free, and its state."""

    def __init__(self, path: str) -> None:
        self.model = model = opensim.Model(path)
        for k in range(model.updCoordinateSet().getSize()):
            coordinate = model.updCoordinateSet().get(k)
            coordinate.set_locked(False)
            coordinate.set_clamped(False)
            coordinate.set_prescribed(False)
        model.finalizeConnections()
        self.state = model.initSystem()
        for force in model.getComponentsList():
            if (one := opensim.Force.safeDownCast(force)) is not None:
                one.setAppliesForce(self.state, False)
        self.coordinates = self.by_speed()
        self.bodies = [model.getBodySet().get(k) for k in range(model.getBodySet().getSize())]
        self.markers = [model.getMarkerSet().get(k) for k in range(model.getMarkerSet().getSize())]

    def by_speed(self) -> list[Any]:
        """Coordinates in the order of the speeds, found by setting one at a time."""
        found = {}
        for k in range(self.model.getCoordinateSet().getSize()):
            coordinate = self.model.getCoordinateSet().get(k)
            self.state.setU(opensim.Vector(self.state.getNU(), 0.0))
            coordinate.setSpeedValue(self.state, 1.0)
            found[int(np.argmax(np.abs(vector(self.state.getU()))))] = coordinate
        return [found[k] for k in sorted(found)]

    def residual(self, udot: Any) -> Any:
        """Generalized forces of the tree that give these accelerations, with gravity, all other forces left out."""
        found = opensim.InverseDynamicsSolver(self.model).solve(
            self.state, opensim.Vector.createFromMat(np.array(udot, dtype=float))
        )
        return vector(found)

    def place(self, q: Any, u: Any) -> None:
        for coordinate, value, speed in zip(self.coordinates, q, u, strict=True):
            coordinate.setValue(self.state, float(value), False)
            coordinate.setSpeedValue(self.state, float(speed))
        self.model.realizeVelocity(self.state)

    def at(self, q: Any, u: Any, udot: Any) -> dict[str, Any]:
        model, state = self.model, self.state
        self.place(q, u)
        M = opensim.Matrix()
        model.getMatterSubsystem().calcM(state, M)
        zero = opensim.Vec3(0)
        found: dict[str, Any] = {
            "q": [c.getValue(state) for c in self.coordinates], "u": u, "udot": udot,
            "mass_matrix": [[M.get(i, j) for j in range(M.ncol())] for i in range(M.nrow())],
            "inverse_dynamics": self.residual(udot), "bias_term": self.residual(0 * np.array(udot)),
            "body_position": [three(b.findStationLocationInGround(state, zero)) for b in self.bodies],
            "body_velocity": [three(b.findStationVelocityInGround(state, zero)) for b in self.bodies],
            "body_angular_velocity": [three(b.getAngularVelocityInGround(state)) for b in self.bodies],
            "body_rotation": [
                np.column_stack([three(b.expressVectorInGround(state, opensim.Vec3(*e))) for e in np.eye(3)])
                for b in self.bodies
            ],
            "marker_position": [three(m.getLocationInGround(state)) for m in self.markers] or np.zeros((0, 3)),
        }  # fmt: skip
        self.place(q, 0 * np.array(u))
        return found | {"gravity_term": self.residual(0 * np.array(udot))}


def main(path: str, out: str) -> None:
    opensim.Logger.setLevelString("Off")
    recorder = Recorder(path)
    rng, n = np.random.default_rng(1), len(recorder.coordinates)
    rows = [recorder.at(*(rng.uniform(-span, span, n) for span in (1.2, 2.0, 5.0))) for _ in range(STATES)]
    names = {
        "coordinates": [c.getName() for c in recorder.coordinates], "bodies": [b.getName() for b in recorder.bodies],
        "markers": [m.getName() for m in recorder.markers],
    }  # fmt: skip
    np.savez(out, **names, **{key: np.array([row[key] for row in rows]) for key in rows[0]})


if __name__ == "__main__":
    main(*sys.argv[1:])
