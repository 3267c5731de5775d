"""What each test needs, and which tests `make test` runs and which are left to `make test-rest`: by their files.

The first tier has what needs no Spark and no browser, and of these what shows in seconds that each works at all. Times
of a whole run (`--durations`, `--junitxml`) say what belongs where."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

TESTS = Path(__file__).parents[1]
FIRST = ("unit", "properties", "golden", "security")
"""Folders whose files are of the first tier, but for SLOW."""
SLOW = {
    "unit/test_spark_refusals.py", "golden/test_foreign_tables.py", "security/test_agents.py",
    "security/test_bounds.py", "security/test_catalogs.py",
    "security/test_damage.py", "security/test_files.py", "security/test_growth.py", "security/test_jupyter.py",
    "security/test_patterns.py", "security/test_regexes.py", "security/test_sql.py",
}  # fmt: skip
"""Files of these folders that are left to the rest."""
ONE_OF_EACH = {
    "spark/test_packed.py", "spark/test_few_summaries.py", "spark/test_excluded_deletes.py", "spark/test_planning.py",
    "spark/test_maintenance_plans.py", "spark/test_reads.py", "browser/test_app.py",
}  # fmt: skip
"""Files of the other folders that are of the first tier: a pass of Spark for each kind of use, and of the page."""
NEEDS = {
    "spark": (("spark", "notebooks"), ("engine",)),
    "browser": (("browser",), ("chromium",)),
    "server": (("servers",), ()),
}
"""Markers of what a test needs: the folders whose tests have it, and the fixtures that make it so in other folders."""


def is_rest(path: Path) -> bool:
    """Whether a test's file is left to `make test-rest`."""
    inside = path.relative_to(TESTS)
    own = inside.as_posix()
    return own in SLOW or (inside.parts[0] not in FIRST and own not in ONE_OF_EACH)


def needs(path: Path, fixtures: Collection[str]) -> list[str]:
    """The markers of a test by its file and fixtures: `spark`, `browser`, `server`, or `unit` if it needs none."""
    folder = path.relative_to(TESTS).parts[0]
    markers = [
        marker
        for marker, (folders, names) in NEEDS.items()
        if folder in folders or any(name in fixtures for name in names)
    ]
    return markers or ["unit"]
