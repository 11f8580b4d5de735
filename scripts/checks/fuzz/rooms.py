"""Calls for the fuzz: optimal control, code generation and pictures, with one or two wrong arguments."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import casadi as ca
import numpy as np

import ocp_dyn as od
from ocp_dyn import ocp
from tests.hopper import monopod

from .arguments import SKIPPED, Call, call_of
from .files import rotor, rotor_solution
from .folders import in_a_folder, quietly

PATHS = {"Unilateral", "FrictionCone", "CenterOfPressure", "CaptureMargin", "ZeroMomentPointMargin", "JointMargin",
         "Clearance", "JointLoadLimit",
         "Separation", "NoCollision", "PowerLimit", "TorqueSpeedCurve", "TorqueCapacity", "Path", "Soft",
         "Activation"}  # fmt: skip
DRAWN = """plot_angles plot_torques plot_powers plot_forces plot_gait_cycle plot_phase_portrait stick_figure plot_motion
    plot_model plot_multipliers"""
SOLVED = """solver guess start tolerance max_iterations progress threads values early_verdict restarts seed piqp x"""
"""Names of `od.viz` that draw a motion, and options of `solve`."""

OWN_VALUES: dict[str, dict[str, Any]] = {
    "NoCollision": {"pairs": [(ocp.Capsule("foot", 0.1), ocp.Obstacle((0, 0, 0), 0.1))]},
    "Patch": {"length": 1.0, "width": 0.5},
    "Terrain": {"patches": [ocp.Patch(length=1.0, width=0.5, name="stair")]},
    "stairs": {"rise": 0.17, "tread": 0.29, "count": 3},
    "ramp": {"angle": 0.3, "length": 2.0},
    "stepping_stones": {"points": [(0.0, 0.1, 0.0), (0.4, -0.1, 0.1)]},
    "DependentJoints": {"constraint": od.JointCoupling("hip", "leg", 1.0), "joints": ["hip"], "of": ["leg"],
                        "function": lambda q: q},
    "Intervals": {"lengths": [1.0, 1.0, 2.0]},
    "GaitPattern": {"period": 0.5, "duty": (0.6, 0.6), "offsets": (0.0, 0.5)},
    "ChannelPower": {"channel": "tau"},
    "ChannelRateSquared": {"channel": "tau"},
    "MuscleMetabolicRate": {"muscles": ocp.Muscles()},
    "JointLoad": {"joint": "leg"},
    "LocalForce": {"entries": (0,), "dofs": (0,), "channels": (), "values": (),
                   "f": ca.Function("f", [ca.SX.sym("q"), ca.SX.sym("qd")], [ca.SX(0)])},
    "JointLoadSquared": {"load": ocp.JointLoad("leg")},
    "JointLoadLimit": {"load": ocp.JointLoad("leg")},
    "TrackActivations": {"muscles": ocp.Muscles(), "names": ["biceps"]},
    "latin_hypercube": {"ranges": {"speed": (1.0, 1.4)}, "n": 3},
    "neighborhoods": {"points": ocp.grid(speed=[1.0, 1.2]), "size": 1},
}  # fmt: skip
"""Good values of one class by the names of its parameters, where they differ from those of the others."""


_model = cache(monopod)


def _followed(model: Any, recording: Any, forces: Any, **options: Any) -> ocp.Problem:
    """`track` with a good time, which recordings of a few frames have no stride for."""
    return ocp.track(model, recording, forces, **{"between": (0.04, 0.14), "unactuated": ["root"]} | options)


def _following() -> Call:
    """A call of `track` for a recording in which the monopod stands."""
    model, times = _model(), np.arange(20) / 100
    rest = np.tile(np.array(model.neutral(), dtype=float), (times.size, 1))
    load = [[[0.0, 0.0, 0.0, 0.0, 0.0, float(model.weight)]]] * times.size
    seen = od.recordings.Recording(model.q_names, times, rest, "rad")
    good = {"model": model, "recording": seen, "forces": od.recordings.Recording("foot", times, load, "N m, N")}
    options = ["places", "weights", "between", "feet", "rate", "cutoff", "errors", "unactuated", "limits"]
    return Call("track", _followed, good, (*good, *options))


def _stand(path: Any = (), objective: Any = (), **options: Any) -> ocp.Problem:
    foot = ocp.Foothold(od.Contact("foot", axes="xyz"))
    phase = ocp.Phase("stance", 3, 1.0, foot, path, objective)
    return ocp.Problem(_model(), phase, unactuated=["root"], **options)


def _good() -> dict[str, Any]:
    """Good values by the names of parameters."""
    model, solution = _model(), rotor_solution()
    pair = ("foot", (0, 0, 0))
    return {
        "function": lambda *stages: 0, "name": "stance", "frame": "foot", "radius": 0.1, "points": [pair],
        "pairs": [(pair, ("leg", (0, 0, 0)))],
        "distance": 0.1, "contact": od.Contact("foot", axes="xyz"), "margin": 0.1, "maximum": 10.0, "start": (0, 0, 0),
        "intervals": 3,
        "duration": 1.0, "feet": ["foot"], "spheres": (od.HuntCrossleySphere("foot"),),
        "reference": ocp.recording([0, 1], np.zeros((2, 5))), "constraint": ocp.PowerLimit(10.0),
        "model": model, "phases": ocp.Phase("swing", 3, 1.0), "left": "hip", "right": "leg", "times": [0, 1],
        "values": [[0], [1]],
        "A": [[0.0]], "b": [1.0], "maps": [], "period": 1.0, "x": [0.0], "f": lambda x: x, "guard": lambda x: x[0],
        "reset": lambda x: x, "n": 2, "steps": 3, "solution": solution, "motion": solution, "body": "foot",
        "at": {0.0: {"hip": 0.1}, 1.0: np.zeros(model.nq)}, "curves": {"hip": (lambda q, qd: 9.0, lambda q,
            qd: 8.0 - qd)}, "dof": "hip", "stiffness": 100.0, "tendons": [ocp.Tendon("hip", 100.0)],
        "instant": ocp.Instant(model, None, ca.DM.zeros(model.nv), tau=ca.DM.zeros(model.nv),
            tau_rate=ca.DM.zeros(model.nv)),
        "problem": rotor(), "functions": [od.function(od.mass_matrix, model)], "prefix": "robot",
    }  # fmt: skip


def _is_term(call: Call) -> bool:
    """Whether a class makes path constraints or costs."""
    name = call.name
    costs = name.startswith("Track") or name.endswith(("Squared", "Work", "Power", "Rate")) or hasattr(call.run, "rate")
    return name in PATHS or costs


def _placed(make: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A term made, and put into a problem, which checks it with the model."""
    key = "path" if name in PATHS else "objective"
    return lambda **given: _stand(**{key: make(**given)})


@cache
def calls() -> tuple[Call, ...]:
    """Calls of all three rooms, those that cost more only once."""
    good = _good()
    made = {
        n: getattr(ocp, n) for n in dir(ocp) if n[0] != "_" and n not in SKIPPED["ocp"] and callable(getattr(ocp, n))
    }
    found = [call_of(name, make, good | OWN_VALUES.get(name, {})) for name, make in made.items() if name != "track"]
    found.append(_following())
    found = [call for call in found if call.changed]
    found += [call._replace(run=_placed(call.run, call.name)) for call in found if _is_term(call)]
    found.append(Call("grid", lambda speed: ocp.grid(speed=speed), {"speed": [1.0, 1.2]}, ("speed",)))
    problem = call_of("Problem", ocp.Problem, good)
    return (*found, *found, *[problem] * 10, *_solving(good), *_writing(good), *_drawing(good))


def _solving(good: dict[str, Any]) -> list[Call]:
    """Calls that take a problem or a solution."""
    problem, solution = good["problem"], good["solution"]
    options = tuple(SOLVED.split())
    return [
        Call("solve", quietly(problem.solve), {"progress": False}, options),
        Call("ocp.solve", quietly(ocp.solve), {"problem": problem, "progress": False}, ("problem", *options)),
        Call("solve_along", quietly(ocp.solve_along), {"problem": problem, "solve": {"progress": False}},
            ("problem", "start", "values", "solve", "along", "time")),
        Call("check", lambda problem, values=None: ocp.check(problem, values), {"problem": problem},
            ("problem", "values")),
        Call("sensitivities", lambda problem, solution, parameter=None: ocp.sensitivities(problem, solution,
             *([] if parameter is None else [parameter])),
             {"problem": problem, "solution": solution}, ("problem", "solution", "parameter")),
        Call("rti", quietly(ocp.rti), {"problem": problem, "start": solution},
            ("problem", "start", "qp", "hessian", "threads", "values", "x")),
        Call("Solution.active", solution.active, {}, ("equalities", "tolerance")),
        Call("Solution.sample", solution.sample, {"times": [0.0]}, ("times",)),
        Call("Solution.table", solution.table, {}, ("layout", "stride", "samples")),
        Call("Solution.to_dataframe", solution.to_dataframe, {"samples": 3}, ("stride", "samples")),
        Call("Solution.to_xarray", solution.to_xarray, {"samples": 3}, ("stride", "samples")),
    ]  # fmt: skip


def _writing(good: dict[str, Any]) -> list[Call]:
    """Calls of code generation; nothing is compiled, and files go to a directory that is removed."""
    functions, solution = good["functions"], good["solution"]
    generated = call_of("generate", od.codegen.generate, good)
    emitted = call_of("emit", od.codegen.emit, good | {"f": functions[0]})
    exported = Call("export", in_a_folder(od.codegen.export), {"functions": functions, "directory": "robot"},
                    ("directory", *generated.changed))  # fmt: skip
    compiled = call_of("compile", quietly(od.codegen.compile), good)
    files = {"Solution.save": solution.save, "Solution.to_csv": solution.to_csv, "load_model": od.load_model,
             "load_urdf": od.load_urdf, "od.load": od.load, "load": ocp.Solution.load}  # fmt: skip
    filed = [Call(name, in_a_folder(run), {"path": "x"}, ("path",)) for name, run in files.items()]
    model = Call("save_model", in_a_folder(od.save_model), {"model": good["model"], "path": "x"}, ("path",))
    sweep = {"make": monopod, "points": ocp.grid(speed=[1.0, 1.2]), "folder": "gaits"}
    swept = call_of("Sweep", in_a_folder(ocp.Sweep), sweep)
    return [generated, generated, emitted, exported, compiled, compiled, *filed, model, swept]


def _drawing(good: dict[str, Any]) -> list[Call]:
    drawn = [call_of(name, in_a_folder(getattr(od.viz, name)), good | {"multipliers": [0.5]}) for name in DRAWN.split()]
    animated = call_of("animate", in_a_folder(od.viz.animate), good | {"path": "x.html"})
    return [*drawn, animated, call_of("skeleton", od.viz.skeleton, good)]
