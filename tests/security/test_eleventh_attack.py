"""What an attack with fresh eyes found: each hole, and others of its kind."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from explorer.app import downloads
from explorer.app.blocks import ShownAnswer
from explorer.app.rights import Rights
from explorer.app.session import Session
from explorer.errors import NotPossible
from explorer.questions import QUESTIONS
from explorer.serving import allowance
from explorer.serving.allowance import Allowance
from explorer.serving.pools import Pool, PoolTask
from explorer.table import open_table
from tests.security.dimensions import base, chain, data_file, delete_file
from tests.security.test_app_page import Visitor, ask, listening, visit
from tests.support.small_tables import edit_metadata, make_table
from tests.unit.test_screen import run

__all__ = ["listening"]
LONG = "n" * 800_000
MOST_MEMORY = 700 << 20
"""Far below the limit of 1 GiB, and far above what such a small table takes."""
WATCHED = """
import sys
from explorer.cli import main
try:
    main(sys.argv[2:])
finally:
    with open("/proc/self/status") as status, open(sys.argv[1], "w") as copy:
        copy.write(status.read())
"""
"""The command line, which leaves what the system says of its process: its greatest memory, and not that of the process
that began it, which rusage counts too."""
COLUMN = {"id": 99, "name": LONG, "required": False, "type": "int"}


# -- a long name, and many things that repeat it -----------------------------------------------------------------------
def fields_inside(table: Any) -> None:
    inside = [{"id": 1000 + i, "name": f"f{i}", "required": False, "type": "int"} for i in range(4_000)]
    table.md["schemas"][0]["fields"].append({**COLUMN, "type": {"type": "struct", "fields": inside}})


def equality_ids(table: Any) -> None:
    table.md["schemas"][0]["fields"].append(COLUMN)
    table.delta(deletes=[{**delete_file(table, 1), "content": 2, "equality_ids": [99] * 3_000}])


def sort_fields(table: Any) -> None:
    table.md["schemas"][0]["fields"].append(COLUMN)
    one = {"source-id": 99, "transform": "identity", "direction": "asc", "null-order": "nulls-first"}
    table.md["sort-orders"].append({"order-id": 1, "fields": [one] * 3_000})
    table.md["default-sort-order-id"] = 1


def source_ids(table: Any) -> None:
    table.md["schemas"][0]["fields"].append(COLUMN)
    field = {"source-ids": [99] * 3_000, "field-id": 1001, "name": "p", "transform": "identity"}
    table.md["partition-specs"].append({"spec-id": 1, "fields": [field]})
    table.md["default-spec-id"] = 1


def snapshots_of_a_branch(table: Any) -> None:
    chain(table.md, 3_000)
    table.md["refs"][LONG] = {"snapshot-id": table.md["current-snapshot-id"], "type": "branch"}


def files_of_a_partition(table: Any) -> None:
    table.append(*(data_file(table, i) for i in range(3_000)))
    table.md["partition-specs"][0]["fields"][0]["name"] = LONG


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux tells what a process took")
@pytest.mark.parametrize(("grow", "commands"), [
    (fields_inside, ("inspect schema {}", "show {}", "doctor {} --each")),
    (equality_ids, ("inspect deletes {}", "overview {}")), (sort_fields, ("overview {}",)),
    (source_ids, ("overview {}",)), (snapshots_of_a_branch, ("maintain preview {} expire", "health {}")),
    (files_of_a_partition, ("inspect deletes {} --show layers", "maintain preview {} compact")),
], ids=lambda one: getattr(one, "__name__", ""))  # fmt: skip
def test_a_long_name_times_a_count(grow: Callable[[Any], None], commands: tuple[str, ...], tmp_path: Path) -> None:
    folder = tmp_path / "t"
    table = base(folder)
    table.save = lambda: None  # type: ignore[method-assign]
    grow(table)
    table.write()
    for words in commands:
        status = tmp_path / "status"
        command = [sys.executable, "-c", WATCHED, str(status), *words.format(folder).split()]
        code = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
        (peak,) = re.findall(r"VmHWM:\s+(\d+) kB", status.read_text())
        assert int(peak) << 10 < MOST_MEMORY, (words, peak)
        assert code in (0, 1, 3, 5, 6), (words, code)
    told = run("show", str(folder))
    assert "characters; at most" in told.output + told.stderr


def test_what_has_a_long_name_is_told_and_the_rest_opens(tmp_path: Path) -> None:
    folder = make_table(tmp_path)
    branch = "b" * 501

    def change(metadata: dict[str, Any]) -> None:
        metadata["refs"][branch] = {"snapshot-id": metadata["current-snapshot-id"], "type": "branch"}

    edit_metadata(folder, change)
    table = open_table(str(folder))
    assert [ref.name for ref in table.metadata.refs] == ["main"]
    assert any("a name has 501 characters; at most 500" in one.cause for one in table.tree.problems)
    assert run("show", str(folder)).exit_code == 3


# -- what a page sends -------------------------------------------------------------------------------------------------
def test_what_is_sent_beyond_a_burst_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(allowance.time, "monotonic", lambda: now)
    pages = Allowance()
    assert [pages.take("a", 1 << 20) for _ in range(4)] == [0.0, 0.0, 8.0, 16.0]
    assert pages.take("b", 100) == 0.0
    now += 16
    assert pages.take("a", 1 << 20) == 8.0
    assert sum(bool(pages.take("c", 1)) for _ in range(1_500)) == 1_500 - 1_024
    for sender in range(3_000):
        pages.take(sender, 1)
    now += 60
    pages.take("d", 1)
    assert len(pages._used) <= 2


def test_a_flood_of_large_messages_does_not_hold_up_others(listening: socket.socket) -> None:
    """Each is a thousand bytes on its way, and a million once it is unpacked. What is read until an honest request is
    answered is counted, and not how long that takes."""
    sent = 40
    read = 0
    original = Session.handle

    async def test(visitor: Visitor) -> None:
        nonlocal read
        large = json.dumps({"type": "ask", "id": 1, "question": "x", "table": '"' * 500_000})
        flooder, honest = await visitor.connect(), await visitor.connect()
        flood = [asyncio.ensure_future(flooder.write_message(large)) for _ in range(sent)]
        while not read:
            await ask(honest, type="hello")
        for _ in range(5):
            await ask(honest, type="hello")
        assert read < sent / 2
        for one in flood:
            one.cancel()
        flooder.close()

    def handle(session: Session, text: str | bytes) -> None:
        nonlocal read
        read += len(text) > 500_000
        original(session, text)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Session, "handle", handle)
        visit(listening, test)


def test_of_two_who_wait_one_goes_first_who_asked_less_lately(monkeypatch: pytest.MonkeyPatch) -> None:
    pool, now = Pool("fair", 1, 1), [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    tasks = {owner: PoolTask(lambda: None, owner, visitor="office") for owner in ("busy", "new", "modest")}
    for owner, seconds in (("busy", 30.0), ("modest", 0.1)):
        task = PoolTask(lambda: None, owner)
        task.began, now[0] = now[0] + 1, now[0] + 1 + seconds
        pool._note_use(task)
    order = sorted(tasks, key=pool._use)
    assert order == ["modest", "new", "busy"]
    now[0] += 600
    assert pool._use("busy") < 0.1  # it is long ago
    for number in range(2_000):
        pool._note_use(PoolTask(lambda: None, number))
    assert len(pool._took) <= 1_001 + 1_000
    pool.stop()
    Pool.every.remove(pool)


def test_a_closed_session_keeps_nothing(tmp_path: Path) -> None:
    folder = str(make_table(tmp_path))
    answers: list[str] = []
    session = Session(answers.append, Rights())
    session.handle(json.dumps({"type": "ask", "id": 1, "question": "inspect files", "table": folder, "arguments": {}}))
    while not any('"answer"' in text for text in answers):
        time.sleep(0.01)
    assert session._tables
    assert session._answers
    session.close()
    assert [*session._tables, *session._answers, *session._graphs, *session._given] == []


# -- what a page saves -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("form", ["csv", "json", "txt", "parquet"])
def test_a_file_of_rows_is_written_in_pieces_and_limited(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = open_table(str(make_table(tmp_path)))
    answer = ShownAnswer(QUESTIONS[("inspect", "files")].ask(table), table)
    with downloads.file_of(answer, form) as file:
        content = file.read()
    assert content
    if form == "json":
        assert json.loads(content) == answer.result.to_json()
    monkeypatch.setattr(downloads, "MOST_BYTES", -1)
    with pytest.raises(NotPossible, match="the file would be larger than"):
        downloads.file_of(answer, form)


# -- advice ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("others", [0, 120])
def test_a_snapshot_that_cannot_be_read_counts_beyond_the_problems_that_are_listed(others: int, tmp_path: Path) -> None:
    """Nobody knows which files it names, so that no file is offered for removal."""
    folder = tmp_path / "t"
    table = base(folder)
    table.append(table.parquet("live.parquet", {"id": [9], "v": ["z"], "d": [date(2024, 1, 3)]},
                               partition={"d_m": 648}))  # fmt: skip
    newest = max((folder / "metadata").glob("0*.metadata.json"), key=lambda path: path.name)
    metadata = json.loads(newest.read_text())
    for path in (folder / "metadata").glob("0*.metadata.json"):
        if path != newest:
            path.unlink()
    metadata |= {"metadata-log": [], "snapshot-log": metadata["snapshot-log"][:-1]}
    metadata["current-snapshot-id"] = metadata["snapshots"][-2]["snapshot-id"]
    metadata["refs"] = {"main": {"snapshot-id": metadata["current-snapshot-id"], "type": "branch"}}
    metadata["snapshots"][-1]["snapshot-id"] = str(metadata["snapshots"][-1]["snapshot-id"])
    twice = ",".join(f'"k{number}":1,"k{number}":2' for number in range(others))
    newest.write_text(f'{json.dumps(metadata)[:-1]},"x-extra":{{{twice}}}}}')
    for path in folder.rglob("*"):
        os.utime(path, (time.time() - 30 * 86_400,) * 2)
    told = run("maintain", "preview", str(folder), "remove-orphans")
    assert "Iceberg would refuse: it cannot load this table" in told.output  # which it did not say when this was found
    assert "CALL" not in told.output
