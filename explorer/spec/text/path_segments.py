"""Empty segments in paths: a key of S3 or GCS with `//` in it is another one than with `/`."""

from __future__ import annotations

import re

_OF_KEY_STORE = re.compile(r"(?i:s3|s3a|s3n|gs|gcs)://")
_SEVERAL = re.compile(r"/{2,}")


def is_of_key_store(path: str) -> bool:
    """Say whether a path is of S3 or GCS."""
    return _OF_KEY_STORE.match(path) is not None


def has_empty_segment(path: str) -> bool:
    """Say whether the key of a URI has an empty segment."""
    return "//" in path.partition("://")[2]


def without_empty_segments(path: str) -> str:
    """Return the URI of the key that has one slash wherever this one has several."""
    scheme, mark, rest = path.partition("://")
    return f"{scheme}{mark}{_SEVERAL.sub('/', rest)}"
