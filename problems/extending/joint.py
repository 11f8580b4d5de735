"""A joint of your own is a frozen dataclass derived from `od.Joint` with one method, `jcalc`.

`q_labels` and `qd_labels` name the entries of q and qd ("" for a single one). `jcalc(q, qd)` returns the transform from
the fixed frame to the moved one, the motion subspace S (6 x nv, moved axes, angular part first), `S qd`, and the
acceleration cJ = dS/dt qd (zero if S is constant). Write it with CasADi's operations.

The joint then works in every algorithm. A model with it can be saved if its fields are numbers, texts and tuples of
these. A file names the class; you give the class when you load the file: `od.load_model(path, joints=(Screw,))`.

    python -m problems.extending.joint
"""

from dataclasses import dataclass

import casadi as ca
from casadi import DM

import ocp_dyn as od
from ocp_dyn.spatial_algebra.rotations import rotation_about


@dataclass(frozen=True)
class Screw(od.Joint):
    """A nut on a screw: turned by q [rad] about a unit axis, it advances by pitch q [m] along it."""

    pitch: float
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    q_labels = qd_labels = ("",)

    def jcalc(self, q: ca.SX, qd: ca.SX) -> od.JointState:
        axis = ca.sparsify(DM(self.axis))
        XJ = od.Transform(rotation_about(self.axis, q).T, self.pitch * axis * q)
        S = ca.vertcat(axis, self.pitch * axis)
        return od.JointState(XJ, S, S @ qd, DM(6, 1))


if __name__ == "__main__":
    nut = od.ModelBuilder("nut")
    nut.add_body("nut", Screw(0.01), mass=0.1, inertia=(1e-5, 1e-5, 2e-5))
    print("torque that holds the nut [N m]:", od.gravity_force(nut.build(), DM([0.0])))
