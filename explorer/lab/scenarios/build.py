"""The teaching tables of a sandbox: list, unpack or build them, and make copies that can be changed."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from explorer.errors import TableNotFound
from explorer.lab.scenarios.packed import unpack, unpack_copy
from explorer.lab.scenarios.registry import NAMESPACE, SCENARIOS, Scenario
from explorer.lab.scenarios.workshop import BUILDING, Workshop
from explorer.spark_engine.spark import SparkEngine
from explorer.storage.catalogs.sandbox_entries import SANDBOX, catalog_entries, forget_entries, is_here
from explorer.storage.data_dirs import private, sandbox_home
from explorer.storage.locks import only_process


def available_names() -> set[str]:
    """Names of the scenarios whose tables and files are in the sandbox."""
    sandbox = sandbox_home()
    entries = catalog_entries(sandbox)
    return {s.name for s in SCENARIOS if is_here(sandbox, entries.get(f"{NAMESPACE}.{s.name}"))}


def missing() -> list[Scenario]:
    """Scenarios whose tables are not in the sandbox, in teaching order."""
    there = available_names()
    return [s for s in SCENARIOS if s.name not in there]


def unpack_all(scenarios: Sequence[Scenario], progress: Callable[[str, int, int], None] = lambda *_: None) -> None:
    """Unpack the tables of these scenarios in order. Call `progress(name, done, total)` before each and at the end."""
    unpack(sandbox_home(), [s.name for s in scenarios], progress)


def build_all(
    engine: SparkEngine, scenarios: Sequence[Scenario], progress: Callable[[str, int, int], None] = lambda *_: None
) -> None:
    """Have Spark make the commits of these scenarios, in order; `progress(name, done, total)` is called before each and
    at the end.

    What an earlier, broken-off run left of them under construction is removed first. A failure removes the table it was
    building, leaves the finished ones, and is raised. Raises NotPossible when another process builds there."""
    private(engine.sandbox)
    with only_process(engine.sandbox / ".building", f"builds teaching tables in {engine.sandbox}"):
        _build(engine, scenarios, progress)
    progress("", len(scenarios), len(scenarios))
    if scenarios and not engine.in_users_spark:
        engine.keep_classes()  # all classes that the teaching tables needed


def _build(engine: SparkEngine, scenarios: Sequence[Scenario], progress: Callable[[str, int, int], None]) -> None:
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
            forget_entries(engine.sandbox, [f"{NAMESPACE}.{scenario.name}"])  # an entry without files
            spark.sql(f"ALTER TABLE {SANDBOX}.{BUILDING}.{scenario.name} RENAME TO {NAMESPACE}.{scenario.name}")
        except BaseException:
            _discard(engine, scenario.name)
            raise


LAB = "lab"


def fresh_copy(name: str, sandbox: Path | None = None) -> str:
    """Make a copy of a teaching table in the sandbox's `lab` namespace, to be changed at will.

    Args:
        name: The teaching table's.
        sandbox: The folder of the sandbox; None for the one of the data folder.

    Returns:
        The copy's name in the sandbox: `lab.<name>_<n>`.

    Raises:
        TableNotFound: For a name that no teaching table has.
    """
    if not any(s.name == name for s in SCENARIOS):
        raise TableNotFound(f"no teaching table {name!r}: there are {', '.join(s.name for s in SCENARIOS)}")
    return f"{LAB}.{unpack_copy(sandbox or sandbox_home(), name, LAB)}"


def reset_copy(name: str) -> str:
    """Replace a copy of a teaching table with a new copy; return its name. Raises TableNotFound if the table is not
    such a copy."""
    scenario = origin(name)
    if not scenario:
        raise TableNotFound(f"{name!r} is no copy of a teaching table: those are named {LAB}.<teaching table>_<number>")
    fresh, old, sandbox = fresh_copy(scenario), name.removeprefix(f"{SANDBOX}."), sandbox_home()
    forget_entries(sandbox, [old])
    shutil.rmtree(sandbox / "warehouse" / LAB / old.removeprefix(f"{LAB}."), ignore_errors=True)
    return fresh


def origin(name: str) -> str:
    """The teaching table that a table was copied from, by its name; empty if it is not a copy."""
    match = re.fullmatch(rf"(?:{SANDBOX}\.)?{LAB}\.(.+)_\d+", name)
    return match.group(1) if match and any(s.name == match.group(1) for s in SCENARIOS) else ""


def _discard(engine: SparkEngine, name: str) -> None:
    engine.session().sql(f"DROP TABLE IF EXISTS {SANDBOX}.{BUILDING}.{name}")
    shutil.rmtree(engine.sandbox / "warehouse" / NAMESPACE / name, ignore_errors=True)
