"""What each commit wrote, as SVG: data and delete files, and below them metadata."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.graph.vocabulary import KINDS
from explorer.render.pictures import WIDTH, link_attributes, sentence, stack, svg_head, text, title_tag
from explorer.render.svg_colors import FAINT
from explorer.spec.commits.costs import CommitCost, RunCost
from explorer.spec.text.units import count, human_bytes

LEFT, RIGHT, TOP, HEIGHT, LABELS = 76, 16, 34, 130, 22
SHOWN, NAMED = 300, 14
"""Commits that are drawn, the newest; commits that are named below."""
WRITTEN = {
    "files": {"data files": "data_file", "delete files": "position_deletes"},
    "metadata": {"manifests": "data_manifest", "manifest list": "manifest_list", "metadata.json": "metadata"},
}
"""What commits write, with the kind whose color it has."""


def commit_bytes(cost: CommitCost) -> dict[str, int | None]:
    """Return the bytes that a commit wrote, by what they are; None where the size is not known."""
    return {
        "data files": cost.bytes_added - cost.delete_bytes_added, "delete files": cost.delete_bytes_added,
        "manifests": cost.manifest_bytes, "manifest list": cost.manifest_list_bytes,
        "metadata.json": cost.metadata_json_bytes,
    }  # fmt: skip


def commits_svg(run: RunCost) -> str:
    """Draw the bytes that commits wrote: one picture of files, one of metadata."""
    if not run.commits:
        return sentence("There is no commit.")
    shown = run.commits[-SHOWN:]
    return stack([_stacked(shown, what, len(run.commits) - len(shown)) for what in WRITTEN], "what each commit wrote")


def _stacked(commits: Sequence[CommitCost], what: str, left_out: int) -> str:
    parts, sizes = WRITTEN[what], [commit_bytes(cost) for cost in commits]
    most = max((sum(size[part] or 0 for part in parts) for size in sizes), default=0) or 1
    base, step = TOP + HEIGHT, (WIDTH - LEFT - RIGHT) / len(commits)
    out = [svg_head(base + LABELS, f"{what} written"), text(0, 14, f"{what} written", 'font-weight="600"')]
    x = 190.0
    for part, kind in parts.items():
        out.append(f'<rect x="{x}" y="4" width="12" height="12" fill="{KINDS[kind].color}"/>')
        out.append(text(x + 18, 14, part, 'font-size="12"'))
        x += 120
    if left_out:
        out.append(text(WIDTH - RIGHT, 14, f"… {count(left_out, 'older commit')}", 'text-anchor="end" font-size="12"'))
    for share in (0.0, 0.5, 1.0):
        y = base - HEIGHT * share
        out.append(f'<path d="M{LEFT},{y:.1f} H{WIDTH - RIGHT}" {FAINT}/>')
        out.append(text(LEFT - 6, y + 4, human_bytes(round(most * share)), 'text-anchor="end" font-size="11"'))
    every, wide = max(1, -(-len(commits) // NAMED)), min(46.0, step * 0.8)
    for at, (cost, size) in enumerate(zip(commits, sizes, strict=True)):
        middle, y = LEFT + step * (at + 0.5), float(base)
        words = ", ".join(f"{part} {'?' if size[part] is None else human_bytes(size[part])}" for part in parts)
        out.append(f"<g{link_attributes('snapshot', str(cost.snapshot_id))}>")
        out.append(title_tag(f"{cost.snapshot}, {cost.operation or 'no operation'}: {words}"))
        for part, kind in parts.items():
            high = HEIGHT * (size[part] or 0) / most
            y -= high
            box = f'x="{middle - wide / 2:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}"'
            out.append(f'<rect {box} fill="{KINDS[kind].color}"/>')
        if any(size[part] is None for part in parts) and wide > 8:
            out.append(text(middle, y - 4, "?", 'text-anchor="middle" font-size="12"'))
        if at % every == 0:
            name = cost.snapshot if step * every > 80 else cost.snapshot.removeprefix("snapshot-")
            out.append(text(middle, base + 15, name, 'text-anchor="middle" font-size="11"'))
        out.append("</g>")
    if any(size[part] is None for size in sizes for part in parts):
        out.append(text(LEFT, TOP - 4, "?: a file of the commit is gone, so its size is not known", 'font-size="11"'))
    return "\n".join([*out, "</svg>"])
