"""Row-level changes: copy-on-write and the three kinds of delete files, Part 1, figures 9 to 14 (docs/texts.md)."""

from __future__ import annotations

from explorer.scenarios.claims import ManifestClaim, Scenario, SnapshotClaim
from explorer.scenarios.lifecycle import ADDED, DELETED
from explorer.scenarios.workshop import Workshop

_PEOPLE = ("'jack', 'red'", "'sarah', 'blue'", "'tom', 'green'")
_AFTER = (("jack", "yellow"), ("sarah", "blue"), ("tom", "green"))
_UPDATE = "UPDATE {t} SET favorite_color = 'yellow' WHERE name = 'jack'"
_first = ManifestClaim(1, ((ADDED, "data-1"),))


def _copy_on_write(w: Workshop) -> None:
    w.create("name STRING, favorite_color STRING", update_mode="copy-on-write")
    w.insert(*_PEOPLE)
    w.sql(_UPDATE)


def _position_deletes(w: Workshop) -> None:
    w.create("name STRING, favorite_color STRING", update_mode="merge-on-read")
    w.insert(*_PEOPLE)
    w.sql(_UPDATE)


def _equality_deletes(w: Workshop) -> None:
    w.create("name STRING, favorite_color STRING")
    table = w.java()

    def data(name: str, *rows: tuple[str, str]) -> object:
        return w.data_file(table, name, [{"name": n, "favorite_color": c} for n, c in rows])

    table.newAppend().appendFile(data("data-1.parquet", ("jack", "red"), ("sarah", "blue"), ("tom", "green"))).commit()
    delete = w.equality_delete_file(table, "delete-1.parquet", [{"name": "jack"}])
    table.newRowDelta().addRows(data("data-2.parquet", ("jack", "yellow"))).addDeletes(delete).commit()
    table.newAppend().appendFile(data("data-3.parquet", ("jack", "purple"))).commit()


def _deletion_vectors(w: Workshop) -> None:
    w.create("name STRING, favorite_color STRING", version=3, update_mode="merge-on-read", delete_mode="merge-on-read")
    w.insert(*_PEOPLE)
    w.sql(_UPDATE)
    w.sql("DELETE FROM {t} WHERE name = 'sarah'")


SCENARIOS = (
    Scenario(
        "copy_on_write_update",
        "Updating one row rewrites its whole data file: data-1 is DELETED, data-2 ADDED",
        "9, 10",
        _copy_on_write,
        snapshots=(
            SnapshotClaim("append", (_first,), 3),
            SnapshotClaim(
                "overwrite", (ManifestClaim(2, ((ADDED, "data-2"),)), ManifestClaim(2, ((DELETED, "data-1"),))), 3
            ),
        ),
        rows=_AFTER,
        counts={"data_files": 1, "delete_files": 0},
    ),
    Scenario(
        "position_deletes",
        "Merge-on-read: data-1 stays, the old row is hidden by its position, the new one is in data-2",
        "11, 12",
        _position_deletes,
        snapshots=(
            SnapshotClaim("append", (_first,), 3),
            SnapshotClaim(
                "overwrite",
                (_first, ManifestClaim(2, ((ADDED, "data-2"),)), ManifestClaim(2, ((ADDED, "delete-1"),), "deletes")),
                3,
            ),
        ),
        rows=_AFTER,
        counts={"data_files": 2, "delete_files": 1},
    ),
    Scenario(
        "equality_deletes",
        "An equality delete hides rows by value, only in files with a lower data sequence number",
        "13, 14",
        _equality_deletes,
        snapshots=(
            SnapshotClaim("append", (_first,), 3),
            SnapshotClaim(
                "overwrite",
                (_first, ManifestClaim(2, ((ADDED, "data-2"),)), ManifestClaim(2, ((ADDED, "delete-1"),), "deletes")),
                3,
            ),
            SnapshotClaim(
                "append",
                (
                    _first,
                    ManifestClaim(2, ((ADDED, "data-2"),)),
                    ManifestClaim(2, ((ADDED, "delete-1"),), "deletes"),
                    ManifestClaim(3, ((ADDED, "data-3"),)),
                ),
                4,
            ),
        ),
        rows=(*_AFTER, ("jack", "purple")),
        counts={"data_files": 3, "delete_files": 1},
    ),
    Scenario(
        "deletion_vectors",
        "Format version 3: one deletion vector a data file, in Puffin, and row ids that survive updates",
        "11, 12 in version 3",
        _deletion_vectors,
        format_version=3,
        snapshots=(
            SnapshotClaim("append", (_first,), 3),
            SnapshotClaim(
                "overwrite",
                (_first, ManifestClaim(2, ((ADDED, "data-2"),)), ManifestClaim(2, ((ADDED, "delete-1"),), "deletes")),
                3,
            ),
            SnapshotClaim(
                "delete",
                (
                    _first,
                    ManifestClaim(2, ((ADDED, "data-2"),)),
                    ManifestClaim(3, ((ADDED, "delete-2"),), "deletes"),
                    ManifestClaim(3, ((DELETED, "delete-1"),), "deletes"),
                ),
                2,
            ),
        ),
        rows=(("jack", "yellow"), ("tom", "green")),
        counts={"data_files": 2, "delete_files": 1},
    ),
)
