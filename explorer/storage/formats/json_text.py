"""JSON of a stranger: its encoding, size and depth are checked before it becomes objects, and what is odd is told.

An object costs up to a hundred times the bytes of its text, and what nests a thousand deep is read and then breaks
whoever walks it."""

from __future__ import annotations

import codecs
import gc
import itertools
import json
import re
import threading
from array import array
from collections import Counter
from typing import Any

from explorer.errors import UnreadableFile
from explorer.model.problem import Problems
from explorer.progress import check_cancellation
from explorer.storage import limits
from explorer.storage.excerpts import quote

WHITESPACE = b" \t\n\r"
NO_JSON = "is no JSON, and Iceberg Java refuses it"
BYTES_OF = {b"{": 160, b":": 90, b"[": 90, b",": 40, b'"': 16}
"""Bytes of memory that an object, a key, a list, a value and half a text take, by the character that each needs."""
_BACKSLASHES = re.compile(rb"\\*")
PIECE = 16 << 10
"""Bytes of a text that are looked through at once: nothing else runs meanwhile, and each string in them takes some
fifty more."""
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_WIDE = re.compile(rb"[\xf0-\xff]")
"""What begins a character that makes Python keep four bytes for each character of a text."""


class Uncollected:
    """While objects are made that nothing leads back to, the collector of circles need not look through them, which it
    does again and again, and stops all threads for it: for 0.1 to 0.4 s where a metadata file is large."""

    lock, under_way, was_on = threading.Lock(), 0, False

    def __enter__(self) -> None:
        cls = type(self)
        with cls.lock:
            if not cls.under_way:
                cls.was_on = gc.isenabled()
                gc.disable()
            cls.under_way += 1

    def __exit__(self, *_: object) -> None:
        cls = type(self)
        with cls.lock:
            cls.under_way -= 1
            if not cls.under_way and cls.was_on:
                gc.enable()


def load_json(text: bytes, path: str, problems: Problems) -> Any:
    """Return the value of a JSON text in UTF-8. Duplicate keys, NaN and halves of characters become problems; the last
    value, null and U+FFFD stand for them. Raises UnreadableFile for what is not JSON, too large, or nested too deep."""
    limits.within(len(text), limits.METADATA, path)
    size = memory_size(text)
    limits.within(size, limits.share(2), path, "bytes as objects in memory", f"set {limits.VARIABLE} to more")
    with limits.reading(size, path), Uncollected():
        return _load(text, path, problems)


def memory_size(text: bytes) -> int:
    """Return how many bytes of memory a JSON text and its objects take at most, without decoding it: the text as it is,
    as Python keeps it, and once more in its strings; and the objects."""
    width = 1 if text.isascii() else 4 if _WIDE.search(text) else 2
    return len(text) * (1 + 2 * width) + sum(text.count(mark) * size for mark, size in BYTES_OF.items())


def _load(text: bytes, path: str, problems: Problems) -> Any:
    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        check_cancellation()
        result = dict(items)
        if len(result) < len(items):
            twice = [name for name, times in Counter(name for name, _ in items).items() if times > 1]
            for name in sorted(twice)[:20]:
                problems.add(f"the key {name[:100]!r} appears twice in one object; the last value is shown")
        return result

    def constant(name: str) -> None:
        problems.add(f"{name} {NO_JSON}; null is shown in its place")

    try:
        whole = text.removeprefix(codecs.BOM_UTF8).strip(WHITESPACE).decode()
        limits.within(nesting(text), limits.JSON_DEPTH, path, "levels of nesting")
        value, end = json.JSONDecoder(object_pairs_hook=pairs, parse_constant=constant).raw_decode(whole)
    except UnicodeDecodeError as error:
        raise UnreadableFile(path, f"not UTF-8 ({error.reason}), as JSON must be; it has {len(text)} bytes") from error
    except (ValueError, RecursionError) as error:  # also numbers of thousands of digits
        start = quote(text[:12])
        raise UnreadableFile(path, f"not JSON ({error}); it starts with {start} and has {len(text)} bytes") from error
    if rest := len(whole) - end:
        cause = (
            f"{rest:,} characters follow the JSON value: Iceberg Java takes no notice of them, other readers refuse it"
        )
        problems.add(cause, severity="warning")
    if _SURROGATE_ESCAPE.search(text):
        value, halves = without_surrogates(value)
        if halves:
            problems.add(f"{halves} texts hold half a character (a lone surrogate), shown as U+FFFD")
    return value


def nesting(text: bytes) -> int:
    """Return how deep lists and objects are nested in a JSON text, without decoding it."""
    deepest = depth = at = is_inside = 0
    while at < len(text):
        check_cancellation()
        end = _BACKSLASHES.match(text, min(at + PIECE, len(text))).end()  # type: ignore[union-attr]
        # without what is escaped, each quote begins a string or ends one; expressions take a hundred times as long
        parts = text[at : end + 1].replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')
        brackets = b"".join(parts[is_inside::2]).translate(None, _NOT_BRACKETS)
        depths = array("q", itertools.accumulate(map(_STEP.__getitem__, brackets), initial=depth))
        deepest, depth, at = max(deepest, max(depths)), depths[-1], end + 1
        is_inside = (is_inside + len(parts) - 1) % 2
    return deepest


def without_surrogates(value: Any) -> tuple[Any, int]:
    """Replace lone surrogates, which nothing can print or store.

    Args:
        value: What a JSON text says; it is changed in place, since a copy would double its memory.

    Returns:
        The value with U+FFFD in place of each lone surrogate, and how many texts had one.
    """
    halves = 0

    def mend(item: Any) -> Any:
        nonlocal halves
        if isinstance(item, str):
            if item.isascii() or not _SURROGATE.search(item):
                return item
            halves += 1
            return item.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        if isinstance(item, list):
            for i, inner in enumerate(item):
                item[i] = mend(inner)
        elif isinstance(item, dict):
            for name, inner in item.items():
                item[name] = mend(inner)
            names = {name: mend(name) for name in item}
            if any(name is not mended for name, mended in names.items()):
                return {names[name]: inner for name, inner in item.items()}
        return item

    return mend(value), halves
