"""References of a horizon: from commands and the phase of the gait to contact times, footholds and references of nodes.

Both functions are symbolic, so that they are evaluated, and exported as C, like the dynamics. `advance` runs once per
step of the controller: it moves the phase of the gait, keeps the places of feet on the ground, and writes the schedule:
the next swings of every foot, each with its liftoff, touchdown and foothold. The schedule is data, which a user may
change. `node` reads from it what a node follows.

Footholds are those at which the hip is over the foot in the middle of the next stance, if the base moves as commanded,
plus `feedback` times the error of the base's velocity times sqrt(height / g) (M. Raibert, Legged Robots That Balance,
1986, ch. 2; the factor is that of the capture point, J. Pratt et al., Humanoids 2006).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import casadi as ca
from casadi import SX

from ...dynamics.kinematics import point_position, pose
from .feet import FAR, HARMONICS, POINT, SWINGS, Body

LEASH = (0.08, 0.08, 0.25)
"""Largest distance of the reference of the base from the base itself: forward and sideways [m], turning [rad]."""

GROUND_TIME = 0.1
"""Time constant of the estimate of the height of the ground under the feet [s]."""

EARLIEST, LATEST, DELAY = 0.5, 0.1, 0.015
"""Share of a swing from which a touch of the ground ends it; time that a late foot is waited for [s]; time until the
touchdown that is planned for a late foot [s]."""

SINKING = 0.3
"""Speed at which the place of a late foot sinks [m/s]."""

COMMAND = ("forward", "sideways", "turning", "height", "roll", "pitch", "walk")


class _Pose(NamedTuple):
    x: SX
    y: SX
    yaw: SX


def advance(body: Body) -> ca.Function:
    """advance(time, q, qd, command, gait, memory, touching) -> (memory', schedule, times).

    touching (feet): 1 for feet that feel the ground, 0 for others. A foot that touches down early stands from then on;
    one that is late goes on swinging, to a place that sinks.
    """
    sizes = {"time": 1, "q": body.model.nq, "qd": body.nv, "command": len(COMMAND), "gait": body.gait.size}
    sizes |= {"memory": body.memory.size, "touching": body.n}
    x = {name: SX.sym(name, size) for name, size in sizes.items()}
    time, q, command = x["time"], x["q"], x["command"]
    g, m = body.gait.split(x["gait"]), body.memory.split(x["memory"])
    phase, begin, end, halt = _begun(time, command, g, m)
    moving = begin, halt
    swing = _swinging(time, phase, (begin, end), x["touching"] > 0.5, g, m)
    feet = [_foot_pose(body, k, q) for k in range(body.n)]
    now = swing.now
    places = ca.vertcat(*(ca.if_else(now[k], m["places"][k, :], feet[k][0].T) for k in range(body.n)))
    yaws = ca.vertcat(*(ca.if_else(now[k], m["yaws"][k], feet[k][1]) for k in range(body.n)))
    down = 1 - now
    height = ca.if_else(ca.sum1(down) > 0, ca.dot(down, places[:, 2]) / ca.fmax(ca.sum1(down), 1), m["ground"])
    share = ca.fmin(1.0, (time - m["time"]) / GROUND_TIME)
    ground = m["ground"] + share * (height - m["ground"])
    standing = ca.logic_and(time > end, ca.sum1(now) < 0.5)
    anchor = _anchor(body, _moving(m["time"], time, moving), q, command, m, standing, places)
    parts = {"time": time, "phase": phase, "begin": begin, "end": end, "halt": halt, "ground": ground, "anchor": anchor}
    parts |= {"swinging": now, "landed": swing.landed, "places": places, "yaws": yaws}
    swings = _swings(body, time, swing, (begin, end), g)
    footholds = _footholds(body, (time, moving), (q, x["qd"]), command, g, anchor, ground, swings["touchdown"])
    footholds["z"] -= ca.horzcat(SINKING * swing.late, SX(body.n, SWINGS - 1))
    outputs = [body.memory.join(parts), body.schedule.join(swings | footholds), _times(body, time, phase, g)]
    names = ["memory_next", "schedule", "times"]
    return ca.Function("advance", list(x.values()), outputs, list(x), names, {"cse": True})


def _times(body: Body, time: SX, phase: SX, g: dict[str, SX]) -> SX:
    """Times of the nodes: now, then fixed phases of the gait, so that contacts change at the same nodes while the
    window moves on. The first interval lasts a quarter to five quarters of the second one."""
    base = float(body.grid[1])
    step = g["period"] / ca.fmax(ca.floor(g["period"] / base + 0.5), 1)
    passed = phase * g["period"] / step
    passed -= ca.floor(passed)
    passed = ca.if_else(passed > 0.75, passed - 1, passed)
    later = time + step * (body.grid[1:] / base - passed)
    return ca.vertcat(time, later)


class _Swinging(NamedTuple):
    """Feet that swing now; liftoff of their swing or of the next one, and whether it takes place; time for which they
    are late; feet that have landed early."""

    now: SX
    liftoff: SX
    going: SX
    late: SX
    landed: SX


def _swinging(time: SX, phase: SX, span: tuple[SX, SX], touching: SX, g: dict[str, SX], m: dict[str, SX]) -> _Swinging:
    """Whether feet swing, by the phase of the gait, the command, and what they feel."""
    fraction = ca.fmod(phase + g["offsets"], 1.0)
    stance, before = fraction < g["duty"], m["swinging"] > 0.5
    liftoff = time + (g["duty"] - fraction) * g["period"]
    going = ca.logic_and(liftoff >= span[0], liftoff < span[1])
    going = ca.if_else(stance, going, ca.logic_or(going, ca.logic_and(before, liftoff <= m["time"])))
    swings = ca.logic_and(ca.logic_not(stance), going)
    progress = (fraction - g["duty"]) / (1 - g["duty"] + 1e-9)
    lands = ca.logic_and(swings, ca.logic_or(m["landed"] > 0.5, ca.logic_and(touching, progress > EARLIEST)))
    lateness = fraction * g["period"]
    late = ca.logic_and(ca.logic_and(stance, before), ca.logic_and(ca.logic_not(touching), lateness < LATEST))
    liftoff = ca.if_else(late, liftoff - g["period"], ca.if_else(lands, liftoff + g["period"], liftoff))
    going = ca.logic_or(late, ca.if_else(lands, ca.logic_and(liftoff >= span[0], liftoff < span[1]), going))
    now = ca.logic_or(late, ca.logic_and(swings, ca.logic_not(lands)))
    return _Swinging(now, liftoff, going, late * lateness, lands)


def _moving(start: SX, end: SX, span: tuple[SX, SX]) -> SX:
    """The part of the time from start to end in which the base moves as commanded."""
    return ca.fmin(ca.fmax(end, span[0]), span[1]) - ca.fmin(ca.fmax(start, span[0]), span[1])


def _begun(time: SX, command: SX, g: dict[str, SX], m: dict[str, SX]) -> tuple[SX, SX, SX, SX]:
    """Phase of the gait; begin and end of the time in which swings begin; time at which the base halts. After the
    command to stop, the feet make steps in place for half a stride."""
    walk, walking = command[6] > 0.5, m["end"] > 0.5 * FAR
    starts = ca.logic_and(walk, ca.logic_not(walking))
    fresh = ca.logic_and(starts, ca.sum1(m["swinging"]) < 0.5)
    phase = m["phase"] + (time - m["time"]) / g["period"]
    at_start = g["duty"][0] - g["offsets"][0] - g["lead"] / g["period"]  # the first foot lifts after the lead
    phase = ca.if_else(fresh, at_start + 1, phase)
    begin = ca.if_else(starts, time + 0.999 * g["lead"], m["begin"])
    end = ca.if_else(walk, FAR, ca.if_else(walking, time + g["period"] / 2, m["end"]))
    halt = ca.if_else(walk, FAR, ca.if_else(walking, time, m["halt"]))
    return ca.fmod(phase + 1, 1.0), begin, end, halt


def _foot_pose(body: Body, k: int, q: SX) -> tuple[SX, SX]:
    """Place of a foot, and the yaw of its frame."""
    foot = body.feet[k]
    R, _ = pose(body.model, foot.frame, q)
    yaw = ca.atan2(R[1, 0], R[0, 0]) if foot.size != POINT else SX(0)
    return ca.densify(point_position(body.model, foot.frame, q, foot.point)), yaw


def base_yaw(q: SX) -> SX:
    """Heading of the base: the angle of its x axis about the vertical."""
    x, y, z, w = ca.vertsplit(q[3:7])
    return ca.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))


def _moved(start: _Pose, command: SX, t: SX) -> _Pose:
    """The pose that moves at the commanded velocities for a time t: along a circle, by its chord."""
    yaw, forward, sideways = start.yaw + command[2] * t / 2, command[0] * t, command[1] * t
    c, s = ca.cos(yaw), ca.sin(yaw)
    return _Pose(start.x + c * forward - s * sideways, start.y + s * forward + c * sideways, start.yaw + command[2] * t)


def _anchor(body: Body, dt: SX, q: SX, command: SX, m: dict[str, SX], standing: SX, places: SX) -> SX:
    """Place of the base as wanted now: moved as commanded, near the base; while standing amid the feet."""
    moved = _moved(_Pose(*ca.vertsplit(m["anchor"])), command, dt)
    now = base_yaw(q)
    error = ca.atan2(ca.sin(moved.yaw - now), ca.cos(moved.yaw - now))
    yaw = now + _clipped(error, LEASH[2])
    c, s = ca.cos(now), ca.sin(now)
    dx, dy = moved.x - q[0], moved.y - q[1]
    ahead, aside = _clipped(c * dx + s * dy, LEASH[0]), _clipped(c * dy - s * dx, LEASH[1])
    walking = ca.vertcat(q[0] + c * ahead - s * aside, q[1] + s * ahead + c * aside, yaw)
    middle = [float(x) for x in body.hips.mean(axis=0)]
    mean = ca.sum1(places).T / len(body.feet)
    held = now + _clipped(ca.atan2(ca.sin(m["anchor"][2] - now), ca.cos(m["anchor"][2] - now)), LEASH[2])
    ch, sh = ca.cos(held), ca.sin(held)
    amid = ca.vertcat(mean[0] - ch * middle[0] + sh * middle[1], mean[1] - sh * middle[0] - ch * middle[1], held)
    return ca.if_else(standing, amid, walking)


def _clipped(x: SX, most: float) -> SX:
    return ca.fmin(ca.fmax(x, -most), most)


def _swings(body: Body, time: SX, swing: _Swinging, span: tuple[SX, SX], g: dict[str, SX]) -> dict[str, SX]:
    """Liftoff and touchdown of the next swings of every foot; those that do not take place lie far away."""
    liftoffs, touchdowns = [], []
    for k in range(SWINGS):
        liftoff = swing.liftoff + k * g["period"]
        going = swing.going if k == 0 else ca.logic_and(liftoff >= span[0], liftoff < span[1])
        going = ca.logic_and(going, g["duty"] < 1)
        touchdown = liftoff + (1 - g["duty"]) * g["period"]
        if k == 0:
            touchdown = ca.if_else(swing.late > 0, time + DELAY, touchdown)
        liftoffs.append(ca.if_else(going, liftoff, FAR))
        touchdowns.append(ca.if_else(going, touchdown, FAR))
    return {"liftoff": ca.horzcat(*liftoffs), "touchdown": ca.horzcat(*touchdowns)}


def _footholds(
    body: Body,
    at: tuple[SX, tuple[SX, SX]],
    state: tuple[SX, SX],
    command: SX,
    g: dict[str, SX],
    anchor: SX,
    ground: SX,
    touchdown: SX,
) -> dict[str, SX]:
    """The foothold after every swing, on level ground."""
    (time, span), (q, qd) = at, state
    now = base_yaw(q)
    c, s = ca.cos(now), ca.sin(now)
    command = ca.vertcat(ca.if_else(time < span[1], command[:3], 0), command[3:])
    factor = g["feedback"] * ca.sqrt(command[3] / 9.81)
    error = qd[0] - c * command[0] + s * command[1], qd[1] - s * command[0] - c * command[1]
    x, y, yaw = (SX(len(body.feet), SWINGS) for _ in range(3))
    for i, (hip_x, hip_y) in enumerate(body.hips):
        for k in range(SWINGS):
            ahead = ca.fmin(touchdown[i, k] - time, SWINGS * g["period"]) + g["duty"][i] * g["period"] / 2
            place = _moved(_Pose(*ca.vertsplit(anchor)), command, _moving(time, time + ahead, span))
            ch, sh = ca.cos(place.yaw), ca.sin(place.yaw)
            x[i, k] = place.x + ch * hip_x - sh * hip_y + factor * error[0]
            y[i, k] = place.y + sh * hip_x + ch * hip_y + factor * error[1]
            yaw[i, k] = place.yaw
    n = len(body.feet)
    up = ca.horzcat(SX.zeros(n, 2), SX.ones(n))
    return {"x": x, "y": y, "z": ca.repmat(ground, n, SWINGS), "yaw": yaw, "normal": up}


def node(body: Body) -> ca.Function:
    """node(t, h, last, time, command, gait, memory, schedule, settings) -> p: what the node at time t follows over its
    interval h; last: 1 for the last node."""
    sizes = dict.fromkeys(("t", "h", "last", "time"), 1) | {"command": len(COMMAND)}
    sizes |= {name: getattr(body, name).size for name in ("gait", "memory", "schedule", "settings")}
    x = {name: SX.sym(name, size) for name, size in sizes.items()}
    g, m, s, w = (getattr(body, name).split(x[name]) for name in ("gait", "memory", "schedule", "settings"))
    middle = ca.if_else(x["t"] > x["time"], x["t"] + x["h"] / 2, x["t"])  # the first interval acts as the feet are now
    feet = [_swing(body, i, (x["t"], middle), g, m, s) for i in range(body.n)]
    parts: dict[str, SX] = {name: ca.vertcat(*(foot[name] for foot in feet)) for name in feet[0]}
    parts |= _weights(w, x["h"], x["last"]) | {"h": x["h"], "last": x["last"]}
    parts |= _posture(body, x, g, m) | {"force_ref": _shares(body, parts["contact"])}
    return ca.Function("node", list(x.values()), [body.node.join(parts)], list(x), ["p"], {"cse": True})


def _weights(w: dict[str, SX], h: SX, last: SX) -> dict[str, SX]:
    """Weights of a node: those of states count for its interval, or as long as the last node does; those of controls
    have no place at the last node."""
    states, controls = ("q", "qd", "foot_xy", "foot_z", "foot_turn"), ("qdd", "tau", "force")
    scale = ca.if_else(last > 0.5, w["terminal"], h)
    return w | {k: w[k] * scale for k in states} | {k: w[k] * h * (1 - last) for k in controls}


def _shares(body: Body, contact: SX) -> SX:
    """Forces of the feet that carry the weight in equal shares."""
    load = body.weight / ca.fmax(ca.sum1(contact), 1)
    up = [ca.vertcat(0, 0, load * contact[i]) for i in range(body.n)]
    return ca.vertcat(
        *(x if foot.size == POINT else ca.vertcat(SX.zeros(3), x) for foot, x in zip(body.feet, up, strict=True))
    )


def _posture(body: Body, x: dict[str, SX], g: dict[str, SX], m: dict[str, SX]) -> dict[str, SX]:
    """Configuration and velocity at the node's time: the base as commanded, joints as the gait or the posture has
    them."""
    t, time, command = x["t"], x["time"], x["command"]
    span = m["begin"], m["halt"]
    moving = ca.if_else(ca.logic_and(t >= span[0], t < span[1]), command[:3], 0.0)
    at = _moved(_Pose(*ca.vertsplit(m["anchor"])), command, _moving(time, t, span))
    angles, rates = _joints(body, m["phase"] + (t - time) / g["period"], g)
    walking = ca.logic_and(t >= m["begin"], t < m["end"])
    angles = ca.if_else(walking, angles, SX(body.posture[7:]))
    orientation = _quaternion(at.yaw, command[5], command[4])
    c, s = ca.cos(at.yaw), ca.sin(at.yaw)
    velocity = ca.vertcat(c * moving[0] - s * moving[1], s * moving[0] + c * moving[1], 0, 0, 0, moving[2])
    q_ref = ca.vertcat(at.x, at.y, m["ground"] + command[3], orientation, angles)
    return {"q_ref": q_ref, "qd_ref": ca.vertcat(velocity, ca.if_else(walking, rates, 0))}


def _joints(body: Body, phase: SX, g: dict[str, SX]) -> tuple[SX, SX]:
    """Angles of the joints and their rates at a phase of the stride."""
    angles, rates = g["joints"][:, 0], SX.zeros(body.nj)
    for k in range(1, HARMONICS + 1):
        turn = 2 * math.pi * k
        c, s = ca.cos(turn * phase), ca.sin(turn * phase)
        cosine, sine = g["joints"][:, 2 * k - 1], g["joints"][:, 2 * k]
        angles += c * cosine + s * sine
        rates += (c * sine - s * cosine) * turn / g["period"]
    return angles, rates


def _quaternion(yaw: SX, pitch: SX, roll: SX) -> SX:
    """The quaternion (x, y, z, w) of Rz(yaw) Ry(pitch) Rx(roll)."""
    (cz, sz), (cy, sy), (cx, sx) = ((ca.cos(a / 2), ca.sin(a / 2)) for a in (yaw, pitch, roll))
    return ca.vertcat(
        sx * cy * cz - cx * sy * sz, cx * sy * cz + sx * cy * sz, cx * cy * sz - sx * sy * cz,
        cx * cy * cz + sx * sy * sz,
    )  # fmt: skip


def _swing(
    body: Body, i: int, at: tuple[SX, SX], g: dict[str, SX], m: dict[str, SX], s: dict[str, SX]
) -> dict[str, SX]:
    """Contact of foot i in the middle of the interval, and the place and velocity that it follows at its begin.

    Between two places the foot moves by the polynomial of least jerk (T. Flash & N. Hogan, J. Neuroscience 5, 1985),
    and up and down by 16 s^2 (1 - s)^2 swing_height.
    """
    t, middle = at
    start = [m["places"][i, :].T, m["yaws"][i]]
    hold, contact, swing = start[0], SX(1), SX(0)
    place, speed, yaw, rate = start[0], SX.zeros(3), start[1], SX(0)
    for k in range(SWINGS):
        up, down = s["liftoff"][i, k], s["touchdown"][i, k]
        end = [ca.vertcat(*(s[name][i, k] for name in "xyz")), s["yaw"][i, k]]
        duration = ca.fmax(down - up, 1e-3)
        x = ca.fmin(ca.fmax((t - up) / duration, 0), 1)
        way, way_rate = x**3 * (10 - 15 * x + 6 * x**2), 30 * (x * (1 - x)) ** 2 / duration
        lift, lift_rate = 16 * (x * (1 - x)) ** 2, 32 * x * (1 - x) * (1 - 2 * x) / duration
        inside = ca.logic_and(t >= up, t < down)
        turn = ca.atan2(ca.sin(end[1] - start[1]), ca.cos(end[1] - start[1]))
        height = ca.vertcat(0, 0, g["swing_height"])
        place = ca.if_else(inside, start[0] + way * (end[0] - start[0]) + lift * height, place)
        speed = ca.if_else(inside, way_rate * (end[0] - start[0]) + lift_rate * height, speed)
        yaw, rate = ca.if_else(inside, start[1] + way * turn, yaw), ca.if_else(inside, way_rate * turn, rate)
        swing = ca.if_else(inside, 1, swing)
        contact = ca.if_else(ca.logic_and(middle >= up, middle < down), 0, contact)
        hold = ca.if_else(t >= down, end[0], hold)
        start = end
    return {
        "contact": contact, "swing": swing,  "normal": s["normal"][i, :], "hold": hold.T, "place": place.T,
        "speed": speed.T, "yaw": yaw, "yaw_rate": rate,
    }  # fmt: skip
