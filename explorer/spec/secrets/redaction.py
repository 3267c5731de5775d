"""Values that must not reach a view, an export or a saved notebook.

Whoever writes a table may put anything into its properties, snapshot summaries and paths, and people do put keys there.
A list of what is harmless would hide every property that a team made up for itself. So a name tells, word by word, and
doubt hides: any *key* that is not of a kind known to be harmless (a primary key, a key's id). In every other value what
looks like a secret is cut out: the user info of URIs, parameters with such names (signed URLs, connection strings, JDBC
URLs), and credentials that can be told by their form.

What is shown (text, pictures, lists, pages, panels) goes through `redact`, before it is cut: half a credential cannot
be told. What is data (JSON, Arrow, CSV, SQL) keeps paths, names and rows as they were written: they are opened, or
compared, by them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import unquote

from explorer.spec.secrets.named_values import without_values
from explorer.spec.secrets.secret_names import holds_secret, is_secret
from explorer.spec.secrets.token_forms import without_tokens

HIDDEN = "(hidden)"
# Each of these takes time in proportion to the text, whatever it is: it is a stranger's, and nothing can stop a search.
_USER_INFO = re.compile(
    r"(?:(?P<azure>(?<![\w+.-])(?i:abfss?|wasbs?))|(?<=[\w+.-]))://(?P<info>[^/\s\"'<>?#]*)@"
    r"|(?<![\w+.:/-])//(?P<bare>[^:/\s\"'<>?#@]*:[^/\s\"'<>?#]*)@"
    r"|(?:(?<=jdbc:oracle:thin:)|(?<=jdbc:oracle:oci:))[^@\s]{1,1000}@"
    r"|(?<=['\"])(?P<quoted>[^\s:@/'\"<>]{1,200}:[^\s@/'\"<>]{1,1000})@"
)
"""Before the @ of Azure's schemes stands a container. Libraries quote what they take for a bucket or a host: what
stands after a URI's scheme."""
LONGEST, BEGUN = 1_000_000, 2_000
"""Characters of a text that are looked through; and of its end, where one that is longer is cut: what may be the
beginning of a credential."""
SCALAR = 10
"""Characters that a number takes, about."""
MOST_ESCAPED = 8
"""How often a text is escaped at most: nobody but who hides something escapes one more often."""
_ENCODED = re.compile(r"""[^\s/"'<>=?&]+""")


def without_secrets(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Properties with the values of secret-looking names replaced, and no credentials in the others."""
    return {
        redact(str(name)): HIDDEN
        if not isinstance(value, Mapping) and holds_secret(str(name), value if isinstance(value, str) else "")
        else metadata_without_secrets(value)
        for name, value in properties.items()
    }


def metadata_without_secrets(value: Any) -> Any:
    """JSON of a metadata file without the secrets in its properties, summaries, unknown fields, names and URIs."""
    if isinstance(value, Mapping):
        return {
            redact(str(name)): without_secrets(item)
            if name in ("properties", "summary") and isinstance(item, Mapping)
            else HIDDEN
            if _is_text(item) and name != "key" and is_secret(str(name))  # `key` is a map's type
            else metadata_without_secrets(item)
            for name, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [metadata_without_secrets(item) for item in value]
    return redact(value) if isinstance(value, str) else value


def beginning(value: Any, most: int) -> Any:
    """Return plain data of whose texts and numbers there are no more than so many characters, for what is shown: the
    first of its items, and how many more there are.

    Args:
        value: Plain data: mappings, lists, texts and numbers.
        most: Characters that its texts may have together, about.

    Returns:
        The data, of which each text that was cut is without credentials.
    """
    return _beginning(value, [most])


def _beginning(value: Any, left: list[int]) -> Any:
    room = max(left[0], 2 * BEGUN)
    left[0] -= len(value) if isinstance(value, str) else SCALAR
    if isinstance(value, str):
        return value if len(value) <= room else redact(value, longest=room)
    if isinstance(value, Mapping):
        shown = {}
        for done, (name, item) in enumerate(value.items()):
            if left[0] <= 0:
                shown["…"] = f"{len(value) - done:,} more"
                break
            shown[_beginning(str(name), left)] = _beginning(item, left)
        return shown
    if isinstance(value, (list, tuple)):
        items: list[Any] = []
        for item in value:
            if left[0] <= 0:
                items.append(f"… {len(value) - len(items):,} more")
                break
            items.append(_beginning(item, left))
        return items
    return value


def _is_text(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, (list, tuple)) and any(isinstance(item, str) for item in value))


def secret_values(properties: Mapping[str, Any]) -> set[str]:
    """What is secret in connection properties, for errors of others that repeat it: the values of secret-looking names
    (of `user:password` its end too) and the passwords of URIs. Not the shortest, which any text may hold."""
    values = set()
    for name, value in properties.items():
        text = str(value)
        infos = [match["info"] or "" for match in _USER_INFO.finditer(text)]
        if is_secret(name) and not name.endswith("-id"):  # whose key it is may be told
            values |= {text, text.partition(":")[2]}
        values |= {form(info.partition(":")[2]) for info in infos for form in (str, unquote)}
    return {value for value in values if len(value) > 3}


def redact(text: str, values: Iterable[str] = (), longest: int = LONGEST) -> str:
    """Text without the credentials in it, and without these values. Of a text that is longer than any that a person
    reads the beginning alone is left, and how much is not shown: looking through it takes a second for each million,
    and nothing else is done meanwhile: a page has less `longest` ones."""
    if len(text) > longest:
        begin = redact(text[:longest], values, longest)[: longest - BEGUN]
        return f"{begin}… ({len(text) - longest + BEGUN:,} more characters)"
    for value in sorted(values, key=len, reverse=True):
        text = text.replace(value, HIDDEN)

    def user_info(match: re.Match[str]) -> str:
        azure, info = match["azure"], match["info"]
        if match["bare"] is not None:
            return f"//{HIDDEN}@"
        if match["quoted"] is not None:
            return f"{HIDDEN}@"
        if info is None:
            return f"{HIDDEN}@"
        return match[0] if azure and ":" not in info else f"{azure or ''}://{HIDDEN}@"

    if "@" in text:
        text = _USER_INFO.sub(user_info, text)
    text = without_values(without_tokens(text, HIDDEN), HIDDEN)
    return _ENCODED.sub(_decode, text) if "%" in text else text


def _decode(match: re.Match[str]) -> str:
    """A part of a path; where it hides something behind %-escapes, without them and that."""
    text = match[0]
    for _ in range(MOST_ESCAPED):
        before, text = text, unquote(text)
        if text == before:
            break
    else:
        return HIDDEN
    safe = redact(text) if text != match[0] else text
    return match[0] if safe == text else safe


def harmless(error: BaseException, properties: Mapping[str, Any]) -> BaseException | None:
    """The error, to raise another from; None where it, or what led to it, repeats a secret: notebooks keep what a
    traceback says."""
    values, at = secret_values(properties), error
    while at is not None:
        if redact(str(at), values) != str(at):
            return None
        at = at.__cause__ or at.__context__  # type: ignore[assignment]
    return error
