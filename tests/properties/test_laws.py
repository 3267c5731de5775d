"""Laws of snapshots and diffs, over generated sequences of real pyiceberg commits."""

from __future__ import annotations

import json
import random
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pyiceberg.expressions import EqualTo
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import StringType

from explorer.render.history import diff_json
from explorer.table import Table
from tests import examples
from tests.properties.laws import check_laws
from tests.support import direct
from tests.support.small_tables import new_table, newest_metadata, writable

SCHEMA = pa.schema([("id", pa.int64()), ("region", pa.string())])
OPERATIONS = st.sampled_from(
    [
        "append",
        "append",
        "delete",
        "overwrite",
        "branch",
        "tag",
        "rollback",
        "add_column",
        "evolve_spec",
        "rewrite",
        "expire",
    ]
)
SLOW = settings(
    max_examples=examples(25),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    derandomize=True,
)


def built(operations: list[str], folder: Path) -> Table:
    table = new_table(folder / "t", SCHEMA)
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
        elif (
            operation == "rollback"
            and table.current_snapshot()
            and (parent := table.current_snapshot().parent_snapshot_id)
        ):
            table.manage_snapshots().rollback_to_snapshot(parent).commit()
        elif operation == "add_column" and "extra" not in table.schema().column_names:
            with table.update_schema() as update:
                update.add_column("extra", StringType())
        elif operation == "evolve_spec" and table.spec().is_unpartitioned():
            with table.update_spec() as update:
                update.add_field("region", IdentityTransform(), "region_part")
        elif operation == "rewrite" and table.current_snapshot():
            table.overwrite(table.scan().to_arrow())  # all rows into new files
        elif operation == "expire" and len(snapshots) > 2:
            kept = {ref.snapshot_id for ref in table.metadata.refs.values()}
            table.maintenance.expire_snapshots().by_ids([i for i in snapshots[:2] if i not in kept]).commit()
        table = writable(folder / "t")
    return direct.open_table(str(folder / "t"))


@SLOW
@given(st.lists(OPERATIONS, min_size=1, max_size=7), st.integers(0, 1000))
@example(
    ["append", "append", "delete", "rewrite", "branch", "rollback", "expire", "evolve_spec", "add_column", "append"], 5
)
def test_laws(operations: list[str], seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        check_laws(built(operations, Path(folder)), seed)


@SLOW
@given(st.lists(OPERATIONS, min_size=2, max_size=5), st.randoms(use_true_random=False))
def test_the_order_of_keys_and_manifests_changes_nothing(operations: list[str], chosen: random.Random) -> None:
    with tempfile.TemporaryDirectory() as folder:
        table = built(operations, Path(folder))
        ids = [s.snapshot_id for s in table.metadata.snapshots]
        if not ids:
            return
        before = diff_json(table.diff(ids[0], ids[-1]))
        location = Path(folder) / "t"
        path = newest_metadata(location)

        def shuffled(value: Any) -> Any:
            if isinstance(value, dict):
                items = list(value.items())
                chosen.shuffle(items)
                return {k: shuffled(v) for k, v in items}
            return [shuffled(v) for v in value] if isinstance(value, list) else value

        path.write_text(json.dumps(shuffled(json.loads(path.read_text()))))
        again = direct.open_table(str(location))
        original = again.reader.manifests
        again.reader.manifests = lambda s: replace(original(s), value=original(s).value[::-1])
        after = diff_json(again.diff(ids[0], ids[-1]))
        for side in (
            "added_data_files",
            "removed_data_files",
            "added_delete_files",
            "removed_delete_files",
            "partitions",
            "schema",
        ):
            assert after[side] == before[side]
