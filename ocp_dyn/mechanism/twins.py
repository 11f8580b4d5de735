"""Equal models: what was found for one of them, such as its Functions, holds for the others too."""

from __future__ import annotations

import pickle
import threading
import weakref
from hashlib import sha256
from weakref import WeakKeyDictionary, WeakValueDictionary

from .model import Model

_first: WeakValueDictionary[str, Model] = WeakValueDictionary()
_twins: WeakKeyDictionary[Model, weakref.ref[Model]] = WeakKeyDictionary()
_lock = threading.RLock()


def twin(model: Model) -> Model:
    """An earlier model with the same data, or the model itself if there is none: a key for caches of what follows from
    the data of a model.

    A model lives no longer for this. Models that cannot be pickled, with symbols or functions of a user, have no twins.
    Cost: a millisecond, once per model.
    """
    with _lock:
        known = _twins.get(model)
        found = None if known is None else known()
        if found is None:
            found = _found(model)
            _twins[model] = weakref.ref(found)
        return found


def _found(model: Model) -> Model:
    try:
        data = pickle.dumps(model)
    except Exception:  # noqa: BLE001  (parts of a user may raise anything)
        return model
    # a class that was defined again has the same name, and other code
    classes = [id(type(part)) for part in (model, *model.joints, *model.passive)]
    key = sha256(repr(classes).encode() + data).hexdigest()
    return _first.setdefault(key, model)
