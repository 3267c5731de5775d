"""A change of our own, called back as if it were the page's, does not undo a newer one (see ui.echoes)."""

from __future__ import annotations

import gc
import time
import weakref
from typing import Any

import panel as pn
import panel_material_ui as pmui
import pytest
from bokeh.document import Document
from panel.io.state import set_curdoc
from panel.util import edit_readonly

import explorer.ui.widgets  # noqa: F401  (leaves them out)
from explorer.ui.app import Dashboard


def shown(widget: Any) -> tuple[Document, Any]:
    """The widget on a page: its document, and what holds its properties there."""
    document = Document()
    root = widget.get_root(document)
    document.add_root(root)
    return document, root.data if "data" in root.properties() else root


@pytest.mark.parametrize("make", [pmui.Button, pmui.TextInput, pn.widgets.TextInput], ids=lambda m: m.__module__)
def test_an_echo_undoes_nothing(make: Any) -> None:
    widget = make(disabled=False)
    document, _ = shown(widget)
    widget.disabled = True
    widget.disabled = False
    widget._events = {"disabled": True}  # what Panel noted when the first change was let go
    widget._change_event(document)
    assert widget.disabled is False


@pytest.mark.parametrize("make", [pmui.TextInput, pn.widgets.TextInput], ids=lambda m: m.__module__)
def test_what_a_person_does_counts(make: Any) -> None:
    widget = make(value="before")
    document, holder = shown(widget)
    holder.value = "typed"
    widget._events = {"value": "typed"}
    widget._change_event(document)
    assert widget.value == "typed"


@pytest.mark.parametrize("make", [pmui.TextInput, pn.widgets.TextInput], ids=lambda m: m.__module__)
def test_an_echo_takes_no_place_of_what_a_person_does(make: Any) -> None:
    widget = make(value="before")
    document, holder = shown(widget)
    [ref] = widget._models
    widget._events = {"disabled": False}  # something waits to be handled, and so does what comes now
    holder.value = "typed"
    widget._server_change(document, ref, None, "value", "typed", "before")
    widget._change_event(document)
    assert widget.value == "typed"


def test_no_page_is_told_of_what_others_do() -> None:
    """Panel's Page follows whether any session of the server is busy: a click of one was a change on all thirty."""
    with set_curdoc(Document()):
        page = Dashboard().page()
    told = []
    page.param.watch(lambda event: told.append(event.new), "busy")
    for busy in (True, False):
        with edit_readonly(pn.state):
            pn.state.busy = busy
    assert told == []


def test_nothing_keeps_a_page_that_is_gone() -> None:
    """Panel's link to what all sessions do kept each of them, with its table and all that it had asked."""
    document = Document()
    with set_curdoc(document):
        dashboard = Dashboard()
        dashboard.page()
    for tell in document.session_destroyed_callbacks:
        tell(document.session_context)
    gone = weakref.ref(dashboard)
    del dashboard, document
    until = time.monotonic() + 60
    while gone() is not None and time.monotonic() < until:  # what a thread is still looking for is of the page
        time.sleep(0.05)
        gc.collect()
    assert gone() is None
