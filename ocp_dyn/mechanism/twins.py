"""Equal models: what was found for one of them, such as its Functions, holds for the others too."""

from __future__ import annotations

import os
import pickle
import threading
from copy import copy
from dataclasses import replace
from hashlib import sha256
from weakref import WeakKeyDictionary, WeakValueDictionary

from .model import Model
from .parts import Frame

_first: WeakValueDictionary[str, Model] = WeakValueDictionary()
_copies: WeakValueDictionary[str, Model] = WeakValueDictionary()
_keys: WeakKeyDictionary[Model, str] = WeakKeyDictionary()
_frames: WeakKeyDictionary[Frame, Frame] = WeakKeyDictionary()
_lock = threading.RLock()
if hasattr(os, "register_at_fork"):  # a process forked while another thread looks up would wait for it forever
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


def twin(model: Model) -> Model:
    """An earlier model with the same data, or the model itself if there is none: a key for caches of what follows from
    the data of a model.

    A model lives no longer for this. Models that cannot be pickled, with symbols or functions of a user, have no twins.
    Cost: a millisecond, once per model.
    """
    with _lock:
        key = _key(model)
        return _first.setdefault(key, model) if key else model


def shared(model: Model) -> Model:
    """A model that stands for this one and for all that are equal to it: a copy that no user has.

    What is made for it, such as Functions and graphs, serves the problems of all these models. It takes the frames of
    each of them for its own (`shared_frame`), while for them a frame of another model remains one. The model itself if
    it has no twins. The copy lives as long as something holds it.
    """
    with _lock:
        key = _key(model)
        if not key:
            return model
        found = _copies.get(key)
        if found is None:
            found = copy(model)
            object.__setattr__(found, "frames", {name: replace(frame) for name, frame in model.frames.items()})
            _keys[found] = key
            _copies[key] = found
        if found is not model:
            _frames.update((frame, found.frames[name]) for name, frame in model.frames.items())
        return found


def shared_frame(frame: Frame) -> Frame:
    """The frame of the shared model for which a frame of one of the equal models stands, or the frame itself."""
    return _frames.get(frame, frame)


def _key(model: Model) -> str:
    """A digest of the data of a model, the same for equal models; empty for a model that cannot be pickled."""
    if model not in _keys:
        try:
            data = pickle.dumps(model)
        except Exception:  # noqa: BLE001  (parts of a user may raise anything)
            return _keys.setdefault(model, "")
        # a class that was defined again has the same name, and other code
        classes = [id(type(part)) for part in (model, *model.joints, *model.passive)]
        _keys[model] = sha256(repr(classes).encode() + data).hexdigest()
    return _keys[model]
