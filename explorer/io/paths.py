"""Paths as metadata spells them: local, file: URIs, and URIs of stores."""

from __future__ import annotations

import os
import re

from explorer.errors import UnreadableFile

SAME_STORE = {"s3a": "s3", "s3n": "s3", "wasbs": "abfss", "wasb": "abfs"}
"""Hadoop's other names for one store."""
LONGEST = 8192
"""Characters of a path; file systems and stores allow fewer."""


_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
"""Of a URI; a single letter is a Windows drive."""
DOTS = re.compile(r"(?:^|[/\\])\.\.?(?:[/\\]|$)")
"""`.` or `..` in a path."""


def local_path(path: str) -> str | None:
    """The local file system path of a plain path or file: URI; None for object storage. Nothing in it is decoded, and
    `?` and `#` are letters like others, as they are for Iceberg's own readers."""
    if path.startswith("file:"):
        rest = path.removeprefix("file:")
        return "/" + rest[2:].partition("/")[2] if rest.startswith("//") else rest
    return None if _SCHEME.match(path) else path


def canonical(path: str) -> str:
    """One spelling for a path: local ones absolute with links resolved, others with '.' and '..' folded away. Raises
    UnreadableFile for what is no path."""
    if len(path) > LONGEST:
        raise UnreadableFile(f"{path[:100]}…", f"is no path: it has {len(path):,} characters")
    local = local_path(path)
    if not path or local == "" or "\0" in (path if local is None else local):
        raise UnreadableFile(path, "is no path: it is empty, or has a NUL byte")
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
