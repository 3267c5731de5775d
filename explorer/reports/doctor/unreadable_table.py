"""The report on a table whose metadata file cannot be read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from explorer.errors import AccessRefused, ExplorerError, NotNow, NotReadHere, UnreadableFile
from explorer.render.doctor import ShownReport
from explorer.spec.doctor.findings import Finding, RuleChoice, finding
from explorer.spec.doctor.remedies import complains, previous_words
from explorer.spec.doctor.rules import RULES
from explorer.spec.text.names import NOWHERE, in_sql
from explorer.storage.folder_state import metadata_version
from explorer.storage.metadata import VIEW
from explorer.storage.reader import read_metadata
from explorer.storage.storage import Storage

EARLIER = 20
"""Other metadata files that are tried."""


def report_unreadable(
    name: str, error: UnreadableFile, skip: Iterable[str] = (), severity: Mapping[str, str] | None = None
) -> ShownReport:
    """The report on a table whose metadata file cannot be read. Raises the error where that says nothing of the file:
    its store did not answer, it lies where nothing may be read, or it is a view's."""
    if isinstance(error, (NotNow, AccessRefused, NotReadHere)) or error.cause.startswith(VIEW):
        raise error
    own = _unreadable_finding(name, error)
    return ShownReport(
        name,
        RuleChoice.of(skip, severity).choose_findings([own], name, None),
        {"metadata files": 1},
        rules_left_out={rule.id: "the metadata file cannot be read" for rule in RULES if rule.id != own.rule},
        metadata_file=error.path,
    )


def _unreadable_finding(name: str, error: UnreadableFile) -> Finding:
    """A table whose metadata file cannot be read: which other one can."""
    folder, _, own = error.path.rpartition("/")
    best: tuple[int, str, bool] | None = None
    try:
        storage = Storage([folder])
        names = [n for n in _names(storage, folder) if n.endswith((".metadata.json", ".metadata.json.gz")) and n != own]
        for other in sorted(names, reverse=True)[:EARLIER]:
            try:
                meta, _ = read_metadata(storage, f"{folder}/{other}")
            except UnreadableFile:
                continue
            if best is None or (meta.last_updated_ms or 0) > best[0]:
                best = (meta.last_updated_ms or 0, f"{folder}/{other}", complains(meta))
    except (ExplorerError, OSError):
        pass
    remedy = "No other metadata file of it was found that can be read: restore it from a backup."
    if best:
        remedy = previous_words(best[1], *(NOWHERE if "/" in name else in_sql(name)), best[2])
        remedy += _of_folder(own, best[1].rpartition("/")[2])
    return finding("metadata-unreadable", error.cause, error.path, remedy=remedy, node=("metadata", error.path),
                   refused="table")  # fmt: skip


def _of_folder(broken: str, other: str) -> str:
    """How a table that a folder holds, without a catalog, goes back to the version before."""
    here, there = (metadata_version(name) for name in (broken, other))
    if here is None or there != here - 1 or not (broken.startswith("v") and other.startswith("v")):
        return ""
    return (
        f" Where no catalog but the folder holds the table, move {broken} out of it, and let version-hint.text say "
        f"{there}, or remove that: Iceberg then opens version {there}."
    )


def _names(storage: Storage, folder: str) -> list[str]:
    root = storage.folder(folder)
    return storage.names(folder) if root is None else [p.name for p in Path(root).iterdir()]
