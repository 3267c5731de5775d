"""A server that others use opens tables of its catalogs, and paths below its roots: nothing else, and no message quotes
what is in a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from explorer.errors import AccessRefused, UnreadableFile
from explorer.model.problem import Problems
from explorer.serving import places
from explorer.spec.entries.live_files import LiveFile
from explorer.storage.formats.avro import open_container
from explorer.storage.formats.json_text import load_json
from explorer.storage.formats.puffin import read_footer
from explorer.storage.rows import deletion_vector
from explorer.storage.storage import Storage
from tests.support.app_client import Client
from tests.support.small_tables import make_table, newest_metadata


@pytest.fixture
def roots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The one folder that the server may open."""
    monkeypatch.delenv(places.VARIABLE, raising=False)
    monkeypatch.setattr(os, "environ", dict(os.environ) | {})
    monkeypatch.setattr(places, "_allowed", {})
    root = tmp_path / "served"
    root.mkdir()
    places.restrict([str(root)])
    return root


def opened(name: str, moves: Sequence[tuple[str, str]] = ()) -> Any:
    """What a page is told of a table. Raises AccessRefused where it may not be opened."""
    client = Client()
    message = client.ask(type="open", table=name, moves=[f"{old}={new}" for old, new in moves])
    client.session.close()
    if message["type"] == "error":
        raise AccessRefused(message["text"])
    return message["data"]


def test_tables_below_a_root_open(roots: Path) -> None:
    table = make_table(roots)
    for name in (str(table), f"file://{table}", str(newest_metadata(table)), f"{table}/../{table.name}"):
        assert opened(name)["snapshots"]


@pytest.mark.parametrize("spelling", ["{}", "file:{}", "file://{}", "{}/", "//{}", "{root}/../{name}", "{root}/link"])
def test_no_others_open(spelling: str, roots: Path, tmp_path: Path) -> None:
    table = make_table(tmp_path / "private")
    (roots / "link").symlink_to(table)
    relative = os.path.relpath(table, roots.parent)
    path = spelling.format(table, root=roots, name=relative)
    with pytest.raises(AccessRefused, match="--only-root"):
        opened(path)
    with pytest.raises(AccessRefused, match="--only-root"):
        opened(f"{path}/metadata/{newest_metadata(table).name}")


@pytest.mark.parametrize(
    "path", ["/", "/etc", "/etc/passwd", ".", "./x", "../x", "s3://bucket/t", "/etc/x.metadata.json", "explorer"]
)
def test_no_folder_is_listed_and_no_file_looked_at(path: str, roots: Path) -> None:
    with pytest.raises(AccessRefused, match="is not below any of them") as refused:
        opened(path)
    assert len(str(refused.value)) < 300


def test_a_place_of_a_store_is_a_root_too(roots: Path) -> None:
    places.restrict(["s3://bucket/shared"])
    places.check("s3a://bucket/shared/db/t")
    places.check("demo.orders")
    for other in ("s3://bucket/shared-not", "s3://bucket/shared/../x", "s3://other/shared/t", str(roots)):
        with pytest.raises(AccessRefused):
            places.check(other)


def test_nothing_is_said_to_have_moved(roots: Path) -> None:
    table = make_table(roots)
    with pytest.raises(AccessRefused, match="moved"):
        opened(str(table), moves=[("s3://x", "/etc")])


def test_no_message_quotes_a_file(roots: Path, tmp_path: Path) -> None:
    secret = b"hunter2-hunter2-hunter2"
    (tmp_path / "x").write_bytes(secret)
    storage = Storage([str(tmp_path)])
    vector = LiveFile(
        str(tmp_path / "x"), "deletion_vector", 0, {}, 1, 1, 1, 23, "m", "PUFFIN", content_offset=0, content_size=20
    )
    asked: tuple[Callable[[], object], ...] = (
        lambda: open_container(secret, "x"),
        lambda: load_json(secret, "x", Problems("x")),
        lambda: read_footer(storage, str(tmp_path / "x")),
        lambda: deletion_vector(storage, vector),
    )
    for ask in asked:
        with pytest.raises(UnreadableFile) as error:
            ask()
        assert not any(part in str(error.value) for part in ("unt", "ter2", secret[4:8].hex()))


def test_without_roots_any_path_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(places.VARIABLE, raising=False)
    assert opened(str(make_table(tmp_path)))["snapshots"]
