"""Which readers know which features, and so who can read a table, now and after an upgrade of its format version."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from explorer.model.metadata import TableMetadata
from explorer.spec.readers.table_features import TableFeature

ReaderAnswer = Literal["yes", "no", "wrong", "unknown"]
WORST_FIRST: tuple[ReaderAnswer, ...] = ("no", "wrong", "unknown")
NEWEST_VERSION = 4
"""The highest format version that an upgrade is told for."""
MERGE_ON_READ = ("write.delete.mode", "write.update.mode", "write.merge.mode")
CANNOT: Mapping[ReaderAnswer, tuple[str, str]] = {
    "no": ("cannot", "cannot"), "wrong": ("shows wrong values", "show wrong values"),
}  # fmt: skip
"""What one reader does, and what several do."""
LONG_REASON = 3
"""Features that a reason in the first sentence names."""


@dataclass(frozen=True)
class ReaderVersion:
    """A reader in one version."""

    id: str
    name: str
    version: str

    @property
    def title(self) -> str:
        """Its name with its version."""
        return f"{self.name} {self.version}".strip()


@dataclass(frozen=True)
class Support:
    """Whether a reader can read tables with a feature.

    Attributes:
        reads: yes; no: it refuses; wrong: it reads and shows something else; unknown.
        source: Where that is known from: an address, or our program that tried it.
        date: When it was tried, or when the document was.
        words: A refusal's words, or what is wrong, or what a document limits.
        is_tried: Whether we tried it.
    """

    reads: ReaderAnswer
    source: str = ""
    date: str = ""
    words: str = ""
    is_tried: bool = False


UNKNOWN = Support("unknown")
DOCTOR = "icedive doctor"
"""The source of what Spark makes of faults."""
SupportTable = Mapping[ReaderVersion, Mapping[str, Support]]
"""What is known of each reader, by feature."""


@dataclass(frozen=True)
class ReaderVerdict:
    """Whether a reader can read a table.

    Attributes:
        reader: The reader.
        answer: yes if it reads every feature; no if it refuses one; wrong if it misreads one; else unknown.
        cells: Each feature that the table uses, and whether the reader reads it.
    """

    reader: ReaderVersion
    answer: ReaderAnswer
    cells: tuple[tuple[TableFeature, Support], ...]

    @property
    def because(self) -> list[TableFeature]:
        """The features that decide; none where it reads all."""
        return [feature for feature, known in self.cells if certain_answer(feature, known) == self.answer != "yes"]

    @property
    def known_from(self) -> str:
        """How its cells are known."""
        tried = sum(known.is_tried for _, known in self.cells)
        told = sum(bool(known.source) and not known.is_tried for _, known in self.cells)
        return " and ".join([*(["tried"] if tried else []), *(["documents"] if told else [])]) or "nothing"


def certain_answer(feature: TableFeature, known: Support) -> ReaderAnswer:
    """Return a reader's answer for a feature. It is unknown if the reader refuses what the table may not have."""
    return "unknown" if known.reads in ("no", "wrong") and not feature.is_certain else known.reads


def judge(features: Sequence[TableFeature], support: SupportTable) -> list[ReaderVerdict]:
    """Decide for every reader whether it can read a table.

    Args:
        features: The features that the table uses.
        support: What is known of readers.

    Returns:
        A verdict for each reader, in the order of `support`.
    """
    verdicts = []
    for reader, known in support.items():
        cells = tuple((feature, _cell(reader, known, feature)) for feature in features)
        answers = {certain_answer(*cell) for cell in cells}
        answer: ReaderAnswer = next((one for one in WORST_FIRST if one in answers), "yes")
        verdicts.append(ReaderVerdict(reader, answer, cells))
    return verdicts


def _cell(reader: ReaderVersion, known: Mapping[str, Support], feature: TableFeature) -> Support:
    """What is known of a reader and a feature: of a fault that nobody tried, what the doctor says of Spark."""
    if feature.feature not in known and feature.spark is not None and reader.id == "spark":
        return Support(feature.spark, DOCTOR, words="" if feature.spark == "yes" else feature.where)
    return known.get(feature.feature, UNKNOWN)


# -- an upgrade --------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Upgrade:
    """What an upgrade of the format version changes.

    Attributes:
        version: The format version afterwards.
        statement: The statement that does it; empty where none can be printed.
        changes: What changes, a sentence each.
        features: The features afterwards.
        verdicts: Who can read the table afterwards.
        locked_out: Readers that can read the table now, and that refuse or misread it then.
        refusing: Readers that refuse or misread it then, of which it is unknown whether they can read it now.
        doubtful: Readers that can read it now, of which nobody knows it then.
        new_features: Those of `features` that the table does not use now.
    """

    version: int
    statement: str
    changes: tuple[str, ...]
    features: tuple[TableFeature, ...]
    verdicts: tuple[ReaderVerdict, ...]
    locked_out: tuple[ReaderVersion, ...]
    refusing: tuple[ReaderVersion, ...]
    doubtful: tuple[ReaderVersion, ...]
    new_features: tuple[TableFeature, ...]


def upgraded_features(metadata: TableMetadata, features: Sequence[TableFeature], version: int) -> list[TableFeature]:
    """Return the features that a table uses once it is upgraded and written to, as Iceberg Java does."""
    there = {one.feature for one in features}
    own = TableFeature(f"format-version-{version}", "after the upgrade")
    after = [own, *(one for one in features if not one.feature.startswith("format-version-"))]
    if version >= 3 and "row-lineage" not in there:
        after.append(TableFeature("row-lineage", "rows have ids from the first commit after the upgrade"))
    modes = [name for name in MERGE_ON_READ if metadata.properties.get(name) == "merge-on-read"]
    if version >= 3 and "deletion-vectors" not in there and (modes or "position-deletes" in there):
        after.append(TableFeature("deletion-vectors", "from the next commit on that deletes rows by position"))
    if version >= 4 and "parquet-manifests" not in there:
        after.append(TableFeature("parquet-manifests", "from the first commit after the upgrade"))
    return after


def upgrade_changes(metadata: TableMetadata, features: Sequence[TableFeature], version: int) -> Iterator[str]:
    """Yield what an upgrade changes, a sentence each (spec: "Appendix E: Format version changes")."""
    there, now = {one.feature for one in features}, metadata.format_version
    yield "The upgrade writes a new metadata file and no data. It cannot be undone."
    if now < 2 <= version:
        yield (
            "Version 2: commits have sequence numbers, and those before the upgrade have 0. Merge-on-read can write "
            "delete files."
        )
    if now < 3 <= version:
        yield (
            "Version 3: rows get ids (next-row-id, first-row-id). Rows of files that are there now get theirs with the "
            "first commit after the upgrade; older snapshots have none."
        )
        if "position-deletes" in there:
            yield (
                "Position deletes that are there stay valid. Nobody may add new ones: writers add deletion vectors, "
                "and take up the position deletes of the same data file."
            )
        else:
            yield "Merge-on-read writes deletion vectors from then on, not position deletes."
        if "equality-deletes" in there:
            yield "Equality deletes stay valid, and may still be added."
        yield "Columns may have defaults, and types such as variant, timestamp_ns, geometry and unknown."
    if now < 4 <= version:
        yield (
            "Version 4 is not final. Iceberg Java 1.12 writes its manifests in Parquet; nobody may add equality "
            "deletes."
        )


def plan_upgrade(
    metadata: TableMetadata, features: Sequence[TableFeature], support: SupportTable, version: int, statement: str
) -> Upgrade:
    """Say what an upgrade changes, and which readers it locks out.

    Args:
        metadata: The table's.
        features: The features that the table uses now.
        support: What is known of readers.
        version: The format version to upgrade to; higher than the table's.
        statement: The statement that does it.
    """
    after = upgraded_features(metadata, features, version)
    then = judge(after, support)
    moves = {(old.reader, old.answer, new.answer) for old, new in zip(judge(features, support), then, strict=True)}

    def moved(before: ReaderAnswer, *afterwards: ReaderAnswer) -> tuple[ReaderVersion, ...]:
        return tuple(one for one in support if any((one, before, answer) in moves for answer in afterwards))

    return Upgrade(
        version, statement, tuple(upgrade_changes(metadata, features, version)), tuple(after), tuple(then),
        moved("yes", "no", "wrong"), moved("unknown", "no", "wrong"), moved("yes", "unknown"),
        tuple(one for one in after if one not in features),
    )  # fmt: skip


# -- the answer --------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class TableReaders:
    """Who can read a table.

    Attributes:
        format_version: The table's.
        snapshot: The name of the snapshot that is read; empty for a table without one.
        features: The features that it uses.
        verdicts: Every reader.
        as_of: The newest date of what is known of readers.
        upgrade: What an upgrade changes, if that was asked.
        notes: What could not be read, so that there are at least these features, and what would let more readers in.
    """

    format_version: int
    snapshot: str
    features: tuple[TableFeature, ...]
    verdicts: tuple[ReaderVerdict, ...]
    as_of: str
    upgrade: Upgrade | None = None
    notes: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The answer in sentences."""
        return readers_sentence(self.verdicts)


def readers_sentence(verdicts: Sequence[ReaderVerdict]) -> str:
    """Say who can read a table."""
    by_answer: dict[ReaderAnswer, list[ReaderVerdict]] = {"yes": [], "no": [], "wrong": [], "unknown": []}
    for verdict in verdicts:
        by_answer[verdict.answer].append(verdict)
    can = join_names(verdict.reader.name for verdict in by_answer["yes"])
    none = "No reader is known that can read the table"
    if 0 < len(by_answer["unknown"]) < len(verdicts):
        none = "Of the readers that were asked, none can read the table"
    parts = [f"{can} can read the table" if can else none]
    for answer, (one, several) in CANNOT.items():
        groups: dict[str, list[str]] = {}
        for verdict in by_answer[answer]:
            groups.setdefault(reason(verdict), []).append(verdict.reader.name)
        for why, names in groups.items():
            parts.append(f"{join_names(names)} {several if len(names) > 1 else one}, because of {why}")
    if unknown := by_answer["unknown"]:
        asked = "" if can or len(unknown) < len(verdicts) else ", as none was asked"
        parts.append(f"It is not known of {join_names(verdict.reader.name for verdict in unknown)}{asked}")
    return f"{'. '.join(parts)}."


def reason(verdict: ReaderVerdict) -> str:
    """Name the features that decide."""
    titles = [feature.title for feature in verdict.because]
    more = f" and {len(titles) - LONG_REASON} more" if len(titles) > LONG_REASON else ""
    return f"{', '.join(titles[:LONG_REASON])}{more}"


def refuses(cells: Mapping[str, Support], feature: str) -> bool:
    """Return whether a reader is known to refuse a feature, or to misread it.

    Args:
        cells: What is known of the reader, by feature.
        feature: The feature.
    """
    return cells.get(feature, UNKNOWN).reads in ("no", "wrong")


def join_names(names: Any) -> str:
    """Join names as a sentence does."""
    *first, last = [*names] or [""]
    return f"{', '.join(first)} and {last}" if first else last


def parse_support(files: Sequence[Mapping[str, Any]]) -> SupportTable:
    """Read the data files: readers, and cells by reader and feature. A cell of an earlier file wins.

    Args:
        files: The JSON of each file: `readers`, and `cells` with reads, source, date and words.
    """
    support: dict[ReaderVersion, dict[str, Support]] = {}
    by_id: dict[str, ReaderVersion] = {}
    for file in files:
        for raw in file["readers"]:
            reader = by_id.setdefault(raw["id"], ReaderVersion(raw["id"], raw["name"], raw["version"]))
            known = support.setdefault(reader, {})
            for feature, cell in raw["cells"].items():
                source, date = cell.get("source", raw.get("source", "")), cell.get("date", raw.get("date", ""))
                own = Support(cell["reads"], source, date, cell.get("words", ""), bool(file.get("is_tried")))
                known.setdefault(feature, own)
    return support
