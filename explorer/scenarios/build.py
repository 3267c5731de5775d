"""Build scenarios into the sandbox, skipping what is there. A table appears under its name only when it is complete."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from explorer.engines.spark import SANDBOX, SparkEngine
from explorer.errors import TableNotFound
from explorer.io.home import sandbox_home
from explorer.io.paths import local_path
from explorer.io.sandbox import catalog_entries, forget_entries, other_sandbox
from explorer.scenarios.registry import NAMESPACE, SCENARIOS, Scenario
from explorer.scenarios.workshop import BUILDING, Workshop


def built() -> set[str]:
    """Names of the scenarios whose tables are in the sandbox, with their files."""
    sandbox = sandbox_home()
    entries = catalog_entries(sandbox)
    return {
        s.name
        for s in SCENARIOS
        if (location := entries.get(f"{NAMESPACE}.{s.name}")) is not None
        and other_sandbox(sandbox, location) is None
        and os.path.isfile(local_path(location) or "")
    }


def missing() -> list[Scenario]:
    """Scenarios that are not built yet, in teaching order."""
    done = built()
    return [s for s in SCENARIOS if s.name not in done]


def build_all(
    engine: SparkEngine, scenarios: Sequence[Scenario], progress: Callable[[str, int, int], None] = lambda *_: None
) -> None:
    """Build these scenarios in order; `progress(name, done, total)` is called before each and at the end.

    What an earlier, broken-off run left of them under construction is removed first; what else is under construction
    is another process's. A failure removes the table it was building, leaves the finished ones, and is raised."""
    spark = engine.session()
    for namespace in (NAMESPACE, BUILDING):
        spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {SANDBOX}.{namespace}")
    for i, scenario in enumerate(scenarios):
        progress(scenario.name, i, len(scenarios))
        _discard(engine, scenario.name)
        location = engine.sandbox / "warehouse" / NAMESPACE / scenario.name
        workshop = Workshop(engine, scenario.name, str(location))
        try:
            scenario.build(workshop)
            forget_entries(engine.sandbox, [f"{NAMESPACE}.{scenario.name}"])  # one whose files are gone
            spark.sql(f"ALTER TABLE {SANDBOX}.{BUILDING}.{scenario.name} RENAME TO {NAMESPACE}.{scenario.name}")
        except BaseException:
            _discard(engine, scenario.name)
            raise
    progress("", len(scenarios), len(scenarios))
    if scenarios and not engine.in_users_spark:
        engine.keep_classes()  # of all that the teaching tables needed


LAB = "lab"


def fresh_copy(engine: SparkEngine, name: str) -> str:
    """Build a teaching table anew in the sandbox's `lab` namespace, to be changed at will; returns its name there,
    `lab.<name>_<n>`. Raises TableNotFound for an unknown scenario."""
    scenario = next((s for s in SCENARIOS if s.name == name), None)
    if scenario is None:
        raise TableNotFound(f"no teaching table {name!r}: there are {', '.join(s.name for s in SCENARIOS)}")
    with _COPYING:
        return _copy(engine, scenario)


_COPYING = threading.Lock()


def reset_copy(engine: SparkEngine, name: str) -> str:
    """Drop a copy of a teaching table and build it anew; returns the new one's name. Raises TableNotFound when it is no
    such copy."""
    scenario = origin(name)
    if not scenario:
        raise TableNotFound(f"{name!r} is no copy of a teaching table: those are named {LAB}.<teaching table>_<number>")
    fresh = fresh_copy(engine, scenario)
    old = name.removeprefix(f"{SANDBOX}.")
    engine.session().sql(f"DROP TABLE IF EXISTS {SANDBOX}.{old}")
    shutil.rmtree(engine.sandbox / "warehouse" / LAB / old.removeprefix(f"{LAB}."), ignore_errors=True)
    return fresh


def origin(name: str) -> str:
    """The teaching table that a table was copied from, by its name; empty for others."""
    match = re.fullmatch(rf"(?:{SANDBOX}\.)?{LAB}\.(.+)_\d+", name)
    return match.group(1) if match and any(s.name == match.group(1) for s in SCENARIOS) else ""


def _copy(engine: SparkEngine, scenario: Scenario) -> str:
    name, spark = scenario.name, engine.session()
    for namespace in (LAB, BUILDING):
        spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {SANDBOX}.{namespace}")
    taken = {row.tableName for row in spark.sql(f"SHOW TABLES IN {SANDBOX}.{LAB}").collect()}
    free = (f"{name}_{n}" for n in itertools.count(1) if f"{name}_{n}" not in taken)
    own = next(own for own in free if _reserved(engine.sandbox / "warehouse" / LAB / own))
    location = engine.sandbox / "warehouse" / LAB / own
    spark.sql(f"DROP TABLE IF EXISTS {SANDBOX}.{BUILDING}.{own}")
    scenario.build(Workshop(engine, own, str(location)))
    spark.sql(f"ALTER TABLE {SANDBOX}.{BUILDING}.{own} RENAME TO {LAB}.{own}")
    return f"{LAB}.{own}"


def _reserved(folder: Path) -> bool:
    """Whether the folder is ours now: another process may copy the same table."""
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        return False
    return True


def _discard(engine: SparkEngine, name: str) -> None:
    engine.session().sql(f"DROP TABLE IF EXISTS {SANDBOX}.{BUILDING}.{name}")
    shutil.rmtree(engine.sandbox / "warehouse" / NAMESPACE / name, ignore_errors=True)
