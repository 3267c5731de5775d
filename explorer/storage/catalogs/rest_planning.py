"""Scans that a REST catalog's server plans itself (REST catalog specification, planTableScan), to be compared with our
plan. What the server names is not opened."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

from pyiceberg.catalog.rest import Capability, Endpoints
from pyiceberg.exceptions import NoSuchTableError

from explorer.errors import ExplorerError, NotSupported, StatementFailed
from explorer.progress import Cancelled, check_cancellation
from explorer.spec.filters.expression_json import expression_json
from explorer.spec.filters.expressions import Expression
from explorer.spec.scan.plan import PlannerAnswer
from explorer.spec.secrets.redaction import harmless
from explorer.spec.text.identifiers import split_identifier
from explorer.storage.catalogs import catalogs
from explorer.storage.catalogs.answers import BadAnswer
from explorer.storage.catalogs.rest import ListedRest
from explorer.storage.locate import Location

NAMED, BATCHES = 5_000, 10_000
"""Files that are kept by name, of more only the number is; and batches of one plan that are fetched."""


def server_plan(
    place: Location, snapshot_id: int, bound: Expression, is_current: bool
) -> PlannerAnswer | ExplorerError | None:
    """Ask a table's REST catalog to plan a scan.

    Args:
        place: The table.
        snapshot_id: The snapshot to scan.
        bound: The filter, without NOT.
        is_current: Whether it is the current snapshot: else its own schema counts, as for other planners.

    Returns:
        Its answer, or why it has none; None for a table of no REST catalog.
    """
    if place.catalog is None or place.identifier is None:
        return None
    try:
        catalog = catalogs.load(place.catalog, place.properties)
    except ExplorerError as error:
        return error
    if not isinstance(catalog, ListedRest):
        return None
    if not catalog.supports(Capability.V1_SUBMIT_TABLE_SCAN_PLAN):
        return NotSupported("the server plans no scans")
    asked: dict[str, Any] = {"snapshot-id": snapshot_id, "case-sensitive": True}
    asked |= {} if is_current else {"use-snapshot-schema": True}
    try:
        return _plan(catalog, split_identifier(place.identifier), asked | {"filter": expression_json(bound)})
    except Cancelled:
        raise
    except ExplorerError as error:
        return error
    except Exception as error:  # requests and pyiceberg raise many kinds
        return _failure(error, catalogs.all_properties(catalog))


def _failure(error: Exception, properties: Mapping[str, str]) -> StatementFailed:
    """An error of a server, without its secrets."""
    try:
        raise StatementFailed(f"the server's planner: {catalogs.error_words(error, properties)}") from harmless(
            error, properties
        )
    except StatementFailed as failed:
        return failed


def _plan(catalog: ListedRest, identifier: tuple[str, ...], asked: dict[str, Any]) -> PlannerAnswer:
    names = catalog.path_names(identifier)
    answer = catalog.post(catalog.url(Endpoints.plan_table_scan, prefixed=True, **names), asked, NoSuchTableError)
    status = answer.get("status")
    if status == "submitted":
        raise NotSupported("the server plans it in the background, which is not waited for")
    if status != "completed":
        raise BadAnswer(f"the plan is {str(status)[:40]!r}: {_message(answer)}")
    paths, count, batches = set[str](), 0, 0
    left = deque([answer])
    while left:
        check_cancellation()
        part = left.popleft()
        for task in _listed(part, "file-scan-tasks"):
            file = task.get("data-file") if isinstance(task, dict) else None
            path = file.get("file-path") if isinstance(file, dict) else None
            if not isinstance(path, str):
                raise BadAnswer("a task of its plan has no data file")
            count += 1
            if count <= NAMED:
                paths.add(path)
        for token in _listed(part, "plan-tasks"):
            batches += 1
            if batches > BATCHES:
                raise BadAnswer(f"its plan has more than {BATCHES:,} batches")
            url = catalog.url(Endpoints.fetch_scan_tasks, prefixed=True, **names)
            left.append(catalog.post(url, {"plan-task": token}, NoSuchTableError))
    return PlannerAnswer(count, None, frozenset(paths) if count <= NAMED else None)


def _listed(answer: dict[str, Any], key: str) -> list[Any]:
    found = answer.get(key) or []
    if not isinstance(found, list):
        raise BadAnswer(f"its plan has no list of {key}")
    return found


def _message(answer: dict[str, Any]) -> str:
    error = answer.get("error")
    return str(error.get("message"))[:300] if isinstance(error, dict) else "no reason is given"
