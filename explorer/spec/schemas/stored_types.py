"""Types in which Parquet files store columns, against those that the spec has for them (spec: "Appendix A", "Parquet"),
and what Spark makes of others: tests/spark/test_stored_types.py asks it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from explorer.spec.values.stored_values import Column

_UNITS = {"milliseconds": "MILLIS", "microseconds": "MICROS", "nanoseconds": "NANOS"}
_DECIMAL = re.compile(r"decimal\(\s*(\d+)\s*,\s*(\d+)\s*\)")
_FIXED = re.compile(r"fixed\[\s*(\d+)\s*\]")
_SIGNED = ("", "INT_8", "INT_16", "INT_32", "INT_64")
_MICROS = ("TIMESTAMP_MICROS", "TIMESTAMP_MICROS_UTC")
_UNJUDGED = ("unknown", "variant", "geometry", "geography")
"""Types whose columns are not looked at."""


@dataclass(frozen=True)
class TypeDifference:
    """A column that a file stores in another type than the spec's.

    Attributes:
        stored: The type in the file, in words.
        expected: The spec's, in words.
        effect: What Spark 4.1 with Iceberg Java 1.12 makes of it, as a clause.
        fails: Whether Spark fails on queries that read the column.
        misread: Whether Spark shows other values than the file has, or loses rows.
        mended_by_rows: Whether Spark reads the values right without its vectorized reader, so that it can write them
            anew.
    """

    stored: str
    expected: str
    effect: str
    fails: bool = False
    misread: bool = False
    mended_by_rows: bool = False

    @property
    def words(self) -> str:
        """The two types and the effect, as a clause."""
        return f"stored as {self.stored}, not {self.expected}: {self.effect}"


def type_difference(column: Column, kind: Any) -> TypeDifference | None:
    """Hold a file's column against the type of the table's.

    Args:
        column: The column, as storage.formats.parquet.read_footer returns it.
        kind: The type of the table's column, as the spec's JSON has it.

    Returns:
        How the types differ; None where the file has the spec's, one from before a promotion, or one that writers
        commonly use: decimals in another physical type, UUIDs without their logical type.
    """
    if not isinstance(kind, str) or kind.startswith(_UNJUDGED) or column["logical_type"] == "Null":
        return None
    physical, mark = column["type"], annotation(column)
    expected = _types_of(kind)
    wide = _FIXED.fullmatch(kind)
    length = int(wide[1]) if wide else 16 if kind == "uuid" else column["length"]
    if (physical, mark) in _earlier_types(kind) or ((physical, mark) in expected and column["length"] == length):
        return None
    if _is_common(kind, column, physical, mark):
        return None
    effect, fails, misread, mended = _effect(kind, column, physical, mark)
    words = " or ".join(dict.fromkeys(_words(*pair) for pair in expected))
    return TypeDifference(_words(physical, mark), words, effect, fails, misread, mended)


def is_int96(difference: TypeDifference) -> bool:
    """Whether a column is stored as INT96 where the table has a time of microseconds, which Spark reads right."""
    return difference.effect == _INT96


def with_values(difference: TypeDifference, beyond: int) -> TypeDifference:
    """Say of a column of INT96 what its values make of it.

    Args:
        difference: How its type differs.
        beyond: How many of its values nanoseconds cannot tell.
    """
    if not beyond:
        trino = f"; {OLD_TRINO}" if difference.expected == _words("INT64", "TIMESTAMP_MICROS_UTC") else ""
        return replace(difference, effect=f"{RIGHT}, {NO_FAR_TIME} {NANOSECONDS}{trino}")
    does = "value is" if beyond == 1 else "values are"
    effect = f"{beyond:,} {does} outside {NANOSECONDS}: {READERS_OF_INT96} show another time there, without an error"
    return replace(difference, effect=f"{effect}; Spark and DuckDB read it right")


def date_promotion(column: Column, kind: Any) -> TypeDifference | None:
    """Return how a column of dates differs that is of timestamps by now; None for any other column."""
    if kind not in ("timestamp", "timestamp_ns") or annotation(column) != "DATE":
        return None
    words = " or ".join(_words(*pair) for pair in _types_of(kind))
    effect = "it was a date, and Spark 4.1 cannot read dates as timestamps"
    return TypeDifference(_words(column["type"], "DATE"), words, effect, fails=True)


def annotation(column: Column) -> str:
    """Name a column's logical type, as Parquet's older converted types are named; empty where it has none."""
    logical = column["logical_type"]
    name, _, options = logical.partition("(")
    if name == "None":
        return ""
    if name == "Int":
        width = re.search(r"bitWidth=(\d+)", options)
        return f"{'UINT' if 'isSigned=false' in options else 'INT'}_{width[1] if width else '?'}"
    if name == "Decimal":
        return f"DECIMAL({column['precision']}, {column['scale']})"
    if name in ("Timestamp", "Time"):
        unit = next((short for long, short in _UNITS.items() if f"timeUnit={long}" in options), "?")
        return f"{name.upper()}_{unit}{'_UTC' if 'isAdjustedToUTC=true' in options else ''}"
    return str(name).upper()


def type_differences(
    columns: Sequence[Column], kinds: Mapping[int, tuple[str, Any]]
) -> Iterator[tuple[str, TypeDifference]]:
    """Find the columns of a file that are not stored as the spec has it.

    Args:
        columns: The file's columns, with the field ids that readers give them.
        kinds: The names and types of the table's columns and fields, by field id.

    Yields:
        The name of a column, and how its type differs.
    """
    for column in columns:
        name, kind = kinds.get(column["field_id"], ("", None))
        if (difference := type_difference(column, kind)) is not None:
            yield name, difference


def _words(physical: str, mark: str) -> str:
    return f"{physical} ({mark.replace('_UTC', ', UTC')})" if mark else physical


def _types_of(kind: str) -> list[tuple[str, str]]:
    """The types that the spec has for one."""
    if decimal := _DECIMAL.fullmatch(kind):
        precision, scale = int(decimal[1]), int(decimal[2])
        mark = f"DECIMAL({precision}, {scale})"
        return [("INT32" if precision <= 9 else "INT64" if precision <= 18 else "FIXED_LEN_BYTE_ARRAY", mark)]
    if _FIXED.fullmatch(kind):
        return [("FIXED_LEN_BYTE_ARRAY", "")]
    plain = {
        "boolean": [("BOOLEAN", "")], "int": [("INT32", ""), ("INT32", "INT_32")],
        "long": [("INT64", ""), ("INT64", "INT_64")], "float": [("FLOAT", "")], "double": [("DOUBLE", "")],
        "date": [("INT32", "DATE")], "time": [("INT64", "TIME_MICROS")], "timestamp": [("INT64", "TIMESTAMP_MICROS")],
        "timestamptz": [("INT64", "TIMESTAMP_MICROS_UTC")], "timestamp_ns": [("INT64", "TIMESTAMP_NANOS")],
        "timestamptz_ns": [("INT64", "TIMESTAMP_NANOS_UTC")], "string": [("BYTE_ARRAY", "STRING")],
        "uuid": [("FIXED_LEN_BYTE_ARRAY", "UUID")], "binary": [("BYTE_ARRAY", "")],
    }  # fmt: skip
    return plain.get(kind, [])


def _earlier_types(kind: str) -> list[tuple[str, str]]:
    """Types from before a promotion (spec: "Schema Evolution"), which its own rules are about."""
    promotions = {"long": _types_of("int"), "double": _types_of("float")}
    return _types_of("date") if kind.startswith("timestamp") else promotions.get(kind, [])


def _is_common(kind: str, column: Column, physical: str, mark: str) -> bool:
    """Whether a type is one that writers use in place of the spec's, and every reader takes."""
    if decimal := _DECIMAL.fullmatch(kind):
        fits = column["scale"] == int(decimal[2]) and column["precision"] <= int(decimal[1])
        return mark.startswith("DECIMAL") and fits
    return (kind, physical, mark, column["length"]) == ("uuid", "FIXED_LEN_BYTE_ARRAY", "", 16)


RIGHT = "Spark 4.1 and pyiceberg 0.12 read it right"
"""The effect of a type that both take for the spec's."""
NO_FAR_TIME = "since no value is outside"
OLD_TRINO = "Trino before 453 fails on it (trinodb/trino#11338)"
"""Of INT96 where the column is one of times in UTC."""
NANOSECONDS = "1677-09-21 to 2262-04-11"
"""The times that nanoseconds since 1970 can tell, in 64 bits."""
DECODES_NANOSECONDS = "decode INT96 as nanoseconds"
READERS_OF_INT96 = f"readers that {DECODES_NANOSECONDS} (pyarrow, so pyiceberg 0.12; polars; arrow-rs by default)"
_INT96 = (
    f"Spark and DuckDB read it right; {READERS_OF_INT96} show another time, without an error, for a value outside "
    f"{NANOSECONDS}"
)
PLAIN_DATE = (
    "Spark reads it right; pyiceberg 0.12 ('Cannot promote an int to date') and polars 2.1 refuse the column, and "
    "DuckDB 1.5 reads the file's numbers"
)
_Effect = tuple[str, bool, bool, bool]
"""The effect in words, and whether Spark fails, misreads, and reads rightly without its vectorized reader."""
_MISREAD_MILLIS = (
    "Iceberg Java compares the values as microseconds, so filters lose rows, and where they are dictionary-encoded "
    "Spark's vectorized reader shows them so, as of 1970"
)
_MISREAD_NANOS = "Spark takes the values for microseconds, a thousand times too large, and filters lose rows"
_MISREAD_SCALE = "Spark's vectorized reader shifts the decimal point, and filters lose rows"


def _effect(kind: str, column: Column, physical: str, mark: str) -> _Effect:
    if decimal := _DECIMAL.fullmatch(kind):
        return _effect_of_decimal(int(decimal[1]), int(decimal[2]), column, mark)
    if mark.startswith("UINT"):
        return f"Spark 4.1 fails on the column ('Unsupported logical type: {mark}')", True, False, False
    if kind in ("timestamp", "timestamptz") and physical in ("INT64", "INT96"):
        return _effect_of_time(physical, mark)
    if (kind, physical, mark) == ("date", "INT32", ""):
        return PLAIN_DATE, False, False, False
    if (kind, physical, mark) in _READ_RIGHT:
        return RIGHT, False, False, False
    if _FIXED.fullmatch(kind) and physical == "FIXED_LEN_BYTE_ARRAY":
        return "Spark's vectorized reader takes the bytes apart in other places", False, True, False
    rows = (kind.partition("[")[0], physical, mark) in _READ_BY_ROWS
    return "Spark 4.1 fails on queries that read the column", True, False, rows


def _effect_of_decimal(precision: int, scale: int, column: Column, mark: str) -> _Effect:
    if not mark.startswith("DECIMAL"):
        return "Spark 4.1 fails on queries that read the column", True, False, False
    if column["scale"] != scale:
        return _MISREAD_SCALE, False, True, True
    return f"Spark 4.1 fails on values of more than {precision} digits", False, False, False


def _effect_of_time(physical: str, mark: str) -> _Effect:
    if physical == "INT96":
        return _INT96, False, False, False
    if mark in _MICROS:
        return RIGHT, False, False, False
    if mark.startswith("TIMESTAMP_MILLIS"):
        return _MISREAD_MILLIS, False, True, True
    if mark.startswith("TIMESTAMP_NANOS"):
        return _MISREAD_NANOS, False, True, False
    plain = "Spark's vectorized reader fails where the values are not dictionary-encoded"
    return (plain, True, False, True) if mark == "" else ("Spark 4.1 fails on the column", True, False, False)


_READ_RIGHT = {
    *(("int", "INT32", mark) for mark in _SIGNED), *(("long", "INT32", mark) for mark in _SIGNED),
    *(("long", "INT64", mark) for mark in _SIGNED), *(("string", "BYTE_ARRAY", mark) for mark in ("JSON", "ENUM")),
}  # fmt: skip
"""What readers read rightly."""
_READ_BY_ROWS = {
    ("int", "INT32", "DATE"), ("long", "INT64", "TIMESTAMP_MICROS"), ("long", "INT64", "TIMESTAMP_MICROS_UTC"),
    ("binary", "FIXED_LEN_BYTE_ARRAY", ""), ("uuid", "BYTE_ARRAY", ""), ("fixed", "BYTE_ARRAY", ""),
}  # fmt: skip
"""What Spark reads rightly without its vectorized reader only."""
