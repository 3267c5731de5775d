"""What the cells of notebooks must have found. It is checked here, because an assert in a notebook tells the answer of
the exercise above it."""

from __future__ import annotations

from collections.abc import Mapping

CHECKS: Mapping[str, str] = {
    "01 cell-07": """
assert [len(fruit.inspect.manifests(snapshot=f"snapshot-{n}")) for n in (1, 2, 3)] == [1, 2, 3]
""",
}
"""Source to run after a cell, by the number of the notebook and the id of the cell."""
