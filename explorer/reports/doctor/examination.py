"""All rules asked of one open table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib.metadata import entry_points
from itertools import compress
from typing import Any

import numpy as np
import pyarrow as pa

from explorer.errors import AccessRefused, ExplorerError, NotNow, UnreadableFile
from explorer.model.manifest import ManifestFile, ManifestHeader
from explorer.model.metadata import Snapshot, TableMetadata
from explorer.model.problem import Problem
from explorer.progress import Cancelled, steps
from explorer.queries.orphans import files_beside
from explorer.render.doctor import ShownReport
from explorer.reports.doctor.deep_rules import deep_rules
from explorer.reports.doctor.delete_rules import dangling_rules, doubts_by_kind, removal_rules
from explorer.reports.doctor.file_rules import file_rules
from explorer.reports.doctor.lost_manifests import find_lost_files
from explorer.reports.doctor.other_metadata import (
    beginning_rules,
    fork_rules,
    log_gap_rules,
    log_rules,
    other_attempts,
    unnamed_rules,
)
from explorer.reports.doctor.partition_statistics import partition_statistics_rules
from explorer.reports.doctor.removed_rows import RemovedRows
from explorer.spark_engine.engine_choice import Engine
from explorer.spec.doctor.commit_rules import commit_rules
from explorer.spec.doctor.cross_file_rules import CrossFileRules
from explorer.spec.doctor.empty_segments import segment_rules
from explorer.spec.doctor.facts import FACTS, RuleContext, alike, facts, facts_of_run, keys_of
from explorer.spec.doctor.finding_groups import group_findings
from explorer.spec.doctor.findings import Finding, RuleChoice, finding, uncounted_paths
from explorer.spec.doctor.insert_by_path import has_columns
from explorer.spec.doctor.loading import find_load_faults
from explorer.spec.doctor.lost_statistics import lost_statistics
from explorer.spec.doctor.manifest_list_rules import (
    Lists,
    ManifestFacts,
    list_rules,
    list_schema_rules,
    manifest_rules,
    record_rules,
)
from explorer.spec.doctor.metadata_rules import is_of_other_table, table_rules
from explorer.spec.doctor.missing_files import MissingFile
from explorer.spec.doctor.remedies import keeps_from_loading
from explorer.spec.doctor.remedy_parts import of_gone_snapshot
from explorer.spec.doctor.remedy_texts import REMEDY_OF
from explorer.spec.doctor.rules import BY_ID
from explorer.spec.doctor.snapshot_rules import WALK, history_rules
from explorer.spec.doctor.summary_rules import absent_summaries, summary_rules
from explorer.spec.entries.entries import snapshot_ids
from explorer.spec.entries.lazy_table import Parts
from explorer.spec.text.names import base_name, first_of
from explorer.spec.text.units import count, whole
from explorer.spec.values.hashes import hashes
from explorer.storage.formats.json_text import NO_JSON
from explorer.storage.manifest_reader import NOT_NOW, NOT_READ_HERE
from explorer.table import Table

UNDONE = (
    "; nor is a manifest of this commit left beside it: a writer that took the commit for failed may have removed all "
    "that it wrote, data files too, though it landed (CommitStateUnknownException)"
)
MOST_LISTS = 10_000
"""Snapshots whose manifest lists are compared: for each manifest, finding and ancestor something is kept of each of
them, so that the memory for it is the product."""
OLDER = 20
"""Older metadata files that are looked at for one that Iceberg loads."""
PLUGINS = "icedive.doctor"
"""The entry points of installed packages that bring further rules: functions of a Table that give findings."""


@dataclass(frozen=True)
class ExaminationDepth:
    """How far the doctor looks: `files`, whether each file is there and as long as recorded; `deep`, also into footers,
    deletes and data. `snapshot` is the only one that is looked at, if any."""

    files: bool = False
    deep: bool = False
    snapshot: str | int | None = None
    engine: Engine = "auto"


def diagnose(
    table: Table, *, snapshot: str | int | None = None, files: bool = False, deep: bool = False,
    skip: Iterable[str] = (), severity: Mapping[str, str] | None = None, engine: Engine = "auto",
) -> ShownReport:  # fmt: skip
    """What contradicts the spec or itself in a table (docs/doctor.md): its metadata, every snapshot that is left or
    one, every manifest, each once. `files` also asks for each file whether it is there, and for files that nothing
    leads to; `deep` reads footers, deletes and data files too. `skip` and `severity` go by a rule's id or number.
    Raises NotFoundInTable for a snapshot, rule or severity that there is none of, EngineError."""
    choice = RuleChoice.of(skip, severity)
    examination = Examination(table, ExaminationDepth(files or deep, deep, snapshot, engine))
    findings = [f for f in examination.findings() if f.rule not in choice.skip]
    listed = examination.lists.lists.get(table.metadata.current_snapshot_id or 0, ())
    grouped = group_findings(findings, examination.lists)
    final_findings = choice.choose_findings(
        grouped, table.name, table.metadata, listed,
        examination.sound_previous(findings), find_lost_files(table, examination.lists), deep, examination.doubts,
        examination.missing if files or deep else None,
        deep and _have_columns(table, uncounted_paths(grouped, table.metadata.current_snapshot_id) or ()),
    )  # fmt: skip
    where = table.reader.storage.resolve
    final_findings = tuple(replace(f, read_at=at) if (at := where(f.file)) != f.file else f for f in final_findings)
    left_out = choice.rules_left_out("deep" if deep else "files" if files else "quick")
    return ShownReport(
        table.name, final_findings, examination.checked, tuple(examination.not_checked), left_out,
        table.metadata.metadata_location,
    )  # fmt: skip


def _have_columns(table: Table, paths: Iterable[str]) -> bool:
    """Whether data files have the columns of the table, by name and field id, as their footers say."""
    try:
        footers = [table.reader.parquet_footer(path) for path in paths]
    except ExplorerError:  # others say why
        return False
    return all(has_columns(footer["columns"], table.metadata) for footer in footers)


def _newest(meta: TableMetadata) -> list[Snapshot]:
    """The snapshots that refs name and the newest others, MOST_LISTS at most, in their order."""
    named = {ref.snapshot_id for ref in meta.refs} | {meta.current_snapshot_id}
    newest_first = list(reversed(meta.snapshots))
    newest_first.sort(key=lambda snapshot: snapshot.snapshot_id not in named)
    kept = {id(snapshot) for snapshot in newest_first[:MOST_LISTS]}
    return [snapshot for snapshot in meta.snapshots if id(snapshot) in kept]


class Examination:
    """One table looked at. What was read stays here until the report is made."""

    def __init__(self, table: Table, depth: ExaminationDepth) -> None:
        self.table, self.depth = table, depth
        self.checked: dict[str, int] = {}
        self.not_checked: list[str] = []
        meta = table.metadata
        chosen = [table.resolve(depth.snapshot).snapshot] if depth.snapshot is not None else _newest(meta)
        self.snapshots: list[Snapshot] = [s for s in chosen if s is not None]
        if depth.snapshot is None and (older := len(meta.snapshots) - len(self.snapshots)):
            left_out = f"the manifest lists of {older:,} older snapshots: those of {MOST_LISTS:,} are read at most"
            self.not_checked.append(f"{left_out} (name one with --snapshot)")
        self.lists = Lists(meta, {}, {})
        self.idle: frozenset[tuple[str, int | None]] = frozenset()
        """The deletes of which metadata tells that they hide nothing, by their keys."""
        self.doubts: dict[str, tuple[int, str]] | None = None
        """See remedies.Situation."""
        self.missing: dict[str, MissingFile] = {}

    def findings(self) -> Iterator[Finding]:
        """All that is found, rule by rule."""
        table, meta = self.table, self.table.metadata
        previous = self._previous()
        yield from table_rules(meta, previous)
        yield from history_rules(meta, None if previous and is_of_other_table(meta, previous) else previous)
        self.lists = self._read()
        yield from list_rules(self.lists)
        yield from segment_rules(self.lists)
        yield from record_rules(self.lists)
        yield from absent_summaries(self.lists)
        yield from summary_rules(self.lists, RemovedRows(table, self.not_checked).count_hidden)
        paths = list(self.lists.held)
        list_files = [s.manifest_list for s in self.lists.snapshots if s.manifest_list and self._is_read(s)]
        yield from list_schema_rules(self.lists, self._headers(list_files))
        yield from manifest_rules(self.lists, self._headers(paths), table.tree.sizes(paths))
        yield from CrossFileRules(self.lists, self._entry_rows).findings()
        yield from self._dangling()
        yield from removal_rules(table, self.lists)
        if self.depth.snapshot is None:
            yield from commit_rules(self.lists, self._current_before)
            yield from fork_rules(table)
            yield from log_rules(table)
            yield from log_gap_rules(table)
            yield from beginning_rules(table)
            yield from unnamed_rules(table, self.not_checked)
        yield from self._other_files()
        yield from partition_statistics_rules(table, self.lists, self.not_checked, self.depth.deep)
        if self.depth.files:
            whole = self.depth.snapshot is None
            yield from file_rules(table, self.lists, self.not_checked, self.checked, whole, self.missing)
        if self.depth.deep:
            yield from deep_rules(table, self.lists, self.not_checked, self.checked, self.idle)
        yield from self._problems()
        yield from self._plugins()

    def sound_previous(self, findings: Iterable[Finding]) -> TableMetadata | None:
        """The newest older metadata file that has none of the faults of this one, and none that keeps Iceberg from
        loading it."""
        rules = {
            f.rule
            for f in findings
            if f.refused == "table" or REMEDY_OF[f.rule] in ("M", "V") or keeps_from_loading(f.rule, f.location)
        }
        if not rules:
            return None if (last := self._previous()) and is_of_other_table(self.table.metadata, last) else last
        for entry in reversed(self.table.metadata.metadata_log[-OLDER:]):
            try:
                older = self.table.tree.metadata_file(entry.metadata_file)
            except ExplorerError:  # rule 20 tells of it
                continue
            if is_of_other_table(self.table.metadata, older):
                continue
            if not rules & {f.rule for f in table_rules(older)} and not find_load_faults(older):
                return older
        return None

    def _previous(self) -> TableMetadata | None:
        log = self.table.metadata.metadata_log
        try:
            return self.table.tree.metadata_file(log[-1].metadata_file) if log else None
        except ExplorerError:  # rule 20 tells of it
            return None

    def _current_before(self, snapshot: Snapshot) -> tuple[bool, int | None]:
        """See spec.doctor.commit_rules.CurrentBefore."""
        log = self.table.metadata.metadata_log
        before = [e.metadata_file for e in log if e.timestamp_ms < (snapshot.timestamp_ms or 0)]
        try:
            return bool(before), self.table.tree.metadata_file(before[-1]).current_snapshot_id if before else None
        except ExplorerError:
            return False, None

    def _read(self) -> Lists:
        """Every list and every manifest, once."""
        table, meta = self.table, self.table.metadata
        table.tree.ahead(self.snapshots)
        lists: dict[int, Sequence[ManifestFile]] = {}
        unread = set()
        for snapshot in steps(self.snapshots, "manifest lists"):
            read = table.reader.manifests(snapshot)
            table.tree.manifests(snapshot)  # which notes what is wrong with it
            lists[snapshot.snapshot_id] = read.value
            if any(p.severity == "error" for p in read.problems):
                unread.add(snapshot.snapshot_id)
        records = {_as_read(m): m for listed in lists.values() for m in listed}
        about = RuleContext.of(meta)
        about = replace(about, late={}) if self.depth.deep else about  # the files themselves tell
        deletes = [m for m in records.values() if m.content]
        held = self._facts(about, deletes)
        named = [h.row["named"].combine_chunks().flatten() for h in held.values()]
        wanted = np.unique(np.concatenate([*(n.field("key").to_numpy() for n in named), np.zeros(0, np.int64)]))
        data = [m for m in records.values() if not m.content]
        for path, of_data in self._facts(replace(about, wanted=wanted.astype(np.int64)), data).items():
            other = held.get(path)  # listed as data and as deletes
            held[path] = replace(of_data, others=(*of_data.others, other.row, *other.others)) if other else of_data
        self.checked |= {
            "snapshots": len(lists), "manifests": len(held), "entries": sum(_entries(h) for h in held.values())
        }  # fmt: skip
        return Lists(meta, lists, held, frozenset(unread))

    def _facts(self, about: RuleContext, manifests: Sequence[ManifestFile]) -> dict[str, ManifestFacts]:
        if not manifests:
            return {}
        parts = Parts(
            manifests, about.metrics, partial(facts, about), FACTS, partial(alike, about), folded=True,
            of_run=partial(facts_of_run, about),
        )  # fmt: skip
        rows, _ = self.table.build(parts, "doctor", self.depth.engine)
        held: dict[str, ManifestFacts] = {}
        for part in rows.read():
            for at in range(part.num_rows):
                row = part.slice(at, 1)
                path = row["manifest_path"][0].as_py()
                other = held.get(path)
                held[path] = replace(other, others=(*other.others, row)) if other else ManifestFacts(row)
        return held

    def _is_read(self, snapshot: Snapshot) -> bool:
        return snapshot.snapshot_id not in self.lists.unread

    def _headers(self, paths: Sequence[str]) -> dict[str, ManifestHeader]:
        headers = {}
        for path in steps(paths, "headers"):
            try:
                headers[path] = self.table.reader.header_alone(path)
            except UnreadableFile as error:
                self.not_checked.append(f"the header of {path}: {error.cause}")
        return headers

    def _entry_rows(self, path: str, keys: Sequence[int], of: str, most: int | None) -> list[dict[str, Any]]:
        """See spec.doctor.cross_file_rules.Named."""
        manifest = self.lists.records[path]
        for _, stored in self.table.tree.stored_entries([manifest]):
            own = hashes(stored["referenced_data_file"]) if of == "vectors" else keys_of(stored)
            live = stored["status"].to_numpy() != 2
            at = np.flatnonzero(np.isin(own, np.array(keys, np.int64)) & live)[:most]
            names = ["file_path", "content_offset", "referenced_data_file", "status", "record_count"]
            some = stored.select([*names, "file_size_in_bytes"])
            some = some.append_column("inherited_snapshot_id", snapshot_ids(stored, manifest)).take(pa.array(at))
            records = zip(at.tolist(), some.to_pylist(), strict=True)
            return [row | {"record": record} for record, row in records]
        return []

    def _dangling(self) -> Iterator[Finding]:
        """Rules 46, 58 and 70, of the current snapshot, or the one that is asked for."""
        meta = self.table.metadata
        at = self.snapshots[0] if self.depth.snapshot is not None else meta.current_snapshot
        listed = self.lists.lists.get(at.snapshot_id, ()) if at else ()
        if at is None or at.snapshot_id in self.lists.unread:
            return
        if not any(m.content for m in listed):
            self.doubts = {}
            return
        if any(m.manifest_path not in self.lists.held for m in listed):
            self.not_checked.append("dangling deletes: some manifests cannot be read")
            return
        deletes = self.table.deletes(at.snapshot_id, self.depth.engine)
        if at == meta.current_snapshot:
            self.doubts = doubts_by_kind(deletes)
        self.idle = frozenset(delete.key for delete in (*deletes.dangling, *deletes.spent))
        yield from dangling_rules(self.table, self.lists, at, deletes)

    def _other_files(self) -> Iterator[Finding]:
        """Rules 20, 54 and 61."""
        table, meta = self.table, self.table.metadata
        older = [e.metadata_file for e in meta.metadata_log]
        sizes = table.tree.sizes([*older, *(s.path for s in meta.statistics)])
        gone = [path for path in older if path not in sizes]
        if gone:
            yield finding(
                "metadata-log-file-missing",
                f"{len(gone)} of {len(older)} older metadata files are gone or out of reach",
                meta.metadata_location,
                "/metadata-log",
                found=gone[0],
                count=len(gone),
                examples=tuple(gone[:3]),
                node=("metadata", gone[0]),
            )
        now = meta.current_snapshot
        for kind in dict.fromkeys(s.kind for s in meta.statistics):
            files = [s for s in meta.statistics if s.kind == kind]
            snapshots = [s for f in files if (s := meta.snapshot(f.snapshot_id))]
            if now and now.snapshot_id not in {s.snapshot_id for s in snapshots}:
                newest = max(snapshots, key=lambda s: s.sequence_number, default=None)
                yield finding(
                    "statistics-stale",
                    f"no {kind} file is of the current snapshot",
                    meta.metadata_location,
                    "/statistics",
                    found=newest.snapshot_id if newest else None,
                    expected=now.snapshot_id,
                    snapshots=(now.snapshot_id,),
                    node=("statistics", files[-1].path),
                )
        yield from lost_statistics(meta, table.tree.held_metadata(older))
        for file in meta.statistics:
            about: dict[str, Any] = {"snapshots": (file.snapshot_id,), "node": ("statistics", file.path)}
            about |= of_gone_snapshot(meta, file)
            if file.path not in sizes:
                if self._is_out_of_reach(file.path):
                    self.not_checked.append(f"{file.path}: it lies outside the folders that may be read (--root)")
                    continue
                yield finding("statistics-file", "it is missing", file.path, **about)
            elif file.file_size_in_bytes not in (None, sizes[file.path]):
                about |= {"found": file.file_size_in_bytes, "expected": sizes[file.path]}
                yield finding("statistics-file", "the metadata says another size", file.path, **about)

    def _is_out_of_reach(self, path: str) -> bool:
        """Whether nobody can say if a file is there, since it may not be looked at, or its store does not answer."""
        try:
            self.table.reader.storage.size(path)
        except (AccessRefused, NotNow):
            return True
        except UnreadableFile:
            return False
        return True

    def _problems(self) -> Iterator[Finding]:
        """What could not be read, as its rule has it."""
        meta = self.table.metadata
        by_list = {s.manifest_list: s.snapshot_id for s in meta.snapshots if s.manifest_list}
        depths = self.depth.files, self.depth.deep
        own_rules = {*WALK, "totals-differ", *compress(("file-missing", "record-count"), depths)}  # by rules
        not_read: dict[str, list[str]] = {}
        for problem in self.table.problems:
            if problem.rule == NOT_NOW:
                self.not_checked.append(str(problem))
            elif problem.rule == NOT_READ_HERE:
                not_read.setdefault(problem.cause, []).append(base_name(problem.file))
            elif problem.severity == "info" and not problem.rule:  # a note
                continue
            elif problem.rule not in own_rules:
                yield self._of_problem(problem, by_list)
        self.not_checked += [f"what is in {first_of(names, 3)}: {cause}" for cause, names in not_read.items()]

    def _of_problem(self, problem: Problem, by_list: Mapping[str, int]) -> Finding:
        file = problem.file
        more: dict[str, Any] = {} if problem.severity == "error" else {"severity": problem.severity}
        if problem.rule == "field-ids-absent":
            more["severity"] = problem.severity
        if NO_JSON in problem.cause:
            more["refused"] = "table"
        if file in self.lists.masks or file in by_list:
            more |= {} if problem.severity != "error" or problem.rule == "path-outside" else {"refused": "scan"}
        if file in self.lists.masks:
            more |= {} if problem.rule else self._manifest_counts(file)
            return self.lists.of(problem.rule or "manifest-missing", problem.cause, file, problem.location, **more)
        if file in by_list:
            node: Any = ("manifest_list", by_list[file])
            return finding(
                problem.rule or "manifest-list-missing",
                f"{problem.cause}{self._attempts(by_list[file]) if file in self.table.tree.unreadable else ''}",
                file,
                problem.location,
                snapshots=(by_list[file],),
                node=node,
                **more,
            )
        if problem.rule == "path-outside" and self._is_chosen(file):
            more["severity"] = "info"
        rule = problem.rule or ("metadata-field" if file == self.table.metadata.metadata_location else "file-missing")
        node = ("file", file) if rule in ("file-missing", "field-ids-absent") else ("metadata", file)
        return finding(rule, problem.cause, file, problem.location, node=node, **more)

    def _is_chosen(self, file: str) -> bool:
        """Whether a metadata file lies where write.metadata.path says that they are to lie."""
        folder = self.table.metadata.properties.get("write.metadata.path", "").removeprefix("file://").rstrip("/")
        return bool(folder) and file.removeprefix("file://").startswith(folder + "/")

    def _attempts(self, snapshot_id: int) -> str:
        """Which other attempts to commit a snapshot left a manifest list."""
        snapshot = self.table.metadata.snapshot(snapshot_id)
        names = other_attempts(self.table, snapshot) if snapshot else []
        beside = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        if names:
            return f"; beside it lies {beside}, of another attempt to commit the same snapshot"
        adds = snapshot is not None and whole(snapshot.summary.get("added-data-files"))
        return UNDONE if adds and self._lacks_unnamed_manifests else ""

    @cached_property
    def _lacks_unnamed_manifests(self) -> bool:
        """Whether the folders of the metadata could be listed, and have no manifest or list that nothing names: a lost
        list's own manifests would be such."""
        there = files_beside(self.table.tree)
        named = {base_name(path) for path in self.lists.records}
        named |= {base_name(s.manifest_list) for s in self.table.metadata.snapshots if s.manifest_list}
        return bool(there) and not any(path.endswith(".avro") and base_name(path) not in named for path in there)

    def _manifest_counts(self, path: str) -> dict[str, Any]:
        """What the list says that a manifest had."""
        m = self.lists.records[path]
        live = [m.added_files_count, m.existing_files_count]
        rows = [m.added_rows_count, m.existing_rows_count]
        if None in live or None in rows:
            return {}
        kind = "delete file" if m.content else "data file"
        counts = (count(sum(n or 0 for n in numbers), word) for numbers, word in ((live, kind), (rows, "row")))
        return {"expected": f"{' with '.join(counts)}, as the manifest list says"}

    def _plugins(self) -> Iterator[Finding]:
        """Rules that installed packages bring."""
        for point in entry_points(group=PLUGINS):
            try:
                for item in point.load()(self.table):
                    if not isinstance(item, Finding) or item.rule not in BY_ID:
                        raise TypeError(f"{item!r:.200} is no finding by one of the rules")
                    yield item
            except Cancelled:
                raise
            except Exception as error:  # whatever others' code raises
                self.not_checked.append(f"the rules of {point.value}: {type(error).__name__}: {error}")


def _as_read(manifest: ManifestFile) -> Any:
    """What the facts of a manifest rest on."""
    m = manifest
    return (
        m.manifest_path,
        m.sequence_number,
        m.added_snapshot_id,
        m.content,
        m.partition_spec_id,
        m.partitions,
        m.counts_no_live,
    )


def _entries(held: ManifestFacts) -> int:
    return sum(held.sums[f"{name}_files"] for name in ("existing", "added", "deleted"))
