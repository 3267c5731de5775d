"""Who looks at a page of the dashboard, and from where."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable
from typing import Any
from weakref import WeakKeyDictionary

import panel as pn

from explorer.serving.pools import Pool, PoolTask

_visitors: WeakKeyDictionary[Any, tuple[str, str]] = WeakKeyDictionary()


def viewer() -> str:
    """Who looks at this page: the name they logged in by, or their session's, shortened so that it opens nothing."""
    if name := _name():
        return name
    context: Any = pn.state.curdoc.session_context if pn.state.curdoc else None
    return f"session {hashlib.sha256(str(context.id).encode()).hexdigest()[:8]}" if context else ""


def remember_visitor(page: Any, name: str, address: str) -> None:
    """Remember who looks at a page, and from where: one visitor may have many of them."""
    _visitors[page] = name, address


def visitor() -> str:
    """Who visits this page: the name they logged in by, or their address; nothing where that is not known."""
    page = pn.state.curdoc
    name, address = _visitors.get(page, ("", "")) if page is not None else ("", "")
    return name or address or _name()


def _name() -> str:
    """The name that who looks at this page logged in by. Panel calls everybody a guest who says so by a cookie."""
    page = pn.state.curdoc
    known = _visitors.get(page) if page is not None else None
    return str(pn.state.user or "") if known is None else known[0]


def submit(pool: Pool, work: Callable[[], Any], owner: Hashable) -> PoolTask:
    """Have work of this page done by a pool."""
    return pool.submit(work, owner, viewer(), visitor())
