"""Row groups, held against Iceberg's own tests of them, and against rows."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer.model.metadata import Schema
from explorer.queries.filters import filter_columns, parse_filter
from explorer.spark_engine.spark import SparkEngine
from explorer.spec.filters.expressions import Constant, predicates
from explorer.spec.scan.row_groups import row_groups
from explorer.storage.formats.parquet import read_footer
from explorer.storage.formats.parquet_chunks import read_parts
from explorer.storage.storage import Storage
from tests.spark.planner_oracle import Iceberg, Made, drawn_filter
from tests.spark.row_group_oracle import Judge, by_pyarrow, by_spark, drawn_lookup, promoted, schema_of
from tests.spark.test_planning import holds_for

FILTERS = 16


@pytest.fixture(scope="module")
def iceberg(engine: SparkEngine) -> Iceberg:
    return Iceberg(engine)


@pytest.mark.parametrize("seed", range(6))
def test_every_test_says_what_icebergs_says(iceberg: Iceberg, engine: SparkEngine, tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    if seed < 2:
        made = by_spark(iceberg, rng, tmp_path / "t", engine.session(), dictionaries=seed == 0)
    else:
        made = by_pyarrow(rng, tmp_path / "data.parquet", nanos=seed == 2)
        made = promoted(made) if seed == 3 else made
    told = Counter[str]()
    judge = Judge.open(iceberg, made.folder, schema_of(made.kinds))
    for n in range(FILTERS):
        told += compare(judge, made, drawn_lookup(rng, made) if n % 2 else drawn_filter(rng, made))
    judge.reader.close()
    assert told["statistics"], told
    assert told["dictionary"] + told["bloom filter"], told
    assert told[("dictionary", "bloom filter")[seed]] if seed < 2 else True, told


def compare(judge: Judge, made: Made, where: str) -> Counter[str]:
    """How many row groups each test skipped."""
    schema = schema_of(made.kinds)
    bound = parse_filter(where, filter_columns(Schema(0, (), {}, (), schema)), null_too=True)
    if isinstance(bound, Constant):
        return Counter()
    path, storage = str(made.folder), Storage([str(made.folder.parent)])
    footer = read_footer(storage, path, sorted({p.term.column.field_id for p in predicates(bound)}))

    def read(part: Any, chunks: Any) -> Any:
        return read_parts(storage, path, part, chunks, footer)

    told = Counter[str]()
    groups = row_groups(bound, path, footer, read, {})
    starts = np.cumsum([0, *(g.rows for g in groups)])
    for group, theirs, start in zip(groups, judge.verdicts(bound), starts, strict=False):
        evidence = (where, str(made.folder), group)
        for test, said in group.tests:
            assert said.keeps == theirs[test], evidence
            told[test] += not said.keeps
        assert group.keeps == all(theirs.values()), evidence
        matches = [holds_for(bound, row) for row in made.files[0].rows[start : start + group.rows]]
        if not group.keeps:
            # Java reads Parquet's statistics of UUIDs in its own order, and loses rows (docs/readers.md)
            assert not any(matches) or "u" in {p.term.column.name for p in predicates(bound)}, evidence
        else:
            assert group.pages, evidence
            assert sum(matches) <= group.pages.rows, evidence
            told["read"] += 1
            told["pages"] += group.pages.rows < group.rows
    return told
