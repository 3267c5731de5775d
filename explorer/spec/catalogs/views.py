"""Iceberg views: their metadata, what of it the view spec does not allow, and how two versions differ."""

from __future__ import annotations

import difflib
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from explorer.errors import NotFoundInTable
from explorer.model.metadata import Field, Schema
from explorer.progress import steps
from explorer.spec.doctor.rules import Severity
from explorer.spec.text.names import first_of
from explorer.spec.text.units import parse_int64

COMPARED = 500
"""Lines of two SQL texts that are compared line by line: the time grows by their product."""
CONTEXT = 3
"""Lines around a difference."""


@dataclass(frozen=True)
class Representation:
    """One form of a version: `type` is sql in the spec; `dialect` says whose SQL it is."""

    type: str
    dialect: str
    sql: str


@dataclass(frozen=True)
class ViewVersion:
    """A version of a view; None is missing or of another type."""

    version_id: int | None
    timestamp_ms: int | None
    schema_id: int | None
    summary: Mapping[str, str]
    default_catalog: str | None
    default_namespace: tuple[str, ...] | None
    representations: tuple[Representation, ...]

    @property
    def engine(self) -> str:
        """The engine that wrote it, by its summary."""
        return " ".join(filter(None, (self.summary.get("engine-name"), self.summary.get("engine-version"))))

    def sql_by_dialect(self) -> dict[str, str]:
        """Return its SQL in each dialect, whose name is in lower case; the first of several."""
        return {one.dialect.lower(): one.sql for one in reversed(self.representations)}


@dataclass(frozen=True)
class ViewLogEntry:
    """A change of the current version: when, and to which."""

    timestamp_ms: int | None
    version_id: int | None


@dataclass(frozen=True)
class ViewMetadata:
    """The metadata of a view; `problems` are parts of it that could not be read, with where they are."""

    view_uuid: str
    format_version: int | None
    location: str
    current_version_id: int | None
    schemas: tuple[Schema, ...]
    versions: tuple[ViewVersion, ...]
    log: tuple[ViewLogEntry, ...]
    properties: Mapping[str, str]
    problems: tuple[tuple[str, str], ...] = ()

    def version(self, version_id: int | None) -> ViewVersion | None:
        """Return a version by its id; the first of several."""
        return next((one for one in self.versions if one.version_id == version_id and version_id is not None), None)

    def named(self, text: str) -> ViewVersion:
        """Return the version with an id as text. Raises NotFoundInTable."""
        found = self.version(parse_int64(text))
        if found is None:
            own = first_of([str(version.version_id) for version in self.versions])
            raise NotFoundInTable(f"the view has no version {text[:40]!r}; it has {own}")
        return found

    def schema(self, schema_id: int | None) -> Schema | None:
        """Return a schema by its id."""
        return next((one for one in self.schemas if one.schema_id == schema_id), None)


@dataclass(frozen=True)
class ViewFinding:
    """Something of a view that the spec does not allow, or that surprises its readers: where it is in the metadata."""

    severity: Severity
    what: str
    where: str


def check_view(view: ViewMetadata) -> list[ViewFinding]:
    """Check a view's metadata by the view spec.

    Args:
        view: The metadata.

    Returns:
        What is wrong, in the order of the metadata.
    """
    return [
        *(ViewFinding("error", what, where) for where, what in view.problems),
        *_check_fields(view),
        *_check_schemas(view),
        *_check_versions(view),
        *_check_log(view),
    ]


def _check_fields(view: ViewMetadata) -> Iterator[ViewFinding]:
    if view.format_version != 1:
        yield ViewFinding(
            "error", f"the format version is {view.format_version}: the view spec has 1 alone", "/format-version"
        )
    if not view.view_uuid:
        yield ViewFinding("error", "it has no view-uuid", "/view-uuid")
    if not view.location:
        yield ViewFinding("error", "it has no location", "/location")
    if view.version(view.current_version_id) is None:
        what = f"the current version, {view.current_version_id}, is not among its versions: no engine can expand it"
        yield ViewFinding("error", what, "/current-version-id")


def _check_schemas(view: ViewMetadata) -> Iterator[ViewFinding]:
    for own, times in _repeated(schema.schema_id for schema in view.schemas):
        yield ViewFinding("error", f"{times} schemas have the id {own}", "/schemas")


def _check_versions(view: ViewMetadata) -> Iterator[ViewFinding]:
    schemas = {schema.schema_id for schema in view.schemas}
    for own, times in _repeated(version.version_id for version in view.versions):
        yield ViewFinding("error", f"{times} versions have the id {own}", "/versions")
    for at, version in enumerate(view.versions):
        here, name = f"/versions/{at}", f"version {version.version_id}"
        if version.version_id is None:
            yield ViewFinding("error", "a version has no id", here)
        if version.schema_id not in schemas:
            yield ViewFinding(
                "error", f"{name} has the schema {version.schema_id}, which is not there", f"{here}/schema-id"
            )
        if version.default_namespace is None:
            what = f"{name} has no default namespace: names without one cannot be resolved"
            yield ViewFinding("error", what, f"{here}/default-namespace")
        if version.timestamp_ms is None:
            yield ViewFinding("error", f"{name} has no timestamp", f"{here}/timestamp-ms")
        yield from _check_representations(version, name, f"{here}/representations")


def _check_representations(version: ViewVersion, name: str, here: str) -> Iterator[ViewFinding]:
    if not version.representations:
        yield ViewFinding("error", f"{name} has no representation", here)
    for dialect, times in _repeated(one.dialect.lower() for one in version.representations if one.type == "sql"):
        what = f"{name} has {times} texts in the dialect {dialect!r}: the spec allows one of each"
        yield ViewFinding("error", what, here)
    for at, one in enumerate(version.representations):
        if one.type != "sql":
            what = (
                f"{name} has a representation of the type {one.type!r}, which the spec does not have: readers skip it"
            )
            yield ViewFinding("warning", what, f"{here}/{at}/type")
        elif not one.dialect or not one.sql.strip():
            what = f"{name} has a representation without {'a dialect' if one.sql.strip() else 'SQL'}"
            yield ViewFinding("error", what, f"{here}/{at}")


def _check_log(view: ViewMetadata) -> Iterator[ViewFinding]:
    if not view.log:
        yield ViewFinding("error", "the version log is empty", "/version-log")
        return
    times = [entry.timestamp_ms for entry in view.log if entry.timestamp_ms is not None]
    for at, (before, after) in enumerate(itertools.pairwise(times)):
        if after < before:
            yield ViewFinding(
                "error", "an entry of the version log is older than the one before", f"/version-log/{at + 1}"
            )
            break
    last = view.log[-1].version_id
    if last != view.current_version_id:
        what = (
            f"the last entry of the version log is version {last}, and the current version is {view.current_version_id}"
        )
        yield ViewFinding("error", what, f"/version-log/{len(view.log) - 1}")
    known = {version.version_id for version in view.versions}
    gone = {entry.version_id for entry in view.log} - known
    if gone and last in known:
        what = f"{len(gone)} of the versions that the log names are no longer kept"
        yield ViewFinding("info", what, "/version-log")


def dropped_dialects(view: ViewMetadata) -> list[ViewFinding]:
    """Return the dialects of older versions in which the current version has no SQL: engines of these lost the view.

    Args:
        view: The metadata.

    Returns:
        A finding for each dialect.
    """
    current = view.version(view.current_version_id)
    if current is None:
        return []
    own = {one.dialect.lower() for one in current.representations}
    older: dict[str, int | None] = {}
    for version in view.versions:
        older |= {one.dialect.lower(): version.version_id for one in version.representations if one.type == "sql"}
    return [
        ViewFinding(
            "warning", f"version {version} has SQL in the dialect {dialect!r}, and the current one has none",
            "/current-version-id",
        )
        for dialect, version in older.items()
        if dialect and dialect not in own
    ]  # fmt: skip


def _repeated(values: Iterator[int | None] | Iterator[str]) -> list[tuple[int | str, int]]:
    counted: Counter[int | str] = Counter(value for value in values if value is not None)
    return [(value, times) for value, times in counted.items() if times > 1]


@dataclass(frozen=True)
class ViewDiff:
    """How two versions of a view differ: lines of SQL by dialect as in a unified diff, columns, and what names without
    a catalog or namespace mean."""

    before: int
    after: int
    sql: Mapping[str, Sequence[str]]
    columns: Sequence[str]
    defaults: Sequence[str]


def compare_versions(view: ViewMetadata, before: ViewVersion, after: ViewVersion) -> ViewDiff:
    """Compare two versions of a view.

    Args:
        view: The metadata.
        before: The older version.
        after: The newer version.

    Returns:
        The differences; a dialect without any is left out.
    """
    dialects = dict.fromkeys(one.dialect.lower() for version in (before, after) for one in version.representations)
    old_texts, new_texts = before.sql_by_dialect(), after.sql_by_dialect()
    texts = {
        dialect: _lines_between(old_texts.get(dialect, ""), new_texts.get(dialect, ""))
        for dialect in steps(dialects, "dialects")
    }
    defaults = [
        f"{name}: {_words(old)} → {_words(new)}"
        for name, old, new in (
            ("default catalog", before.default_catalog, after.default_catalog),
            ("default namespace", before.default_namespace, after.default_namespace),
        )
        if old != new
    ]
    return ViewDiff(
        before.version_id or 0, after.version_id or 0, {dialect: lines for dialect, lines in texts.items() if lines},
        _columns_between(view.schema(before.schema_id), view.schema(after.schema_id)), defaults,
    )  # fmt: skip


def _words(value: str | tuple[str, ...] | None) -> str:
    return "(none)" if value is None else value if isinstance(value, str) else ".".join(value) or "(empty)"


def _lines_between(old: str, new: str) -> list[str]:
    if old == new:
        return []
    before, after = old.splitlines(), new.splitlines()
    if not old or not new:
        return [f"{'+' if new else '-'}{line}" for line in (after or before)]
    if len(before) > COMPARED or len(after) > COMPARED:
        return [f"they differ, and have {len(before):,} and {len(after):,} lines: too many to compare line by line"]
    return list(difflib.unified_diff(before, after, n=CONTEXT, lineterm=""))[2:]


def _columns_between(old: Schema | None, new: Schema | None) -> list[str]:
    if old is None or new is None:
        return [] if old is new else ["the schema of one of them is not there"]
    before, after = ({field.id: field for field in schema.by_id.values()} for schema in (old, new))
    changes = [f"- {_column(field)}" for own, field in before.items() if own not in after]
    changes += [f"+ {_column(field)}" for own, field in after.items() if own not in before]
    changes += [
        f"{_column(field)} → {_column(after[own])}"
        for own, field in before.items()
        if own in after and _column(field) != _column(after[own])
    ]
    return changes


def _column(field: Field) -> str:
    return (
        f"{field.name} {field.type if isinstance(field.type, str) else 'nested'}{' required' if field.required else ''}"
    )
