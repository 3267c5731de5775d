"""Snapshots and the lifecycle of manifests: Part 1, figures 3 and 5 to 8 (docs/texts.md), and a long history."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from explorer.lab.scenarios.claims import ManifestClaim, Scenario, SnapshotClaim
from explorer.lab.scenarios.workshop import Workshop

ADDED, EXISTING, DELETED = "ADDED", "EXISTING", "DELETED"


def _three_inserts(w: Workshop) -> None:
    w.create("fruit STRING")
    for fruit in ("apple", "banana", "cherry"):
        w.insert(f"'{fruit}'")


def _tracked_delete(w: Workshop) -> None:
    w.create("fruit STRING")
    w.insert("'apple'")
    w.insert("'banana'")
    w.sql("DELETE FROM {t} WHERE fruit = 'apple'")


def _five_snapshots(w: Workshop, fast: bool) -> None:
    w.create("fruit STRING")
    table = w.java()
    fruits = (("apple", "apricot"), ("banana",), ("cherry", "cranberry"), ("damson",))
    files = [
        w.data_file(table, f"data-{i + 1}.parquet", [{"fruit": f} for f in group]) for i, group in enumerate(fruits)
    ]
    append = table.newFastAppend if fast else table.newAppend
    append().appendFile(files[0]).appendFile(files[1]).commit()
    table.newDelete().deleteFile(files[0]).commit()
    append().appendFile(files[2]).commit()
    table.newDelete().deleteFile(files[1]).commit()
    append().appendFile(files[3]).commit()


def _lifecycle(w: Workshop) -> None:
    _five_snapshots(w, fast=False)


def _lifecycle_fast(w: Workshop) -> None:
    _five_snapshots(w, fast=True)


REGIONS = ("africa", "america", "asia", "europe", "oceania")
HISTORY, FILES_EACH = 300, 4


def _long_history(w: Workshop) -> None:
    w.create("id INT, region STRING, amount INT", partitioned="region")
    table = w.java()
    factory = w.file_factory(table)

    def write(n: int) -> object:
        region = REGIONS[n % len(REGIONS)]
        row = {"id": n, "region": region, "amount": n * 7 % 1000}
        return w.data_file(table, f"part-{n:05d}.parquet", [row], f"region={region}", factory)

    with ThreadPoolExecutor(4) as pool:
        files = list(pool.map(write, range(HISTORY * FILES_EACH)))
    for start in range(0, len(files), FILES_EACH):
        append = table.newAppend()
        for file in files[start : start + FILES_EACH]:
            append.appendFile(file)
        append.commit()


_m1 = ManifestClaim(1, ((ADDED, "data-1"), (ADDED, "data-2")))
_m2 = ManifestClaim(2, ((DELETED, "data-1"), (EXISTING, "data-2")))
_m3 = ManifestClaim(3, ((ADDED, "data-3"),))
_m4 = ManifestClaim(4, ((DELETED, "data-2"),))
_m5 = ManifestClaim(5, ((ADDED, "data-4"),))
_first_four = (
    SnapshotClaim("append", (_m1,), 3),
    SnapshotClaim("delete", (_m2,), 1),
    SnapshotClaim("append", (_m2, _m3), 3),
    SnapshotClaim("delete", (_m3, _m4), 2),
)


def _insert(n: int) -> ManifestClaim:
    return ManifestClaim(n, ((ADDED, f"data-{n}"),))


SCENARIOS = (
    Scenario(
        "three_inserts",
        "Each insert makes a snapshot, a metadata file and one manifest; older manifests are carried on",
        "3, 5",
        _three_inserts,
        snapshots=tuple(SnapshotClaim("append", tuple(_insert(i) for i in range(1, n + 1)), n) for n in (1, 2, 3)),
        rows=(("apple",), ("banana",), ("cherry",)),
        counts={"metadata_files": 4, "data_files": 3, "manifests": 3},
    ),
    Scenario(
        "tracked_delete",
        "A delete rewrites the manifest that held the file, with status DELETED",
        "6",
        _tracked_delete,
        snapshots=(
            SnapshotClaim("append", (_insert(1),), 1),
            SnapshotClaim("append", (_insert(1), _insert(2)), 2),
            SnapshotClaim("delete", (_insert(2), ManifestClaim(3, ((DELETED, "data-1"),))), 1),
        ),
        rows=(("banana",),),
        counts={"data_files": 1, "manifests": 2},
    ),
    Scenario(
        "manifest_lifecycle",
        "Five snapshots: a manifest is created, carried, rewritten, and dropped once it holds only DELETED entries",
        "7, 8",
        _lifecycle,
        snapshots=(*_first_four, SnapshotClaim("append", (_m3, _m5), 3)),
        rows=(("cherry",), ("cranberry",), ("damson",)),
        counts={"data_files": 2, "manifests": 2, "snapshots": 5},
    ),
    Scenario(
        "manifest_lifecycle_fast_append",
        "The same five commits by FastAppend, which carries the DELETED-only manifest on (MergeAppend drops it)",
        "8, but for its last step",
        _lifecycle_fast,
        snapshots=(*_first_four, SnapshotClaim("append", (_m3, _m4, _m5), 3)),
        rows=(("cherry",), ("cranberry",), ("damson",)),
        counts={"data_files": 2, "manifests": 3, "snapshots": 5},
    ),
)

LAST = (
    Scenario(
        "long_history",
        "300 snapshots and 1,200 files in five partitions: manifests are merged every hundred commits",
        "2",
        _long_history,
        counts={"snapshots": HISTORY, "data_files": HISTORY * FILES_EACH, "partitions": len(REGIONS)},
    ),
)
