"""Runs on tables whose catalog is a folder, saved and played again: a commit that a rename overwrites, and a listing
that is stale when it is read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from explorer.errors import NotFoundInTable, NotPossible
from explorer.lab.hive_tables import FolderTable, HiveFolder
from explorer.lab.sandbox import Bench


@dataclass(frozen=True)
class FolderRun:
    """The result of such a run: what happened at each step (`told`), and the rows that readers see afterwards."""

    folder: str
    order: str
    told: tuple[str, ...]
    rows: tuple[Any, ...]


def rename(bench: Bench, order: str) -> FolderRun:
    """Let two writers, A and B, commit by rename. A rename replaces an existing file."""
    table = FolderTable(bench)
    table.play(order)
    return FolderRun("rename", order, tuple(table.events), tuple(table.rows()))


def listing(bench: Bench, order: str) -> FolderRun:
    """Let R list a Hive table's folder and read the listed files, while W updates all prices. Raises NotPossible for
    other names."""
    table, listed, events = HiveFolder(bench), list[Path](), list[str]()
    for name in order:
        if name == "W" and any(line.startswith("W") for line in events):
            raise NotPossible("W updates all prices once")
        if name == "W":
            table.update()
            events.append(f"W updates all prices: it {', '.join(HiveFolder.UPDATE)}")
        elif name == "R" and not listed:
            listed = sorted(table.folder.glob("p=*/*.parquet"))
            events.append(f"R lists {', '.join(str(path.relative_to(table.folder)) for path in listed)}")
        elif name == "R":
            events.append(f"R {_read(table.folder, listed)}")
        else:
            raise NotPossible(f"there is no {name!r}: there are the reader R and the writer W")
    return FolderRun("listing", order, tuple(events), tuple(table.read("id", "price")))


def _read(folder: Path, listed: list[Path]) -> str:
    rows = 0
    for path in listed:
        try:
            rows += pq.read_table(path, partitioning=None).num_rows
        except FileNotFoundError:
            return f"fails: {path.relative_to(folder)} is gone since it was listed"
    return f"reads {rows} rows"


def replay_folder(bench: Bench, saved: str) -> FolderRun | None:
    """Play a saved run on a folder again; return None if it is another kind of run. Raises NotFoundInTable."""
    try:
        data = json.loads(saved)
        folder, order = data.get("folder"), "".join(data["order"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise NotFoundInTable(f"not a saved run: {error}") from error
    if folder is None:
        return None
    played = {"rename": rename, "listing": listing}.get(str(folder))
    if played is None:
        raise NotFoundInTable(f"not a saved run: there is no run on a folder called {str(folder)[:40]!r}")
    return played(bench, order)
