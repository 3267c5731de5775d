"""Which metadata file of a folder is the state of its table, and what else the folder contains.

- Hadoop names (`v3.metadata.json`, `v3.gz.metadata.json`, `v3.metadata.json.gz`): as Iceberg's HadoopTableOperations
  reads them. It begins at the version in version-hint.text, or at the highest where there is no number in it, and
  goes on while the next version exists.
- Other names (`00003-<uuid>.metadata.json`): no reader has a rule for a bare folder. A hint that names a file is
  followed, as pyiceberg does. Else the table UUID that was updated last is opened at its highest version."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from explorer.errors import UnreadableFile
from explorer.model.problem import Problem, ProblemSeverity
from explorer.spec.doctor.remedy_cases import (
    BEHIND,
    GREAT_VERSION,
    HINT_AHEAD,
    HINT_BEHIND,
    HINT_UNREAD,
    NAMED_EARLIER,
    NO_HINT,
    NO_VERSION,
    SHARED_FOLDER,
    STRANGE_NAME,
    VERSION_GONE,
)
from explorer.spec.text.names import base_name, first_of
from explorer.spec.text.units import count
from explorer.storage.metadata import StateHead, read_head

HINT = "version-hint.text"
RULE = "metadata-choice"
"""The doctor's rule for a folder in which readers may find another state."""
MOST_HEADS, MOST_BYTES = 50, 64 << 20
"""Metadata files, and bytes of them, that are read to choose one."""
NEWER = 3
"""Metadata files of a higher version than a catalog's that are read, from the highest on, until one can be."""
METADATA_NAME = re.compile(r"^(?:.+\.)?metadata\.json(?:\.gz)?$")
_VERSIONED = re.compile(r"^(?:v(\d{1,20})\.|(\d{1,20})-[0-9a-fA-F-]+\.)", re.ASCII)
_HADOOP = re.compile(r"^v(0|[1-9]\d{0,9})(\.metadata\.json|\.gz\.metadata\.json|\.metadata\.json\.gz)$", re.ASCII)
_HADOOP_LIKE = re.compile(r"^v\d+\.", re.ASCII)
_OF_CLICKHOUSE = re.compile(r"^(?:v\d+[.-]|\d+-)", re.ASCII)
"""The beginning of names in which ClickHouse 26.9 finds a version; older ones read no hyphen behind v and a number."""
GREATEST = (1 << 31) - 1
"""The greatest version that Iceberg Java finds in a folder."""
_HADOOP_ENDS = (".metadata.json", ".gz.metadata.json", ".metadata.json.gz")
"""In the order in which Iceberg looks for them."""
_HINTED = re.compile(r"[+-]?\d{1,10}", re.ASCII)


@dataclass(frozen=True)
class FolderState:
    """`name` is the metadata file to open and `reason` says why; `beside` says in a sentence what else the folder
    contains, if that is worth a word; `problems` are what other readers stumble over."""

    name: str
    reason: str
    beside: str = ""
    problems: tuple[Problem, ...] = ()


@dataclass
class _Notes:
    folder: str
    beside: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def problem(self, name: str, cause: str, fix: str, severity: ProblemSeverity = "warning") -> None:
        self.problems.append(Problem(f"{self.folder}/{name}", cause, "", fix, severity, RULE))

    def state(self, name: str, reason: str) -> FolderState:
        beside = f"the folder also contains {'; '.join(self.beside)}" if self.beside else ""
        return FolderState(name, reason, beside, tuple(self.problems))


def metadata_version(path: str) -> int | None:
    """The version in a metadata file's name: `v3.metadata.json` and `00003-<uuid>.metadata.json` are both 3."""
    match = _VERSIONED.match(path.rsplit("/", 1)[-1])
    return int(match[1] or match[2]) if match and METADATA_NAME.match(path.rsplit("/", 1)[-1]) else None


def folder_state(folder: str, names: Sequence[str], hint: str | None, read: Callable[[str], bytes]) -> FolderState:
    """Choose the metadata file that is a table's state.

    Args:
        folder: The metadata folder.
        names: The metadata files in it, at least one.
        hint: The first line of version-hint.text; None without one.
        read: Reads a file of the folder. Raises UnreadableFile."""
    notes = _Notes(folder)
    hadoop = _hadoop_files(names)
    number = _version_of_hint(hint)
    if number is not None and number not in hadoop:
        return _missing_version(notes, names, hadoop, number, read)
    if hadoop:
        return _hadoop_state(notes, names, hadoop, number, hint)
    if hint is None:
        return _latest_state(notes, names, read)
    named = [name for name in names if hint.strip() in _hints_of(name)]
    if named:
        return _state_of_hint(notes, names, named[0])
    cause = f"{HINT} says {hint[:60]!r}, but no such file is there"
    notes.problem(HINT, cause, "readers that go by it (pyiceberg) fail", "info")
    state = _latest_state(notes, names, read)
    return replace(state, reason=f"{state.reason}; {cause}")


def _hints_of(name: str) -> tuple[str, ...]:
    """The hints by which pyiceberg finds a metadata file."""
    begin = name.removesuffix(".metadata.json")
    number = begin[1:] if begin.startswith("v") and begin[1:].isdecimal() else begin
    return name, begin, number


def state_of_catalog(opened: str, names: Sequence[str], read: Callable[[str], bytes]) -> FolderState:
    """Compare the metadata file that a catalog points to with the others in its folder.

    Args:
        opened: The path of that file.
        names: The names in its folder.
        read: Reads a file of the folder. Raises UnreadableFile."""
    reason = "the catalog points to it"
    folder, own = opened.rpartition("/")[0], base_name(opened)
    notes = _Notes(folder)
    newer = _newer_files([name for name in names if METADATA_NAME.match(name)], own)
    if not newer:
        return notes.state(own, reason)
    notes.beside.append(f"{count(len(newer), 'metadata file')} of a higher version ({first_of(newer, 3)})")
    heads, unreadable, _ = _heads(newer[:NEWER], read)
    lost = f"; {first_of(sorted(unreadable), NEWER)} cannot be read" if unreadable else ""
    further = next((words for name in heads if (words := _further(own, name, heads[name], read))), "")
    if further or lost:
        one = ", which is 1 commit " in further
        notes.problem(
            own,
            f"the catalog points to version {metadata_version(own)}, and the folder contains "
            f"{further or f'{first_of(newer, 3)} of a higher version'}{lost}: {BEHIND}, or a "
            "writer has written that and not yet, or never, told the catalog",
            "open such a file by its path to see it",
            "warning" if lost or not one else "info",
        )
    return notes.state(own, reason)


def state_of_named(opened: str, names: Sequence[str], read: Callable[[str], bytes]) -> FolderState:
    """Compare a metadata file that was named with the others in its folder.

    Args:
        opened: The path of that file.
        names: The names in its folder.
        read: Reads a file of the folder. Raises UnreadableFile."""
    reason, own = "this metadata file was named", base_name(opened)
    notes = _Notes(opened.rpartition("/")[0])
    newer = _newer_files([name for name in names if METADATA_NAME.match(name)], own)
    heads, _, _ = _heads(newer[:NEWER], read)
    further = next((words for name in heads if (words := _further(own, name, heads[name], read))), "")
    if further:
        notes.beside.append(further)
        notes.problem(
            own,
            f"{NAMED_EARLIER}, and the folder contains {further}. {_writer_at(metadata_version(own))}",
            "open the folder, or the catalog's name, to see the newest state",
            "info",
        )
    return notes.state(own, reason)


def _writer_at(version: int | None) -> str:
    """What befalls the commits after a version."""
    return (
        f"A writer or maintenance that begins from version {version} may drop the commits after it: write a state "
        "without them, or remove their files (ClickHouse/ClickHouse#120165)"
    )


def _further(own: str, name: str, head: StateHead, read: Callable[[str], bytes]) -> str:
    """How far a newer metadata file is from the one that a catalog points to; empty where it is another table's."""
    earlier = [base_name(path) for path in head.earlier]
    if own in earlier:
        return f"{name}, which is {count(len(earlier) - earlier.index(own), 'commit')} further in the same history"
    try:
        same = read_head(read(own), own).table_uuid == head.table_uuid
    except UnreadableFile:  # opening it says why
        same = False
    return f"{name} of the same table, whose log does not go back to {own}" if same else ""


def _newer_files(names: Sequence[str], opened: str) -> list[str]:
    """The metadata files of a higher version than the opened one, the highest first."""
    own = metadata_version(opened)
    versions = [(version, name) for name in names if (version := metadata_version(name)) is not None]
    return [name for version, name in sorted(versions, reverse=True) if own is not None and version > own]


def _hadoop_files(names: Sequence[str]) -> dict[int, str]:
    """By version the file that Iceberg opens of it."""
    matches = sorted(
        ((match, name) for name in names if (match := _HADOOP.match(name))),
        key=lambda pair: -_HADOOP_ENDS.index(pair[0][2]),
    )
    return {int(match[1]): name for match, name in matches if int(match[1]) < 1 << 31}


def _version_of_hint(hint: str | None) -> int | None:
    """The number that Iceberg reads of a hint; None where it cannot, and lists the folder."""
    number = int(hint) if hint is not None and _HINTED.fullmatch(hint) else None
    return number if number is not None and -(1 << 31) <= number < 1 << 31 else None


def _hadoop_state(
    notes: _Notes, names: Sequence[str], hadoop: dict[int, str], number: int | None, hint: str | None
) -> FolderState:
    start = version = max(hadoop) if number is None else number
    while version + 1 in hadoop:
        version += 1
    if number is None:
        why = f"{HINT} is not there" if hint is None else f"{HINT} says {hint[:60]!r}, which is no number"
        reason = f"{why}, so Iceberg opens the highest version, {version}, of {count(len(hadoop), 'version')}"
        if hint is None:
            notes.problem(
                HINT,
                f"{NO_HINT}, {version}, and readers that need the hint (DuckDB and pyiceberg, of a folder) fail",
                "the next commit that Iceberg makes in this folder writes it",
                "info",
            )
        else:
            notes.problem(
                HINT,
                f"{HINT_UNREAD}: it says {hint[:60]!r}. Iceberg opens the highest version, {version}; readers that "
                "take the hint for a name (pyiceberg, of a folder) fail",
                "the next commit that Iceberg makes in this folder writes the number",
            )
    elif version == start:
        reason = f"{HINT} says {number}"
    else:
        reason = f"{HINT} says {number}, and Iceberg goes on while the next version exists: to {version}"
        notes.problem(
            HINT,
            f"{HINT_BEHIND}: it says {number}, and version {version} exists. Iceberg goes on to "
            f"{version}; readers that stop at the hint (pyiceberg) show version {number}. {_writer_at(number)}",
            "the next commit writes the hint anew",
        )
    cut_off = [hadoop[v] for v in sorted(hadoop) if v > version]
    if cut_off:
        notes.beside.append(f"{first_of(cut_off, 3)}, which Iceberg does not reach: version {version + 1} is missing")
        notes.problem(
            hadoop[version],
            f"Iceberg stops at version {version}, because version {version + 1} is missing, and "
            f"{VERSION_GONE} {first_of(cut_off, 3)}",
            "find out where that version went before anybody commits",
        )
    _note_other_names(notes, names, hadoop)
    return notes.state(hadoop[version], reason)


def _note_other_names(notes: _Notes, names: Sequence[str], hadoop: dict[int, str]) -> None:
    """Of a folder with Hadoop names: other metadata files."""
    strange = [name for name in names if name not in hadoop.values()]
    twice = sorted(name for name in strange if _HADOOP.match(name))
    if twice:
        notes.beside.append(f"{first_of(twice, 3)}, whose version has another file that Iceberg prefers")
    others = sorted(set(strange) - set(twice), reverse=True)
    if others:
        notes.beside.append(
            f"{count(len(others), 'metadata file')} that no reader of Hadoop tables finds ({first_of(others, 3)})"
        )


def _missing_version(
    notes: _Notes, names: Sequence[str], hadoop: dict[int, str], number: int, read: Callable[[str], bytes]
) -> FolderState:
    """The hint names a version of which no reader of Hadoop tables finds a file."""
    misnamed = sorted(name for name in names if name.startswith("v") and metadata_version(name) == number)
    missing = f"{HINT} says '{number}', but no such file is there"
    cause = f"{missing}: {HINT_AHEAD} {number} is missing')"
    fix = f"a reader of Hadoop tables looks for {', '.join(f'v{number}{end}' for end in _HADOOP_ENDS)}"
    if len(misnamed) == 1:
        name = misnamed[0]
        notes.problem(name, f"{cause}. {name} {STRANGE_NAME}", fix, "error")
        return notes.state(name, f"{HINT} says {number}, and this is the only file of that version")
    notes.problem(HINT, cause, fix, "error")
    if hadoop:
        version = max(hadoop)
        _note_other_names(notes, names, hadoop)
        return notes.state(hadoop[version], f"it has the highest version, {version}; {missing}")
    state = _latest_state(notes, names, read)
    return replace(state, reason=f"{state.reason}; {missing}")


def _state_of_hint(notes: _Notes, names: Sequence[str], name: str) -> FolderState:
    newer = _newer_files(names, name)
    version = metadata_version(name)
    if _HADOOP_LIKE.match(name) and version is not None and version > GREATEST:
        notes.problem(
            HINT,
            f"it names version {version}, which is above {GREATEST:,}: {GREAT_VERSION}. pyiceberg opens the version",
            "open it through its catalog, or by this file's path; leave the hint as it is",
        )
    if newer:
        notes.beside.append(f"{count(len(newer), 'metadata file')} of a higher version ({first_of(newer, 3)})")
        notes.problem(
            HINT,
            f"the version hint names {name}, and the folder contains {first_of(newer, 3)} of a higher version. "
            f"{_writer_at(version)}",
            "readers that follow the hint (pyiceberg) show the older state",
        )
    return notes.state(name, f"{HINT} names it")


def _latest_state(notes: _Notes, names: Sequence[str], read: Callable[[str], bytes]) -> FolderState:
    """The highest version of the table that was updated last."""
    if len(names) == 1:
        if _rank(names[0]) < 0:
            _note_no_version(notes, names[0], names)
        return notes.state(names[0], f"it is the only metadata file{_of_version(names[0])}")
    ordered = sorted(names, key=lambda name: (_rank(name), name), reverse=True)
    heads, unreadable, unread = _heads(ordered, read)
    highest = ordered[0]
    if not heads or (highest in unreadable and _rank(highest) > max(map(_rank, heads))):
        reason = f"it has the highest version of {count(len(names), 'metadata file')}"  # opening it says what is wrong
        return notes.state(highest, reason)
    last_updated = {head.table_uuid: head.last_updated_ms for head in sorted(heads.values(), key=_update_time)}
    uuid = max(last_updated, key=lambda uuid: last_updated[uuid])
    own = {name: head for name, head in heads.items() if head.table_uuid == uuid}
    name = max(own, key=lambda name: (_rank(name), _update_time(own[name]), name))
    reason = f"it has the highest version, {_rank(name)}, of {count(len(names), 'metadata file')}"
    same = sorted(other for other in own if other != name and _rank(other) == _rank(name))
    if same:
        reason = f"{len(same) + 1} metadata files have version {_rank(name)}; this one has the latest last-updated-ms"
    if _rank(name) < 0:
        reason = "no name of a metadata file has a version; this one has the latest last-updated-ms"
        _note_no_version(notes, name, names)
    if len(last_updated) > 1:
        _note_other_tables(notes, name, heads, uuid)
        reason = f"of the {len(last_updated)} tables whose metadata is in this folder this one was updated last"
    logged = [_rank(earlier) for earlier in own[name].earlier]
    since = min(logged, default=_rank(name))  # of versions before the log nobody knows
    forks = sorted(other for other in own if other != name and _rank(other) >= max(since, 0))
    if forks:
        notes.beside.append(f"{first_of(forks, 3)}, outside the history of the file that was opened")
    if unreadable:
        notes.beside.append(f"{first_of(sorted(unreadable), 3)}, which cannot be read")
    if unread:
        notes.beside.append(f"{count(unread, 'metadata file')} that were not looked into to choose this one")
    return notes.state(name, reason)


def _note_no_version(notes: _Notes, name: str, names: Sequence[str]) -> None:
    notes.problem(
        name,
        f"{NO_VERSION} (v3.metadata.json, 00003-<uuid>.metadata.json): Iceberg Java begins again at version 0 with "
        f"the next commit. Of the folder, {_by_clickhouse(names)}; other readers of folders pass it over",
        "commit through a catalog, which writes a file of another name",
    )


def _by_clickhouse(names: Sequence[str]) -> str:
    """Say what ClickHouse, which looks at the name of each metadata file in a folder, makes of names without a
    version."""
    strange = [name for name in names if not _OF_CLICKHOUSE.match(name)]
    if strange:
        return f"ClickHouse fails on {first_of(sorted(strange), 3)} ('Bad metadata file name')"
    return "ClickHouse 26.9 reads it, and older versions fail ('Bad metadata file name')"


def _note_other_tables(notes: _Notes, name: str, heads: dict[str, StateHead], uuid: str) -> None:
    by_rank = sorted(heads, key=lambda other: (_rank(other), _update_time(heads[other])))
    others = {heads[other].table_uuid: other for other in by_rank if heads[other].table_uuid != uuid}
    more = f" and {len(others) - 3:,} more" if len(others) > 3 else ""
    newest = [f"{file} (UUID {other[:40] or 'missing'})" for other, file in sorted(others.items())[:3]]
    named = ", ".join(newest) + more
    notes.beside.append(f"metadata of {count(len(others), 'other table')}: {named}")
    notes.problem(
        name,
        f"{len(others) + 1} {SHARED_FOLDER}: this one has the UUID {uuid[:40] or 'missing'}, and the folder "
        f"contains {named}. Either a table was dropped without its files and created anew in its place, or two tables "
        "have one location",
        "open another by the path of its metadata file; before remove_orphan_files make sure that nobody needs it",
    )


def _heads(ordered: Sequence[str], read: Callable[[str], bytes]) -> tuple[dict[str, StateHead], set[str], int]:
    """What the metadata files say that are in no other's log, those that cannot be read, and how many others were
    left out, since enough had been read."""
    heads: dict[str, StateHead] = {}
    unreadable: set[str] = set()
    earlier: set[str] = set()
    size = unread = 0
    for name in ordered:
        if name in earlier:
            continue
        if len(heads) + len(unreadable) >= MOST_HEADS or size > MOST_BYTES:
            unread += 1
            continue
        try:
            data = read(name)
            size += len(data)
            heads[name] = read_head(data, name)
        except UnreadableFile:
            unreadable.add(name)
            continue
        earlier.update(map(base_name, heads[name].earlier))
    return {name: head for name, head in heads.items() if name not in earlier}, unreadable, unread


def _rank(name: str) -> int:
    version = metadata_version(name)
    return -1 if version is None else version


def _update_time(head: StateHead) -> int:
    return head.last_updated_ms


def _of_version(name: str) -> str:
    version = metadata_version(name)
    return "" if version is None else f", of the highest version, {version}"
