"""How healthy a table is: its facts folded here or by Spark's workers, and measured (docs/health.md)."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from explorer.model.manifest import ManifestFile
from explorer.model.metadata import Snapshot
from explorer.progress import steps
from explorer.render.health import ShownHealth, catalog_row, worst_first
from explorer.reports.catalog_sweep import sweep
from explorer.spark_engine.engine_choice import Engine
from explorer.spec.commits.costs import cost_of, run_between
from explorer.spec.deletes.delete_pairs import DeletePairs
from explorer.spec.entries.lazy_table import Parts
from explorer.spec.entries.live_files import LiveFile
from explorer.spec.health import current_state, kept_history
from explorer.spec.health.facts import Facts, HealthContext, add_up, alike, facts, facts_of_run
from explorer.spec.health.measures import OF_FILES, OF_LISTS, HealthSection, Scope, thresholds, withhold_judgement
from explorer.spec.maintenance.rewrite_options import file_target
from explorer.spec.snapshots.retention import Retention, endless_expiry, retention
from explorer.spec.text.names import snapshot_name, snapshot_ordinals
from explorer.spec.values.values import common_partition_type
from explorer.table import Table


def checkup(
    table: Table, *, limits: Mapping[str, float] | None = None, clustering: bool = False, engine: Engine = "auto",
    now_ms: int | None = None, snapshot_id: int | None = None,
) -> ShownHealth:  # fmt: skip
    """How a table is, from its metadata alone: every manifest of a snapshot (the current one, if none is named), and
    those that its ancestors wrote, once; each number is of one of the two. `limits` are thresholds by measure, in place
    of the usual ones. With `clustering` the bounds of all columns are read too. `now_ms` is when, for what expires.
    What cannot be read is left out and counted. Raises NotFoundInTable for a measure that there is none of,
    EngineError."""
    thresholds_used, meta = thresholds(limits), table.metadata
    snapshot = meta.current_snapshot if snapshot_id is None else meta.snapshot(snapshot_id)
    run = run_between(meta, None, snapshot.snapshot_id) if snapshot else []
    facts, live, listed = _read_facts(table, run, engine)
    target, now = file_target(meta), now_ms or int(time.time() * 1000)
    decided: Retention | None = None
    refused = endless_expiry(meta)
    try:
        decided = None if refused else retention(meta, now)
    except ValueError as error:
        refused = f"expiry refuses: {error}"
    log = [e.metadata_file for e in meta.metadata_log]
    log_sizes = table.tree.sizes([meta.metadata_location, *log])
    size = log_sizes.pop(meta.metadata_location, None)
    cost = cost_of(table.tree, run, facts.entries_by_snapshot, facts.live_run_bytes)
    written = [one.bytes_added - one.delete_bytes_added for one in cost.commits if one.operation != "replace"]
    sections: list[HealthSection] = [
        current_state.sizes(facts, meta, target, thresholds_used, written),
        current_state.partitions(facts, meta, target, thresholds_used),
        current_state.deletes(facts, live, meta, thresholds_used, snapshot),
        current_state.manifests(facts, listed, meta, thresholds_used),
        kept_history.commits(cost, run, meta, target, thresholds_used, now if "freshness" in (limits or {}) else None),
        kept_history.snapshots(meta, decided, refused, now, thresholds_used),
        kept_history.metadata_file(meta, size, log_sizes, decided, thresholds_used),
        current_state.specs(facts, listed, meta, thresholds_used),
    ]
    if clustering:
        columns = table.clustering(snapshot=snapshot.snapshot_id, engine=engine) if snapshot else []
        sections.append(current_state.clustering_section(columns, meta, thresholds_used))
    sections = [withhold_judgement(s, *_unsure(table, snapshot, s.scope)) for s in sections]
    ordinals = snapshot_ordinals(meta)
    name = snapshot_name(snapshot.snapshot_id, ordinals) if snapshot else "no snapshot"
    if snapshot_id is not None and snapshot_id != meta.current_snapshot_id:
        sections = [replace(s, scope=name) if s.scope == "current snapshot" else s for s in sections]
    files, total = (int(sections[0].numbers[at].value or 0) for at in (0, 1))
    problems = sum(p.severity == "error" and p.rule != "snapshot-twice" for p in table.problems)
    return ShownHealth(table.name, name, files, total, tuple(sections), problems)


def _unsure(table: Table, snapshot: Snapshot | None, scope: Scope) -> tuple[Collection[str], str]:
    """The measures of a scope that need what could not be read, and what that is."""
    no_list, manifests = table.tree.unreadable_in(snapshot) if snapshot else (False, [])
    if no_list:
        return OF_LISTS, "the manifest list could not be read"
    if manifests or (scope == "retained history" and table.tree.unreadable):
        return OF_FILES, "some manifests could not be read"
    return (), ""


def _read_facts(table: Table, run: list[Snapshot], engine: Engine) -> tuple[Facts, list[LiveFile], list[ManifestFile]]:
    """The facts of all manifests that the snapshots of a run list, the deletes of the last of them, and its list."""
    tree, last = table.tree.by(engine, "health"), run[-1] if run else None
    tree.ahead(run)
    own = {
        m.manifest_path: m
        for s in steps(run, "manifest lists")
        for m in tree.manifests(s)
        if m.added_snapshot_id == s.snapshot_id
    }
    current = {m.manifest_path: m for m in tree.manifests(last)}
    manifests = own | current
    tree.ahead(manifests=manifests.values())
    first = {m.partition_spec_id: m for m in reversed(current.values())}
    kind = common_partition_type(
        table.metadata, [stored.schema for _, stored in tree.stored_entries(list(first.values()))]
    )
    files = table.row_reader.applicability(last)
    pairs = DeletePairs(files.without_data()) if files.deletes else None
    about = HealthContext(
        frozenset(current), frozenset(s.snapshot_id for s in run),
        file_target(table.metadata), kind, pairs, table.metadata.default_sort_order_id or 0,
    )  # fmt: skip
    parts = Parts(
        list(manifests.values()), bool(pairs and pairs.fields), partial(facts, about), about.schema, alike, folded=True,
        of_run=partial(facts_of_run, about),
    )  # fmt: skip
    return add_up(tree.read(parts)), list(files.deletes), list(current.values())


def catalog_checkup(
    catalog: str = "sandbox", properties: Mapping[str, str] | None = None, namespace: str = "",
    roots: Sequence[str] = (), relocate: Sequence[tuple[str, str]] = (), **options: Any,
) -> list[dict[str, Any]]:  # fmt: skip
    """A row for each table of a catalog (render.health.catalog_row), the worst first; one that fails says why.
    `options` are those of `checkup`. Raises TableNotFound for a catalog that cannot be listed, NotFoundInTable for a
    measure that there is none of."""
    thresholds(options.get("limits"))  # or each table would say what is wrong with them
    each = sweep(lambda table: checkup(table, **options), catalog, properties, namespace, roots, relocate)
    return worst_first([(catalog_row(s.table, s.answer, s.error, s.metadata_file), s.answer) for s in each])
