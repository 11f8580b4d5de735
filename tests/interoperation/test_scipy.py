"""The library's functions in SciPy."""

from __future__ import annotations

import numpy as np
import pytest

import ocp_dyn as od
from tests.helpers import close
from tests.interoperation.tumbling import satellite, simulated

pytest.importorskip("scipy")


@pytest.mark.slow
def test_energy_and_momentum_of_a_tumbling_satellite():
    """Both are conserved, and the quaternion keeps its length, although SciPy knows nothing of quaternions."""
    model = satellite()
    q, qd = np.array(model.neutral()).ravel(), np.array([0.1, 0, 0, 0.3, 1.0, 0.2, 2.0])
    motion = simulated(model, q, qd, 5.0)
    assert motion.success
    split = model.nq
    energy = [float(od.kinetic_energy(model, x[:split], x[split:])) for x in motion.y.T]
    close(energy, np.full(len(energy), energy[0]), 1e-6)
    momentum = [np.array(od.centroidal_momentum(model, x[:split], x[split:])).ravel() for x in motion.y.T]
    close(momentum, np.tile(momentum[0], (len(momentum), 1)), 1e-6)
    close(np.linalg.norm(motion.y[3:7], axis=0), np.ones(motion.y.shape[1]), 1e-6)
    assert np.ptp(motion.y[3:7], axis=1).max() > 0.5, "it does tumble"
    assert np.ptp(motion.y[7]) > 1
