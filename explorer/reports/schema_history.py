"""The history of a table's schemas, partition specs and sort orders, with the files that each of them wrote."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa

from explorer.progress import steps
from explorer.spark_engine.engine_choice import Engine
from explorer.spec.schemas.schema_history import SchemaVersion, UsedVersions, VersionKind, schema_history
from explorer.table import Table

WRITTEN = ("snapshot_id", "spec_id", "sort_order_id")


def find_schema_history(table: Table, engine: Engine = "auto") -> list[SchemaVersion]:
    """Return the versions of a table's layout, and how many live files of the current snapshot each of them wrote.

    Args:
        table: The table.
        engine: What decodes manifests.

    Returns:
        The versions. The schema of a file is that of the snapshot that added it: of an expired one it is unknown.
    """
    metadata = table.metadata
    schema_of = {snapshot.snapshot_id: snapshot.schema_id for snapshot in metadata.snapshots}
    counts: Counter[tuple[int | None, ...]] = Counter()
    for part in table.files(engine=engine).iter_tables():
        if part.num_rows:
            some = (
                pa.table({name: part[name] for name in WRITTEN}).group_by(list(WRITTEN)).aggregate([([], "count_all")])
            )
            for row in some.to_pylist():
                counts[tuple(row[name] for name in WRITTEN)] += row["count_all"]
    files: dict[VersionKind, Counter[int | None]] = {
        "schema": Counter(), "partition spec": Counter(), "sort order": Counter(),
    }  # fmt: skip
    for (added_by, spec, order), number in counts.items():
        files["schema"][schema_of.get(added_by) if added_by is not None else None] += number
        files["partition spec"][spec] += number
        files["sort order"][order] += number
    snapshots: dict[int, set[int]] = {}
    table.tree.ahead(metadata.snapshots)
    for snapshot in steps(metadata.snapshots, "snapshots"):
        for manifest in table.tree.manifests(snapshot):
            if manifest.added_snapshot_id is not None:
                snapshots.setdefault(manifest.partition_spec_id, set()).add(manifest.added_snapshot_id)
    known = {spec: [own for own in ids if own in schema_of] for spec, ids in snapshots.items()}
    return schema_history(metadata, UsedVersions(files, known))
