"""What a rule found: where, the two things that contradict each other, who is affected, and what would help."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from explorer.errors import NotFoundInTable
from explorer.model.manifest import ManifestFile
from explorer.model.metadata import TableMetadata
from explorer.spec.doctor.lost_metadata import LostSchema, find_lost_schema, loss_words
from explorer.spec.doctor.missing_files import MissingFile
from explorer.spec.doctor.remedies import (
    GOES_BACK,
    LostFiles,
    Situation,
    complains,
    keeps_from_loading,
    remedy,
    unless_not_loaded,
)
from explorer.spec.doctor.remedy_cases import ADDS_ROWS, CASES, HAS_LOST_SCHEMA, HIVE_NULL, NOT_SEEN
from explorer.spec.doctor.remedy_texts import LETTER_OF_CASE, MISREAD_BY, REMEDY_OF, Remedy
from explorer.spec.doctor.rules import BY_ID, EXIT_CODES, RULES, Depth, Level, Rule, Severity
from explorer.spec.entries.entries import NO_LIVE
from explorer.spec.secrets.redaction import redact
from explorer.spec.snapshots.lineage import ancestry

ORDER: Sequence[Severity] = ("fatal", "error", "warning", "info")
OF_MANY = {"readers-differ": "docs/readers.md"}
"""Rules whose findings have causes of their own, and where these are told of."""
LIVE_COUNTS = ("added_files_count", "existing_files_count")
"""What a manifest list counts of a manifest's live files."""
_REPOSITORY = re.compile(r"[\w./-]*")
Refused = Literal["", "table", "scan", "part"]
NodeKind = Literal["metadata", "snapshot", "ref", "manifest_list", "manifest", "file", "statistics"]


@dataclass(frozen=True)
class Finding:
    """`file` is the file concerned, as the metadata names it, `read_at` where that was looked for if the table has been
    moved, `location` a JSON pointer, record or byte in it. `found` stands there, `expected` is what contradicts it, in
    words that say whence; either may be None. `snapshots` and `refs` are those that are affected. `count` is how many
    cases this one stands for: `examples` are some of them. `node` is what the graph draws of it: a kind, and a
    snapshot's id, a ref's name or a path. `refused` says what Spark 4.1 with Iceberg Java 1.12 cannot do for it: open
    the `table`, `scan` the snapshots, or run some queries on them (`part`). `columns` are those that it is about.
    `members` are the findings that it stands for when it stands for several, `explains` those that follow from it."""

    rule: str
    severity: Severity
    what: str
    file: str
    location: str = ""
    found: Any = None
    expected: Any = None
    snapshots: tuple[int, ...] = ()
    refs: tuple[str, ...] = ()
    remedy: str = ""
    count: int = 1
    examples: tuple[str, ...] = ()
    node: tuple[NodeKind, int | str] | None = None
    read_at: str = ""
    refused: Refused = ""
    columns: tuple[str, ...] = ()
    members: tuple[Finding, ...] = ()
    explains: tuple[Finding, ...] = ()

    @property
    def source(self) -> str:
        """The section of the spec, or the issues, that tell of it: those that its words name, if any."""
        return ", ".join(dict.fromkeys(_issues(self.what))) or OF_MANY.get(self.rule, self.about.source)

    @property
    def about(self) -> Rule:
        """The rule that found it."""
        return BY_ID[self.rule]


def _issues(text: str) -> Iterator[str]:
    """The issues that a text names, such as apache/iceberg#15069."""
    for word in text.split():
        repository, mark, number = word.strip("()[],.;:'\"").rpartition("#")
        if mark and number.isdecimal() and _REPOSITORY.fullmatch(repository):
            yield f"{repository}#{number}"


def finding(rule: str, what: str, file: str, location: str = "", **more: Any) -> Finding:
    """A finding of a rule, with the rule's severity."""
    return Finding(rule, more.pop("severity", BY_ID[rule].severity), redact(what), file, location, **more)


@dataclass(frozen=True)
class Report:
    """What the doctor found in one table, the worst first. `checked` says what was looked at, in numbers; `not_checked`
    what was not, and why; `rules_left_out` which rules were not asked, by their ids, and why. `metadata_file` is the
    file that was read, or that cannot be read."""

    table: str
    findings: tuple[Finding, ...]
    checked: Mapping[str, int]
    not_checked: tuple[str, ...] = ()
    rules_left_out: Mapping[str, str] = field(default_factory=dict)
    metadata_file: str = ""

    @property
    def worst(self) -> Severity | None:
        """The highest severity; None where nothing was found."""
        return self.findings[0].severity if self.findings else None

    @property
    def level(self) -> Level:
        """How good it is: of what was checked the worst, else whether all could be."""
        if self.worst in ("fatal", "error"):
            return "error"
        return "warning" if self.worst == "warning" else "incomplete" if self.not_checked else "ok"

    @property
    def exit_code(self) -> int:
        """What the command exits with."""
        return EXIT_CODES[self.level]


def remedy_case(cause: Finding) -> str:
    """Return the rule, or case of a rule, whose remedy helps against a finding: of one that explains others, theirs may
    be the only one.

    Args:
        cause: The finding.
    """
    explained = {f.rule for f in cause.explains}
    if cause.rule == "metrics-wrong" and "file-missing" in explained:
        return "file-size"
    if cause.rule == "metrics-wrong" and "record-count" in explained:
        return "record-count"
    if cause.rule == "file-missing" and "record-count" in explained:
        return "file-replaced"
    if cause.rule == "metrics-wrong" and cause.columns == ("file_path",):
        return "position-bounds"
    if cause.rule == "avro-schema" and cause.refused:
        return "avro-refused"
    if cause.rule == "current-schema-missing" and _lost_schema([cause]):
        return "schema-in-header"
    key = next(
        (case for (rule, words), case in CASES.items() if rule == cause.rule and words in cause.what), cause.rule
    )
    is_loaded = cause.severity in ("info", "warning") and not cause.refused
    cannot_load = (LETTER_OF_CASE.get(key) or REMEDY_OF.get(key)) == "M" and is_loaded
    return "loads-anyway" if cannot_load and not keeps_from_loading(cause.rule, cause.location) else key


UNCLEAR = (
    "A name in this table repeats words by which the doctor tells findings of this rule apart, so it gives no advice. "
    "Rename it, or ask a person who knows the table."
)


def _repeated_words(metadata: TableMetadata | None) -> frozenset[str]:
    """Words of CASES that stand in a name of the table: they may be its author's in what was found, and not ours."""
    if metadata is None:
        return frozenset()
    columns = (field.name for schema in metadata.schemas for field in schema.by_id.values())
    fields = (field.name for spec in metadata.partition_specs for field in spec.fields)
    names = "\n".join([*(ref.name for ref in metadata.refs), *columns, *fields, *metadata.properties])
    return frozenset(words for _, words in CASES if words in names)


def _is_unclear(finding: Finding, repeated: frozenset[str]) -> bool:
    """Whether words that choose a finding's advice may be the table's author's."""
    paths = [finding.file, *finding.examples]
    return any(
        words in repeated or (words != HIVE_NULL and any(words in path for path in paths))
        for rule, words in CASES
        if rule == finding.rule
    )


def _letter(finding: Finding) -> Remedy | None:
    """The remedy of a finding's rule, or of its case."""
    case = remedy_case(finding)
    return LETTER_OF_CASE.get(case) or REMEDY_OF.get(case) or REMEDY_OF.get(finding.rule)


def _lost_schema(findings: Iterable[Finding]) -> LostSchema | None:
    """The current schema, where it is missing and a manifest has it."""
    effects = [e for f in findings if f.rule == "current-schema-missing" for e in f.explains]
    held = [(effect.found, effect.file) for effect in effects if HAS_LOST_SCHEMA in effect.what]
    return find_lost_schema(held) if all(isinstance(text, str) for text, _ in held) else None


@dataclass(frozen=True)
class RuleChoice:
    """Rules that are not asked, and severities that are another than the rule's."""

    skip: frozenset[str] = frozenset()
    severity: Mapping[str, Severity] | None = None

    @classmethod
    def of(cls, skip: Iterable[str] = (), severity: Mapping[str, str] | None = None) -> RuleChoice:
        """By id or number. Raises NotFoundInTable for a rule or severity that there is none of."""
        levels: dict[str, Severity] = {}
        for name, level in (severity or {}).items():
            if level not in ORDER:
                raise NotFoundInTable(f"no severity {level!r}: there are {', '.join(ORDER)}")
            levels |= {rule.id: level for rule in _rules_by_name(name)}  # type: ignore[dict-item, misc]
        return cls(frozenset(rule.id for name in skip for rule in _rules_by_name(name)), levels)

    def rules_left_out(self, depth: Depth) -> dict[str, str]:
        """Return the rules that are not asked at a depth, by their ids, and why."""
        deeper = {"quick": ("files", "deep"), "files": ("deep",), "deep": ()}[depth]
        return {
            rule.id: "left out by --skip" if rule.id in self.skip else f"needs --{rule.depth}"
            for rule in RULES
            if rule.id in self.skip or rule.depth in deeper
        }

    def choose_findings(
        self,
        findings: Iterable[Finding],
        table: str,
        metadata: TableMetadata | None,
        listed: Sequence[ManifestFile] = (),
        previous: TableMetadata | None = None,
        lost_files: LostFiles | None = None,
        deep: bool = False,
        doubts: Mapping[str, tuple[int, str]] | None = None,
        missing: Mapping[str, MissingFile] | None = None,
        has_columns: bool = False,
    ) -> tuple[Finding, ...]:
        """The findings that are asked for, with the refs that they affect and what would help, the worst first.
        `listed` are the current snapshot's manifests, `previous` is the newest older metadata file without the faults
        of this one, `lost_files`, `doubts`, `missing` and `has_columns` as remedies.Situation has them. `deep`: data
        files were opened."""
        kept = [f for f in findings if f.rule not in self.skip]
        levels = self.severity or {}
        bad = [f for f in kept if f.severity in ("fatal", "error") or _letter(f) in GOES_BACK or NO_LIVE in f.what]
        hurt = {i for f in bad for i in f.snapshots}
        now = metadata.current_snapshot_id if metadata else None
        lost_schema = _lost_schema(kept)
        situation = Situation(
            table, metadata, _whole_ancestor(metadata, hurt),
            frozenset(remedy_case(f) for f in kept if f.severity != "info" and (not f.snapshots or now in f.snapshots)),
            frozenset(f.rule for f in kept if f.refused == "table" or keeps_from_loading(f.rule, f.location)),
            frozenset(f.rule for f in kept), listed, previous.metadata_location if previous else "",
            previous is not None and complains(previous), lost_files,
            _misread(kept, now), deep, doubts,
            loss_words(previous, metadata, lost_schema) if previous and metadata else "", lost_schema, missing,
            frozenset(i for f in kept for one in (f, *f.members, *f.explains) if ADDS_ROWS in one.what
                      for i in one.snapshots),
            uncounted_paths(kept, now), has_columns,
        )  # fmt: skip
        refs = _Refs(metadata)
        kept = [replace(f, remedy=unless_not_loaded(f.remedy, f.rule, situation)) for f in kept]
        repeated = _repeated_words(metadata)
        kept = [replace(f, remedy=UNCLEAR) if _is_unclear(f, repeated) else f for f in kept]
        complete = [
            replace(
                f, severity=levels.get(f.rule, f.severity), refs=f.refs or refs.of(f.snapshots),
                remedy=f.remedy or remedy(remedy_case(f), situation, f.snapshots, f.file, f.node, f.location,
                                          f.columns, f.what, _named_files(f)),
            )
            for f in kept
        ]  # fmt: skip
        return tuple(sorted(complete, key=lambda f: (ORDER.index(f.severity), f.about.number)))


def uncounted_paths(findings: Iterable[Finding], now: int | None) -> tuple[str, ...] | None:
    """Return the live data files of the current snapshot in whose manifests its own list counts none; None where not
    all are known.

    Args:
        findings: What was found.
        now: The current snapshot's id.
    """
    alike = [one for f in findings for one in (f.members or (f,)) if NO_LIVE in one.what and now in one.snapshots]
    files = {path: None for one in alike for path in one.examples if NOT_SEEN in one.what}
    number = sum(sum(v for k, v in one.expected.items() if k in LIVE_COUNTS) for one in alike if NOT_SEEN in one.what)
    is_cut = any(f.count > len(f.members or (f,)) for f in findings if NO_LIVE in f.what)
    return None if is_cut or len(files) < number else tuple(files)


def _named_files(finding: Finding) -> tuple[str, ...]:
    """The files that a finding is about: all of those that are missing, of others the first."""
    if finding.rule != "file-missing":
        return finding.examples
    return tuple(dict.fromkeys(n for m in finding.members for n in m.examples or (m.file,))) or finding.examples


def _rules_by_name(name: str) -> list[Rule]:
    rules = [rule for rule in RULES if name in (rule.id, str(rule.number))]
    if not rules:
        raise NotFoundInTable(f"no rule {name!r}; icedive docs doctor lists them")
    return rules


def _misread(findings: Iterable[Finding], current: int | None) -> tuple[str, ...]:
    """The rules by which Spark takes values of the current snapshot's files for others, or cannot write them anew."""
    rules = {f.rule for f in findings if f.rule in MISREAD_BY and f.severity == "error" and current in f.snapshots}
    return tuple(sorted(rules))


class _Refs:
    """The refs of a table by the snapshot that they name. Findings about the same snapshots share their names."""

    def __init__(self, metadata: TableMetadata | None) -> None:
        self._names = defaultdict[int | None, list[str]](list)
        for ref in metadata.refs if metadata else ():
            self._names[ref.snapshot_id].append(ref.name)
        self._of: dict[tuple[int, ...], tuple[str, ...]] = {}

    def of(self, snapshots: tuple[int, ...]) -> tuple[str, ...]:
        """The names of the refs that name one of these snapshots."""
        if snapshots not in self._of:
            self._of[snapshots] = tuple(sorted(name for i in set(snapshots) for name in self._names.get(i, ())))
        return self._of[snapshots]


def _whole_ancestor(metadata: TableMetadata | None, hurt: set[int]) -> int | None:
    """The newest ancestor of the current snapshot that nothing is wrong with, if that is not itself."""
    if metadata is None or metadata.current_snapshot_id not in hurt:
        return None
    return next((i for i in ancestry(metadata, metadata.current_snapshot_id) if i not in hurt), None)
