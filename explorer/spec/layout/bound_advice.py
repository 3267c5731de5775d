"""Why bounds of columns skip no file for a filter, and which property of the table decides it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from explorer.spec.filters.expressions import BoundTerm, Predicate, predicates
from explorer.spec.layout.metrics_modes import ColumnMode, column_modes
from explorer.spec.scan.plan import Plan
from explorer.spec.scan.stored_bounds import COMPARED, StoredBounds
from explorer.spec.text.names import is_plain
from explorer.spec.text.units import count
from explorer.spec.values.values import result_type, source_type

AVRO_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
WIDE = (
    "each file has bounds of it that span what is asked for, or none; where they span it, sorting the rows by {} makes "
    "them narrow (icedive maintain preview TABLE compact-sort)"
)
BARE = (
    "no file that is read has bounds of it, as it is null there, or its writer recorded none; a rewrite by Spark "
    "(rewrite_data_files with rewrite-all) gives bounds to files with values"
)
OLDER_SPEC = (
    "files of an older partition spec are read, which does not partition by it; a rewrite writes their rows by the "
    "current spec (icedive maintain preview TABLE compact --option rewrite-all=true)"
)
REWRITE = "and a rewrite of the files (rewrite_data_files with rewrite-all), give them bounds that tell"


def bound_advice(plan: Plan) -> Iterator[str]:
    """Say for each column of a filter that skips no file by bounds whether writers leave the bounds out, or cut them.

    Args:
        plan: The plan.
    """
    files = plan.left.files or 0
    if plan.stages[-1].skipped or files < 2 or plan.wholly == files:
        return
    modes = {mode.field_id: mode for mode in column_modes(plan.scan.metadata, plan.schema)}
    newer = _newer_partition_columns(plan)
    told = _partition_columns(plan)  # bounds of them would say no more
    for leaf in predicates(plan.bound):
        if isinstance(leaf.term, BoundTerm) and leaf.term.transform == "identity" and leaf.op in COMPARED:
            mode = modes.get(leaf.term.column.field_id)
            if mode and mode.field_id not in told:
                told.add(mode.field_id)
                without = plan.unmeasured.get(mode.field_id)
                if without and without.files == files and mode.mode != "none":  # unmeasured_advice tells of them
                    continue
                is_bare = bool(without and without.unbounded == files and mode.bounds)
                why = (
                    OLDER_SPEC
                    if mode.field_id in newer
                    else BARE
                    if is_bare
                    else _reason(mode, leaf, plan.stored_bounds)
                )
                yield f"no file is skipped by {mode.name}: {why}"


def _partition_columns(plan: Plan) -> set[int]:
    """Return the ids of the columns whose values the partitions of all files that are read have."""
    metadata = plan.scan.metadata
    specs = {verdict.manifest.partition_spec_id for verdict in plan.manifests if verdict.keeps}
    of_each = [
        {field.source_ids[0] for field in spec.fields if field.transform == "identity" and field.source_ids}
        for spec in map(metadata.spec, specs)
        if spec is not None
    ]
    return set.intersection(*of_each) if of_each else set()


def _newer_partition_columns(plan: Plan) -> set[int]:
    """Return the ids of the columns that the current spec partitions by, and that of a file that is read does not."""
    metadata = plan.scan.metadata

    def columns(spec_id: int) -> set[int]:
        spec = metadata.spec(spec_id)
        return {own for field in (spec.fields if spec else ()) if field.transform != "void" for own in field.source_ids}

    read = {verdict.manifest.partition_spec_id for verdict in plan.manifests if verdict.keeps}
    of_all = set.intersection(*map(columns, read)) if read else set()
    return columns(metadata.default_spec_id or 0) - of_all


def padded_advice(plan: Plan) -> str:
    """Say that manifests are skipped by bounds that end in NUL bytes, which their values may not have.

    Args:
        plan: The plan.

    Returns:
        A sentence; empty where there are none.
    """
    metadata, skipped = plan.scan.metadata, 0
    for verdict in plan.manifests:
        spec = metadata.spec(verdict.manifest.partition_spec_id)
        if verdict.keeps or verdict.by != "summaries" or spec is None or not verdict.manifest.partitions:
            continue
        pairs = zip(spec.fields, verdict.manifest.partitions, strict=False)
        texts = [
            s for f, s in pairs if result_type(f.transform, _text(source_type(metadata, f.source_ids))) == "string"
        ]
        skipped += any((bound or b"").endswith(b"\0") for s in texts for bound in (s.lower_bound, s.upper_bound))
    if not skipped:
        return ""
    return (
        f"⚠ {count(skipped, 'manifest')} {'is' if skipped == 1 else 'are'} skipped by bounds that end in NUL bytes: "
        "where the values have none, matching rows are not read (icedive doctor TABLE --deep)"
    )


def _text(kind: object) -> str | None:
    return kind if isinstance(kind, str) else None


def unmeasured_advice(plan: Plan) -> Iterator[str]:
    """Say for each column of a filter how many files are read because nothing is recorded of it, and what mends that.

    Args:
        plan: The plan.
    """
    modes = {mode.field_id: mode for mode in column_modes(plan.scan.metadata, plan.schema)}
    for field_id, without in plan.unmeasured.items():
        mode, files, older = modes.get(field_id), without.files, without.older
        if mode is not None and without.by_partition:
            yield (
                f"{count(without.by_partition, 'file')} {'is' if without.by_partition == 1 else 'are'} skipped by "
                f"partition alone, since metadata has no bounds of {mode.name} for "
                f"{'it' if without.by_partition == 1 else 'them'}. "
                "A reader that goes by bounds alone reads them (DuckDB, duckdb/duckdb-iceberg#396). If files lack the "
                "column, some readers show null in it (icedive doctor TABLE --deep tells). A rewrite of the files "
                "(rewrite_data_files with rewrite-all) gives them bounds"
            )
        if mode is None or mode.mode == "none" or not files:  # bound_advice tells of columns that writers leave out
            continue
        name = mode.name
        it, are = ("it", "it is") if files == 1 else ("them", "they are")
        why = "" if not older else f": {older:,} of them are older than the column"
        if older == files:
            why = f": {'it was' if files == 1 else 'they were'} written before the column was added"
        command = ""
        if all(map(is_plain, mode.name.split("."))):
            options = f'--where "{mode.name} IS NULL" --option rewrite-all=true'
            command = f" (icedive maintain preview TABLE compact {options} takes {it}, and files with nulls)"
        yield (
            f"{count(files, 'file')} {'is' if files == 1 else 'are'} read since metadata records nothing of {name} "
            f"for {it}{why}. If {are} written anew, filters on it can skip {it}{command}{_escaped(name)}"
        )


def _escaped(name: str) -> str:
    """Say of a column whose name Avro does not allow that older writers take no statistics of it."""
    if all(AVRO_NAME.fullmatch(part) for part in name.split(".")):
        return ""
    return (
        f". Its name is none in Avro, so files have another: Iceberg up to 1.7 may take no statistics of {name} in "
        "tables of more than 100 columns (apache/iceberg#11950). Then let a newer Iceberg write them"
    )


def _reason(mode: ColumnMode, leaf: Predicate, stored: Mapping[int, StoredBounds]) -> str:
    if not mode.bounds:
        return f"writers leave out its bounds, since {mode.rule}; {mode.setting} = truncate(16), {REWRITE}"
    bounds = stored.get(mode.field_id)
    if bounds is None:  # as of all that is no text
        return WIDE.format(mode.name)
    asked = max((len(literal) for literal in leaf.literals), default=0)
    unit = "characters" if mode.kind == "string" else "bytes"
    kept = mode.kept
    cut = bounds.cut_at(kept)
    if cut is None or asked <= cut:
        told = f" (the longest has {count(bounds.longest, unit[:-1])})" if kept and asked > kept else ""
        return WIDE.format(mode.name).replace("bounds of it", f"bounds of it{told}", 1)
    if not bounds.at_cut:
        return (
            f"its bounds keep {cut} {unit}, and these already span what is asked for: longer ones would skip no file. "
            f"Sorting the rows by {mode.name} makes them narrow (icedive maintain preview TABLE compact-sort)"
        )
    some = "" if bounds.at_cut == bounds.files else f" in {bounds.at_cut:,} of {count(bounds.files, 'file')}"
    why = f"bounds keep its first {cut} {unit}{some}, and the filter asks for {asked}"
    if kept is None or asked <= kept:
        return (
            f"{why}. Writers keep {'all' if kept is None else kept} of them now ({mode.rule}): where values begin "
            "alike, a rewrite of the files (rewrite_data_files with rewrite-all) gives them bounds that tell"
        )
    return f"{why}; where values begin alike, {mode.setting} = truncate({asked}), {REWRITE}"
