"""One cause, one finding: what explains others stands for them, and what many files share is told once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from explorer.errors import MISSING
from explorer.spec.doctor.findings import ORDER, Finding, finding, remedy_case
from explorer.spec.doctor.manifest_list_rules import Lists
from explorer.spec.doctor.promotions import PROMOTED_DATE
from explorer.spec.doctor.remedy_cases import (
    DROPPED_SOURCE,
    FORGOTTEN_PARTITION,
    HAS_LOST_SCHEMA,
    MAYBE_PADDED,
    PADDED,
    REFUSES_SPEC,
    REMOVED_WITH_SNAPSHOT,
    ROUNDED,
    STILL_LIVE,
)
from explorer.spec.text.units import parse_int64

Because = tuple[Finding, list[Finding]]
"""A finding, and those that it explains."""
DEEPEST = 20
"""Parts of a place in a metadata file; a ref's name may have any number of slashes."""
EXAMPLES = 3
EACH = 10
"""Findings of one rule, severity and remedy that are told one by one; of more, the first stands for all."""
MEMBERS = 10_000
"""Findings that one stands for and holds; of more it says how many there are."""
OF_FILES = ("record-count", "metrics-wrong", "split-offsets", "partition-value", "vector-wrong", "required-absent")
FROM_WHAT_IS_MISSING: Mapping[str, frozenset[str]] = {
    "/format-version": frozenset({"metadata-field", "manifest-content", "sequence-above-last"}),
    "/schemas": frozenset(
        {"current-schema-missing", "partition-source-dropped", "schema-rebound", "snapshot-schema-missing"}
    ),
    "/schema": frozenset(
        {"current-schema-missing", "partition-source-dropped", "schema-rebound", "snapshot-schema-missing"}
    ),
    "/current-schema-id": frozenset({"current-schema-missing"}),
    "/partition-specs": frozenset({"default-missing", "spec-unknown"}),
    "/partition-spec": frozenset({"default-missing", "spec-unknown"}),
    "/sort-orders": frozenset({"default-missing"}),
    "/snapshots": frozenset({"ref-dangling", "log-of-expired", "parent-expired", "statistics-stale"}),
    "/last-sequence-number": frozenset({"sequence-above-last"}),
    "/current-snapshot-id": frozenset({"ref-dangling", "current-unlike-main", "log-of-expired"}),
}
"""By what Java cannot read of a metadata file: the rules whose findings follow from it."""


def group_findings(findings: Iterable[Finding], lists: Lists) -> list[Finding]:
    """The findings, with one in place of those that it explains, and one in place of many that are alike."""
    left = list(findings)
    for explain in (
        _rounding,
        _copies,
        _missing_fields,
        _lost_schemas,
        _same_place,
        _wrong_counts,
        _wrong_bounds,
        _files,
        _removed_again,
        _totals,
    ):
        left = _merge_effects(left, explain(left, lists))
    return _limit(_collect(left))


def _merge_effects(findings: Sequence[Finding], causes: Iterable[Because]) -> list[Finding]:
    with_effects: dict[int, Finding] = {}
    gone: set[int] = set()
    new: list[Finding] = []
    ids = {id(f) for f in findings}
    for cause, effects in causes:
        effects = [f for f in effects if id(f) not in gone and f is not cause]
        if id(cause) in gone or not effects:
            continue
        gone.update(map(id, effects))
        base = with_effects.get(id(cause), cause)
        whole = _as_bad(replace(base, explains=(*base.explains, *effects)[:MEMBERS]), effects)
        if id(cause) in ids:
            with_effects[id(cause)] = whole
        else:
            new.append(whole)
    return [*(with_effects.get(id(f), f) for f in findings if id(f) not in gone), *new]


def _as_bad(cause: Finding, effects: Iterable[Finding]) -> Finding:
    """A cause keeps Spark from what its effects do."""
    refused = min((f.refused for f in (cause, *effects)), key=("table", "scan", "part", "").index)
    milder = ORDER.index(cause.severity) > ORDER.index("error") and cause.rule != "readers-differ"
    severity = "error" if refused and milder else cause.severity
    return replace(cause, refused=refused, severity=severity)


def _collect(findings: Iterable[Finding]) -> list[Finding]:
    """One finding in place of those that say the same of other files, columns or places."""
    alike: dict[Hashable, list[Finding]] = defaultdict(list)
    for f in findings:
        alike[f.rule, f.severity, f.refused, f.what, f.remedy, f.node and f.node[0]].append(f)
    return [_one_for(members) for members in alike.values()]


def _limit(findings: Sequence[Finding]) -> list[Finding]:
    of_rule: dict[Hashable, list[Finding]] = defaultdict(list)
    for f in findings:
        of_rule[f.rule, f.severity, f.refused, f.remedy, remedy_case(f)].append(f)
    return [
        f for members in of_rule.values() for f in (members if len(members) <= EACH else [_one_for(members)])
    ]  # fmt: skip


def _one_for(members: Sequence[Finding]) -> Finding:
    first = members[0]
    if len(members) == 1:
        return first
    what = first.what
    if others := len({f.what for f in members}) - 1:
        what = f"{what}; {others:,} more things are wrong by this rule"
    names = first.examples or (first.file,)
    for other in members[1:]:
        if len(names) >= EXAMPLES:
            break
        names = (*names, *(n for n in other.examples or (other.file,) if n not in names))
    held = [m for f in members for m in (f.members or (f,))]
    return replace(
        first,
        what=what,
        count=sum(f.count for f in members),
        examples=names[:EXAMPLES],
        columns=tuple(dict.fromkeys(c for f in members for c in f.columns)),
        snapshots=tuple(dict.fromkeys(i for f in members for i in f.snapshots)),
        refs=tuple(dict.fromkeys(r for f in members for r in f.refs)),
        members=tuple(held[:MEMBERS]),
        explains=tuple(e for f in members for e in f.explains)[:MEMBERS],
    )


def _same_key(
    findings: Sequence[Finding], cause: Callable[[Finding], Hashable], effect: Callable[[Finding], Hashable]
) -> Iterator[Because]:
    """Findings, and those with the same key; those without one have None."""
    causes: dict[Hashable, Finding] = {}
    for f in findings:
        if (key := cause(f)) is not None:
            causes.setdefault(key, f)
    effects: dict[Hashable, list[Finding]] = defaultdict(list)
    for f in findings if causes else ():
        if (key := effect(f)) in causes and key is not None:
            effects[key].append(f)
    yield from ((causes[key], some) for key, some in effects.items())


def _missing_fields(findings: Sequence[Finding], lists: Lists) -> Iterator[Because]:
    """What follows from a field of the metadata file that cannot be read."""
    for f in findings:
        follow = FROM_WHAT_IS_MISSING.get(f.location)
        rules = ("metadata-field", "format-version-unknown", "id-beyond-64-bits")
        if follow and f.rule in rules and f.severity != "warning":  # of what Java does without
            here = (f.rule, f.location)
            yield f, [other for other in findings if other.rule in follow and (other.rule, other.location) != here]


def _same_place(findings: Sequence[Finding], lists: Lists) -> Iterator[Because]:
    """Of several findings about one place of a metadata file that of the rule which says most of it."""
    own = lists.meta.metadata_location
    places: dict[str, Finding] = {}
    here = [f for f in findings if f.file == own and f.location.startswith("/") and " " not in f.location]
    worst = sorted(here, key=lambda f: (f.rule == "metadata-field", not f.refused, ORDER.index(f.severity)))
    for f in worst:
        places.setdefault(f.location, f)
    inside: dict[str, Finding] = {}
    for place, f in places.items():
        while place.count("/") <= DEEPEST and (place := place.rpartition("/")[0]):
            inside.setdefault(place, f)
    for f in worst:
        cause = places[f.location]
        if cause is f and f.rule == "metadata-field" and not f.refused:
            cause = inside.get(f.location, f)
        if cause is not f:
            yield cause, [f]


def _wrong_counts(findings: Sequence[Finding], lists: Lists) -> Iterator[Because]:
    """Entries that count other rows than their own columns have are wrong, not their files."""

    def cause(f: Finding) -> Hashable:
        return f.file if f.rule == "metrics-wrong" and f.what.startswith("record_count") else None

    def effect(f: Finding) -> Hashable:
        sizes = f.rule == "file-missing" and f.found is not None
        return f.location.removeprefix("named in ") if sizes or f.rule == "record-count" else None

    yield from _same_key(findings, cause, effect)


def _wrong_bounds(findings: Sequence[Finding], lists: Lists) -> Iterator[Because]:
    """Bounds or counts that the data contradicts explain what they alone contradict: a partition value that the data
    does not contradict, and times of January 1970. All such entries of the manifest must have wrong ones."""
    wrong: dict[tuple[str, str], dict[str, Finding]] = defaultdict(dict)
    for f in findings:
        if f.rule == "metrics-wrong" and f.node and f.node[0] == "file" and f.columns:
            wrong[f.location.removeprefix("named in "), f.columns[0]].setdefault(f.file, f)
    for f in findings if wrong else ():
        if f.node and f.node[0] == "manifest" and f.columns and f.rule in ("partition-value", "value-suspect"):
            for column in _sources(f, lists) if f.rule == "partition-value" else f.columns[:1]:
                causes = wrong.get((f.file, column), {})
                if causes and len(causes) >= f.count:
                    yield next(iter(causes.values())), [f]


def _sources(f: Finding, lists: Lists) -> Iterator[str]:
    """The names of the columns that the partition field of a finding is made of."""
    record = lists.records.get(f.file)
    spec = lists.meta.spec(record.partition_spec_id) if record else None
    schema = lists.meta.schema(lists.meta.current_schema_id)
    for part in spec.fields if spec and schema else ():
        if part.name in f.columns:
            yield from (schema.by_id[i].name for i in part.source_ids if schema and i in schema.by_id)


def _files(findings: Sequence[Finding], lists: Lists) -> Iterator[Because]:
    """A file that is missing or another one explains what its contents contradict; bounds that contradict each other,
    what they contradict of the data."""

    def of_file(*rules: str) -> Callable[[Finding], Hashable]:
        return lambda f: f.node[1] if f.rule in rules and f.node and f.node[0] == "file" else None

    def of_manifest(f: Finding) -> Hashable:
        manifest = f.columns and f.node and f.node[0] == "manifest"
        return (f.rule, f.file, f.columns) if manifest and f.rule in (*OF_FILES, "readers-differ") else None

    def of_its_file(f: Finding) -> Hashable:
        file = f.columns and f.node and f.node[0] == "file"
        explained = file and f.rule in (*OF_FILES, "readers-differ")
        return (f.rule, f.location.removeprefix("named in "), f.columns) if explained else None

    def in_manifest(rule: str) -> Callable[[Finding], Hashable]:
        return lambda f: f.file if f.rule == rule else None

    def of_column(rule: str) -> Callable[[Finding], Hashable]:
        return lambda f: (f.file, f.columns) if f.rule == rule and f.columns else None

    def padded(*rules: str) -> Callable[[Finding], Hashable]:
        return lambda f: (
            (f.file, f.columns) if f.rule in rules and (PADDED in f.what or f.what == MAYBE_PADDED) else None
        )

    def table_columns(f: Finding) -> Hashable:
        return f.columns if f.what == PROMOTED_DATE and f.node and f.node[0] == "metadata" else None

    def file_columns(f: Finding) -> Hashable:
        return f.columns if f.what == PROMOTED_DATE and f.node and f.node[0] != "metadata" else None

    def spec_of(f: Finding) -> Hashable:
        return lists.records[f.file].partition_spec_id if f.file in lists.records else None

    def forgotten(f: Finding) -> Hashable:
        return spec_of(f) if f.what == FORGOTTEN_PARTITION else None

    def of_spec(f: Finding) -> Hashable:
        is_old = f.rule == "readers-differ" and (DROPPED_SOURCE in f.what or REFUSES_SPEC in f.what)
        return spec_of(f) if is_old or f.rule == "delete-dangling" else None

    yield from _same_key(findings, table_columns, file_columns)
    yield from _same_key(findings, of_file("file-missing"), of_file("file-missing", *OF_FILES))
    yield from _same_key(findings, of_file("record-count"), of_file(*OF_FILES[1:]))
    yield from _same_key(findings, of_manifest, of_its_file)
    yield from _same_key(findings, of_file("metrics-wrong"), of_file("delete-dangling"))
    yield from _same_key(findings, of_column("partition-value"), of_column("value-suspect"))
    yield from _same_key(findings, padded("metrics-wrong"), padded("partition-summary", "value-suspect"))
    yield from _same_key(findings, in_manifest("delete-partition"), in_manifest("delete-dangling"))
    yield from _same_key(findings, forgotten, of_spec)


def _removed_again(findings: Sequence[Finding], lists: Lists) -> Iterator[Because]:
    """What may happen to a file that came back has happened where the file is missing: how it is kept is no more told
    then."""
    missing = {f.file: f for f in findings if f.rule == "file-missing" and f.what.startswith(MISSING)}
    for f in findings if missing else ():
        came_back = f.rule == "deleted-file-live" and REMOVED_WITH_SNAPSHOT in f.what and f.count == len(f.examples)
        if came_back and all(path in missing for path in f.examples):
            yield missing[f.examples[0]], [f]


def _lost_schemas(findings: Sequence[Finding], lists: Lists) -> Iterator[Because]:
    """A schema that is not in `schemas`: what names it, and what still has it, are of one cause."""
    missing = {f.found: f for f in findings if f.rule == "current-schema-missing" and type(f.found) is int}
    for f in findings:
        if f.rule == "snapshot-schema-missing" and type(f.found) is int:
            if f.found in missing:
                yield missing[f.found], [f]
            else:
                missing[f.found] = f
    for f in findings:
        own = parse_int64(f.what.rpartition(" ")[2]) if HAS_LOST_SCHEMA in f.what else None
        if own in missing:
            yield missing[own], [f]


def _totals(findings: Sequence[Finding], lists: Lists) -> Iterator[Because]:
    """Totals are of what is listed: where that is wrong, or could not be read, they differ for it."""
    causes = [
        f
        for f in findings
        if f.rule in ("manifest-twice", "manifest-list-empty", "null-sequence", "file-twice", "entry-invalid")
        or (f.rule in ("metrics-wrong", "record-count") and "record_count" in f.what)
        or (f.rule == "manifest-content" and f.severity == "error")
        or (f.rule == "operation-contradicts" and STILL_LIVE in f.what)
    ]
    for f in findings:
        if f.rule == "totals-differ" and f.severity != "info":
            near = next((c for c in causes if set(f.snapshots) <= set(c.snapshots)), None)
            if near is not None:
                yield near, [f]


def _rounding(findings: Sequence[Finding], lists: Lists) -> Iterator[Because]:
    """Rounded snapshot ids: many JSON tools know no other numbers than doubles."""
    snapshot_ids = {s.snapshot_id for s in lists.meta.snapshots}
    near = {float(i): i for i in snapshot_ids}
    wrong = [f for f in findings if f.rule == "entry-snapshot" and type(f.found) is int and f.found not in snapshot_ids]
    wrong = [f for f in wrong if float(f.found) in near]
    if not wrong:
        return
    own = {near[float(f.found)] for f in wrong}
    totals = [
        f
        for f in findings
        if f.rule == "totals-differ" and set(f.snapshots) <= own and "/summary/total-" not in f.location
    ]
    one = finding(
        "copied-or-edited",
        f"the snapshot ids in the metadata file {ROUNDED}: manifests and lists have others, so "
        "nobody can tell which snapshot added their files",
        lists.meta.metadata_location,
        "/snapshots",
        found=sorted(own)[0],
        expected=wrong[0].found,
        count=len(own),
        snapshots=tuple(sorted(own)),
        severity="warning",
        node=("metadata", lists.meta.metadata_location),
    )
    yield one, [*wrong, *totals]


def _copies(findings: Sequence[Finding], lists: Lists) -> Iterator[Because]:
    """A copy or an edit: most manifests have another length than their lists say."""
    lengths = [f for f in findings if f.rule == "manifest-length"]
    moved = next((f for f in findings if f.rule == "copied-or-edited" and f.severity == "info"), None)
    many = {f.file for f in lengths}
    if lengths and moved and len(many) * 2 > len(lists.held):
        cause = f"{moved.what}; "
        one = replace(
            lengths[0],
            rule="copied-or-edited",
            severity="info",
            count=len(many),
            examples=tuple(sorted(many)[:EXAMPLES]),
            what=f"{cause}{len(many):,} of {len(lists.held):,} manifests have another length than their lists say",
        )
        yield one, [*lengths, *([moved] if moved else [])]
