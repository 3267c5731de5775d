"""Bokeh 3.9 works out anew, for each property of each model that nobody has set, what its class says stands there, and
checks it; and for each page what the classes of Panel's components are: a quarter of the processor's time that a
session takes. A plain value, where no theme says otherwise, is the same for all models of a class, and a class stays
as it is. It looks long for what a plain value refers to; and Param 2.4 copies each parameter of a component for each
one of them, by ways that are made for any use."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from copy import copy
from functools import cache
from types import FunctionType
from typing import Any

from bokeh.core.has_props import HasProps, MetaHasProps
from bokeh.core.property.descriptors import PropertyDescriptor
from bokeh.core.property.instance import InstanceDefault
from bokeh.core.serialization import Ref, Serializer
from bokeh.core.types import ID
from bokeh.model import DataModel, Model, util
from param import parameterized
from param._utils import MUTABLE_TYPES

_get_default = PropertyDescriptor._get_default
_describe = Serializer._encoders[MetaHasProps]
_overridden_defaults = HasProps._overridden_defaults.__func__  # type: ignore[attr-defined]
_visit_other = util.visit_value_and_its_immediate_references
_known: defaultdict[type[HasProps], dict[str, Any]] = defaultdict(dict)
_descriptions: dict[type[HasProps], Any] = {}
"""By classes, which Bokeh keeps too."""
PLAIN = {type(None), bool, int, float, str}


def _kept(self: PropertyDescriptor[Any], model: HasProps) -> Any:
    if "__themed_values__" in model.__dict__:
        return _get_default(self, model)
    own = _known[type(model)]
    if self.name in own:
        return own[self.name]
    value = _get_default(self, model)
    if type(value) in PLAIN and not self.has_unstable_default(model):  # which each model makes for itself
        own[self.name] = value
    return value


# As Bokeh's; but what is nearly never there is not looked for by way of an error, what never changes is told once, and
# nothing is imported at each call.
def _themed(self: HasProps) -> dict[str, Any] | None:
    return self.__dict__.get("__themed_values__")


@cache
def _overridden(cls: type[HasProps]) -> dict[str, Any]:
    return _overridden_defaults(cls)


def _unstable(value: Any) -> bool:
    return isinstance(value, (FunctionType, InstanceDefault))


def _described(cls: type[HasProps], serializer: Serializer) -> Any:
    """A class of Panel's, whose base has nothing of its own, as JSON: kept where that has no reference in it."""
    if cls in _descriptions:
        serializer.add_ref(cls, Ref(id=ID(cls.__qualified_model__)))
        return _descriptions[cls]
    made = _describe(cls, serializer)
    if cls.__bases__ == (DataModel,) and _plain(made):
        _descriptions[cls] = made
    return made


def _plain(value: Any) -> bool:
    if isinstance(value, dict):
        return "id" not in value and all(map(_plain, value.values()))
    return all(map(_plain, value)) if isinstance(value, list) else type(value) in PLAIN


@cache
def _container(kind: type) -> bool:
    return issubclass(kind, MUTABLE_TYPES)


def _copied(parameter: parameterized.Parameter[Any], owner: Any = None) -> parameterized.Parameter[Any]:
    """A class's parameter for one object: as Param's, which also tells the copy of each container (`_on_set`), of which
    no kind of parameter makes anything: a test holds both against each other."""
    read, write, kind = object.__getattribute__, object.__setattr__, type(parameter)
    made = kind.__new__(kind)
    for slot in kind._all_slots_:
        value = read(parameter, slot)
        write(made, slot, copy(value) if _container(value.__class__) and slot != "default" else value)
    write(made, "owner", owner)
    write(made, "watchers", {})
    return made


def _visit(value: Any, visitor: Callable[[Model], None]) -> None:
    """Every model that a value refers to: as Bokeh's, which takes long to see that there is none in nothing."""
    kind = type(value)
    if kind in PLAIN:
        return
    if kind is list:
        for item in value:
            _visit(item, visitor)
    elif isinstance(value, Model):
        visitor(value)
    else:
        _visit_other(value, visitor)


def keep() -> None:
    """From now on, in this process."""
    util.visit_value_and_its_immediate_references = _visit  # type: ignore[assignment]
    parameterized._instantiate_param_obj = _copied  # type: ignore[assignment]
    Serializer._encoders[MetaHasProps] = _described
    HasProps.themed_values = _themed  # type: ignore[method-assign]
    HasProps._overridden_defaults = classmethod(_overridden)  # type: ignore[assignment, method-assign, arg-type]
    PropertyDescriptor.is_unstable = staticmethod(_unstable)  # type: ignore[assignment, method-assign]
    PropertyDescriptor._get_default = _kept  # type: ignore[method-assign, assignment]
