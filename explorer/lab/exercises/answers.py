"""Answers to exercises as people write them: numbers as text, words in any case, other words for the same."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

Words = Mapping[str, Any]
"""What is meant by a word, by the word in small letters."""
NULLS = ("none", "null")


def words(*spellings: str) -> Words:
    """The words of an answer as they are spelled."""
    return {word.lower(): word for word in spellings}


def names_with_numbers(name: str, ending: str = "", most: int = 9) -> Words:
    """`manifest-1` to `manifest-9`; with an ending, a name without it is the same."""
    names = [f"{name}-{n}" for n in range(1, most + 1)]
    return {spelled: f"{one}{ending}" for one in names for spelled in (one, f"{one}{ending}")}


def interpret(answer: Any, example: Any, vocabulary: Words) -> Any:
    """An answer in the form of the example, as far as it can be told what is meant; else as it is."""
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
    """Whether a number is asked for, or null in its place."""
    return example is None or (isinstance(example, int) and not isinstance(example, bool))
