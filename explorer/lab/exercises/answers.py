"""Interpret the answers that people write: numbers as text, words in upper or lower case, other words for the same
thing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

Words = Mapping[str, Any]
"""The meaning of each word; the key is the word in lower case."""
NULLS = ("none", "null")


def words(*spellings: str) -> Words:
    """Words that mean themselves."""
    return {word.lower(): word for word in spellings}


def names_with_numbers(name: str, ending: str = "", most: int = 9) -> Words:
    """Names such as `manifest-1` to `manifest-9`. If there is an ending, the name without it means the same."""
    names = [f"{name}-{n}" for n in range(1, most + 1)]
    return {spelled: f"{one}{ending}" for one in names for spelled in (one, f"{one}{ending}")}


def interpret(answer: Any, example: Any, vocabulary: Words) -> Any:
    """Convert an answer to the types of the example; return it unchanged if that is not possible."""
    if isinstance(answer, str):
        text = answer.strip()
        if text.lower() in vocabulary:
            return vocabulary[text.lower()]
        if not _is_number(example):
            return text
        if re.fullmatch(r"[+-]?\d{1,18}", text):
            return int(text)
        return None if text.lower() in NULLS else text
    if isinstance(answer, float) and _is_number(example) and answer.is_integer():
        return int(answer)
    if isinstance(answer, (list, tuple)) and isinstance(example, (list, tuple)) and example:
        fitting = example if len(example) == len(answer) else [example[0]] * len(answer)
        return tuple(interpret(one, like, vocabulary) for one, like in zip(answer, fitting, strict=True))
    if isinstance(answer, (set, frozenset)) and isinstance(example, Sequence) and example:
        return {interpret(one, example[0], vocabulary) for one in answer}
    return answer


def _is_number(example: Any) -> bool:
    """Whether the example is a number, or null instead of one."""
    return example is None or (isinstance(example, int) and not isinstance(example, bool))
