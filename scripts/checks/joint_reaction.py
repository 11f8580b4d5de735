"""`python -m scripts.checks.joint_reaction MODEL.osim`: loads of joints beside OpenSim's.

At random states OpenSim, in a process of its own, OPENSIM_PYTHON if this environment variable names the Python that has
it, pulls every muscle with a random tension, finds the accelerations, and tells the reaction on the child of every
joint. `od.muscles.joint_reaction` gets the same coordinates, speeds, accelerations and tensions.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys

import numpy as np

import ocp_dyn as od

RUN = """
import json, sys
import numpy as np
import opensim
opensim.Logger.setLevelString('Error')
model = opensim.Model(sys.argv[1])
state = model.initSystem()
rng = np.random.default_rng(int(sys.argv[2]))
forces = model.getForceSet()
for k in range(forces.getSize()):
    if opensim.Muscle.safeDownCast(forces.get(k)) is None:
        forces.get(k).setAppliesForce(state, False)
constraints = model.getConstraintSet()
for k in range(constraints.getSize()):
    constraints.get(k).setIsEnforced(state, False)
coordinates = [model.getCoordinateSet().get(k) for k in range(model.getNumCoordinates())]
for c in coordinates:
    c.setLocked(state, False)
    c.setClamped(state, False)
out = []
for _ in range(int(sys.argv[3])):
    for c in coordinates:
        low, high = max(c.getRangeMin(), -0.8), min(c.getRangeMax(), 0.8)
        c.setValue(state, rng.uniform(low, high) if low < high else c.getDefaultValue(), False)
        c.setSpeedValue(state, rng.uniform(-1, 1))
    tensions = {}
    for k in range(model.getMuscles().getSize()):
        muscle = model.getMuscles().get(k)
        tensions[muscle.getName()] = rng.uniform(10, 800)
        muscle.overrideActuation(state, True)
        muscle.setOverrideActuation(state, tensions[muscle.getName()])
    model.realizeAcceleration(state)
    loads = {}
    for k in range(model.getJointSet().getSize()):
        joint = model.getJointSet().get(k)
        v = joint.calcReactionOnChildExpressedInGround(state)
        p = joint.getChildFrame().getPositionInGround(state)
        rows = [v.get(0), v.get(1), p]
        loads[joint.getName()] = [[row.get(j) for j in range(3)] for row in rows]
    values = lambda c: [c.getValue(state), c.getSpeedValue(state), c.getAccelerationValue(state)]
    out.append({'coordinates': {c.getName(): values(c) for c in coordinates}, 'tensions': tensions, 'loads': loads})
print('RESULT' + json.dumps(out))
"""


def theirs(path: str, seed: int, count: int) -> list[dict[str, dict[str, list[float]]]]:
    """States, tensions and loads that OpenSim finds."""
    python = os.environ.get("OPENSIM_PYTHON", sys.executable)
    done = subprocess.run([python, "-c", RUN, path, str(seed), str(count)], capture_output=True, text=True, check=True)
    found: list[dict[str, dict[str, list[float]]]] = json.loads(done.stdout.rpartition("RESULT")[2].splitlines()[0])
    return found


def exact_load(model: od.Model, joint: str, case: dict[str, dict[str, list[float]]], about: np.ndarray) -> np.ndarray:
    """The load in world axes about a point of the world, with exact paths."""
    rows = case["coordinates"]
    q, qd, qdd = (np.array([rows[name][k] for name in model.q_names]) for k in range(3))
    tensions = np.array([case["tensions"][name] for name in model.muscle_names], dtype=float)
    R = np.array(od.muscles.joint_reaction(model, q, qd, qdd, joint)).ravel()
    R -= tensions @ od.muscles.muscle_wrenches(model, q, joint, lines="opensim")
    axes, origin = (np.array(x) for x in od.pose(model, model.body_names[model.joint_names.index(joint)], q))
    moment, force = axes @ R[:3], axes @ R[3:]
    return np.concatenate([moment + np.cross(origin.ravel() - about, force), force])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--states", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    model = od.load(options.model, keep_locked=True, up="y")
    worst: dict[str, list[float]] = {}
    for case in theirs(options.model, options.seed, options.states):
        for joint, (moment, force, point) in case["loads"].items():
            if joint not in model.joint_names:
                continue
            ours = exact_load(model, joint, case, np.array(point))
            off = ours - np.concatenate([moment, force])
            size = max(np.linalg.norm(force), 1.0)
            worst.setdefault(joint, []).append(float(np.abs(off[3:]).max() / size))
            worst.setdefault(f"{joint} moment", []).append(float(np.abs(off[:3]).max() / size))
    for name, errors in worst.items():
        print(f"{name:28s} {max(errors):.1e}")


if __name__ == "__main__":
    main()
