"""Decoding in a child process, for files that may break their decoder: damaged or made by an attacker.

The child gets bytes and gives back Arrow; it opens no file, knows no secret of the environment, and dies alone: of too
much memory, of too much time, or of a crash, each of which is an UnreadableFile here. It is killed when nobody waits
for it any more. It is started when first needed, kept while it is healthy, and ends with this process. Where the system
has no such limits (Windows), time alone is one.

Each way goes one line of JSON, then bytes: the file's, and the answer's as an Arrow stream. Nothing is unpickled."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from typing import Any

import psutil
import pyarrow as pa

from explorer.errors import NotNow, UnreadableFile
from explorer.progress import Cancelled
from explorer.storage import limits as budget
from explorer.storage.decoder_process.turns import LOOK_S, Turn, Turns
from explorer.storage.python_children import KILLED, bare_command

SECONDS, WALL = 20, 120
"""CPU seconds for one file, and seconds on the clock: the machine may be busy. Starting a child may take as long."""
MEMORY = 1 << 30
"""Bytes of memory of a child, where $ICEDIVE_MEMORY says no more."""
WORKERS, ASIDE = 2, 2
"""Children that decode at once; and more of them, for owners who have none, while long work fills these places."""
REUSE_BELOW = 64 << 20
"""A child that was given this much is not kept: it would hold on to the memory."""
ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "TMPDIR", "TEMP")
_idle: list[_Worker] = []
_lock = threading.Lock()
_turns = Turns(WORKERS, ASIDE)
_workers: set[_Worker] = set()
_ended = 0.0
"""Seconds that children which are gone have taken of the processor."""


def processor_seconds() -> float:
    """Return the seconds that the children of this process have taken of the processor so far."""
    with _lock:
        return _ended + sum(worker.processor_seconds() for worker in _workers)


def held_bytes() -> int:
    """Return the bytes of memory that the children of this process hold, without mapped files."""
    with _lock:
        return sum(worker.held_bytes() for worker in _workers)


def run(task: str, path: str, data: bytes, **arguments: Any) -> pa.Table:
    """Run a task of storage.decoder_process.worker on a file's bytes. `path` is for its errors alone. Raises
    UnreadableFile, Cancelled."""
    with _turns.turn() as turn:
        with _lock:
            worker = _idle.pop() if _idle else None
        if worker is None or not worker.alive:
            worker = _Worker()
        try:
            table = worker.ask(task, path, data, arguments, turn)
        finally:
            with _lock:
                keep = worker.healthy and len(_idle) < WORKERS
                if keep:
                    _idle.append(worker)
            if not keep:
                worker.kill()
    try:
        table.validate(full=True)  # Parquet's decoder lets text pass that is no UTF-8, which breaks whoever looks at it
    except (pa.ArrowInvalid, UnicodeDecodeError) as error:
        raise UnreadableFile(path, f"what it holds is not valid: {str(error)[:200]}") from error
    return table


def records(path: str, data: bytes, start: int, limit: int | None) -> Iterator[dict[str, Any]]:
    """See storage.formats.avro.records. Values that JSON lacks come as their text, bytes as bytes."""
    for text in run("records", path, data, start=start, limit=limit)["record"].to_pylist():
        yield from_json(text)


def to_json(value: Any) -> str:
    """Plain data as JSON: bytes marked as such, dates and times in ISO form, what else JSON lacks as text."""

    def other(value: Any) -> Any:
        if isinstance(value, bytes):
            return {"\0bytes": value.hex()}
        return value.isoformat() if hasattr(value, "isoformat") else str(value)

    return json.dumps(value, default=other)


def from_json(text: str) -> Any:
    """What `to_json` wrote, with the bytes back."""
    return json.loads(text, object_hook=_restore)


def _restore(value: dict[str, Any]) -> Any:
    coded = value.get("\0bytes")
    if len(value) == 1 and isinstance(coded, str):
        with contextlib.suppress(ValueError):  # a file may have such a key itself
            return bytes.fromhex(coded)
    return value


def _memory() -> int:
    """Bytes of memory that a child may take."""
    return max(MEMORY, budget.limit())


class _Worker:
    """One child. `healthy`: its last request was answered in full and left it small."""

    def __init__(self) -> None:
        self.healthy = self._ready = False
        self._seconds = 0.0
        environment = {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"), "1")
        self._process = subprocess.Popen(
            bare_command("explorer.storage.decoder_process.worker"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**environment, **threads, "ARROW_DEFAULT_MEMORY_POOL": "system"},
            start_new_session=True,  # Ctrl-C in a terminal is for us
        )
        with _lock:
            _workers.add(self)

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def processor_seconds(self) -> float:
        with contextlib.suppress(psutil.Error):  # it has ended
            times = psutil.Process(self._process.pid).cpu_times()
            self._seconds = float(times.user + times.system)
        return self._seconds

    def held_bytes(self) -> int:
        with contextlib.suppress(psutil.Error):  # it has ended
            state = psutil.Process(self._process.pid).memory_info()
            return int(state.rss - getattr(state, "shared", 0))
        return 0

    def kill(self) -> None:
        global _ended
        with _lock:
            if self in _workers:
                _workers.discard(self)
                _ended += self.processor_seconds()
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                pipe.close()  # type: ignore[union-attr]

    def ask(self, task: str, path: str, data: bytes, arguments: dict[str, Any], turn: Turn) -> pa.Table:
        self.healthy = False
        try:
            counting = turn.watch.counting(self, self.processor_seconds) if turn.watch else contextlib.nullcontext()
            with counting, self._watch(turn):
                return self._ask(task, path, data, arguments)
        except (OSError, ValueError) as error:  # the pipe broke, or ended early
            if turn.ended:
                raise NotNow(path, turn.ended) from error
            if turn.over:
                raise Cancelled("cancelled") from error
            raise UnreadableFile(path, self._end()) from error

    def _ask(self, task: str, path: str, data: bytes, arguments: dict[str, Any]) -> pa.Table:
        limits = {"memory": _memory(), "seconds": SECONDS, "decoded": budget.limit(), "rows": budget.ROWS}
        request = {"task": task, "path": path, "length": len(data), "arguments": arguments, "limits": limits}
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        if not self._ready:
            stdout.readline(1 << 10)  # it has loaded what it needs
            self._ready = True
        stdin.write(json.dumps(request).encode() + b"\n")
        stdin.write(data)
        stdin.flush()
        answer = json.loads(stdout.readline(1 << 16))
        if "error" in answer:
            self.healthy = answer["again"]
            raise UnreadableFile(path, str(answer["error"])[:500])
        batches, size = [], 0
        with pa.ipc.open_stream(stdout) as stream:
            for batch in stream:
                size += batch.nbytes
                budget.within(size, budget.limit(), path, "bytes once decoded")
                batches.append(batch)
            self.healthy = size + len(data) <= REUSE_BELOW
            return pa.Table.from_batches(batches, stream.schema)

    @contextlib.contextmanager
    def _watch(self, turn: Turn) -> Iterator[None]:
        """While it is at work, kill it after WALL, or when its turn is over."""
        done, until = threading.Event(), time.monotonic() + WALL

        def watch() -> None:
            while not done.wait(LOOK_S):
                if time.monotonic() > until or turn.over:
                    self._process.kill()
                    return

        watcher = threading.Thread(target=watch, name="decoder", daemon=True)
        watcher.start()
        try:
            yield
        finally:
            done.set()
            watcher.join()

    def _end(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        if self._process.returncode in KILLED:
            return f"decoding it took more than {SECONDS} s, so it was stopped: damaged, made to be slow, or too large"
        if self._process.returncode == -signal.SIGABRT:  # so Rust and C++ end when there is no memory
            needs = f"its decoder broke off, or needs more than {_memory():,} bytes of memory"
            return f"{needs}: damaged, made to do so, or set {budget.VARIABLE} to more"
        return f"its decoder died of it (status {self._process.returncode}): damaged, or made to do so"
