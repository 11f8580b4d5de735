"""Inverse dynamics of a recorded motion with the measured forces of the ground."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .._base import checks
from .._base.types import Array, repr_in_message
from ..codegen import compile as machine_code
from ..dynamics.kinematics import resolve
from ..dynamics.rnea_crba_aba import inverse_dynamics
from ..functions.function import function
from ..gait.gait import Gait
from ..mechanism.loads import Loads
from .events import Events
from .fitting.placed import interpreted, turning_dofs
from .measured_gait import measured_gait
from .motion import FittedMotion
from .recording import Recording


@dataclass(frozen=True, eq=False)
class NetMoments:
    """Generalized forces tau (N, nv) along a recorded motion, dual to `model.qd_names`: net moments of joints [N m] and
    forces [N]; those of the first joint are residuals. forces: on the feet, at the times of the motion, or None.

    >>> end = od.recordings.Recording("end", np.arange(5) / 10, [[[-1.0, 0, 0]]] * 5, "m")
    >>> motion = od.recordings.fit_motion(rod, end, places={"end": ("tip", (0, 0, 0))}).derived()
    >>> od.recordings.net_moments(motion).tau.round(3).ravel().tolist()  # the rod is held level: m g l / 2
    [4.905, 4.905, 4.905, 4.905, 4.905]
    """

    motion: FittedMotion
    tau: Array
    forces: Recording | None = None

    def _recording(self, values: Array, units: tuple[str, ...]) -> Recording:
        return Recording(self.motion.model.qd_names, self.motion.times, values, units, "Net moments")

    @property
    def moments(self) -> Recording:
        """tau as a recording, which `write` brings into a .sto file."""
        units = tuple("N m" if turns else "N" for turns in turning_dofs(self.motion.model))
        return self._recording(self.tau, units)

    @property
    def powers(self) -> Recording:
        """tau qd [W]: what the moments do to the body."""
        assert self.motion.qd is not None
        return self._recording(self.tau * self.motion.qd, ("W",))

    @property
    def residuals(self) -> Recording:
        """Forces and moments of the first joint, which nothing exerts on a free body: errors of model and recording."""
        model = self.motion.model
        return self.moments.select([model.qd_names[k] for k in model.dofs_of(1)])

    @property
    def carried(self) -> Array:
        """Whether the vertical forces are at least half of the weight, frame by frame: in other frames of a walk a foot
        stands where nothing measures it, and residuals are mainly the force that is missing. All without forces."""
        if self.forces is None:
            return np.ones(self.motion.times.size, dtype=bool)
        model = self.motion.model
        g = np.array(model.gravity, dtype=float).ravel()
        return np.asarray(-(self.forces.values[..., 3:] @ g).sum(axis=1) >= 0.5 * float(model.mass) * float(g @ g))

    def __repr__(self) -> str:
        on = self.carried if self.carried.any() else np.ones(self.motion.times.size, dtype=bool)
        force = np.sqrt(np.nanmean(self.residuals.values[on] ** 2, axis=0))
        where = "" if on.all() else f" in the {on.sum()} with the weight on the plates"
        return (
            f"NetMoments({self.motion.times.size} frames, {self.motion.model.nv} dofs, root mean squares of the first "
            f"joint{where} {', '.join(f'{x:.3g}' for x in force)})"
        )

    def gait(self, side: str = "right", *, events: Events | None = None, foot: str = "", title: str = "") -> Gait:
        """Angles, moments and powers of hip, knee and ankle, angles of pelvis and trunk, the center of mass and the
        ground force over the first whole stride of a side, by body mass and weight; see `Gait` for signs. Its
        `plot(reference="winter")` shows them in measured bands.

        foot: its frame among the forces; default: that whose body is on that side. events: default: those of the
        forces. title: of the recording in pictures; default: the name of the model. ValueError without a whole stride,
        or hips, knees and ankles.
        """
        side = checks.choice(side, ("left", "right"), "gait: side")
        found = measured_gait(self.motion, self.tau, self.forces, side, events, foot)
        return replace(found, title=title) if title else found


def net_moments(
    motion: FittedMotion, forces: Recording | None = None, *, passive: bool = False, compiled: bool = False
) -> NetMoments:
    """Net moments of the joints along a motion, with the measured wrenches of the ground on its feet:

        tau = H qdd + C - sum over feet of J' [moment about the world's origin; force]

    motion: with qd and qdd, from `fit_motion(smooth=)`, `filtered` or `derived`. forces: wrenches by names of frames of
    the model, in the axes of its world, at any times; they are interpolated, and frames outside come out as NaN.
    passive: leave the torques of springs and tissue out of tau. compiled: by machine code, which is made once and kept.

    [RBDA, table 5.1], forces of the ground as external forces. Cost: O(nb) for each frame.

    >>> end = od.recordings.Recording("end", np.arange(5) / 10, [[[0.0, 0, -1.0]]] * 5, "m")
    >>> motion = od.recordings.fit_motion(rod, end, places={"end": ("tip", (0, 0, 0))}).derived()
    >>> push = od.recordings.Recording("tip", [0.0, 1.0], [[[0, -3.0, 0, 3.0, 0, 0]]] * 2, "N m, N")
    >>> od.recordings.net_moments(motion, push).tau[0].round(9).tolist()  # 3 N at 1 m, against qd
    [3.0]
    """
    if not isinstance(motion, FittedMotion):
        raise TypeError(f"net_moments needs a FittedMotion, as fit_motion makes it, got {repr_in_message(motion)}")
    if motion.qd is None or motion.qdd is None:
        raise ValueError(
            "net_moments needs velocities and accelerations, which this motion does not have: fit_motion(smooth=6.0), "
            "motion.filtered(6.0), or motion.derived() for splines through all frames"
        )
    model, names = motion.model, tuple[str, ...]()
    arguments = [motion.q, motion.qd, motion.qdd]
    at = None
    if forces is not None:
        if not isinstance(forces, Recording) or forces.kind != "wrenches":
            raise TypeError(f"net_moments: forces must be a Recording of wrenches, got {repr_in_message(forces)}")
        for name in forces.names:
            resolve(model, name)
        at, names = forces.resample(times=motion.times), forces.names
        arguments.append(at.values)
    loads = Loads(passive=checks.truth(passive, "net_moments: passive"), external=names)
    ID = function(inverse_dynamics, model, loads=loads)
    there = np.all([~np.isnan(a.reshape(len(a), -1)).any(axis=1) for a in arguments], axis=0)
    given = [np.ascontiguousarray(a[there]) for a in arguments]
    if checks.truth(compiled, "net_moments: compiled"):
        code = machine_code([ID], lanes=8, single=False)["ID"]
        found = code(*given[:3], *(np.ascontiguousarray(w.swapaxes(1, 2)) for w in given[3:]))
    else:
        found = interpreted(ID, *given[:3], *(w.reshape(len(w), -1) for w in given[3:]))
    tau = np.full((motion.times.size, model.nv), np.nan)
    tau[there] = np.asarray(found).reshape(-1, model.nv)
    return NetMoments(motion, tau, at)
