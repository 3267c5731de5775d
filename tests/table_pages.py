"""Write docs/teaching-tables.md from the scenarios: `python -m tests.table_pages`."""

from __future__ import annotations

from pathlib import Path

from explorer.lab.scenarios import NAMESPACE, SCENARIOS, Scenario

TARGET = Path(__file__).parents[1] / "docs" / "teaching-tables.md"
HEAD = """# Teaching tables

Spark wrote these tables by real commits. Each reproduces one mechanism of Iceberg. `icedive demo` unpacks them in
seconds, without Java. Then `icedive open sandbox.demo.NAME` shows one on the page, and every command takes its name. On
the website each of them is a live page: step through its snapshots, unfold manifests, search, and read what the
inspector says.

`python -m tests.table_pages` writes this page. Part 1, the walk-through and the hierarchy are the [texts](texts.md)
whose figures the tables reproduce.
"""


def text() -> str:
    """Return the page."""
    return "\n".join([HEAD, *map(_section, SCENARIOS)])


def _section(scenario: Scenario) -> str:
    facts = [f"format version {scenario.format_version}", f"from {scenario.source}"]
    if scenario.snapshots:
        operations = ", ".join(claim.operation for claim in scenario.snapshots)
        facts.insert(0, f"{len(scenario.snapshots)} snapshots ({operations})" if len(scenario.snapshots) > 1 else
                     f"1 snapshot ({operations})")  # fmt: skip
    return f"## {NAMESPACE}.{scenario.name}\n\n{scenario.teaches}.\n\n*{'; '.join(facts)}.*\n"


if __name__ == "__main__":
    TARGET.write_text(text())
