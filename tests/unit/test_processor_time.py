"""A command ends when a table takes more of the processor than the bytes read of it are worth."""

from __future__ import annotations

import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from explorer.app.protocol import Ask, GetRows, Open
from explorer.app.rights import Rights
from explorer.cli import main
from explorer.errors import ExplorerError
from explorer.progress import BytesRead, Cancelled, PartWatch, Watch, check_cancellation, listener, steps
from explorer.spec.text.units import human_bytes
from explorer.storage import cache, limits, processor_time
from explorer.table import Table
from tests.security.dimensions import make
from tests.support import direct
from tests.support.app_client import Client
from tests.support.small_tables import make_table

LOST = 120
"""Seconds after which a loop that nobody ended fails its test."""


@pytest.fixture(autouse=True)
def unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(processor_time.VARIABLE, raising=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_table(tmp_path, 2)


def loop(*_: Any, **__: Any) -> None:
    """One that asks nobody whether to go on, and copes with all that is wrong."""
    until = time.monotonic() + LOST
    while time.monotonic() < until:
        try:
            sum(range(1000))
        except Exception:
            continue
    pytest.fail("nothing ended it")


def test_a_command_that_goes_on_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processor_time, "SECONDS", 0.05)
    monkeypatch.setattr(Table, "lifecycle", loop)
    result = CliRunner().invoke(main, ["history", "lifecycle", str(folder)])
    assert result.exit_code == 1
    assert result.stderr.startswith(f"icedive: {folder}: refused: the command took ")
    assert processor_time.VARIABLE in result.stderr
    assert "Traceback" not in result.output


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell")
def test_a_command_that_takes_too_much_memory_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def take(*_: Any, **__: Any) -> None:
        until, kept = time.monotonic() + LOST, list[bytearray]()
        while time.monotonic() < until and len(kept) < 2000:
            kept.append(bytearray(b"x" * (1 << 20)))
            time.sleep(0.005)
        pytest.fail("nothing ended it")

    monkeypatch.setattr(limits, "limit", lambda: processor_time.STARTED_BYTES + (100 << 20))
    monkeypatch.setattr(Table, "lifecycle", take)
    result = CliRunner().invoke(main, ["history", "lifecycle", str(folder)])
    assert result.exit_code == 1
    assert re.search(r": refused: the command took 1\d\d(\.\d)? MiB of memory, and for the ", result.stderr)
    assert f"{human_bytes(100 << 20)} are the most; " in result.stderr
    assert f"set {limits.VARIABLE} to more" in result.stderr


def test_what_reads_more_may_take_more_memory() -> None:
    assert processor_time.memory_for(10_000_000) - processor_time.memory_for(2_000_000) == 64 * 8_000_000


def test_it_is_told_to_other_threads(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from explorer.progress import listener

    seen = []

    def wait(*_: Any, **__: Any) -> None:
        seen.append(listener())
        loop()

    monkeypatch.setattr(processor_time, "SECONDS", 0.05)
    monkeypatch.setattr(Table, "lifecycle", wait)
    CliRunner().invoke(main, ["history", "lifecycle", str(folder)])
    [watch] = seen
    assert watch is not None
    assert watch.cancelled


def test_what_comes_after_a_command_is_not_counted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processor_time, "SECONDS", 60.0)
    assert CliRunner().invoke(main, ["history", "lifecycle", str(folder)]).exit_code == 0
    import signal

    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


def test_the_same_bytes_count_once(folder: Path) -> None:
    """Or many lists in one file would buy time for each."""
    watch = Watch()
    watch.bytes_read = BytesRead()
    with watch.listening():
        table = direct.open_table(str(folder))
        snapshot = table.metadata.snapshots[-1]
        table.reader.storage.read(snapshot.manifest_list)
        once = watch.bytes_read.total
        newest = folder / "metadata" / Path(table.metadata.metadata_location).name
        assert once == newest.stat().st_size + (folder / "metadata" / Path(snapshot.manifest_list).name).stat().st_size
        (folder / "metadata" / "link.avro").hardlink_to(folder / "metadata" / Path(snapshot.manifest_list).name)
        for path in (snapshot.manifest_list, snapshot.manifest_list, str(folder / "metadata" / "link.avro")):
            table.reader.storage.read(path)
        for offset in range(1, 50):  # parts that overlap, too
            table.reader.storage.read(snapshot.manifest_list, offset, 100)
    assert watch.bytes_read.total == once


def test_decoded_manifests_count_as_their_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether they are read, or are in the cache, or both: what was put there is not read again."""

    monkeypatch.setattr(cache, "SMALLEST", 1)
    monkeypatch.setenv("ICEDIVE_CACHE", str(tmp_path / "cache"))
    folder = make(tmp_path / "t", "entries", 200)
    told = []
    for _ in range(2):
        watch = Watch()
        watch.bytes_read = BytesRead()
        with watch.listening():
            table = direct.open_table(str(folder))
            table.files().to_arrow()
            direct.open_table(str(folder)).files().to_arrow()  # which remembers nothing
        told.append(watch.bytes_read.total)
    assert told[0] == told[1]
    lists = [Path(str(table.metadata.current_snapshot.manifest_list)).name, Path(table.metadata.metadata_location).name]
    listed = [Path(m.manifest_path).name for m in table.tree.manifests(table.metadata.current_snapshot)]
    assert told[0] == sum((folder / "metadata" / name).stat().st_size for name in (*lists, *listed))


def test_more_bytes_buy_more_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(processor_time.VARIABLE, raising=False)
    assert processor_time.seconds_for(0) == processor_time.SECONDS
    assert processor_time.seconds_for(2_000_000) < 8  # of ten: Python starts in two
    assert processor_time.seconds_for(100_000_000) > 100
    monkeypatch.setenv(processor_time.VARIABLE, "60")
    assert processor_time.seconds_for(0) == 60
    monkeypatch.setenv(processor_time.VARIABLE, "a minute")
    with pytest.raises(ExplorerError, match="say how many seconds"):
        processor_time.seconds_for(0)


def test_the_time_of_children_counts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While this process waits for them it takes none, and the system's timer stands still."""
    from explorer.storage.decoder_process import client

    def wait(*_: Any, **__: Any) -> None:
        until = time.monotonic() + LOST
        while time.monotonic() < until:
            time.sleep(0.05)
        pytest.fail("nothing ended it")

    began = time.monotonic()
    monkeypatch.setattr(processor_time, "CHILDREN_S", 0.05)
    monkeypatch.setattr(client, "processor_seconds", lambda: 100 * (time.monotonic() - began))
    monkeypatch.setattr(Table, "lifecycle", wait)
    result = CliRunner().invoke(main, ["history", "lifecycle", str(folder)])
    assert (result.exit_code, "refused: the command took" in result.stderr) == (1, True)


# -- questions of pages, on a server's threads -------------------------------------------------------------------------
@pytest.fixture
def little_time(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in (("SECONDS", 0.1), ("LOOK_S", 0.02), ("GRACE_S", 0.1)):
        monkeypatch.setattr(processor_time, name, seconds)


def on_thread(work: Any) -> Any:
    """What work gives, or raises, on a thread as a server's pools have them; which can be used afterwards."""
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(processor_time.within_limit, work, BytesRead())
        error = answer.exception(LOST)
        assert pool.submit(sum, [1, 2]).result() == 3
    assert not processor_time._Looks._watches
    if error is not None:
        raise error
    return answer.result()


def step() -> None:
    """A loop as ours are."""
    for _ in steps(iter(int, 1), "steps"):
        sum(range(1000))


def step_elsewhere() -> None:
    """As those that decode: the thread that asks waits for others."""
    watch = PartWatch(listener())

    def work() -> None:
        with watch.listening():
            step()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()


def loop_elsewhere() -> None:
    watch = PartWatch(listener())

    def work() -> None:
        with watch.listening():
            loop()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()


def wait_for_a_child() -> None:
    """While a child is at work, this process does nothing."""
    watch, began = listener(), time.monotonic()
    assert watch is not None
    with watch.counting("child", lambda: 100 * (time.monotonic() - began)):
        while True:
            check_cancellation()
            time.sleep(0.01)


@pytest.mark.usefixtures("little_time")
@pytest.mark.parametrize("work", [step, loop, step_elsewhere, loop_elsewhere, wait_for_a_child])
def test_a_question_that_goes_on_is_refused(work: Any) -> None:
    """Whether it asks if it is to go on, or copes with all that is wrong; here, on threads of its own or in a child."""
    if work in (loop, loop_elsewhere) and not hasattr(time, "pthread_getcpuclockid"):
        pytest.skip("the system does not tell what another thread has taken")
    with pytest.raises(ExplorerError, match=r"^refused: the question took [\d.]+ s of the processor"):
        on_thread(work)


@pytest.mark.usefixtures("little_time")
def test_what_is_asked_together_is_counted_apart() -> None:
    """One question's time is not another's, however long both run."""

    def wait() -> str:
        time.sleep(0.5)
        return "done"

    with ThreadPoolExecutor(2) as pool:
        loops, waits = (pool.submit(processor_time.within_limit, one, BytesRead()) for one in (step, wait))
        assert waits.result() == "done"
        assert isinstance(loops.exception(LOST), ExplorerError)


@pytest.mark.usefixtures("little_time")
def test_a_question_has_more_time_for_what_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processor_time, "SECONDS_PER_MB", 10_000.0)
    read = BytesRead()
    read.note(3_000_000, 3_000_000, 0, "file")
    until = time.thread_time() + 0.5

    def work() -> str:
        for _ in steps(iter(lambda: time.thread_time() < until, False), "steps"):
            pass
        return "done"

    assert processor_time.within_limit(work, read) == "done"


@pytest.mark.usefixtures("little_time")
def test_who_cancels_is_told_so() -> None:
    watch = Watch()

    def work() -> None:
        watch.cancel()
        step()

    with watch.listening(), pytest.raises(Cancelled):
        processor_time.within_limit(work, BytesRead())


@pytest.mark.usefixtures("little_time")
def test_what_ends_as_it_is_ended_leaves_its_thread_whole() -> None:
    """The time is up at any moment: also while the work ends."""

    def work(seconds: float) -> str:
        until = time.thread_time() + seconds
        while time.thread_time() < until:
            sum(range(50))
        return "done"

    with ThreadPoolExecutor(1) as pool:
        for n in range(12):
            seconds = 0.19 + 0.002 * n
            answer = pool.submit(processor_time.within_limit, lambda seconds=seconds: work(seconds), BytesRead())
            error = answer.exception(LOST)
            assert error is None or str(error).startswith("refused: ")
            assert pool.submit(work, 0.01).result() == "done"


@pytest.mark.usefixtures("little_time")
def test_a_page_is_told_that_its_question_takes_too_long(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though nobody waits behind it; what writes, and a table of the notebook's own, have no such limit."""
    monkeypatch.setattr(Table, "lifecycle", lambda *_, **__: step())
    client = Client(Rights())
    told = client.ask(type="ask", question="history lifecycle", table=str(folder), arguments={})
    assert (told["type"], told["text"][:27]) == ("error", "refused: the question took ")
    session = client.session
    ask = partial(Ask, 1, table=str(folder))
    assert session._is_limited(ask(question="doctor"))
    assert session._is_limited(GetRows(1, "inspect files", 0, str(folder)))
    assert session._is_limited(Open(1, str(folder)))
    for question in ("maintain run", "catalog health"):
        assert not session._is_limited(ask(question=question))
    session._given[str(folder)] = Table.__new__(Table)
    assert not session._is_limited(ask(question="doctor"))


@pytest.mark.usefixtures("little_time")
def test_one_table_of_a_catalog_that_takes_too_long_is_refused_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from explorer.reports import catalog_sweep
    from explorer.storage.locate import locate

    folders = {name: make_table(tmp_path / name, 1) for name in ("slow", "quick")}
    monkeypatch.setattr(catalog_sweep.catalogs, "tables", lambda *_: [SimpleNamespace(identifier=n) for n in folders])
    monkeypatch.setattr(catalog_sweep, "locate_named", lambda name, *_: locate(str(folders[name])))

    def ask(table: Table) -> str:
        if "/slow/" in table.metadata.location:
            step()
        return "done"

    slow, quick = catalog_sweep.sweep(ask)
    assert slow.error.startswith("refused: the question took")
    assert (quick.answer, quick.error) == ("done", "")
