"""All scenarios, in the order a course would take them."""

from __future__ import annotations

from explorer.scenarios import evolution, layout, lifecycle, rowlevel
from explorer.scenarios.claims import ManifestClaim, Scenario, SnapshotClaim

NAMESPACE = "demo"
SCENARIOS: tuple[Scenario, ...] = (
    *lifecycle.SCENARIOS,
    *rowlevel.SCENARIOS,
    *layout.SCENARIOS,
    *evolution.SCENARIOS,
    *lifecycle.LAST,
)

__all__ = ["NAMESPACE", "SCENARIOS", "ManifestClaim", "Scenario", "SnapshotClaim"]
