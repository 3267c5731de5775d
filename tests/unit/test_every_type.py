"""Every type of version 3, by itself and inside structs, lists and maps, in every command."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

import pytest
from click.testing import CliRunner

from explorer.cli import main
from tests.support import direct
from tests.support.every_type import KINDS, every_type

COMMANDS = [
    ["show"], ["overview"], ["inspect metadata"], ["inspect schema"], ["inspect properties"], ["inspect snapshots"],
    ["inspect manifests"], ["inspect entries"], ["inspect files"], ["inspect partitions"],
    ["diff", "snapshot-1", "snapshot-2"], ["data diff", "snapshot-1", "snapshot-2"],
    ["data diff", "snapshot-1", "snapshot-2", "--key", "id"],
    ["data diff", "snapshot-2", "snapshot-1", "--key", "uuid"],
    ["data history", "id = 1"], ["data history", "uuid_struct.v = '00000000-0000-0000-0000-000000000007'"],
    ["data history", "uuid_struct.s.w is null"], ["inspect file", "part-0.parquet", "--show", "rows"],
    ["inspect file", "part-1.parquet", "--show", "rows"], ["inspect file", "part-0.parquet", "--show", "footer"],
    ["plan", "uuid = '00000000-0000-0000-0000-000000000007'"], ["inspect columns"],
    ["inspect columns", "--show", "clustering"], ["health"], ["count"], ["inspect deletes"], ["inspect map"],
    ["history lifecycle"], ["history lineage"], ["doctor", "--deep"],
]  # fmt: skip


@pytest.fixture(scope="module")
def typed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return every_type(tmp_path_factory.mktemp("typed") / "t")


@pytest.mark.parametrize("output", ["text", "json"])
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command(command: list[str], output: str, typed: Path) -> None:
    name, *rest = command
    ran = CliRunner().invoke(main, [*name.split(), str(typed), *rest, "-o", output])
    assert ran.exit_code == (6 if name == "doctor" else 0), (ran.output, ran.exception)  # Spark lacks some types
    if output == "json":
        json.loads(ran.stdout)


def test_values_and_nothing(typed: Path) -> None:
    table = direct.open_table(str(typed))
    full, other = table.file_rows("part-0.parquet")
    nulls, empty = table.file_rows("part-1.parquet")
    own = uuid.UUID(int=7)
    assert full["uuid_struct"] == {"v": own, "s": {"w": own}}
    assert full["uuid_list"] == [own, None]
    assert full["uuid_map"] == {own: own}
    assert other["fixed_map"] == {b"abc": b"abc"}
    for kind in KINDS:
        name = kind.split("(")[0].split("[")[0]
        assert [nulls[name + end] for end in ("", "_struct", "_list", "_map")] == [None] * 4
        assert [empty[name + end] for end in ("", "_struct", "_list", "_map")] == [None, {"v": None, "s": None}, [], {}]


def test_rows_that_differ(typed: Path) -> None:
    table = direct.open_table(str(typed))
    for before, after, counts in (
        (None, "snapshot-1", {"inserted": 2, "deleted": 0}),
        ("snapshot-2", "snapshot-1", {"inserted": 0, "deleted": 2}),
        ("snapshot-2", "snapshot-2", {"inserted": 0, "deleted": 0}),
    ):  # fmt: skip
        found = table.row_diff(before, after)
        assert {kind: found.counts[kind] for kind in counts} == counts
    [version] = table.row_history("uuid_struct.v = '00000000-0000-0000-0000-000000000007'").versions
    assert version.row["id"] == 0


def test_rows_of_every_type_as_anything(typed: Path) -> None:
    for name in ("part-0.parquet", "part-1.parquet"):
        rows = direct.open_table(str(typed)).file_rows(name)
        assert rows.to_pandas()["id"].tolist() == rows.to_polars()["id"].to_list() == rows.to_arrow()["id"].to_pylist()
        assert len(rows.select("id > 100")) == 0
        assert len(rows.select("id > 100").to_pandas()) == 0
        assert len(rows.to_json()) == len(list(rows)) == 2
