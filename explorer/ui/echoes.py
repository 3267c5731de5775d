"""Panel 1.9 may take a change of our own for one of the page's, and carry it out 50 ms later: a change that could not
be sent at once is held, and when it is let go it calls back as if it had come from the browser. Was the property
changed again meanwhile, the echo undoes that: a button that was disabled and enabled stays disabled, a text shows what
stood there before. Did the page change it meanwhile, the echo takes the place of what the page said, which is lost.

What really comes from a page is in the model when it comes and when it is handled; an echo that is too late is not. So
those are left out."""

from __future__ import annotations

from typing import Any

import param
from panel.reactive import Syncable

_change_event = Syncable._change_event
_server_change = Syncable._server_change


def _too_late(widget: Syncable, document: Any, name: str, value: Any) -> bool:
    """Whether the widget's model in this document says something else by now."""
    *way, last = name.split(".")
    if last in widget.param and isinstance(widget.param[last], param.Event):  # set back as soon as it was told
        return False
    for model, _ in widget._models.values():
        if model.document is document:
            holder: Any = model
            for part in way:
                holder = getattr(holder, part)
            if last not in holder.properties():
                holder = getattr(holder, "data", None)  # of components with a script of their own
            if holder is not None and last in holder.properties():
                return not holder.lookup(last).property.matches(getattr(holder, last), value)
    return False


def _without_echoes(self: Syncable, doc: Any) -> None:
    self._events = {name: value for name, value in self._events.items() if not _too_late(self, doc, name, value)}
    if self._events:
        _change_event(self, doc)


def _without_late(self: Syncable, doc: Any, ref: str, subpath: str | None, attr: str, old: Any, new: Any) -> None:
    if not _too_late(self, doc, f"{subpath}.{attr}" if subpath else attr, new):
        _server_change(self, doc, ref, subpath, attr, old, new)


def leave_out() -> None:
    """From now on, in this process."""
    Syncable._server_change = _without_late  # type: ignore[method-assign]
    Syncable._change_event = _without_echoes  # type: ignore[method-assign]
