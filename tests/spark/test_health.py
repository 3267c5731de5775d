"""Health is what Iceberg's own metadata tables say, here and by Spark's workers; so are the doctor's findings."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from explorer.lab.scenarios import NAMESPACE
from explorer.reports.maintenance import preview
from explorer.spark_engine.spark import SparkEngine, shared_engine
from explorer.spec.health.measures import Health
from tests.support import direct
from tests.support.helpers import open_demo

NAMES = ("position_deletes", "equality_deletes", "deletion_vectors", "partition_evolution")


@pytest.fixture(autouse=True)
def embedded(engine: SparkEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The session of the tests is the one there is."""
    shared_engine.cache_clear()
    for module in ("table", "queries.metadata_tree"):
        monkeypatch.setattr(f"explorer.{module}.shared_engine", lambda: engine)


def number(health: Health, section: str, name: str) -> Any:
    of = next(s for s in health.sections if s.id == section)
    return next(n.value for n in of.numbers if n.name == name)


def measured(health: Health, name: str) -> Any:
    return next(m.value for m in health.measures if m.id == name)


@pytest.mark.parametrize("name", NAMES)
def test_it_says_what_icebergs_metadata_tables_say(name: str, sandbox: Any, engine: SparkEngine) -> None:
    health = direct.health(f"{NAMESPACE}.{name}")
    of = f"sandbox.{NAMESPACE}.{name}"

    def asked(sql: str) -> tuple[Any, ...]:
        return tuple(engine.session().sql(sql.replace("$", of)).collect()[0])

    files = asked("SELECT count(*), sum(file_size_in_bytes), min(file_size_in_bytes), max(file_size_in_bytes), "
                  "sum(record_count) FROM $.data_files")  # fmt: skip
    of_sizes = [number(health, "file-sizes", n) for n in ("data files", "bytes", "smallest file", "largest file")]
    assert of_sizes == list(files[:4])
    assert (health.data_files, health.data_bytes) == files[:2]
    sizes = next(s for s in health.sections if s.id == "file-sizes")
    assert sizes.bars is not None
    assert sum(sizes.bars.series["files"]) == files[0]
    tiles = next(s for s in health.sections if s.id == "partitions").tiles
    partitions = asked("SELECT count(*), max(file_count), max(total_data_file_size_in_bytes) FROM $.partitions "
                       "WHERE file_count > 0")  # fmt: skip
    assert (len(tiles), measured(health, "files-per-partition"), tiles[0].bytes) == partitions
    manifests = asked("SELECT count_if(content = 0), count_if(content = 1), sum(length), sum(added_data_files_count + "
                      "existing_data_files_count + added_delete_files_count + existing_delete_files_count), "
                      "sum(deleted_data_files_count + deleted_delete_files_count) FROM $.manifests")  # fmt: skip
    told = ("data manifests", "delete manifests", "bytes", "live entries", "entries of files that are gone")
    assert tuple(number(health, "manifests", n) for n in told) == manifests
    deletes = asked("SELECT count_if(content = 1 AND file_format <> 'PUFFIN'), count_if(content = 2), "
                    "count_if(file_format = 'PUFFIN') FROM $.delete_files")  # fmt: skip
    kinds = ("position delete files", "equality delete files", "deletion vectors")
    assert tuple(number(health, "deletes", n) for n in kinds) == deletes
    hidden = asked("SELECT coalesce(sum(record_count), 0) FROM $.delete_files WHERE content = 1")[0]
    share = measured(health, "deleted-share")
    assert share == pytest.approx(hidden / files[4]) or (share is None and deletes[1])  # which hide an unknown share
    snapshots = asked("SELECT count(*) FROM $.snapshots")
    assert number(health, "snapshots", "snapshots") == snapshots[0]
    specs = asked("SELECT count_if(spec_id <> (SELECT max(spec_id) FROM $.data_files)) FROM $.data_files")[0]
    assert measured(health, "older-specs") == specs


@pytest.mark.parametrize("name", NAMES[1:])
def test_workers_say_the_same(name: str, sandbox: Any) -> None:
    table = direct.open_table(f"{NAMESPACE}.{name}")
    ours, theirs = (direct.health(table, clustering=True, engine=engine) for engine in ("local", "spark"))
    assert theirs.to_json() == ours.to_json()
    known, found = (direct.doctor(table, engine=engine) for engine in ("local", "spark"))
    assert found.to_json() == known.to_json()


def test_of_a_part_nobody_knows_which_deletes_dangle(sandbox: Path, tmp_path: Path) -> None:
    """A manifest that cannot be read may have the file that a delete applies to: nothing says that it may go."""
    table = open_demo("equality_deletes")
    assert next(m for m in direct.health(table).measures if m.id == "dangling-deletes").value == 0
    folder, (oldest, *_) = Path(sandbox / "warehouse/demo/equality_deletes"), table.manifests("snapshot-1")
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    (copy / "metadata" / Path(oldest["manifest_path"]).name).write_text("no manifest")
    part = direct.open_table(str(copy))
    known = part.deletes()
    assert (known.dangling, len(known.alone)) == ((), 1)
    measure = next(m for m in direct.health(part).measures if m.id == "dangling-deletes")
    assert (measure.value, measure.words) == (None, "some manifests could not be read")
    assert direct.overview(part).rows_counted is None
    assert "cannot be told" in next(iter(preview(part, "dangling-deletes").words))
    assert "46" not in {str(f.about.number) for f in direct.doctor(part).findings}
