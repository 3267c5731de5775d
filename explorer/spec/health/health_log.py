"""A log of health: what each run measured of each table, a line of JSON each, and how the measures went since."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from explorer.errors import UnreadableFile
from explorer.spec.health.measures import BY_ID


@dataclass(frozen=True)
class LoggedHealth:
    """What one run measured of one table.

    Attributes:
        time_ms: When, in ms since 1970.
        table: The table's name.
        level: The worst level, or `failed`.
        measures: The value of each measure that was judged, by its id.
    """

    time_ms: int
    table: str
    level: str
    measures: Mapping[str, float]

    def to_line(self) -> str:
        """Return the line of the log."""
        return json.dumps(
            {"time_ms": self.time_ms, "table": self.table, "level": self.level, "measures": dict(self.measures)}
        )


@dataclass(frozen=True)
class HealthTrend:
    """How a measure of a table went.

    Attributes:
        table: The table's name.
        id: The measure.
        before: Its value at the run before; None where it was not judged.
        value: Its value now; None where it is not judged.
        threshold: Above which it matters.
        above_since_ms: The first of the runs since which it is above its threshold; None where it is not.
    """

    table: str
    id: str
    before: float | None
    value: float | None
    threshold: float
    above_since_ms: int | None


def parse_health_log(lines: Iterable[str], place: str) -> list[LoggedHealth]:
    """Read the lines of a log.

    Args:
        lines: The lines; empty ones are left out.
        place: The file, for errors.

    Raises:
        UnreadableFile: A line is not one of a log.
    """
    return [_parse(line, number, place) for number, line in enumerate(lines, 1) if line.strip()]


def _parse(line: str, number: int, place: str) -> LoggedHealth:
    try:
        raw = json.loads(line)
        measures = {name: float(value) for name, value in raw["measures"].items()}
        time_ms, table, level = int(raw["time_ms"]), raw["table"], raw["level"]
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise UnreadableFile(place, f"line {number} is not one of a log of health ({type(error).__name__})") from error
    if not (isinstance(table, str) and isinstance(level, str)):
        raise UnreadableFile(place, f"line {number} is not one of a log of health (table or level)")
    return LoggedHealth(time_ms, table, level, measures)


def health_trends(
    log: Sequence[LoggedHealth], now: Sequence[LoggedHealth], thresholds: Mapping[str, float]
) -> Iterator[HealthTrend]:
    """Compare a run with those before it.

    Args:
        log: The earlier runs, oldest first.
        now: This run.
        thresholds: By measure.

    Yields:
        Each measure that is above its threshold now, or was at the run before, of tables that were measured before.
    """
    runs: dict[str, list[LoggedHealth]] = {}
    for logged in log:
        runs.setdefault(logged.table, []).append(logged)
    for own in now:
        earlier = runs.get(own.table, [])
        for name in BY_ID if earlier else ():
            threshold = thresholds[name]
            before, value = earlier[-1].measures.get(name), own.measures.get(name)
            if max(before or 0, value or 0) > threshold:
                since = _above_since(own, earlier, name, threshold)
                yield HealthTrend(own.table, name, before, value, threshold, since)


def _above_since(own: LoggedHealth, earlier: Sequence[LoggedHealth], name: str, threshold: float) -> int | None:
    since = None
    for logged in (own, *reversed(earlier)):
        if logged.measures.get(name, 0) <= threshold:
            break
        since = logged.time_ms
    return since
