"""Spark's jobs of several people's questions: shared, cancelled, and lost in the middle."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import psutil
import pyarrow as pa
import pytest

from explorer.errors import EngineError, StatementFailed
from explorer.lab.scenarios import NAMESPACE
from explorer.model.manifest import ManifestFile
from explorer.progress import Cancelled, Watch
from explorer.spark_engine import gateway, java, pipeline
from explorer.spark_engine.pipeline import batches
from explorer.spark_engine.read_queue import ReadSession
from explorer.spark_engine.spark import SparkEngine
from explorer.spark_engine.sql_guard.quotas import Quotas
from explorer.spec.entries.entry_views import entry_view
from explorer.spec.entries.lazy_table import MakePart
from tests.support import direct
from tests.support.small_tables import make_table


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> direct.Table:
    """Of sixteen manifests, each a task's."""
    monkeypatch.setattr(pipeline, "A_TASK", 1)
    return direct.open_table(str(make_table(tmp_path / "t", commits=16)))


def asked(
    engine: SparkEngine, table: direct.Table, change: Callable[[MakePart], MakePart], first: int | None = None
) -> int:
    """How many entries Spark's workers make of a table's first manifests, by a function made of the real one."""
    parts = entry_view(table.tree.entries(table.metadata.current_snapshot), "stored")
    some = replace(parts, manifests=parts.manifests[:first], part=change(parts.part), of_run=None)
    made = batches(engine.session(), table.reader.storage, some, table.tree.note, f"entries of {table.name}")
    return sum(rows.num_rows for rows in made.read())


def slow(part: MakePart) -> MakePart:
    def slowed(manifest: ManifestFile, stored: pa.Table) -> pa.Table:
        import time

        time.sleep(0.7)
        return part(manifest, stored)

    return slowed


def wrong(part: MakePart) -> MakePart:
    def failing(manifest: ManifestFile, stored: pa.Table) -> pa.Table:
        raise ArithmeticError("no such number")

    return failing


def test_questions_share_and_a_cancelled_one_ends(engine: SparkEngine, table: direct.Table) -> None:
    assert asked(engine, table, lambda part: part) == 16
    watch, ended, told = Watch(), [], []

    def long() -> None:
        with watch.listening():
            try:
                asked(engine, table, slow)
            except Cancelled:
                ended.append(time.monotonic())

    thread = threading.Thread(target=long)
    thread.start()
    while watch.what != "tasks" or not watch.total:
        time.sleep(0.05)
    began = time.monotonic()
    assert asked(engine, table, slow, 2) == 2
    told.append(time.monotonic() - began)
    assert thread.is_alive(), "the short question waited for the long one"
    assert (watch.what, watch.total) == ("tasks", 16)
    watch.cancel()
    thread.join(20)
    assert ended
    assert watch.done < 16, "it ended by itself"
    assert asked(engine, table, lambda part: part) == 16, "others are not affected"


def test_what_a_worker_raises_is_told(engine: SparkEngine, table: direct.Table) -> None:
    with pytest.raises(StatementFailed, match=r"entries of t: .*ArithmeticError: no such number"):
        asked(engine, table, wrong)


def test_a_worker_that_is_killed_is_told_and_the_next_question_answered(
    engine: SparkEngine, table: direct.Table
) -> None:
    over = threading.Event()

    def kill() -> None:
        while not over.wait(0.5):  # once it is at work, whenever that is
            for process in psutil.Process(gateway.pid()).children(recursive=True):
                with suppress(psutil.Error):
                    if "python" in process.name() and "python" in process.parent().name():  # the daemon forks workers
                        process.kill()

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        with pytest.raises(EngineError, match=r"entries of t: Spark's worker at .*: its Python ended in the middle"):
            asked(engine, table, slow)
    finally:
        over.set()
        thread.join()
    assert asked(engine, table, lambda part: part) == 16


LOST = """
import threading, time
import explorer
from explorer.table import open_table
from explorer.spark_engine import gateway, java, pipeline
from explorer.spark_engine.spark import shared_engine

table = open_table("{table}")
ours = table.diff(None, "main", "local")
assert table.diff(None, "main", "spark") == ours

def slowly(by):
    real = held(by)
    def slowed(given):
        import time
        time.sleep(5)
        yield from real(given)
    return slowed

held, pipeline._compare_deal = pipeline._compare_deal, slowly
threading.Timer(3, lambda: gateway._process.kill()).start()
for _ in range(2):
    try:
        table.diff(None, "main", "spark")
        raise SystemExit("it was not lost")
    except explorer.EngineError as error:
        assert str(error).startswith("diff of sandbox.demo"), error
        assert "Spark was lost" in str(error), error
assert table.diff(None, "main") == ours  # what needs no Spark goes on
pipeline._compare_deal = held
shared_engine().restart()
assert table.diff(None, "main", "spark") == ours
print("went on")
"""


def test_java_that_is_killed_in_mid_job_is_told_and_the_page_goes_on(sandbox: Path) -> None:
    program = LOST.format(table=f"{NAMESPACE}.manifest_lifecycle")
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert found.stdout.strip().endswith("went on"), found.stderr[-3000:]


def test_quotas_cut_and_stop_reads(engine: SparkEngine, sandbox: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("explorer.spark_engine.read_queue.quotas", lambda: Quotas(rows=2))
    table, session, watch = direct.open_table(f"{NAMESPACE}.three_inserts"), ReadSession(engine), Watch()
    with watch.listening():
        assert len(table.rows(session=session)) == 2
    assert watch.note == "The first 2 rows: no read gives more here (ICEDIVE_QUOTAS)."
    monkeypatch.setattr("explorer.spark_engine.read_queue.quotas", lambda: Quotas(seconds=2))
    with pytest.raises(StatementFailed, match="stopped after 2 seconds: no read takes longer here"):
        table.sql("SELECT count(*) FROM range(1000000000000) WHERE sqrt(id) % 7 = 1", session=session)
    monkeypatch.setattr("explorer.spark_engine.read_queue.quotas", Quotas)
    assert len(table.rows(session=session)) == 3


def test_a_jar_that_cannot_be_had_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ICEDIVE_CACHE", str(tmp_path))
    empty = tmp_path / "ivysettings.xml"
    empty.write_text(
        "<ivysettings><settings defaultResolver='none'/><resolvers><filesystem name='none'/></resolvers></ivysettings>"
    )
    with pytest.raises(EngineError, match=r"org.example:nothing:1.0 could not be downloaded.*put the jar at"):
        java.resolve_jars(java.find_java(), ("org.example:nothing:1.0",), str(empty))
    assert not list((tmp_path / "jars").glob("*.jar"))
