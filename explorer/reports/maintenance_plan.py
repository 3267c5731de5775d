"""What all maintenance procedures would do to a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from explorer.progress import steps
from explorer.reports.doctor import diagnose
from explorer.reports.engine_previews import engine_refusal, preview_by
from explorer.reports.maintenance.clean_expiry import words_for_trino
from explorer.reports.maintenance.previews import CHANGES, Preview, preview
from explorer.reports.maintenance.procedure_calls import DROPS_DANGLING
from explorer.reports.readers import reader_support
from explorer.spark_engine.engine_choice import Engine
from explorer.spec.deletes.deletes import Applicability
from explorer.spec.entries.live_files import LiveFile
from explorer.spec.maintenance.all_procedures import FREES, IDLE, NO_STATEMENT, ORDER, MaintenancePlan, ProcedureLine
from explorer.spec.maintenance.dangling_deletes import REMOVAL, REWRITE
from explorer.spec.maintenance.engine_statements import OTHER_ENGINES
from explorer.spec.maintenance.manifest_merges import rewrite_manifests
from explorer.spec.maintenance.rewrite_words import vain_run_words
from explorer.spec.maintenance.statement_engines import StatementEngine
from explorer.spec.readers.reader_support import join_names, refuses
from explorer.spec.snapshots.branches import about_main
from explorer.spec.snapshots.retention import DELETES_OLD
from explorer.spec.text.names import first_of
from explorer.spec.text.units import count, human_bytes
from explorer.table import Table

MANY_OLD, MANY_SCHEMAS = 11, 100
"""Older metadata files, and schemas, from which on they are told of."""
POSITIONS, STARTING = "position_deletes", "use-starting-sequence-number"
DELETES = "delete-file-threshold"
"""The option of a compaction that says from how many deletes on a file is rewritten."""
RULES = 3
"""Rules of the doctor that a refusal names."""


def plan_all(table: Table, engine: Engine = "auto", statements: StatementEngine = "spark") -> MaintenancePlan:
    """Say what all procedures would do to a table, each with its own defaults and the table's properties.

    Args:
        table: The table.
        engine: What decodes manifests.
        statements: The engine that is to run them.

    Returns:
        A line for each procedure, in the order in which they are run. Where the doctor finds an error, what removes
        files has no statement, since the remedy may need them, and what writes files anew has a warning.
    """
    if statements != "spark" and (cannot := engine_refusal(table, statements, engine)):
        none = tuple(_without_statement(one, f"{cannot}.") for one in ORDER)
        return MaintenancePlan(none, statements, OTHER_ENGINES[statements].known, _old_metadata(table))
    report = diagnose(table, engine=engine)
    errors = [finding for finding in report.findings if finding.severity in ("error", "fatal")]
    rules = first_of(list(dict.fromkeys(finding.rule for finding in errors)), RULES)
    previews = [preview(table, one, engine=engine) for one in steps(list(ORDER), "previews")]
    if statements == "spark":
        lines = [_with_deletes(table, _line(_after_errors(seen, rules)), engine, rules) for seen in previews]
        lines = _dropped_before(table, [_after_vain_run(table, line, statements) for line in lines])
        return MaintenancePlan(tuple(_manifests_last(table, lines)), beside=_beside(table))
    may_expire = not rules and not any(seen.refusal for seen in previews if seen.operation == "expire")
    lines = [_engine_line(table, seen, rules, statements, engine) for seen in previews]
    lines = [_after_vain_run(table, line, statements) for line in lines]
    return MaintenancePlan(
        tuple(_manifests_last(table, lines)), statements, OTHER_ENGINES[statements].known,
        _beside(table, in_trino=statements == "trino" and may_expire),
    )  # fmt: skip


def _beside(table: Table, in_trino: bool = False) -> str:
    """Say what no procedure does, and what is not of main."""
    main = about_main(table.metadata, "The compactions and the rewrite of manifests are")
    return " ".join(filter(None, (main, _old_metadata(table, in_trino))))


def _manifests_last(table: Table, lines: Sequence[ProcedureLine]) -> list[ProcedureLine]:
    """Lines without a rewrite of manifests that another step makes needless: a compaction of all data files writes new
    manifests, and the next commit drops manifests that list only files that are gone."""
    metadata, listed = table.metadata, table.tree.manifests(table.metadata.current_snapshot)
    live = [m for m in listed if not m.is_only_deleted]
    spec_id = metadata.default_spec_id or 0
    by_operation = {line.operation: line for line in lines}
    compacts, rewrites = by_operation["compact"], by_operation["rewrite-manifests"]
    if not rewrites.statement:
        return list(lines)
    plans = rewrite_manifests(live, metadata.properties, spec_id)
    data = sum((m.added_files_count or 0) + (m.existing_files_count or 0) for m in live if m.content == 0)
    why = note = ""
    if not any(plan.rewritten for plan in plans):
        gone = len(listed) - len(live)
        why = (
            f"{count(gone, 'manifest')} of {len(listed):,} {'lists' if gone == 1 else 'list'} only files that are "
            "gone: no planner opens them, and the next commit that merges manifests drops them. The others fit."
        )
    elif compacts.statement and compacts.files >= data and not any(p.rewritten for p in plans if p.content):
        why = (
            f"The compaction before it writes {'all data files' if data > 1 else 'the data file'} into new manifests, "
            "which leaves nothing to merge. Ask again after it."
        )
    elif compacts.statement and compacts.files:
        note = (
            f"The compaction before it writes {compacts.files:,} of {count(data, 'data file')} into new manifests. Ask "
            "again after it: this may have nothing left to do."
        )
    if not why and not note:
        return list(lines)
    idle = replace(rewrites, does=IDLE, files=0, bytes=0, statement="", warning="", note="", why=why)
    own = idle if why else replace(rewrites, note=" ".join(filter(None, (rewrites.note, note))))
    return [own if line is rewrites else line for line in lines]


def _old_metadata(table: Table, in_trino: bool = False) -> str:
    """Say what the procedures leave by their defaults: older metadata files, and schemas, where they are many; with
    Trino's statement for the latter where Trino is asked for, and may expire."""
    meta, log, words, last = table.metadata, table.metadata.metadata_log, "", ""
    if len(meta.schemas) > MANY_SCHEMAS:
        words = (
            f"The metadata file has {len(meta.schemas):,} schemas: icedive maintain preview TABLE expire --option "
            "clean_expired_metadata=true shows an expiry that drops those that no snapshot uses. "
        )
        last = words_for_trino(table) if in_trino else ""
    if len(log) < MANY_OLD or meta.properties.get(DELETES_OLD, "").lower() == "true":
        return f"{words}{last}".strip()
    words += (
        f"No procedure removes the {count(len(log), 'older metadata file')} of the log: icedive storage TABLE tells "
        "what they take, and has the statement. "
    )
    return f"{words}{last}".strip()


def _after_errors(seen: Preview, rules: str) -> Preview:
    """A preview where the doctor finds errors by some rules: what removes files must not be run, as the remedy may need
    them, and what writes files anew has a warning. Nor are files removed that somebody has to look at first."""
    if seen.operation == "remove-orphans" and seen.call and seen.warning:
        more = "icedive maintain preview TABLE remove-orphans lists the files, and has the statement."
        seen = replace(seen, call="", refusal=f"{seen.warning} {more}")
    if not rules:
        return seen
    if seen.operation in FREES:
        why = f"the doctor finds an error ({rules}). Its remedy may need what this removes: icedive doctor TABLE."
        return replace(seen, call="", refusal=seen.refusal or f"Do not run this: {why}")
    if seen.operation == "dangling-deletes" and "partition-value" in rules:
        why = "a delete may apply to nothing because a partition value is wrong: icedive doctor TABLE tells of it."
        return replace(seen, call="", refusal=seen.refusal or f"Do not run this: {why}")
    first = f"First see the remedy of what the doctor finds ({rules}): icedive doctor TABLE."
    return replace(seen, warning=f"{first} {seen.warning}".strip())


def _with_deletes(table: Table, line: ProcedureLine, engine: Engine, rules: str) -> ProcedureLine:
    """The line of a compaction with what it leaves: by its defaults it applies few deletes, and no reader is spared."""
    snapshot = table.metadata.current_snapshot
    if line.operation != "compact" or line.refusal or not any(m.content for m in table.tree.manifests(snapshot)):
        return line
    if without := _without_equality_deletes(table, line, engine, rules):
        return without
    line = _without_position_deletes(table, line, engine, rules)
    applies = preview(table, "compact", engine=engine, options={DELETES: "1"})
    files, size, _ = _amounts(applies)
    if applies.refusal or files <= line.files:
        return line
    words = (
        f"It leaves deletes that readers apply in each scan. icedive maintain preview TABLE compact -O {DELETES}=1 "
        f"shows a compaction that applies them too: {count(files, 'file')} ({human_bytes(size)})."
    )
    if line.does == IDLE:
        return replace(line, why=f"{line.why} {words}".strip())
    return replace(line, note=f"{line.note} {words}".strip())


def _without_position_deletes(table: Table, line: ProcedureLine, engine: Engine, rules: str) -> ProcedureLine:
    """The line of a compaction with the options that drop position deletes of what it rewrites; as it is where there
    are none, or they must not be given. Deletion vectors go with their data files.

    Spark drops a delete of several files only where all data of its partition has a greater sequence number. A
    compaction gives its files the number of the snapshot at which it starts, unless it is told not to."""
    snapshot = table.metadata.current_snapshot
    files = table.row_reader.deletes(snapshot).files
    positions = [delete for delete in files.deletes if delete.kind == POSITIONS]
    if not line.statement or snapshot is None or not positions or len(positions) < _number_of_deletes(files):
        return line
    of_several = [delete for some in files.by_place.values() for delete in some if delete.kind == POSITIONS]
    is_new = any((delete.sequence_number or 0) >= snapshot.sequence_number for delete in of_several)
    options = {**DROPS_DANGLING, **({STARTING: "false"} if is_new else {})}
    drops = preview(table, "compact", engine=engine, options=options)
    if drops.refusal or not drops.call:
        return line
    words = (
        f"Of {count(len(positions), 'position delete file')} it drops those whose partition then has newer data alone; "
        "what it does not rewrite keeps its deletes. By its defaults it may leave some of them listed, and readers "
        "that answer count(*) from the summary, as ClickHouse does, subtract their rows."
    )
    if is_new:
        words += f" With {STARTING}=false it fails if a sink commits equality deletes meanwhile. Run it again then."
    return replace(_line(_after_errors(drops, rules)), note=words)


def _number_of_deletes(files: Applicability) -> int:
    """How many deletes there are but deletion vectors."""
    return sum(delete.kind != "deletion_vector" for delete in files.deletes)


def _dropped_before(table: Table, lines: Sequence[ProcedureLine]) -> list[ProcedureLine]:
    """Lines without what a compaction that drops dangling deletes makes needless: a second one, and a rewrite of
    position deletes where it rewrites all data files."""
    compacts, option = next(line for line in lines if line.operation == "compact"), next(iter(DROPS_DANGLING))
    if option not in compacts.statement:
        return list(lines)
    listed = table.tree.manifests(table.metadata.current_snapshot)
    numbers = [count for m in listed if m.content == 0 for count in (m.added_files_count, m.existing_files_count)]
    rewrites_all = None not in numbers and compacts.files >= sum(number or 0 for number in numbers)
    needless = {"dangling-deletes", *(["rewrite-position-deletes"] if rewrites_all else [])}
    why = f"The compaction before it has {option}. Ask again after it."
    return [
        replace(line, does=IDLE, files=0, bytes=0, statement="", warning="", note="", why=why)
        if line.statement and line.operation in needless
        else line
        for line in lines
    ]


def _without_equality_deletes(table: Table, line: ProcedureLine, engine: Engine, rules: str) -> ProcedureLine | None:
    """The line of a compaction with the one that leaves no equality deletes, as its statement where it has none by its
    defaults and need not rewrite all files; None where there are no such deletes, or it must not be run."""
    files = table.row_reader.deletes(table.metadata.current_snapshot).files
    number = sum(delete.kind == "equality_deletes" for delete in files.deletes)
    applies = preview(table, "compact", engine=engine, options={DELETES: "1", **DROPS_DANGLING}) if number else None
    if needs_all := applies is not None and _keeps_equality_deletes(files, applies):
        applies = preview(table, "compact", engine=engine, options={"rewrite-all": "true", **DROPS_DANGLING})
    if applies is None or applies.refusal or not applies.call:
        return None
    names = [one.name for one, cells in reader_support().items() if refuses(cells, "equality-deletes")]
    refused = (
        f"{count(number, 'equality delete')}, which {join_names(names)} refuse. Writers of updates may add new ones."
    )
    if line.does == IDLE and not needs_all:
        words = f"By its defaults it would do nothing. These options have it apply and drop {refused}"
        return replace(_line(_after_errors(applies, rules)), note=words)
    rewritten, size, _ = _amounts(applies)
    way = f"{applies.call} rewrites {count(rewritten, 'file')} ({human_bytes(size)}), and leaves none"
    if line.does == IDLE:
        return replace(line, why=f"{line.why} It leaves {refused} {way}.".strip())
    return replace(line, note=f"By its defaults it may leave some of {refused} {way}.")


def _keeps_equality_deletes(files: Applicability, compaction: Preview) -> bool:
    """Whether a compaction leaves a data file as it is that is older than an equality delete of its partition: the
    delete stays, whether it hides rows of it or not."""

    def newest(deletes: Iterable[LiveFile]) -> int:
        return max((d.sequence_number or 0 for d in deletes if d.kind == "equality_deletes"), default=0)

    parts = compaction.tables["files"].iter_tables() if "files" in compaction.tables else ()
    left = [part.filter(pc.invert(_is_changed(part)))["file"] for part in parts]
    if not any(map(len, left)):
        return False
    by_place = {place: newest(deletes) for place, deletes in files.by_place.items()}
    everywhere = newest(files.everywhere)
    older = {
        file.path
        for file in files.data
        if (file.sequence_number or 0) < max(everywhere, by_place.get(file.place, 0) if by_place else 0)
    }
    return bool(older) and any(path in older for paths in left for path in paths.to_pylist())


def _after_vain_run(table: Table, line: ProcedureLine, statements: StatementEngine) -> ProcedureLine:
    """The line of a compaction whose last run by the same engine made as many files as it took."""
    if line.operation != "compact" or not line.statement:
        return line
    title = "Spark" if statements == "spark" else OTHER_ENGINES[statements].title
    words = vain_run_words(table.metadata, statements, title)
    return replace(line, note=" ".join(filter(None, (line.note, words))))


def _without_statement(operation: str, why: str) -> ProcedureLine:
    return ProcedureLine(operation, NO_STATEMENT, 0, 0, "", "", ORDER[operation], why=why)


def _engine_line(table: Table, seen: Preview, rules: str, statements: StatementEngine, engine: Engine) -> ProcedureLine:
    """What another engine would do for an operation: refused where Spark's procedure is."""
    if _after_errors(seen, rules).refusal:
        return _line(_after_errors(seen, rules))
    by_engine = preview_by(table, seen, statements, engine)
    if not by_engine.has_statement:
        return _without_statement(seen.operation, by_engine.words)
    line = _line(_after_errors(by_engine.seen, rules), tells_result=False)
    if not line.statement:
        return line
    does = line.does if by_engine.is_counted else "rewrites files by rules of its own; how many is not known"
    return replace(line, does=does, note=by_engine.words)


def _line(seen: Preview, tells_result: bool = True) -> ProcedureLine:
    operation = seen.operation
    files, size, made = _amounts(seen)
    if seen.refusal:
        does = "must not be run"
    elif not seen.call:
        does = IDLE
    elif operation in FREES:
        does = f"{_expired_words(seen)}removes {count(files, 'file')} and frees {human_bytes(size)} at least"
    else:
        what = "manifest" if operation == "rewrite-manifests" else "file"
        into = f" into about {made:,}" if made and tells_result else ""
        does = f"rewrites {count(files, what)} ({human_bytes(size)}){into}"
    if operation == "dangling-deletes" and seen.call:
        removes = "remove-dangling-deletes" in seen.call
        way = REMOVAL if removes else REWRITE
        dropped = [row for row in seen.tables["deletes"] if way in row["dropped_by"]]
        files, size = len(dropped), sum(row["bytes"] for row in dropped)
        does = f"drops {count(files, 'delete')} that {'hides' if files == 1 else 'hide'} nothing; its statement "
        does += "compacts as well" if removes else "writes all position delete files anew"
    warning = seen.warning if seen.call else ""
    kept = [words for words in seen.words if words.startswith("Kept: ")]
    reasons = [
        words for words in seen.words if words.startswith(("Nothing would", "Look before", "With the option min-input"))
    ]
    why = " ".join(kept or reasons or seen.words[-1:]) if does == IDLE else ""
    return ProcedureLine(operation, does, files, size, seen.call, seen.refusal, ORDER[operation], warning, why)


def _expired_words(seen: Preview) -> str:
    """Say how many snapshots an expiry removes; nothing of another operation."""
    if "snapshots" not in seen.tables:
        return ""
    expired = sum(row["becomes"] == "expired" for row in seen.tables["snapshots"])
    return f"expires {count(expired, 'snapshot')}, "


def _amounts(seen: Preview) -> tuple[int, int, int]:
    """(files, their bytes, files that they become), of what would change."""
    if not seen.call:
        return 0, 0, 0
    files = size = made = 0
    for name in ("files", "manifests", "deletes"):
        for part in seen.tables[name].iter_tables() if name in seen.tables else ():
            changed = _changed(part)
            files += changed.num_rows
            size += (pc.sum(changed["bytes"]).as_py() or 0) if "bytes" in changed.column_names else 0
    for part in seen.tables["groups"].iter_tables() if "groups" in seen.tables else ():
        made += pc.sum(_changed(part)["expected_files"]).as_py() or 0
    return files, size, made


def _changed(part: pa.Table) -> pa.Table:
    """The rows of what would change; of a file that is live and would be removed by mistake, none."""
    if "becomes" not in part.column_names:
        return part
    changed = part.filter(_is_changed(part))
    return changed.filter(pc.invert(changed["live"])) if "live" in changed.column_names else changed


def _is_changed(part: pa.Table) -> pa.ChunkedArray:
    """Of each row whether it would change."""
    return pc.is_in(part["becomes"].cast(pa.string()), pa.array(CHANGES))
