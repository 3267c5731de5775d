"""How text is shown on a terminal and elsewhere: zones, wide tables, colour, pages, progress."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

import explorer
from explorer.cli import main, screen
from explorer.progress import Watch
from explorer.questions import QUESTIONS
from explorer.spark_engine.spark import SparkEngine, SparkState
from explorer.spec.text.units import instant, second
from tests.support.small_tables import edit_metadata, make_table

UTC_TIME = re.compile(r"\d\d:\d\d(?::\d\d(?:\.\d+)?)? UTC")
TEXTS = [
    ["show"], ["overview"], ["health"], ["diff", "snapshot-1", "snapshot-2"], ["inspect", "snapshots"],
    ["inspect", "partitions"], ["history", "lineage"], ["history", "commits"], ["maintain", "preview", "expire"],
    ["inspect", "map"], ["history", "lifecycle"], ["plan", "id = 1"], ["doctor"],
]  # fmt: skip


def run(*words: str, color: bool = False, **env: str) -> Any:
    return CliRunner(env=env).invoke(main, words, color=color)


def on_table(words: list[str], table: Path) -> list[str]:
    """The words of a question, with the table."""
    at = 2 if tuple(words[:2]) in QUESTIONS else 1
    return [*words[:at], str(table), *words[at:]]


def test_times_have_their_sign() -> None:
    assert instant(1_795_825_245_331) == "2026-11-28 00:20:45.331 UTC"
    assert (second(0), instant(0, "minutes"), instant(None)) == ("1970-01-01 00:00:00 UTC", "1970-01-01 00:00 UTC", "?")
    assert instant(1 << 62) == f"{1 << 62} ms"


@pytest.mark.parametrize("words", TEXTS, ids=" ".join)
def test_every_text_tells_times_in_the_zone(words: list[str], whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    began = time.time()
    monkeypatch.setattr(time, "time", lambda: began)  # ages are the same in each text
    asked = on_table(words, whole)
    there = run(*asked, "--timezone", "Asia/Tokyo")
    assert there.exit_code == 0, there.output
    assert not UTC_TIME.search(there.output)
    assert bool(re.search(r":\d\d(\.\d+)?\+09:00", there.stdout)) == bool(UTC_TIME.search(run(*asked).stdout))
    if words[0] != "maintain":  # which tells of this moment
        assert run("--timezone", "Asia/Tokyo", *asked).stdout == there.stdout
        assert run(*asked, ICEDIVE_TIMEZONE="Asia/Tokyo").stdout == there.stdout


def test_only_one_place_writes_times() -> None:
    """Others would not know the zone. The audit log is JSON; the store's time is no text."""
    package = Path(explorer.__file__).parent
    writers = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if re.search(r"strftime\(|fromtimestamp\(|\btzname\(", path.read_text("utf-8"))
    }
    assert writers == {"spark_engine/sql_guard/quotas.py", "storage/stores.py"}


def test_zones_are_completed() -> None:
    [option] = [param for param in main.params if param.name == "timezone"]
    offered = option.shell_complete(click.Context(main), "Europe/Berl")
    assert [item.value for item in offered] == ["Europe/Berlin"]


def test_the_option_after_the_command_counts(whole: Path) -> None:
    asked = ["inspect", "snapshots", str(whole)]
    assert "+09:00" in run("--timezone", "UTC", *asked, "--timezone", "Asia/Tokyo").stdout
    assert "UTC" in run(*asked, "--timezone", "UTC", ICEDIVE_TIMEZONE="Asia/Tokyo").stdout
    assert re.search(r"[+-]\d\d:\d\d", run(*asked, "--timezone", "local").stdout)
    assert instant(0) == "1970-01-01 00:00:00.000 UTC", "the next command begins in UTC"
    for wrong in ("Mars/Olympus", "../etc/passwd", "Europe"):
        refused = run(*asked, "--timezone", wrong)
        assert (refused.exit_code, "no time zone" in refused.stderr) == (2, True)


def test_json_stays_in_utc(whole: Path) -> None:
    for words in TEXTS:
        asked = [*on_table(words, whole), "-o", "json"]
        data = run(*asked, "--timezone", "Asia/Tokyo")
        assert data.exit_code == 0, data.output
        assert "+09:00" not in data.stdout


def test_a_time_in_a_zone_is_a_filter_and_a_snapshot(whole: Path) -> None:
    shown = run("inspect", "snapshots", str(whole), "--timezone", "Asia/Tokyo").stdout.splitlines()[2]
    moment = re.search(r"\S+ \S+\+09:00", shown)
    assert moment
    rows = run("inspect", "snapshots", str(whole), "--filter", f"timestamp-ms = '{moment[0]}'", "-o", "json")
    assert [row["snapshot"] for row in json.loads(rows.stdout)] == ["snapshot-2"]
    then, there = (
        run("inspect", "files", str(whole), "-s", at, "-o", "json").stdout for at in (moment[0], "snapshot-2")
    )
    assert then == there


def test_wide_tables_are_whole(whole: Path) -> None:
    narrow, wide = (run("inspect", "entries", str(whole), *more).stdout for more in ([], ["--wide"]))
    assert "…" in narrow
    assert "…" not in wide
    assert set(wide.partition("\n")[0].split()) == set(explorer.open_table(str(whole)).inspect.entries().columns)
    assert all(str(row["file_path"]) in wide for row in explorer.open_table(str(whole)).inspect.files())
    assert run("--wide", "inspect", "entries", str(whole)).stdout == wide


def test_colour_is_for_terminals(whole: Path) -> None:
    asked = ["show", str(whole)]
    plain = run(*asked, color=True).stdout
    assert "\x1b" not in plain
    colored = run(*asked, "--color", "always", color=True).stdout
    assert "\x1b[32mADDED\x1b[0m" in colored
    assert re.sub(r"\x1b\[\d+m", "", colored) == plain
    assert run(*asked, "--color", "never", color=True).stdout == plain
    assert "\x1b" not in run(*asked, "-o", "json", "--color", "always", color=True).stdout
    failed = run("show", "/no/such/table", "--color", "always", color=True)
    assert failed.stderr.startswith("\x1b[31micedive\x1b[0m: ")


@pytest.mark.parametrize(("line", "painted"), [
    ("   │  └─ + a.parquet: ADDED · 1 row", "   │  └─ \x1b[32m+\x1b[0m a.parquet: \x1b[32mADDED\x1b[0m · 1 row"),
    ("- data file a: 1 row", "\x1b[31m-\x1b[0m data file a: 1 row"),
    ("error  a-rule  ok", "\x1b[31merror\x1b[0m  a-rule  \x1b[32mok\x1b[0m"),
    ("an error of the file", "an error of the file"),
    ("error snapshot-twice (12): Two", "\x1b[31merror\x1b[0m snapshot-twice (12): Two"),
    ("│  └─ x gone", "│  └─ \x1b[33mx\x1b[0m gone"),
])  # fmt: skip
def test_what_has_colour(line: str, painted: str) -> None:
    assert screen._paint(line) == painted


def test_what_others_wrote_commands_no_terminal(tmp_path: Path) -> None:
    folder = make_table(tmp_path)
    edit_metadata(folder, lambda d: d["properties"].update({"evil": "\x1b[31mADDED\x1b]0;x\x07 \x1b[2J"}))
    for words in (["inspect", "properties", str(folder)], ["inspect", "metadata", str(folder), "--wide"]):
        text = run(*words, "--color", "always", color=True).stdout
        assert not re.sub(r"\x1b\[(\d\d?|0)m", "", text).count("\x1b")
        assert "\x1b[31mADDED\x1b]" not in text
        assert "\x1b[2J" not in text


def in_terminal(*words: str, **env: str) -> str:
    """What a terminal of 24 lines and 80 columns shows of a command."""
    ours, theirs = pty.openpty()
    settings = {name: value for name, value in os.environ.items() if name not in ("LESS", "NO_COLOR")}
    command = [sys.executable, "-m", "explorer.cli", *words]
    environment = {**settings, "TERM": "xterm", "LINES": "24", "COLUMNS": "80", **env}
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        shown = bytearray()
        while True:
            try:
                shown += (part := os.read(ours, 65_536))
            except OSError:  # Linux says so at its end
                break
            if not part:
                break
        process.wait(60)
    os.close(ours)
    return shown.decode()


def test_long_text_is_shown_in_pages(tmp_path: Path) -> None:
    folder = make_table(tmp_path)
    edit_metadata(folder, lambda d: d["properties"].update({f"comment-{i:03}": "x" for i in range(100)}))
    pager = tmp_path / "pager"
    pager.write_text("#!/bin/sh\nexec sed 's/^/page: /'\n")
    pager.chmod(0o755)
    long = ["inspect", "properties", str(folder)]
    assert in_terminal(*long, PAGER=str(pager)).count("page: comment-") == 100
    assert "page: " not in in_terminal(*long, "--no-pager", PAGER=str(pager))
    short = in_terminal("show", str(folder), PAGER=str(pager))
    assert "page: " not in short
    assert "\x1b[32mADDED\x1b[0m" in short
    assert "\x1b[32m" not in in_terminal("show", str(folder), NO_COLOR="1")
    assert "page: " not in run(*long, PAGER=str(pager)).stdout


def test_it_is_told_that_spark_starts(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    engine, done = SparkEngine(), threading.Event()

    def start() -> None:
        engine._thread = threading.Thread(target=done.wait)
        engine._thread.start()
        engine.state = SparkState("starting", "Java 17 from JAVA_HOME")

    class Seen(Watch):
        def tell(self, done_steps: int, total: int, what: str) -> None:
            super().tell(done_steps, total, what)
            texts.append(what)
            done.set()

    texts: list[str] = []
    monkeypatch.setattr(engine, "start", start)
    with Seen().listening(), pytest.raises(explorer.EngineError):
        engine.session()
    assert texts[0] == "Starting Spark… (Java 17 from JAVA_HOME)"
    assert texts[-1] == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    teller = screen.Teller()
    for told in texts:
        teller.tell(0, 0, told)
    assert capsys.readouterr().err.endswith("\r\x1b[K")
