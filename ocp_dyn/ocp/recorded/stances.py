"""Stances of the feet in a recording: from measured forces, and from the equations of motion where no plate is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import casadi as ca
import numpy as np
from casadi import SX

from ..._base.types import Array, repr_in_message
from ...dynamics.kinematics import point_jacobian_6d, point_velocity, pose, resolve
from ...gait.cuts import load_of
from ...mechanism import Model
from ...recordings import Events, FittedMotion, Recording, events_from_forces, net_moments
from ...recordings.signals import complete_runs
from .curves import over_frames

MISSED = 0.08
"""Share of the weight from which on a vertical force that no plate measured is that of a foot beside the plates; the
errors of a fitted motion at 6 Hz make up to half of it."""

BRIEF = 0.05
"""Time that a foot must be beside the plates to count [s]."""

SHARE = (0.7, 1.4)
"""Range of the measured over the needed vertical force, on average while the plates carry the body."""


@dataclass(frozen=True)
class Stance:
    """A time of a foot on the ground, from `begin` to `end` [s]; measured: on a force plate."""

    foot: str
    begin: float
    end: float
    measured: bool = True


@dataclass(frozen=True)
class Support:
    """Support by the ground in a recording: stances, all wrenches on the feet at the times of the motion, and events of
    the measured forces."""

    stances: tuple[Stance, ...]
    wrenches: Recording
    events: Events


def missing_wrench(motion: FittedMotion, forces: Recording, root: Sequence[str]) -> Array:
    """Wrench (N, 6) about the world's origin that the equations of motion need beside the measured forces, so that
    nothing acts on the joints of the root; NaN where motion or forces are not known."""
    model = motion.model
    dofs = [k for name in root for k in range(model.nv)[model.qd_slice(name)]]
    found = np.full((motion.times.size, 6), np.nan)
    tau = net_moments(motion, forces).tau[:, dofs]
    there = ~np.isnan(tau).any(axis=1)
    body = model.body_names[model.joint_names.index(root[-1])]
    q = SX.sym("q", model.nq)
    _, p = pose(model, resolve(model, body), q)
    J = point_jacobian_6d(model, resolve(model, body), q)
    about = ca.vertcat(J[:3, :], J[3:, :] + ca.skew(p) @ J[:3, :])  # velocity of the body's point at the origin
    columns = over_frames(ca.Function("J", [q], [ca.densify(about[:, dofs])]), motion.q[there])
    transposed = columns.reshape(there.sum(), len(dofs), 6)
    found[there] = [np.linalg.lstsq(J, t, rcond=None)[0] for J, t in zip(transposed, tau[there], strict=True)]
    return found


def support_of(motion: FittedMotion, forces: Recording, root: Sequence[str], begin: float, end: float) -> Support:
    """Stances and wrenches of all feet between two times; a foot beside the plates gets what others do not carry."""
    least = load_of(motion.model)
    events = events_from_forces(forces, threshold=least)
    stances = [s for name in forces.names for s in _measured(forces, events, name, least, begin, end)]
    at = forces.resample(times=motion.times)
    missing = missing_wrench(motion, forces, root)
    _check_share(motion.model, at, missing, begin, end)
    wrenches = np.nan_to_num(at.values)
    for stance in _beside(motion, missing[:, 5], forces.names, stances, begin, end):
        stances.append(stance)
        there = (motion.times >= stance.begin) & (motion.times <= stance.end)
        wrenches[there, forces.names.index(stance.foot)] += missing[there]
    return Support(tuple(stances), Recording(forces.names, motion.times, wrenches, forces.units), events)


def _measured(forces: Recording, events: Events, name: str, least: float, begin: float, end: float) -> list[Stance]:
    """Stances of a foot on plates, cut at both times."""
    crossings = sorted([(t, True) for t in events.strikes[name]] + [(t, False) for t in events.offs[name]])
    if not crossings:
        loaded = bool(np.nanmedian(forces[name][:, 5]) > least)
        return [Stance(name, begin, end)] if loaded else []
    if not crossings[0][1]:
        crossings.insert(0, (-np.inf, True))
    if crossings[-1][1]:
        crossings.append((np.inf, False))
    pairs = [(a, b) for (a, up), (b, _) in pairwise(crossings) if up]
    return [Stance(name, max(a, begin), min(b, end)) for a, b in pairs if a < end and b > begin]


def _beside(
    motion: FittedMotion, up: Array, feet: Sequence[str], stances: Sequence[Stance], begin: float, end: float
) -> list[Stance]:
    """Stances of feet beside the plates: the slowest foot that no plate carries, while a vertical force is missing."""
    t, model = motion.times, motion.model
    inside = (t >= begin - 1e-9) & (t <= end + 1e-9)
    lost = inside & (np.nan_to_num(up) > MISSED * model.weight)
    if not lost.any():
        return []
    assert motion.qd is not None
    q, qd = SX.sym("q", model.nq), SX.sym("qd", model.nv)
    speeds = ca.vertcat(*(ca.norm_2(point_velocity(model, foot, q, qd)) for foot in feet))
    speed = over_frames(ca.Function("speeds", [q, qd], [ca.densify(speeds)]), motion.q, motion.qd)
    for k, foot in enumerate(feet):
        for stance in stances:
            if stance.foot == foot:
                speed[(t >= stance.begin) & (t <= stance.end), k] = np.inf
    nearest = np.where(np.isfinite(speed.min(axis=1)), speed.argmin(axis=1), -1)
    found = []
    for k, foot in enumerate(feet):
        for a, b in complete_runs(~(lost & (nearest == k))):
            first, last = t[a], t[b - 1]
            if last - first >= BRIEF:
                near = min((s.end for s in stances if s.foot == foot and s.end <= first), default=begin)
                first = first if first - max(near, begin) > BRIEF else max(near, begin)
                found.append(Stance(foot, float(first), float(min(last, end)), measured=False))
    return found


def _check_share(model: Model, forces: Recording, missing: Array, begin: float, end: float) -> None:
    """ValueError for forces that are far from what the motion of the body needs."""
    t = forces.times
    up = np.nan_to_num(forces.values[:, :, 5]).sum(axis=1)
    need = up + missing[:, 5]
    carried = (t >= begin) & (t <= end) & (up > 0.5 * np.nan_to_num(need)) & (need > 0.2 * model.weight)
    if not carried.any():
        least = load_of(model)
        if up[(t >= begin) & (t <= end)].max(initial=0.0) <= least:
            raise ValueError(
                f"track: no foot is loaded by more than {least:.3g} N between {begin:.4g} and {end:.4g} s: look "
                "at the units and axes of the forces, and at their columns"
            )
        return
    share = float(np.median(up[carried] / need[carried]))
    if not SHARE[0] < share < SHARE[1]:
        raise ValueError(
            f"track: the measured forces are {share:.2f} times those that the motion of {repr_in_message(model.name)} "
            f"with its {model.mass:.4g} kg needs: is the recording of another body? scale the model to the subject "
            f"(some {model.mass * share:.3g} kg), or look at the units of the forces"
        )


def whole_stride(motion: FittedMotion, forces: Recording, root: Sequence[str]) -> tuple[float, float]:
    """(begin, end) of the stride, from strike to strike or from lift-off to lift-off of a foot, of which the plates
    have measured most."""
    events, t = events_from_forces(forces), motion.times
    known = t[~np.isnan(motion.q).any(axis=1)]
    first, last = max(known[0], forces.times[0]), min(known[-1], forces.times[-1])
    every = [(a, b) for found in (events.strikes, events.offs) for times in found.values() for a, b in pairwise(times)]
    inside = [(a, b) for a, b in every if a >= first - 1e-9 and b <= last + 1e-9]
    if not inside:
        told = "; ".join(f"{foot} strikes at {_listed(x)}, leaves at {_listed(events.offs[foot])} s"
                         for foot, x in events.strikes.items())  # fmt: skip
        raise ValueError(
            f"track: no whole stride lies within the recording, from {first:.4g} to {last:.4g} s ({told}): give "
            "between=(begin, end) in seconds"
        )
    up = np.abs(np.nan_to_num(missing_wrench(motion, forces, root)[:, 5]))
    lost = [float(np.mean(up[(t >= a) & (t <= b)])) for a, b in inside]
    return inside[int(np.argmin(np.round(np.array(lost) / motion.model.weight, 2)))]


def _listed(times: Array) -> str:
    return ", ".join(f"{x:.4g}" for x in times) or "no time"


def cut(stances: Sequence[Stance], begin: float, end: float, least: float) -> list[tuple[float, float, list[Stance]]]:
    """(begin, end, stances) of the phases between two times: cut where a foot comes or goes, but no closer than `least`
    [s]; a stance belongs to the phases of which it covers the middle."""
    edges = [begin]
    for t in sorted(x for s in stances for x in (s.begin, s.end)):
        if t - edges[-1] > least and end - t > least:
            edges.append(t)
    edges.append(end)
    return [
        (a, b, [s for s in stances if s.begin <= (a + b) / 2 <= s.end])
        for a, b in pairwise(edges)
    ]  # fmt: skip
