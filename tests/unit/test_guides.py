"""The guides of exported teaching tables: each answer that a page gives is computed from its table."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from explorer.app.hosts.file import export_table
from explorer.lab.exercises.quiz import open_demo
from explorer.lab.scenarios import SCENARIOS
from explorer.lab.scenarios.guides import GUIDES
from explorer.table import Table
from tests.unit.test_standalone import held

pytestmark = pytest.mark.usefixtures("sandbox")


def bounds(table: Table, field: int) -> list[tuple[bytes | None, bytes | None]]:
    """The stored bounds of a field in each live data file, newest first."""
    files = [f for f in table.files(metrics=True) if f["content"] in (0, None)]
    return [((f["lower_bounds"] or {}).get(field), (f["upper_bounds"] or {}).get(field)) for f in files]


def may_hold(table: Table, field: int, value: bytes) -> int:
    """In how many data files bounds leave a value possible."""
    return sum(lower is None or upper is None or lower <= value <= upper for lower, upper in bounds(table, field))


def numbers(table: Table) -> dict[int, int]:
    ordered = sorted(table.metadata.snapshots, key=lambda s: s.sequence_number or 0)
    return {s.snapshot_id: i for i, s in enumerate(ordered, 1)}


def statuses(table: Table, name: str) -> list[str]:
    """The status of a file in each snapshot."""
    told = []
    for number in range(1, len(table.metadata.snapshots) + 1):
        here = [e["logical_status"] for e in table.entries(f"snapshot-{number}") if e["file_path"].endswith(name)]
        told.append(here[0] if here else "")
    return told


def listed(table: Table, number: int) -> set[str]:
    return {m["manifest_path"] for m in table.manifests(f"snapshot-{number}")}


def dangling(table: Table) -> bool:
    """Whether no live data file is named by a live position delete file."""
    files = list(table.files(metrics=True))
    live = {f["file_path"].encode() for f in files if f["content"] in (0, None)}
    named = {f["lower_bounds"][2147483546] for f in files if f["content"] == 1}
    return bool(named) and not named & live


def rows_written(table: Table, number: int) -> int:
    added = table.diff(f"snapshot-{number - 1}" if number > 1 else None, f"snapshot-{number}").added
    return sum(file.record_count for file in added)


FACTS: dict[str, Callable[[Table], bool]] = {
    "three_inserts": lambda t: (
        [sum(m["added_snapshot_id"] == s.snapshot_id for m in t.manifests(f"snapshot-{n}"))
         for n, s in enumerate(t.metadata.snapshots, 1)] == [1, 1, 1]
        and [len(t.manifests(f"snapshot-{n}")) for n in (1, 2, 3)] == [1, 2, 3]
        and [len(t.tree.metadata_file(e.metadata_file).snapshots) for e in t.metadata.metadata_log] == [0, 1, 2]
    ),
    "tracked_delete": lambda t: (
        listed(t, 2) - listed(t, 3) == listed(t, 1)
    ),
    "manifest_lifecycle": lambda t: (
        statuses(t, "data-2.parquet") == ["ADDED", "EXISTING", "EXISTING", "DELETED", ""]
        and len(t.manifests("snapshot-5")) == 2
    ),
    "manifest_lifecycle_fast_append": lambda t: (
        len(t.manifests("snapshot-5")) == 3
        and len({e["manifest_path"] for e in t.entries() if e["logical_status"] in ("ADDED", "EXISTING")}) == 2
    ),
    "copy_on_write_update": lambda t: rows_written(t, 2) == 3,
    "position_deletes": lambda t: (
        sum(f["record_count"] for f in t.files() if f["content"] == 0) == 4
        and [f["upper_bounds"][2147483545] for f in t.files(metrics=True) if f["content"] == 1] == [bytes(8)]
    ),
    "equality_deletes": lambda t: (
        sorted((e["content"], e["sequence_number"]) for e in t.entries()) == [(0, 1), (0, 2), (0, 3), (2, 2)]
        and may_hold(t, 1, b"jack") == 3
    ),
    "streaming_upserts": lambda t: (
        Counter((e["content"], e["sequence_number"]) for e in t.entries() if e["sequence_number"] == 2)
        == {(0, 2): 1, (1, 2): 1, (2, 2): 1}
    ),
    "deletion_vectors": lambda t: (
        [f["record_count"] for f in t.files() if f["file_format"] == "PUFFIN"] == [2]
        and (bytes(8), bytes(8)) in bounds(t, 2147483540)
    ),
    "mixed_modes": dangling,
    "compaction_bin_pack": lambda t: dangling(t) and rows_written(t, 5) == 10,
    "compaction_sort": lambda t: (
        dangling(t) and bounds(t, 2) == bounds(open_demo("compaction_bin_pack"), 2) and len(bounds(t, 2)) == 1
    ),
    "compaction_z_order": dangling,
    "unsorted_files": lambda t: may_hold(t, 1, b"jack") == 4,
    "sorted_files": lambda t: may_hold(t, 1, b"jack") == 1,
    "column_statistics": lambda t: (
        [upper for _, upper in bounds(t, 2)].count(b"weather station!") == 2
        and [lower is None for lower, _ in bounds(t, 3)].count(True) == 1
        and not any(lower for lower, _ in bounds(t, 5))
    ),
    "wide_table": lambda t: (
        [len(f["lower_bounds"]) for f in t.files(metrics=True)] == [100, 100]
        and len(t.metadata.raw["schemas"][0]["fields"]) == 111
    ),
    "bloom_filter": lambda t: may_hold(t, 2, b"m50") == 3 == len(bounds(t, 2)),
    "hidden_partitioning": lambda t: (
        [len(s["fields"]) for s in t.metadata.raw["partition-specs"]] == [8, 8]
        and t.metadata.raw["partition-specs"][1]["fields"][-1]["transform"] == "void"
        and t.metadata.format_version == 1
    ),
    "partition_evolution": lambda t: (
        Counter(f["spec_id"] for f in t.files()) == {0: 3, 1: 2}
        and not any(e["logical_status"] == "DELETED" for n in range(1, 6) for e in t.entries(f"snapshot-{n}"))
    ),
    "schema_evolution": lambda t: (
        [lower for lower, _ in bounds(t, 6)] == [None, b"yellow", None] and bounds(t, 7)[1] == (None, None)
    ),
    "events": lambda t: (
        {f["file_format"]: f["lower_bounds"] is None for f in t.files(metrics=True)}
        == {"PARQUET": False, "ORC": False, "AVRO": True}
        and bounds(t, 4)[-1] == (None, None)
    ),
    "orders": lambda t: [lower for lower, _ in bounds(t, 4)].count(None) == 2,
    "branches_and_tags": lambda t: (
        [numbers(t)[r.snapshot_id] for r in t.metadata.refs if r.name == "main"] == [5]
        and len(t.metadata.snapshots) == 6
        and 3 not in {numbers(t)[r.snapshot_id] for r in t.metadata.refs}
        and {k: v for s in t.metadata.snapshots for k, v in s.summary.items() if "wap" in k}
        == {"wap.id": "night-load", "published-wap-id": "night-load"}
    ),
    "upgraded_v1": lambda t: (
        [m["sequence_number"] for m in t.manifests()].count(0) == 2
        and {f["file_format"] for f in t.files() if f["content"] == 1} == {"PARQUET", "PUFFIN"}
    ),
    "long_history": lambda t: len(t.manifests()) == 3,
}  # fmt: skip


@pytest.mark.parametrize("name", [one.name for one in SCENARIOS])
def test_the_answers_hold(name: str) -> None:
    assert FACTS[name](open_demo(name))


def test_each_table_has_a_guide_and_each_guide_a_table() -> None:
    assert set(GUIDES) == set(FACTS) == {one.name for one in SCENARIOS}


def test_a_page_has_what_its_table_teaches_and_no_local_path(tmp_path: Path) -> None:
    table = open_demo("position_deletes")
    file = tmp_path / "t.html"
    export_table(table, file)
    lesson = held(file)["lesson"]
    assert lesson["teaches"].startswith("Merge-on-read")
    assert lesson["source"].startswith("Part 1, fig. 11, 12")
    assert [q["question"] for q in lesson["questions"]] == [q.question for q in GUIDES["position_deletes"].questions]
    text = file.read_text()
    assert str(Path.home()) not in text
    assert "file:/" not in text
    data = json.dumps(held(file))
    assert re.search(r'"position_deletes/data/[\w.-]+\.parquet', data)
    assert [
        n["fold"] for p in held(file)["pictures"].values() for n in p["picture"]["nodes"] if n["label"] == "metadata-1"
    ]
