"""The place where robots are shown: viser's server, light, ground and camera; and pages that need no server."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..._base.checks import whole
from ..._base.types import Array, repr_in_message
from ..drawing import round_number
from .drawn_bodies import INSTALL
from .track import quaternions

GROUND, LINES, SECTIONS = (246, 247, 249), (224, 227, 231), (196, 201, 207)
DARK_LINES, DARK_SECTIONS = (58, 61, 66), (86, 90, 97)

FIELD_OF_VIEW = 32.0
"""Vertical angle of the camera [degrees]."""

ASIDE = 0.28
"""Displacement of the robot to the left, away from the panel, as a part of half the height of the picture."""

DIRECTION = np.array([0.55, -1.0, 0.32])
"""Direction from the robot to the camera: from its right, a little ahead and above."""


def viser_module() -> Any:
    """The package viser; ImportError that tells how to install it."""
    try:
        import viser
    except ImportError as error:
        raise ImportError(f"the viewer needs the package viser, which is not installed: {INSTALL}") from error
    return viser


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the table that viser prints when a server starts and ends."""
    import rich

    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before


def check_host(host: Any) -> None:
    """ValueError unless this machine can listen at `host`; viser would wait for ever."""
    remedy = "give '127.0.0.1' for this machine only, or '0.0.0.0' for its network"
    if not isinstance(host, str) or not host:
        raise ValueError(f"host must be an address of this machine, got {repr_in_message(host)}; {remedy}")
    with socket.socket() as probe:
        try:
            probe.bind((host, 0))
        except (OSError, UnicodeError) as error:
            raise ValueError(
                f"host must be an address of this machine, got {repr_in_message(host)} ({error}); {remedy}"
            ) from None


def check_port(host: str, port: Any) -> None:
    """ValueError or OSError unless `port` can be used; viser would take the next free one without a word."""
    whole(port, "port, up to 65535, or None for a free one,", 1, 65535)
    with socket.socket() as probe:
        if os.name == "posix":
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise OSError(
                error.errno, f"port {port} of {host} cannot be used ({error.strerror}): close what uses it, or leave "
                "port out to have a free one"
            ) from None  # fmt: skip


def upright(gravity: Array) -> Array:
    """The smallest rotation (3x3) that turns the direction against gravity into z; the identity without gravity."""
    length = float(np.linalg.norm(gravity))
    if not length:
        return np.eye(3)
    up = -np.asarray(gravity, dtype=float) / length
    axis, cosine = np.cross(up, [0.0, 0.0, 1.0]), float(up[2])
    if cosine < -1 + 1e-12:
        return np.diag([1.0, -1.0, -1.0])
    K = np.array([[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]])
    found: Array = np.eye(3) + K + K @ K / (1 + cosine)
    return found


class ViewerScene:
    """A server with light, ground and a camera. Robots stand below the node `scene`, which moves to follow them.

    box (2, 3): corners of the space that the robots fill at the start [m]; floor: height of the ground [m]; tilt (3x3):
    rotation of the robots' world in the picture, by which gravity points down; slope (3x3): of the ground in that
    world. aside: whether there is a panel on the right, beside which the robots stand.
    """

    def __init__(
        self,
        host: str,
        port: int | None,
        box: Array,
        floor: float,
        tilt: Array,
        slope: Array,
        dark: bool,
        aside: bool = True,
    ) -> None:
        viser = viser_module()
        check_host(host)
        if port is not None:
            check_port(host, port)
        with _quiet():
            self.server = viser.ViserServer(host=host, port=port or 0, verbose=False)
        self.host, self.tilt, self.dark = host, tilt, dark
        reach = float(np.ptp(box, axis=0).max()) or 1.0
        self.section = round_number(0.6 * reach)
        scene = self.server.scene
        scene.set_up_direction("+z")
        scene.world_axes.visible = False
        scene.configure_environment_map(None)  # a browser without a graphics card hides all until it has such an image
        scene.add_light_hemisphere("/light", ground_color=(170, 170, 175), intensity=2.4)
        scene.configure_default_lights(True, cast_shadow=True)
        self.scene = scene.add_frame("/scene", show_axes=False, wxyz=quaternions(tilt))
        self.floor, self.slope = floor, slope
        self.ground = scene.add_grid(
            "/scene/ground", plane="xy", infinite_grid=False, width=40 * self.section, height=40 * self.section,
            cell_size=self.section / 5, section_size=self.section, cell_thickness=0.8, section_thickness=1.2,
            cell_color=DARK_LINES if dark else LINES, section_color=DARK_SECTIONS if dark else SECTIONS,
            shadow_opacity=0.22, plane_color=(30, 32, 36) if dark else GROUND, plane_opacity=1.0,
            fade_distance=14 * reach, fade_strength=1.6, position=(0.0, 0.0, floor), wxyz=quaternions(slope),
        )  # fmt: skip
        self._look(box, reach, ASIDE if aside else 0.0)

    def _look(self, box: Array, reach: float, left: float) -> None:
        camera = self.server.initial_camera
        corners = np.array([[x, y, z] for x in box[:, 0] for y in box[:, 1] for z in box[:, 2]]) @ self.tilt.T
        low, high = corners.min(axis=0), corners.max(axis=0)
        center = (low + high) / 2
        radius = 0.5 * float(np.linalg.norm(high - low)) or 0.5 * reach
        away = DIRECTION / np.linalg.norm(DIRECTION)
        camera.fov = float(np.radians(FIELD_OF_VIEW))
        camera.near, camera.far = 0.01 * reach, 200 * reach
        camera.up = (0.0, 0.0, 1.0)
        distance = 1.12 * radius / np.sin(np.radians(FIELD_OF_VIEW / 2))
        aside = np.cross([0.0, 0.0, 1.0], away)
        aside *= left * distance * np.tan(np.radians(FIELD_OF_VIEW / 2)) / np.linalg.norm(aside)
        camera.look_at = tuple(center + aside)
        camera.position = tuple(center + aside + away * distance)

    @property
    def url(self) -> str:
        """The address of the page."""
        host = "localhost" if self.host in ("0.0.0.0", "127.0.0.1", "") else self.host
        return f"http://{host}:{self.server.get_port()}"

    def follow(self, way: Array) -> None:
        """Moves everything back by `way` (3) [m], and the ground by whole sections in the other direction."""
        self.scene.position = -self.tilt @ way
        snapped = self.section * np.round((self.slope.T @ way)[:2] / self.section)
        self.ground.position = self.slope @ np.array([*snapped, 0.0]) + np.array([0.0, 0.0, self.floor])

    def stop(self) -> None:
        with _quiet():
            self.server.stop()
