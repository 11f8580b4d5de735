"""An algorithm of your own is a function of (model, q, ...), with one line above it: `@od.algorithm(signature, ...)`.

The signature names the inputs and outputs: "reach: q p -> d". Sizes and units of the book's quantities (q, qd, tau, H,
...) are known; those of others are given by `od.Quantity(name, units, rows=, columns=)`. `od.function` then makes a
`casadi.Function` with these names, and the header of exported C code shows units and names of entries.

    python -m problems.extending.algorithm
"""

from typing import Any

import casadi as ca
from casadi import DM

import ocp_dyn as od


@od.algorithm("reach: q p -> d", od.Quantity("p", "m, world axes", rows=("x", "y", "z")), od.Quantity("d", "m"))
def reach(model: od.Model, q: Any, p: Any) -> Any:
    """Distance of the tip of the last body from a point p of the world."""
    return ca.norm_2(od.point_position(model, model.body_names[-1], q, (0.0, 0.0, -1.0)) - p)


if __name__ == "__main__":
    arm = od.models.pendulum(2)
    f = od.function(reach, arm)
    print(f, f(DM([0.3, -0.5]), (0.5, 0.0, -1.5)))
    print(od.codegen.generate([f], "arm")["arm.h"])
