"""What stands in a property that nobody has set: what Bokeh says, though it is not asked each time."""

from __future__ import annotations

import contextlib
import json
import re
from typing import Any

import pytest
from bokeh.core.has_props import HasProps, MetaHasProps
from bokeh.core.property.descriptors import PropertyDescriptor, UnsetValueError
from bokeh.core.serialization import Serializer
from bokeh.document import Document
from bokeh.model import Model, util
from bokeh.models import Div, Slider
from bokeh.themes import Theme
from param import parameterized
from param.parameterized import Parameterized

from explorer.ui import app, defaults

UNSET = object()
COPY, VISIT = parameterized._instantiate_param_obj, util.visit_value_and_its_immediate_references
ID = re.compile(r"id='p\d+'")


def begin(patch: pytest.MonkeyPatch) -> None:
    """From now on, in this test."""
    for kind, name in ((PropertyDescriptor, "_get_default"), (PropertyDescriptor, "is_unstable"),
                       (HasProps, "themed_values"), (HasProps, "_overridden_defaults")):  # fmt: skip
        patch.setattr(kind, name, vars(kind)[name])
    patch.setitem(Serializer._encoders, MetaHasProps, Serializer._encoders[MetaHasProps])
    patch.setattr(parameterized, "_instantiate_param_obj", COPY)
    patch.setattr(util, "visit_value_and_its_immediate_references", VISIT)
    defaults.keep()


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> None:
    begin(monkeypatch)


def made(model_class: type[Model]) -> Model | None:
    """A new model; None where one wants arguments and is nothing without them."""
    model = model_class.__new__(model_class)
    with contextlib.suppress(Exception):
        model = model_class()
    return model if hasattr(model, "_property_values") else None


def standing(model_class: type[Model]) -> dict[str, Any]:
    """What stands in the properties of a new model that nobody has set."""
    model = made(model_class)
    if model is None:
        return {}
    stands = dict[str, Any]()
    for name in set(model.properties()) - set(model._property_values):
        descriptor = model.lookup(name)
        if isinstance(descriptor, PropertyDescriptor):  # else another name of another one
            try:
                stands[name] = descriptor._get(model)
            except UnsetValueError:
                stands[name] = UNSET
    return stands


def test_every_property_of_every_model(monkeypatch: pytest.MonkeyPatch) -> None:
    assert app.Dashboard  # whose models are there, too
    classes = set(Model.model_class_reverse_map.values())
    asked = {each: standing(each) for each in classes}  # Bokeh's own answers
    begin(monkeypatch)
    for _ in range(2):  # the second time they are known
        compared = plain = 0
        for each in classes:
            said = standing(each)
            assert said.keys() == asked[each].keys()
            for name, value in said.items():
                theirs = asked[each][name]
                assert type(value) is type(theirs)
                assert ID.sub("", repr(value)) == ID.sub("", repr(theirs))
                if isinstance(value, (Model, list, dict)):
                    assert value is not theirs  # each model's own
                compared += 1
                plain += type(value) in defaults.PLAIN
        assert compared > 10_000
        assert plain > 0.6 * compared


def test_every_page_is_told_what_the_classes_are(kept: None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert app.Dashboard
    pages = []
    for encode in (defaults._describe, defaults._described, defaults._described):  # the third is of what was kept
        monkeypatch.setitem(Serializer._encoders, MetaHasProps, encode)
        page = Document()
        page.add_root(Div(text="here"))
        pages.append(json.dumps(page.to_json().content["defs"], sort_keys=True))
    assert pages[0] == pages[1] == pages[2]
    assert len(defaults._descriptions) > 50


def test_what_a_model_makes_for_itself_stays_its_own(kept: None) -> None:
    one, other = Div(), Div()
    assert one.css_classes == [] == other.css_classes
    one.css_classes.append("mine")
    assert (one.css_classes, other.css_classes, Div().css_classes) == (["mine"], [], [])
    assert one.id != other.id


def test_a_theme_says_what_stands_there_until_it_is_gone(kept: None) -> None:
    slider, other = Slider(start=0, end=1, value=0, step=1), Slider(start=0, end=1, value=0, step=1)
    before = slider.show_value
    theme = Theme(json={"attrs": {"Slider": {"show_value": not before}}})
    theme.apply_to_model(slider)
    assert slider.show_value is not before
    assert other.show_value is before
    Theme(json={}).apply_to_model(slider)
    assert slider.show_value is before
    slider.show_value = not before
    assert (slider.show_value, other.show_value) == (not before, before)


def descendants(kind: type[Parameterized]) -> set[type[Parameterized]]:
    return {kind}.union(*map(descendants, kind.__subclasses__()))


def test_parameters_of_an_object_are_as_params_own(kept: None) -> None:
    assert app.Dashboard
    mine, others, containers = object(), 0, 0
    for parameter in {p for kind in descendants(Parameterized) for p in kind.param.objects("existing").values()}:
        ours, theirs = defaults._copied(parameter, mine), COPY(parameter, mine)  # type: ignore[arg-type]
        assert type(ours) is type(theirs)
        for slot in type(parameter)._all_slots_:
            made, known, of_class = (getattr(each, slot) for each in (ours, theirs, parameter))
            assert made is known or (made == known and made is not of_class)
            others += 1
            containers += made is not known
    assert others > 20_000
    assert containers > 1_000


def test_what_a_value_refers_to_is_as_bokeh_says(monkeypatch: pytest.MonkeyPatch) -> None:
    assert app.Dashboard
    models = [each for each in map(made, Model.model_class_reverse_map.values()) if each is not None]
    one, other, third = Div(), Div(), Slider(start=0, end=1, value=0, step=1)
    values = [*models, None, True, 1, "x", one, [one, [other, "x"]], (one, None), {"a": [third], one: other}, {one}]

    def referred() -> list[list[str]]:
        found = []
        for value in values:
            seen = list[Model]()
            with contextlib.suppress(UnsetValueError):
                util.visit_value_and_its_immediate_references(value, seen.append)
                util.visit_immediate_value_references(value, seen.append)
            found.append([each.id for each in seen])
        return found

    asked = referred()
    begin(monkeypatch)
    assert referred() == asked
    assert sum(map(len, asked)) > 500
