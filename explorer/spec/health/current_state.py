"""The health of the current snapshot: file sizes, partitions, deletes, manifests, clustering."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from explorer.model.manifest import ManifestFile
from explorer.model.metadata import Snapshot, TableMetadata
from explorer.spec.deletes.equality_spread import equality_spread
from explorer.spec.deletes.needless_deletes import needless_words, only_adds
from explorer.spec.deletes.own_commit import caution_words
from explorer.spec.entries.live_files import LiveFile
from explorer.spec.entries.numpy_columns import Ints
from explorer.spec.health.facts import DATA, EQUALITY, POSITION, VECTOR, Facts, sum_cells
from explorer.spec.health.measures import Bars, HealthSection, MeasuredValue, SectionNumber, Tile
from explorer.spec.layout.clustering import Clustering
from explorer.spec.maintenance.manifest_merges import TARGET as MANIFEST_TARGET
from explorer.spec.maintenance.manifest_merges import target_bytes
from explorer.spec.maintenance.rewrite_options import SMALL, TARGETS
from explorer.spec.text.names import shorten
from explorer.spec.text.units import count, human_bytes
from explorer.spec.values.values import partition_path_by_name, row_dicts

TILES = 120
"""Partitions that are drawn; the smallest of more are one tile."""
SHOWN = 40
"""Columns whose clustering is drawn."""
FILES_SAVED = 10
"""Files that merging must save for a word about the writers' property."""
HIDDEN_AT_ONCE = "rows that their own commit hid"
Thresholds = Mapping[str, float]


def sizes(
    facts: Facts, metadata: TableMetadata, target: int, limits: Thresholds, written: Sequence[int] = ()
) -> HealthSection:
    """Data files by size, and how many merging would save. `written` are the bytes of data files that each commit of
    the history wrote."""
    cells = facts.cells.filter(pc.equal(facts.cells["kind"], DATA))
    files, total = (int(pc.sum(cells[name]).as_py() or 0) for name in ("files", "bytes"))
    by_size = facts.sizes
    small = sum_cells(cells)
    number, saved = small["small_files"].to_numpy(), int(_savings(small, target).sum())
    some = [row for row in facts.rows.values() if row["smallest"] is not None]
    used = np.flatnonzero(by_size)
    span = range(int(used[0]), int(used[-1]) + 1) if len(used) else range(0)
    at = target.bit_length()
    measured = f"{count(int(number.sum()), 'data file')} of {files:,} are below {human_bytes(int(SMALL * target))}"
    if saved >= FILES_SAVED and written and max(written) < target:
        measured += (
            f"; no commit wrote more than {human_bytes(max(written))} of data, so a larger {TARGETS[True][0]} makes no "
            "file of these commits larger: fewer, larger commits do"
        )
    elif saved >= FILES_SAVED and (below := [size for size in written if size and size < target]):
        adding = sum(size > 0 for size in written)
        measured += (
            f"; {len(below):,} of {count(adding, 'commit')} that added data wrote less than a file's worth of it"
        )
    bars = Bars(
        "data files by size",
        tuple(_interval(b) for b in span),
        {"files": tuple(float(by_size[b]) for b in span)},
        marked=at - span[0] if at in span else None,
        mark=f"target {human_bytes(target)}",
    )
    return HealthSection(
        "file-sizes", "File sizes", "current snapshot",
        (
            MeasuredValue("small-files", saved, limits["small-files"], measured),
            _unsorted_files(facts, files, metadata, limits["unsorted-files"]),
        ),
        (
            SectionNumber("data files", files), SectionNumber("bytes", total, "bytes"),
            SectionNumber("average file", total // files if files else None, "bytes"),
            SectionNumber("smallest file", min((r["smallest"] for r in some), default=None), "bytes"),
            SectionNumber("largest file", max((r["largest"] for r in some), default=None), "bytes"),
            SectionNumber(f"target ({TARGETS[True][0]})", target, "bytes"),
            SectionNumber(f"files below {SMALL:.0%} of it", int(number.sum())),
        ),
        bars if len(used) else None,
    )  # fmt: skip


def _unsorted_files(facts: Facts, files: int, metadata: TableMetadata, threshold: float) -> MeasuredValue:
    """How many data files do not record the table's sort order, where writers record orders at all."""
    in_order, other = (sum(row[name] or 0 for row in facts.rows.values()) for name in ("in_order", "other_order"))
    if not metadata.default_sort_order_id:
        return MeasuredValue("unsorted-files", None, threshold, "no sort order")
    if not in_order + other:
        return MeasuredValue(
            "unsorted-files", None, threshold, "no file records an order; --clustering tells by bounds"
        )
    share = (files - in_order) / files if files >= 10 else None
    return MeasuredValue("unsorted-files", share, threshold, f"{files - in_order:,} of {count(files, 'data file')}")


def _savings(cells: pa.Table, target: int) -> Ints:
    """Of each partition, how many files merging its small ones would save."""
    small, held = cells["small_files"].to_numpy(), cells["small_bytes"].to_numpy()
    saved: Ints = np.maximum(small - -(-held // target), 0)
    return saved


def _interval(bits: int) -> str:
    """The sizes that so many bits need, in words."""
    return "0 B" if not bits else f"{human_bytes(1 << (bits - 1))}+"


def partitions(facts: Facts, metadata: TableMetadata, target: int, limits: Thresholds) -> HealthSection:
    """Files and bytes by partition, and how far the partitions are from alike."""
    cells = sum_cells(facts.cells.filter(pc.equal(facts.cells["kind"], DATA)))
    spec = metadata.spec(metadata.default_spec_id)
    files, held = cells["files"].to_numpy(), cells["bytes"].to_numpy()
    number, partitioned = len(files), cells.schema.field("partition").type.num_fields > 0
    tiny = int((held < target / 10).sum()) if partitioned else 0
    median, most = (float(np.median(held)), int(held.max())) if number else (0.0, 0)
    measurable = number >= 3 and most >= target and median > 0
    fullest = _label(cells, int(files.argmax()), metadata) if number else ""
    largest = _label(cells, int(held.argmax()), metadata) if number else ""
    share = f"{most / held.sum():.0%} of all bytes" if number and held.sum() else ""
    return HealthSection(
        "partitions", "Partitions", "current snapshot",
        (
            MeasuredValue("files-per-partition", int(files.max()) if number else 0, limits["files-per-partition"],
                          fullest),
            MeasuredValue("partition-skew", most / median if measurable else None, limits["partition-skew"],
                     f"{largest} holds {share}" if measurable else ""),
            MeasuredValue("tiny-partitions", tiny, limits["tiny-partitions"],
                     f"{tiny:,} of {number:,} hold less than {human_bytes(target // 10)}" if partitioned else
                     "the table is not partitioned"),
        ),
        (
            SectionNumber("partitions", number), SectionNumber("partition fields", len(spec.fields) if spec else 0),
            SectionNumber("files in a partition, on average", round(float(files.mean()), 1) if number else None),
            SectionNumber("median partition", int(median) if number else None, "bytes"),
            SectionNumber("largest partition", most if number else None, "bytes"),
        ),
        tiles=_tiles(cells.append_column("saved", pa.array(_savings(cells, target))), metadata),
    )  # fmt: skip


def _label(cells: pa.Table, at: int, metadata: TableMetadata, field: str = "") -> str:
    """A partition's path, by its spec; of one field only, if it is named, by the newest spec that has the field."""
    value = row_dicts(cells.select(["partition"]).slice(at, 1))[0]["partition"] or {}
    if not field and (spec := metadata.spec(cells["spec_id"][at].as_py())):
        return shorten(partition_path_by_name(value, spec, metadata), 120) if spec.fields else "unpartitioned"
    names = {field} if field else {name for name, part in value.items() if part is not None}
    for spec in sorted(metadata.partition_specs, key=lambda s: (s.spec_id != metadata.default_spec_id, -s.spec_id)):
        own = {name: f for f in spec.fields for name in (f.name, f"{f.name}_{f.field_id}")}
        if names <= set(own) and spec.fields:
            of = replace(spec, fields=(own[field],)) if field else spec
            return shorten(partition_path_by_name(value, of, metadata), 120)
    return "unpartitioned"


def _tiles(cells: pa.Table, metadata: TableMetadata) -> tuple[Tile, ...]:
    """The partitions, the largest first; of many, those of each value of one field together, if one has few."""
    names = ("files", "bytes", "saved")
    partitions, field = np.ones(cells.num_rows, np.int64), ""
    if cells.num_rows > TILES:
        struct = cells["partition"].combine_chunks()
        values = {f.name: struct.field(i) for i, f in enumerate(struct.type)}
        few = {name: n for name, v in values.items() if 1 < (n := pc.count_distinct(v, mode="all").as_py()) <= TILES}
        field = max(few, key=lambda name: few[name], default="")
        if field:
            codes = values[field].dictionary_encode(null_encoding="encode").indices.to_numpy()
            first = np.unique(codes, return_index=True)[1]
            sums = {n: np.bincount(codes, cells[n].to_numpy()).astype(np.int64) for n in names}
            partitions = np.bincount(codes)
            cells = pa.table({"partition": cells["partition"].take(pa.array(first)), **sums})
    order = np.argsort(-cells["bytes"].to_numpy(), kind="stable")
    files, held, saved = (cells[name].to_numpy()[order] for name in names)
    partitions = partitions[order]
    drawn = len(order) if len(order) <= TILES else TILES - 1
    shown = [
        Tile(_label(cells, int(order[at]), metadata, field), int(files[at]), int(held[at]), int(saved[at]),
             int(partitions[at]))
        for at in range(drawn)
    ]  # fmt: skip
    if left := len(order) - drawn:
        rest = [int(some[drawn:].sum()) for some in (files, held, saved)]
        shown.append(Tile(f"{left:,} smaller ones", rest[0], rest[1], rest[2], left))
    return tuple(shown)


def deletes(
    facts: Facts, live: Sequence[LiveFile], metadata: TableMetadata, limits: Thresholds, at: Snapshot | None = None
) -> HealthSection:
    """The deletes of the snapshot (`live`), and how many of them each data file has to be read with. `at` is the
    snapshot."""
    cells = facts.cells
    kind, rows, files = (cells[name].to_numpy() for name in ("kind", "rows", "files"))
    applied = [file for at, file in enumerate(live) if at in facts.reaching]
    hidden, data = sum(max(0, f.record_count) for f in applied if not f.equality_ids), int(rows[kind == DATA].sum())
    by_kind = {k: int(files[kind == k].sum()) for k in (POSITION, EQUALITY, VECTOR)}
    loaded = sum(row["loaded"] or 0 for row in facts.rows.values())
    most, worst = max(((r["most"] or 0, r["worst"] or "") for r in facts.rows.values()), default=(0, ""))
    applying, pairs = (sum(row[name] or 0 for row in facts.rows.values()) for name in ("equality", "newer_equality"))
    at_once = sum(row["of_own_commit"] or 0 for row in facts.rows.values())
    caution = caution_words(at_once)
    data_bytes = int(cells["bytes"].to_numpy()[kind == DATA].sum())
    spread = equality_spread(metadata, live, pairs, applying, data_bytes)
    confined = f"{spread.words}. The statements: icedive inspect deletes TABLE" if spread.column else spread.words
    if by_kind[EQUALITY] and not applied and only_adds(metadata, at, data):
        confined = ". ".join(filter(None, (confined, needless_words(by_kind[EQUALITY]))))
    loads = [b for b in range(len(facts.loads)) if facts.loads[b]]
    span = range(loads[0], loads[-1] + 1) if loads else range(0)
    share = hidden / data if data else None
    measured = f"{hidden:,} of {data:,} rows, by the counts of delete files" if data else ""
    if data and any(file.equality_ids for file in applied):
        measured = f"at least {measured}: equality deletes hide rows too, and only the data tells how many (count)"
        share = share if hidden / data > limits["deleted-share"] else None
    labels = tuple("none" if b == 0 else "1" if b == 1 else f"{1 << (b - 1)} to {(1 << b) - 1}" for b in span)
    return HealthSection(
        "deletes", "Delete load", "current snapshot",
        (
            MeasuredValue("deletes-per-file", most, limits["deletes-per-file"], worst, caution),
            MeasuredValue("deleted-share", share, limits["deleted-share"], measured, caution),
            MeasuredValue("equality-deletes", by_kind[EQUALITY], limits["equality-deletes"], confined, caution),
            MeasuredValue(
                "dangling-deletes", len(live) - len(facts.reaching), limits["dangling-deletes"],
                _opened_words(facts, live),
            ),
        ),
        (
            SectionNumber("position delete files", by_kind[POSITION]),
            SectionNumber("equality delete files", by_kind[EQUALITY]),
            SectionNumber("deletion vectors", by_kind[VECTOR]),
            SectionNumber("data files that deletes apply to", loaded),
            SectionNumber("bytes of deletes", int(cells["bytes"].to_numpy()[kind != DATA].sum()), "bytes"),
            *([SectionNumber(HIDDEN_AT_ONCE, at_once)] if at_once else []),
        ),
        Bars("data files by the number of deletes that apply", labels,
             {"files": tuple(float(facts.loads[b]) for b in span)}) if live and loads else None,
    )  # fmt: skip


def _opened_words(facts: Facts, live: Sequence[LiveFile]) -> str:
    """Whether readers open deletes that hide nothing; empty where there are none."""
    if len(live) == len(facts.reaching):
        return ""
    opened = len(facts.used - facts.reaching)
    return f"readers open {opened:,} of them" if opened else "no reader opens their files"


def manifests(
    facts: Facts, listed: Sequence[ManifestFile], metadata: TableMetadata, limits: Thresholds
) -> HealthSection:
    """The snapshot's manifests: their sizes against the target, and how partitions are spread over them."""
    target = target_bytes(metadata.properties)
    lengths = np.array([m.manifest_length or 0 for m in listed], np.int64)
    together: Counter[tuple[int, int]] = Counter()
    alive = [m for m in listed if not m.is_only_deleted]
    for m in alive:
        together[m.content, m.partition_spec_id] += m.manifest_length or 0
    needed = [max(1, -(-length // target)) for length in together.values()]
    cells = sum_cells(facts.cells.filter(pc.equal(facts.cells["kind"], DATA)))
    spread, data = cells["manifests"].to_numpy(), [m for m in listed if m.content == 0]
    partitioned = cells.schema.field("partition").type.num_fields > 0 and len(spread)
    measurable = partitioned and sum(m.manifest_length or 0 for m in data) > target
    mean = float(spread.mean()) if len(spread) else 0.0
    current = [facts.rows[m.manifest_path] for m in listed if m.manifest_path in facts.rows]
    live, entries = sum(r["live"] or 0 for r in current), sum(r["entries"] for r in current)
    bits = np.frexp(lengths.astype(float))[1]
    span = range(int(bits.min()), int(bits.max()) + 1) if len(bits) else range(0)
    at = target.bit_length()
    size = human_bytes(int(lengths.sum()))
    measured = f"{count(len(listed), 'manifest')} ({size}), where {sum(needed):,} of {human_bytes(target)} would do"
    if gone := len(listed) - len(alive):
        measured += f"; {gone:,} of them hold only DELETED entries: no planner opens these, and they are not counted"
    spread_words = f"of {count(len(data), 'data manifest')}, at most {int(spread.max()):,}" if measurable else ""
    return HealthSection(
        "manifests", "Manifests", "current snapshot",
        (
            MeasuredValue("small-manifests", len(alive) - sum(needed), limits["small-manifests"], measured),
            MeasuredValue("manifests-per-partition", mean if measurable else None, limits["manifests-per-partition"],
                     spread_words),
            MeasuredValue("planning-bytes", sum(m.manifest_length or 0 for m in alive), limits["planning-bytes"],
                          f"of {count(len(alive), 'manifest')}"),
        ),
        (
            SectionNumber("data manifests", len(data)), SectionNumber("delete manifests", len(listed) - len(data)),
            SectionNumber("bytes", int(lengths.sum()), "bytes"),
            SectionNumber(f"target ({MANIFEST_TARGET})", target, "bytes"),
            SectionNumber("live entries", live), SectionNumber("entries of files that are gone", entries - live),
            SectionNumber("live entries in a manifest, on average", round(live / len(current), 1) if current else None),
            SectionNumber(
                "manifests that list files of one partition, on average",
                round(mean, 1) if len(spread) else None,
            ),
        ),
        Bars("manifests by size", tuple(_interval(b) for b in span),
             {"manifests": tuple(float((bits == b).sum()) for b in span)}, marked=at - span[0] if at in span else None,
             mark=f"target {human_bytes(target)}") if listed else None,
    )  # fmt: skip


def specs(facts: Facts, listed: Sequence[ManifestFile], metadata: TableMetadata, limits: Thresholds) -> HealthSection:
    """Live data files by the partition spec that they were written under."""
    spec_of = {m.manifest_path: m.partition_spec_id for m in listed if m.content == 0}
    by_spec = {s.spec_id: 0 for s in metadata.partition_specs}
    for path, spec_id in spec_of.items():
        by_spec[spec_id] = by_spec.get(spec_id, 0) + ((facts.rows.get(path) or {}).get("live") or 0)
    older = sum(n for spec_id, n in by_spec.items() if spec_id != metadata.default_spec_id)
    labels = tuple(f"spec {i}{', the current one' if i == metadata.default_spec_id else ''}" for i in by_spec)
    measured = f"{older:,} of {sum(by_spec.values()):,}"
    return HealthSection(
        "specs", "Partition specs", "current snapshot",
        (MeasuredValue("older-specs", older, limits["older-specs"], measured),),
        (SectionNumber("partition specs", len(metadata.partition_specs)),
         SectionNumber("current spec", metadata.default_spec_id)),
        Bars("data files by partition spec", labels, {"files": tuple(map(float, by_spec.values()))}),
    )  # fmt: skip


def clustering_section(columns: Sequence[Clustering], metadata: TableMetadata, limits: Thresholds) -> HealthSection:
    """How many files a query for one value opens, column by column."""
    order = metadata.sort_order(metadata.default_sort_order_id)
    first = metadata.field(order.fields[0].source_ids[0]) if order and order.fields else None
    sort_column = next((c for c in columns if first and c.name == first.name), None)
    measurable = sort_column is not None and sort_column.files >= 10
    measured = (
        f"{sort_column.name}: {sort_column.average:,.1f} of {count(sort_column.files, 'file')}"
        if sort_column
        else "no sort order"
    )
    share = sort_column.share if measurable and sort_column else None
    most = max(columns, key=lambda c: c.bounded, default=None)
    shown = [c for c in columns if c.bounded][:SHOWN]
    return HealthSection(
        "clustering", "Clustering", "current snapshot",
        (
            MeasuredValue("unclustered", share, limits["unclustered"], measured),
            MeasuredValue("unbounded", 1 - most.bounded / most.files if most and most.files else None,
                          limits["unbounded"], f"{most.name}: {count(most.files - most.bounded, 'file')} of "
                          f"{most.files:,}" if most else ""),
        ),
        (SectionNumber("columns with bounds", sum(c.bounded > 0 for c in columns)),
         SectionNumber("columns", len(columns))),
        Bars("files that a query for one value opens, by column", tuple(shorten(c.name, 40) for c in shown),
             {"share": tuple(c.share or 0.0 for c in shown)}, "share") if shown else None,
    )  # fmt: skip
