"""Every attack by a file is inert: it ends in an error or problem that names the file, soon, in bounded memory, in a
process that lives on and opens honest tables."""

from __future__ import annotations

import random
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

import explorer
from explorer.errors import ExplorerError, UnreadableFile
from explorer.io import isolated
from explorer.io.rows import read_schema
from explorer.model.metadata import Snapshot
from tests.security.build import Victim
from tests.security.file_cases import CASES, Case
from tests.unit.small import make_table

SECONDS, MEMORY = 15, 3 << 29
"""For one case: CPU seconds, since others may use the machine, and this process's memory, beyond what it had."""


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_table(tmp_path_factory.mktemp("honest"))


@pytest.fixture
def victim(honest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Victim:
    monkeypatch.setattr(isolated, "SECONDS", 10)
    return Victim(Path(shutil.copytree(honest, tmp_path / "warehouse" / "victim")))


class Peak:
    """The most memory that this process has while it is entered, beyond what it had before."""

    def __enter__(self) -> Peak:
        self._process, self._done = psutil.Process(), threading.Event()
        self._before, self.bytes = self._process.memory_info().rss, 0
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._done.wait(0.02):
            self.bytes = max(self.bytes, self._process.memory_info().rss - self._before)

    def __exit__(self, *_: Any) -> None:
        self._done.set()
        self._thread.join()


def all_reads(table: explorer.Table, snapshot: Snapshot) -> Iterator[Callable[[], Any]]:
    reader, at = table.row_reader, snapshot.snapshot_id
    yield lambda: repr(table)
    yield table.snapshots.to_json
    yield lambda: table.manifests(at)
    yield lambda: table.graph(at)
    yield lambda: table.entries(at, "all", metrics=True).to_json()
    yield lambda: [table.reader.stored_records(m.manifest_path, 0, 5) for m in table.tree.manifests(snapshot)]
    yield lambda: list(map(table.reader.storage.check, table.reader.referenced_paths(snapshot)))
    yield lambda: [reader.rows(f, read_schema(table.metadata, None)) for f in reader.applicability(snapshot).data]
    yield lambda: [table.reader.parquet_footer(file["file_path"]) for file in table.files(at)]


def complaints(folder: Path) -> Iterator[str]:
    """Open a table and read all that a person could make it read; what was said about it."""
    try:
        table = explorer.open_table(str(folder))
    except ExplorerError as error:
        yield str(error)
        return
    for snapshot in table.metadata.snapshots[-1:]:
        for read in all_reads(table, snapshot):
            try:
                read()
            except ExplorerError as error:
                yield str(error)
    yield from (str(p) for p in table.problems if p.severity != "info")


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kind}: {case.name}")
def test_an_attack_is_inert(case: Case, victim: Victim, honest: Path) -> None:
    act = case.build(victim)
    began = time.process_time()
    with Peak() as peak:
        if act is not None:
            with pytest.raises(UnreadableFile) as caught:
                act()
            said = [str(caught.value)]
        else:
            said = list(complaints(victim.folder))
    assert time.process_time() - began < SECONDS
    assert peak.bytes < MEMORY
    assert all(len(line) < 4000 for line in said)
    if case.harmless:
        assert not said
    else:
        assert any(str(victim.folder) in line or "file:" in line or "is no path" in line for line in said), said
    opened = explorer.open_table(str(honest))
    assert len(opened.files()) == 3
    assert not opened.problems


def mutants(data: bytes, count: int, seed: int) -> Iterator[bytes]:
    draw = random.Random(seed)
    for _ in range(count):
        damaged = bytearray(data)
        for _ in range(draw.choice((1, 1, 2, 4, 8))):
            at = draw.randrange(len(damaged))
            damaged[at] = draw.choice((draw.randrange(256), damaged[at] ^ 1 << draw.randrange(8), 0, 127, 128, 255))
        if draw.random() < 0.1:
            del damaged[draw.randrange(len(damaged)) :]
        yield bytes(damaged)


@pytest.mark.parametrize(("which", "count"), [("manifest", 120), ("list", 60), ("metadata", 60), ("data", 60)])
def test_flipped_bytes_are_told_or_harmless(which: str, count: int, victim: Victim) -> None:
    path: Path = getattr(victim, which)
    whole = path.read_bytes()
    told = 0
    for mutant in mutants(whole, count, seed=11):
        path.write_bytes(mutant)
        said = list(complaints(victim.folder))
        told += bool(said)
    assert told > count // 4
