"""Public names of the rooms of the library, names of arguments and of attributes: a wrong one is answered with the
nearest."""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import is_dataclass
from functools import wraps
from types import ModuleType
from typing import Any, NamedTuple, TypeVar, cast

from .display import brief
from .types import suggestion

F = TypeVar("F", bound=Callable[..., Any])

ROOT = __name__.partition(".")[0]

LINE = 120
"""Largest length of what the decorator of dataclasses shows."""


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
    AttributeError of a name that it does not have suggests the nearest, and so do the errors of its functions and
    classes, see `suggest_names_in`.

    package: `globals()` of the package, at the end of its `__init__.py`. retired: names of earlier versions.
    """
    suggest_names_in(package)
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


class UnknownAttribute(AttributeError):
    """An attribute that an object does not have. The nearest name is looked for when the message is read: `hasattr`
    and its like only ask."""

    def __init__(self, owner: object, name: str) -> None:
        super().__init__(owner, name, name=name)  # with obj=owner Python would suggest a second time

    def __str__(self) -> str:
        owner, name = self.args
        hint = suggestion(name, (known for known in dir(owner) if not known.startswith("_")))
        return f"{type(owner).__name__} has no attribute {name!r}{'' if name.startswith('_') else hint}"


def _missing(self: object, name: str) -> Any:
    if hasattr(type(self), name):  # a property that failed: the error is its own
        return object.__getattribute__(self, name)
    raise UnknownAttribute(self, name)


def suggest_names_in(package: dict[str, Any]) -> None:
    """`named_arguments` for all public functions and classes of a package, and for the public methods of the classes,
    unless they hand further arguments on; an `UnknownAttribute` for a name that objects of these classes do not have,
    or objects of other classes that the same modules use. The repr of their dataclasses is one line.

    A function is replaced where it is defined, too, so that it can be pickled; modules that imported it before, as
    those of its own room, call it directly. The small types of the recursions take arguments as they are.
    """
    public = {name: one for name, one in package.items() if name[0] != "_" and _is_ours(one)}
    bases = {base for one in public.values() for base in getattr(one, "__mro__", (one,)) if _is_ours(base)}
    homes = [vars(sys.modules[module]) for module in {base.__module__ for base in bases}]
    for made in {one for home in homes for one in home.values() if isinstance(one, type) and _is_ours(one)}:
        methods: dict[str, Any] = {}
        if not hasattr(made, "__getattr__") and not issubclass(made, BaseException):
            methods["__getattr__"] = _missing
        if is_dataclass(made) and hasattr(made.__repr__, "__wrapped__"):  # by the decorator
            methods["__repr__"] = _in_a_line(made.__repr__)
        for name, method in methods.items():
            setattr(made, name, method)
    for name, one in public.items():
        if isinstance(one, type):
            if not issubclass(one, (BaseException, tuple)) and ".spatial_algebra." not in one.__module__:
                for owner in filter(_is_ours, one.__mro__):
                    _name_arguments_of_methods(owner)
        elif _takes_names(one):
            home = vars(sys.modules[one.__module__])
            package[name] = named = named_arguments(one)
            if home.get(named.__name__) is one:
                home[named.__name__] = named


def _in_a_line(whole: Callable[[Any], str]) -> Callable[[Any], str]:
    """The repr of a dataclass; one of more than a line is that of `Brief`."""

    def shown(self: Any) -> str:
        text = whole(self)
        return text if len(text) <= LINE and "\n" not in text else brief(self)

    return shown


def _is_ours(defined: Any) -> bool:
    """Whether a module of this library defines a class or a function."""
    return getattr(defined, "__module__", "").partition(".")[0] == ROOT


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
