"""How measures of health went since the last run, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from explorer.render.health import amount
from explorer.render.text import clean
from explorer.spec.health.health_log import HealthTrend, LoggedHealth
from explorer.spec.health.measures import BY_ID
from explorer.spec.text.units import count, second


def render_trends(
    log: Sequence[LoggedHealth], now: Sequence[LoggedHealth], trends: Sequence[HealthTrend]
) -> Iterator[str]:
    """Say how tables went: how many are above their thresholds, then each measure that is or was."""
    if not log:
        yield "This is the first run of the log: the next one tells what changed."
        return
    times = {logged.time_ms for logged in log}
    known = {logged.table for logged in log}
    above = {trend.table for trend in trends if trend.above_since_ms is not None}
    before = {trend.table for trend in trends if (trend.before or 0) > trend.threshold}
    yield (
        f"{count(len(times), 'earlier run')} since {second(min(times))}. Of {count(len(now), 'table')}, "
        f"{len(above):,} {'is' if len(above) == 1 else 'are'} above a threshold now, {len(before):,} at the last run"
        f"{_new_words([logged.table for logged in now if logged.table not in known])}."
    )
    for logged in now:
        if logged.level == "failed":
            yield clean(f"{logged.table}: cannot be read now")
    for trend in trends:
        unit = BY_ID[trend.id].unit
        values = f"{amount(trend.before, unit)} → {amount(trend.value, unit)}"
        since = "not judged now" if trend.value is None else "within its threshold again"
        if trend.above_since_ms is not None:
            since = f"above {amount(trend.threshold, unit)} since {second(trend.above_since_ms)}"
        yield clean(f"{trend.table}: {trend.id} {values}, {since}")


def _new_words(tables: Sequence[str]) -> str:
    verb = "was" if len(tables) == 1 else "were"
    return f"; {count(len(tables), 'table')} {verb} not measured before" if tables else ""
