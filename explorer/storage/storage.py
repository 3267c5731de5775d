"""Bytes of a table's files, local or in a store (storage.stores, else pyiceberg's FileIO), only below allowed roots.

Paths come from metadata that strangers wrote, so nothing outside the table's own location (and the roots the caller
adds) is opened, and nothing but regular files of a bounded size. A table that was copied keeps the old absolute paths:
when the metadata is read from elsewhere than its `location` says, paths below that location are looked up in the
copy."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import tee
from typing import TYPE_CHECKING, TypeVar

from explorer.errors import MENDED_BY, MISSING, AccessRefused, ExplorerError, NotNow, OutsideRoots, UnreadableFile
from explorer.progress import note_read, steps
from explorer.spec.secrets.redaction import harmless
from explorer.storage import cache, limits
from explorer.storage.paths import DOTS, LONGEST, below, canonical, is_written_once, local_path, move_path, normal_path
from explorer.storage.prefetch import Prefetch
from explorer.storage.read_window import FilePart, ReadWindow
from explorer.storage.store_credentials import Access
from explorer.storage.store_listing import ListedFile, list_files, names_in
from explorer.storage.stores import EACH, explain, infos, is_refusal, requests

if TYPE_CHECKING:
    from pyiceberg.io import FileIO

if TYPE_CHECKING:
    from obstore import GetOptions, GetResult
    from obstore.store import ObjectStore

T = TypeVar("T")

RENEW_S = 60.0
"""Between two times that a catalog is asked for new credentials."""
FOLDERS = 1000
"""Folders whose links are remembered as resolved."""


TAIL = 64 << 10
"""Bytes of a file's end that are read for its footer."""


@dataclass(frozen=True)
class _Place:
    """Where the files of a folder lie: the folder as it is looked up and in canonical form, and the root it is in; None
    where it is in none, with the cause."""

    resolved: str
    real: str
    is_local: bool
    root: str | None
    cause: str


class _Windows(threading.local):
    """The read windows of each thread's work, the innermost last."""

    def __init__(self) -> None:
        self.windows: list[ReadWindow] = []


class Storage:
    """Reads files below `roots`. `properties` are the user's, `given` what a catalog's server adds, which `renew` asks
    for anew when they are refused. `moved` are (place in the metadata, where it is looked up instead), the first of
    which wins. `refused` are (what in the metadata names it, folder) of places that may not be read, to say so."""

    def __init__(
        self,
        roots: Sequence[str],
        properties: Mapping[str, str] | None = None,
        given: Mapping[str, str] | None = None,
        renew: Callable[[], Mapping[str, str]] = dict,
        *,
        moved: Sequence[tuple[str, str]] = (),
        refused: Sequence[tuple[str, str]] = (),
    ) -> None:
        self.roots = [canonical(root) for root in roots]
        self._refused = [(name, normal_path(folder)) for name, folder in refused]
        self.moved = tuple((normal_path(old), new) for old, new in moved)
        self._own, self._renew = dict(properties or {}), renew
        self._access = Access(self._own, dict(given or {}))
        self._asked_anew = float("-inf")
        self._renewing = threading.Lock()
        self._folders: dict[str, str] = {}
        self._places: dict[str, _Place | None] = {}
        self._own_names = {"", ".", ".."} | {
            path.rstrip("/").rpartition("/")[2]
            for path in (*self.roots, *(old for old, _ in self.moved), *(folder for _, folder in self._refused))
        }
        """Names that may mean something else than a file of its folder."""
        self._ahead = Prefetch(self._fetch)
        self._of_thread = _Windows()
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[Callable[..., Storage], tuple[object, ...]]:
        """For another process: reads as this one, with the credentials there are now, and asks for no others."""
        again = functools.partial(Storage, moved=self.moved, refused=self._refused)
        return again, (self.roots, self._own, self._access.given)

    @property
    def identity(self) -> str:
        """A digest of what else than its path decides which bytes a file has: store, account, a catalog's endpoint."""
        return self._access.identity

    @property
    def properties(self) -> Mapping[str, str]:
        """What stores are opened with now: secrets, never to be shown."""
        return self._access.properties

    def resolve(self, path: str) -> str:
        """Where a path of the metadata is really looked up; differs from `path` only in a table that was moved."""
        return move_path(path, self.moved)

    def canonical(self, path: str) -> str:
        """`canonical`, with the folders of local files resolved once: what is opened later passes through no link."""
        folder, _, name = path.rpartition("/")
        if len(path) > LONGEST or not folder.startswith(("/", "file:")) or name in ("", ".", "..") or "\0" in path:
            return canonical(path)
        if folder not in self._folders:
            if len(self._folders) >= FOLDERS:
                self._folders.clear()
            self._folders[folder] = canonical(folder)
        real = f"{self._folders[folder].rstrip('/')}/{name}"
        return canonical(path) if os.path.islink(real) else real

    def canonical_place(self, path: str) -> str:
        """The canonical form of where a path of the metadata is looked up. Raises UnreadableFile for no path."""
        known = self._by_folder(path)
        return self.canonical(self.resolve(path)) if known is None else known[1]

    def check(self, path: str) -> str:
        """The path that `read` would open, if it would: below the roots, and a regular file where it is local and
        there. Reads nothing. Raises OutsideRoots and UnreadableFile."""
        resolved, real, _ = self._check(path)
        if local_path(resolved) is not None:
            try:
                if not stat.S_ISREG(os.lstat(real).st_mode):
                    raise UnreadableFile(path, "not a regular file")
            except OSError:  # whoever opens it says what is wrong
                pass
        return resolved

    def is_local(self, path: str) -> bool:
        """Whether a path leads to a file of this machine."""
        return local_path(self.resolve(path)) is not None

    def folder(self, path: str) -> str | None:
        """The local folder that a path leads to, below the roots; None in a store. Raises OutsideRoots."""
        resolved, real, _ = self._check(path)
        return None if local_path(resolved) is None else real

    def _check(self, path: str) -> tuple[str, str, str]:
        """(the path looked up, its canonical form, the root it is below). What is so for a folder is so for the files
        in it, but for names that mean something, and for links."""
        if not isinstance(path, str):
            raise UnreadableFile(repr(path)[:100], "is no path")
        known = self._by_folder(path)
        if known is None:
            return self._check_alone(path)
        place, real = known
        if place.root is None:
            raise OutsideRoots(path, place.cause)
        return place.resolved + real[len(place.real) :], real, place.root

    def _by_folder(self, path: str) -> tuple[_Place, str] | None:
        """What is known of a path by its folder, and its canonical form; None where it must be looked at itself."""
        folder, _, name = path.rpartition("/")
        if name in self._own_names or "\\" in name or "\0" in name or len(path) > LONGEST:
            return None
        try:
            place = self._places[folder]
        except KeyError:
            place = self._place(folder)
            if len(self._places) >= FOLDERS:
                self._places.clear()
            self._places[folder] = place
        if place is None:
            return None
        real = f"{place.real}/{name}"
        return None if place.is_local and os.path.islink(real) else (place, real)

    def _place(self, folder: str) -> _Place | None:
        """Where the files of a folder lie; None where each must be looked at."""
        if not folder or folder.endswith(("/", "/.", ":")):
            return None
        resolved = self.resolve(folder)
        if DOTS.search(normal_path(resolved)):
            return None
        try:
            real = canonical(resolved)
        except UnreadableFile:
            return None
        is_local = local_path(resolved) is not None
        for root in self.roots:
            if below(real, root):
                return _Place(resolved, real.rstrip("/"), is_local, root, "")
        return _Place(resolved, real.rstrip("/"), is_local, None, self._why_outside(resolved))

    def _check_alone(self, path: str) -> tuple[str, str, str]:
        """`_check` of any path."""
        resolved = self.resolve(path)
        # One reader follows links first, another folds `..` first; in a store some take `.` for a name. What is too
        # long is no path, as `canonical` says.
        if len(path) <= LONGEST and (dots := DOTS.search(normal_path(resolved))):
            what = dots[0].strip("/\\")
            raise OutsideRoots(path, f"has `{what}` in it, which readers take in different ways: it was not opened")
        real = self.canonical(resolved)
        for root in self.roots:
            if below(real, root):
                return resolved, real, root
        raise OutsideRoots(path, self._why_outside(resolved))

    def _why_outside(self, resolved: str) -> str:
        fix = "add a root to allow more, or say with --relocate OLD=NEW where it is now"
        for name, folder in self._refused:
            if below(normal_path(resolved), folder):
                fix = f"the table names {folder} as its {name}: add that as a root (--root) if you trust it"
        return f"outside the table's folder, so it was not opened (allowed: {', '.join(self.roots)}; {fix})"

    def read(self, path: str, offset: int = 0, length: int | None = None, limit: int = limits.DATA) -> bytes:
        """The bytes of a file, or `length` bytes from `offset`; fewer where the file ends.

        Raises AccessRefused outside the roots and UnreadableFile, naming the file, for everything else: also when that
        is more than `limit` bytes."""
        resolved, real, root = self._check(path)
        if offset < 0 or (length is not None and length < 0):
            raise UnreadableFile(path, f"cannot be read at {offset} for {length} bytes")
        if (part := self._part_ahead(path)) is not None and offset >= part.offset:
            end = part.file_size if length is None else min(offset + length, part.file_size)
            if end <= part.offset + len(part.data):
                note_read(_part(path, part.file_size, offset, length, limit), part.file_size, offset, resolved)
                return part.data[offset - part.offset : max(0, end - part.offset)]
        return self._read_part(path, resolved, real, root, offset, length, limit).data

    def _read_part(
        self, path: str, resolved: str, real: str, root: str, offset: int, length: int | None, limit: int
    ) -> FilePart:
        """What `read` returns, read now, with the size of the whole file."""
        try:
            if local_path(resolved) is not None:
                with os.fdopen(_open_below(root, real), "rb") as file:
                    state = os.fstat(file.fileno())
                    if not stat.S_ISREG(state.st_mode):
                        raise UnreadableFile(path, "not a regular file")
                    size = _part(path, state.st_size, offset, length, limit)
                    file.seek(offset)
                    note_read(size, state.st_size, offset, state.st_dev, state.st_ino)
                    return FilePart(file.read(size), offset, state.st_size)
        except UnreadableFile:
            raise
        except Exception as error:  # a name may have half a character
            raise _unread(path, resolved, error) from error

        def get(store: ObjectStore, key: str) -> FilePart:
            if length is not None:
                options: GetOptions = {"range": (offset, offset + length)}
            else:
                options = {"range": {"offset": offset}} if offset else {}
            answer = store.get(key, options=options)  # one request; its head tells the size
            whole = answer.meta["size"]
            wanted = _part(path, whole, offset, length, limit)
            note_read(wanted, whole, offset, resolved)
            return FilePart(_body(path, answer, wanted), offset, whole)

        def read(io: FileIO) -> FilePart:
            with io.new_input(resolved).open() as stream:
                stream.seek(0, os.SEEK_END)  # stores tell the size when a file is opened
                size = _part(path, whole := stream.tell(), offset, length, limit)
                note_read(size, whole, offset, resolved)
                stream.seek(offset)
                return FilePart(bytes(stream.read(size)), offset, whole)

        return self._ask(path, resolved, get, read)

    @contextlib.contextmanager
    def reading_ahead(self, wanted: Iterable[tuple[str, int]], ends: bool = False) -> Iterator[None]:
        """In the block, fetch the files of stores that this thread is about to read.

        Args:
            wanted: Their paths and sizes, in the order in which they will be read; it is asked for more as there is
                room, and not at all for a table of local files. What is not read after all costs a request.
            ends: Fetch only their last bytes (TAIL), which footers take.
        """
        if self._is_local:
            yield
            return

        def fetch(path: str, size: int) -> FilePart:
            if not ends:
                return self._read_part(path, *self._check(path), 0, size, limits.DATA)
            data, whole = self.tail(path, TAIL)
            return FilePart(data, whole - len(data), whole)

        windows = self._of_thread.windows
        remote = (
            (path, TAIL if ends else size)
            for path, size in wanted
            if isinstance(path, str) and isinstance(size, int) and not self.is_local(path)
        )
        windows.append(window := ReadWindow(fetch, remote))
        try:
            yield
        finally:
            windows.remove(window)
            window.close()

    def read_ahead(
        self, items: Iterable[T], file_of: Callable[[T], tuple[str, int]], ends: bool = False
    ) -> Iterator[T]:
        """Yield items; while a caller reads the file of one, fetch those of the next. See `reading_ahead`.

        Args:
            items: What is worked on one after another. Of a table in a store they are asked for ahead, too.
            file_of: The path and size of an item's file.
            ends: Fetch only their last bytes.
        """
        if self._is_local:
            yield from items
            return
        ahead, now = tee(items)
        with self.reading_ahead(map(file_of, ahead), ends):
            yield from now

    @functools.cached_property
    def _is_local(self) -> bool:
        return all(local_path(root) is not None for root in self.roots)

    def _part_ahead(self, path: str) -> FilePart | None:
        """What a window of this thread has of a file. Raises as `read` does."""
        parts = (window.part(path) for window in reversed(self._of_thread.windows))
        return next((part for part in parts if part is not None), None)

    def _ask(
        self,
        path: str,
        resolved: str,
        get: Callable[[ObjectStore, str], T],
        read: Callable[[FileIO], T],
        again: bool = True,
    ) -> T:
        """Ask the store of a URI, by obstore or else by FileIO, and once more with new credentials where those that a
        catalog gave are refused. Raises UnreadableFile."""
        access = self._access
        try:
            store, key = access.store(resolved)
            return read(access.file_io(resolved)) if store is None else get(store, key)
        except UnreadableFile:
            raise
        except FileNotFoundError as error:
            raise _unread(path, resolved, error) from error
        except Exception as error:  # every object store client has errors of its own
            if again and is_refusal(error) and self._renew_access(access):
                return self._ask(path, resolved, get, read, again=False)
            reason = explain(error, resolved, access.properties)
            raise NotNow(path, f"cannot be read: {reason}") from harmless(error, access.properties)

    def _renew_access(self, before: Access) -> bool:
        """Whether there are other credentials now than those before. The catalog is asked once in a while: files may be
        forbidden to any."""
        if not before.given:
            return False
        with self._renewing:
            if self._access is before and time.monotonic() - self._asked_anew > RENEW_S:
                self._asked_anew = time.monotonic()
                with contextlib.suppress(ExplorerError):
                    given = dict(self._renew())
                    if given and given != before.given:
                        self._access = Access(self._own, given)
            return self._access is not before

    def read_through_cache(self, path: str, length: int | None = None, limit: int = limits.DATA) -> bytes:
        """`read` of a whole file that never changes: one of a store is fetched once, and kept in the disk cache. One
        that has another length than was said is fetched again. Raises as `read` does."""
        resolved, _, _ = self._check(path)
        if local_path(resolved) is not None:
            return self.read(path, limit=limit)
        with self._ahead.take(path) as data:
            if data is None:
                data = cache.get_bytes(self._cache_key(resolved))
            if data is None or (length is not None and len(data) != length):
                data = self.read(path, limit=limit)
                cache.put_bytes(self._cache_key(resolved), data)
        limits.within(len(data), limit, path)
        note_read(len(data), len(data), 0, resolved)
        return data

    def ahead(self, wanted: Iterable[tuple[str, int | None]]) -> None:
        """Fetch files of a store that `kept` will be asked for soon, as many at once as one may; (path,
        length or None). Returns at once. Stops when who waits for this thread's work cancels it."""
        todo = []
        for path, length in wanted:
            if local_path(self.resolve(path)) is not None:
                continue
            with contextlib.suppress(AccessRefused, UnreadableFile):  # whoever asks for it is told
                resolved, _, _ = self._check(path)
                size = cache.count_bytes(self._cache_key(resolved))
                if not size or (length is not None and size != length):
                    todo.append(path)
        self._ahead.start(todo)

    def _fetch(self, path: str) -> bytes | None:
        key = self._cache_key(self.resolve(path))
        if cache.count_bytes(key):  # who needed it did not wait
            return None
        data = self.read(path, limit=limits.MANIFEST)
        return None if cache.put_bytes(key, data) else data

    def _cache_key(self, resolved: str) -> str:
        return json.dumps(["remote", self.identity, resolved])

    def tail(self, path: str, length: int) -> tuple[bytes, int]:
        """The last bytes of a file, at most `length`, and its size. Raises as `read` does."""
        resolved, _, _ = self._check(path)
        part = self._part_ahead(path)
        if part is not None and part.offset <= (start := max(0, part.file_size - length)):
            data = part.data[start - part.offset :]
            if start + len(data) == part.file_size:
                note_read(len(data), part.file_size, -1, resolved)
                return data, part.file_size

        def get(store: ObjectStore, key: str) -> tuple[bytes, int]:
            answer = store.get(key, options={"range": {"suffix": length}})
            data = _body(path, answer, length)
            note_read(len(data), answer.meta["size"], -1, resolved)
            return data, answer.meta["size"]

        def by_size(_: FileIO | None = None) -> tuple[bytes, int]:
            size = self.size(path)
            return self.read(path, max(0, size - length), min(length, size)), size

        return by_size() if local_path(resolved) is not None else self._ask(path, resolved, get, by_size)

    def names(self, folder: str) -> list[str]:
        """The names of the files in a folder of a store. Raises as `read` does."""
        resolved, _, _ = self._check(folder)

        def list_names(_: FileIO) -> list[str]:
            return [info.base_name for info, _ in infos(resolved, self._access.properties)]

        return self._ask(folder, resolved, lambda *_: names_in(resolved, self._access.properties), list_names)

    def files_below(self, folder: str) -> dict[str, ListedFile]:
        """The files of a store at any depth below a folder, by URI. Raises as `read` does."""
        resolved, _, _ = self._check(folder)
        top = resolved.rstrip("/")

        def by_file_io(_: FileIO) -> dict[str, ListedFile]:
            listed = infos(resolved, self._access.properties, recursive=True)
            return {top + rest: ListedFile(info.mtime_ns / 1e9, info.size) for info, rest in listed if info.is_file}

        files = self._ask(
            folder,
            resolved,
            lambda *_: {top + rest: of for rest, of in list_files(resolved, self._access.properties).items()},
            by_file_io,
        )
        limits.within(len(files), limits.NAMES, folder, "files below it")
        note_read(size := limits.LISTED_FILE * len(files), size, 0, "listing", resolved)
        return files

    def sizes(self, paths: Sequence[str]) -> list[int | None]:
        """The size of each file, those of stores asked for together; None where it cannot be told."""

        def ask(path: str, resolved: str) -> int | None:
            try:
                return cache.count_bytes(self._cache_key(resolved)) or self._size_once(path, resolved)
            except (AccessRefused, UnreadableFile):
                return None

        sizes: list[int | None] = []
        for start in steps(range(0, len(paths), EACH), "sizes"):  # others' requests get their turn in between
            flights: list[tuple[int, str, str, Future[int | None]]] = []
            for path in paths[start : start + EACH]:
                size = None
                with contextlib.suppress(AccessRefused, UnreadableFile, OSError, ValueError):
                    resolved, real, _ = self._check(path)
                    if local_path(resolved) is not None:
                        size = os.lstat(real).st_size
                    else:
                        flights.append((len(sizes), path, resolved, requests().submit(ask, path, resolved)))
                sizes.append(size)
            for at, path, resolved, flight in flights:
                sizes[at] = ask(path, resolved) if flight.cancel() else flight.result()
        return sizes

    def _size_once(self, path: str, resolved: str) -> int:
        """`size`; that of a file which is written once is kept in the disk cache."""
        key = json.dumps(["size", self.identity, resolved])
        cached = cache.get_bytes(key) if is_written_once(path) else None
        size = int(cached) if cached and cached.isdigit() else self.size(path)
        if cached is None and is_written_once(path):
            cache.put_bytes(key, str(size).encode())
        return size

    def size(self, path: str) -> int:
        """Size in bytes. Raises as `read` does."""
        resolved, real, _ = self._check(path)
        if local_path(resolved) is None:
            return self._ask(
                path, resolved, lambda store, key: store.head(key)["size"], lambda io: len(io.new_input(resolved))
            )
        try:
            return os.lstat(real).st_size
        except Exception as error:
            raise _unread(path, resolved, error) from error


def _unread(path: str, resolved: str, error: Exception) -> UnreadableFile:
    """What is said of a file that is not there, or of a local one that cannot be read."""
    if not isinstance(error, FileNotFoundError):
        return UnreadableFile(path, f"cannot be read: {type(error).__name__}: {error}")
    where = f" (looked for at {resolved})" if resolved != path else ""
    return UnreadableFile(path, f"{MISSING}{where}", "" if path.endswith(".json") else MENDED_BY)


def _part(path: str, size: int, offset: int, length: int | None, limit: int) -> int:
    """How many bytes to read. Raises UnreadableFile when that is too many."""
    wanted = max(0, size - offset if length is None else min(length, size - offset))
    limits.within(wanted, limit, path)
    if wanted >= limits.LARGE:
        limits.require_memory(wanted, path)
    return wanted


def _body(path: str, answer: GetResult, most: int) -> bytes:
    """What a store sends, which may be more than it says. Raises UnreadableFile when that is more than was asked
    for."""
    parts: list[bytes] = []
    left = most
    for part in answer.stream(min_chunk_size=most + 1):  # all of it, where the store keeps its word
        parts.append(bytes(part))
        left -= len(part)
        if left < 0:
            raise UnreadableFile(path, f"the store sends more than the {most:,} bytes that it was asked for")
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _open_below(root: str, real: str) -> int:
    """Open a file by its resolved path, step by step from the root and through no link, so that nobody can put one in
    the way between the check and now. A pipe does not block."""
    flags = os.O_RDONLY
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
        flags |= getattr(os, name, 0)
    if os.open not in os.supports_dir_fd or real == root:
        return os.open(real, flags)
    folder = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    *folders, name = real[len(root) :].strip("/").split("/")
    at = os.open(root, folder)
    try:
        for part in folders:
            inner = os.open(part, folder, dir_fd=at)
            os.close(at)
            at = inner
        return os.open(name, flags, dir_fd=at)
    finally:
        os.close(at)
