"""Panel 1.9 works out for each page anew which scripts and styles it has: a sixth of the processor's time that a
session takes, for what is the same for all pages of our server until a module brings kinds of models of its own.
(Pages of others may need more, and may be served beside ours by `panel serve`, which leaves this as it is.)"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from bokeh.model import Model
from panel.config import config
from panel.io import server
from panel.io.resources import Bundle
from panel.io.state import state

_bundle = server.bundle_resources
_known: dict[tuple[object, ...], Bundle] = {}
MOST = 100
"""Of pages that are reached at as many addresses."""


def _kept(roots: Any, resources: Any) -> Bundle:
    """A bundle of its own for each page, which may add to it. No text of ours is TeX, so none needs MathJax."""
    absolute = getattr(resources, "absolute", False)
    reached = resources.mode, resources.root_url, absolute, state.base_url, state.rel_path
    key = (*reached, config.theme, len(Model.model_class_reverse_map))
    if key not in _known:
        if len(_known) >= MOST:
            _known.clear()
        _known[key] = _bundle(roots, resources, enable_mathjax=False)
    return deepcopy(_known[key])


def keep() -> None:
    """From now on, in this process."""
    server.bundle_resources = _kept  # type: ignore[assignment]
