"""Everything that the dashboard sends to a browser about a table, as text: to look for secrets in."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import panel as pn
import panel_material_ui as pmui
from bokeh.document import Document
from panel.io.state import set_curdoc

from explorer.spark_engine.read_queue import ReadSession
from explorer.ui.app import Dashboard, Offers
from explorer.ui.background import Session
from explorer.ui.rooms import VIEWS
from explorer.ui.tables import Download

WAIT_S = 60


def on_the_page(full: str, reads: ReadSession, opened: Callable[[], None] = lambda: None) -> list[str]:
    """The page of a session that opens a table, looks at each view and what is below it, and saves one download of
    each; `opened` is told once the table is open."""
    with ThreadPoolExecutor(1) as alone:  # a browser's loop may run on the thread of the tests
        return alone.submit(asyncio.run, _looked_at(full, reads, opened)).result()


async def _looked_at(full: str, reads: ReadSession, opened: Callable[[], None]) -> list[str]:
    document = Document()
    shown = []
    with set_curdoc(document):
        dashboard = Dashboard(offers=Offers(lab=False))
        dashboard.reads = reads
        parts = (dashboard.browser, dashboard.path, dashboard.opening.view, dashboard.picker.view)
        whole = pn.Column(*parts, dashboard.rooms.view)
        document.add_root(whole.get_root(document))
        dashboard.picker.fill()
        dashboard.open(full)

        async def settled() -> None:
            until = time.monotonic() + WAIT_S
            while Session.current().jobs:
                assert time.monotonic() < until
                await asyncio.sleep(0.02)
            shown.append(json.dumps(document.to_json(), default=str))

        await settled()
        assert dashboard.opened == full, shown
        opened()
        for name in VIEWS:
            dashboard.rooms.go(name)
            await settled()
            box = dashboard.rooms.view if name == "graph" else dashboard.rooms.box(name)
            for inner in box.select(pn.Tabs):
                for below in range(1, len(inner)):
                    inner.active = below
                    await settled()
            for field in box.select(pmui.TextInput):
                if field.label == "which rows":
                    field.value = "id = 3"
                    await settled()
            if name == "rows":
                next(button for button in box.select(pmui.Button) if button.label == "Run").clicks += 1
                await settled()
            for download in box.select(Download)[:1]:
                download.press()
                await settled()
                if download.data:
                    shown.append(base64.b64decode(download.data.partition(",")[2]).decode(errors="replace"))
        shown.append(dashboard.browser.search)
        assert full in shown[-1]
    return shown
