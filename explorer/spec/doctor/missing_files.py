"""What metadata tells of a data file that is missing: what removed it, where its rows are too, and which filter takes
its entry alone; and what is to be done about it, in words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from explorer.model.metadata import TableMetadata
from explorer.spec.entries.live_files import LiveFile
from explorer.spec.secrets.redaction import redact
from explorer.spec.text.names import name_in_sql, path_in_sql, text_in_sql
from explorer.spec.text.units import count
from explorer.spec.values.values import decode_bound

MAX_NAMED = 5
"""Files that a remedy names."""
MAX_SUMMED = 1_000
"""Files of which a remedy says what is lost with them."""
COMPARED = ("int", "long", "date")
"""Types of the columns by whose bounds a filter takes a file: those of which bounds are exact."""
MAX_COLUMNS = 10
"""Columns whose bounds are compared with those of all other files."""
LONGEST, LONGEST_PATH = 200, 300
"""Characters of a filter, and of a path, in a statement: what shows a remedy cuts none so short."""
_QUOTES = re.compile(r"""['"\\]""")
"""What a shell that knows no backticks takes for the beginning of a text, in a name."""
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(frozen=True)
class MissingFile:
    """A file that a snapshot reads and that is not there.

    Attributes:
        rows: How many rows its entry in the current snapshot says; None where that does not read it as data.
        removers: The snapshots that are there, removed it, and come before one that reads it.
        kept_in: How many live files have all of its rows, by the snapshot that replaced it: `kept_by`; 0 where that is
            not shown.
        where: A filter that takes all rows of it, and of no file that is there; empty where metadata shows none.
    """

    rows: int | None = None
    removers: tuple[int, ...] = ()
    kept_in: int = 0
    kept_by: int | None = None
    where: str = ""


def find_filter(file: LiveFile, live: Sequence[LiveFile], missing: frozenset[str], metadata: TableMetadata) -> str:
    """Find a filter by which Spark's DELETE drops a missing file without reading it, and no other file that is there.

    Args:
        file: The missing file.
        live: All data files of the current snapshot.
        missing: The paths of those that are missing.
        metadata: The table's.

    Returns:
        What stands after WHERE; empty where metadata shows no such filter.
    """
    schema = metadata.schema(metadata.current_schema_id)
    is_twice = sum(other.path == file.path for other in live) > 1
    if schema is None or is_twice or file.record_count == 0 or any(one.record_count < 0 for one in live):
        return ""  # Iceberg takes no file without rows, and one of fewer whatever its bounds and partition are
    columns = {f["id"]: (name_in_sql(f["name"]), f["type"]) for f in schema.raw["fields"]}
    columns = {own: column for own, column in columns.items() if not _QUOTES.search(column[0])}
    found = _by_partition(file, live, missing, metadata, columns) or _by_bounds(file, live, columns)
    return found if len(found) <= LONGEST else ""


def _by_partition(
    file: LiveFile, live: Sequence[LiveFile], missing: frozenset[str], metadata: TableMetadata,
    columns: Mapping[int, tuple[str, Any]],
) -> str:  # fmt: skip
    """The partition by its identity fields, where no file that is there has the same values."""
    spec = metadata.spec(file.spec_id)
    parts = [p for p in spec.fields if p.transform == "identity"] if spec else []
    if not parts or any(other.spec_id != file.spec_id for other in live):
        return ""

    def values(one: LiveFile) -> list[Any]:
        return [one.partition.get(str(part.field_id)) for part in parts]

    own = values(file)
    if any(values(other) == own for other in live if other.path not in missing):
        return ""
    tests = []
    for part, value in zip(parts, own, strict=True):
        name, kind = columns.get(part.source_ids[0], ("", None))
        literal = _literal(value, kind)
        if not name or not literal:
            return ""
        tests.append(f"{name} = {literal}")
    return " AND ".join(tests)


def _by_bounds(file: LiveFile, live: Sequence[LiveFile], columns: Mapping[int, tuple[str, Any]]) -> str:
    """The bounds of a column without nulls, where those of no other file meet them."""
    others = [other for other in live if other.path != file.path]
    fit = (own for own, (name, kind) in columns.items() if name and kind in COMPARED and file.nulls.get(own) == 0)
    for own in islice(fit, MAX_COLUMNS):
        name, kind = columns[own]
        low, high = _bounds(file, own, kind)
        if low is None or high is None or low > high:
            continue
        if all(_is_apart(_bounds(other, own, kind), low, high) for other in others):
            first, last = _literal(low, kind), _literal(high, kind)
            if first and last:
                return f"{name} = {first}" if low == high else f"{name} >= {first} AND {name} <= {last}"
    return ""


def _bounds(file: LiveFile, own: int, kind: Any) -> tuple[Any, Any]:
    """The bounds of a column, as numbers or dates; None for what is not known."""
    low, high = (decode_bound(side.get(own), kind) for side in (file.lower, file.upper))
    return (low, high) if _literal(low, kind) and _literal(high, kind) else (None, None)


def _is_apart(bounds: tuple[Any, Any], low: Any, high: Any) -> bool:
    first, last = bounds
    return first is not None and last is not None and (last < low or first > high)


def _literal(value: Any, kind: Any) -> str:
    """A value in SQL; empty for what is not made one."""
    if kind in ("int", "long") and type(value) is int:
        return str(value)
    if kind == "date" and _DATE.fullmatch(str(value)):
        return f"DATE '{value}'"
    if kind == "string" and isinstance(value, str) and len(value) <= LONGEST and "/" not in value:
        return f"'{text}'" if (text := path_in_sql(value)) else ""  # local paths are cut in files that are passed on
    return ""


def removal_words(paths: Sequence[str], missing: Mapping[str, MissingFile], table: str) -> str:
    """Say how the entries of missing files are taken out without reading the files, and what is lost by that.

    Args:
        paths: The files' paths.
        missing: What metadata tells of each.
        table: The table's name in SQL.

    Returns:
        Sentences, after a space.
    """
    named = list(paths)[:MAX_NAMED]
    known = [missing.get(path, MissingFile()) for path in paths[:MAX_SUMMED]]
    many = len(paths) > 1
    calls = "".join(f'.deleteFile("{path}")' if _in_java(path) else ".deleteFile(PATH)" for path in named)
    more = " (and so for the others)" if len(paths) > MAX_NAMED else ""
    what = "these files alone, and keep the others" if many else "this file alone, and keep the others"
    files = "files" if many else "file"
    return (
        f" Or take out {what}, in Java: table.newDelete(){calls}.commit(){more}. It does not read the {files}. Run it "
        f"in Java or Scala: through PySpark's bridge the call removes the {files} from the store and commits nothing. "
        f"{_loss(known, len(paths))} {_in_spark(known, len(paths), table)}"
    )


def _in_java(path: str) -> bool:
    """Whether a path can stand in a text of Java as it is, and is shown so."""
    is_plain = bool(text_in_sql(path)) and not re.search(r'["\\]', path)
    return is_plain and len(path) <= LONGEST_PATH and redact(path) == path


def _loss(known: Sequence[MissingFile], number: int) -> str:
    """What the table loses with the entries of files."""
    them = "their" if number > 1 else "its"
    if len(known) == number and all(one.kept_in for one in known):
        makers = " and ".join(str(i) for i in dict.fromkeys(one.kept_by for one in known))
        others = count(max(one.kept_in for one in known), "other data file")
        return (
            f"Nothing is lost: snapshot {makers} (replace) had put all of {them} rows into {others}, which the current "
            f"snapshot reads: with {'these files' if number > 1 else 'this file'} it would read them twice."
        )
    rows = [one.rows for one in known]
    if len(known) < number or None in rows:
        return f"It loses {them} rows, unless they are in other files, too."
    return f"It loses {them} {count(sum(n or 0 for n in rows), 'row')}, unless they are in other files, too."


def _in_spark(known: Sequence[MissingFile], number: int, table: str) -> str:
    """Which DELETE in Spark does the same; or why none is known that does."""
    filters = list(dict.fromkeys(one.where for one in known[: MAX_NAMED + 1]))
    statements = "; ".join(f"DELETE FROM {table} WHERE {where}" for where in filters)
    if number <= MAX_NAMED and all(filters) and redact(statements) == statements:
        takes = "the filters take" if len(filters) > 1 else "the filter takes"
        which = "these files" if number > 1 else "this file"
        return f"In Spark this does the same: {statements}. By metadata {takes} {which} whole, and none that is there."
    return (
        "A DELETE in Spark reads the file and fails, unless metadata proves that all of its rows match: no filter is "
        "known that takes it whole and no row of another file."
    )
