"""Laws of snapshots and diffs, over generated sequences of real pyiceberg commits."""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.expressions import EqualTo
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import StringType

import explorer
from explorer.core.diff import Key, SnapshotDiff
from explorer.table import Table
from explorer.views.changes import diff_object
from tests.unit.small import newest_metadata

SCHEMA = pa.schema([("id", pa.int64()), ("region", pa.string())])
OPERATIONS = st.sampled_from(["append", "append", "delete", "overwrite", "branch", "tag", "rollback", "add_column", "evolve_spec"])
SLOW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], derandomize=True)


def built(operations: list[str], folder: Path) -> Table:
    catalog = SqlCatalog("laws", uri=f"sqlite:///{folder}/c.db", warehouse=f"file://{folder}/w")
    catalog.create_namespace("db")
    table = catalog.create_table("db.t", SCHEMA)
    for i, operation in enumerate(operations):
        rows = pa.table({"id": [i, i + 1], "region": ["eu", "us"]}, SCHEMA)
        if "extra" in table.schema().column_names:
            rows = rows.append_column("extra", pa.array(["x", None], pa.string()))
        snapshots = [s.snapshot_id for s in table.metadata.snapshots]
        if operation == "append":
            table.append(rows)
        elif operation == "delete" and snapshots:
            table.delete(EqualTo("id", max(0, i - 1)))
        elif operation == "overwrite":
            table.overwrite(rows, EqualTo("region", "eu"))
        elif operation == "branch" and snapshots:
            table.manage_snapshots().create_branch(snapshots[-1], f"b{i}").commit()
            table.append(rows, branch=f"b{i}")
        elif operation == "tag" and snapshots:
            table.manage_snapshots().create_tag(snapshots[0], f"t{i}").commit()
        elif operation == "rollback" and table.current_snapshot() and (parent := table.current_snapshot().parent_snapshot_id):
            table.manage_snapshots().rollback_to_snapshot(parent).commit()
        elif operation == "add_column" and "extra" not in table.schema().column_names:
            with table.update_schema() as update:
                update.add_column("extra", StringType())
        elif operation == "evolve_spec" and table.spec().is_unpartitioned():
            with table.update_spec() as update:
                update.add_field("region", IdentityTransform(), "region_part")
        table = catalog.load_table("db.t")
    catalog.engine.dispose()
    return explorer.open_table(str(folder / "w" / "db" / "t"))


def live(table: Table, snapshot_id: int) -> set[Key]:
    rows = table.files(snapshot_id)
    return {(r["file_path"], r["content_offset"], r["content_size_in_bytes"]) for r in rows}


def applied(files: set[Key], change: SnapshotDiff) -> set[Key]:
    return (files - {c.key for c in change.removed}) | {c.key for c in change.added}


@SLOW
@given(st.lists(OPERATIONS, min_size=1, max_size=7), st.integers(0, 1000))
def test_laws(operations: list[str], seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        table = built(operations, Path(folder))
        ids = [s.snapshot_id for s in table.metadata.snapshots]
        if not ids:
            return
        files = {i: live(table, i) for i in ids}
        chosen = random.Random(seed)
        a, b, c = (chosen.choice(ids) for _ in range(3))
        ab, bc, ac = table.diff(a, b), table.diff(b, c), table.diff(a, c)

        # patch(a, diff(a, b)) == b, for any two snapshots, and diffs compose
        assert applied(files[a], ab) == files[b]
        assert applied(applied(files[a], ab), bc) == applied(files[a], ac) == files[c]
        # nothing differs from itself, and reversing swaps the sides
        same = table.diff(a, a)
        assert not same.added
        assert not same.removed
        back = table.diff(b, a)
        assert ({x.key for x in ab.added}, {x.key for x in ab.removed}) == ({x.key for x in back.removed}, {x.key for x in back.added})
        # each snapshot is its parent plus what its own entries say it added and removed
        for snapshot in table.metadata.snapshots:
            entries = list(table.entries(snapshot.snapshot_id))
            keys = {
                s: {(r["file_path"], r["content_offset"], r["content_size_in_bytes"]) for r in entries if r["logical_status"] == s}
                for s in ("ADDED", "DELETED")
            }
            parent = files.get(snapshot.parent_snapshot_id or 0, set())
            assert (parent - keys["DELETED"]) | keys["ADDED"] == files[snapshot.snapshot_id]
            # computed totals equal the summary's and the manifest list's
            assert int(snapshot.summary["total-data-files"]) == len(files[snapshot.snapshot_id])
            for manifest in table.manifest_files(snapshot):
                stored = table.reader.entries(manifest).value["status"].to_pylist()
                listed = (manifest.existing_files_count, manifest.added_files_count, manifest.deleted_files_count)
                assert tuple(stored.count(s) for s in (0, 1, 2)) == listed
        # every manifest of the first side is accounted for, once
        rewritten = [p for r in ab.rewritten for p in r.sources]
        fates = [*ab.kept_manifests, *rewritten, *(d.manifest_path for d in ab.dropped)]
        assert sorted(fates) == sorted(m["manifest_path"] for m in table.manifests(a))
        # the lifecycle tells of exactly the manifests each list holds
        cells = table.lifecycle()
        for i in ids:
            here = {c.manifest_path for c in cells if c.snapshot_id == i and c.state in ("created", "carried")}
            assert here == {m["manifest_path"] for m in table.manifests(i)}
        assert {h.snapshot_id for h in table.history()} == set(ids)


@SLOW
@given(st.lists(OPERATIONS, min_size=2, max_size=5), st.randoms(use_true_random=False))
def test_the_order_of_keys_and_manifests_changes_nothing(operations: list[str], chosen: random.Random) -> None:
    with tempfile.TemporaryDirectory() as folder:
        table = built(operations, Path(folder))
        ids = [s.snapshot_id for s in table.metadata.snapshots]
        if not ids:
            return
        before = diff_object(table.diff(ids[0], ids[-1]))
        location = Path(folder) / "w" / "db" / "t"
        path = newest_metadata(location)

        def shuffled(value: Any) -> Any:
            if isinstance(value, dict):
                items = list(value.items())
                chosen.shuffle(items)
                return {k: shuffled(v) for k, v in items}
            return [shuffled(v) for v in value] if isinstance(value, list) else value

        path.write_text(json.dumps(shuffled(json.loads(path.read_text()))))
        again = explorer.open_table(str(location))
        original = again.reader.manifests
        again.reader.manifests = lambda s: original(s)._replace(value=list(reversed(original(s).value)))  # type: ignore[method-assign]
        after = diff_object(again.diff(ids[0], ids[-1]))
        for side in ("added_data_files", "removed_data_files", "added_delete_files", "removed_delete_files", "partitions", "schema"):
            assert after[side] == before[side]
