"""A constraint of your own is a frozen dataclass derived from `od.Constraint`. `rows` names its rows; `position`
is phi(q), zero where the constraint holds; `jacobian` is G, `G qd = d(phi)/dt`; `hessian` is gamma = -(dG/dt) qd. All
algorithms take it, and a phase too: `ocp.Phase(..., constraints=Rod(...))`. To load a solution with it from a file,
give the class: `ocp.Solution.load(path, constraints=(Rod,))`.

    python -m problems.extending.constraint
"""

from dataclasses import dataclass

import casadi as ca

import ocp_dyn as od


@dataclass(frozen=True)
class Rod(od.Constraint):
    """A massless rod [m] from a body's origin to a point of the world: (|p - anchor|^2 - length^2) / 2 = 0."""

    body: str
    anchor: tuple[float, float, float]
    length: float
    rows = ("rod",)

    def position(self, model: od.Model, q: ca.SX) -> ca.SX:
        return (ca.sumsqr(self._arm(model, q)) - self.length**2) / 2

    def jacobian(self, model: od.Model, q: ca.SX) -> ca.SX:
        return self._arm(model, q).T @ od.point_jacobian(model, self.body, q)

    def hessian(self, model: od.Model, q: ca.SX, qd: ca.SX) -> ca.SX:
        qdd = od.point_acceleration(model, self.body, q, qd)
        return -ca.dot(self._arm(model, q), qdd) - ca.sumsqr(od.point_velocity(model, self.body, q, qd))

    def _arm(self, model: od.Model, q: ca.SX) -> ca.SX:
        return od.point_position(model, self.body, q) - ca.DM(self.anchor)


if __name__ == "__main__":
    print(od.function(od.constrained_dynamics, od.models.pendulum(2), Rod("link2", (0.5, 0, 0), 1.0)))
