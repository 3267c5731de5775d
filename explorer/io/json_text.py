"""JSON of a stranger: its size and depth are looked at before it becomes objects, and what is odd is told.

An object costs up to a hundred times the bytes of its text, and what nests a thousand deep is read and then breaks
whoever walks it."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from typing import Any

from explorer.errors import UnreadableFile
from explorer.io import budget
from explorer.model.problem import Problem

WHITESPACE = " \t\n\r"
NO_JSON = "is no JSON, and Iceberg Java refuses it"
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)', re.DOTALL)
"""One that is not closed too, or each of its quotes would be tried as the beginning of another."""
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def load_json(text: bytes, path: str, problems: list[Problem]) -> Any:
    """The value of a JSON text. Duplicate keys, NaN and halves of characters become problems; the last value, null and
    U+FFFD stand for them. Raises UnreadableFile for what is no JSON, too large, or nested too deep."""
    budget.within(len(text), budget.METADATA, path)
    budget.within(text.count(b",") + text.count(b"{") + text.count(b"["), budget.JSON_VALUES, path, "JSON values")

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(items)
        if len(result) < len(items):
            twice = [name for name, times in Counter(name for name, _ in items).items() if times > 1]
            for name in sorted(twice)[:20]:
                problem = f"the key {name[:100]!r} appears twice in one object; the last value is shown"
                problems.append(Problem(path, problem))
        return result

    def constant(name: str) -> None:
        problems.append(Problem(path, f"{name} {NO_JSON}; null is shown in its place"))

    try:
        budget.within(_depth(text), budget.JSON_DEPTH, path, "levels of nesting")
        decoder = json.JSONDecoder(object_pairs_hook=pairs, parse_constant=constant)
        whole = text.decode(json.detect_encoding(text), "surrogatepass").lstrip(WHITESPACE)
        value, end = decoder.raw_decode(whole)
    except (ValueError, RecursionError) as error:  # also Unicode errors, and numbers of thousands of digits
        start = text[:12].decode("utf-8", "replace")
        raise UnreadableFile(path, f"not JSON ({error}); it starts with {start!r} and has {len(text)} bytes") from error
    if rest := len(whole[end:].strip(WHITESPACE)):
        cause = (
            f"{rest:,} characters follow the JSON value: Iceberg Java takes no notice of them, other readers refuse it"
        )
        problems.append(Problem(path, cause, severity="warning"))
    return _whole(value, path, problems) if _SURROGATE.search(text) else value


def _depth(text: bytes) -> int:
    brackets = _STRING.sub(b"", text).translate(None, _NOT_BRACKETS)
    return max(itertools.accumulate(map(_STEP.__getitem__, brackets)), default=0)


def _whole(value: Any, path: str, problems: list[Problem]) -> Any:
    """The value with U+FFFD in place of lone surrogates, which nothing can print or store."""
    halves = 0

    def mend(item: Any) -> Any:
        nonlocal halves
        if isinstance(item, str):
            mended = item.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            halves += mended != item
            return mended
        if isinstance(item, list):
            return [mend(x) for x in item]
        return {mend(k): mend(x) for k, x in item.items()} if isinstance(item, dict) else item

    mended = mend(value)
    if halves:
        problems.append(Problem(path, f"{halves} texts hold half a character (a lone surrogate), shown as U+FFFD"))
    return mended
