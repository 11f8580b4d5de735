#!/usr/bin/env python3
"""Time that the viewer's server takes for a frame, and the frames that reach a browser.

    python scripts/bench_viewer.py [--urdf FILE] [--seconds 5]

The model is a human of 45 degrees of freedom, or that of a URDF, all of whose joints move. With playwright and chromium a
browser without a window is the visitor; without a graphics card it draws slowly, and takes processor time from the
server: the frames that it receives count.
"""

from __future__ import annotations

import argparse
import shutil
import time
from typing import Any

import numpy as np

import ocp_dyn as od


def motion(model: od.Model) -> tuple[np.ndarray, np.ndarray]:
    """Times [s] and configurations in which every joint swings."""
    t = np.linspace(0.0, 4.0, 81)
    swing = 0.3 * np.sin(0.5 * np.pi * t[:, None] + np.arange(model.nv)) * (np.arange(model.nv) > 5)
    return t, np.array([np.array(model.integrate(model.neutral(), v).full()).ravel() for v in swing])


def frame_time(viewer: Any, frames: int = 300) -> float:
    """Milliseconds of processor time for a frame, without a visitor."""
    start = time.process_time()
    for k in range(frames):
        viewer.time = (k / 60) % viewer.duration
    return 1e3 * (time.process_time() - start) / frames


def visited(viewer: Any, seconds: float) -> dict[str, float] | None:
    """Frames drawn by the server, messages that arrive and frames drawn by the browser, each per second."""
    chromium = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        chromium = None
    if chromium is None:
        return None
    count = "window.frames_drawn = 0; (function next() { window.frames_drawn++; requestAnimationFrame(next) })()"
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 640, "height": 480})
        received = []
        page.on("websocket", lambda socket: socket.on("framereceived", lambda data: received.append(len(data))))
        page.goto(viewer.url)
        page.wait_for_timeout(6000)
        viewer.play()
        page.evaluate(count)
        before, drawn, start = len(received), viewer.frames, time.perf_counter()
        page.wait_for_timeout(1000 * seconds)
        passed = time.perf_counter() - start
        found = {
            "server frames/s": (viewer.frames - drawn) / passed,
            "messages/s": (len(received) - before) / passed,
            "kB/s": sum(received[before:]) / passed / 1e3,
            "browser frames/s": page.evaluate("window.frames_drawn") / passed,
        }
        browser.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--urdf", help="file of another robot")
    parser.add_argument("--seconds", type=float, default=5.0, help="time during which frames are counted [s]")
    options = parser.parse_args()
    model = od.models.human_body()
    if options.urdf:
        model = od.load_urdf(options.urdf, root=od.FloatingBase(), mimic="free", inertia="keep")
    t, q = motion(model)
    with od.viz.show(model, q, t=t, play=False) as viewer:
        print(
            f"{model.name}: {model.nv} dofs, {model.nb} bodies, {sum(len(m.faces) for m in viewer.actors[0].meshes)} triangles"
        )
        print(f"server: {frame_time(viewer):.2f} ms of processor time per frame; 60 frames/s allow 16.7 ms")
        found = visited(viewer, options.seconds)
        if found is None:
            print("no chromium, or no playwright: no browser was measured")
        else:
            print("with a browser: " + ", ".join(f"{value:.1f} {name}" for name, value in found.items()))


if __name__ == "__main__":
    main()
