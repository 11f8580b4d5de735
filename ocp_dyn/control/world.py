"""A body in MuJoCo, on a floor: its soft contacts are MuJoCo's default ones, whatever the body stands on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM, SX

from .._base.checks import within
from .._base.types import Array
from ..dynamics.passive_torques import passive_force
from ..io import Box, mjcf_text
from ..io.layouts import Layout
from ..ocp import Patch, Terrain
from ..replay.simulator import mujoco
from .bodies import SLIP_SPEED, Body

TIMESTEP = 1e-3
"""Time step of the simulation [s]."""

PERIOD = 2e-3
"""Time between two updates of the torques [s]; the torques act one period after the state was read."""

DEEP, WIDE = 0.5, 40.0
"""Half thickness of the boxes of a terrain, so that nothing falls through; width of platforms [m]."""


@dataclass(frozen=True)
class World:
    """The world of a body, and how the simulated body differs from the model of its controller.

    friction: coefficient of the ground. trunk: factor of mass and inertia of the heaviest body that is no part of a
    leg. terrain: patches above the plane z = 0, which the controller knows only if it was given them. noise: of the
    sensors, in units of `NOISE`.

    >>> od.control.World(friction=0.5, terrain=ocp.ramp(0.1, length=10.0)).friction
    0.5
    """

    friction: float = 0.8
    trunk: float = 1.0
    terrain: Terrain | None = None
    noise: float = 0.0

    def __post_init__(self) -> None:
        for name, least, most in (("friction", 0.0, 10.0), ("trunk", 0.1, 10.0), ("noise", 0.0, 100.0)):
            within(getattr(self, name), least, most, f"World {name} must lie between {least:g} and {most:g}")
        if self.terrain is not None and self.terrain.ground != 0:
            raise ValueError(f"World terrain must lie above the plane z = 0, got the ground {self.terrain.ground!r}")


def steps(height: float, seed: int = 0, start: float = 0.6, count: int = 20) -> Terrain:
    """Low platforms across the way, up to `height` [m], 0.3 to 0.9 m long and as far apart.

    >>> len(od.control.steps(0.02).patches)
    20
    """
    within(height, 0.0, 1.0, "steps height must lie between 0 and 1 m")
    rng = np.random.default_rng(seed)
    x, found = start, []
    for _ in range(count):
        length, gap = rng.uniform(0.3, 0.9, 2)
        found.append(Patch((x + length / 2, 0.0, height), length=length, width=WIDE))
        x += length + gap
    return Terrain(found)


def stones(seed: int = 0, start: float = 0.5, count: int = 8) -> Terrain:
    """Two rows of stepping stones between two platforms, 8 to 12 cm above the ground: `count` in a row, 0.3 m long and
    0.22 m wide, with gaps of 6 to 12 cm.

    >>> len(od.control.stones().patches)
    18
    """
    rng = np.random.default_rng(seed)
    found = [Patch((start - 1.5, 0.0, 0.1), length=3.0, width=WIDE)]
    end = start
    for side in (-0.13, 0.13):
        x = start
        for _ in range(count):
            x += rng.uniform(0.06, 0.12)
            found.append(Patch((x + 0.15, side, rng.uniform(0.08, 0.12)), length=0.3, width=0.22))
            x += 0.3
        end = max(x + 0.06, end)
    return Terrain([*found, Patch((end + 10.0, 0.0, 0.1), length=20.0, width=WIDE)])


def boxes(terrain: Terrain | None) -> tuple[Box, ...]:
    """Boxes below the patches of a terrain, but for those in the plane z = 0, which is there anyway."""
    patches = terrain.patches if terrain else ()
    raised = [p for p in patches if not (p.level and p.point[2] == 0)]
    turns = [np.array(p.R.full()) for p in raised]
    return tuple(
        Box(
            "world",
            (p.length / 2, p.width / 2, DEEP),
            center=tuple(p.point - DEEP * R[:, 2]),
            rotation=R,
            name=f"patch_{k}",
        )
        for k, (p, R) in enumerate(zip(raised, turns, strict=True))
    )


NOISE = {"angle": 1e-3, "speed": 0.05, "tilt": 5e-3, "turn": 0.02, "place": 2e-3, "velocity": 0.03}
"""Standard deviations of white noise at every reading: joint angles [rad] and velocities [rad/s] (encoders); tilt and
heading [rad], angular velocity [rad/s] (inertial unit); place [m] and velocity [m/s] of the base (an estimator that
fuses both). Assumed, of the size that data sheets of such sensors tell."""


class SimulatedWorld:
    """MuJoCo's model and data of a body in a world, read and driven in our coordinates."""

    def __init__(self, body: Body, world: World) -> None:
        self.body, self.mj = body, mujoco()
        loose = ("passive",) if body.model.passive or body.model.bushings else ()
        text = mjcf_text(
            body.model, (*body.shapes, *boxes(world.terrain)), drop=loose, balance=True, friction=world.friction,
            visuals="none", ground=True, cone="pyramidal", integrator="Euler", timestep=TIMESTEP,
        )  # fmt: skip
        spec = self.spec = self.mj.MjModel.from_xml_string(text)
        layout, model = Layout(body.model, "mujoco"), body.model
        of_q, of_qd = (
            np.array(DM(x).full()).ravel().round().astype(int)
            for x in (layout.to_q(np.arange(model.nq)), layout.to_qd(model.neutral(), np.arange(model.nv)))
        )
        self.of_q, self.of_qd = of_q, of_qd
        self.back_q, self.back_qd = np.argsort(of_q), np.argsort(of_qd)
        self.trunk = self._trunk()
        spec.body_mass[self.trunk] *= world.trunk
        spec.body_inertia[self.trunk] *= world.trunk
        if not body.limits:
            spec.jnt_limited[:] = 0
        self.data = self.mj.MjData(spec)
        self.mj.mj_setConst(spec, self.data)
        self.mass = float(spec.body_mass.sum())
        self.feet = [self._number(model.body_names[model.frame(f.frame).body - 1]) for f in body.feet]
        self.sites = [self.mj.mj_name2id(spec, self.mj.mjtObj.mjOBJ_SITE, f.frame) for f in body.feet]
        self.pushing = np.zeros(3)
        self.elastic = None
        if loose:
            self.elastic = _tissue(body)
            spec.dof_damping[:] = spec.dof_frictionloss[:] = spec.jnt_stiffness[:] = 0

    def _trunk(self) -> int:
        """MuJoCo's number of the heaviest body that is no part of a leg."""
        model = self.body.model
        legs = {i for foot in self.body.feet for i in model.path(model.frame(foot.frame).body)} - {1}
        heaviest = max((i for i, _ in model.edges if i not in legs), key=lambda i: float(model.I[i].m))
        return self._number(model.body_names[heaviest - 1])

    def _number(self, name: str) -> int:
        return int(self.mj.mj_name2id(self.spec, self.mj.mjtObj.mjOBJ_BODY, name))

    def place(self, q: Array, qd: Array) -> None:
        """Puts the body into a state."""
        self.data.qpos[:], self.data.qvel[:] = q[self.of_q], qd[self.of_qd]
        self.mj.mj_forward(self.spec, self.data)

    def places(self) -> Array:
        """Places of the frames of the feet (feet, 3) [m]; of a body, that of its origin."""
        data = self.data
        return np.array(
            [data.site_xpos[s] if s >= 0 else data.xpos[b] for s, b in zip(self.sites, self.feet, strict=True)]
        )

    @property
    def q(self) -> Array:
        """Configuration, in our order."""
        return np.array(self.data.qpos[self.back_q])

    @property
    def qd(self) -> Array:
        """Velocity, in our order."""
        return np.array(self.data.qvel[self.back_qd])

    @property
    def t(self) -> float:
        """Time [s]."""
        return float(self.data.time)

    def step(self, tau: Array) -> None:
        """One time step under torques of the motors, and the force `pushing` [N] at the mass center of the trunk."""
        force = tau
        if self.elastic is not None:
            force = tau + self.elastic(self.q, self.qd)
        self.data.qfrc_applied[:] = force[self.of_qd]
        self.data.xfrc_applied[self.trunk, :3] = self.pushing
        self.mj.mj_step(self.spec, self.data)

    @property
    def height(self) -> float:
        """Height of the center of mass above the lowest foot [m]."""
        return float(self.data.subtree_com[0][2]) - min(float(self.data.xpos[i][2]) for i in self.feet)

    def forces(self) -> list[list[tuple[Array, Array]]]:
        """(point, force of the ground on the foot) of all contacts of every foot, world axes; the force's z is along
        the ground's normal."""
        found: list[list[tuple[Array, Array]]] = [[] for _ in self.feet]
        local = np.zeros(6)
        for k in range(self.data.ncon):
            contact = self.data.contact[k]
            self.mj.mj_contactForce(self.spec, self.data, k, local)
            for geom, sign in zip(contact.geom, (-1.0, 1.0), strict=True):
                number = int(self.spec.geom_bodyid[geom])
                if number in self.feet:
                    axes = contact.frame.reshape(3, 3)
                    found[self.feet.index(number)].append((contact.pos.copy(), sign * axes.T @ local[:3]))
        return found


def _tissue(body: Body) -> Any:
    """(q, qd) -> forces of springs and losses that MuJoCo has not: all but those of single joints in its file."""
    model = body.model
    q, qd = SX.sym("q", model.nq), SX.sym("qd", model.nv)
    force = ca.Function("force", [q, qd], [ca.densify(passive_force(model, q, qd, slip_speed=SLIP_SPEED))])
    return lambda q, qd: np.array(force(q, qd).full()).ravel()


def noisy(q: Array, qd: Array, share: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """State as sensors with noise tell it."""
    if not share:
        return q, qd
    q, qd = q.copy(), qd.copy()
    sizes = {name: share * size for name, size in NOISE.items()}
    q[:3] += sizes["place"] * rng.standard_normal(3)
    q[3:7] += 0.5 * sizes["tilt"] * rng.standard_normal(4)
    q[3:7] /= np.linalg.norm(q[3:7])
    q[7:] += sizes["angle"] * rng.standard_normal(q.size - 7)
    qd[:3] += sizes["velocity"] * rng.standard_normal(3)
    qd[3:6] += sizes["turn"] * rng.standard_normal(3)
    qd[6:] += sizes["speed"] * rng.standard_normal(qd.size - 6)
    return q, qd
