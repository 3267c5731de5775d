"""All scenarios, in the order a course would take them."""

from __future__ import annotations

from explorer.lab.scenarios import evolution, layout, lifecycle, rowlevel
from explorer.lab.scenarios.claims import ManifestClaim, Scenario, SnapshotClaim
from explorer.storage.catalogs.sandbox_entries import NAMESPACE

SCENARIOS: tuple[Scenario, ...] = (
    *lifecycle.SCENARIOS,
    *rowlevel.SCENARIOS,
    *layout.SCENARIOS,
    *evolution.SCENARIOS,
    *lifecycle.LAST,
)

__all__ = ["NAMESPACE", "SCENARIOS", "ManifestClaim", "Scenario", "SnapshotClaim"]
