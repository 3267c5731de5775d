"""Firefox, driven by WebDriver BiDi (the W3C's protocol): what a person does, in few words."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import shutil
import subprocess
import threading
from base64 import b64decode
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

from tornado.websocket import WebSocketClientConnection, websocket_connect

PATIENCE_S = 60
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Tab": "\ue004", "ArrowDown": "\ue015", "ArrowUp": "\ue013"}
FIND = """(role, name) => {
  const named = (one) => one.getAttribute("aria-label") ?? (one.labels?.[0] ?? one).textContent ?? "";
  const tags = { button: "button", textbox: "input,textarea,[role=textbox]", link: "a[href]" };
  const all = [...document.querySelectorAll(`[role=${role}]${role in tags ? "," + tags[role] : ""}`)];
  return all.find((one) => new RegExp(name).test(named(one).trim()) && one.getClientRects().length);
}"""
T = TypeVar("T")


def find_firefox() -> str | None:
    """Firefox's path, if it is here."""
    return shutil.which("firefox-esr") or shutil.which("firefox")


class Firefox:
    """One tab."""

    def __init__(self, connection: WebSocketClientConnection, loop: asyncio.AbstractEventLoop) -> None:
        self._connection, self._loop, self._count = connection, loop, 0
        self.errors: list[str] = []
        self.addresses: list[str] = []
        self.send("session.new", capabilities={})
        self.send("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent"])
        self._tab = self.send("browsingContext.create", type="tab")["context"]
        self.send("browsingContext.setViewport", context=self._tab, viewport={"width": 1440, "height": 900})

    def send(self, method: str, **params: Any) -> Any:
        """Send a command; return its result."""
        self._count += 1
        return self._run(self._send(self._count, method, params))

    async def _send(self, number: int, method: str, params: dict[str, Any]) -> Any:
        await self._connection.write_message(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            text = await asyncio.wait_for(self._connection.read_message(), PATIENCE_S)  # type: ignore[arg-type]
            assert text is not None, "Firefox has ended"
            message = json.loads(text)
            if message.get("method") == "log.entryAdded" and message["params"]["level"] == "error":
                self.errors.append(str(message["params"]["text"]))
            elif message.get("method") == "network.beforeRequestSent":
                self.addresses.append(message["params"]["request"]["url"])
            elif message.get("id") == number:
                assert message["type"] == "success", message
                return message["result"]

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(2 * PATIENCE_S)

    def goto(self, url: str) -> None:
        """Open a page."""
        self.send("browsingContext.navigate", context=self._tab, url=url, wait="complete")

    def evaluate(self, expression: str) -> Any:
        """Return what a script gives, as JSON."""
        target = {"context": self._tab}
        script = f"(async () => JSON.stringify(await ({expression}) ?? null))()"
        answer = self.send("script.evaluate", expression=script, target=target, awaitPromise=True)
        assert answer["type"] == "success", answer
        return json.loads(answer["result"]["value"])

    def wait(self, expression: str) -> Any:
        """Wait until a script gives something."""
        last = f"""new Promise((done) => {{
          const until = Date.now() + {PATIENCE_S * 500};
          const look = () => {{
            const value = ({expression});
            if (value || Date.now() > until) done(value); else setTimeout(look, 50);
          }};
          look();
        }})"""
        value = self.evaluate(last)
        assert value, f"it never came: {expression}"
        return value

    def see(self, role: str, name: str) -> dict[str, float]:
        """Wait for what has a role and a name; return its middle."""
        box = f"(({FIND})({json.dumps(role)}, {json.dumps(name)})?.getBoundingClientRect())"
        place: dict[str, float] = self.wait(f"((box) => box && {{ x: box.x + box.width / 2, y: box.y + 12 }})({box})")
        return place

    def click(self, role: str, name: str) -> None:
        """Click what has a role and a name."""
        place = {name: round(value) for name, value in self.see(role, name).items()}
        steps = [
            {"type": "pointerMove", **place},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        self._act({"type": "pointer", "id": "mouse", "actions": steps})

    def type(self, text: str) -> None:
        """Press keys: a name of KEYS, or each letter."""
        letters = [KEYS[text]] if text in KEYS else list(text)
        steps = [{"type": kind, "value": letter} for letter in letters for kind in ("keyDown", "keyUp")]
        self._act({"type": "key", "id": "keyboard", "actions": steps})

    def _act(self, source: dict[str, Any]) -> None:
        self.send("input.performActions", context=self._tab, actions=[source])

    def back(self) -> None:
        """Go back in the history."""
        self.send("browsingContext.traverseHistory", context=self._tab, delta=-1)

    def picture(self, file: Path) -> None:
        """Save a screenshot."""
        file.write_bytes(b64decode(self.send("browsingContext.captureScreenshot", context=self._tab)["data"]))


@contextlib.contextmanager
def firefox(path: str, folder: Path) -> Iterator[Firefox]:
    """Firefox with a profile of its own."""
    profile = folder / "profile"
    profile.mkdir()
    command = [path, "--headless", "--remote-debugging-port", "0", "--profile", str(profile), "--no-remote"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    loop = asyncio.new_event_loop()  # on a thread of its own: this one may have Playwright's
    threading.Thread(target=loop.run_forever, daemon=True).start()

    async def connect(address: str) -> WebSocketClientConnection:
        return await websocket_connect(f"{address}/session", max_message_size=1 << 26)

    try:
        assert process.stderr is not None
        lines = (re.search(r"BiDi listening on (ws://\S+)", line) for line in process.stderr)
        address = next(found[1] for found in lines if found)
        yield Firefox(asyncio.run_coroutine_threadsafe(connect(address), loop).result(PATIENCE_S), loop)
    finally:
        process.terminate()
        process.wait(20)
        loop.call_soon_threadsafe(loop.stop)
