"""The same laws over generated sequences of real Spark commits: fewer, with row-level deletes, compaction and
expiry."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from explorer.lab.scenarios.workshop import Workshop
from explorer.spark_engine.spark import SparkEngine
from tests.properties.laws import check_laws
from tests.support import direct

OPERATIONS = st.sampled_from(
    [
        "append",
        "append",
        "delete",
        "update",
        "overwrite",
        "rewrite",
        "manifests",
        "branch",
        "rollback",
        "expire",
        "add_column",
        "evolve_spec",
    ]
)
COUNTER = itertools.count()


def commit(w: Workshop, operation: str, i: int) -> None:
    """One commit, or nothing where the table is not ready for it."""
    ids = w.snapshot_ids()
    columns = w.spark.table(w.identifier).columns
    extra = ", 'x'" if "extra" in columns else ""
    rows = [f"{i}, 'eu'{extra}", f"{i + 1}, 'us'{extra}"]
    call = "CALL sandbox.system."
    if operation == "append":
        w.insert(*rows)
    elif operation == "delete":
        w.sql(f"DELETE FROM {{t}} WHERE id = {max(0, i - 1)}")
    elif operation == "update":
        w.sql("UPDATE {t} SET id = id + 100 WHERE region = 'us' AND id < 100")
    elif operation == "overwrite":
        w.sql(f"INSERT OVERWRITE {{t}} VALUES ({rows[0]})")
    elif operation == "rewrite" and ids:
        w.sql(call + "rewrite_data_files(table => '{name}', options => map('rewrite-all', 'true'))")
    elif operation == "manifests" and ids:
        w.sql(call + "rewrite_manifests('{name}')")
    elif operation == "branch" and ids:
        w.sql(f"ALTER TABLE {{t}} CREATE BRANCH b{i}")
        w.insert(*rows, target=f"{{t}}.branch_b{i}")
    elif operation == "rollback" and (current := w.java().currentSnapshot()) and current.parentId() in ids:
        w.sql(f"{call}rollback_to_snapshot('{{name}}', {current.parentId()})")
    elif operation == "expire" and ids:
        w.sql(
            call
            + "expire_snapshots(table => '{name}', older_than => TIMESTAMP '2999-01-01 00:00:00', retain_last => 2)"
        )
    elif operation == "add_column" and not extra:
        w.sql("ALTER TABLE {t} ADD COLUMN extra STRING")
    elif operation == "evolve_spec" and w.java().spec().isUnpartitioned():
        w.sql("ALTER TABLE {t} ADD PARTITION FIELD region")


@contextmanager
def generated(sandbox: Path, engine: SparkEngine, operations: list[str], version: int, mode: str) -> Iterator[str]:
    """The name of a table of an append and these operations, which is dropped in the end."""
    name = f"laws_{next(COUNTER)}"
    workshop = Workshop(engine, name, str(sandbox / "warehouse" / "laws" / name))
    workshop.sql("DROP TABLE IF EXISTS {t}")
    workshop.create("id BIGINT, region STRING", version=version, update_mode=mode, delete_mode=mode)
    try:
        for i, operation in enumerate(["append", *operations]):
            commit(workshop, operation, i)
        yield f"building.{name}"
    finally:
        workshop.sql("DROP TABLE {t} PURGE")


@settings(max_examples=1, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    st.lists(OPERATIONS, min_size=4, max_size=7),
    st.sampled_from([2, 2, 3]),
    st.sampled_from(["copy-on-write", "merge-on-read"]),
    st.integers(0, 99),
)
@example(
    [
        "update",
        "rewrite",
        "manifests",
        "branch",
        "append",
        "rollback",
        "expire",
        "add_column",
        "evolve_spec",
        "append",
        "delete",
    ],
    2,
    "merge-on-read",
    7,
)
@example(["append", "update", "delete", "rewrite", "overwrite", "expire"], 3, "merge-on-read", 3)
def test_laws_hold_for_spark(
    sandbox: Path, engine: SparkEngine, operations: list[str], version: int, mode: str, seed: int
) -> None:
    with generated(sandbox, engine, operations, version, mode) as name:
        check_laws(direct.open_table(name), seed)
