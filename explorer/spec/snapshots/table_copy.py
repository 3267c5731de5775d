"""What a copy of a table has of it, and where the copy's metadata leads: the facts, and the answer in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from explorer.model.metadata import TableMetadata
from explorer.spec.text.units import count

History = Literal["same", "behind", "ahead", "own commits", "another table"]
"""The copy's current snapshot against the table's: the same; one before it; one that came after it; neither, with
snapshots in common; or none in common."""

UNRELATED: Sequence[History] = ("own commits", "another table")


@dataclass(frozen=True)
class CopyHistory:
    """How the histories of a table and its copy are related.

    Attributes:
        relation: The copy's current snapshot against the table's.
        commits: By how many commits one is behind the other; 0 where neither is.
        common: The newest snapshot that both have in the histories of `main`; None if there is none.
        refs: Branches and tags that the copy lacks, or has at another snapshot.
    """

    relation: History
    commits: int
    common: int | None
    refs: tuple[str, ...]


@dataclass(frozen=True)
class CopiedFiles:
    """The live files of a snapshot in the table and in its copy, by their paths below each one's folder.

    Attributes:
        files: Files in the table.
        bytes: Their bytes.
        missing: Files that the copy's metadata does not name.
        extra: Files that only the copy's metadata names.
        different: Files whose sizes or rows differ. The paths in position deletes decide their size: only rows count.
        examples: By one of these three words, the first paths.
    """

    files: int
    bytes: int
    missing: int
    extra: int
    different: int
    examples: Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class CopyCheck:
    """What was found of a copy.

    Attributes:
        history: How the histories are related.
        snapshot: The name, in the table, of the snapshot whose files are compared; empty where none is.
        copied: Its files; None where no snapshot is in both.
        elsewhere: By kind (manifest lists, manifests, data and delete files), how many paths in the copy's metadata lie
            outside the copy's folder, and of how many.
        leads_to: The folder that the copy's metadata calls the table's; empty where that is the copy's own.
        absent: Files of the copy that are not there, or have another length than recorded; None where that was not
            looked at.
        absent_examples: The first of these.
        statement: What writes metadata for the copy's folder; empty where none is needed, or none can be given.
        notes: What could not be read, a sentence each.
    """

    history: CopyHistory
    snapshot: str
    copied: CopiedFiles | None
    elsewhere: Mapping[str, tuple[int, int]]
    leads_to: str
    absent: int | None
    absent_examples: tuple[str, ...]
    statement: str
    notes: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether nothing is missing or different in the snapshot that is compared."""
        copied = self.copied
        named = copied is not None and not copied.missing + copied.extra + copied.different
        return named and not self.absent and not self.notes

    @property
    def stands_alone(self) -> bool:
        """Whether all paths of the copy's metadata lie in the copy's folder."""
        return not any(outside for outside, _ in self.elsewhere.values())

    @property
    def words(self) -> tuple[str, ...]:
        """The answer in sentences."""
        return tuple(text for text, _ in self.sentences)

    @property
    def sentences(self) -> tuple[tuple[str, bool], ...]:
        """The answer in sentences, each with whether it is bad news."""
        told = (
            (_history_words(self), self.history.relation in UNRELATED or bool(self.history.refs)),
            (_file_words(self), not self.is_whole),
            (_place_words(self), not self.stands_alone),
            (self.notes, True),
        )
        return tuple((text, is_bad) for texts, is_bad in told for text in texts)


def _history_words(check: CopyCheck) -> list[str]:
    history = check.history
    commits = count(history.commits, "commit")
    said = {
        "same": "The copy is at the table's current snapshot.",
        "behind": f"The copy is {commits} behind the table.",
        "ahead": f"The copy is {commits} ahead of the table: it was written to after it was made.",
        "own commits": "Both have commits since the copy was made that the other does not have.",
        "another table": "The copy has no snapshot of the table's current history: it is a copy of something else, or "
        "the table's snapshots have expired since.",
    }[history.relation]
    refs = (
        [f"Branches or tags that the copy lacks, or has elsewhere: {', '.join(history.refs)}."] if history.refs else []
    )
    return [said, *refs]


def _file_words(check: CopyCheck) -> list[str]:
    copied = check.copied
    if copied is None:
        return []
    of = f"{count(copied.files, 'live file')} of {check.snapshot}"
    wrong = [
        f"{count(number, 'file')} {verb}, such as {copied.examples[name][0]}"
        for name, number, verb in (
            ("missing", copied.missing, "of the table are not in the copy's metadata"),
            ("extra", copied.extra, "of the copy are not in the table's metadata"),
            ("different", copied.different, "differ in size or rows"),
        )
        if number
    ]
    said = [f"Of {of}: {'; '.join(wrong)}." if wrong else f"The copy's metadata names all {of}, with their sizes."]
    if check.absent is None:
        said.append("Whether these files are there was not looked at: --check-files asks.")
    elif check.absent:
        said.append(
            f"Not there, or not as long as recorded: {count(check.absent, 'file')} that the copy needs, such as "
            f"{check.absent_examples[0]}."
        )
    else:
        said.append("Each file that the copy's current snapshot needs is there, as long as recorded.")
    return said


def _place_words(check: CopyCheck) -> list[str]:
    if check.stands_alone:
        return ["All paths in the copy's metadata lie in the copy's folder."]
    outside = [f"{n:,} of {of:,} {kind}" for kind, (n, of) in check.elsewhere.items() if n]
    leads = f" It calls {check.leads_to} the table's folder." if check.leads_to else ""
    return [
        f"The copy's metadata names files outside the copy's folder: {', '.join(outside)}.{leads} Another "
        "reader that opens the copy reads them there, and fails when they are gone."
    ]


def compare_histories(table: TableMetadata, copy: TableMetadata) -> CopyHistory:
    """Say how the histories of a table and its copy are related.

    Args:
        table: The table's metadata.
        copy: The copy's.
    """
    ours, theirs = _history(table), _history(copy)
    refs = {ref.name: ref.snapshot_id for ref in copy.refs}
    lacking = tuple(ref.name for ref in table.refs if ref.name != "main" and refs.get(ref.name) != ref.snapshot_id)
    places = {snapshot_id: n for n, snapshot_id in enumerate(ours)}
    common = next((snapshot_id for snapshot_id in theirs if snapshot_id in places), None)
    if ours == theirs or (ours and theirs and ours[0] == theirs[0]):
        return CopyHistory("same", 0, ours[0] if ours else None, lacking)
    if not theirs:
        return CopyHistory("behind", len(ours), None, lacking)
    if not ours:
        return CopyHistory("ahead", len(theirs), None, lacking)
    if common is None and ours[0] in copy.ordinals:  # the copy's history of main does not reach it any more
        return CopyHistory("own commits", 0, ours[0], lacking)
    if common is None:
        return CopyHistory("another table", 0, None, lacking)
    if common == theirs[0]:
        return CopyHistory("behind", places[common], common, lacking)
    if common == ours[0]:
        return CopyHistory("ahead", theirs.index(common), common, lacking)
    return CopyHistory("own commits", 0, common, lacking)


def _history(metadata: TableMetadata) -> list[int]:
    """The ids of the snapshots of `main`, the newest first, as far as they are there."""
    ids: dict[int, None] = {}
    snapshot = metadata.current_snapshot
    while snapshot is not None and snapshot.snapshot_id not in ids:
        ids[snapshot.snapshot_id] = None
        snapshot = metadata.snapshot(snapshot.parent_snapshot_id)
    return list(ids)
