"""Which files a person means by what they type of a path: the end of it, a prefix of the name, or the label that a list
or the graph shows of it."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

ELLIPSIS, DOTS = "…", "..."
"""What a label has in place of the middle of a name, and what people type for it."""


def closeness(paths: pa.ChunkedArray | pa.Array, text: str) -> pa.ChunkedArray | pa.Array:
    """How close each path is to a text, the least the closest: 0 the path itself, or all of its last parts, 1 a label
    with an ellipsis, 2 another end, 3 the beginning of the path or of its name; null where it is none."""
    text = text.encode(errors="replace").decode()  # half a character is in no path
    none = pa.scalar(None, pa.int8())
    if not text:
        return pa.nulls(len(paths), pa.int8())
    whole = pc.or_(pc.equal(paths, text), pc.ends_with(paths, f"/{text.lstrip('/')}"))
    begins = pc.or_(pc.starts_with(paths, text), pc.match_substring_regex(paths, f"/{re.escape(text)}[^/]*$"))
    tests = [whole, _has_label(paths, text), pc.ends_with(paths, text), begins]
    result = pc.if_else(tests[-1], pa.scalar(len(tests) - 1, pa.int8()), none)
    for place in reversed(range(len(tests) - 1)):
        result = pc.if_else(tests[place], pa.scalar(place, pa.int8()), result)
    return result


def _has_label(paths: pa.ChunkedArray | pa.Array, text: str) -> pa.ChunkedArray | pa.Array | pa.Scalar:
    """Whether a text with an ellipsis is the label of each path: what is before it is in the path, and what is after it
    is its end."""
    before, ellipsis, after = text.replace(DOTS, ELLIPSIS).partition(ELLIPSIS)
    if not ellipsis or not before or not after:
        return pa.scalar(False)
    return pc.and_(pc.match_substring(paths, before), pc.ends_with(paths, after))
