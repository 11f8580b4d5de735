"""A viewer of models and motions in the browser, on the library viser (`pip install 'ocp_dyn[viewer]'`).

| module | contents |
|---|---|
| `show` | `show`: from what the user gives to a running `Viewer` |
| `handle` | `Viewer`, the running viewer: address, time, configuration, saving as a page |
| `actor` | one robot in the scene: its nodes, and their poses at a time |
| `track` | poses, forces, center of mass and footholds of a motion over time, as numbers |
| `drawn_bodies` | shapes of the bodies of a model: of its URDF, else rounded ones |
| `meshes` | triangle meshes of shapes and of mesh files |
| `panel` | controls: time, speed, what is shown, joints |
| `stage` | viser itself: server, light, ground, camera; pages that play without a server |

Why viser: with meshcat a frame costs the server five times as much, because that sends a message of its own for every
body; a page saved by viser has a bar to stop, to scrub and to slow down; and its sliders and buttons are made and read
in Python. meshcat can save a page that plays, too, but has no controls that call Python.
"""

from .handle import Viewer as Viewer
from .show import show as show
