"""Part 1, figure 8 (docs/texts.md), line by line as its text has it, from the graph that the screen draws."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.helpers import open_demo

FIGURE_8 = {
    1: {"manifest-1": {"data-1.parquet": "ADDED", "data-2.parquet": "ADDED"}},
    2: {"manifest-2": {"data-1.parquet": "DELETED", "data-2.parquet": "EXISTING"}},
    3: {
        "manifest-2": {"data-1.parquet": "filtered", "data-2.parquet": "EXISTING"},
        "manifest-3": {"data-3.parquet": "ADDED"},
    },
    4: {"manifest-3": {"data-3.parquet": "EXISTING"}, "manifest-4": {"data-2.parquet": "DELETED"}},
    5: {"manifest-3": {"data-3.parquet": "EXISTING"}, "manifest-5": {"data-4.parquet": "ADDED"}},
}


@pytest.mark.parametrize("n", FIGURE_8)
def test_figure_8(n: int, sandbox: Path) -> None:
    graph = open_demo("manifest_lifecycle").graph(f"snapshot-{n}")
    labels = {node.id: node.label for node in graph.nodes}
    drawn: dict[str, dict[str, str]] = {}
    for edge in graph.edges:
        if labels[edge.source].startswith("manifest list"):
            drawn.setdefault(labels[edge.target], {})
    for edge in graph.edges:
        if labels[edge.source] in drawn:
            drawn[labels[edge.source]][labels[edge.target]] = edge.status
    assert drawn == FIGURE_8[n]
    assert not graph.elided
