"""The health of what is kept beside the current snapshot: commits, snapshots, and the metadata file itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from explorer.model.metadata import Snapshot, TableMetadata
from explorer.spec.commits.costs import RunCost
from explorer.spec.health.current_state import Thresholds
from explorer.spec.health.measures import BY_ID, Bars, HealthSection, MeasuredValue, SectionNumber
from explorer.spec.health.write_distribution import distribution_advice
from explorer.spec.snapshots.branches import branch_of_each
from explorer.spec.snapshots.retention import (
    DELETES_OLD,
    MAX_REF_AGE,
    MOST_OLD,
    MOST_OLD_BY_DEFAULT,
    Retention,
    json_bytes,
    unused_bytes,
    unused_metadata,
)
from explorer.spec.text.names import first_of
from explorer.spec.text.units import count, human_bytes, instant, second, whole

UNUSED_SCHEMAS = "what clean_expired_metadata would take out besides"
HOUR, MUCH = 3_600_000, 64 << 20
OLD_REF = 90 * 24 * HOUR
COMMITS = 60
"""Commits that are drawn: the last ones."""
SECTIONS: Mapping[str, tuple[str, ...]] = {
    "snapshots": ("snapshots",),
    "schemas": ("schemas", "schema"),
    "specs and orders": ("partition-specs", "partition-spec", "sort-orders"),
    "snapshot log": ("snapshot-log",),
    "metadata log": ("metadata-log",),
    "refs": ("refs",),
    "statistics": ("statistics", "partition-statistics"),
    "properties": ("properties",),
}
"""What a metadata file is made of, by its fields (spec: "Table Metadata Fields")."""


def _kept_words(run: RunCost) -> str:
    return "nobody knows how much" if run.bytes_kept is None else human_bytes(run.bytes_kept)


def commits(
    run: RunCost,
    snapshots: Sequence[Snapshot],
    metadata: TableMetadata,
    target: int,
    limits: Thresholds,
    now_ms: int | None = None,
) -> HealthSection:
    """The commits that led to the current snapshot, as far as they are left: how many an hour, what they wrote. Those
    of other branches are counted as left out. `now_ms` is when, if it is asked how fresh the table is."""
    branches = branch_of_each(metadata)
    times_by_id = {s.snapshot_id: s.timestamp_ms for s in snapshots}
    times = sorted(t for t in times_by_id.values() if t is not None)
    hours = Counter(t // HOUR for t in times)
    busiest = max(hours.values(), default=0)
    span = (times[-1] - times[0]) / HOUR if len(times) > 1 else 0.0
    number = len(run.commits)
    share = run.metadata_bytes / run.bytes_written if run.bytes_written else None
    measurable = run.bytes_written >= target
    amplified = run.write_amplification
    day = [c for c in run.commits if times and (times_by_id.get(c.snapshot_id) or 0) > times[-1] - 24 * HOUR]
    when = f"in the hour from {instant(max(hours, key=lambda h: hours[h]) * HOUR, 'minutes')}" if hours else ""
    counted = {s.snapshot_id for s in snapshots}
    left_out = Counter(on for one, on in branches.items() if one not in counted)
    if left_out:
        others = first_of([f"{on} {own:,}" for on, own in sorted(left_out.items())], 3)
        noun = "commit was" if left_out.total() == 1 else "commits were"
        elsewhere = f"{left_out.total():,} {noun} not made on the way to this snapshot ({others}), and not counted"
        when = f"{when}; {elsewhere}" if when else elsewhere
    written = f"{human_bytes(run.bytes_written)} written, {_kept_words(run)} of it still read"
    unknown = sum(c.manifest_list_bytes is None or c.metadata_json_bytes is None for c in run.commits)
    shown = run.commits[-COMMITS:]
    return HealthSection(
        "commits", "Commits", "retained history",
        (
            MeasuredValue("commits-per-hour", busiest, limits["commits-per-hour"], when),
            _freshness(run, times_by_id, limits["freshness"], now_ms),
            _written_files(run, metadata, target, limits),
            MeasuredValue("metadata-amplification", share if run.metadata_bytes >= MUCH else None,
                     limits["metadata-amplification"],
                     f"{human_bytes(run.metadata_bytes)} by {count(number, 'commit')}, for "
                     f"{human_bytes(run.bytes_written)} of files"),
            MeasuredValue("write-amplification", amplified if measurable else None, limits["write-amplification"],
                          written),
        ),
        (
            SectionNumber("commits", number), SectionNumber("commits an hour, on average",
                                              round((len(times) - 1) / span, 2) if span >= 1 else None, "per hour"),
            SectionNumber("manifests written in the last day of it", sum(c.manifests_written for c in day)),
            SectionNumber("data and delete files written", run.bytes_written, "bytes"),
            SectionNumber("metadata written", run.metadata_bytes, "bytes"),
            SectionNumber("metadata that a commit writes, on average",
                   run.metadata_bytes // number if number else None, "bytes"),
            SectionNumber("commits of which a metadata file is gone", unknown),
            SectionNumber("bytes that only older snapshots hold", _removals(run), "bytes"),
        ),
        Bars(f"bytes that each of the last {count(len(shown), 'commit')} wrote" if number > 1 else
             "bytes that the commit wrote", tuple(c.snapshot.removeprefix("snapshot-") for c in shown),
             {"files": tuple(float(c.bytes_added) for c in shown),
              "metadata": tuple(float(c.metadata_bytes) for c in shown)}, "bytes") if shown else None,
    )  # fmt: skip


def _written_files(run: RunCost, metadata: TableMetadata, target: int, limits: Thresholds) -> MeasuredValue:
    """The files that commits wrote for each that they needed. Commits of less than a file's worth count where together
    they wrote more files too many than there may be small ones."""
    adding = [c for c in run.commits if c.data_files_added]
    needed = {
        c.snapshot_id: max(-(-(c.bytes_added - c.delete_bytes_added) // target), c.partitions_added) for c in adding
    }
    large = [c for c in adding if c.bytes_added - c.delete_bytes_added >= target]
    small = [c for c in adding if c.bytes_added - c.delete_bytes_added < target and c.operation != "replace"]
    too_many = sum(c.data_files_added - needed[c.snapshot_id] for c in small)
    counted = [*large, *(small if too_many > limits["small-files"] else [])]
    files, enough = sum(c.data_files_added for c in counted), sum(needed[c.snapshot_id] for c in counted)
    if not enough:
        return MeasuredValue("written-files", None, limits["written-files"], "no commit wrote a file's worth of bytes")
    by = f"{count(len(counted), 'commit')} to {count(sum(c.partitions_added for c in counted), 'partition')}"
    words = f"{count(files, 'data file')} by {by}, where {enough:,} would do"
    if len(counted) > len(large):
        average = sum(c.data_files_added for c in small) / len(small)
        words += (
            f"; {count(len(small), 'commit')} of them wrote less than a file's worth of bytes, {average:,.0f} files "
            "each on average"
        )
    wasting = (metadata.snapshot(c.snapshot_id) for c in counted if c.data_files_added > needed[c.snapshot_id])
    advice = distribution_advice(metadata, filter(None, wasting))
    return MeasuredValue("written-files", files / enough, limits["written-files"], words, advice=advice)


def _freshness(run: RunCost, times: Mapping[int, int | None], threshold: float, now_ms: int | None) -> MeasuredValue:
    """How long ago rows were added; a compaction adds none."""
    adding = (c for c in reversed(run.commits) if c.rows_added and c.operation != "replace")
    last = next((at for c in adding if (at := times.get(c.snapshot_id)) is not None), None)
    words = f"the last one was at {second(last)}" if last is not None else "no commit that is left added rows"
    if now_ms is None:
        words = f"{words}; {BY_ID['freshness'].why}"
    hours = None if now_ms is None or last is None else max(0, now_ms - last) / HOUR
    return MeasuredValue("freshness", hours, threshold, words)


def _old_refs(metadata: TableMetadata, now_ms: int, limits: Thresholds) -> MeasuredValue:
    """Branches and tags beside main that nothing ends, by the age of their snapshots."""
    endless = [ref for ref in metadata.refs if ref.name != "main" and ref.max_ref_age_ms is None]
    if metadata.properties.get(MAX_REF_AGE) is not None:
        endless = []
    old = [
        ref.name for ref in endless
        if (snapshot := metadata.snapshot(ref.snapshot_id)) and now_ms - (snapshot.timestamp_ms or now_ms) > OLD_REF
    ]  # fmt: skip
    return MeasuredValue("old-refs", len(old), limits["old-refs"], first_of(old, 3))


def _removals(run: RunCost) -> int:
    """What the commits removed, the oldest left out: whoever was before it is gone."""
    return sum(c.bytes_removed for c in run.commits[1:])


def snapshots(
    metadata: TableMetadata, decided: Retention | None, refused: str, now_ms: int, limits: Thresholds
) -> HealthSection:
    """The snapshots that the metadata file keeps, and how many of them expiry would remove."""
    ages = [now_ms - s.timestamp_ms for s in metadata.snapshots if s.timestamp_ms is not None]
    gone = None if decided is None else len(decided.snapshots_to_expire)
    days = Counter(min(a // (24 * HOUR), 30) for a in ages if a >= 0)
    span = range(min(days), max(days) + 1) if days else range(0)
    return HealthSection(
        "snapshots", "Snapshots", "metadata file",
        (MeasuredValue("expirable-snapshots", gone, limits["expirable-snapshots"],
                  refused or f"{gone:,} of {len(metadata.snapshots):,}"),
         _old_refs(metadata, now_ms, limits)),
        (
            SectionNumber("snapshots", len(metadata.snapshots)), SectionNumber("branches and tags", len(metadata.refs)),
            SectionNumber("oldest", second(now_ms - max(ages)) if ages else None),
            SectionNumber("newest", second(now_ms - min(ages)) if ages else None),
        ),
        Bars("snapshots by age in days", tuple("30+" if d == 30 else str(d) for d in span),
             {"snapshots": tuple(float(days[d]) for d in span)}) if days else None,
    )  # fmt: skip


def metadata_file(
    metadata: TableMetadata, size: int | None, log: Mapping[str, int], decided: Retention | None, limits: Thresholds
) -> HealthSection:
    """The metadata file by what fills it, what expiry or its properties would save. `size` is that of the file, `log`
    are those of older metadata files that are there."""
    parts = {name: sum(json_bytes(metadata.raw.get(f)) for f in fields) for name, fields in SECTIONS.items()}
    whole_text = json_bytes(metadata.raw)
    parts["everything else"] = max(0, whole_text - sum(parts.values()))
    freed = _savings(metadata, decided)
    unused, _ = unused_metadata(metadata, decided.snapshots_to_keep if decided else metadata.snapshots, ())
    by_schemas = unused_bytes(metadata, unused)
    schema_words = f"{len(unused):,} of them, {human_bytes(by_schemas)}, no snapshot that stays needs" if unused else ""
    keep = whole(metadata.properties.get(MOST_OLD)) or MOST_OLD_BY_DEFAULT
    deletes = metadata.properties.get(DELETES_OLD, "false").lower() == "true"
    fills = max(parts, key=lambda name: parts[name])
    columns = metadata.schema(metadata.current_schema_id)
    share = f"{parts[fills] / whole_text:.0%} of it is {fills}" if whole_text else ""
    return HealthSection(
        "metadata-file", "Metadata file", "metadata file",
        (
            MeasuredValue("metadata-size", whole_text if size is None else size, limits["metadata-size"], share),
            MeasuredValue("schemas", len(metadata.schemas), limits["schemas"], schema_words),
        ),
        (
            SectionNumber("as plain JSON", whole_text, "bytes"),
            SectionNumber("a snapshot of it, on average",
                   parts["snapshots"] // len(metadata.snapshots) if metadata.snapshots else None, "bytes"),
            SectionNumber("what expiry would take out of it now", freed, "bytes"),
            *([SectionNumber(UNUSED_SCHEMAS, by_schemas, "bytes")] if unused else []),
            SectionNumber("older metadata files in its log", len(metadata.metadata_log)),
            SectionNumber("bytes of those that are there", sum(log.values()), "bytes"),
            SectionNumber(f"files that the log keeps ({MOST_OLD})", keep),
            SectionNumber(f"older ones are removed ({DELETES_OLD})", "yes" if deletes else "no"),
            SectionNumber("columns of the current schema", len(columns.by_id) if columns else None),
            SectionNumber("schemas", len(metadata.schemas)), SectionNumber("sort orders", len(metadata.sort_orders)),
        ),
        Bars("bytes of the metadata file by what they say", tuple(parts),
             {"bytes": tuple(map(float, parts.values()))}, "bytes"),
    )  # fmt: skip


def _savings(metadata: TableMetadata, decided: Retention | None) -> int:
    """JSON of the snapshots that would expire, and of their places in the snapshot log."""
    gone = {s.snapshot_id for s in decided.snapshots_to_expire} if decided else set[int]()
    if not gone:
        return 0
    listed = metadata.raw.get("snapshot-log")
    entries = [e for e in listed if isinstance(e, Mapping)] if isinstance(listed, list) else []
    log_entries = [e for e in entries if type(e.get("snapshot-id")) is int and e["snapshot-id"] in gone]
    return sum(json_bytes(s.raw) + 1 for s in metadata.snapshots if s.snapshot_id in gone) + json_bytes(log_entries)
