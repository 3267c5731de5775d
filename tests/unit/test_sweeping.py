"""One question asked of all tables of a catalog: each fails alone, answers come as they are made."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyiceberg.catalog.sql import SqlCatalog

from explorer.cli import main
from explorer.progress import Cancelled, Watch
from explorer.reports.catalog_sweep import summary, sweep
from tests.support import direct
from tests.support.small_tables import edit_metadata

NAMES = ("good", "broken", "gone", "wrong")


@pytest.fixture
def catalog(tmp_path: Path) -> dict[str, str]:
    """A catalog whose table `broken` has a damaged metadata file, `gone` none, and `wrong` counts wrongly."""
    own = {"uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": f"file://{tmp_path}/warehouse"}
    made = SqlCatalog("small", **own)
    made.create_namespace("db")
    made.create_namespace("other")
    rows = pa.table({"id": pa.array([1, 2], pa.int64())})
    for name in (*(f"db.{n}" for n in NAMES), "other.t"):
        made.create_table(name, rows.schema).append(rows)
    where = {n: Path(made.load_table(f"db.{n}").metadata_location.removeprefix("file://")) for n in NAMES}
    where["broken"].write_bytes(where["broken"].read_bytes()[:100])
    where["gone"].unlink()
    edit_metadata(where["wrong"].parents[1], lambda d: d["snapshots"][0]["summary"].update({"total-records": "7"}))
    made.engine.dispose()
    return {"type": "sql", **own}


def test_each_table_fails_alone(catalog: dict[str, str]) -> None:
    found = {swept.table: swept for swept in sweep(summary, "small", catalog, "db")}
    assert sorted(found) == [f"small.db.{name}" for name in sorted(NAMES)]
    good = found["small.db.good"]
    assert good.answer is not None
    assert (good.answer.snapshots, good.answer.manifests, good.answer.data_files, good.answer.records) == (1, 1, 1, 2)
    assert (good.error, good.problems, good.answer.file_bytes is not None) == ("", (), True)
    for name in ("broken", "gone"):
        assert found[f"small.db.{name}"].answer is None
        assert f"/db/{name}/metadata/" in found[f"small.db.{name}"].error
    [problem] = found["small.db.wrong"].problems
    assert "has total-records = 7, and its manifests add up to 2" in str(problem)


def test_any_question_may_be_asked_and_may_surprise(catalog: dict[str, str]) -> None:
    def ask(table: direct.Table) -> int:
        if table.name.endswith("wrong"):
            raise ArithmeticError("surprise")
        return len(table.files())

    found = {swept.table: (swept.answer, swept.error) for swept in sweep(ask, "small", catalog)}
    assert found["small.other.t"] == found["small.db.good"] == (1, "")
    assert found["small.db.wrong"] == (None, "ArithmeticError: surprise")


def test_it_streams_tells_and_stops(catalog: dict[str, str]) -> None:
    watch, told = Watch(), []
    with watch.listening():
        names = sweep(lambda table: table.name, "small", catalog)
        for _ in range(2):
            assert next(names).table
            told.append((watch.done, watch.total, watch.what))
        watch.cancel()
        with pytest.raises(Cancelled):
            next(names)
    assert told == [(0, 5, "tables"), (1, 5, "tables")]


def test_the_order_is_the_catalogs(catalog: dict[str, str]) -> None:
    others = threading.Event()

    def ask(table: direct.Table) -> str:
        if table.name.endswith("good"):
            assert others.wait(60)  # it is done after one that comes later
        else:
            others.set()
        return table.name

    names = [swept.table for swept in sweep(ask, "small", catalog)]
    assert names == [*(f"small.db.{name}" for name in sorted(NAMES)), "small.other.t"]


def test_its_three_faces(catalog: dict[str, str]) -> None:
    rows = direct.sweep("small", catalog, "db")
    assert [row["records"] for row in rows if row["table"].endswith("good")] == [2]
    options = [text for pair in catalog.items() for text in ("-p", "=".join(pair))]
    ask = ["catalog", "tables", "small", "--summary", *options, "--namespace"]
    run = CliRunner().invoke(main, [*ask, "db", "-o", "jsonl"])
    assert run.exit_code == 3, run.output
    assert "2 of the tables could not be read" in run.stderr
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    assert sorted(line["table"] for line in lines) == sorted(row["table"] for row in rows)
    text = CliRunner().invoke(main, [*ask, "other"])
    assert (text.exit_code, "small.other.t" in text.stdout) == (0, True)
    unknown = CliRunner().invoke(main, ["catalog", "tables", "nowhere", "--summary"])
    assert (unknown.exit_code, "no catalog 'nowhere' is configured" in unknown.stderr) == (1, True)


def test_tables_that_moved_are_swept_where_they_are(catalog: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "warehouse" / "other").rename(tmp_path / "elsewhere")
    own = [option for pair in catalog.items() for option in ("-p", "=".join(pair))]
    command = ["catalog", "tables", "small", "--summary", *own, "--namespace", "other", "-o", "json"]
    lost = CliRunner().invoke(main, command)
    assert lost.exit_code == 3
    assert json.loads(lost.stdout)[0]["records"] is None
    moved = ["--relocate", f"file://{tmp_path}/warehouse/other={tmp_path}/elsewhere"]
    told = CliRunner().invoke(main, [*command, *moved, "--root", str(tmp_path / "elsewhere")])
    assert told.exit_code == 0, told.output
    assert [row["records"] for row in json.loads(told.stdout)] == [2]
    where = {f"file://{tmp_path}/warehouse/other": str(tmp_path / "elsewhere")}
    rows = direct.sweep("small", catalog, "other", roots=[str(tmp_path / "elsewhere")], relocate=where)
    assert [row["records"] for row in rows] == [2]
