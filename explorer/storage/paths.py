"""Paths as metadata spells them: local, file: URIs, and URIs of stores."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from explorer.errors import UnreadableFile
from explorer.spec.text.names import base_name

SAME_STORE = {"s3a": "s3", "s3n": "s3", "wasbs": "abfss", "wasb": "abfs"}
"""Hadoop's other names for one store."""
LONGEST = 8192
"""Characters of a path; file systems and stores allow fewer."""


_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
"""Of a URI; a single letter is a Windows drive."""
DOTS = re.compile(r"(?:^|[/\\])\.\.?(?:[/\\]|$)")
"""`.` or `..` in a path."""
_HERE = re.compile(r"(?<=/)(?:\./+)+|/\.$")
"""What means nothing in a local path."""


def local_path(path: str) -> str | None:
    """The local file system path of a plain path or file: URI; None for object storage. Nothing in it is decoded, and
    `?` and `#` are letters like others, as they are for Iceberg's own readers. A file: URI with a host is nowhere, and
    left as it is: `canonical` refuses it."""
    if path.startswith("file:"):
        rest = path.removeprefix("file:")
        if not rest.startswith("//"):
            return rest
        host, _, inner = rest[2:].partition("/")
        return f"/{inner}" if host in ("", "localhost") else path
    return None if _SCHEME.match(path) else path


def _names_a_host(path: str) -> bool:
    return path.startswith("file:") and local_path(path) == path


def canonical(path: str) -> str:
    """One spelling for a path: local ones absolute with links resolved, others with '.' and '..' folded away. Raises
    UnreadableFile for what is no path."""
    if len(path) > LONGEST:
        raise UnreadableFile(f"{path[:100]}…", f"is no path: it has {len(path):,} characters")
    local = local_path(path)
    if not path or local == "" or "\0" in (path if local is None else local):
        raise UnreadableFile(path, "is no path: it is empty, or has a NUL byte")
    if _names_a_host(path):
        raise UnreadableFile(path, "names a host before its path: only file:///… is of this machine")
    try:
        if local is not None:
            return os.path.realpath(local)
    except (ValueError, OSError) as error:  # half a character, or a loop of links
        raise UnreadableFile(path, f"is no path: {error}") from error
    scheme, _, rest = path.partition(":")
    authority, _, inner = rest.removeprefix("//").partition("/")
    # A key may begin with a slash: it is in no folder that does not.
    folded = f"/{inner}" if inner.startswith("/") else os.path.normpath("/" + inner)
    return f"{SAME_STORE.get(scheme.lower(), scheme.lower())}://{authority}{folded}"


def normal_path(path: str) -> str:
    """One way to write what a path says, without a look at the disk: `file:///x`, `file:/x` and `/x` are one, `/x/./y`
    and `/x/y`, `./x` and `x`, and a store by its names: what follows these is a key, in which a dot is a name."""
    local = local_path(path)
    if local is None or _names_a_host(path):
        scheme, _, rest = path.partition(":")
        return f"{SAME_STORE.get(scheme.lower(), scheme.lower())}:{rest}".rstrip("/")
    return re.sub(r"^(?:\./)+", "", _HERE.sub("", re.sub("/{2,}", "/", local))).rstrip("/")


def move_path(path: str, moved: Sequence[tuple[str, str]]) -> str:
    """A path in the first old place that it is in, taken to the new one; else as it is. `moved` are (old, as
    `normal_path` writes it; new)."""
    here = normal_path(path) if moved else ""
    for old, new in moved:
        if here == old or here.startswith(f"{old}/"):
            return new.rstrip("/") + here[len(old) :]
    return path


def split_store(path: str) -> tuple[str, str]:
    """(scheme and authority, path in it) of a canonical path; the first is empty for local ones."""
    start = path.find("://") + 3
    if start < 3:
        return "", path
    slash = path.find("/", start)
    return (path, "/") if slash < 0 else (path[:slash], path[slash:])


def below(path: str, root: str) -> bool:
    """Whether a canonical path lies in a canonical root folder."""
    (store, inner), (root_store, root_inner) = split_store(path), split_store(root)
    return store == root_store and (inner == root_inner or inner.startswith(root_inner.rstrip("/") + "/"))


_ONE_OF_ITS_NAME = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def is_written_once(path: str) -> bool:
    """Whether a file has a UUID in its name; v3.metadata.json may be written again."""
    return _ONE_OF_ITS_NAME.search(base_name(path)) is not None
