"""The largest tables whose metadata is at most 2 MB on the disk, in each dimension of tests.security.dimensions, and
what each command takes of the processor and of memory over them.

`python -m tests.security.bounds` measures and prints it: see `--help`."""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from explorer.storage import limits
from explorer.storage.formats.json_text import memory_size
from tests.security.dimensions import DIMENSIONS, make

MOST_BYTES, MOST_SECONDS, MOST_MEMORY = 2_000_000, 10.0, 1 << 30
ENDS = (0, 1, 3, 5, 6)
"""Exit codes of answers and refusals."""
ENDS_SOON = {"nesting": 44}
"""What a limit of its own ends."""
GIVEN_UP = 60
"""Seconds of the processor after which a command is ended."""
STARTING_S = 0.1
"""Seconds in which a child becomes another program, at most."""
FIRST = [
    "doctor {}", "inspect files {}", "inspect entries {} --view all", "plan {} id=1",
    "maintain preview {} remove-orphans", "overview {}", "export graph {} --format svg", "health {} --clustering",
    "diff {} none main", "history lifecycle {}", "show {}", "inspect deletes {}", "history commits {}",
    "data history {} id=1", "refs preview {} rollback --snapshot 101", "doctor {} --files",
    "maintain preview {} expire",
]  # fmt: skip
"""A command of each kind."""


@dataclass(frozen=True)
class Taken:
    """What a command took: seconds of the processor, bytes of memory (of all its processes together, without
    mapped files, which the system takes back when it must), its exit code and
    what it said last."""

    seconds: float
    memory: int
    code: int
    said: str

    @property
    def too_much(self) -> bool:
        return self.seconds > MOST_SECONDS or self.memory > MOST_MEMORY


# -- tables -----------------------------------------------------------------------------------------------------------
def metadata_bytes(folder: Path) -> int:
    """The bytes of a table's metadata, as they are on the disk, and of the listing of its other files."""
    others = sum(path.is_file() for path in folder.rglob("*") if path.parent != folder / "metadata")
    return sum(path.stat().st_size for path in (folder / "metadata").iterdir()) + limits.LISTED_FILE * others


def compact(folder: Path, packed: bool) -> Path:
    """The table with its newest metadata file without spaces, or gzipped."""
    newest = max((folder / "metadata").glob("0*.metadata.json"), key=lambda path: path.stat().st_mtime_ns)
    for path in (folder / "metadata").glob("0*.metadata.json"):
        text = json.dumps(json.loads(path.read_text()), separators=(",", ":")).encode()
        if packed and path == newest:
            path.unlink()
            path = path.with_name(path.name.replace(".metadata.json", ".gz.metadata.json"))
            text = gzip.compress(text, 9, mtime=0)
        path.write_bytes(text)
    return folder


def largest(folder: Path, name: str, packed: bool, most: int = MOST_BYTES, most_n: int = 1_000_000) -> int:
    """Make the largest table in a dimension whose metadata is at most so many bytes; say how often it has what it has
    more of."""

    def size(n: int) -> float:
        """Its bytes, or more where it unpacks to more, or its objects would take more memory, than they may."""
        shutil.rmtree(folder, ignore_errors=True)
        compact(make(folder, name, n), packed)
        newest = max((folder / "metadata").glob("0*.metadata.json"), key=lambda path: path.stat().st_mtime_ns)
        text = newest.read_bytes()
        room = float("inf")
        if newest.name.endswith(".gz.metadata.json"):
            room, text = limits.unpack_limit_of_metadata(len(text)), gzip.decompress(text)
        return max(metadata_bytes(folder), most * memory_size(text) / limits.share(2), most * len(text) / room)

    small, n = size(1), 16
    most_n = ENDS_SOON.get(name, most_n)
    while True:
        now = size(n)
        if now > most:
            n = int(n * 0.97 * (most - small) / max(1, now - small))
            continue
        if now > 0.85 * most or n >= most_n:
            return n
        grown = int(n * 0.95 * (most - small) / max(1, now - small))
        n = min(most_n, max(grown if grown < 40 * n else 40 * n, n + 1))


# -- commands ---------------------------------------------------------------------------------------------------------
def preloaded() -> Callable[[list[str]], int]:
    """The command line, with what most commands load."""
    import importlib
    import pkgutil

    import explorer
    from explorer.cli import main

    for package in ("cli", "questions", "spec", "storage", "graph", "render", "queries", "reports"):
        for module in pkgutil.walk_packages([str(Path(explorer.__file__).parent / package)], f"explorer.{package}."):
            if not module.name.endswith(("__main__", "decoder_process.worker")):
                importlib.import_module(module.name)
    return lambda words: main(words)


def _memory(process: psutil.Process, peak: list[int], over: threading.Event) -> None:
    while not over.wait(0.02):
        with suppress(psutil.Error):
            children = process.children(recursive=True)
            # Until it becomes another program, a child has the pages of its parent.
            all_of_it = [process, *(one for one in children if time.time() - one.create_time() > STARTING_S)]
            states = [one.memory_info() for one in all_of_it]
            peak[0] = max(peak[0], sum(state.rss - getattr(state, "shared", 0) for state in states))


def take(run: Callable[[list[str]], int], words: list[str], given_up: float = GIVEN_UP) -> Taken:
    """Run a command in a process of its own, which is copied from this one: nothing is imported again."""
    with tempfile.TemporaryFile() as said:
        sys.stdout.flush()
        child = os.fork()
        if not child:
            _become(run, words, said.fileno(), given_up)
        peak, over = [0], threading.Event()
        watching = threading.Thread(target=_memory, args=(psutil.Process(child), peak, over))
        watching.start()
        _, status, used = os.wait4(child, 0)
        over.set()
        watching.join()
        code = os.waitstatus_to_exitcode(status)
        said.seek(max(0, said.seek(0, 2) - 300))
        last = said.read().decode(errors="replace").strip().splitlines()[-1:]
    return Taken(used.ru_utime + used.ru_stime, peak[0], code, "".join(last))


def _become(run: Callable[[list[str]], int], words: list[str], said: int, given_up: float) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (int(given_up), int(given_up) + 1))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.dup2(said, 2)
    code = 1
    try:
        run(words)
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException as error:  # a test reads it
        os.write(2, f"\n{type(error).__name__}: {error}".encode())
        code = 70
    finally:
        from explorer.storage.decoder_process import client

        for worker in client._idle:
            worker.kill()  # else nobody knows what it took
        with suppress(Exception):
            sys.stdout.flush()
        os._exit(code)


def measured(
    place: Path, names: list[str], commands: list[str], packed: bool, all_of_it: bool = False
) -> Iterator[tuple[str, int, str, Taken]]:
    """For each dimension and command what it took."""
    run = preloaded()
    for name in names:
        folder = place / name.replace(" ", "-").replace(",", "").replace("'", "")
        n = largest(folder, name, packed)
        for command in commands:
            words = command.replace("{}", str(folder)).split()
            taken = take(run, words)
            if all_of_it or "refused:" in taken.said or taken.too_much or taken.code not in ENDS:
                yield name, n, command, taken
        shutil.rmtree(folder)


def _told(name: str, n: int, command: str, taken: Taken) -> str:
    mark = "!" if taken.too_much else "?" if taken.code not in ENDS else " "
    took = f"{mark} {taken.seconds:6.1f} s {taken.memory >> 20:6} MiB  exit {taken.code:3}"
    return f"{took}  {name} ({n:,})  {command}  {taken.said[:150]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--names", nargs="*", default=list(DIMENSIONS))
    parser.add_argument("--commands", choices=["first", "rest", "all"], default="first")
    parser.add_argument("--one", nargs="*", help="these commands")
    parser.add_argument("--plain", action="store_true", help="metadata.json is not gzipped")
    parser.add_argument("--all", action="store_true", help="tell of what is within the limits, too")
    chosen = parser.parse_args()
    from tests.security.test_growth import COMMANDS

    rest = [command for command in COMMANDS if command not in FIRST]
    commands = chosen.one or {"first": FIRST, "rest": rest, "all": FIRST + rest}[chosen.commands]
    with tempfile.TemporaryDirectory() as place:
        began = time.monotonic()
        for row in measured(Path(place), chosen.names, commands, not chosen.plain, chosen.all):
            print(_told(*row), flush=True)
        print(f"{time.monotonic() - began:.0f} s in all")


if __name__ == "__main__":
    main()
