"""Public names of the rooms of the library, and names of arguments: a wrong one is answered with the nearest."""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from types import ModuleType
from typing import Any, NamedTuple, TypeVar, cast

from .types import suggestion

F = TypeVar("F", bound=Callable[..., Any])

ROOT = __name__.partition(".")[0]


class Retired(NamedTuple):
    """A public name of an earlier version: its successor in the same room, the version that retired it, and whether it
    still works, with a DeprecationWarning."""

    successor: str
    since: str
    works: bool = True

    def found(self, name: str, package: dict[str, Any]) -> Any:
        """The object of the successor; AttributeError, which names it, where the old name is gone."""
        told = f"{package['__name__']}.{name} is called {self.successor!r} since version {self.since}"
        if not self.works:
            raise AttributeError(f"{told}; the old name is gone")
        warnings.warn(f"{told}; the next major version drops the old name", DeprecationWarning, stacklevel=3)
        return package[self.successor]


def only_names(package: dict[str, Any], retired: Mapping[str, Retired] | None = None) -> None:
    """Restricts `dir()` and the star import of a package to the names that it imports; its modules are left out. The
    AttributeError of a name that it does not have suggests the nearest, and so does the TypeError of an argument, see
    `name_arguments_of`.

    package: `globals()` of the package, at the end of its `__init__.py`. retired: names of earlier versions.
    """
    name_arguments_of(package)
    names = [key for key, value in package.items() if not key.startswith("_") and not isinstance(value, ModuleType)]
    package["__all__"] = sorted(names)
    package["__dir__"] = lambda: [*package["__all__"], *(key for key in package if key.startswith("__"))]

    def missing(name: str) -> Any:
        if retired and name in retired:
            return retired[name].found(name, package)
        hint = "" if name.startswith("_") else suggestion(name, names)  # tools ask modules for private names
        raise AttributeError(f"{package['__name__']} has no {name!r}{hint}")

    package["__getattr__"] = missing


def refuse_unknown(given: Iterable[str], names: Iterable[str], called: str) -> None:
    """Raises TypeError, with the nearest name, for an argument that is not among the names."""
    for name in given:
        if name not in names:
            raise TypeError(f"{called} has no argument {name!r}{suggestion(name, names)}")


def named_arguments(called: F) -> F:
    """A decorator of functions and methods: an argument of a wrong name suggests the nearest one."""
    code = called.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]

    @wraps(called)
    def checked(*args: Any, **given: Any) -> Any:
        if given:
            refuse_unknown(given, names, called.__qualname__.removesuffix(".__init__"))
        return called(*args, **given)

    return cast(F, checked)


def name_arguments_of(package: dict[str, Any]) -> None:
    """`named_arguments` for all public functions and classes of a package, and for the public methods of the classes,
    unless they hand further arguments on.

    A function is replaced where it is defined, too, so that it can be pickled; modules that imported it before, as
    those of its own room, call it directly. The small types of the recursions are left as they are.
    """
    for name, public in [*package.items()]:
        if name.startswith("_") or not getattr(public, "__module__", "").startswith(ROOT):
            continue
        if isinstance(public, type):
            if not issubclass(public, (BaseException, tuple)) and ".spatial_algebra." not in public.__module__:
                for owner in public.__mro__:
                    if owner.__module__.startswith(ROOT):
                        _name_arguments_of_methods(owner)
        elif _takes_names(public):
            home = vars(sys.modules[public.__module__])
            package[name] = named = named_arguments(public)
            if home.get(named.__name__) is public:
                home[named.__name__] = named


def _name_arguments_of_methods(made: type) -> None:
    for name, member in [*vars(made).items()]:
        bound = isinstance(member, (classmethod, staticmethod))
        method = member.__func__ if bound else member
        if _takes_names(method) and (name == "__init__" or not name.startswith("_")):
            named = named_arguments(method)
            setattr(made, name, type(member)(named) if bound else named)


def _takes_names(called: Any) -> bool:
    """Whether a function has arguments with names, and none that it hands on; False for one that was checked before."""
    if not inspect.isfunction(called) or hasattr(called, "__wrapped__"):
        return False
    code = called.__code__
    return not code.co_flags & inspect.CO_VARKEYWORDS and code.co_argcount + code.co_kwonlyargcount > 0
