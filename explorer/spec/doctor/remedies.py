"""What helps against what each rule finds: tests/spark/test_remedies.py runs every statement in Spark."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.model.manifest import ManifestFile
from explorer.model.metadata import Snapshot, TableMetadata
from explorer.spec.doctor.insert_by_path import COMMITS, FIRST, keeping_insert, rewriting_by_path
from explorer.spec.doctor.lost_metadata import LostSchema, copy_with_uuid, mended_copy
from explorer.spec.doctor.missing_files import MissingFile, removal_words
from explorer.spec.doctor.remedy_cases import BY_AGE
from explorer.spec.doctor.remedy_parts import (
    FindingSubject,
    add_files_statements,
    commit_recovery,
    fitting_statement,
    one_slash_statements,
    statistics_renewal,
    value_corrections,
    void_removal,
)
from explorer.spec.doctor.remedy_texts import (
    LETTER_OF_CASE,
    MISREAD,
    READS_ROWS,
    REMEDY_OF,
    STATIC,
    TEXTS,
    TEXTS_OF,
    UNOPENED,
    Remedy,
)
from explorer.spec.maintenance.manifest_merges import rewrite_manifests
from explorer.spec.schemas.partition_names import refusal_of_entries
from explorer.spec.snapshots.branches import MAIN, NAMED, branches_at
from explorer.spec.snapshots.lineage import ancestry
from explorer.spec.snapshots.refs import free_ref_name
from explorer.spec.snapshots.retention import gc_refusal, is_of_nessie
from explorer.spec.text.names import NOWHERE, base_name, beside, file_in_sql, first_of, in_sql, path_in_sql, text_in_sql
from explorer.spec.text.units import count, parse_int64, whole

GOES_BACK = ("G", "L", "F", "T")
"""Remedies that lead to an older snapshot."""
REWRITES = ("R", "B", "C")
"""Remedies that read all that the current snapshot lists."""
WRITES_DATA = ("R", "C", "O", "T", "Q")
"""Remedies that write rows anew as Spark reads them."""
REMOVES_FILES = ("expire_snapshots", "remove_orphan_files")
"""Procedures that Iceberg refuses where gc.enabled is false."""
TO_BE_OPENED: Mapping[str, str] = {
    "partition-value": "Run doctor --deep: it opens the files, and says which of the two is wrong.",
    "identity-value": "Run doctor --deep: it opens the files, and says which is wrong: the files, the partition "
    "value, or the bounds alone.",
    "maybe-padded": "Run doctor --deep: it opens the files, and says whether their values end so too.",
    "value-suspect": "Run doctor --deep: it opens the files, and says whether the rows have these times, or the "
    "bounds alone.",
}
"""By rule, or case of one: what to do about a finding on entries whose bounds or counts may be wrong instead, as the
files tell."""
DROPS_OLD_DELETES = ("R", "O", "T")
"""Remedies whose commits drop deletes that are older than all data files."""
COUNTED = ("metrics-wrong", "record-count")
"""Rules about counts and bounds of columns, and of rows."""
OF_SIZES = "column sizes"
"""In the words of a finding about sizes, which nobody answers from."""
WRONG_COUNTS = (
    "number of nulls",
    "number of NaN",
    "are more than its values",
    "count is below 0",
    "number of values",
    "filters go by the counts",
)
"""In the words of findings about counts of a column's values, nulls and NaN."""
WRONG_BOUNDS = ("filters skip", "a bound of a text")
"""In the words of findings about bounds by which files are skipped."""
FILTERS_BY_COUNTS = (
    "filters go by the counts, too, and so miss rows. IS NULL skips a file with 0 nulls, = double('NaN') one with 0 "
    "NaN. Other filters on the column skip a file that has nulls alone, or NaN alone"
)
FILTERS_BY_BOUNDS = "filters on the column go by it, too: they skip the file, and so miss its rows"
OF_POSITIONS = ("position-deletes-v3", "delete-names-nothing")
"""Rules that are about position delete files alone."""
UNKNOWN_DELETES = (
    "First see icedive maintain preview TABLE dangling-deletes: what writes delete files anew drops those that apply "
    "to nothing, and these may be needed."
)
"""Where it is not known whether deletes that apply to nothing may be needed."""
COMPLAINS = (
    "Spark reports an error after it made the table, since the snapshot's summary lacks total-data-files or "
    "total-records: look whether the table is there. "
)
OLDEST = (
    "What is lost is older than all that is left, as where the store removes files by their age (a lifecycle rule): "
    "end that first. "
)
OF_WHAT_IS_READ = ("header-schema", "old-manifest", "nan-order")
"""Cases with advice on the current snapshot's files, though their letters have none."""
NO_LIVE_CASE = "no-live-counted"
"""The case of a list that counts no live file in a manifest that has some."""
MAX_FILES = 20
"""Files that a remedy names."""
ALWAYS = ("M", "V", "I", "N", "P", "W", "Z", "X", "Y", "H")
"""Remedies without a statement on the table as it is."""
ON_TABLE = re.compile(r"CALL \S+\.system\.(?!register_table)|ALTER TABLE|maintain preview|rewrite_data_files with")
"""In the text of a remedy that leads to a statement on the table as it is."""
NOT_LOADED = frozenset(
    {
        "current-schema-missing", "default-missing", "snapshot-twice", "current-unlike-main",
        "ref-dangling", "id-beyond-64-bits",
    }
)  # fmt: skip
"""Rules whose findings keep Iceberg from loading the table: no statement on it runs."""
NOT_EXPIRED = frozenset({"manifest-list-missing", "manifest-missing", "parent-cycle"})
"""Rules whose findings on any snapshot make an expiry fail, or never end."""
NOT_REWRITTEN = frozenset(
    {
        "manifest-list-missing", "manifest-missing", "manifest-twice", "spec-unknown", "manifest-content",
        "null-sequence", "file-twice", "file-missing", "two-vectors", "vector-wrong", "delete-partition",
        "equality-id-unknown", "entry-invalid", "partition-field-conflict",
    }
)  # fmt: skip
"""Rules whose findings on the current snapshot make rewriting it fail."""


@dataclass(frozen=True)
class LostFiles:
    """Data files that the lost manifests of the current snapshot may have named.

    Attributes:
        files: Those in the table's folder that no manifest names which is left.
        fits: Whether they are as many, with as many rows, as the manifest list says of the lost manifests, in a table
            without deletes or partitions.
        lost: The snapshots of which all that they added is lost.
        whole: The snapshots of which nothing that they added is lost.
        left: The data files of the current snapshot's other manifests; empty where they are too many to be named.
        is_oldest: Whether all lost manifests are older than all others.
    """

    files: tuple[str, ...]
    fits: bool
    lost: frozenset[int | None]
    whole: frozenset[int | None]
    left: tuple[str, ...] = ()
    is_oldest: bool = False


@dataclass(frozen=True)
class Situation:
    """What a remedy depends on beside its rule.

    Attributes:
        table: The table's name, with its catalog.
        metadata: None for a table that cannot be opened.
        whole: The newest ancestor of the current snapshot in which nothing is wrong.
        rules: The rules that found something worse than info in the current snapshot or in the metadata file.
        not_loaded: The rules that found what keeps Iceberg from loading the table.
        anywhere: The rules that found something in any snapshot or in the metadata file.
        listed: The current snapshot's manifests.
        previous: The newest older metadata file that Iceberg loads, without the faults of this one.
        complains: Whether register_table reports an error after it made a table of that file.
        lost_files: The data files of lost manifests, where some are found.
        misread: The rules by which Spark takes values of the current snapshot's files for others, or cannot write them
            anew.
        opened: Whether data files were opened.
        loss: What going back to that file loses, as a sentence.
        lost_schema: The current schema, where only a manifest has it.
        doubts: Of the current snapshot's deletes that apply to nothing and may be needed, by their kind, how many there
            are and why, of the first of them; None where it is not known.
        missing: What metadata tells of the files that are missing; None where nobody looked for files.
        adding: The snapshots that call themselves replaces, and added rows by their manifests.
        uncounted: The live data files of the current snapshot in whose manifests its list counts none; None where not
            all are known.
        has_columns: Whether these files have the columns of the table, by name and field id.
    """

    table: str
    metadata: TableMetadata | None = None
    whole: int | None = None
    rules: frozenset[str] = frozenset()
    not_loaded: frozenset[str] = frozenset()
    anywhere: frozenset[str] = frozenset()
    listed: Sequence[ManifestFile] = ()
    previous: str = ""
    complains: bool = False
    lost_files: LostFiles | None = None
    misread: tuple[str, ...] = ()
    opened: bool = False
    doubts: Mapping[str, tuple[int, str]] | None = None
    loss: str = ""
    lost_schema: LostSchema | None = None
    missing: Mapping[str, MissingFile] | None = None
    adding: frozenset[int] = frozenset()
    uncounted: tuple[str, ...] | None = ()
    has_columns: bool = False


def remedy(
    rule: str, situation: Situation, snapshots: Sequence[int] = (), file: str = "", node: Any = None,
    location: str = "", columns: Sequence[str] = (), what: str = "", examples: Sequence[str] = (),
) -> str:  # fmt: skip
    """Say what helps against one finding, on this table.

    Args:
        rule: The rule's id.
        situation: The table's.
        snapshots: The snapshots that have the fault.
        file: The file concerned.
        node: What the graph draws of it: a kind, and an id or path.
        location: Where the fault is in the file, as a JSON pointer or record.
        columns: The columns, or partition fields, that it is about.
        what: What was found, in words.
        examples: The first of the files that it is about.

    Returns:
        Sentences, with statements that can be executed as they are.
    """
    metadata, letter = situation.metadata, _letter(rule, situation, file, node, location, snapshots)
    if not situation.opened and rule in TO_BE_OPENED and node and node[0] == "manifest":
        return TO_BE_OPENED[rule]
    blocked = _blocker(rule, letter, situation)
    if blocked:
        return f"First mend {blocked}: until then Iceberg fails on this table."
    current = metadata.current_snapshot_id if metadata else None
    is_of_now = letter in (*GOES_BACK, *REWRITES, "O", "Q") or rule in OF_WHAT_IS_READ
    if is_of_now and snapshots and current not in snapshots:
        return _older(letter)
    catalog, name = in_sql(situation.table)
    key = location.removeprefix("/properties/") if location.startswith("/properties/") else ""
    if key and not (key := path_in_sql(key)):  # no strange name becomes a part of SQL
        (catalog, name), key = NOWHERE, "name"
    fault = (
        FindingSubject(rule, metadata, catalog, name, file, node, columns, situation.missing, situation.whole)
        if metadata
        else None
    )
    writes = (letter in WRITES_DATA and rule not in OF_POSITIONS) or rule == "wrapped-partition"
    if writes and (misread := [other for other in situation.misread if other != rule]):
        return MISREAD.format(", ".join(misread))
    if letter == "C" and rule != "position-bounds" and (kept := _reason_to_keep_deletes(rule, situation)):
        return kept
    anew = _anew(situation, catalog, name) if rule == "manifest-missing" else ""
    text = (TEXTS_OF[rule] if letter != "M" and rule in TEXTS_OF else TEXTS[letter]).format(
        catalog=catalog, name=text_in_sql(name), table=f"{catalog}.{name}", key=key,
        back=(back := anew or _back(situation, catalog, name)),
        by_path=rewriting_by_path(_first_file(node, examples), metadata, situation.listed, f"{catalog}.{name}")
        if metadata and rule == "identity-value" else "",
        snapshot=snapshots[0] if snapshots else "",
        tag=free_ref_name(metadata, "before_the_log") if metadata else "",
        or_back="" if situation.whole is None else f" Or else: {back}",
        previous=previous_words(situation.previous, catalog, name, situation.complains, situation.loss),
        mended=_mended(rule, situation, catalog, name),
        else_back=f" Going back to {base_name(situation.previous)}, an older metadata file, loses more. "
        f"{situation.loss}" if situation.loss else "",
        alone="" if rule != "file-missing" or _is_of_deletes(situation, file, node, location)
        else _alone(situation, examples or (file,), f"{catalog}.{name}"),
        kept=_kept(situation) if rule == "file-missing" else "",
        distinct=_distinct(situation, f"{catalog}.{name}"),
        one_slash=one_slash_statements(fault) if fault and rule == "empty-segment" else "",
        dangling=", 'remove-dangling-deletes', 'true'" if any(m.content for m in situation.listed) else "",
        fields="partition field" if rule == "last-partition-id-low" else "column",
        renewed=statistics_renewal(fault, rule == "statistics-stale", location) if fault and letter == "S" else "",
        fitted=fitting_statement(fault) if fault and letter == "J" else "",
        corrected=value_corrections(fault) if fault and letter == "Q" else "",
        void_first=void_removal(fault, ", then ") if fault and rule == "dropped-source" else "",
        regained=commit_recovery(fault) if fault and letter == "A" else "",
        added=ADDED_AFTER if anew or situation.whole is not None else ADDED_ELSEWHERE,
        again=_again(situation, catalog, name) if rule == "manifest-missing" and not anew else "",
        of_branch=_of_branch(metadata, snapshots) if rule == NO_LIVE_CASE else "",
        inserted=keeping_insert(situation.uncounted, metadata, situation.listed, f"{catalog}.{name}",
                                situation.opened and not situation.misread, situation.has_columns)
        if metadata and rule == NO_LIVE_CASE and current in snapshots else "",
    )  # fmt: skip
    if rule == "sequence-above-last" and letter == "M" and metadata:
        text += _raised(metadata, situation)
    if rule == "file-missing" and BY_AGE in what:
        text = f"If it was {BY_AGE} (a lifecycle rule), end that first: the next oldest files are next. {text}"
    is_of_letter = rule not in TEXTS_OF or rule == "empty-segment"
    text += _deletes_at_risk(situation) if letter in DROPS_OLD_DELETES and is_of_letter else ""
    text += _answered_wrong(rule, situation, columns, what, _is_of_deletes(situation, file, node, location))
    text = _first_go_back(text, letter, situation)
    text = _first_allow_removal(text, metadata, f"{catalog}.{name}") if metadata else text
    if rule != NO_LIVE_CASE and NO_LIVE_CASE in situation.rules and COMMITS.search(text):
        return FIRST
    return UNOPENED + text if writes and not situation.opened else text


ADDED_AFTER = "once the table can be read again, add_files brings their rows back."
ADDED_ELSEWHERE = (
    "add_files brings their rows back in a new table. On this one it fails, since it reads the current snapshot first."
)
"""How rows are got back of files that nothing names."""


def _raised(metadata: TableMetadata, situation: Situation) -> str:
    """Say how last-sequence-number is raised, where Iceberg then reads all rows as they are: no delete may go by a
    number that went back, and no number is below 0."""
    numbers = [snapshot.sequence_number for snapshot in metadata.snapshots]
    if metadata.format_version < 2 or not numbers or min(numbers) < 0 or any(m.content for m in situation.listed):
        return ""
    return (
        " To lose nothing, register instead a copy of the current metadata file in which last-sequence-number is "
        f"{max(numbers)}: icedive docs broken-tables tells how."
    )


def _of_branch(metadata: TableMetadata | None, snapshots: Sequence[int]) -> str:
    """Of which branches writers lose rows; empty where those of main do."""
    branches = branches_at(metadata, snapshots) if metadata else [MAIN]
    return "" if MAIN in branches or not branches else f" of branch {first_of(branches, NAMED)}"


def _first_go_back(text: str, letter: Remedy, situation: Situation) -> str:
    """A remedy that expires snapshots, where another one leads back to a snapshot that this may take away."""
    whole = situation.whole
    if whole is None or letter in GOES_BACK or ".system.expire_snapshots(" not in text:
        return text
    if "snapshot_ids =>" in text and f"array({whole}L)" not in text:
        return text
    if not any((LETTER_OF_CASE.get(rule) or REMEDY_OF.get(rule)) in GOES_BACK for rule in situation.rules):
        return text
    return f"First mend what leads back to snapshot {whole}: this may take that snapshot away. {text}"


def _first_allow_removal(text: str, metadata: TableMetadata, table: str) -> str:
    """A remedy that removes files, where the table's properties forbid it: then Iceberg refuses each such procedure."""
    if not (refusal := gc_refusal(metadata)) or not any(f".system.{name}(" in text for name in REMOVES_FILES):
        return text
    if is_of_nessie(metadata):
        return f"Iceberg refuses the statement of this remedy now: {refusal}. {text}"
    return (
        f"Iceberg refuses this now: {refusal}. Where that is not so, first ALTER TABLE {table} SET TBLPROPERTIES "
        f"('gc.enabled'='true'). {text}"
    )


def unless_not_loaded(text: str, rule: str, situation: Situation) -> str:
    """Return a remedy that was made without knowing what else is wrong, or what has to be mended before: no statement
    runs on a table that Iceberg cannot load.

    Args:
        text: The remedy.
        rule: The rule whose finding it is of.
        situation: The table's.
    """
    others = ", ".join(sorted(situation.not_loaded - {rule}))
    return f"First mend {others}: until then Iceberg fails on this table." if others and ON_TABLE.search(text) else text


def keeps_from_loading(rule: str, location: str) -> bool:
    """Return whether a finding keeps Iceberg from loading the table.

    Args:
        rule: The finding's rule.
        location: Where the fault is in the metadata file, as a JSON pointer.
    """
    if rule == "snapshot-twice" and ")/" in location:  # a field of a snapshot was another one in the file before
        return False
    if rule == "ref-dangling" and location.startswith("/refs ("):  # a ref that the file before had
        return False
    times = rule == "time-out-of-order" and location.startswith(("/last-updated-ms", "/snapshot-log"))
    return times or rule in NOT_LOADED


def may_be_needed(number: int, reason: str) -> str:
    """Say why deletes that apply to nothing are not to be dropped.

    Args:
        number: How many of them may be needed.
        reason: Why, of the first of them.

    Returns:
        Sentences.
    """
    return (
        f"Do not drop them before you know: {number:,} of them may have been meant for rows that are "
        f"there ({reason}). icedive data history TABLE FILTER tells of a row; the writer has to delete it again."
    )


def _reason_to_keep_deletes(rule: str, situation: Situation) -> str:
    """Why the delete files that a finding is about are not to be written anew; empty where what is dropped with them
    hides nothing that somebody may have meant."""
    doubts = situation.doubts
    if doubts is None:
        return "" if rule in OF_POSITIONS else UNKNOWN_DELETES
    kinds = ("position_deletes",) if rule in OF_POSITIONS else tuple(doubts)
    some = [doubts[kind] for kind in kinds if kind in doubts]
    return may_be_needed(sum(number for number, _ in some), some[0][1]) if some else ""


def _deletes_at_risk(situation: Situation) -> str:
    """Which deletes go with files that are rewritten, and may be needed, as a sentence."""
    some = list((situation.doubts or {}).values())
    if not some:
        return ""
    number = sum(number for number, _ in some)
    which = "a delete that applies" if number == 1 else f"{number:,} deletes that apply"
    return (
        f" Look first: {which} to nothing may have been meant for rows that are there ({some[0][1]}), and what is "
        "older than all data files goes with this. icedive inspect file TABLE PATH --show deletes shows what such a "
        "delete holds."
    )


def _answered_wrong(
    rule: str, situation: Situation, columns: Sequence[str], what: str, is_of_deletes: bool
) -> str:  # fmt: skip
    """Say which queries Spark answers wrong by what a finding is about, and what to do until it is mended, as
    sentences."""
    if rule not in COUNTED or situation.metadata is None:
        return ""
    aggregates = _answers_aggregates(situation.metadata, situation, columns, what)
    first = f" Until then Spark answers MIN, MAX and COUNT of the whole table by it. {READS_ROWS} reads the rows."
    skips = "" if is_of_deletes or rule != "metrics-wrong" else _skips(what)
    if not skips:
        return first if aggregates else ""
    if aggregates:
        return f"{first} That helps these aggregates alone: {skips}."
    return f" Until then {skips}."


def _answers_aggregates(metadata: TableMetadata, situation: Situation, columns: Sequence[str], what: str) -> bool:
    """Whether Spark answers aggregates from what is wrong: it does so where the snapshot has no deletes, of texts and
    bytes by their counts alone."""
    if OF_SIZES in what or any(m.content for m in situation.listed):
        return False
    schema = metadata.schema(metadata.current_schema_id)
    kinds = {str(field.type) for field in schema.fields if field.name in columns} if schema else set()
    return not ("bound" in what and kinds and kinds <= {"string", "binary"})


def _skips(what: str) -> str:
    """Say which filters skip a file by what is wrong (InclusiveMetricsEvaluator); empty where none does, or where
    Iceberg fails instead."""
    if any(words in what for words in WRONG_COUNTS):
        return FILTERS_BY_COUNTS
    return FILTERS_BY_BOUNDS if any(words in what for words in WRONG_BOUNDS) else ""


def takes_others(kind: str, number: int, reason: str) -> str:
    """Say why deletes that nobody needs are not dropped by remove-dangling-deletes.

    Args:
        kind: Theirs.
        number: How many deletes of the snapshot, of other kinds, may be needed.
        reason: Why, of the first of them.

    Returns:
        Sentences.
    """
    alone = " rewrite_position_delete_files drops position deletes alone." if kind == "position_deletes" else ""
    return (
        f"Do not run rewrite_data_files with remove-dangling-deletes before you know: it would drop {number:,} other "
        f"{'delete' if number == 1 else 'deletes'} too, which may have been meant for rows that are there ({reason})."
        f"{alone}"
    )


def complains(metadata: TableMetadata) -> bool:
    """Return whether register_table reports an error after it made a table of a metadata file: it parses two totals of
    the current snapshot (org.apache.iceberg.spark.procedures.RegisterTableProcedure)."""
    summary = metadata.current_snapshot.summary if metadata.current_snapshot else None
    return summary is not None and any(
        parse_int64(summary.get(name)) is None for name in ("total-data-files", "total-records")
    )


def _mended(rule: str, situation: Situation, catalog: str, name: str) -> str:
    """How a copy of the metadata file gets its schema back, or a UUID; empty for other rules."""
    metadata = situation.metadata
    if metadata is None or rule not in ("schema-in-header", "no-uuid"):
        return ""
    complaint = COMPLAINS if complains(metadata) else ""
    if rule == "no-uuid":
        return copy_with_uuid(metadata.metadata_location, catalog, name, complaint)
    return mended_copy(situation.lost_schema, metadata.metadata_location, catalog, name, complaint)


def previous_words(previous: str, catalog: str, name: str, complains: bool, loss: str = "") -> str:
    """Say how the metadata file before a broken one is brought back.

    Args:
        previous: That file; empty when there is none that can be read.
        catalog: The catalog's name in SQL.
        name: The table's name there.
        complains: Whether register_table reports an error after it made the table.
        loss: What that loses, as a sentence, where it is known.

    Returns:
        Sentences.
    """
    if not (path := path_in_sql(previous)):
        return "Restore the metadata file from a backup, or ask whoever wrote it."
    other = text_in_sql(beside(name, "restored"))
    return (
        f"Restore the metadata file from a backup, or go back to an older one: CALL {catalog}.system.register_table("
        f"table => '{other}', metadata_file => '{path}') makes a table of it under another name, without what was "
        "committed since (the old name is taken until the catalog's own tool removes the broken entry). "
        f"{f'{loss} ' if loss else ''}{COMPLAINS if complains else ''}Both have the same files: run neither "
        "expire_snapshots nor remove_orphan_files while there are two."
    )


def _first_file(node: Any, examples: Sequence[str]) -> str:
    """The first file that a finding is about; empty where there is none."""
    return node[1] if node and node[0] == "file" else next(iter(examples), "")


def _letter(
    rule: str, situation: Situation, file: str, node: Any, location: str, snapshots: Sequence[int]
) -> Remedy:  # fmt: skip
    """The remedy of a rule, or of a case of one, for this table."""
    letter, metadata = LETTER_OF_CASE.get(rule) or REMEDY_OF[rule], situation.metadata
    if metadata is None:
        return letter
    if rule == "sequence-above-last" and file == metadata.metadata_location:
        return "M"
    if rule == "time-out-of-order" and keeps_from_loading(rule, location):
        return "M"
    if rule == "partition-source-dropped" and location == f"/partition-specs ({metadata.default_spec_id})":
        return "M"
    if rule == "totals-differ" and not (metadata.current_snapshot_id in snapshots and "/total-" in location):
        return "E"  # later snapshots do not count on from it
    if rule == "partition-value" and any(f.transform == "identity" for s in metadata.partition_specs for f in s.fields):
        return "G"  # Spark takes the value from the metadata, not from the data
    if letter == "B" and not _is_rewritten(situation, node):
        letter = "R"
    if letter in ("R", "O") and _is_of_deletes(situation, file, node, location):
        vectors = metadata.format_version > 2 and rule == "manifest-counts"  # Iceberg keeps a manifest of vectors then
        return "G" if vectors else "C"
    return letter


def _is_of_deletes(situation: Situation, file: str, node: Any, location: str) -> bool:
    """Whether a finding is about a delete manifest of the current snapshot, or about a file that one names."""
    manifests = {m.manifest_path for m in situation.listed if m.content}
    return not manifests.isdisjoint((file, node[1] if node else "", location.removeprefix("named in ")))


def _is_rewritten(situation: Situation, node: Any) -> bool:
    """Whether rewrite_manifests writes a manifest anew; of other nodes, whether it does so with all manifests."""
    metadata = situation.metadata
    assert metadata is not None
    if refusal_of_entries(metadata, {m.partition_spec_id for m in situation.listed}):
        return False
    try:
        plans = rewrite_manifests(situation.listed, metadata.properties, metadata.default_spec_id or 0)
    except ValueError:
        return False
    rewritten = {m.manifest_path for plan in plans if plan.rewritten for m in plan.manifests}
    wanted = {node[1]} if node and node[0] == "manifest" else {m.manifest_path for m in situation.listed}
    return bool(wanted) and wanted <= rewritten


def _blocker(rule: str, letter: Remedy, situation: Situation) -> str:
    """The other finding that keeps a remedy's statement from running; empty where there is none."""
    if letter in ALWAYS:
        text = TEXTS_OF[rule] if letter != "M" and rule in TEXTS_OF else TEXTS[letter]
        return ", ".join(sorted(situation.not_loaded - {rule})) if ON_TABLE.search(text) else ""
    rewrites = letter in (*REWRITES, "O") or rule == "wrapped-partition"
    blockers = (NOT_REWRITTEN & situation.rules) - {rule} if rewrites else frozenset()
    blockers |= NOT_EXPIRED & situation.anywhere if letter in ("E", "A") else frozenset()
    blockers |= {"parent-cycle"} & situation.anywhere if letter in (*GOES_BACK, "K") else frozenset()
    own = {rule} if letter == "U" else {"readers-differ"} if rule == "names-in-case" else set()
    return ", ".join(sorted((blockers | situation.not_loaded) - own))


def _distinct(situation: Situation, table: str) -> str:
    """How equal rows become one, where Spark can compare them and read the table."""
    metadata = situation.metadata
    schema = metadata.schema(metadata.current_schema_id) if metadata else None
    if schema is None or (NOT_REWRITTEN - {"file-twice"}) & situation.rules:
        return ""
    if any(isinstance(field.type, Mapping) and field.type.get("type") == "map" for field in schema.by_id.values()):
        return ""
    return (
        " Where equal rows are never meant, this helps too, and keeps later commits: "
        f"{STATIC}INSERT OVERWRITE {table} SELECT DISTINCT * FROM {table}."
    )


def _older(letter: Remedy) -> str:
    if letter == "L":
        return (
            "The current snapshot does not need it: only older ones cannot be read. Nothing in Spark mends it: restore "
            "the file from a backup. Do not run expire_snapshots, which commits before it reads what is missing, and "
            "fails. In Java, table.expireSnapshots().expireSnapshotId(id).cleanExpiredFiles(false).commit() removes "
            "such a snapshot."
        )
    return "Only older snapshots have it: the current one is not affected, and it goes when they expire."


def _alone(situation: Situation, paths: Sequence[str], table: str) -> str:
    """How the entries of data files are taken out; empty where going back loses no row, and that would."""
    metadata = situation.metadata
    target = metadata.snapshot(situation.whole) if metadata else None
    since, changing = _since(situation, target)
    return "" if since and not changing else removal_words(paths, situation.missing or {}, table)


def _kept(situation: Situation) -> str:
    """That the way back must not expire, where an expiry of that snapshot is what deleted-file-live is about."""
    whole = situation.whole
    if whole is None or not any(whole in file.removers for file in (situation.missing or {}).values()):
        return ""
    return f" Do not expire snapshot {whole} before: it is the way back."


def _back(situation: Situation, catalog: str, name: str) -> str:
    """How to go back to a snapshot without faults, and what that costs."""
    metadata = situation.metadata
    target = metadata.snapshot(situation.whole) if metadata and situation.whole is not None else None
    if metadata is None or target is None:
        return (
            "No older snapshot is without faults, so no procedure mends it: keep a copy of the metadata, and ask "
            "whoever wrote it."
        )
    return (
        f"Go back to the newest snapshot without faults: CALL {catalog}.system.rollback_to_snapshot("
        f"'{text_in_sql(name)}', {target.snapshot_id}). {_cost(situation, metadata, target, catalog, name)}"
    )


def _again(situation: Situation, catalog: str, name: str) -> str:
    """Which data files of lost manifests may be added again after going back, and how."""
    lost_files, metadata = situation.lost_files, situation.metadata
    if lost_files is None or metadata is None or not lost_files.files:
        return ""
    named = ", ".join(lost_files.files[:MAX_FILES])
    more = f" and {len(lost_files.files) - MAX_FILES:,} more" if len(lost_files.files) > MAX_FILES else ""
    sentences = f" {OLDEST if lost_files.is_oldest else ''}"
    sentences += f"{count(len(lost_files.files), 'data file')} of the table's folder may be of it, "
    sentences += f"named by no manifest that is left: {named}{more}."
    steps = _steps(metadata, situation.whole, lost_files)
    if not lost_files.fits or steps is None or not all(map(file_in_sql, lost_files.files)):
        return (
            f"{sentences} Before you add them again after going back, by the procedure add_files, check that they are "
            "of no failed write, and that no later commit removed them or deleted rows of them."
        )
    picks = [f"CALL {catalog}.system.cherrypick_snapshot('{text_in_sql(name)}', {i})" for i in steps]
    adds = add_files_statements(lost_files.files, catalog, name)
    return (
        f"{sentences} They are as many, with as many rows, as the manifest list says. After going back, this commits "
        f"what was lost again: {'; '.join([*picks, *adds])}."
    )


def _anew(situation: Situation, catalog: str, name: str) -> str:
    """How a table of which no snapshot is whole begins anew with all of its data files, where these are known."""
    lost_files = situation.lost_files
    if situation.whole is not None or lost_files is None or not lost_files.fits or not lost_files.left:
        return ""
    if not all(map(file_in_sql, (*lost_files.files, *lost_files.left))):
        return ""
    table = f"{catalog}.{name}"
    statements = [
        f"CREATE OR REPLACE TABLE {table} USING iceberg AS SELECT * FROM {table} WHERE false",
        *add_files_statements((*lost_files.files, *lost_files.left), catalog, name),
    ]
    oldest = OLDEST if lost_files.is_oldest else ""
    return (
        f"{oldest}No older snapshot is without faults, but all data files are there: those that no manifest names "
        "which is left are as many, with as many rows, as the manifest list says. The table can begin anew with them, "
        f"without NOT NULL and sort order, and with its older snapshots as they are: {'; '.join(statements)}."
    )


def _steps(metadata: TableMetadata, target: int | None, lost_files: LostFiles) -> list[int] | None:
    """The appends after a snapshot that can be committed again, oldest first; None where one of the commits cannot."""
    line = ancestry(metadata, metadata.current_snapshot_id)
    if target not in line:
        return None
    steps = []
    for own in reversed(line[: line.index(target)]):
        snapshot = metadata.snapshot(own)
        if own in lost_files.lost:
            continue
        if own not in lost_files.whole or snapshot is None or snapshot.operation != "append":
            return None
        steps.append(own)
    return steps


def _since(situation: Situation, target: Snapshot | None) -> tuple[list[Snapshot], list[Snapshot]]:
    """The commits that going back to a snapshot undoes, oldest first; and those of them that are no replaces, which
    change no row: a snapshot may call itself one and add rows."""
    metadata = situation.metadata
    if metadata is None or target is None:
        return [], []
    line = ancestry(metadata, metadata.current_snapshot_id)
    undone = line[: line.index(target.snapshot_id)] if target.snapshot_id in line else []
    since = [snapshot for one in reversed(undone) if (snapshot := metadata.snapshot(one))]
    return since, [
        one for one in since if one.operation != "replace" or one.snapshot_id in situation.adding or _adds_rows(one)
    ]


def _adds_rows(snapshot: Snapshot) -> bool:
    """Whether a commit added more rows than it removed, by its summary."""
    added, removed = (whole(snapshot.summary.get(f"{what}-records")) or 0 for what in ("added", "deleted"))
    return added > removed


def _cost(situation: Situation, metadata: TableMetadata, target: Snapshot, catalog: str, name: str) -> str:
    """What going back loses, by the operations since then and the summaries of both snapshots."""
    since, changing = _since(situation, target)
    if since and not changing:
        return (
            "Since then there are only replaces (compaction), which add no row: going back loses none. Run no "
            "expire_snapshots before: it may remove that snapshot and its files."
        )
    then, now = (
        [whole(s.summary.get(name)) if s else None for name in ("total-data-files", "total-records")]
        for s in (target, metadata.current_snapshot)
    )
    lost = f"hat was committed since is lost to readers{_lost_commits(since, changing, catalog, name)}."
    if None in then or None in now:
        return f"W{lost}"
    return (
        f"By their summaries it has {count(then[0] or 0, 'data file')} and {count(then[1] or 0, 'row')}, the current "
        f"one {now[0]:,} and {now[1]:,}; w{lost}"
    )


def _lost_commits(since: Sequence[Snapshot], changing: Sequence[Snapshot], catalog: str, name: str) -> str:
    """Name the commits whose rows are lost, where others since then were replaces, of which none is; and how to commit
    them again, if all are appends. The first commit since then has the fault: that is no append."""
    if len(changing) == len(since):
        return ""
    named = first_of([f"{one.snapshot_id} ({one.operation})" for one in changing], MAX_FILES)
    words = f": that of {named}, as replaces change no row"
    if since[0] in changing or len(changing) > MAX_FILES or any(one.operation != "append" for one in changing):
        return words
    picks = [f"CALL {catalog}.system.cherrypick_snapshot('{text_in_sql(name)}', {one.snapshot_id})" for one in changing]
    again = "Where the files that they added have no fault of their own, this commits each again after going back"
    return f"{words}. {again}: {'; '.join(picks)}"
