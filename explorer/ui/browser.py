"""What the page has of the browser: the address bar, Back and Forward, and the keys of its tabs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlencode

import param
from panel.custom import AnyWidgetComponent

from explorer.ui.assets import browser_script

LOOK = "icedive-look"
"""The cookie that says whether the page is dark: as the system is (auto-dark), or as a person chose."""
OURS = ("table", "view", "snapshot", "node", "compare")
"""Parameters that say where the page is; others stay as they were."""


class Browser(AnyWidgetComponent):
    """Where the page is, in the URL: each place is one step of the browser's history. `going` is called with the
    parameters of the place to which a person went back or forward. Tabs by keyboard; and whether the page is `dark`,
    which the browser remembers. Once `seen`, it takes away what stood there first (ui.first)."""

    _esm = browser_script()
    search = param.String(default="")
    went = param.Dict(default={})
    dark = param.Boolean(default=False)
    seen = param.Boolean(default=False)

    def __init__(self, query: Mapping[str, str], going: Callable[[Mapping[str, str]], None], **options: Any) -> None:
        super().__init__(width=0, height=0, margin=0, **options)
        self._others = {key: value for key, value in query.items() if key not in OURS}
        self._going = going

    def say(self, place: Mapping[str, str]) -> None:
        """The page is there."""
        self.search = "?" + urlencode({**self._others, **place})

    @param.depends("went", watch=True)
    def _went(self) -> None:
        query = dict(parse_qsl(str(self.went.get("search", ""))[1:]))
        self._going({key: query[key] for key in OURS if key in query})


def query(arguments: Mapping[str, Sequence[bytes]]) -> dict[str, str]:
    """What a URL asks for, as text, whatever its bytes are."""
    return {name: values[0].decode(errors="replace") for name, values in arguments.items()}
