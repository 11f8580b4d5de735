"""Simulations of textbook mechanisms, with and without closed loops, by the formulation of your choice.

    python -m problems.mechanisms [--system SYSTEM] [--formulation FORMULATION] [--duration S] [--step S]
                                  [--out DIR] [--json] [--quick] [--quiet]

Systems of [GJB94] chapter 8: five_bar, bricard, human_body, truck, car; of benchmark collections: squeezer (Andrews'
seven-body mechanism), n_four_bar, slider_crank. Formulations, each with the numbers of its section:

    recursive     accelerations by RNEA, CRBA and ABA, with loops by the range-space method; RK4
    velocity      Formulation B, velocity transformations (8.38), open chains only; RK4
    multipliers   Formulation B, loops by Lagrange multipliers (8.114); RK4
    penalty       Formulation B, loops by penalties (8.115); RK4
    independent   Formulation B, loops by independent coordinates (8.119, 8.120); RK4
    trapezoidal   natural coordinates, augmented Lagrangian, implicit trapezoidal rule (8.121-8.135)

--out leaves motion.gif, energy.png, constraints.png and report.md in DIR. Prints the errors of energy and constraints,
the number of steps and the seconds of the integration.

[GJB94] J. Garcia de Jalon, E. Bayo, Kinematic and Dynamic Simulation of Multibody Systems, Springer, 1994.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np

import ocp_dyn as od
from ocp_dyn.formulations import IntegrationError, Trajectory, runge_kutta_motion
from ocp_dyn.io import whole_file

from ._command import asked, attempt, parser


class System(NamedTuple):
    """A mechanism at its start, and how it is simulated by default: formulation, duration and step [s].

    torque: a function (q, qd) -> tau, None for none. periodic: seconds of the motion that the animation shows.
    """

    model: od.Model
    loops: tuple[Any, ...]
    q: Any
    qd: Any
    formulation: str
    duration: float
    step: float
    torque: Any = None
    shown: float = 6.0
    speed: float = 1.0


def _chain(chain: Any, formulation: str, duration: float, step: float, **options: Any) -> System:
    return System(chain.model, chain.loops, chain.q, chain.qd, formulation, duration, step, **options)
