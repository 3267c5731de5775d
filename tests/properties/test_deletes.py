"""Deletes counted in columns are what the clauses say of each pair, for any files."""

from __future__ import annotations

import struct
from collections import Counter
from dataclasses import replace
from typing import Any

import pyarrow as pa
from hypothesis import example, given, settings
from hypothesis import strategies as st

from explorer.model.metadata import TableMetadata
from explorer.spec.deletes import delete_pairs
from explorer.spec.deletes.deletes import PATH_ID
from explorer.spec.entries.live_files import LiveFile
from tests import examples
from tests.properties.laws import check_deletes
from tests.support.paper_tables import applicability, deletes_of, on_paper


def three_specs() -> TableMetadata:
    def change(data: dict[str, Any]) -> None:
        columns = (("id", "long"), ("name", "string"), ("x", "double"))
        data["schemas"][0]["fields"] = [
            {"id": i, "name": name, "type": kind, "required": False} for i, (name, kind) in enumerate(columns, 1)
        ]
        by = {"source-id": 2, "name": "p", "transform": "identity"}
        data["partition-specs"] = [
            {"spec-id": 0, "fields": []},
            {"spec-id": 1, "fields": [{**by, "field-id": 1000}]},
            {"spec-id": 2, "fields": [{**by, "field-id": 1000}, {**by, "field-id": 1001, "name": "q"}]},
        ]

    return on_paper([None], change=change)


TABLE = three_specs()
PATHS = ["a.parquet", "b.parquet", "b/c.parquet", "ż.parquet"]
PARTITIONS = {
    0: st.just({}),
    1: st.fixed_dictionaries({"1000": st.sampled_from([None, "x", "y"])}),
    2: st.fixed_dictionaries({"1000": st.sampled_from([None, "x"]), "1001": st.sampled_from([None, 1])}),
}
PATH_BOUNDS = st.sampled_from([None, b"", b"a.parquet", b"b", b"b/", b"b/c.parquet", "ż".encode(), b"\xff"])
BOUNDS = {
    1: [struct.pack("<q", n) for n in (-1, 0, 1, 2)],
    2: [b"", b"a", b"ab", "ż".encode()],
    3: [struct.pack("<d", x) for x in (-1.0, -0.0, 0.0, 1.0, float("nan"))],
}
COUNTS = {"nulls": [0, 1, 2], "nans": [0, 1], "values": [2]}


def perhaps(values: list[Any]) -> st.SearchStrategy[Any]:
    """One of them, or as often none: a single choice, since it is choices that generating costs."""
    return st.sampled_from([*values, *[None] * len(values)])


def bounds(stored: list[bytes]) -> list[bytes]:
    """A quarter of them is damaged."""
    return [*(stored * 3), *([b"bad"] * len(stored))]


METRICS = {
    (name, field_id): perhaps(values)
    for field_id, stored in BOUNDS.items()
    for name, values in {**COUNTS, "lower": bounds(stored), "upper": bounds(stored)}.items()
}


def metrics(draw: st.DrawFn) -> dict[str, Any]:
    """Counts and bounds of some columns, damaged ones too."""
    told: dict[str, Any] = {name: {} for name in ("lower", "upper", "nulls", "nans", "values")}
    for (name, field_id), values in METRICS.items():
        if (value := draw(values)) is not None:
            told[name][field_id] = value
    return told


@st.composite
def live_files(draw: st.DrawFn) -> list[LiveFile]:
    files = []
    sequences = st.one_of(st.integers(0, 3), st.integers(0, 3), st.none())
    for i in range(draw(st.integers(1, 6))):
        spec = draw(st.integers(0, 2))
        path = PATHS[i] if i < len(PATHS) else f"b/{i}.parquet"
        known = metrics(draw)
        place = draw(PARTITIONS[spec])
        numbers = draw(sequences), draw(sequences)
        files.append(LiveFile(path, "data_file", spec, place, *numbers, 10, 100, "m", **known))
    for i in range(draw(st.integers(0, 6))):
        spec = draw(st.integers(0, 2))
        kind = draw(st.sampled_from(["position_deletes", "equality_deletes", "deletion_vector"]))
        known = metrics(draw)
        more: dict[str, Any] = {}
        if draw(st.booleans()) or kind == "deletion_vector":
            more["referenced_data_file"] = draw(st.sampled_from([f.path for f in files] + ["elsewhere", None]))
        if kind == "deletion_vector":
            more |= {"file_format": "PUFFIN", "content_offset": i, "content_size": 7}
        if kind == "position_deletes":
            for name in ("lower", "upper"):
                if (bound := draw(PATH_BOUNDS)) is not None:
                    known[name][PATH_ID] = bound
        if kind == "equality_deletes":
            more["equality_ids"] = tuple(draw(st.sets(st.sampled_from([1, 2, 3, 77]), max_size=2)))
        place, numbers = draw(PARTITIONS[spec]), (draw(sequences), draw(sequences))
        files.append(LiveFile(f"delete-{i}", kind, spec, place, *numbers, i + 1, 10 + i, "d", **more, **known))
    return files


NEGATIVE = LiveFile(
    "a.parquet", "data_file", 0, {}, 1, 1, 2, 9, "m", lower={3: struct.pack("<d", -2)},
    upper={3: struct.pack("<d", -1)}, nulls={3: 0}, values={3: 2},
)  # fmt: skip
POSITIVE = LiveFile(
    "delete-0", "equality_deletes", 0, {}, 2, 2, 1, 9, "d", equality_ids=(3,), lower={3: struct.pack("<d", 1)},
    upper={3: struct.pack("<d", 2)}, nulls={3: 0}, nans={3: 0}, values={3: 2},
)  # fmt: skip
"""Bounds decide of them, since one is known to have no NaN, whichever it is."""


@example([NEGATIVE, POSITIVE], 1)
@example([replace(NEGATIVE, nans={3: 0}), replace(POSITIVE, nans={})], 1)
@settings(max_examples=examples(400), deadline=None)
@given(live_files(), st.sampled_from([1, 3, delete_pairs.CELLS]))
def test_pairs_counted_in_columns_are_what_the_clauses_say(files: list[LiveFile], cells: int) -> None:
    kept, delete_pairs.CELLS = delete_pairs.CELLS, cells
    try:
        known = deletes_of(applicability(TABLE, files))
        check_deletes(known)
        rows = [(f.path, 0, f"manifest of {f.spec_id}") for f in known.files.data]
        rows.insert(len(rows) // 2, ("no data file", 1, "manifest of 0"))
        columns = map(list, zip(*rows, strict=True))
        table = pa.table(dict(zip(("file_path", "content", "manifest_path"), columns, strict=True)))
        beside = known.beside([table.slice(at, 2) for at in range(0, len(rows), 2)])
        applied = Counter(v.data.path for v in known.verdicts if v.applies)
        assert [n for _, some in beside for n in some.tolist()] == [applied[path] for path, *_ in rows]
    finally:
        delete_pairs.CELLS = kept
