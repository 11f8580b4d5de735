"""The viewer in a real browser: the page loads without errors, holds the robot, shows it, and moves it."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import ocp_dyn as od

pytest.importorskip("viser")
playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed")]

HARMLESS = ("THREE.Clock", "GL Driver Message", "GPU stall")
"""Warnings of the client's libraries and of rendering without a graphics card."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


def opened(browser: Any, url: str, size: tuple[int, int] = (420, 300), offline: bool = False) -> tuple[Any, list[str]]:
    """A small page, which is drawn quickly without a graphics card, and the list to which its errors and warnings
    go."""
    width, height = size
    context = browser.new_context(viewport={"width": width, "height": height}, offline=offline, locale="en-US")
    page = context.new_page()
    said: list[str] = []
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on(
        "console",
        lambda m: (
            said.append(m.text)
            if m.type in ("error", "warning") and not any(word in m.text for word in HARMLESS)
            else None
        ),
    )
    page.goto(url)
    return page, said


def picture(page: Any) -> np.ndarray:
    """The part of the canvas with the robot (height, width, 3) as numbers from 0 to 255, without the controls."""
    from PIL import Image

    shot = Image.open(io.BytesIO(page.screenshot(clip={"x": 0, "y": 100, "width": 120, "height": 160}))).convert("RGB")
    return np.asarray(shot, dtype=float)


def spread(page: Any) -> float:
    """Spread of the brightness of the canvas; an empty one has less than 3."""
    return float(picture(page).mean(axis=-1).std())


def wait_for(condition: Any, page: Any, seconds: float = 20.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        page.wait_for_timeout(200)
    return False


def test_a_walk_plays(browser, walk):
    """The body, its controls and its forces are there; playing changes the picture, stopping keeps it."""
    with od.viz.show(walk, play=False) as viewer:
        viewer._stage.server.scene.configure_default_lights(True, cast_shadow=False)  # slow without a graphics card
        viewer.layer("ground", False)
        page, said = opened(browser, viewer.url)
        page.get_by_text("Footholds").wait_for(timeout=20000)
        assert page.get_by_text("0.00 s").count() == 1
        assert wait_for(lambda: viewer._stage.server.get_clients(), page)
        assert wait_for(lambda: spread(page) > 4, page)
        page.get_by_text("Play", exact=True).click()
        assert wait_for(lambda: viewer.playing and viewer.time > 0.1, page)
        viewer.pause()
        assert wait_for(lambda: page.get_by_text("Play", exact=True).count() == 1, page)
        before = picture(page)
        viewer.time += 0.2
        assert wait_for(lambda: np.abs(picture(page) - before).mean() > 0.5, page)
        assert said == []
        page.context.close()


def test_a_slider_moves_a_joint(browser):
    with od.models.pendulum().show() as viewer:
        page, said = opened(browser, viewer.url)
        page.get_by_text("Back to the start").wait_for(timeout=20000)
        slider = page.locator(".mantine-Slider-thumb").last
        slider.focus()
        for _ in range(5):
            page.keyboard.press("ArrowRight")
        assert wait_for(lambda: viewer.q[0] > 0.01, page)
        assert said == []
        page.context.close()


def test_a_saved_page_plays_without_a_network(browser, walk, tmp_path):
    with od.viz.show(walk, play=False) as viewer:
        path = viewer.save(tmp_path / "walk.html", fps=20)
    page, said = opened(browser, path.as_uri(), (200, 150), offline=True)
    assert page.title() == "human male"
    page.wait_for_function("document.querySelector('canvas') && +document.querySelector('input')?.value > 0.05")
    assert said == []
    page.context.close()


class Proxy:
    """A server that passes requests for PREFIX/proxy/PORT/ on to a port of this machine, web sockets too, as
    jupyter-server-proxy does; any other path gets a page of a notebook, whose frame is the viewer."""

    PREFIX = "/user/ada/"

    def __init__(self, notebook: str) -> None:
        self.notebook, self.socket = notebook.encode(), socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.socket.accept()
                threading.Thread(target=self._answer, args=(client,), daemon=True).start()

    def _answer(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError), client:
            head = b""
            while b"\r\n\r\n" not in head:
                head += client.recv(65536)
            method, path, rest = head.split(b" ", 2)
            place = re.match(rb"/user/ada/proxy/(\d+)(/.*)?$", path)
            if place is None:
                body = self.notebook
                client.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n"
                               b"Content-Length: %d\r\n\r\n" % len(body) + body)  # fmt: skip
                return
            if b"upgrade: websocket" not in rest.lower():
                rest = re.sub(rb"(?i)connection: [^\r]*", b"Connection: close", rest)
            with socket.create_connection(("127.0.0.1", int(place[1]))) as server:
                server.sendall(b" ".join([method, place[2] or b"/", rest]))
                back = threading.Thread(target=self._pump, args=(server, client), daemon=True)
                back.start()
                self._pump(client, server)
                back.join()

    @staticmethod
    def _pump(source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)


def test_a_notebook_shows_the_viewer_behind_a_proxy_path(browser, walk):
    """The page of a notebook whose server passes ports on: the frame holds the viewer, by the proxy's path."""
    with od.viz.show(walk, play=False) as viewer:
        port = int(viewer.url.rpartition(":")[2])
        page_text = f'<html><body data-base-url="{Proxy.PREFIX}">{viewer._repr_html_()}</body></html>'
        proxy = Proxy(page_text)
        page, _ = opened(browser, f"http://127.0.0.1:{proxy.port}{Proxy.PREFIX}lab", (900, 640))
        inner = f"http://127.0.0.1:{proxy.port}{Proxy.PREFIX}proxy/{port}/"
        assert wait_for(lambda: any(frame.url.startswith(inner) for frame in page.frames), page)
        frame = next(frame for frame in page.frames if frame.url.startswith(inner))
        frame.get_by_text("Footholds").wait_for(timeout=30000)
        assert page.get_by_role("link").get_attribute("href") == inner
        assert wait_for(lambda: viewer._stage.server.get_clients(), page)
        assert wait_for(lambda: spread(page) > 4, page)
        page.context.close()
        proxy.socket.close()


@pytest.mark.parametrize("reached", [True, False])
def test_a_notebook_without_a_proxy(browser, walk, reached):
    """This machine's address where it is reached; else the picture, and the remedy in place of an empty frame."""
    with od.viz.show(walk, play=False) as viewer:
        proxy = Proxy(f"<html><body>{viewer._repr_html_()}</body></html>")
        if not reached:
            viewer.close()
        page, _ = opened(browser, f"http://127.0.0.1:{proxy.port}/lab", (900, 640))
        remedy = page.get_by_text("ssh -L")
        if reached:
            assert wait_for(lambda: any(frame.url.startswith(viewer.url) for frame in page.frames), page)
        else:
            remedy.wait_for(timeout=20000)
        assert remedy.is_visible() is not reached
        assert page.locator("img").is_visible() or reached
        page.context.close()
        proxy.socket.close()
