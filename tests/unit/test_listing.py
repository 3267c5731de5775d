"""Commands that list rows: which rows and columns, in which form; the first of them soon."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.expressions import EqualTo

from explorer.cli import main, output
from explorer.queries.collection import Collection
from explorer.reports import catalog_sweep
from explorer.spec.entries.lazy_table import Batches
from tests.support.small_tables import make_table, writable


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Three appends, and a delete that rewrites a file."""
    made = make_table(tmp_path_factory.mktemp("listing"), 3)
    writable(made).delete(EqualTo("id", 0))
    return str(made)


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Options that name a catalog of two tables."""
    home = tmp_path_factory.mktemp("catalog")
    own = {"uri": f"sqlite:///{home}/catalog.db", "warehouse": f"file://{home}/warehouse"}
    made = SqlCatalog("small", **own)
    made.create_namespace("db")
    for name in ("db.a", "db.b"):
        made.create_table(name, pa.schema([("id", pa.int64())])).append(pa.table({"id": [1, 2]}))
    made.engine.dispose()
    return [option for pair in {"type": "sql", **own}.items() for option in ("-p", "=".join(pair))]


def printed(*arguments: str) -> str:
    told = CliRunner().invoke(main, list(arguments))
    assert told.exit_code == 0, told.output
    return told.stdout


def rows(*arguments: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in printed(*arguments, "-o", "jsonl").splitlines()]


def check(command: list[str], least: int, where: str) -> list[dict[str, Any]]:
    """All options, on a command that has so many rows at least, of which `where` is true of some and not of others."""
    every = rows(*command)
    assert len(every) >= least
    assert json.loads(printed(*command, "-o", "json", "--limit", "9999")) == every
    first, *others = every[0]
    assert rows(*command, "--limit", "1") == every[:1]
    assert rows(*command, "--columns", f"{others[0]}, {first}") == [
        {others[0]: r[others[0]], first: r[first]} for r in every
    ]
    some = rows(*command, "--filter", where)
    assert 0 < len(some) < len(every)
    assert all(row in every for row in some)
    head, *body = printed(*command, "--filter", where, "--columns", first).splitlines()
    assert (head.strip(), len(body)) == (first, len(some))
    refused = CliRunner().invoke(main, [*command, "--columns", "no_such"])
    assert refused.exit_code == 1
    assert "no column 'no_such'" in refused.stderr
    return every


COMMANDS = {
    "inspect snapshots": "operation = 'overwrite'", "inspect manifests": "sequence_number > 3",
    "inspect entries": "logical_status = 'DELETED'", "history lineage": "snapshot = 'snapshot-2'",
    "history lifecycle": "state = 'created'", "history commits": "rows_removed > 0",
    "inspect columns": "type = 'long'", "inspect columns --show clustering": "column = 'id'",
    "inspect map": "status = 'DELETED'", "health": "unit = 'bytes'",
}  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_rows_are_chosen(command: str, folder: str) -> None:
    check([*command.split(), folder], 2, COMMANDS[command])


def test_files_that_differ_are_the_rows_of_a_diff(folder: str) -> None:
    told = check(["diff", folder, "snapshot-2", "snapshot-4"], 3, "change = 'removed'")
    whole = json.loads(printed("diff", folder, "snapshot-2", "snapshot-4", "-o", "json"))
    for change in ("added", "removed"):
        mine = [{k: v for k, v in row.items() if k != "change"} for row in told if row["change"] == change]
        assert mine == whole[f"{change}_data_files"]


def test_rows_of_a_data_file_are_chosen(folder: str) -> None:
    file = rows("inspect", "files", folder, "--filter", "record_count > 1")[0]["file_path"]
    check(["inspect", "file", folder, file, "--show", "rows"], 2, "_pos = 0")


def test_what_is_no_list_has_no_rows_to_choose(folder: str) -> None:
    file = rows("inspect", "files", folder)[0]["file_path"]
    for command in (["plan", folder, "id = 1"], ["inspect", "file", folder, file]):
        for options in (["--columns", "a"], ["--filter", "a = 1"], ["--limit", "1"], ["-o", "csv"]):
            refused = CliRunner().invoke(main, [*command, *options])
            assert (refused.exit_code, refused.stdout) == (2, "")
            assert "this answer is not a list of rows" in refused.stderr


def test_tables_of_a_catalog_are_chosen(catalog: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog_sweep, "AT_ONCE", 1)  # so that they are done in order
    check(["catalog", "tables", "small", "--summary", *catalog], 2, "table = 'small.db.b'")
    check(["catalog", "health", "small", *catalog], 2, "table = 'small.db.b'")
    monkeypatch.setenv("PYICEBERG_CATALOG__SMALL__TYPE", "sql")
    monkeypatch.setenv("PYICEBERG_CATALOG__SMALL__URI", catalog[3].removeprefix("uri="))
    check(["catalog", "tables", "small"], 2, "identifier = 'db.b'")


def test_a_map_has_columns_and_a_limit(folder: str) -> None:
    ask = ("inspect", "map", folder)
    every = rows(*ask)
    assert len(every) > 2
    assert json.loads(printed(*ask, "-o", "json")) == every
    assert rows(*ask, "--limit", "2", "--columns", "bytes") == [{"bytes": r["bytes"]} for r in every[:2]]
    assert len(rows(*ask, "--where", "id = 1")) == len(every)  # it tells of all what a scan does


def test_layers_of_deletes_are_lines(folder: str) -> None:
    layers = rows("inspect", "deletes", folder, "--show", "layers")
    assert layers == json.loads(printed("inspect", "deletes", folder, "--show", "layers", "-o", "json"))
    assert len(layers) > 1
    assert rows("inspect", "deletes", folder, "--show", "layers", "--limit", "1") == layers[:1]
    last = f"sequence_number = {layers[-1]['sequence_number']}"
    assert rows("inspect", "deletes", folder, "--show", "layers", "--filter", last) == layers[-1:]


@pytest.mark.parametrize("form", ["text", "jsonl"])
def test_the_first_rows_come_before_others_are_made(
    form: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = 0

    def told(part: pa.Table) -> list[dict[str, Any]]:
        nonlocal made
        made += part.num_rows
        return part.to_pylist()  # type: ignore[no-any-return]

    def lines(part: pa.Table, end: str) -> str:
        return "".join(f"{row}{end}" for row in told(part))

    def read() -> Iterator[pa.Table]:
        yield pa.table({"n": range(5_000)})
        said = capsys.readouterr().out
        assert said.count("\n") > 4_000
        yield pa.table({"n": range(5_000, 5_100)})

    monkeypatch.setattr("explorer.render.list_columns.json_rows", told)
    monkeypatch.setattr("explorer.render.row_formats.json_lines", lines)
    seen: list[int] = []
    monkeypatch.setattr(output.click, "echo", lambda text="", **_: (seen.append(made), print(text)))
    output.print_rows(Collection(Batches(pa.schema([("n", pa.int64())]), read), "numbers"), form)
    assert seen[0] <= 5_000
    assert made == 5_100
