"""What the question `readers` knows of readers, held against the readers that are here: a table for each feature, of a
real writer where one writes it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from explorer.reports.readers import find_readers
from explorer.spark_engine.spark import SparkEngine
from explorer.spec.readers.table_features import FEATURES
from explorer.table import open_table
from tests.reader_support import ask_all, known
from tests.support.feature_tables import FeatureTable, Workbench, build_tables

NOT_WRITTEN = {"encryption", "transform-other", "file-format-other", "codec-other"}
"""Features without a table: a key management service is needed, or they are what is left."""
ANEW = "python -m tests.reader_support writes the data file anew"


@pytest.fixture(scope="module")
def tables(engine: SparkEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[FeatureTable]]:
    built = list(build_tables(engine, tmp_path_factory.mktemp("features")))
    yield [table for table in built if isinstance(table, FeatureTable)]
    for feature in FEATURES:
        engine.session().sql(f"DROP TABLE IF EXISTS sandbox.building.{feature.replace('-', '_')}")


def test_each_feature_has_a_table_which_has_it(tables: list[FeatureTable]) -> None:
    assert {table.feature for table in tables} == set(FEATURES) - NOT_WRITTEN
    for table in tables:
        found = find_readers(open_table(table.metadata))
        assert table.feature in {one.feature for one in found.features}, table.feature


def test_readers_do_what_is_written(tables: list[FeatureTable], engine: SparkEngine) -> None:
    """Those of this environment; make test-readers brings the others."""
    asked = 0
    for reader, name, version, answers in ask_all(engine, tables):
        now = {feature: answer["reads"] for feature, answer in answers.items()}
        assert now == known()[reader], f"{name} {version}: {ANEW}"
        asked += len(now)
    assert asked >= 3 * len(tables)
    assert "ICEDIVE_READERS" not in os.environ or asked > 6 * len(tables)


@pytest.mark.parametrize(("version", "mode"), [(2, "merge-on-read"), (2, "copy-on-write"), (1, "copy-on-write")])
def test_an_upgrade_does_what_is_predicted(engine: SparkEngine, tmp_path: Path, version: int, mode: str) -> None:
    workbench = Workbench(engine, "upgraded", f"file://{tmp_path / 'upgraded'}")
    workbench.sql("CREATE NAMESPACE IF NOT EXISTS sandbox.building")
    workbench.sql("DROP TABLE IF EXISTS {t}")
    workbench.two_rows(version, **{"write.delete.mode": mode})
    workbench.insert("3, 'c'", "4, 'd'", "5, 'e'")
    workbench.sql("DELETE FROM {t} WHERE id = 3")
    before = find_readers(open_table(workbench.identifier), 3)
    assert before.upgrade is not None
    workbench.sql(before.upgrade.statement)
    workbench.insert("6, 'f'")
    workbench.sql("DELETE FROM {t} WHERE id = 1")
    after = find_readers(open_table(workbench.identifier))
    assert {one.feature for one in after.features} == {one.feature for one in before.upgrade.features}
    assert [row.id for row in workbench.sql("SELECT id FROM {t} ORDER BY id").collect()] == [2, 4, 5, 6]
    workbench.sql("DROP TABLE {t}")
