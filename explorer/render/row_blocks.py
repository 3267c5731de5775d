"""Answers about rows as blocks: counts, differences and histories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from explorer.render.blocks import Block, Notice, Picture, Rows, Text
from explorer.render.doctor import by_summary_words, live_rows_json, live_rows_words
from explorer.render.row_views import event_rows, row_diff_words
from explorer.render.text import clean
from explorer.spec.deletes.deletes import refusal
from explorer.spec.rows.live_rows import LiveRows
from explorer.spec.rows.row_diff import RowDiff
from explorer.spec.rows.row_versions import RowEvent


def count_blocks(counted: LiveRows) -> list[Block]:
    """Return counted rows: the sentence, and what each delete hides."""
    rows = [{"delete_file": one.pop("path"), **one} for one in live_rows_json(counted)["deletes"]]
    refused = [Notice(clean(refusal(counted.refused)), "warning")] if counted.refused else []
    hidden = [Rows(rows, "What each delete hides")] if rows else []
    by_summary = [Notice(by_summary_words(counted), "warning")] if by_summary_words(counted) else []
    return [Notice(clean(live_rows_words(counted))), *refused, *by_summary, *hidden]


def row_diff_blocks(diff: RowDiff, changes: Sequence[Mapping[str, Any]]) -> list[Block]:
    """Return what differs between two snapshots: the counts, the changed rows, and the counts of each partition."""
    first, *warnings = row_diff_words(diff).split("⚠ ")
    parts = [{"partition": name or "(unpartitioned)"} | dict(n) for name, n in sorted(diff.partitions.items())]
    blocks: list[Block] = [Notice(clean(first.strip())), *(Notice(clean(one), "warning") for one in warnings)]
    blocks += [Rows(changes)] if len(changes) else []
    return [*blocks, *([Rows(parts, "By partition")] if len(parts) > 1 else [])]


def row_history_blocks(
    events: Iterable[RowEvent], columns: Sequence[str], sentences: Sequence[str], picture: str
) -> list[Block]:
    """Return what happened to rows: why they are seen or not, the picture, and the events."""
    rows = [
        {
            "what": row["what"], "when": row["when"], "snapshot_id": event.snapshot_id, "snapshot": row["snapshot"],
            "row": row["row"], "how": row["how"], "file_path": event.file, "position": event.pos,
        }
        for event, row in zip(events, event_rows(events, columns), strict=True)
    ]  # fmt: skip
    first, *rest = map(clean, sentences)
    answer: list[Block] = [Notice(first), *([Text(tuple(rest))] if rest else []), Picture(picture)]
    return [*answer, *([Rows(rows, "Events")] if rows else [])]
