"""A solved motion: time grid, states, controls, contact forces, cost by term; checks and files."""

from __future__ import annotations

import json
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM, MX

from .._types import Array
from ..constrained import constrained_dynamics
from ..constraints import Contact
from ..dynamics import forward_dynamics
from ..functions import function
from ..io.json import model_from_dict, model_to_dict
from ..joints import Joint, Prismatic
from ..model import Model
from .mirror import MirrorMap, mirror_map
from .stage import Foothold

FILE_FORMAT = "ocp_dyn solution 1"
PHASE_ARRAYS = ("t", "q", "v", "a", "tau", "lam")


@dataclass(frozen=True, eq=False)
class PhaseSolution:
    """One phase: N intervals between N + 1 nodes.

    t (N+1) [s]; q (N+1, nq), v (N+1, nv) at the nodes; a (N, nv), tau (N, nv), lam (N, m) on the intervals; places:
    (x, y, yaw) of every foothold by contact name.
    """

    name: str
    t: Array
    q: Array
    v: Array
    a: Array
    tau: Array
    lam: Array
    contacts: tuple[Contact, ...]
    places: dict[str, Array]

    @property
    def duration(self) -> float:
        """[s]"""
        return float(self.t[-1] - self.t[0])

    @property
    def wrenches(self) -> dict[str, Array]:
        """[moment; force] (N, 6) on every foot at its contact point, world axes, by contact name."""
        found, k = {}, 0
        for contact in self.contacts:
            m = len(contact.rows)
            rows = self.lam[:, k : k + m]
            found[contact.name] = np.array([np.array(Foothold(contact).wrench(DM(r)).full()).ravel() for r in rows])
            k += m
        return found


@dataclass(frozen=True, eq=False)
class Defects:
    """How far the transcription is from the equations of motion, by re-integration at a tight tolerance.

    Each interval is integrated from its node, torques held, contact forces recomputed: `angle` [rad] and
    `length` [m] are the largest differences at its end, over joints and over the base's position. `open_loop_*`:
    the same over whole phases integrated in one go, which an unstable walker amplifies.
    """

    angle: float
    length: float
    open_loop_angle: float
    open_loop_length: float
    by_interval: Array


@dataclass(frozen=True, eq=False)
class Solution:
    """A motion that `Problem.solve` found. `phases` in order; `cost` by term; `stats` of the solver."""

    model: Model
    phases: tuple[PhaseSolution, ...]
    cost: dict[str, float]
    impulses: tuple[Array, ...]
    step_length: float
    mirrored: bool
    stats: dict[str, Any]

    @property
    def converged(self) -> bool:
        return bool(self.stats["converged"])

    @property
    def status(self) -> str:
        return str(self.stats["status"])

    @property
    def objective(self) -> float:
        return sum(self.cost.values())

    @property
    def duration(self) -> float:
        """Time of the whole motion [s]."""
        return float(self.phases[-1].t[-1])

    @property
    def t(self) -> Array:
        """Times of all nodes [s]; a time at which phases meet appears once for each."""
        return np.concatenate([phase.t for phase in self.phases])

    @property
    def q(self) -> Array:
        return np.concatenate([phase.q for phase in self.phases])

    @property
    def v(self) -> Array:
        return np.concatenate([phase.v for phase in self.phases])

    @property
    def tau(self) -> Array:
        return np.concatenate([phase.tau for phase in self.phases])

    def mechanical_work(self) -> tuple[float, float]:
        """Positive and negative work of all joints [J], torques times the intervals' joint displacements."""
        positive = negative = 0.0
        for phase in self.phases:
            h = np.diff(phase.t)[:, None]
            work = phase.tau * (phase.v[:-1] + phase.v[1:]) / 2 * h
            positive += float(work[work > 0].sum())
            negative += float(work[work < 0].sum())
        return positive, negative

    def cost_of_transport(self) -> float:
        """Positive mechanical work of the joints per weight and distance [1]; ValueError for a motion in place."""
        if not self.step_length:
            raise ValueError("cost_of_transport needs a motion that moves on: a Periodic one with a step length")
        weight = self.model.mass * float(np.linalg.norm(self.model.gravity))
        return self.mechanical_work()[0] / (weight * self.step_length)

    def defects(self) -> Defects:
        """Re-integrates every interval, and every phase as a whole; see `Defects`."""
        nodes, opens = [], []
        for phase in self.phases:
            flow = _flow(self.model, phase.contacts)
            h = np.diff(phase.t)
            q_open, v_open = phase.q[0], phase.v[0]
            for k in range(len(h)):
                q1, _ = _advance(flow, phase.q[k], phase.v[k], phase.tau[k], h[k])
                nodes.append(_distance(self.model, q1, phase.q[k + 1]))
                q_open, v_open = _advance(flow, q_open, v_open, phase.tau[k], h[k])
            opens.append(_distance(self.model, q_open, phase.q[-1]))
        by_interval, whole = np.array(nodes), np.array(opens)
        angle, length = by_interval.max(axis=0)
        return Defects(float(angle), float(length), float(whole[:, 0].max()), float(whole[:, 1].max()), by_interval)

    def mirror(self) -> MirrorMap | None:
        """The mirror map, if the motion repeats mirrored."""
        return mirror_map(self.model) if self.mirrored else None

    def sample(self, times: Array) -> Array:
        """Configurations (len(times), nq) at any times [s] >= 0; a periodic motion goes on step after step."""
        t, q = self.t, self.q
        mirror = self.mirror() if self.step_length else None
        found = []
        for time in np.asarray(times, dtype=float):
            steps = int(time // self.duration) if self.step_length else 0
            local = min(time - steps * self.duration, self.duration)
            k = int(np.clip(np.searchsorted(t, local, side="right") - 1, 0, len(t) - 2))
            width = t[k + 1] - t[k]
            step = self.model.difference(q[k], q[k + 1]) * ((local - t[k]) / width if width > 0 else 0.0)
            configuration = self.model.integrate(q[k], step)
            if mirror is not None and steps % 2:
                configuration = mirror.q(configuration)
            x = np.array(configuration.full()).ravel()
            if self.step_length:
                x[0] += steps * self.step_length
            found.append(x)
        return np.array(found)

    def animate(self, path: str | Path, **options: Any) -> Path:
        """Writes an animation (.gif); see `ocp_dyn.viz.animate`."""
        from ..viz import animate

        return animate(self, path, **options)

    def plot(self, path: str | Path | None = None, **options: Any) -> Any:
        """Joint angles, torques and contact forces over time; see `ocp_dyn.viz.plot`."""
        from ..viz import plot

        return plot(self, path, **options)

    def save(self, path: str | Path) -> Path:
        """Writes everything to one .npz file, the model included; `Solution.load` reads it back.

        The folder is made if it is missing; the file appears complete or not at all.
        """
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        arrays: dict[str, Array] = {f"impulse{k}": impulse for k, impulse in enumerate(self.impulses)}
        phases = []
        for k, phase in enumerate(self.phases):
            arrays |= {f"{key}{k}": getattr(phase, key) for key in PHASE_ARRAYS}
            phases.append(
                {
                    "name": phase.name,
                    "contacts": [{"body": c.name, "point": c.point, "axes": c.axes} for c in phase.contacts],
                    "places": {name: [float(x) for x in place] for name, place in phase.places.items()},
                }
            )
        about = {
            "format": FILE_FORMAT,
            "model": model_to_dict(self.model),
            "phases": phases,
            "cost": self.cost,
            "step_length": self.step_length,
            "mirrored": self.mirrored,
            "stats": self.stats,
        }
        partial = path.with_name(path.name + ".part")
        with partial.open("wb") as file:
            np.savez_compressed(file, about=np.array(json.dumps(about)), **arrays)  # type: ignore[arg-type]
        partial.replace(path)
        return path

    @staticmethod
    def load(path: str | Path) -> Solution:
        """Reads a file that `save` wrote; ValueError if it is another kind of file, or damaged."""
        arrays = _read(Path(path))
        about = json.loads(str(arrays["about"])) if "about" in arrays else {}
        if about.get("format") != FILE_FORMAT:
            raise ValueError(f"{path} is not a solution file of this version: save it again with Solution.save")
        missing = {f"{key}{k}" for k in range(len(about["phases"])) for key in PHASE_ARRAYS} - set(arrays)
        if missing:
            raise ValueError(f"{path} is damaged, it lacks {', '.join(sorted(missing))}: save the solution again")
        phases = tuple(
            PhaseSolution(
                name=phase["name"],
                **{key: arrays[f"{key}{k}"] for key in PHASE_ARRAYS},
                contacts=tuple(Contact(c["body"], c["point"], c["axes"]) for c in phase["contacts"]),
                places={name: np.array(place) for name, place in phase["places"].items()},
            )
            for k, phase in enumerate(about["phases"])
        )
        impulses = tuple(arrays[f"impulse{k}"] for k in range(sum(name.startswith("impulse") for name in arrays)))
        return Solution(
            model=model_from_dict(about["model"]),
            phases=phases,
            cost=about["cost"],
            impulses=impulses,
            step_length=about["step_length"],
            mirrored=about["mirrored"],
            stats=about["stats"],
        )


def _read(path: Path) -> dict[str, Array]:
    """All arrays of an .npz file, each with its checksum checked."""
    damaged = f"{path} is not a solution file, or it is damaged: save the solution again with Solution.save"
    try:
        with path.open("rb") as stream:
            file = np.load(stream, allow_pickle=False)
            if isinstance(file, np.lib.npyio.NpzFile):
                return {name: file[name] for name in file}
    except (ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(damaged) from error
    raise ValueError(damaged)


def _flow(model: Model, contacts: tuple[Contact, ...]) -> ca.Function:
    """(q, v) after time h under constant torques: the tight-tolerance integrator of `defects`."""
    x, p = MX.sym("x", model.nq + model.nv), MX.sym("p", model.nv + 1)
    q, v = ca.vertsplit(x, [0, model.nq, model.nq + model.nv])
    tau, h = ca.vertsplit(p, [0, model.nv, model.nv + 1])
    if contacts:
        qdd = function(constrained_dynamics, model, contacts)(q, v, tau)[0]
    else:
        qdd = function(forward_dynamics, model)(q, v, tau)
    ode: Any = {"x": x, "p": p, "ode": h * ca.vertcat(model.q_dot(q, v), qdd)}
    options: Any = {"abstol": 1e-10, "reltol": 1e-10, "linear_multistep_method": "adams"}
    return ca.integrator("flow", "cvodes", ode, 0.0, 1.0, options | {"nonlinear_solver_iteration": "functional"})


def _advance(flow: ca.Function, q: Array, v: Array, tau: Array, h: float) -> tuple[Array, Array]:
    x = np.array(flow(x0=np.concatenate([q, v]), p=np.concatenate([tau, [h]]))["xf"]).ravel()
    return x[: q.size], x[q.size :]


def _distance(model: Model, q0: Array, q1: Array) -> tuple[float, float]:
    """Largest difference of angles [rad] and of lengths [m] between two configurations."""
    gap = np.abs(np.array(model.difference(q0, q1).full()).ravel())
    lengths = np.array([is_length for joint in model.joints[1:] for is_length in _lengths(joint)])
    return float(gap[~lengths].max(initial=0.0)), float(gap[lengths].max(initial=0.0))


def _lengths(joint: Joint) -> list[bool]:
    """Which degrees of freedom of a joint are translations: by its class, or by its labels."""
    return [isinstance(joint, Prismatic) or label in ("x", "y", "z", "t") for label in joint.v_labels]
