"""Tables of the thirtieth reports of trouble with Iceberg tables."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.cases.mini import Table
from tests.robustness.editing import edit_avro

ROOT = Path(__file__).parents[2]
NONE: Mapping[str, int] = {"added_files_count": 0}


def uncounted(
    folder: Path, counts: Mapping[str, int] = NONE, *, version: int = 2, parted: bool = False, delete: bool = False,
    of: str = "data", ids: bool = True, **more: Any,
) -> Table:  # fmt: skip
    """A table of two appends, of ids 1, 2 and 3, 4, whose current list has these counts of the newest manifest.

    Args:
        folder: The table's.
        counts: What the list says of the manifest.
        version: The format version.
        parted: Whether it is partitioned by identity.
        delete: Whether a position delete of id 3 comes after.
        of: The manifest that is concerned: the newest of `data`, or that of `deletes`.
        ids: Whether data files have field ids.
        **more: Of the table.
    """
    table = Table(folder, [(1, "id", "long"), (2, "p", "string")], [(2, 1000, "p", "identity")] if parted else [],
                  version=version, **more)  # fmt: skip
    own = {"partition": {"p": "x"}} if parted else {}
    files = [table.parquet(f"{n}.parquet", {"id": [n, n + 1], "p": ["x", "x"]}, ids=ids, **own) for n in (1, 3)]
    for file in files:
        table.append(file)
    if delete:
        table.delta(deletes=[table.position_delete("p.parquet", [(files[1]["file_path"], 0)], **own)],
                    operation="delete")  # fmt: skip
    concerned = [m for m in table.lists[table.md["current-snapshot-id"]] if bool(m["content"]) == (of == "deletes")][-1]

    def change(records: list[dict[str, Any]]) -> None:
        [record] = [r for r in records if r["manifest_path"] == concerned["manifest_path"]]
        record.update(counts)

    edit_avro(current_list(table), change)
    return table


def with_a_column_of_an_expired_schema(folder: Path) -> Table:
    """The table of `uncounted`, whose column p was dropped and added again, with another field id: no schema that is
    left tells of it."""
    table = uncounted(folder)
    table.set_schema([(1, "id", "long"), (3, "p", "string")])
    table.md["schemas"] = [s for s in table.md["schemas"] if s["schema-id"] == table.md["current-schema-id"]]
    for snapshot in table.md["snapshots"]:
        snapshot["schema-id"] = table.md["current-schema-id"]
    table.save()
    return table


def uncounted_before(folder: Path, of: str = "data") -> Table:
    """The table of `uncounted` with a further snapshot, of the same manifests, whose list counts them rightly."""
    table = uncounted(folder, delete=of == "deletes", of=of)
    table.snapshot("append", [dict(record) for record in table.lists[table.md["current-snapshot-id"]]])
    return table


def current_list(table: Table) -> Path:
    """The current snapshot's manifest list."""
    return Path(table.md["snapshots"][-1]["manifest-list"].removeprefix("file://"))


def metadata_file(table: Table) -> str:
    """The table's newest metadata file."""
    return f"file://{table.folder}/metadata/{table.last}"


def mend(lists: Sequence[Path], folder: Path) -> None:
    """Run the program of docs/how-to/broken-tables.md on manifest lists."""
    text = (ROOT / "docs" / "how-to" / "broken-tables.md").read_text()
    [program] = [block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "fastavro" in block]
    (folder / "mend.py").write_text(program)
    subprocess.run([sys.executable, folder / "mend.py", *lists], check=True)


def upserted(folder: Path, deletes: bool = True, first: bool = False) -> Table:
    """A table of three commits, each with a row of the same key, and an equality delete of it. `first`: an older file
    is there which no compaction takes by itself, and to which no delete applies."""
    table = Table(folder, [(1, "id", "long"), (2, "n", "int")],
                  properties={"write.target-file-size-bytes": "800"} if first else {})  # fmt: skip
    if first:
        table.append(table.parquet("0.parquet", {"id": [100], "n": [0]}))
    for n in (1, 2, 3):
        data = table.parquet(f"{n}.parquet", {"id": [1, n + 1], "n": [n, n]})
        table.delta([data], [table.equality_delete(f"{n}-eq.parquet", {"id": [1]})] if deletes else [])
    return table
