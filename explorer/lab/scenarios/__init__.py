"""Teaching tables. Real commits build each table in the sandbox; its claims are data."""

from explorer.lab.scenarios.build import available_names, build_all, fresh_copy, missing, origin, reset_copy, unpack_all
from explorer.lab.scenarios.registry import NAMESPACE, SCENARIOS, Scenario, SnapshotClaim

__all__ = [
    "NAMESPACE",
    "SCENARIOS",
    "Scenario",
    "SnapshotClaim",
    "available_names",
    "build_all",
    "fresh_copy",
    "missing",
    "origin",
    "reset_copy",
    "unpack_all",
]
