"""Values of secrets that stand behind a name: `password=x`, JSON, YAML, XML, options of a command, headers.

Each search takes time in proportion to the text, whatever it is: it is a stranger's, and nothing can stop one."""

from __future__ import annotations

import re

from explorer.spec.secrets.secret_names import names_key, names_secret, words

LONGEST_QUOTED = 10_000
"""Characters in which the end of a quoted value is looked for."""
MOST_BRACKETS = 64
"""Pairs of brackets in one value."""
_PARAMETER = re.compile(
    r"""(?<![\w./%-])(?P<name>[\w.%-]+(?: [kK]ey)?)"""
    r"""(?:(?:\\*["'`])?\s*[:=]?=>?\s*|\\*["'`]\s*:\s*|:\s+|:(?!//))(?P<quote>\"{3}|'{3}|\\*["'])?"""
)
"""What stands before the value in `name=value` or `"name": "value"`, which may be JSON within JSON; not the folder of a
partition, after a slash."""
_POINTER = re.compile(r"(?<=/)(?P<name>[\w.%-]{1,200}):\s+")
"""What stands before the value of a place in JSON: `/properties/password: x`. A partition's folder has `=`."""
_OPTION = re.compile(r"(?<![\w.-])--(?P<name>[\w.-]+)\s+(?=[^\s-])")
_LOGIN = re.compile(
    r"""(?<![\w.-])(?:-[uU]\s*|--(?:proxy-)?user(?:\s+|=))(?P<quote>\\*["'])?(?P<user>[^\s:"'/]{1,100}):"""
)
"""What stands before the password in `-u user:password`."""
_PAIR = re.compile(
    r"""(?<![\w.%-])(?i:name|key)(?:\\*["'])?\s*[:=]\s*(?:\\*["'])?(?P<name>[\w.%-]+)(?:\\*["'])?[\s,;]*"""
    r"""(?:\\*["'])?(?i:value)(?:\\*["'])?\s*[:=]\s*(?P<quote>\\*["'])?"""
)
"""What stands before the value in `name: password, value: x`."""
_ELEMENT = re.compile(r"<(?P<name>[\w.:-]+)(?:\s[^<>]*)?(?<!/)>")
_ELEMENT_PAIR = re.compile(r"<[\w:-]*(?i:name|key)>\s*(?P<name>[\w.%-]+)\s*</[\w:-]+>\s*<[\w:-]+>")
"""The same of XML, as in Hadoop's files of settings."""
_VALUE = re.compile(r"""(?:(?!/[\w.%+-]+=[^=&\s])[^&;,\s"'<>(){}\[])+""")
"""To what separates it from what follows, which may be the folder of another partition."""
_OBJECT = re.compile(r"""\{\s*\\*["'][^"'\\]{0,200}\\*["']\s*:""")
"""An object of JSON, whose own names tell."""
_BLOCK = re.compile(r"[|>][-+\d]{0,3}[ \t]*(?:#[^\n]{0,1000})?\r?\n(?:[ \t][^\n]*(?:\n|\Z)|\r?\n)*")
"""Of YAML: the lines that are further in."""
_LINE = re.compile(r"[^\r\n]*")
_CLOSING = {"{": "}", "(": ")", "[": "]", "<": ">"}
_SCHEMES = {"basic", "bearer", "token", "digest", "negotiate", "apikey", "aws4-hmac-sha256"}
"""Of authorization, before what authorizes."""
_HEADERS = {"cookie", "cookies"}
"""Words of what has several values, to the end of its line."""
_HARMLESS = re.compile(
    r"(?i:true|false|null|none|string|tinyint|smallint|int|integer|bigint|long|float|double|real|boolean|binary|date"
    r"|time|timestamp(?:tz|_ntz|_ltz|_ns|tz_ns)?|uuid|variant|(?:map|struct|list|array)(?:<.*)?"
    r"|(?:decimal|fixed|varchar|char)(?:[(\[][\d, ]*[)\]])?|[{(\[]\s*[\])}])\Z",
    re.DOTALL,
)
"""Values that are no secret, such as the type of a column."""
_NO_KEY = re.compile(r"(?:-?\d{1,18}|[\w .-]{0,11})\Z")
"""Values of columns that are called something's key: numbers, and texts that are too short for a key to be secret."""


def without_values(text: str, instead: str) -> str:
    """Text with something else in place of the values of names of secrets."""
    if "<" in text:
        text = _without(_without(text, _ELEMENT_PAIR, instead), _ELEMENT, instead)
    if "=" in text or ":" in text:
        text = _without(_without(_without(text, _PAIR, instead), _PARAMETER, instead), _POINTER, instead)
    if "-" in text:
        text = _without(text, _OPTION, instead)
        text = _without(text, _LOGIN, instead) if ":" in text else text
    return text


def _without(text: str, before: re.Pattern[str], instead: str) -> str:
    """The same for one way to write them; `before` is what stands before a value."""
    kept, begin, at = [], 0, 0
    while match := before.search(text, at):  # in the value of one that is no secret another may stand
        at = match.end()
        name = words(match["name"] if "name" in before.groupindex else "login key")
        secret = names_secret(name)
        if not secret and (name == ["key"] or not names_key(name)):  # a column of many tables, and a map's type
            continue
        if before is _ELEMENT or before is _ELEMENT_PAIR:
            end = _element_ends(text, at)
        else:
            end = _value_ends(text, at, match.groupdict().get("quote"))
        value = text[at:end].strip()
        if not value or value == instead or _HARMLESS.match(value) or (not secret and _NO_KEY.match(value)):
            continue
        if _HEADERS & set(name) and not match.groupdict().get("quote"):
            end = _LINE.match(text, end).end()  # type: ignore[union-attr]
        kept += [text[begin:at], instead]
        begin = at = end
    return "".join([*kept, text[begin:]])


def _element_ends(text: str, at: int) -> int:
    """Where the content of an element ends that begins there: at the next end of one, past what is marked as text."""
    end = text.find("</", at, at + LONGEST_QUOTED)
    return end if end >= 0 else min(len(text), at + LONGEST_QUOTED)


def _value_ends(text: str, at: int, quote: str | None) -> int:
    """Where a value that begins there ends: at the quote that opened it, if there is another, else at a separator that
    is not within brackets of the value."""
    if quote and (closed := text.find(quote, at, at + LONGEST_QUOTED)) >= 0:
        while text[closed - 1] == "\\" and len(quote) == 1:  # the quote is a part of it
            if (closed := text.find(quote, closed + 1, at + LONGEST_QUOTED)) < 0:
                return min(len(text), at + LONGEST_QUOTED)
        return closed
    if block := _BLOCK.match(text, at):
        return block.end()
    if _OBJECT.match(text, at):
        return at
    end = _word_ends(text, at)
    if text[at:end].lower() in _SCHEMES and (more := _VALUE.match(text, end + 1)):
        return more.end()
    return end


def _word_ends(text: str, at: int) -> int:
    """Where a value without quotes ends. A bracket that nothing closes is a part of it, and what follows no more is
    looked into; nor is what follows so many brackets, as each value of a text may be as long as the text."""
    for _ in range(MOST_BRACKETS):
        if value := _VALUE.match(text, at):
            at = value.end()
        if (closing := _CLOSING.get(text[at : at + 1])) is None:
            return at
        closed = text.find(closing, at + 1, at + LONGEST_QUOTED)
        if closed < 0:
            value = _VALUE.match(text, at + 1)
            return value.end() if value else at
        at = closed + 1
    return at
