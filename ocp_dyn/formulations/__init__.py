"""Formulations for real-time dynamics in dependent coordinates [GJB94]: Garcia de Jalon and Bayo, Kinematic and Dynamic
Simulation of Multibody Systems, 1994, chapter 8.

Independent velocities of an open chain, the book's z, are the library's qd. Dependent velocities follow from them by
the velocity transformation R:

    xd = R qd,   xdd = R qdd + Sc,      R' M R qdd = R' (Q - M Sc).                                       (8.34-8.38)
"""

from .runge_kutta_motion import runge_kutta_motion as runge_kutta_motion
from .trajectory import IntegrationError as IntegrationError
from .trajectory import Trajectory as Trajectory
