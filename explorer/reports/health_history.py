"""When measures of health crossed their thresholds: the snapshots of main, measured as each was current."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

from explorer.model.metadata import Snapshot
from explorer.progress import check_cancellation
from explorer.reports.health import checkup
from explorer.spark_engine.engine_choice import Engine
from explorer.spec.commits.commit_writers import writers_of
from explorer.spec.health.crossings import Crossing
from explorer.spec.health.measures import Health, MeasuredValue
from explorer.spec.snapshots.lineage import ancestry
from explorer.spec.text.names import snapshot_name
from explorer.table import Table

OF_METADATA_FILE = "it is of the metadata file, of which no snapshot tells"
NOBODY_SINCE = "no commit took it there: since the last one that added rows none did"
AT_OLDEST = "it was above already at {}, the oldest snapshot that is left"


class _History:
    """Measures of the snapshots of main, oldest first; each snapshot is measured once."""

    def __init__(self, table: Table, limits: Mapping[str, float] | None, engine: Engine) -> None:
        self.table, self.limits, self.engine = table, limits, engine
        named = {snapshot.snapshot_id: snapshot for snapshot in table.metadata.snapshots}
        ids = ancestry(table.metadata, table.metadata.current_snapshot_id)
        self.snapshots: Sequence[Snapshot] = [named[one] for one in reversed(ids)]
        self._healths: dict[int, Health] = {}

    def health(self, place: int) -> Health:
        """The health of the table at one snapshot."""
        if place not in self._healths:
            check_cancellation()
            own = self.snapshots[place].snapshot_id
            self._healths[place] = checkup(self.table, limits=self.limits, snapshot_id=own, engine=self.engine)
        return self._healths[place]

    def measured(self, place: int, measure: str) -> MeasuredValue:
        """A measure of one snapshot."""
        return next(measured for measured in self.health(place).measures if measured.id == measure)

    def is_above(self, place: int, measure: str) -> bool:
        """Whether a measure is above its threshold; one that says nothing is not."""
        return self.measured(place, measure).level != "ok"


def find_crossings(table: Table, limits: Mapping[str, float] | None = None, engine: Engine = "auto") -> list[Crossing]:
    """Find the commits at which measures that are above their thresholds now went above them.

    Few snapshots are measured: the middle of those in question, again and again. A measure that went above, below and
    above again crossed more than once; one of these commits is found.

    Args:
        table: The table.
        limits: Thresholds by measure, in place of the usual ones.
        engine: What decodes manifests.

    Returns:
        A crossing for each measure that is above its threshold now.

    Raises:
        NotFoundInTable: There is no such measure.
    """
    history = _History(table, limits, engine)
    if not history.snapshots:
        return []
    last = len(history.snapshots) - 1
    writers = {own.snapshot.snapshot_id: own.writer for own in writers_of(table.metadata).commits}
    beyond = history.health(last).beyond
    return [_crossing(history, measured, last, writers) for measured in beyond]


def _crossing(history: _History, measured: MeasuredValue, last: int, writers: Mapping[int, str]) -> Crossing:
    name, value = measured.id, measured.value or 0.0
    if measured.about.scope == "metadata file":
        return Crossing(name, value, measured.threshold, unknown=OF_METADATA_FILE)
    if name == "freshness":
        return Crossing(name, value, measured.threshold, unknown=NOBODY_SINCE)
    ordinals = history.table.metadata.ordinals
    if history.is_above(0, name):
        oldest = snapshot_name(history.snapshots[0].snapshot_id, ordinals)
        return Crossing(name, value, measured.threshold, unknown=AT_OLDEST.format(oldest))
    place = bisect_left(range(last), True, lo=1, key=lambda at: history.is_above(at, name))
    snapshot = history.snapshots[place]
    return Crossing(
        name, value, measured.threshold, snapshot_name(snapshot.snapshot_id, ordinals), snapshot.timestamp_ms,
        snapshot.operation or "", writers.get(snapshot.snapshot_id, ""), history.measured(place - 1, name).value,
        history.measured(place, name).value,
    )  # fmt: skip
