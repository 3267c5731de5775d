"""The packed teaching tables of this program: commits of Spark, one packed file per table. Unpacking takes a second or
two and no Java. It changes their location and commit times (storage.table_move), as if the tables had just been
built."""

from __future__ import annotations

import gzip
import io
import itertools
import json
import os
import shutil
import sys
import tarfile
import time
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

from explorer.errors import ExplorerError
from explorer.lab.scenarios.registry import NAMESPACE
from explorer.storage.catalogs.sandbox_entries import Entry, add_entries, catalog_entries, is_here
from explorer.storage.data_dirs import private
from explorer.storage.paths import local_path
from explorer.storage.table_move import move_table

FOLDER = Path(__file__).parent / "tables"
PLACE = "file:/teaching/tables"
"""The tables' folder, as the packed files name it."""
ABOUT = "about.json"
"""A file in each pack. `metadata` and `previous` are the files that the catalog points to; `built_ms` is the time of
the last commit of all tables."""
LEVEL = 19
GIVEN_UP = 20
"""How often, every tenth of a second, a folder that no catalog names is checked before it counts as left over."""


def pack(sandbox: Path, names: Sequence[str], folder: Path = FOLDER) -> None:
    """Pack teaching tables of a sandbox.

    Args:
        sandbox: Its folder.
        names: The tables'.
        folder: Where the packed files are written.
    """
    entries = catalog_entries(sandbox)
    places = {name: Path(local_path(entries[f"{NAMESPACE}.{name}"]) or "").parent.parent for name in names}
    current = {name: Path(local_path(entries[f"{NAMESPACE}.{name}"]) or "") for name in names}
    built_ms = max(json.loads(_text(path))["last-updated-ms"] for path in current.values())
    folder.mkdir(parents=True, exist_ok=True)
    for name, place in places.items():
        files = {str(path.relative_to(place)): path.read_bytes() for path in sorted(place.rglob("*")) if path.is_file()}
        metadata = json.loads(_text(current[name]))
        log = metadata.get("metadata-log", [])
        about = {
            "metadata": f"metadata/{current[name].name}",
            "previous": f"metadata/{log[-1]['metadata-file'].rpartition('/')[2]}" if log else None,
            "built_ms": built_ms,
        }
        moved = move_table(files, metadata["location"], f"{PLACE}/{name}")
        _write(folder / f"{name}.tar.zst", {ABOUT: json.dumps(about).encode(), **moved})


def unpack(sandbox: Path, names: Sequence[str], progress: Callable[[str, int, int], None] = lambda *_: None) -> None:
    """Unpack teaching tables into a sandbox and its catalog. Safe to be called by several processes: the first to
    finish a table has it.

    Args:
        sandbox: Its folder.
        names: The tables', which the catalog does not have yet, or whose files are gone.
        progress: Called with a table's name, how many are done, and how many there are.
    """
    private(sandbox.parent)
    warehouse = sandbox / "warehouse" / NAMESPACE
    warehouse.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(names):
        progress(name, number, len(names))
        final, own = warehouse / name, warehouse / f".{name}-{uuid.uuid4().hex[:8]}"
        try:
            entry = _unpack_files(name, own, final)
            if _rename_folder(own, final, partial(_is_there, sandbox, name)):
                add_entries(sandbox, {f"{NAMESPACE}.{name}": entry})
        finally:
            shutil.rmtree(own, ignore_errors=True)
    progress("", len(names), len(names))


def unpack_copy(sandbox: Path, name: str, namespace: str) -> str:
    """Unpack a teaching table as a table of another namespace, to be changed at will.

    Args:
        sandbox: The folder of the sandbox.
        name: The teaching table's.
        namespace: Where its copy is made.

    Returns:
        The copy's name there: the table's with a number.
    """
    own = next(f"{name}_{n}" for n in itertools.count(1) if _is_reserved(sandbox, namespace, f"{name}_{n}"))
    place = sandbox / "warehouse" / namespace / own
    add_entries(sandbox, {f"{namespace}.{own}": _unpack_files(name, place, place)})
    return own


def _is_reserved(sandbox: Path, namespace: str, name: str) -> bool:
    """Whether this process reserved the table's folder; another process may make the same copy."""
    if f"{namespace}.{name}" in catalog_entries(sandbox):
        return False
    try:
        (sandbox / "warehouse" / namespace / name).mkdir(parents=True)
    except FileExistsError:
        return False
    return True


def _unpack_files(name: str, folder: Path, final: Path) -> Entry:
    """Write a table's files into a folder, with locations in the final folder; return its catalog entry."""
    files = _read(FOLDER / f"{name}.tar.zst")
    about = json.loads(files.pop(ABOUT))
    location, later_ms = f"file:{final.absolute()}", int(time.time() * 1000) - about["built_ms"]
    for path, data in move_table(files, f"{PLACE}/{name}", location, later_ms).items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    return f"{location}/{about['metadata']}", about["previous"] and f"{location}/{about['previous']}"


def _rename_folder(own: Path, final: Path, is_there: Callable[[], bool]) -> bool:
    """Give a folder its final name; return False if another process has made the table meanwhile. A left-over folder is
    replaced."""
    for _ in range(GIVEN_UP):
        try:
            os.rename(own, final)
            return True
        except OSError:
            if is_there():
                return False
            time.sleep(0.1)
    shutil.rmtree(final)
    os.rename(own, final)
    return True


def _is_there(sandbox: Path, name: str) -> bool:
    return is_here(sandbox, catalog_entries(sandbox).get(f"{NAMESPACE}.{name}"))


def _text(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


def _write(file: Path, files: dict[str, bytes]) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    file.write_bytes(zstd.compress(out.getvalue(), level=LEVEL))


def _read(file: Path) -> dict[str, bytes]:
    """Read a packed file. Raises ExplorerError if the program was installed without it."""
    try:
        data = zstd.decompress(file.read_bytes())
    except FileNotFoundError:
        raise ExplorerError(f"{file} is missing: this program was installed without that teaching table") from None
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar if member.isfile()}  # type: ignore[union-attr]
