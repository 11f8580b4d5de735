"""Equality of models and of frames by their data, and a decorator for what is found once for all equal models."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Hashable, Mapping
from dataclasses import Field
from functools import wraps
from types import MappingProxyType
from typing import Any, ClassVar, Concatenate, ParamSpec, TypeVar
from weakref import WeakValueDictionary

import numpy as np
from casadi import DM

P = ParamSpec("P")
R = TypeVar("R")
M = TypeVar("M", bound="EqualByData")

NOTHING: Any = object()
"""Stands for a result that is not there: None may be one."""

_lock = threading.RLock()
"""Held while a result is found: CasADi's graphs are for one thread at a time. Reentrant, as one result may need
another."""
if hasattr(os, "register_at_fork"):  # a process forked while another thread holds the lock would wait for it forever
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


class Kept(dict[Hashable, Any]):
    """Results for a model: one dict for all equal models, which lives as long as one of them."""


_by_data: WeakValueDictionary[Hashable, Kept] = WeakValueDictionary()


class EqualByData:
    """A frozen dataclass that equals all others of its class with the same data, also those from files and pickles.

    Numbers are equal as in Python, 0 and -0 too; patterns of matrices must be equal, and the order of frames. With
    symbols, or with a user's function or other object whose data are not known, it equals only itself.
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def _kept(self) -> Kept:
        """Results for this object and those that equal it. The dict is looked up once, by all data: that takes a
        millisecond for a human."""
        kept: Kept | None = vars(self).get("_kept")
        if kept is None:
            try:
                data = _data(self)
            except (TypeError, RecursionError):
                data = object()  # like no other
            with _lock:
                kept = vars(self).setdefault("_kept", _by_data.setdefault(data, Kept()))
        return kept

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EqualByData):
            return NotImplemented
        return self is other or self._kept is other._kept

    def __hash__(self) -> int:
        return id(self._kept)

    def __getstate__(self) -> dict[str, Any]:
        """The fields, without the results, which copies and pickles share by their data."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: dict(x) if isinstance(x, MappingProxyType) else x for name, x in fields.items()}


def kept_per_model(find: Callable[Concatenate[M, P], R]) -> Callable[Concatenate[M, P], R]:
    """A decorator for a function of a model and of hashable arguments: equal models share its results.

    A result is kept as long as one of the models for which it was asked lives. Errors are not kept. While one thread
    runs the function, others wait for it.
    """

    @wraps(find)
    def kept(model: M, /, *args: P.args, **kwargs: P.kwargs) -> R:
        results, key = model._kept, (find, args, *kwargs.items())
        result: R = results.get(key, NOTHING)
        if result is NOTHING:
            with _lock:
                if key not in results:  # nor has another thread found it meanwhile
                    results[key] = find(model, *args, **kwargs)
                result = results[key]
        return result

    return kept


def content_of(part: Any) -> str | None:
    """A text of all data of a part of a model, the same for equal parts in every process; None where the data are not
    known, as those of a user's function."""
    try:
        return repr(_data(part))
    except (TypeError, RecursionError):
        return None


def _data(part: Any) -> Hashable:
    """Data of a part of a model as nested tuples; TypeError for symbols, functions and objects without attributes."""
    if part is None or isinstance(part, (str, bytes, int, float, type)):
        return part
    if isinstance(part, DM):
        return DM, part.shape, tuple(part.row()), tuple(part.colind()), tuple(part.nonzeros())
    if isinstance(part, np.ndarray):
        return part.shape, *map(_data, part.ravel().tolist())
    if isinstance(part, Mapping):
        return type(part), *((name, _data(value)) for name, value in part.items())
    if isinstance(part, (tuple, list)):
        return type(part), *map(_data, part)
    if isinstance(part, EqualByData):
        return type(part), *(_data(getattr(part, name)) for name in part.__dataclass_fields__)
    if callable(part):
        raise TypeError("the data that a function depends on are not known")
    return type(part), *((name, _data(value)) for name, value in sorted(vars(part).items()))
