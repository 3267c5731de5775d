"""The doctor's rules on whether files are there: 38, with who needs each, and 55."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import pyarrow.compute as pc

from explorer.errors import MISSING, AccessRefused, NotNow, UnreadableFile
from explorer.model.manifest import ManifestFile
from explorer.queries.orphans import orphan_files
from explorer.queries.unnamed_commits import find_unnamed_commits
from explorer.reports.doctor.missing_files import find_missing_files
from explorer.spec.commits.uncommitted_files import words_of_uncommitted_files
from explorer.spec.doctor.finding_groups import MEMBERS
from explorer.spec.doctor.findings import Finding, Refused, finding
from explorer.spec.doctor.manifest_list_rules import Lists
from explorer.spec.doctor.missing_files import MissingFile
from explorer.spec.doctor.remedy_cases import BY_AGE, ONE_SLASH_AWAY, PREFIXES, SPARED, UNCOMMITTED
from explorer.spec.entries.entries import DELETED
from explorer.spec.maintenance.orphan_rules import is_below, written_places
from explorer.spec.text.names import base_name, shorten
from explorer.spec.text.path_segments import has_empty_segment, is_of_key_store, without_empty_segments
from explorer.spec.text.units import count, human_bytes
from explorer.table import Table

OLD = 72
"""Hours after which remove_orphan_files takes a file for an orphan, if nothing else is said."""
LONGEST = 200
"""Characters of a file's name, and of why it may be live."""


@dataclass
class _Wrong:
    """What is wrong with one file, and which snapshots need it, as a mask."""

    cause: str
    size: int | None
    expected: int | None
    manifest: str
    mask: int
    refused: Refused = ""


def file_rules(
    table: Table, lists: Lists, not_checked: list[str], checked: dict[str, int], whole: bool,
    missing: dict[str, MissingFile],
) -> Iterator[Finding]:  # fmt: skip
    """Every file that a snapshot reads; with `whole` also every file that there is. What metadata tells of those that
    are gone is put into `missing`."""
    storage = table.reader.storage
    wrong: dict[str, _Wrong] = {}
    fine: set[int] = set()
    outside = looked = 0
    oldest: int | None = None
    for manifest, stored in table.tree.stored_entries([lists.records[path] for path in lists.held]):
        path, mask = manifest.manifest_path, lists.masks[manifest.manifest_path]
        live = stored.filter(pc.fill_null(pc.not_equal(stored["status"], DELETED), True))
        names = ("file_path", "file_size_in_bytes", "file_format", "content")
        rows = zip(*(live[name].to_pylist() for name in names), strict=True)
        formats = {p: (s, str(f).upper(), c) for p, s, f, c in rows if p and hash((p, s)) not in fine}
        recorded_sizes = {path: size for path, (size, _, _) in formats.items()}
        sizes = table.tree.sizes(p for p in recorded_sizes if p not in wrong)
        for file, recorded in recorded_sizes.items():
            if file in wrong:
                wrong[file].mask |= mask
                continue
            looked += 1
            read = formats[file][1] == "PARQUET" and (recorded or 0) > 0  # of size 0 Spark reads nothing
            full: Refused = "part" if formats[file][2] else "scan"
            size = sizes.get(file)
            if size is not None and (of := _time_of_adding(lists, manifest)) is not None:
                oldest = of if oldest is None else min(oldest, of)
            if size is not None and size == recorded:
                fine.add(hash((file, recorded)))
            elif size is not None:
                wrong[file] = _Wrong(
                    "it has another size than recorded", size, recorded, path, mask, full if read else ""
                )
            else:
                try:
                    storage.size(file)
                except NotNow as error:
                    not_checked.append(str(error))
                except AccessRefused:
                    outside += 1
                except UnreadableFile as error:
                    wrong[file] = _Wrong(error.cause, None, recorded, path, mask, full)
    checked["files"] = looked
    if outside:
        not_checked.append(f"{count(outside, 'file')} outside the folders that may be read (add them with --root)")
    gone = {file: what.mask for file, what in wrong.items() if what.size is None and what.cause.startswith(MISSING)}
    _look_one_slash_away(table, wrong, gone)
    missing |= find_missing_files(table, lists, gone)
    yield from _findings(lists, wrong, missing, oldest)
    if whole:
        yield from _orphans(table, not_checked)


def _look_one_slash_away(table: Table, wrong: Mapping[str, _Wrong], gone: Collection[str]) -> None:
    """Add to the causes of missing files, whose keys have an empty segment, where the key without it has the file."""
    keys = {file: without_empty_segments(file) for file in gone if is_of_key_store(file) and has_empty_segment(file)}
    sizes = table.tree.sizes(keys.values())
    for file, key in keys.items():
        if sizes.get(key) is not None and sizes[key] == wrong[file].expected:
            wrong[file].cause += f", {ONE_SLASH_AWAY}"


def _time_of_adding(lists: Lists, manifest: ManifestFile) -> int | None:
    """When the commit was made that added all files of a manifest; None where others added some, or it has expired."""
    snapshot = lists.meta.snapshot(manifest.added_snapshot_id)
    return None if manifest.existing_files_count != 0 or snapshot is None else snapshot.timestamp_ms


def _findings(
    lists: Lists, wrong: dict[str, _Wrong], missing: Mapping[str, MissingFile], oldest: int | None
) -> Iterator[Finding]:  # fmt: skip
    """A finding for each file; beyond what a report can hold, one for the others of a kind. `oldest` is when the oldest
    file was added that is there, where that is known."""
    gone = Counter(what.manifest for what in wrong.values() if what.size is None)
    for file, what in wrong.items():
        removers = missing[file].removers if file in missing else ()
        if ONE_SLASH_AWAY not in what.cause:
            what.cause += _removed_before(removers[-1]) if removers else _cleaned_up(lists, what, gone, oldest)
    for file, what in list(wrong.items())[:MEMBERS]:
        yield finding(
            "file-missing", what.cause, file, f"named in {what.manifest}",
            found=what.size, expected=what.expected, snapshots=lists.listing(what.mask), node=("file", file),
            refused=what.refused,
        )  # fmt: skip
    rest: dict[tuple[str, Refused], list[str]] = {}
    masks: dict[tuple[str, Refused], int] = {}
    for file, what in list(wrong.items())[MEMBERS:]:
        kind = what.cause, what.refused
        rest.setdefault(kind, []).append(file)
        masks[kind] = masks.get(kind, 0) | what.mask
    for (cause, refused), files in rest.items():
        yield finding(
            "file-missing", cause, files[0], count=len(files), examples=tuple(files[:3]),
            snapshots=lists.listing(masks[cause, refused]), node=("file", files[0]), refused=refused,
        )  # fmt: skip


def _removed_before(remover: int) -> str:
    """Say which commit removed a file that a later one brought back."""
    return (
        f": snapshot {remover} had removed this very file before it came back, and what cleans up after that snapshot "
        "takes the file with it (an expiry by Iceberg's API does, #2131)"
    )


def _cleaned_up(lists: Lists, what: _Wrong, gone: Mapping[str, int], oldest: int | None) -> str:
    """Say that all files that a commit added in one manifest are gone, as after a writer that took it for failed; empty
    where that is not so."""
    manifest = lists.records[what.manifest]
    snapshot = lists.meta.snapshot(manifest.added_snapshot_id)
    if what.size is not None or snapshot is None or manifest.existing_files_count != 0:
        return ""
    if gone[what.manifest] != manifest.added_files_count:
        return ""
    is_younger = oldest is not None and oldest < (snapshot.timestamp_ms or 0)
    number = gone[what.manifest] - 1
    others = f", nor {'does' if number == 1 else 'do'} {count(number, 'other')} of its manifest" if number else ""
    expiry = (
        ". So may an expiry by Iceberg's API, where a snapshot that has expired had removed the file before this one "
        "added it again (#2131)"
    )
    return (
        f"{others}: a writer that took snapshot {snapshot.snapshot_id} ({snapshot.operation or 'a commit'}) for failed "
        "may have removed what it had added, though the commit landed (CommitStateUnknownException). So may "
        f"remove_orphan_files that ran during the commit{'' if is_younger else f', or {BY_AGE}'}"
        f"{expiry if lists.has_expired_parents else ''}"
    )


def _orphans(table: Table, not_checked: list[str]) -> Iterator[Finding]:
    try:
        found = orphan_files(table.tree)
    except UnreadableFile as error:
        not_checked.append(f"orphan files: {error}")
        return
    for name, place in written_places(table.metadata):
        if not is_below(place, table.metadata.location):
            not_checked.append(f"orphan files in {name} ({place}), which lies outside the table's folder")
    loose = found.loose
    if found.others:
        not_checked.append(f"files of {count(len(found.others), 'other metadata file')}: {found.others[0].why}")
    if loose:
        now = time.time()
        old = [of.bytes for of in loose.values() if of.written < now - OLD * 3600]
        whole, of_old = (human_bytes(sum(sizes)) for sizes in ([of.bytes for of in loose.values()], old))
        times = {path: (of.written * 1000, of.bytes) for path, of in loose.items()}
        late = _of_unnamed_commits(table, loose) or words_of_uncommitted_files(table.metadata, times, now * 1000)
        yield finding(
            "orphan-files", f"{count(len(loose), 'file')} ({whole}) below the table's folder are named neither "
            f"by the metadata file nor by a snapshot or manifest that it leads to; {len(old)} "
            f"({of_old}) are older than {OLD // 24} days (younger ones may be a commit's){'. ' if late else ''}"
            f"{late}{f'; {PREFIXES}' if found.is_apart else ''}"
            f"{_spared_words(found.spared)}",
            table.metadata.location, count=len(loose), examples=tuple(sorted(loose)[:3]), found=sorted(loose)[0],
            node=("metadata", table.metadata.metadata_location),
        )  # fmt: skip


def _of_unnamed_commits(table: Table, loose: Collection[str]) -> str:
    """Say which files that nothing leads to are rows of commits that the table does not have; empty without any."""
    commits = find_unnamed_commits(table.tree).commits
    names = {base_name(path) for path in loose}
    own = {path for commit in commits for path in commit.added_files or () if base_name(path) in names}
    if not own:
        return ""
    are = "is" if len(own) == 1 else "are"
    return (
        f"{count(len(own), 'data file')} {are} of a commit that the table does not have (commit-unnamed): {UNCOMMITTED}"
    )


def _spared_words(spared: Mapping[str, str]) -> str:
    """Say which files remove_orphan_files takes though they may be live; empty without any."""
    if not spared:
        return ""
    first, why = min(spared.items())
    example = f"{shorten(first, LONGEST)} ({shorten(why, LONGEST)})"
    return f". {SPARED}: {count(len(spared), 'file')}, such as {example}"
