"""Deletes, rows, row diffs and row histories as JSON and as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any

import pyarrow as pa

from explorer.render.rows import plain
from explorer.render.text import clean, render_fields, render_table
from explorer.spec.deletes.delete_layers import Layer
from explorer.spec.deletes.deletes import KIND_WORDS, missing_place_words, refusal
from explorer.spec.deletes.shared_targets import shared_target_words
from explorer.spec.deletes.snapshot_deletes import Deletes
from explorer.spec.entries.live_files import LiveFile
from explorer.spec.rows.row_diff import RepeatedKeys, RowDiff
from explorer.spec.rows.row_versions import RowEvent, RowVersion
from explorer.spec.text.names import base_name
from explorer.spec.text.units import count, human_bytes, second
from explorer.spec.values.values import row_dicts


def delete_rows(deletes: Deletes, limit: int | None = None) -> Iterator[dict[str, Any]]:
    """A pair a row: data_file, delete_file, kind, applies, reasons. A delete that applies to none has a row without a
    data file. Of either there are `limit` at most."""
    for v in islice(deletes.verdicts, limit):
        reasons = [{"clause": r.clause, "holds": r.holds, "words": r.words} for r in v.reasons]
        yield _delete_row(v.data.path, v.delete, v.applies, reasons)
    for delete in deletes.alone[:limit]:
        alone = {
            "clause": "dangling" if deletes.whole else "unknown",
            "holds": False,
            "words": deletes.why_alone(delete),
        }
        yield _delete_row(None, delete, False, [alone])


def _delete_row(
    data: str | None, delete: LiveFile, applies: bool, reasons: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    return {
        "data_file": data,
        "delete_file": delete.path,
        "content_offset": delete.content_offset,
        "kind": KIND_WORDS[delete.kind],
        "applies": applies,
        "reasons": reasons,
    }


def delete_lines(deletes: Deletes, limit: int | None = None, confining: Iterable[str] = ()) -> Iterator[str]:
    """Pairs by data file, with the clauses; then deletes that apply to none, of either `limit` at most, and what
    reading costs: the dearest ten; and how far bounds confine equality deletes, with what would (`confining`)."""
    path = None
    for v in islice(deletes.verdicts, limit):
        if v.data.path != path:
            path = v.data.path
            yield clean(f"{base_name(path)} (sequence number {v.data.sequence_number})")
        word = "applies" if v.applies else "does not apply"
        at = v.delete.at if v.delete.kind == "deletion_vector" else ""
        yield clean(f"  {word}: {KIND_WORDS[v.delete.kind]} {base_name(v.delete.path)}{at}")
        yield from (clean(f"    {'+' if r.holds else '-'} {r.words}") for r in v.reasons)
    for d in deletes.alone[:limit]:
        word = "dangling" if deletes.whole else "perhaps dangling"
        yield clean(f"{word}: {KIND_WORDS[d.kind]} {base_name(d.path)}")
        yield clean(f"    - {deletes.why_alone(d)}")
    blocks = [
        f"{base_name(c.data.path)} {count(c.deletes, 'delete')} ({human_bytes(c.delete_bytes)})"
        for c in deletes.costs[:10]
        if c.deletes
    ]
    yield clean("a reader opens: " + ("; ".join(blocks) if blocks else "no deletes"))
    yield from map(clean, confining)
    yield from map(clean, shared_target_words(deletes.files.metadata, deletes.files.deletes))
    if deletes.refused:
        yield f"⚠ {refusal(deletes.refused)}"
    if deletes.unplaced:
        yield clean(f"⚠ {missing_place_words(deletes.unplaced)}")


def row_diff_json(diff: RowDiff) -> dict[str, Any]:
    """A row diff as JSON, all rows that it has."""
    changes = diff.changes
    pairs = zip(row_dicts(changes.updated_before), row_dicts(changes.updated_after), strict=True)
    return {
        "before": diff.before,
        "after": diff.after,
        "paired_by": list(diff.paired_by),
        "counts": dict(diff.counts),
        "made": diff.engine_note,
        "partitions": diff.partitions,
        "files_read": diff.files_read,
        "files": diff.files,
        "note": diff.note,
        "repeated_keys": {
            "number": diff.repeated.number,
            "at_least": diff.repeated.at_least,
            "first": [
                {"key": plain(key.values), "before": key.before, "after": key.after} for key in diff.repeated.first
            ],
        },
        "inserted": plain(row_dicts(changes.inserted)),
        "deleted": plain(row_dicts(changes.deleted)),
        "updated": [{"before": plain(a), "after": plain(b)} for a, b in pairs],
    }


def change_table(diff: RowDiff, limit: int | None = None) -> pa.Table:
    """All changed rows in one table: `change` is inserted, deleted, before or after (an update is two rows, one after
    the other)."""
    changes = diff.changes
    parts = []
    updates = min(changes.updated_after.num_rows, limit or changes.updated_after.num_rows)
    if updates:
        both = pa.concat_tables([changes.updated_before, changes.updated_after])
        total = changes.updated_after.num_rows
        order = [i for n in range(updates) for i in (n, n + total)]
        parts.append(both.take(order).add_column(0, "change", pa.array(["before", "after"] * updates)))
    for name, rows in (("deleted", changes.deleted), ("inserted", changes.inserted)):
        part = rows.slice(0, limit) if limit else rows
        parts.append(part.add_column(0, "change", pa.array([name] * part.num_rows, pa.string())))
    return pa.concat_tables(parts)


def row_diff_words(diff: RowDiff) -> str:
    """The counts in a sentence."""
    counts = diff.counts
    keys = f", told by {', '.join(diff.paired_by)}" if diff.paired_by else "; no key tells updates"
    sentence = f"{counts['inserted']:,} inserted, {counts['deleted']:,} deleted, {counts['updated']:,} updated{keys}."
    changes = diff.changes
    held = changes.inserted.num_rows + changes.deleted.num_rows + changes.updated_after.num_rows
    if held < sum(counts.values()):
        sentence += f" {held:,} of them came back of Spark."
    more = [f"{diff.note}."] if diff.note else []
    more += [duplicate_key_words(diff.repeated)] if diff.repeated.number else []
    return " ".join([sentence, f"{diff.files_read:,} of {count(diff.files, 'data file')} read.", *more])


def duplicate_key_words(repeated: RepeatedKeys) -> str:
    """Say which keys several rows of one side have."""
    keys = "; ".join(
        f"{', '.join(f'{name}={plain(value)!r}' for name, value in key.values.items())} "
        f"({count(key.before, 'row')} before, {key.after:,} after)"
        for key in repeated.first
    )
    more = f" and {repeated.number - len(repeated.first):,} more" if repeated.number > len(repeated.first) else ""
    verb = "has" if repeated.number == 1 else "have"
    number = count(repeated.number, "key")
    what = f"At least {number}, in the files that were read, {verb}" if repeated.at_least else f"{number} {verb}"
    return (
        f"⚠ {what} several rows on one side: {keys}{more}. "
        "Rows of such a key stay inserted and deleted, or make an update that nobody may have meant."
    )


def render_row_diff(diff: RowDiff, limit: int = 50) -> str:
    """A row diff as text: the counts, and the first rows of each kind."""
    marks = {"inserted": "+", "deleted": "-", "before": "~-", "after": "~+"}
    shown = [
        {"": marks[r["change"]]}
        | {c: plain(r[c]) for c in diff.columns}
        | {"in": f"{base_name(r['_file'])}:{r['_pos']}"}
        for r in row_dicts(change_table(diff, limit))
    ]
    parts = [{"partition": name or "(unpartitioned)"} | dict(n) for name, n in sorted(diff.partitions.items())]
    tail = render_table(parts, 120) if len(parts) > 1 else ""
    held = {change: table.num_rows for change, table in vars(diff.changes).items()}
    cut = (
        f"The first {limit} rows of each kind are shown; --output json has more\n" if max(held.values()) > limit else ""
    )
    return (render_table(shown, 160) if shown else "") + cut + clean(row_diff_words(diff)) + "\n" + tail


def event_rows(events: Iterable[RowEvent], columns: Sequence[str]) -> list[dict[str, Any]]:
    """The events of a row history for a table."""
    return [
        {
            "when": second(e.timestamp_ms), "snapshot": e.snapshot, "what": e.what,
            "row": ", ".join(f"{c}={plain(e.row.get(c))}" for c in columns),
            "at": f"{base_name(e.file)}:{e.pos}{_copy(e.copy)}",
            "how": e.words,
        }
        for e in events
    ]  # fmt: skip


def _copy(number: int) -> str:
    """Which live entry of its file a row is read for, where there are several."""
    return f" (entry {number + 1})" if number else ""


def layer_rows(layers: Iterable[Layer]) -> list[dict[str, Any]]:
    """Data files and deletes by data sequence number, from below, a row each."""
    return [asdict(layer) | {"kind": KIND_WORDS.get(layer.kind, "data")} for layer in layers]


def version_rows(versions: Iterable[RowVersion], names: Sequence[str]) -> list[dict[str, Any]]:
    """Each stored row, and from which snapshot to which readers see it, or what hides it; `names` are those of all
    snapshots, in order."""
    return [
        {
            "file": v.file, "pos": v.pos, "copy": v.copy, "row": plain(v.row),
            "stretches": [
                {"first": names[s.first], "last": names[s.last], "hidden_by": s.hidden_by or None} for s in v.stretches
            ],
        }
        for v in versions
    ]  # fmt: skip


def row_history_json(
    events: Iterable[RowEvent], explained: Mapping[str, Sequence[str]], versions: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """A row history as JSON: events, the sentences for each snapshot asked about, and `version_rows`."""
    names = ("snapshot_id", "snapshot", "timestamp_ms", "what", "file", "pos", "copy", "row", "by", "words")
    return {
        "events": [{n: plain(getattr(e, n)) for n in names} for e in events],
        "explained": {k: list(v) for k, v in explained.items()},
        "versions": list(versions),
    }


def render_row_history(events: Iterable[RowEvent], columns: Sequence[str], sentences: Sequence[str]) -> str:
    """A row history as text: the timeline, then the answer."""
    lines = [
        f"{e['when']} {e['snapshot']} {e['what']}: {e['row']} ({e['at']}): {e['how']}"
        for e in event_rows(events, columns)
    ]
    return "\n".join(clean(line) for line in [*lines, "", *sentences]) + "\n"


FOOTER_COLUMNS = ("path", "field_id", "type", "logical_type")
CHUNK_COLUMNS = ("path", "field_id", "min", "max", "null_count", "total_compressed_size", "compression")


def footer_words(footer: Mapping[str, Any]) -> str:
    """A Parquet footer in a sentence."""
    groups = count(len(footer["row_groups"]), "row group")
    return f"{count(footer['num_rows'], 'row')} in {groups}, written by {footer['created_by'] or 'nobody knows what'}."


def chunk_rows(footer: Mapping[str, Any], group: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The column chunks of a row group, a row each: CHUNK_COLUMNS."""
    ids = {column["path"]: column["field_id"] for column in footer["columns"]}
    return [
        {n: ids.get(chunk["path"]) if n == "field_id" else plain(chunk[n]) for n in CHUNK_COLUMNS}
        for chunk in group["columns"]
    ]


def render_footer(footer: Mapping[str, Any]) -> str:
    """A footer (table.Table.footer) as text: of Parquet columns with field ids, key-value metadata, and row groups with
    statistics of each column chunk."""
    if "row_groups" not in footer:
        return render_fields(footer)
    columns = [{name: column[name] for name in FOOTER_COLUMNS} for column in footer["columns"]]
    parts = [f"{clean(footer_words(footer))}\n", render_table(columns), render_fields(footer["key_value_metadata"])]
    for group in footer["row_groups"]:
        size = f"{count(group['num_rows'], 'row')}, {human_bytes(group['total_byte_size'])} at offset {group['offset']}"
        parts.append(f"row group {group['ordinal']}: {size}\n{render_table(chunk_rows(footer, group))}")
    return "\n".join(parts)
