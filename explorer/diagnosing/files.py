"""The doctor's rules on whether files are there: 38, with who needs each, and 55."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow.compute as pc

from explorer.core.doctor.findings import Finding, finding
from explorer.core.doctor.lists import Lists
from explorer.core.entries import DELETED
from explorer.core.units import count
from explorer.errors import AccessRefused, NotNow, UnreadableFile
from explorer.leftovers import files_beside, orphans, other_metadata
from explorer.table import Table

EACH = 1000
"""Files that are told of one by one; of more, those of a manifest together."""
OLD = 72
"""Hours after which remove_orphan_files takes a file for an orphan, if nothing else is said."""


@dataclass
class _Wrong:
    """What is wrong with one file, and which snapshots need it, as a mask."""

    cause: str
    found: int | None
    expected: int | None
    manifest: str
    mask: int


def file_rules(
    table: Table, lists: Lists, not_checked: list[str], checked: dict[str, int], whole: bool
) -> Iterator[Finding]:
    """Every file that a snapshot reads; with `whole` also every file that there is."""
    storage = table.reader.storage
    wrong: dict[str, _Wrong] = {}
    fine: set[int] = set()
    outside = looked = 0
    for manifest, stored in table.tree.stored([lists.records[path] for path in lists.held]):
        path, mask = manifest.manifest_path, lists.masks[manifest.manifest_path]
        live = stored.filter(pc.fill_null(pc.not_equal(stored["status"], DELETED), True))
        columns = (live[name].to_pylist() for name in ("file_path", "file_size_in_bytes"))
        known = {p: s for p, s in zip(*columns, strict=True) if p and hash((p, s)) not in fine}
        sizes = table.tree.sizes(p for p in known if p not in wrong)
        for file, recorded in known.items():
            if file in wrong:
                wrong[file].mask |= mask
                continue
            looked += 1
            size = sizes.get(file)
            if size is not None and size == recorded:
                fine.add(hash((file, recorded)))
            elif size is not None:
                wrong[file] = _Wrong("it has another size than recorded", size, recorded, path, mask)
            else:
                try:
                    storage.size(file)
                except NotNow as error:
                    not_checked.append(str(error))
                except AccessRefused:
                    outside += 1
                except UnreadableFile as error:
                    wrong[file] = _Wrong(error.cause, None, recorded, path, mask)
    checked["files"] = looked
    if outside:
        not_checked.append(f"{count(outside, 'file')} outside the folders that may be read (add them with --root)")
    yield from _told(lists, wrong)
    if whole:
        yield from _orphans(table, not_checked)


def _told(lists: Lists, wrong: dict[str, _Wrong]) -> Iterator[Finding]:
    for file, what in list(wrong.items())[:EACH]:
        yield finding(
            "file-missing", what.cause, file, f"named in {what.manifest}", found=what.found, expected=what.expected,
            snapshots=lists.listing(what.mask), node=("file", file),
        )  # fmt: skip
    rest = list(wrong.items())[EACH:]
    if rest:
        mask = 0
        for _, what in rest:
            mask |= what.mask
        yield finding(
            "file-missing", f"{len(rest):,} more files are missing, or have another size", rest[0][0], count=len(rest),
            examples=tuple(file for file, _ in rest[:3]), snapshots=lists.listing(mask), node=("file", rest[0][0]),
        )  # fmt: skip


def _orphans(table: Table, not_checked: list[str]) -> Iterator[Finding]:
    try:
        others = other_metadata(table.tree, files_beside(table.tree))
        loose = orphans(table.tree, others)
    except UnreadableFile as error:
        not_checked.append(f"orphan files: {error}")
        return
    if others:
        not_checked.append(f"files of {count(len(others), 'other metadata file')}: {others[0].why}")
    if loose:
        old = sum(hours > OLD for hours in loose.values())
        yield finding(
            "orphan-files", f"{count(len(loose), 'file')} below the table's folder are named by no metadata file, "
            f"snapshot or manifest; {old} are older than {OLD // 24} days (younger ones may be a commit's)",
            table.metadata.location, count=len(loose), examples=tuple(sorted(loose)[:3]), found=sorted(loose)[0],
            node=("metadata", table.metadata.metadata_location),
        )  # fmt: skip
