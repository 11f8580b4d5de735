"""`python -m scripts.checks.musculature SUBJECT.osim`: muscles of the human model beside those of an OpenSim subject.

The subject is one of the kind of Rajagopal et al. 2016. The human model gets legs of the size of `REFERENCE`, in which
the tables of its muscles are given. Moment arms of both are compared at postures within the ranges of walking and
within wide ones. The heel of the subject is longer: its calf's arms about the ankle are multiplied by the ratio of the
heels. `--record FILE` writes the arms of the subject at the postures of walking, for the tests.
"""

from __future__ import annotations

import argparse
import csv
from dataclasses import replace
from pathlib import Path

import numpy as np

import ocp_dyn as od
from ocp_dyn.models.musculature.fitted import REFERENCE, Skeleton, musculature

JOINTS = {
    "hip flexion": ("hip_l.ry", "hip_flexion_l", -1.0),
    "hip abduction": ("hip_l.rx", "hip_adduction_l", -1.0),
    "hip rotation": ("hip_l.rz", "hip_rotation_l", -1.0),
    "knee": ("knee_l", "knee_angle_l", 1.0),
    "ankle": ("ankle_l", "ankle_angle_l", -1.0),
}
"""Our dof, the subject's coordinate, and the sign between them, on the left."""
TILT = np.radians(5.8)
"""Flexion of the subject's hip where ours is zero: our pelvis has the tilt of walking."""
HEEL = 48.77 / 59.90
"""Heel behind the ankle of the foot in the tables over that of the scaled subject."""
RANGES = {
    "walking": ((-12, 35), (-10, 8), (-10, 10), (0, 70), (-20, 15)),
    "wide": ((-20, 100), (-30, 25), (-25, 25), (0, 115), (-40, 25)),
}
"""Degrees of the subject's coordinates, in the order of `JOINTS`."""
CALF = ("soleus_l", "gaslat_l", "gasmed_l")
COUNT = 64


def postures(ranges: tuple[tuple[float, float], ...]) -> np.ndarray:
    """Halton points in ranges [rad] (n x coordinates)."""
    from scipy.stats import qmc  # takes a second to import

    share = qmc.Halton(len(ranges), scramble=False).random(COUNT + 1)[1:]
    low, high = np.radians(np.array(ranges)).T
    return low + share * (high - low)


def reference_human() -> od.Model:
    """The human model with muscles in a skeleton of the size of `REFERENCE`."""
    model = od.models.human(height=REFERENCE.height, tissue=False)
    r, tree = REFERENCE, list(model.X_tree)
    places = {"thigh": (0, r.spacing / 2, 0), "shank": (0, 0, -r.thigh), "talus": (0, 0, -r.shank)}
    for body, (x, y, z) in places.items():
        for side, out in (("l", 1), ("r", -1)):
            i = model.body_names.index(f"{body}_{side}") + 1
            tree[i] = od.Transform(tree[i].E, np.array([x, out * y, z], dtype=float))
    muscles, wraps = musculature(Skeleton(**vars(r)), toes=False)
    return replace(model, X_tree=tuple(tree)).with_muscles(muscles, wraps)


def our_arms(model: od.Model, angles: np.ndarray) -> dict[str, np.ndarray]:
    """Moment arms (n x joints) [m] of the muscles of the left leg, at angles of the subject."""
    q = np.tile(np.array(model.neutral(), dtype=float).ravel(), (len(angles), 1))
    for k, (dof, _, sign) in enumerate(JOINTS.values()):
        q[:, model.q_names.index(dof)] = sign * (angles[:, k] - (TILT if k == 0 else 0.0))
    found = od.muscles.path_geometry(model, q)
    dofs = [model.qd_names.index(dof) for dof, _, _ in JOINTS.values()]
    return {name: found.moment_arms[:, j][:, dofs] for j, name in enumerate(found.names) if name.endswith("_l")}


def subject_arms(model: od.Model, angles: np.ndarray) -> dict[str, np.ndarray]:
    """Those of the subject, in our signs and with its heel scaled; the patella follows the knee."""
    q = np.zeros((len(angles), model.nq))
    for k, (_, name, _) in enumerate(JOINTS.values()):
        q[:, model.q_names.index(name)] = angles[:, k]
    q[:, model.q_names.index("knee_angle_l_beta")] = angles[:, 3]
    found = od.muscles.path_geometry(model, q)
    arms = np.array(found.moment_arms)
    arms[:, :, model.qd_names.index("knee_angle_l")] += arms[:, :, model.qd_names.index("knee_angle_l_beta")]
    dofs = [model.qd_names.index(name) for _, name, _ in JOINTS.values()]
    arms = arms[:, :, dofs] * np.array([sign for _, _, sign in JOINTS.values()])
    arms[:, [found.names.index(name) for name in CALF], -1] *= HEEL
    return {name: arms[:, j] for j, name in enumerate(found.names) if name.endswith("_l")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("subject", type=Path)
    parser.add_argument("--record", type=Path)
    options = parser.parse_args()
    subject, human = od.load(options.subject), reference_human()
    for label, ranges in RANGES.items():
        angles = postures(ranges)
        theirs, ours = subject_arms(subject, angles), our_arms(human, angles)
        print(f"\n{label}: RMS and largest difference of moment arms [mm], mean arm in brackets")
        for name, arms in theirs.items():
            off = 1e3 * (ours[name] - arms)
            rms, most, mean = np.sqrt(np.mean(off**2, axis=0)), np.abs(off).max(axis=0), 1e3 * arms.mean(axis=0)
            crossed = [k for k in range(len(JOINTS)) if np.abs(arms[:, k]).max() > 1e-6]
            cells = [f"{tuple(JOINTS)[k]} {rms[k]:.1f} {most[k]:.1f} ({mean[k]:.0f})" for k in crossed]
            print(f"  {name[:-2]:13s}{'; '.join(cells)}")
        if options.record and label == "walking":
            with options.record.open("w", newline="") as file:
                rows = csv.writer(file, lineterminator="\n")
                rows.writerow(["muscle", "posture", *JOINTS])
                for name, arms in theirs.items():
                    rows.writerows([name, k, *(f"{1e3 * x:.1f}" for x in arms[k])] for k in range(0, COUNT, 8))


if __name__ == "__main__":
    main()
