"""A motion as one self-contained .html page, which plays it in a browser and lets the user stop, slow and turn it."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._types import Array
from .drawing import COLORS, FAINT, FORCE, INK, SHADE
from .skeleton import Segment

MILLIMETERS = 1000.0
"""Millimeters per meter: positions are written as whole millimeters, a tenth of a pixel for a human."""


@dataclass(frozen=True, eq=False)
class Scene:
    """Content of a page.

    points (frames, n, 3) [m]: positions relative to the camera, in the order of the points of the segments. camera
    (frames): its x [m]. forces: for every frame, pairs (center of pressure (3), arrow (3)) [m]. captions: a text for
    every frame. dt: time between frames [s]. repeats: whether the motion is a loop. grounded: whether to draw the
    ground. azimuth: direction of the first view [degrees], 0 from the right, 90 from ahead. words: names of the sides.
    faces, risers: corners (4, 3) of the faces of the ground, and of the upright faces below their edges [m].
    """

    title: str
    segments: list[Segment]
    points: Array
    camera: Array
    forces: list[list[tuple[Array, Array]]]
    captions: list[str]
    dt: float
    repeats: bool
    grounded: bool
    azimuth: float
    words: dict[Any, str]
    faces: Sequence[Array] = ()
    risers: Sequence[Array] = ()


def page(scene: Scene, size: tuple[int, int], speed: float) -> str:
    """The text of the page. size: of the picture [pixels]; speed: the initial one (1: real time)."""
    data = json.dumps(_data(scene), separators=(",", ":"), allow_nan=False)
    legend = "".join(
        f'<span style="color:{color}">&#9679; {html.escape(word)}</span>' for color, word in _legend(scene)
    )
    parts = {
        "TITLE": html.escape(scene.title),
        "LEGEND": legend,
        "WIDTH": str(size[0]),
        "HEIGHT": str(size[1]),
        "SPEED": f"{speed:g}",
        "AZIMUTH": f"{scene.azimuth:g}",
        "INK": INK,
        "DATA": data.replace("</", "<\\/"),
    }
    text = PAGE
    for key, value in parts.items():
        text = text.replace(f"@{key}@", value)
    return text


def _legend(scene: Scene) -> list[tuple[str, str]]:
    found = [(COLORS[side], word) for side, word in scene.words.items()]
    return found + ([(FORCE, "ground force")] if any(scene.forces) else [])


def _data(scene: Scene) -> dict[str, Any]:
    """The data that the page's script reads, with lengths in whole millimeters."""
    order = {"left": 0, "middle": 1, "right": 2}
    shapes = [
        {
            "n": len(segment.points),
            "r": [round(MILLIMETERS * r) for r in segment.radii],
            "c": FAINT if segment.kind in ("rail", "pivot") else COLORS[segment.side],
            "k": order[segment.side] - 3 * (segment.kind in ("rail", "pivot")),
        }
        for segment in scene.segments
    ]
    forces = [[_whole(np.concatenate(pair)) for pair in frame] for frame in scene.forces]
    return {
        "dt": scene.dt,
        "repeats": scene.repeats,
        "grounded": scene.grounded,
        "shapes": shapes,
        "points": [_whole(frame.ravel()) for frame in scene.points],
        "camera": _whole(scene.camera),
        "faces": [_whole(face.ravel()) for face in scene.faces],
        "risers": [_whole(riser.ravel()) for riser in scene.risers],
        "shade": SHADE,
        "forces": forces,
        "captions": scene.captions,
        "ink": INK,
        "force": FORCE,
    }


def _whole(x: Array) -> list[int]:
    found: list[int] = np.round(MILLIMETERS * x).astype(int).tolist()
    return found


PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>@TITLE@</title>
<style>
body { margin: 12px; font: 13px sans-serif; color: @INK@; background: white; }
main { width: @WIDTH@px; max-width: 100%; }
header, footer { display: flex; gap: 14px; align-items: center; flex-wrap: wrap; }
header b { flex: 1; }
canvas { width: 100%; display: block; }
#time { flex: 1; min-width: 120px; }
label { display: flex; gap: 5px; align-items: center; }
button { width: 64px; }
</style>
</head>
<body>
<main>
<header><b>@TITLE@</b>@LEGEND@</header>
<canvas id="picture" width="@WIDTH@" height="@HEIGHT@"></canvas>
<footer>
<button id="play">pause</button>
<input id="time" type="range" min="0" step="1" value="0" aria-label="time">
<label title="1 is real time">speed <select id="speed"><option>0.1</option><option>0.25</option>
<option>0.5</option><option>1</option><option>2</option></select></label>
<label title="direction of view: 0 degrees from the right, 90 degrees from the front">view
<input id="view" type="range" min="-180" max="180" step="5" value="@AZIMUTH@"></label>
</footer>
</main>
<script>
"use strict";
const data = @DATA@;
const canvas = document.getElementById("picture"), pen = canvas.getContext("2d");
const control = name => document.getElementById(name);
const frames = data.points.length, directions = [];
for (let k = 0; k < 40; k++) directions.push([Math.cos(k * Math.PI / 20), Math.sin(k * Math.PI / 20)]);
let width = @WIDTH@, height = @HEIGHT@, scale = 1, frame = 0, playing = true, last = null;

// screen coordinates: millimeters to the right (u) and up (v) of the camera; depth increases towards the viewer
function seen(x, y, z, a) { return [x * Math.cos(a) + y * Math.sin(a), z, x * Math.sin(a) - y * Math.cos(a)]; }

function bounds() {
  const box = [0, 0, Infinity, -Infinity];
  let k;
  for (const points of data.points) {
    k = 0;
    for (const shape of data.shapes) for (let j = 0; j < shape.n; j++, k += 3) {
      const r = shape.r[j], reach = Math.hypot(points[k], points[k + 1]) + r;
      box[1] = Math.max(box[1], reach);
      box[2] = Math.min(box[2], points[k + 2] - r);
      box[3] = Math.max(box[3], points[k + 2] + r);
    }
  }
  if (data.grounded) box[2] = 0;
  return box;
}
const box = bounds(), foot = data.grounded ? 34 : 12;

function resize() {
  const ratio = window.devicePixelRatio || 1;
  width = canvas.clientWidth || @WIDTH@;
  height = width * @HEIGHT@ / @WIDTH@;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  scale = Math.min((width - 20) / (2 * box[1]), (height - foot - 30) / (box[3] - box[2]));
}
function pixel(u, v) { return [width / 2 + scale * u, height - foot - scale * (v - box[2])]; }

function fill(outline, color, line) {
  pen.beginPath();
  outline.forEach(([u, v], k) => k ? pen.lineTo(...pixel(u, v)) : pen.moveTo(...pixel(u, v)));
  pen.closePath();
  pen.fillStyle = color;
  pen.fill();
  pen.strokeStyle = "white";
  pen.lineWidth = line;
  pen.stroke();
}

// outline of the convex hull of discs: its farthest point in every direction
function hull(discs) {
  return directions.map(([c, s]) => {
    let best = discs[0], reach = -Infinity;
    for (const disc of discs) {
      const far = disc[0] * c + disc[1] * s + disc[3];
      if (far > reach) { reach = far; best = disc; }
    }
    return [best[0] + best[3] * c, best[1] + best[3] * s];
  });
}

function ground(a, camera) {
  pen.strokeStyle = pen.fillStyle = data.ink;
  pen.lineWidth = 1.2;
  const y = pixel(0, 0)[1];
  pen.beginPath();
  pen.moveTo(0, y);
  pen.lineTo(width, y);
  pen.stroke();
  const c = Math.cos(a), half = width / 2 / scale;
  if (Math.abs(c) < 0.5) return;
  pen.font = "11px sans-serif";
  pen.textAlign = "center";
  const first = Math.ceil((camera - half / Math.abs(c)) / 500) * 500;
  for (let x = first; x < camera + half / Math.abs(c); x += 500) {
    const [u] = pixel((x - camera) * c, 0);
    pen.fillRect(u - 0.5, y, 1, 4);
    if (u > 24 && u < width - 24) pen.fillText((x / 1000).toFixed(1) + " m", u, y + 17);
  }
}

// faces of the ground, the farthest first
function faces(a, camera) {
  const drawn = [];
  for (const [quads, upright] of [[data.faces, false], [data.risers, true]]) for (const quad of quads) {
    const corners = [0, 3, 6, 9].map(j => seen(quad[j] - camera, quad[j + 1], quad[j + 2], a));
    if (upright && corners[1][0] <= corners[0][0]) continue;  // seen from behind
    drawn.push([corners.reduce((sum, corner) => sum + corner[2], 0), corners]);
  }
  drawn.sort((p, q) => p[0] - q[0]);
  for (const [, corners] of drawn) {
    fill(corners, data.shade, 0);
    pen.strokeStyle = data.ink;
    pen.lineWidth = 1;
    pen.stroke();
  }
}

function arrow(force, a, camera) {
  const [u, v] = seen(force[0] - camera, force[1], force[2], a), [du, dv] = seen(force[3], force[4], force[5], a);
  const length = Math.hypot(du, dv);
  if (length < 1) return;
  const thick = 0.0055 * (box[3] - box[2]), e = [du / length, dv / length], head = Math.min(9 * thick, 0.6 * length);
  const at = (along, across) => [u + along * e[0] - across * e[1], v + along * e[1] + across * e[0]];
  const neck = length - head, barb = 0.42 * head;
  const outline = [at(0, thick), at(neck, thick), at(neck, barb), at(length, 0), at(neck, -barb), at(neck, -thick)];
  fill([...outline, at(0, -thick)], data.force, 0.5);
}

function draw() {
  const k = Math.min(frames - 1, Math.floor(frame)), points = data.points[k], a = control("view").value * Math.PI / 180;
  pen.clearRect(0, 0, width, height);
  if (data.grounded) ground(a, data.camera[k]);
  faces(a, data.camera[k]);
  let j = 0;
  const drawn = data.shapes.map(shape => {
    const discs = [];
    let depth = 0;
    for (let i = 0; i < shape.n; i++, j += 3) {
      const place = seen(points[j], points[j + 1], points[j + 2], a);
      depth += place[2] / shape.n;
      discs.push([...place, shape.r[i]]);
    }
    return [Math.round(depth), shape.k, discs, shape.c];
  });
  drawn.sort((p, q) => p[0] - q[0] || p[1] - q[1]);
  for (const [, , discs, color] of drawn) fill(hull(discs), color, 0.8);
  for (const force of data.forces[k]) arrow(force, a, data.camera[k]);
  pen.fillStyle = data.ink;
  pen.font = "12px sans-serif";
  pen.textAlign = "left";
  pen.fillText(data.captions[k], 4, 16);
  control("time").value = k;
}

function tick(now) {
  if (playing && last !== null) {
    frame += (now - last) / 1000 / data.dt * control("speed").value;
    const hold = data.repeats ? 0 : 0.8 / data.dt;
    if (frame >= frames + hold) frame = 0;
    draw();
  }
  last = now;
  requestAnimationFrame(tick);
}

control("time").max = frames - 1;
control("speed").value = "@SPEED@";
if (!control("speed").value) {
  control("speed").add(new Option("@SPEED@"));
  control("speed").value = "@SPEED@";
}
control("play").onclick = () => {
  playing = !playing;
  control("play").textContent = playing ? "pause" : "play";
};
control("time").oninput = () => { frame = +control("time").value; draw(); };
control("view").oninput = draw;
window.onresize = () => { resize(); draw(); };
resize();
draw();
requestAnimationFrame(tick);
</script>
</body>
</html>
"""
