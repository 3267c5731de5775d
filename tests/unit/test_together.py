"""What is made of many manifests together is what is made of each, however many partitions there are."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from explorer.model.manifest import ENTRY_SCHEMA
from explorer.spec.entries.lazy_table import Batches
from explorer.spec.entries.metric_maps import MetricMaps
from explorer.spec.filters.expressions import FilterColumn
from explorer.spec.layout import layouts
from explorer.spec.layout.clustering import Overlaps, bounds_of
from explorer.spec.layout.column_profile import add_columns, by_column
from explorer.spec.layout.metrics_modes import MetricsCounts, count_statistics
from explorer.spec.scan.ranges import look_up
from explorer.storage.spill import in_order
from tests.support.paper_tables import manifest

KINDS = {1: "long", 2: "string", 3: "double", 40_000: "decimal(9, 2)"}
FIELDS = [FilterColumn(field_id, name, kind) for name, (field_id, kind) in zip("abcd", KINDS.items(), strict=True)]
TEXTS = [b"", b"a", b"b", "é".encode(), b"\xff", b"a\x00"]


def draw_bound(draw: random.Random, field_id: int) -> bytes | None:
    if field_id == 2:
        return draw.choice(TEXTS)
    if field_id == 40_000:
        return draw.choice([b"\x01", b"\xff", b"\x00\x10"])
    number = draw.choice([np.int64(draw.randint(-3, 3)), np.float64(draw.choice([-0.0, 0.0, 1.5, np.nan]))])
    return draw.choice([number.tobytes(), number.tobytes(), b"\x01", None])


def draw_entries(draw: random.Random) -> pa.Table:
    """Entries with counts and bounds of some columns, or of none."""

    def counts() -> Any:
        return draw.choice([None, [(i, draw.choice([0, 1, 2])) for i in KINDS if draw.random() < 0.7]])

    def bounds() -> Any:
        return draw.choice([None, [(i, draw_bound(draw, i)) for i in KINDS if draw.random() < 0.8]])

    number = draw.randint(0, 6)
    columns = {
        "status": [draw.choice([0, 1, 1, 2]) for _ in range(number)],
        "content": [0] * number,
        "record_count": [draw.randint(0, 9) for _ in range(number)],
        **{name: [counts() for _ in range(number)]
           for name in ("column_sizes", "value_counts", "null_value_counts", "nan_value_counts")},
        **{name: [bounds() for _ in range(number)] for name in ("lower_bounds", "upper_bounds")},
    }  # fmt: skip
    schema = pa.schema([field for field in ENTRY_SCHEMA if field.name in columns])
    return pa.table({name: columns[name] for name in schema.names}, schema)


@pytest.mark.parametrize("seed", range(60))
def test_of_manifests_together_is_told_what_is_told_of_each(seed: int) -> None:
    draw = random.Random(seed)
    of = manifest("m", 1)
    each = [draw_entries(draw) for _ in range(draw.randint(1, 5))]
    together = [pa.concat_tables(each)]
    for make in (
        lambda parts: add_columns(KINDS, [by_column(KINDS, of, part) for part in parts]),
        lambda parts: Overlaps(FIELDS, [bounds_of(list(KINDS), of, part) for part in parts]).clustering(),
        lambda parts: sorted(vars(MetricsCounts([count_statistics(of, part) for part in parts]))["_counts"].items()),
    ):
        assert repr(make(together)) == repr(make(each))


@pytest.mark.parametrize("seed", range(60))
def test_an_opened_map_has_what_a_look_at_it_has(seed: int) -> None:
    draw = random.Random(seed)

    def pairs() -> list[tuple[int, bytes | None]]:
        return [(draw.choice([-2, 1, 2, 40_000]), draw.choice([b"a", b"bb", None])) for _ in range(draw.randint(0, 5))]

    some = [draw.choice([None, [], pairs()]) for _ in range(draw.randint(0, 12))]
    kind = ENTRY_SCHEMA.field("lower_bounds").type
    table = pa.table({"lower_bounds": pa.array(some, kind)}).slice(draw.choice([0, 0, 3]))
    for field_id in (-2, 1, 2, 7, 40_000):
        expected = look_up(table, "lower_bounds", field_id)
        for only in (None, field_id):
            assert MetricMaps(table, ["lower_bounds"], only).column("lower_bounds", field_id).equals(expected)


def test_of_rows_with_the_same_keys_the_last_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(3)
    schema = pa.schema([("path", pa.string()), ("offset", pa.int64()), ("n", pa.int64())])
    rows = [{"path": draw.choice("abc"), "offset": draw.choice([None, 0, 1]), "n": n} for n in range(60)]
    last = {(row["path"], row["offset"]): row["n"] for row in rows}
    parts = [pa.Table.from_pylist(rows[at : at + 7], schema) for at in range(0, 60, 7)]
    found = in_order(Batches(schema, lambda: iter(parts)), ["path", "offset"]).whole().to_pylist()
    expected = sorted(last.items(), key=lambda item: (item[0][0], -1 if item[0][1] is None else item[0][1]))
    assert [((row["path"], row["offset"]), row["n"]) for row in found] == expected


def test_files_are_put_into_their_partitions_ever_more_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for each manifest takes as long as manifests times partitions."""
    monkeypatch.setattr(layouts, "AT_ONCE", 10)
    put_in: list[int] = []
    together = layouts.FileKinds.together

    def count(files: layouts.FileKinds, starts: Any) -> layouts.FileKinds:
        put_in.append(len(files.group))
        return together(files, starts)

    monkeypatch.setattr(layouts.FileKinds, "together", count)
    gathered = layouts.Layouts([], [], 1e9, 1.0)
    kind = pa.struct([("1000", pa.int64())])
    for number in range(400):
        partition = pa.array([{"1000": number}], kind)
        sizes = {"record_count": pa.array([1]), "file_size_in_bytes": pa.array([1])}
        gathered.add(0, pa.table({"partition": partition, **sizes}))
    assert gathered.partitions is not None
    assert gathered.partitions.number.sum() == len(gathered.partitions.group) == 400
    assert gathered.compact()[0][:3].tolist() == [400, 400, 400]
    assert 0 < sum(put_in) < 10 * 400
