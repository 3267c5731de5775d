"""What becomes of manifests: at the next append, and in rewrite_manifests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from explorer.model.manifest import ManifestFile
from explorer.queries.metadata_tree import MetadataTree
from explorer.queries.miscounted_manifests import lost_words, uncounted_manifests
from explorer.spec.entries.entries import NO_LIVE
from explorer.spec.maintenance.manifest_merges import (
    append_bytes,
    has_live,
    next_append,
    rewrite_manifests,
)
from explorer.spec.schemas.partition_names import clashing_names, refusal_of_entries
from explorer.spec.text.names import manifest_names, snapshot_ordinals
from explorer.spec.text.units import count, human_bytes

RowDicts = list[dict[str, Any]]
KINDS = ("data", "deletes")
COLUMN_GONE = "a manifest is of a partition spec with a field whose column was dropped"
LIVE_BUT_DROPPED = f"{NO_LIVE}, though it has some"
"""Why an append drops a manifest that it must not drop."""


def plan_append(tree: MetadataTree) -> tuple[list[str], RowDicts]:
    """What an append by Iceberg's MergeAppend would do with the current snapshot's manifests: sentences, and a row a
    manifest."""
    metadata, listed = tree.metadata, tree.manifests(tree.metadata.current_snapshot)
    length = append_bytes(listed)
    bins = next_append(listed, metadata.properties, metadata.default_spec_id or 0, length)
    merged = [b for b in bins if b.merged]
    gone = [m for m in listed if not has_live(m)]
    lost = uncounted_manifests(tree)
    rows: RowDicts = []
    for number, group in enumerate(bins, 1):
        shared = {
            "becomes": "merged" if group.merged else "kept", "bin": number, "reason": group.reason,
            "content": KINDS[min(group.content, 1)], "partition_spec_id": group.spec_id,
        }  # fmt: skip
        new = {"manifest": "(the append's own)", "manifest_path": None, "bytes": length}
        rows += [shared | row for row in (*([new] if group.with_new else []), *_manifest_rows(tree, group.manifests))]
    left = "no live file is left in it"
    rows += [
        {
            "becomes": "dropped",
            "bin": None,
            "reason": LIVE_BUT_DROPPED if m.manifest_path in lost else left,
            **_facts(m),
            **row,
        }
        for m, row in zip(gone, _manifest_rows(tree, gone), strict=True)
    ]
    before, after = len(listed), sum(1 if b.merged else len(b.manifests) + b.with_new for b in bins)
    sentences = [lost_words(lost)] if lost else []
    sentences += [
        f"An append would leave {count(after, 'manifest')} where there are {before}, with its own of about "
        f"{human_bytes(length)}."
    ]
    for group in merged:
        sentences.append(
            f"{count(len(group.manifests), f'{KINDS[min(group.content, 1)]} manifest')} of partition spec "
            f"{group.spec_id} ({human_bytes(group.bytes)}) would become one: {group.reason}. Their entries turn "
            "EXISTING, those that are DELETED are left out."
        )
    if not merged:
        sentences.append("Nothing would be merged: " + "; ".join(dict.fromkeys(b.reason for b in bins)) + ".")
    sentences.append("Spark's batch writes append so (newAppend); its streaming writes (newFastAppend) merge nothing.")
    return sentences, rows


def plan_rewrite_manifests(
    tree: MetadataTree, spec_id: int | None, sort_by: Sequence[str] = ()
) -> tuple[list[str], RowDicts]:
    """What rewrite_manifests would do: sentences, and a row a manifest. Raises ValueError with Iceberg's reason."""
    metadata, listed = tree.metadata, tree.manifests(tree.metadata.current_snapshot)
    wanted = metadata.default_spec_id if spec_id is None else spec_id
    spec = metadata.spec(wanted)
    if spec is None:
        raise ValueError(f"there is no partition spec {wanted}")
    if unknown := [name for name in sort_by if name not in {f.name for f in spec.fields}]:
        raise ValueError(f"there is no field {unknown[0]!r} of partition spec {wanted} to sort by")
    plans = rewrite_manifests(listed, metadata.properties, wanted or 0)
    clashes = clashing_names(metadata)
    refusal = refusal_of_entries(metadata, {m.partition_spec_id for m in listed})
    if refusal and (clashes or any(plan.rewritten for plan in plans)):
        why = "two partition fields have one name" if clashes else COLUMN_GONE
        raise ValueError(f"{refusal}: {why} (icedive doctor TABLE has the statements that mend it)")
    sentences, rows = [], RowDicts()
    for plan in plans:
        kind = ("data", "delete")[plan.content]
        if plan.rewritten:
            sentences.append(
                f"{count(len(plan.manifests), f'{kind} manifest')} of partition spec {wanted} would become about "
                f"{plan.wanted}, their entries sorted by {', '.join(sort_by) or 'partition'}: {plan.reason}. No file "
                "changes."
            )
        elif plan.manifests or plan.content == 0:
            sentences.append(f"No {kind} manifest would be written anew: {plan.reason}.")
        becomes = "rewritten" if plan.rewritten else "left"
        rows += [
            {"becomes": becomes, "reason": plan.reason, **_facts(m), **row}
            for m, row in zip(plan.manifests, _manifest_rows(tree, plan.manifests), strict=True)
        ]
    if gone := sum(m.is_only_deleted for m in listed):
        sentences.append(
            f"{count(gone, 'manifest')} {'holds' if gone == 1 else 'hold'} only DELETED entries: no planner opens "
            f"{'it' if gone == 1 else 'them'}, and the next commit that merges manifests drops "
            f"{'it' if gone == 1 else 'them'} (icedive maintain preview TABLE next-append)."
        )
    others = [m for m in listed if m.partition_spec_id != wanted]
    why = f"it is not of partition spec {wanted}: call it with its spec_id"
    rows += [
        {"becomes": "left", "reason": why, **_facts(m), **row}
        for m, row in zip(others, _manifest_rows(tree, others), strict=True)
    ]
    if others:
        specs = ", ".join(map(str, sorted({m.partition_spec_id for m in others})))
        sentences.append(
            f"{count(len(others), 'manifest')} of other partition specs ({specs}) would be left: see spec_id."
        )
    return sentences, rows


def _facts(manifest: ManifestFile) -> Mapping[str, Any]:
    return {"content": KINDS[min(manifest.content, 1)], "partition_spec_id": manifest.partition_spec_id}


def _manifest_rows(tree: MetadataTree, manifests: Any) -> Iterator[dict[str, Any]]:
    listed = list(manifests)
    names = manifest_names(((m.manifest_path, m.added_snapshot_id) for m in listed), snapshot_ordinals(tree.metadata))
    for manifest in listed:
        yield {
            "manifest": names[manifest.manifest_path],
            "manifest_path": manifest.manifest_path,
            "bytes": manifest.manifest_length,
        }
