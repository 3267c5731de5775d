"""Metadata that unpacks to more than any honest one, and long texts that a page would draw: they are cut before they
are looked through, and never on the page's own thread."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from explorer.app.graph_state import ViewState
from explorer.app.row_pages import RowPages
from explorer.app.start import header
from explorer.errors import ExplorerError
from explorer.queries.collection import Collection
from explorer.render.text import LONGEST, cell
from explorer.reports.inspector import inspect
from explorer.spec.secrets import redaction
from explorer.spec.secrets.redaction import BEGUN, HIDDEN, beginning
from explorer.storage import limits
from explorer.storage.metadata import parse_metadata
from tests.cases.mini import Table as Mini
from tests.support import direct


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Characters that were looked through for credentials."""
    counted, original = [0], redaction.without_tokens

    def count(text: str, instead: str) -> str:
        counted[0] += len(text)
        return original(text, instead)

    monkeypatch.setattr(redaction, "without_tokens", count)
    return counted


def packed(folder: Path, change: Callable[[dict[str, Any]], Any]) -> Path:
    """A table whose only metadata file is gzipped."""
    table = Mini(folder, [(1, "id", "long")])
    table.append(table.parquet("a.parquet", {"id": [1, 2]}))
    change(table.md)
    for path in (folder / "metadata").glob("*.metadata.json"):
        path.unlink()
    (folder / "metadata" / "version-hint.text").unlink(missing_ok=True)
    file = folder / "metadata" / "v9.gz.metadata.json"
    file.write_bytes(gzip.compress(json.dumps(table.md).encode(), 9))
    return file


# -- what metadata unpacks to -----------------------------------------------------------------------------------------
def test_a_small_file_does_not_unpack_to_much(tmp_path: Path) -> None:
    file = packed(tmp_path / "t", lambda md: md["properties"].update({f"p{i}": "a" * 1_000_000 for i in range(80)}))
    size = file.stat().st_size
    assert size < 100_000
    with pytest.raises(ExplorerError, match=r"v9\.gz\.metadata\.json: its .* bytes unpack to more than .*MEMORY"):
        direct.open_table(str(file))
    assert limits.unpack_limit_of_metadata(size) < 24 << 20


def test_schemas_that_hardly_differ_are_read(tmp_path: Path) -> None:
    """The densest that honest metadata is."""
    fields = [{"id": i, "name": f"column_{i}", "required": False, "type": "long"} for i in range(1, 201)]

    def change(md: dict[str, Any]) -> None:
        for n in range(300):
            more = [{"id": 201 + k, "name": f"added_{k}", "required": False, "type": "string"} for k in range(n)]
            md["schemas"].append({"type": "struct", "schema-id": n + 1, "fields": [*fields, *more]})

    file = packed(tmp_path / "t", change)
    data = file.read_bytes()
    assert len(gzip.decompress(data)) > 50 * len(data)
    metadata, problems = parse_metadata(data, str(file))
    assert len(metadata.schemas) == 301
    assert not problems


# -- texts ------------------------------------------------------------------------------------------------------------
def test_of_data_the_beginning_is_shown() -> None:
    data = {"a": "x" * 50_000, "b": ["y" * 50_000] * 100, "c": {f"k{i}": 1 for i in range(10_000)}, "d": 1}
    assert beginning(data, 1_000_000_000) == data
    cut = json.dumps(beginning(data, 20_000))
    assert len(cut) < 30_000
    assert "more characters)" in cut
    assert " more" in cut
    many = beginning(list(range(10_000)), 20_000)
    assert many[:3] == [0, 1, 2]
    assert many[-1] == f"… {10_000 - len(many) + 1:,} more"


def test_no_half_of_a_credential_is_left_where_data_are_cut() -> None:
    secret = "AKIA" + "Z" * 16
    for most in (10_000, 2 * BEGUN):
        told = json.dumps(beginning({"a": "x" * (most - 10) + f" {secret} " + "y" * 5_000}, most))
        assert "AKIA" not in told
    assert HIDDEN in cell({"password": "x" * 100_000}, 20_000)
    assert "xxx" not in cell({"password": "x" * 100_000}, 20_000)


@pytest.mark.parametrize("times", [1, 20])
def test_a_timeline_takes_no_more_for_longer_names(times: int, tmp_path: Path, looked_at: list[int]) -> None:
    def change(md: dict[str, Any]) -> None:
        [snapshot] = md["snapshots"]
        tag = {"type": "tag", "snapshot-id": snapshot["snapshot-id"]}
        md["refs"].update({f"{i}" + "a-b.c=d " * 2_000 * times: tag for i in range(40)})
        snapshot["summary"]["operation"] = "a-b.c=d " * 2_000 * times

    view = ViewState(direct.open_table(str(packed(tmp_path / "t", change))))
    looked_at[0] = 0
    told = view.timeline()
    assert looked_at[0] < 500_000
    assert all(len(name) <= 200 for names in told["refs"] for name in names)
    assert told["operations"] == [f"a text of {16_000 * times:,} characters"]


def test_an_inspection_takes_no_more_than_it_shows(tmp_path: Path, looked_at: list[int]) -> None:
    def change(md: dict[str, Any]) -> None:
        md["properties"].update({f"p{i}": "a-b.c=d " * 12_500 for i in range(80)})
        md["snapshots"][0]["summary"].update({f"p{i}": "a-b.c=d " * 12_500 for i in range(80)})

    view = ViewState(direct.open_table(str(packed(tmp_path / "t", change))))
    for kind in ("metadata", "snapshot"):
        node = next(n.id for n in view.graph.nodes if n.kind == kind)
        looked_at[0] = 0
        told = json.dumps(inspect(view.table, view.graph.node(node)).to_json())
        assert looked_at[0] < 10_000_000
        assert len(told) < 8_000_000
        assert "more characters)" in told


def test_cells_of_a_page_are_short_and_cut_where_they_are_read(tmp_path: Path, looked_at: list[int]) -> None:
    def change(md: dict[str, Any]) -> None:
        [snapshot] = md["snapshots"]
        own = snapshot["snapshot-id"]
        text = "a-b.c=d " * 2_500
        md["snapshots"] += [
            {**snapshot, "snapshot-id": own + i, "summary": {"operation": "append", "x": text}} for i in range(1, 200)
        ]

    table = direct.open_table(str(packed(tmp_path / "t", change)))
    looked_at[0] = 0
    rows = RowPages(Collection.of_rows(table.snapshots, "snapshots"), table.metadata).page(count=200)["rows"]
    assert len(rows) == 200
    assert looked_at[0] <= 200 * 10 * LONGEST
    assert max(len(text or "") for row in rows for text in row) < 2 * LONGEST


def test_what_a_page_shows_first_is_short(tmp_path: Path, looked_at: list[int]) -> None:
    """And without credentials, which the facts of an overview had."""
    text = "a-b.c=d " * 12_500

    def change(md: dict[str, Any]) -> None:
        [snapshot] = md["snapshots"]
        own = snapshot["snapshot-id"]
        md["refs"] |= {"0 password=hush": {"type": "tag", "snapshot-id": own}}
        md["refs"] |= {f"{i}{text}": {"type": "tag", "snapshot-id": own} for i in range(20)}
        md["schemas"][0]["fields"] += [
            {"id": 5 + i, "name": f"c{i}{text}", "required": False, "type": "long"} for i in range(20)
        ]
        md["snapshots"] += [
            {**snapshot, "snapshot-id": own + i, "manifest-list": text, "summary": {"operation": text}}
            for i in range(1, 20)
        ]

    table = direct.open_table(str(packed(tmp_path / "t", change)))
    looked_at[0] = 0
    told = json.dumps([header(table, "t"), ViewState(table).timeline()])
    assert looked_at[0] < 1_500_000
    assert len(told) < 500_000
    assert "hush" not in told
