"""A compaction of Spark whose files are gone, as after a commit whose state was unknown: what is printed brings every
row back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from explorer.storage.paths import local_path
from tests.statements.printed import statements
from tests.support.report_tables import found

SPACE = "sandbox.unknown"


@pytest.mark.parametrize("later", [False, True])
def test_rows_of_a_compaction_whose_files_are_gone(later: bool, session: Any) -> None:
    """apache/iceberg#2932."""
    name = f"{SPACE}.t{int(later)}"
    session.sql(f"CREATE TABLE {name} (id INT) USING iceberg")
    for number in range(3):
        session.sql(f"INSERT INTO {name} VALUES ({number})")
    session.sql(f"CALL sandbox.system.rewrite_data_files(table => '{name}', options => map('rewrite-all', 'true'))")
    new = [row.file_path for row in session.sql(f"SELECT file_path FROM {name}.files").collect()]
    if later:
        session.sql(f"INSERT INTO {name} VALUES (9), (10)")
    for path in new:
        Path(local_path(path)).unlink()
    findings = found(name, "file-missing", files=True)
    assert len(findings) == len(new)
    printed = [one for one in statements(findings[0].remedy) if not one.startswith("DELETE")]
    assert len(printed) == (2 if later else 1)
    for statement in printed:
        session.sql(statement)
    session.sql(f"REFRESH TABLE {name}")
    rows = [row.id for row in session.sql(f"SELECT id FROM {name} ORDER BY id").collect()]
    assert rows == [0, 1, 2, *([9, 10] if later else [])]
    assert not found(name, "file-missing", files=True, snapshot="main")
