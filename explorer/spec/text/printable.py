"""Text of strangers without what commands a terminal, or is not seen."""

from __future__ import annotations

import re

_JOINER = re.compile("(?<=[^\x00-\x7f\u200c\u200d])[\u200c\u200d](?=[^\x00-\x7f\u200c\u200d])")
"""One joiner between letters of other scripts, or pictures: a part of a word, which commands nothing."""
_INVISIBLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\U000e0100-\U000e01ef]")
"""What has room or none, and no shape, and counts as printable."""
_PICTURES = 0x2400
"""Where Unicode's pictures of control characters begin: that of NUL."""


def printable(text: str) -> str:
    """Return a text with a sign in place of each character that is not shown, or commands a terminal.

    Args:
        text: The text, of one line.
    """
    if text.isprintable() and (text.isascii() or not _INVISIBLE.search(text)):
        return text
    joins = {
        match.start()
        for match in _JOINER.finditer(text)
        if text[match.start() - 1].isprintable() and text[match.end()].isprintable()
    }
    return "".join(
        char if at in joins or (char.isprintable() and not _INVISIBLE.match(char)) else picture_of(char)
        for at, char in enumerate(text)
    )


def picture_of(char: str) -> str:
    """Return a sign for a character that is not shown: its own where Unicode has one, such as ␀, else �.

    Args:
        char: The character.
    """
    return chr(_PICTURES + ord(char)) if char < " " else "␡" if char == "\x7f" else "�"


def show_blanks(text: str) -> str:
    """Return a value's text with a sign (␣) for each blank at its beginning and end, which nobody would see.

    Args:
        text: The text.
    """
    if not text.startswith(" ") and not text.endswith(" "):
        return text
    inner = text.strip(" ")
    before = len(text) - len(text.lstrip(" "))
    return "␣" * before + inner + "␣" * (len(text) - before - len(inner))


def printable_lines(text: str) -> str:
    """Return the same of a text whose lines stay.

    Args:
        text: The text.
    """
    return "\n".join(map(printable, text.split("\n")))
