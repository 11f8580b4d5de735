"""Rigid-body dynamics on CasADi, and optimal control of walking.

The examples in docstrings use these names, and those on optimal control also the names of `ocp_dyn.ocp`. CasADi prints
a structural zero as 00.

>>> import casadi as ca
>>> import numpy as np
>>> import ocp_dyn as od
>>> from ocp_dyn import ocp
>>> rod = od.models.pendulum()  # a uniform rod of 1 kg and 1 m, hinged about y at its upper end; it hangs at q = 0
>>> arm = od.models.pendulum(2)  # two such rods in a chain
>>> elbow = od.models.elbow()  # a forearm with a biceps and a triceps
>>> hill = od.muscles.HillMuscles.of(elbow)  # the numbers of its muscles
>>> path_length = ca.DM([0.31, 0.16])  # of both muscles, at half a radian or so [m]

In signatures M is one of CasADi's matrix types, DM, SX or MX: results are of the type of the arguments. Numbers are
arrays, lists and tuples, which stand for a DM.

The names are those of `ocp_dyn/_names.py`. They are loaded together, with CasADi and NumPy, when one of them is used
for the first time: commands that need none of them, such as `ocp-dyn --help`, start at once. Type checkers read the
names in `__init__.pyi`.
"""

import importlib.util
from importlib import import_module
from typing import Any

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """A room of the library, as `ocp_dyn.viz`, or one of the names; AttributeError with the nearest for any other."""
    if name.startswith("_") and name not in ("__all__", "_names"):  # Python and its tools ask modules for such names
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if importlib.util.find_spec(f"{__name__}.{name}"):
        return import_module(f".{name}", __name__)
    from . import _names

    names = {key: value for key, value in vars(_names).items() if not key.startswith("_")}
    globals().update(names, __all__=sorted(names))
    if name in globals():
        return globals()[name]
    from ._base.types import suggestion

    if name in _names._ELSEWHERE:
        ours = _names._ELSEWHERE[name]
        raise AttributeError(f"ocp_dyn has no {name!r}, the name in another library: it is called {ours!r} here")
    from .functions.registry import REGISTRY

    made_by = [algorithm.__name__ for algorithm, signature in REGISTRY.items() if signature.name == name]
    if made_by:
        raise AttributeError(
            f"ocp_dyn has no {name!r}, a name of Functions: od.{made_by[0]} computes it, and "
            f"od.function(od.{made_by[0]}, model, ...) makes a Function called {name}"
        )
    raise AttributeError(f"ocp_dyn has no {name!r}{suggestion(name, names)}")


def __dir__() -> list[str]:
    names: list[str] = globals().get("__all__") or __getattr__("__all__")
    return [*names, *(key for key in globals() if key.startswith("__"))]
