"""The way from a browser to a viewer in a notebook: the notebook's own proxy where there is one, else this machine.

The server of a viewer listens on the machine of the kernel. The browser of a JupyterHub, of a session over ssh, or of a
remote editor runs on another machine, where `localhost` is not the kernel's: its page reaches the port by way of the
notebook's server, at `.../proxy/PORT/`, if this has the package jupyter-server-proxy; editors and hosted notebooks have
proxies of their own.
"""

from __future__ import annotations

import json
import os
import sys
from base64 import b64encode
from collections.abc import Mapping
from html import escape
from importlib import import_module
from importlib.util import find_spec
from typing import Any
from uuid import uuid4

SCRIPT = """
(async function () {{
  const [frame, note, link, picture] = ["", "-note", "-link", "-picture"].map(
    (part) => document.getElementById({name} + part));
  if (!frame) return;
  const reached = (address, options) => fetch(address, options).then(
    (answer) => answer.ok || answer.type === "opaque", () => false);
  let address = {known};
  if (!address) {{
    let base = document.body.dataset.baseUrl;
    const config = document.getElementById("jupyter-config-data");
    if (!base && config) {{ try {{ base = JSON.parse(config.textContent).baseUrl; }} catch (error) {{ base = null; }} }}
    const local = {url}, proxied = base && base.replace(/\\/?$/, "/") + "proxy/{port}/";
    if (proxied && await reached(proxied)) address = new URL(proxied, location.href).href;
    else if (await reached(local, {{mode: "no-cors"}})) address = local;
  }}
  if (!address) {{ frame.style.display = "none"; note.style.display = "block"; return; }}
  const begun = performance.now();
  frame.addEventListener("load", () => setTimeout(() => picture.remove(), 1000 + 2 * (performance.now() - begun)));
  frame.src = link.href = link.textContent = address;
}})();
"""
"""Tries the ways to the viewer from the page of the notebook, whose own address and base the kernel does not know, and
takes the picture away when the viewer has had the time to draw, which is longer where its page loads slowly."""


def proxied_url(port: int, environ: Mapping[str, str] | None = None) -> str | None:
    """The address of a port by way of the notebook's proxy, as far as the kernel knows it; None if it knows none."""
    environ = os.environ if environ is None else environ
    if template := environ.get("VSCODE_PROXY_URI", ""):
        return template.replace("{{port}}", str(port)).replace("{port}", str(port))
    if "google.colab" in sys.modules:
        output: Any = import_module("google.colab.output")
        return str(output.eval_js(f"google.colab.kernel.proxyPort({port})"))
    prefix = environ.get("JUPYTERHUB_SERVICE_PREFIX", "")
    return f"{prefix.rstrip('/')}/proxy/{port}/" if prefix and has_proxy() else None


def has_proxy() -> bool:
    """Whether the package is there by which a notebook's server passes ports on."""
    return find_spec("jupyter_server_proxy") is not None


def forwarding(port: int) -> str:
    """Remedy where a browser does not reach the viewer."""
    return (
        f"The viewer runs on the machine of the kernel, at port {port}, which this browser does not reach. Forward the "
        f"port (ssh -L {port}:localhost:{port} MACHINE, or the list of ports of your editor) and open "
        f"http://localhost:{port}; or install the package jupyter-server-proxy beside the notebook's server"
    )


def frame(url: str, port: int, height: int, picture: bytes = b"") -> str:
    """The viewer as HTML of a notebook: a frame that reaches it by the proxy where there is one, and a line with the
    address and what to do if the frame stays empty.

    picture: a .png that stands in the place of the frame until the viewer draws, and where it is not reached.
    """
    known, name = proxied_url(port), f"viewer-{uuid4().hex}"
    style = f"width: 100%; height: {height}px; border: 1px solid #9AA3AD; border-radius: 4px"
    over = f"position: absolute; left: 1px; top: 1px; height: {height}px; pointer-events: none"
    script = SCRIPT.format(name=json.dumps(name), known=json.dumps(known), url=json.dumps(url), port=port)
    note = f'<div id="{name}-note" style="display: none; font-size: 90%">{escape(forwarding(port))}</div>'
    shown = escape(known or url)
    link = f'<a id="{name}-link" href="{shown}" target="_blank">{shown}</a>'
    image = f'<img id="{name}-picture" src="data:image/png;base64,{b64encode(picture).decode()}" style="{over}">'
    box = f'<div style="position: relative; min-height: {height}px"><iframe id="{name}" style="{style}"></iframe>'
    return f'{box}{image}</div>{note}<div style="font-size: 85%">{link}</div><script>{script}</script>'
