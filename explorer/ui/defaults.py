"""Bokeh 3.9 works out anew, for each property of each model that nobody has set, what its class says stands there, and
checks it: a quarter of the processor's time that a session takes. Where that is a plain value, and no theme says
otherwise, it is the same for all models of the class."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from bokeh.core.has_props import HasProps
from bokeh.core.property.descriptors import PropertyDescriptor

_get_default = PropertyDescriptor._get_default
_known: WeakKeyDictionary[type[HasProps], dict[str, Any]] = WeakKeyDictionary()
PLAIN = (type(None), bool, int, float, str)


def _kept(self: PropertyDescriptor[Any], model: HasProps) -> Any:
    if model.themed_values() is not None:
        return _get_default(self, model)
    own = _known.get(type(model))
    if own is None:
        own = _known[type(model)] = {}
    elif self.name in own:
        return own[self.name]
    value = _get_default(self, model)
    if type(value) in PLAIN and not self.has_unstable_default(model):  # which each model makes for itself
        own[self.name] = value
    return value


def _themed(self: HasProps) -> dict[str, Any] | None:
    """As Bokeh's, which has Python look for what is nearly never there by way of an error."""
    return self.__dict__.get("__themed_values__")


def keep() -> None:
    """From now on, in this process."""
    HasProps.themed_values = _themed  # type: ignore[method-assign]
    PropertyDescriptor._get_default = _kept  # type: ignore[method-assign, assignment]
