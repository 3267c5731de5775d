"""Children that decode: they serve the visitors of a server in turn, end with who waits for them, and take no more than
a share of memory."""

from __future__ import annotations

import io
import json
import threading
import time
from collections.abc import Hashable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from explorer.errors import NotNow, UnreadableFile
from explorer.progress import Cancelled, PartWatch, Watch
from explorer.serving import pools
from explorer.storage import limits, manifests
from explorer.storage.decoder_process import client, turns
from explorer.storage.decoder_process.turns import Turns
from explorer.storage.formats.avro import open_container, repack
from explorer.storage.manifest_reader import ManifestReader
from explorer.storage.storage import Storage
from tests.cases.mini import Table as Mini
from tests.security.dimensions import base, data_file
from tests.support import direct


class Visitor:
    """One who has a turn on a thread, for as long as the test says."""

    def __init__(self, places: Turns, owner: Hashable) -> None:
        self.watch, self.entered, self.leave = Watch(owner), threading.Event(), threading.Event()
        self.turn: Any = None
        self.over: Exception | None = None
        self._thread = threading.Thread(target=self._stay, args=(places,), daemon=True)
        self._thread.start()

    def _stay(self, places: Turns) -> None:
        try:
            with self.watch.listening(), places.turn() as self.turn:
                self.entered.set()
                self.leave.wait(30)
        except Cancelled as error:
            self.over = error

    def go(self) -> None:
        self.leave.set()
        self._thread.join(30)


@pytest.fixture
def places(monkeypatch: pytest.MonkeyPatch) -> Turns:
    monkeypatch.setattr(turns, "LOOK_S", 0.01)
    monkeypatch.setattr(turns, "LONG_S", 3600)
    return Turns(2, 1)


def waiting(places: Turns, n: int) -> None:
    while places.counts()[1] < n:
        time.sleep(0.005)


# -- turns ------------------------------------------------------------------------------------------------------------
def test_who_asks_much_waits_and_others_do_not(places: Turns) -> None:
    first = [Visitor(places, "greedy") for _ in range(2)]
    assert all(one.entered.wait(30) for one in first)
    more = [Visitor(places, "greedy") for _ in range(5)]
    waiting(places, 5)
    other = Visitor(places, "other")
    waiting(places, 6)
    first[0].go()
    assert other.entered.wait(30)
    assert not any(one.entered.is_set() for one in more)
    for one in (other, first[1], *more):
        one.go()
    assert places.counts() == (0, 0)


def test_of_equals_one_goes_first_who_had_no_turn_lately(places: Turns) -> None:
    """However long the others have been in the queue."""
    held = [Visitor(places, owner) for owner in ("a", "b")]
    assert all(one.entered.wait(30) for one in held)
    queue = [Visitor(places, owner) for owner in ("a", "b") for _ in range(3)]
    waiting(places, 6)
    other = Visitor(places, "c")
    waiting(places, 7)
    held[0].go()
    assert other.entered.wait(30)
    for one in (held[1], other, *queue):
        one.go()


def test_long_turns_leave_their_places_to_who_has_none(places: Turns, monkeypatch: pytest.MonkeyPatch) -> None:
    long = [Visitor(places, "greedy") for _ in range(2)]
    assert all(one.entered.wait(30) for one in long)
    greedy, other = Visitor(places, "greedy"), Visitor(places, "other")
    waiting(places, 2)
    monkeypatch.setattr(turns, "LONG_S", 0.0)
    assert other.entered.wait(30)
    assert not greedy.entered.is_set()
    assert not any(one.turn.over for one in long)
    for one in (*long, other, greedy):
        one.go()


def test_the_longest_ends_when_nothing_else_makes_room(places: Turns, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "LONG_S", 0.0)
    monkeypatch.setattr(turns, "MOST_S", 3600)
    greedy = [Visitor(places, "greedy") for _ in range(2)]
    assert all(one.entered.wait(30) for one in greedy)
    aside = Visitor(places, "second")
    assert aside.entered.wait(30)
    other = Visitor(places, "other")
    waiting(places, 1)
    monkeypatch.setattr(turns, "MOST_S", 0.0)
    while not any(one.turn.over for one in greedy):  # an owner's who has two
        time.sleep(0.005)
    assert not aside.turn.over
    ended = next(one for one in greedy if one.turn.over)
    assert "since others wait and no place is free" in ended.turn.ended
    ended.go()
    assert other.entered.wait(30)
    for one in (*greedy, aside, other):
        one.go()


def test_who_waits_for_a_turn_can_cancel(places: Turns) -> None:
    held = [Visitor(places, None) for _ in range(2)]
    assert all(one.entered.wait(30) for one in held)
    late = Visitor(places, None)
    waiting(places, 1)
    late.watch.cancel()
    late._thread.join(30)
    assert isinstance(late.over, Cancelled)
    assert not late.entered.is_set()
    for one in held:
        one.go()
    assert places.counts() == (0, 0)


# -- children ---------------------------------------------------------------------------------------------------------
@pytest.fixture
def no_children(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """None at first, and none of the test's left."""
    before = set(client._workers)
    monkeypatch.setattr(client, "_idle", [])
    yield
    for worker in set(client._workers) - before:
        worker.kill()


def endless() -> bytes:
    """An Avro file whose records take no bytes and a decoder for ever: of a thousand fields that are null, and one that
    is not."""
    from tests.security.build import avro_file, long

    nothing = {"type": "record", "name": "R", "fields": [{"name": f"n{i}", "type": "null"} for i in range(1000)]}
    fields = [{"name": "x0", "type": nothing}, *({"name": f"x{i}", "type": "R"} for i in range(1, 15))]
    fields.append({"name": "u", "type": "long"})
    return avro_file({"type": "record", "name": "m", "fields": fields}, (200_000, long(1) * 200_000))


@pytest.mark.usefixtures("no_children")
@pytest.mark.parametrize("part", [False, True])
def test_a_decode_that_nobody_waits_for_is_killed(part: bool) -> None:
    whole = Watch("somebody")
    watch = PartWatch(whole) if part else whole

    def ask() -> None:
        with watch.listening():
            client.run("records", "m.avro", endless(), start=199_999, limit=None)

    before = set(client._workers)
    with ThreadPoolExecutor(1) as threads:
        answer = threads.submit(ask)
        while not (begun := set(client._workers) - before) or not any(w._ready for w in begun):
            time.sleep(0.01)
        [worker] = begun
        assert not answer.done()
        whole.cancel()
        with pytest.raises(Cancelled):
            answer.result(60)
    assert not worker.alive
    assert client._turns.counts() == (0, 0)


@pytest.mark.usefixtures("no_children")
def test_a_decode_that_others_need_the_place_of_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be asked for again."""
    monkeypatch.setattr(client, "_turns", Turns(1, 0))
    for name in ("LONG_S", "MOST_S"):
        monkeypatch.setattr(turns, name, 0.0)
    with ThreadPoolExecutor(1) as threads:

        def ask() -> None:
            with Watch("greedy").listening():
                client.run("records", "m.avro", endless(), start=199_999, limit=None)

        answer = threads.submit(ask)
        while client._turns.counts()[0] < 1:
            time.sleep(0.01)
        with Watch("other").listening(), pytest.raises(UnreadableFile, match="cannot be decoded"):
            client.run("footer", "f.parquet", b"PAR1")
        with pytest.raises(NotNow, match="since others wait"):
            answer.result(60)


def several(folder: Path, n: int) -> Mini:
    """A table of so many manifests."""
    table = base(folder)
    written = [table.manifest(f"m{i}.avro", [(1, data_file(table, 1))] * 5) for i in range(n)]
    table.snapshot("append", [*table.lists[table.md["current-snapshot-id"]], *written])
    return table


def test_threads_that_decode_know_for_whom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And end when nobody takes what they give."""

    several(tmp_path / "t", 40)
    watches: list[Any] = []

    def noted(containers: Any, metrics: bool = True) -> Any:
        watches.append(turns.listener())
        return real(containers, metrics)

    real = manifests.entries_of_many
    monkeypatch.setattr(manifests, "entries_of_many", noted)
    monkeypatch.setattr("explorer.storage.manifest_reader.BATCH_BYTES", 1)
    monkeypatch.setattr("explorer.storage.manifest_reader.WORTH_A_THREAD", 1)
    table = direct.open_table(str(tmp_path / "t"))
    snapshot = table.metadata.current_snapshot
    assert snapshot is not None
    listed = list(table.tree.manifests(snapshot))
    reader = ManifestReader(Storage([str(tmp_path / "t")]))
    with Watch("somebody").listening():
        taken = reader.many_entries(listed)
        next(taken)
        taken.close()  # type: ignore[attr-defined]
    assert {watch.owner for watch in watches} == {"somebody"}
    assert all(watch.cancelled for watch in watches)


@pytest.mark.usefixtures("no_children")
def test_a_child_takes_no_more_than_its_share_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused with the file's name, and how to read it nevertheless."""
    assert client.MEMORY == 1 << 30
    monkeypatch.setattr(client, "MEMORY", 256 << 20)
    monkeypatch.setattr(limits, "limit", lambda: 64 << 20)
    out = io.BytesIO()
    pq.write_table(pa.table({"x": pa.array(["a" * 1000] * 400_000)}), out, use_dictionary=True)
    peak, over = [0], threading.Event()
    before = set(client._workers)

    def look() -> None:
        while not over.wait(0.005):
            for worker in set(client._workers) - before:
                status = Path(f"/proc/{worker._process.pid}/status")
                if status.exists():
                    kept = [int(line.split()[1]) << 10 for line in status.read_text().splitlines() if "RssAnon" in line]
                    peak[0] = max(peak[0], *kept, 0)

    looking = threading.Thread(target=look)
    looking.start()
    try:
        cause = r"f\.parquet: decoding it takes more than 268,435,456 bytes of memory; set ICEDIVE_MEMORY"
        with pytest.raises(UnreadableFile, match=cause):
            client.run("columns", "f.parquet", out.getvalue(), format="PARQUET", ids=[1], names=["x"])
    finally:
        over.set()
        looking.join()
    assert peak[0] <= 256 << 20


@pytest.mark.usefixtures("no_children")
def test_a_manifest_of_two_hundred_columns_fits(tmp_path: Path) -> None:
    """As large as Iceberg's writers make one: its entries, and each of its records as it is stored."""
    columns = range(1, 201)
    table = Mini(tmp_path / "t", [(i, f"c{i}", "long") for i in columns])
    long, some = dict.fromkeys(columns, 1 << 40), dict.fromkeys(columns, b"12345678")
    file = {"content": 0, "file_path": f"{table.location}/a.parquet", "file_format": "PARQUET", "partition": {}}
    file |= {"record_count": 1, "file_size_in_bytes": 1, "column_sizes": long, "value_counts": long}
    file |= {"null_value_counts": long, "nan_value_counts": None, "lower_bounds": some, "upper_bounds": some}
    table.manifest("m.avro", [(1, file)] * 1200)
    path = tmp_path / "t" / "metadata" / "m.avro"
    container = open_container(path.read_bytes(), "m.avro")
    assert sum(len(block.data) for block in container.blocks) > 8 << 20
    data = repack(container)
    assert client.run("entries", "m.avro", data, metrics=True).num_rows == 1200
    records = client.run("records", "m.avro", data, start=0, limit=None)
    assert len(json.loads(records["record"][0].as_py())["data_file"]["lower_bounds"]) == 200


# -- owners -----------------------------------------------------------------------------------------------------------
def test_all_pages_of_a_visitor_are_one_owner() -> None:
    tasks = [pools.HERE.submit(lambda: None, object(), "", visitor) for visitor in ("10.0.0.1", "10.0.0.1", "10.0.0.2")]
    assert [task._watch.owner for task in tasks] == ["10.0.0.1", "10.0.0.1", "10.0.0.2"]
    session = object()
    assert pools.PoolTask(lambda: None, session)._watch.owner is session


def test_a_read_that_waits_for_memory_can_be_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_under_way", limits.limit())
    watch = Watch()
    watch.cancel()
    with watch.listening(), pytest.raises(Cancelled), limits.reading(limits.LARGE, "f.parquet"):
        pass
