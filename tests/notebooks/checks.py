"""What the cells of notebooks must have found. It is checked here, because an assert in a notebook tells the answer of
the exercise above it."""

from __future__ import annotations

from collections.abc import Mapping

CHECKS: Mapping[str, str] = {
    "01 cell-07": """
assert [len(fruit.inspect.manifests(snapshot=f"snapshot-{n}")) for n in (1, 2, 3)] == [1, 2, 3]
""",
    "02 cell-06": """
assert struck["file_path"].endswith("/data-1.parquet")
assert there["logical_status"] == "DELETED"
""",
    "02 cell-08": """
assert entry["stored"]["sequence_number"] is None
assert entry["inherited"]["sequence_number"] == 5
""",
    "02 cell-11": """
assert (dropped.manifest, dropped.snapshot) == ("manifest-4", "snapshot-5")
""",
    "02 cell-13": """
assert not [cell for cell in twin.history.lifecycle().value if cell.state == "dropped"]
assert len(twin.inspect.files()) == len(table.inspect.files())
assert len(twin.inspect.manifests()) == len(table.inspect.manifests()) + 1
""",
    "02 cell-15": """
assert table.inspect.file("data-2.parquet").value.live_in == ("snapshot-1", "snapshot-2", "snapshot-3")
""",
    "02 cell-17": """
change = table.diff("snapshot-2", "snapshot-4").value
assert [c.file_path.rsplit("/", 1)[-1] for c in change.added] == ["data-3.parquet"]
assert [c.file_path.rsplit("/", 1)[-1] for c in change.removed] == ["data-2.parquet"]
""",
    "02 cell-21": """
assert [c.record_count for c in cow.diff("snapshot-1", "snapshot-2").value.added] == [3]
assert cow.history.commits().value.write_amplification > 1.9
""",
    "02 cell-23": """
assert branched.history.lineage().to_json()["snapshot-log"][-1]["how"] == "rollback"
""",
    "03 cell-04": """
assert [r["_pos"] for r in table.inspect.file(data, show="rows") if r["_deleted_by"]] == [0]
""",
    "03 cell-09": """
assert [v.applies for v in equality.inspect.deletes().value.verdicts].count(True) == 1
assert sum(r["name"] == "jack" for r in equality.rows()) == 2
""",
    "03 cell-10": """
assert [e.what for e in equality.data.history("name = 'jack'").value.events].count("deleted") == 1
""",
    "03 cell-12": """
change = vectors.data.diff("snapshot-1", "main").value
assert change.paired_by == ("_row_id",)
assert change.changes.updated_after["favorite_color"].to_pylist() == ["yellow"]
""",
    "03 cell-14": """
assert len(compacted.inspect.deletes().value.dangling) == 2
assert compacted.data.diff("snapshot-4", "main").value.changes.inserted.num_rows == 0
""",
    "03 cell-17": """
assert "a mistake" in [r["fruit"] for r in mistaken]
assert "a mistake" not in [r["fruit"] for r in branched.rows()]
""",
    "03 cell-22": """
change = toys.diff("snapshot-2", "snapshot-3").value
assert (len(change.removed), len(change.added)) == (1, 1)
""",
    "03 cell-23": """
kinds = [(s["operation"], s["summary"].get("added-position-delete-files")) for s in toys.inspect.snapshots()]
assert kinds[-2:] == [("overwrite", "1"), ("delete", "1")]
""",
    "03 cell-25": """
assert toys.history.lineage().to_json()["snapshot-log"][-1]["how"] == "rollback"
assert [e.what for e in toys.data.history("id = 1").value.events] == ["appeared", "deleted", "came back"]
""",
    "03 cell-27": """
assert done.value.after.snapshots == 1
assert len(toys.refresh().rows()) == 3
""",
}
"""Source to run after a cell, by the number of the notebook and the id of the cell."""
