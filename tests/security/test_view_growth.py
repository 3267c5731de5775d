"""The work of showing a view grows no faster than what its author writes, in each dimension that a view has."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from explorer.storage import processor_time
from tests.security.test_growth import MOST, MOST_IN_ALL, NOISE, ask
from tests.support.view_files import column, sound, version

COMMANDS = ("catalog views --name {} -o json", "catalog views --name {}", "catalog views --name {} --older 1 --newer 2")
SIZE = 64
View = dict[str, Any]


def _versions(view: View, size: int) -> None:
    view["versions"] = [version(n, f"SELECT {n} FROM fruits") for n in range(1, size + 4)]
    view["version-log"] = [{"timestamp-ms": n, "version-id": n} for n in range(1, size + 4)]


def _log(view: View, size: int) -> None:
    view["version-log"] += [{"timestamp-ms": 1_795_953_600_003 + n, "version-id": 1 + n % 3} for n in range(size)]


def _schemas(view: View, size: int) -> None:
    view["schemas"] += [{"schema-id": 3 + n, "type": "struct", "fields": [column(1, f"c{n}")]} for n in range(size)]


def _fields(view: View, size: int) -> None:
    for number, schema in enumerate(view["schemas"]):
        schema["fields"] = [column(n + 1, f"c{n}", ("long", "string")[number]) for n in range(size + 2)]


def _representations(view: View, size: int) -> None:
    for one in view["versions"]:
        one["representations"] += [{"type": "sql", "dialect": f"d{n}", "sql": "SELECT 1"} for n in range(size)]


def _lines(view: View, size: int) -> None:
    for number, one in enumerate(view["versions"]):
        lines = [f"  a{(n * 7 + number) % (size + 1)} + b{n}," for n in range(size)]
        one["representations"][0]["sql"] = "\n".join(["SELECT", *lines, "id FROM fruits"])


def _namespace(view: View, size: int) -> None:
    view["versions"][-1]["default-namespace"] = [f"n{n}" for n in range(size + 1)]


def _properties(view: View, size: int) -> None:
    view["properties"] = {f"p{n}": "x" for n in range(size)}


def _summary(view: View, size: int) -> None:
    view["versions"][-1]["summary"] |= {f"s{n}": "x" for n in range(size)}


DIMENSIONS: dict[str, Callable[[View, int], None]] = {
    "versions": _versions, "log": _log, "schemas": _schemas, "fields": _fields, "dialects": _representations,
    "lines": _lines, "namespace": _namespace, "properties": _properties, "summary": _summary,
}  # fmt: skip


def written(folder: Path, name: str, size: int) -> Path:
    view = sound()
    DIMENSIONS[name](view, size)
    file = folder / f"{name}-{size}.metadata.json"
    file.write_text(json.dumps(view))
    return file


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", DIMENSIONS)
def test_work_grows_linearly(name: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(processor_time.VARIABLE, "100000")
    ask(command, written(tmp_path, name, 1))  # what is loaded the first time
    quarter, one, four = (ask(command, written(tmp_path, name, size)) for size in (SIZE // 4, SIZE, 4 * SIZE))
    slow = {
        what: (quarter[what], one[what], steps)
        for what, steps in four.items()
        if steps - one[what] > MOST * max(NOISE, one[what] - quarter[what]) and steps > MOST_IN_ALL * one[what]
    }
    assert not slow
    assert four.total() > quarter.total()
