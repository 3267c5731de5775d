"""The metadata tree as the app draws it: many nodes at once, long manifest lists in groups, and, where it is not asked
for all levels, metadata files and manifest lists as parts of the snapshots' cards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from explorer.app.graph_state import ViewState
from explorer.graph.graph import Elided
from explorer.graph.source import GraphView
from explorer.table import Table

LEVEL = 500
"""Nodes of one level that are drawn at once."""
SNAPSHOTS = 60
"""Snapshots that are drawn at once."""
GROUPED = 40
"""More manifests of one manifest list are drawn in groups."""


class TreeState(ViewState):
    """A table as of one snapshot.

    Args:
        table: The table.
        snapshot: The snapshot in view; the current one if None.
        has_all_levels: Whether metadata files and manifest lists have nodes of their own.
    """

    def __init__(self, table: Table, snapshot: str | int | None = None, has_all_levels: bool = True) -> None:
        self._has_all_levels = has_all_levels
        super().__init__(table, snapshot)

    def first_view(self, snapshot: str | int | None) -> GraphView:
        """See ViewState."""
        return replace(
            super().first_view(snapshot), page_size=LEVEL, snapshots_at_once=SNAPSHOTS,
            has_all_levels=self._has_all_levels, groups_above=GROUPED,
        )  # fmt: skip

    def asked(self) -> dict[str, Any]:
        """With whether all levels are drawn."""
        return {**super().asked(), "levels": self._has_all_levels}

    def show_levels(self, all_levels: bool) -> None:
        """Draw all levels, or not."""
        if all_levels != self._has_all_levels:
            self._has_all_levels = all_levels
            self.view = replace(self.view, has_all_levels=all_levels)
            self._draw()

    def _carry_out(self, kind: str, request: Mapping[str, Any]) -> None:
        if kind == "levels":
            self.show_levels(bool(request.get("value")))
        else:
            super()._carry_out(kind, request)

    def _bring_up(self, group: Elided) -> None:
        if group.action == "levels":
            self.show_levels(True)
        super()._bring_up(group)
