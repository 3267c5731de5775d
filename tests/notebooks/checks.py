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
    "04 lab32": """
assert [row["delete files"] for row in shared.deletes()] == ["1 position delete", "none"]
reads = [[row[f"{engine} reads"] for row in shared.reads()] for engine in ("Spark", "pyiceberg")]
assert reads[0] == reads[1] == ["apple, banana, cherry, fig", "apple, cherry, fig", "apple, fig"]
""",
    "05 plan04": """
assert unsorted.plan("name = 'jack'").value.left.files == 4
""",
    "05 plan06": """
assert in_order.plan("name = 'jack'").value.left.files == 1
""",
    "05 plan08": """
assert {c["column"]: c["opened"] for c in in_order.inspect.columns(show="clustering")}["name"] == 1
""",
    "05 plan08b": """
found = unsorted.scan.estimate(["name = 'jack'"]).value
by_name = next(at for at, change in enumerate(found.changes) if change.text == "sort by name")
assert found.filters[0].reads[by_name].files == 1
""",
    "05 plan13": """
value = evolved.plan("ts >= '2024-06-03' AND ts < '2024-06-04'").value
assert [str(s.spec.fields[0].transform) for s in value.specs] == ["hour", "day"]
assert value.left.files == value.wholly == 1  # the strict projection: all its rows match
""",
    "05 plan15": """
assert plan.value.left.files == 5
""",
    "05 plan18": """
filters = ("place = 'weather station Davos'", "note = 'x'")
assert [statistics.plan(where).value.left.files for where in filters] == [3, 3]
""",
    "05 plan21": """
assert (modes[99]["with_bounds"] > 0, modes[100]["with_bounds"] > 0) == (True, False)
""",
    "05 plan51": """
for where, files in (("badge = 'k77'", 1), ("badge > 'k77'", 3)):
    groups = badges.plan(where, stage="row-groups")
    assert sum(g["verdict"] == "read" for g in groups.to_json()) == files
""",
    "06 sick04": """
assert explorer.doctor(name).level() == "error"
""",
    "06 sick08": """
assert table.doctor().level() == "ok"
assert table.doctor(files=True).value.findings[0].rule == "file-missing"
""",
    "06 sick14": """
assert table.doctor().level() == "ok"
""",
    "06 sick16": """
assert len(table.maintain.preview("compact").value.tables["groups"]) == course.sick.DAYS
""",
    "06 sick21": """
assert "delete-names-nothing" in {finding.rule for finding in table.doctor(deep=True).value.findings}
""",
    "07 lay04": """
assert stored == {(2024 - 1970) * 12}
""",
    "07 lay05": """
value = orders.plan("order_date >= '2024-02-01'").value
assert (value.left.files, value.stages[0].left.files) == (1, 3)
""",
    "07 lay11": """
assert plan.value.left.files == 1
""",
    "07 lay15": """
assert [c["field_id"] for c in orders.inspect.file(old, show="footer").value["columns"]] == [1, 2, 3]
""",
    "07 lay16": """
assert [c["field_id"] for c in orders.inspect.file(new, show="footer").value["columns"]] == [1, 3, 4]
assert read == {1: "unknown"}
""",
    "07 lay18": """
assert rows == {"e1": None, "e2": None, "e3": "web", "e4": "app"}
assert not events.diff("snapshot-1", "snapshot-3").value.removed  # nothing was rewritten
""",
    "07 lay26": """
orders_of = {f["file_path"]: f["sort_order_id"] for f in orders.inspect.files(metrics=True)}
assert sorted(orders_of.values()) == [0, 0, 1]
assert orders_of[new] == 1
""",
    "07 lay38": """
queries = ["x BETWEEN 40 AND 59", "y BETWEEN 40 AND 59"]
by = {one.name: one for one in points.scan.estimate(queries, write=True).value.layouts}
parts = {name: [read.bytes / one.written.bytes for read in one.reads] for name, one in by.items() if not one.why}
assert parts["unsorted"] == parts["bin-packed"] == [1, 1]
assert by["bin-packed"].written.files < by["unsorted"].written.files == 32
assert min(parts["sorted"]) < 0.4 and max(parts["sorted"]) == 1
assert max(parts["z-ordered"]) < 0.75
""",
    "07 lay40": """
period = events.maintain.preview("compact", option={"rewrite-all": "true"}, where="event_time >= '2024-02-01'")
assert "where => " in period.value.call
""",
    "07 lay32": """
assert {f["file_format"] for f in events.inspect.files()} == {"PARQUET", "ORC", "AVRO"}
""",
    "08 cat04": """
found = fruit.catalog.pointer().value
assert not found.newer
assert found.metadata_location == fruit.metadata.metadata_location
assert found.previous == fruit.metadata.metadata_log[-1].metadata_file
""",
    "08 cat08": """
assert [w.state for w in table.writers.values()] == ["committed", "refused"]
assert table.rows() == ["A", "base"]
""",
    "08 cat12": """
assert (kept.writer("A").state, run.writer("A").state) == ("answered", "failed")
""",
    "08 cat12b": """
assert [saw.snapshot for saw in run.writer("A").saw] == ["snapshot-2", "snapshot-3"]  # of two moments
""",
    "08 cat18": """
assert history.plan("region = 'asia' AND id > 1190").value.left.files < 5
""",
    "08 cat28": """
assert listed.kept == planned.kept == 1
assert sum(planned.requests.values()) == 3 < sum(listed.requests.values())
""",
    "08 cat34": """
assert set(before.values()) == {4}
assert after == {"files": 6, "statistics": 4, "spark": 4, "iceberg": 6}
""",
}
"""Source to run after a cell, by the number of the notebook and the id of the cell."""
