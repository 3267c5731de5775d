"""Tables that benchmarks need beside the generator's: one commit that changes one manifest of many, and a deep
history."""

from __future__ import annotations

import copy
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import explorer
from explorer.table import open_table


def with_one_change(folder: Path) -> None:
    """Give a generated table a second snapshot, which deletes one of its files through Iceberg's own API, if it has
    none."""
    if len(open_table(str(folder)).metadata.snapshots) > 1:
        return
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "ICEDIVE_HOME": home}
        subprocess.run(
            [sys.executable, "-m", "benchmarks.tables", str(folder)],
            check=True,
            env=environment,
            cwd=Path(__file__).parent.parent,
        )


def delete_one_file(folder: str) -> None:
    """In a process and a sandbox of its own: register the table there, and delete the first file that a scan plans."""
    table = open_table(folder)
    session = explorer.spark()
    session.sql("CREATE NAMESPACE IF NOT EXISTS sandbox.bench")
    session.sql(f"CALL sandbox.system.register_table('bench.t', '{table.metadata.metadata_location}')")
    java = session._jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(session._jsparkSession, "sandbox.bench.t")
    java.updateProperties().set("commit.manifest-merge.enabled", "false").commit()
    planned = java.newScan().planFiles().iterator()
    java.newDelete().deleteFile(planned.next().file()).commit()
    planned.close()
    # the folder goes by version numbers, the sandbox by names of its own
    written = Path(java.operations().current().metadataFileLocation().removeprefix("file:"))
    version = int((written.parent / "version-hint.text").read_text()) + 1
    shutil.copy(written, written.parent / f"v{version}.metadata.json")
    (written.parent / "version-hint.text").write_text(str(version))


def deep_history(folder: Path, snapshots: int = 10_000) -> None:
    """A metadata file with that many snapshots in a line, made from the teaching table with 300; it shares its last
    manifest list."""
    metadata = folder / "metadata"
    if metadata.exists():
        return
    raw = copy.deepcopy(dict(open_table("demo.long_history").metadata.raw))
    last = raw["snapshots"][-1]
    raw["snapshots"] = []
    for i in range(snapshots):
        own = copy.deepcopy(last) | {
            "snapshot-id": 10**15 + i,
            "sequence-number": i + 1,
            "timestamp-ms": last["timestamp-ms"] + i * 1000,
        }
        own.pop("parent-snapshot-id", None)
        raw["snapshots"].append(own | ({"parent-snapshot-id": 10**15 + i - 1} if i else {}))
    ids = [(s["timestamp-ms"], s["snapshot-id"]) for s in raw["snapshots"]]
    raw["snapshot-log"] = [{"timestamp-ms": at, "snapshot-id": i} for at, i in ids]
    raw |= {"current-snapshot-id": ids[-1][1], "refs": {"main": {"snapshot-id": ids[-1][1], "type": "branch"}}}
    metadata.mkdir(parents=True)
    (metadata / "v1.metadata.json").write_text(json.dumps(raw))


if __name__ == "__main__":
    delete_one_file(sys.argv[1])
