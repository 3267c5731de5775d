"""A Puffin file may have thousands of vectors: its footer is read once."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.lab.scenarios import fresh_copy
from explorer.storage import rows
from tests.support import direct


def test_a_footer_is_read_once_for_all_vectors_of_a_file(sandbox: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    original = rows.read_footer

    def counted(storage: object, path: str) -> object:
        asked.append(path)
        return original(storage, path)  # type: ignore[arg-type]

    monkeypatch.setattr(rows, "read_footer", counted)
    table = direct.open_table(fresh_copy("deletion_vectors"))
    assert not direct.doctor(table, deep=True).findings
    assert len(asked) == len(set(asked)) > 0
