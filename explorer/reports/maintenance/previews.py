"""What Iceberg's maintenance procedures would do to a table, planned from its metadata alone."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import pyarrow as pa

from explorer.errors import UnreadableFile
from explorer.queries.collection import Collection
from explorer.queries.metadata_tree import MetadataTree
from explorer.queries.miscounted_manifests import explain_miscounted
from explorer.queries.reader_positions import reader_positions
from explorer.queries.unnamed_commits import LISTS, UnnamedCommits, find_unnamed_commits
from explorer.reports.maintenance.change_readers import change_words
from explorer.reports.maintenance.clean_expiry import words_for_trino
from explorer.reports.maintenance.dangling_deletes import (
    dangling_rows,
    dangling_words,
    removal_refusal,
    removal_words,
    rewrite_refusal,
    rewrite_words,
)
from explorer.reports.maintenance.expiry import plan_expiry, reader_refusal
from explorer.reports.maintenance.manifest_rewrites import plan_append, plan_rewrite_manifests
from explorer.reports.maintenance.orphans import OrphanSearch, search_orphans
from explorer.reports.maintenance.procedure_calls import (
    DROPS_DANGLING,
    DROPS_SPENT,
    LOOKS,
    STRATEGIES,
    OperationRequest,
    call,
    check_request,
    is_printable,
    named_columns,
    table_in_sql,
)
from explorer.reports.maintenance.refusals import (
    check_readable_by_iceberg,
    explain_absent_order,
    find_unfit_manifest,
    read_through,
)
from explorer.reports.maintenance.rewrites import plan_rewrite
from explorer.spark_engine.engine_choice import Engine
from explorer.spec.commits.unnamed_commits import is_of_pyiceberg
from explorer.spec.entries.lazy_table import Batches
from explorer.spec.maintenance.orphan_rules import LOOK_FIRST, Becomes, OrphanVerdict
from explorer.spec.maintenance.orphan_rules import refusal as orphan_refusal
from explorer.spec.maintenance.orphan_rules import sentences as orphan_sentences
from explorer.spec.maintenance.rewrite_parts import OTHER_SPECS
from explorer.spec.maintenance.rewrite_words import is_by_data_file, sentences
from explorer.spec.schemas.sort_columns import words_for_writers
from explorer.spec.snapshots.reader_positions import ReaderPosition, oldest_needed_ms
from explorer.spec.snapshots.retention import endless_expiry, gc_refusal
from explorer.spec.text.names import NOWHERE, base_name
from explorer.spec.text.units import count, human_bytes
from explorer.table import Table

AT_ONCE = 5000
"""Rows that are made together."""
GROUPS = pa.schema(
    [
        ("group", pa.int64()), ("becomes", pa.string()), ("files", pa.int64()), ("bytes", pa.int64()),
        ("expected_files", pa.int64()), ("expected_file_bytes", pa.int64()), ("partition", pa.string()),
        ("reason", pa.string()),
    ]
)  # fmt: skip
REMOVED = pa.schema([("file", pa.string()), ("becomes", pa.string()), ("reason", pa.string()), ("bytes", pa.int64())])
ORPHAN_COLUMNS = pa.schema(
    [
        ("file", pa.string()),
        ("becomes", pa.string()),
        ("reason", pa.string()),
        ("live", pa.bool_()),
        ("age", pa.string()),
        ("bytes", pa.int64()),
    ]
)
WRITES_ANEW = (*STRATEGIES, "dangling-deletes", "rewrite-manifests")
"""Operations that write files or manifests anew."""
CHANGES = ("rewritten", "removed", "merged", "dropped")


@dataclass(frozen=True)
class Preview:
    """What an operation would do, from metadata alone: sentences, and tables of groups, files, manifests or snapshots,
    each row with what becomes of it and why. `call` is the statement that does it; empty where there is none, where it
    would change nothing, and where it must not be run: `refusal` then says why (it is the first of the sentences).
    `warning` is the sentence that says what it would destroy that may still be wanted, if any."""

    operation: str
    call: str
    words: tuple[str, ...]
    tables: Mapping[str, Collection]
    refusal: str = ""
    warning: str = ""

    @property
    def files(self) -> list[str]:
        """The files, or manifests, that would be rewritten or removed."""
        for name, path in (("files", "file"), ("manifests", "manifest_path")):
            if name in self.tables:
                rows = self.tables[name]
                return [row[path] for row in rows if row["becomes"] in CHANGES and row[path]]
        return []


def preview(
    table: Table,
    operation: str,
    columns: str = "",
    retain_last: int | None = None,
    engine: Engine = "auto",
    options: Mapping[str, str] | None = None,
    where: str = "",
    readers: Sequence[str] = (),
) -> Preview:
    """What an operation would do to a table; nothing is written, and any table may be asked. `options` are those of the
    procedure, by its names, as text; `where` is a filter of what to rewrite; `readers` are those that an expiry must
    not break. Raises NotFoundInTable for an operation, option, column, filter or reader that there is not, and
    UnreadableFile for a checkpoint that cannot be read."""
    request = check_request(table, operation, options or {}, where, columns, retain_last, readers)
    operation = request.operation
    positions = reader_positions(table.metadata, table.reader.storage, readers)
    table = table.complete
    tree = table.tree.by(engine, f"preview of {operation}")
    try:
        check_readable_by_iceberg(table.metadata)
        plan = _plan(table, tree, request, engine, positions)
        statement = call(table, plan.request or request) if plan.acts and not plan.refusal else ""
    except pa.ArrowException:  # some are ValueErrors too, and no refusal
        raise
    except UnreadableFile as error:
        plan, statement = PreviewParts((), {}, refusal=_unreadable(operation, error)), ""
    except ValueError as error:
        plan, statement = PreviewParts((), {}, refusal=f"Iceberg would refuse: {error}."), ""
    first = [plan.refusal] if plan.refusal else []
    if statement and not is_printable(table, statement):
        statement = ""
        first.append("No statement is printed: Spark, its shell or a terminal would take signs of a name for others.")
    return Preview(operation, statement, (*first, *plan.words), plan.tables, plan.refusal, plan.warning)


@dataclass(frozen=True)
class PreviewParts:
    """What an operation would do: sentences, tables, whether the table would be another one afterwards, why the
    operation must not be carried out, if so, the one of the sentences that warns, and the operation that the statement
    is of, where that is another one."""

    words: Iterable[str]
    tables: Mapping[str, Collection]
    acts: bool = False
    refusal: str = ""
    warning: str = ""
    request: OperationRequest | None = None


def _unreadable(operation: str, error: UnreadableFile) -> str:
    """Say what an operation does to a table of which a manifest list or manifest cannot be read."""
    if operation == "expire":
        return (
            "Do not run this: Spark would commit the expiry first, then read every manifest, and fail. The snapshots "
            f"would be gone, and none of their files removed. {error}."
        )
    if operation == "remove-orphans":
        return f"Do not run this: files in use may be among those that it would remove. {error}."
    if operation in LOOKS:
        return f"This cannot be told: {error}."
    return f"Spark would fail, and change nothing: {error}."


def _plan(
    table: Table, tree: MetadataTree, request: OperationRequest, engine: Engine, readers: Sequence[ReaderPosition]
) -> PreviewParts:
    operation = request.operation
    if operation in WRITES_ANEW and (unfit := find_unfit_manifest(tree, operation != "rewrite-manifests")):
        return PreviewParts((), {}, refusal=unfit)
    if operation in STRATEGIES:
        return _rewriting(table, request, engine)
    if operation == "dangling-deletes":
        return _dangling(table, tree, engine)
    values = request.values()
    if operation == "expire":
        return _expiry(table, tree, request, readers)
    if operation == "remove-orphans":
        return _orphans(table, tree, request)
    if operation == "next-append":
        explained, rows = plan_append(tree)
        read_through(tree, [row["manifest_path"] for row in rows if row["becomes"] == "merged"])
    else:
        explained, rows = plan_rewrite_manifests(tree, values.get("spec_id"), values.get("sort_by", ()))
        if refusal := explain_miscounted(tree, {row["manifest_path"] for row in rows if row["becomes"] == "rewritten"}):
            return PreviewParts((), {}, refusal=refusal)
    acts = any(row["becomes"] == "rewritten" for row in rows)
    return PreviewParts(explained, {"manifests": Collection.of_rows(rows, "manifests")}, acts)


def _expiry(
    table: Table, tree: MetadataTree, request: OperationRequest, readers: Sequence[ReaderPosition]
) -> PreviewParts:
    if endless := endless_expiry(tree.metadata):
        return PreviewParts((endless,), {}, False, endless)
    expiry = plan_expiry(tree, request.values(), readers)
    files = Batches(REMOVED, lambda: _batches(expiry.file_rows(), REMOVED))
    tables = {"readers": Collection.of_rows(expiry.reader_rows(), "readers")} if readers else {}
    tables |= {
        "snapshots": Collection.of_rows(expiry.snapshot_rows(), "snapshots"), "files": Collection(files, "files"),
    }  # fmt: skip
    in_sql = table_in_sql(table) if is_printable(table, table_in_sql(table)) else ".".join(NOWHERE)
    refusal = reader_refusal(expiry)
    safe = _safe_expiries(table, tree, request, readers) if refusal else ()
    words = [*safe, *change_words(table, tree, expiry.readers), *expiry.words(in_sql)]
    if (expiry.schemas or expiry.specs) and not refusal and set(request.options) == {"clean_expired_metadata"}:
        words += filter(None, (words_for_trino(table),))
    warning = " ".join(filter(None, (expiry.cut_off_warning(in_sql), expiry.sink_warning())))
    return PreviewParts(words, tables, expiry.acts, refusal, warning)


def _safe_expiries(
    table: Table, tree: MetadataTree, request: OperationRequest, readers: Sequence[ReaderPosition]
) -> Iterator[str]:
    """The expiry that removes most of what was asked for and breaks none of the readers; and where a stream keeps the
    snapshot at which it began for the trigger AvailableNow alone, one for streams without it."""
    yield _safe_expiry(table, tree, request, readers)
    without = [reader for reader in readers if reader.use != "Spark stream, AvailableNow"]
    if without and len(without) < len(readers):
        yield f"If no stream has Trigger.AvailableNow: {_safe_expiry(table, tree, request, without)}"


def _safe_expiry(table: Table, tree: MetadataTree, request: OperationRequest, readers: Sequence[ReaderPosition]) -> str:
    given, oldest = request.values().get("older_than"), oldest_needed_ms(tree.metadata, readers)
    times = [time for time in (given, oldest) if time is not None]
    others = {name: text for name, text in request.options.items() if name not in ("older_than", "snapshot_ids")}
    safe = replace(request, options={**others, **({"older_than": str(min(times))} if times else {})})
    expiry = plan_expiry(tree, safe.values(), readers)
    if expiry.broken_readers:
        return (
            "No older_than keeps what these readers need: branches and tags have limits of their own, which come first "
            "(inspect refs shows them)."
        )
    if not expiry.acts:
        return "Nothing can expire before these readers have gone on."
    statement = call(table, safe)
    if not is_printable(table, statement):
        return "Another expiry breaks none of them, but no statement can be printed."
    expired = count(len(expiry.decided.snapshots_to_expire), "snapshot")
    return f"This expiry breaks none of them, and removes {expired}: {statement}."


def _dangling(table: Table, tree: MetadataTree, engine: Engine) -> PreviewParts:
    """What drops deletes that hide nothing. The statement compacts too, or writes other deletes anew, so it must be one
    that may be run."""
    deletes = table.row_reader.deletes(table.metadata.current_snapshot, tree)
    rows = dangling_rows(table, tree, deletes)
    explained, removes = (
        dangling_words(table, tree, deletes, rows),
        bool(deletes.dangling) and not removal_refusal(deletes),
    )
    acts = removes or (bool(deletes.spent) and not rewrite_refusal(deletes))
    drops = ("compact", DROPS_DANGLING) if removes else ("rewrite-position-deletes", DROPS_SPENT)
    request, files = OperationRequest(*drops), 0
    if acts:
        try:
            rewrite = plan_rewrite(table, STRATEGIES[request.operation], request.options, "", engine)
            refused = rewrite.refusal
        except ValueError as error:
            refused = f"Iceberg would refuse: {error}."
        else:
            files = int(rewrite.grouping.amounts[0].sum())
            if files and removes:
                explained.append(f"The statement compacts as well: it would rewrite {count(files, 'data file')}.")
            elif files:
                all_files = count(files, "position delete file")
                explained.append(f"The statement writes the rows of {all_files} anew, but those of gone data files.")
        as_well = ", as it compacts as well" if removes else ""
        explained += [f"No statement is printed{as_well}. {refused}"] if refused else []
        acts = not refused and (removes or files > 0)
    return PreviewParts(explained, {"deletes": Collection.of_rows(rows, "deletes")}, acts, request=request)


def _rewriting(table: Table, request: OperationRequest, engine: Engine) -> PreviewParts:
    plan = plan_rewrite(table, STRATEGIES[request.operation], request.options, request.where, engine)

    rule, target = plan.rule, human_bytes(plan.rule.target)

    by_data_file = rule.strategy == "position-deletes" and is_by_data_file(table.metadata)
    is_by_other_spec = rule.output_spec_id != table.metadata.default_spec_id

    def rows() -> Iterator[dict[str, Any]]:
        for g in plan.grouping.groups:
            short = f"left: {g.files} of {max(2, rule.min_input_files)} files, {human_bytes(g.bytes)} of {target}"
            reason = "; ".join(g.reasons) or short
            is_unknown = by_data_file or g.partition == OTHER_SPECS or is_by_other_spec
            number = None if is_unknown and g.is_rewritten else g.expected_files
            yield {
                "group": g.number, "becomes": "rewritten" if g.is_rewritten else "left", "reason": reason,
                "partition": g.partition, "files": g.files, "bytes": g.bytes, "expected_files": number,
                "expected_file_bytes": g.bytes // number if number else None,
            }  # fmt: skip

    groups = Collection(Batches(GROUPS, lambda: _batches(rows(), GROUPS)), "groups")
    explained = [plan.already] if plan.already else sentences(table.metadata, plan.rule, plan.grouping)
    explained = [*explained, *([plan.note] if plan.note else [])]
    if len(plan.grouping.groups_to_rewrite) and (writers := words_for_writers(table.metadata)):
        explained.append(writers)
    tables = {"groups": groups, "files": Collection(plan.files, "files")}
    acts, refusal = len(plan.grouping.groups_to_rewrite) > 0, plan.refusal
    if acts and rule.strategy in ("sort", "zorder"):
        absent = explain_absent_order(table.metadata, named_columns(table, request), rule.strategy == "zorder")
        refusal = refusal or absent
    if acts and rule.strategy == "position-deletes":
        deletes = table.row_reader.deletes(table.metadata.current_snapshot, table.tree.by(engine, "dangling deletes"))
        explained += rewrite_words(deletes)
    has_deletes = any(m.content for m in table.tree.manifests(table.metadata.current_snapshot))
    if acts and rule.strategy != "position-deletes" and has_deletes and not rule.removes_dangling:
        explained.append(
            "Deletes that apply to nothing afterwards may stay listed, and readers then still open them: --option "
            "remove-dangling-deletes=true drops them."
        )
    if rule.removes_dangling:
        tree = table.tree.by(engine, "dangling deletes")
        deletes = table.row_reader.deletes(table.metadata.current_snapshot, tree)
        explained.append(removal_words(deletes, acts))
        acts, refusal = acts or bool(deletes.dangling), refusal or removal_refusal(deletes)
    return PreviewParts(explained, tables, acts, refusal)


def _orphans(table: Table, tree: MetadataTree, request: OperationRequest) -> PreviewParts:
    if refusal := gc_refusal(tree.metadata):
        raise ValueError(refusal)
    search = search_orphans(tree, request.values())
    listing, verdicts, tally = search.listing, search.verdicts, _tally(search)

    def rows() -> Iterator[dict[str, Any]]:
        for f in verdicts:
            own = {"file": f.file, "becomes": f.becomes, "reason": f.reason, "live": f.live, "age": _age(f)}
            yield own | {"bytes": f.bytes}

    freed = [f for f in verdicts if f.becomes == "removed" and not f.live]
    explained = Collection(Batches(ORPHAN_COLUMNS, lambda: _batches(rows(), ORPHAN_COLUMNS)), "files")
    words = [*orphan_sentences(tree.metadata, listing, tally, freed), *_with_equalities(table, tree, request, search)]
    commits, wanted = _removed_commits(tree, freed)
    refusal = orphan_refusal(listing, tally, search.others, tree.metadata) or wanted
    look = next((sentence for sentence in words if sentence.startswith(LOOK_FIRST)), "")
    warning = " ".join(filter(None, (look, commits)))
    if commits and not refusal:
        words.append(commits)
    if search.others and not refusal:
        warning = f"{search.others[0]}. Its files would go too, once they are old enough."
        words.append(warning)
    return PreviewParts(words, {"files": explained}, tally["removed", False] > 0, refusal, warning)


def _removed_commits(tree: MetadataTree, freed: Sequence[OrphanVerdict]) -> tuple[str, str]:
    """What is said where data files would be removed of a commit that the table does not have: a warning of pyiceberg's
    commits, which it leaves where they fail; and why nothing is to be removed, of others."""
    removed = {base_name(verdict.file) for verdict in freed}
    found = find_unnamed_commits(tree) if removed else UnnamedCommits(())
    commits = [
        commit
        for commit in found.commits
        if base_name(commit.listed.path) in removed
        and (commit.added_files is None or any(base_name(path) in removed for path in commit.added_files))
    ]
    left = [path for path in found.left if base_name(path) in removed and not is_of_pyiceberg(path)]
    if left and all(commit.is_pyiceberg for commit in commits):
        lists = count(len(left), "older manifest list")
        return "", (
            f"{lists} that no metadata names would be removed, and nobody looked whether a commit needs the files that "
            f"they list: the newest {LISTS} were read. Look at {base_name(left[-1])} first."
        )
    if not commits:
        return "", ""
    others = [commit for commit in commits if not commit.is_pyiceberg]
    newest = (others or commits)[-1]
    whose = "a commit that the table" if len(commits) == 1 else f"{len(commits):,} commits that the table"
    words = f"It would remove the files of {whose} does not have: {newest.brief(tree.metadata)}."
    more = " icedive doctor TABLE tells how this comes about, and how the rows are got back."
    return (
        (words, "") if not others else ("", f"Do not run this before you know whether they are wanted. {words}{more}")
    )


def _tally(search: OrphanSearch) -> Counter[tuple[Becomes, bool]]:
    return Counter((verdict.becomes, verdict.live) for verdict in search.verdicts)


def _with_equalities(
    table: Table, tree: MetadataTree, request: OperationRequest, search: OrphanSearch
) -> Iterator[str]:
    """The statement by which the procedure knows files that metadata names by another scheme or authority."""
    if not search.equalities:
        return
    given = {name: json.loads(request.options.get(name, "{}")) for name in search.equalities}
    maps = {name: json.dumps({**given[name], **equal}) for name, equal in search.equalities.items()}
    request = OperationRequest(request.operation, {**request.options, **maps})
    search = search_orphans(tree, request.values())
    tally = _tally(search)
    if refusal := orphan_refusal(search.listing, tally, search.others, tree.metadata):
        yield f"Nor with {' and '.join(maps)}. {refusal}"
    elif is_printable(table, statement := call(table, request)):
        yield (
            f"This statement says that they are the same store, and removes no file that metadata names: {statement}. "
            f"It would remove {count(tally['removed', False], 'file')}. Should they be other stores, it leaves files "
            "that it could remove."
        )


def _age(verdict: OrphanVerdict) -> str:
    return f"{verdict.age_hours:.1f} h" if verdict.age_hours < 48 else f"{verdict.age_hours / 24:.1f} d"


def _batches(rows: Iterator[dict[str, Any]], schema: pa.Schema) -> Iterator[pa.Table]:
    while some := list(islice(rows, AT_ONCE)):
        yield pa.Table.from_pylist(some, schema)
