"""Files of a store that are fetched before they are read, one after another, within a limit."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from explorer.errors import UnreadableFile
from explorer.progress import Watch
from explorer.storage.read_window import MAX_HELD_BYTES, MAX_NAMES_AHEAD, FilePart, ReadWindow
from explorer.storage.storage import Storage
from explorer.storage.stores import EACH


class Fetches:
    """Answers with a file's name, and notes what was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, path: str, size: int) -> FilePart:
        self.asked.append(path)
        if path == "gone":
            raise UnreadableFile(path, "is gone")
        return FilePart(path.encode(), 0, len(path))


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait for other threads."""
    ends = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.005)


def names(number: int, size: int = 1) -> Iterator[tuple[str, int]]:
    return ((f"file-{at}", size) for at in range(number))


def test_as_many_as_may_be_are_fetched_and_the_next_when_one_is_read() -> None:
    fetches = Fetches()
    window = ReadWindow(fetches, names(1000))
    wait_until(lambda: len(fetches.asked) == EACH)
    assert window.part("file-0") == FilePart(b"file-0", 0, 6)
    window.part("file-3")
    wait_until(lambda: len(fetches.asked) == EACH + 3)
    assert window.part("file-1") is None  # whoever reads backwards reads it now
    window.close()
    assert window.part("file-4") is None


def test_the_bytes_that_are_held_have_a_limit() -> None:
    fetches, quarter = Fetches(), MAX_HELD_BYTES // 4
    window = ReadWindow(fetches, [("too-large", MAX_HELD_BYTES + 1), ("unknown", 0), *names(100, quarter)])
    wait_until(lambda: len(fetches.asked) == 4)
    assert window.part("too-large") is None
    assert window.part("unknown") is None
    for at in range(6):
        assert window.part(f"file-{at}") is not None
        wait_until(lambda at=at: len(fetches.asked) == 4 + at)  # type: ignore[misc]
    window.close()


def test_no_more_bytes_are_held_than_the_limit() -> None:
    fetches = Fetches()
    window = ReadWindow(fetches, names(4, MAX_HELD_BYTES - 1))
    wait_until(lambda: fetches.asked == ["file-0"])
    assert window.part("file-0") is not None
    assert window.part("file-1") is None
    wait_until(lambda: fetches.asked == ["file-0", "file-2"])
    assert window.part("file-2") is not None
    window.close()


@pytest.mark.parametrize("size", [0, MAX_HELD_BYTES + 1])
def test_names_of_files_that_do_not_fit_are_not_all_asked_for(size: int) -> None:
    asked_for: list[int] = []
    window = ReadWindow(Fetches(), ((f"file-{asked_for.append(at)}-{at}", size) for at in range(10_000)))  # type: ignore[func-returns-value]
    assert len(asked_for) <= MAX_NAMES_AHEAD
    for at in range(100):
        assert window.part(f"file-{at}") is None
    assert len(asked_for) <= MAX_NAMES_AHEAD + 100
    window.close()


def test_what_names_the_files_may_read_files_itself() -> None:
    parts: list[FilePart | None] = []
    windows: list[ReadWindow] = []

    def wanted() -> Iterator[tuple[str, int]]:
        for path, size in names(2 * EACH):
            parts.extend(window.part("file-0") for window in windows)
            yield path, size

    windows.append(ReadWindow(Fetches(), wanted()))
    windows[0].part("file-1")
    assert parts == [None]
    windows[0].close()


def test_names_are_asked_for_as_there_is_room() -> None:
    asked_for: list[str] = []

    def wanted() -> Iterator[tuple[str, int]]:
        for path, size in names(10_000):
            asked_for.append(path)
            yield path, size

    window = ReadWindow(Fetches(), wanted())
    assert len(asked_for) <= EACH + 1
    window.close()


def test_a_failure_is_told_to_who_reads_the_file() -> None:
    fetches = Fetches()
    window = ReadWindow(fetches, [("gone", 1), ("there", 1)])
    wait_until(lambda: len(fetches.asked) == 2)
    for _ in range(2):
        with pytest.raises(UnreadableFile, match="is gone"):
            window.part("gone")
    assert window.part("there") == FilePart(b"there", 0, 5)
    window.close()


def test_nothing_more_is_fetched_for_work_that_was_cancelled() -> None:
    fetches, watch = Fetches(), Watch()
    with watch.listening():
        window = ReadWindow(fetches, names(1000))
    window.part("file-0")
    wait_until(lambda: len(fetches.asked) == EACH)
    watch.cancel()
    window.part("file-9")
    assert window.part(f"file-{EACH}") is None
    window.close()


def store_in_memory(monkeypatch: pytest.MonkeyPatch, contents: dict[str, bytes]) -> tuple[Storage, list[str]]:
    """A storage whose store answers from memory; and which thread read what."""
    storage, read = Storage(["s3://bucket/t"]), []

    def answer(path: str, _r: str, _c: str, _t: str, offset: int, length: int | None, _limit: int) -> FilePart:
        read.append(f"{'here' if threading.current_thread() is threading.main_thread() else 'ahead'} {path[-1]}")
        data = contents[path]
        return FilePart(data[offset:] if length is None else data[offset : offset + length], offset, len(data))

    monkeypatch.setattr(storage, "_read_part", answer)
    return storage, read


@pytest.mark.parametrize(("said", "where"), [(10, "ahead"), (100, "ahead"), (4, "here"), (0, "here")])
def test_a_file_is_read_whole_whatever_size_its_entry_claims(
    said: int, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage, read = store_in_memory(monkeypatch, {"s3://bucket/t/a": b"0123456789"})
    with storage.reading_ahead([("s3://bucket/t/a", said)]):
        wait_until(lambda: bool(read) or not said)
        assert storage.read("s3://bucket/t/a") == b"0123456789"
        assert storage.read("s3://bucket/t/a", 2, 2) == b"23"
        if where == "ahead":
            assert storage.tail("s3://bucket/t/a", 3) == (b"789", 10)
    assert read[-1] == f"{where} a"
    before = len(read)
    storage.read("s3://bucket/t/a")
    assert len(read) == before + 1


def test_items_come_in_their_order_each_once(monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [f"s3://bucket/t/{at}" for at in range(200)]
    storage, read = store_in_memory(monkeypatch, {path: path.encode() for path in paths})
    for n, path in enumerate(storage.read_ahead(iter(paths), lambda path: (path, 100))):
        assert storage.read(path) == paths[n].encode()
        if n == 150:
            break
    else:
        raise AssertionError
    assert len(read) <= 151 + EACH


def test_items_of_a_local_table_are_not_kept(tmp_path: Path) -> None:
    asked_for: list[int] = []
    items = (asked_for.append(at) or at for at in range(10))  # type: ignore[func-returns-value]
    for n, item in enumerate(Storage([str(tmp_path)]).read_ahead(items, lambda _: ("", 0))):
        assert item == n
        assert asked_for == list(range(n + 1))


def test_a_local_table_asks_nothing_ahead(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")

    def wanted() -> Iterator[tuple[str, int]]:
        raise AssertionError
        yield "", 0

    storage = Storage([str(tmp_path)])
    with storage.reading_ahead(wanted()):
        assert storage.read(str(tmp_path / "a")) == b"abc"
