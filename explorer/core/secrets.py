"""Values that must not reach a view, an export or a saved notebook.

Whoever writes a table may put anything into its properties, snapshot summaries and paths, and people do put keys there.
A list of what is harmless would hide every property that a team made up for itself. So a name tells, word by word, and
doubt hides: any *key* that is not of a kind known to be harmless (a primary key, a key's id). In every other value what
looks like a secret is cut out: the user info of URIs, parameters with such names (signed URLs, connection strings, JDBC
URLs), and credentials that can be told by their form.

What is shown (text, pictures, lists, pages, panels) goes through `redacted`, before it is cut: half a credential cannot
be told. What is data (JSON, Arrow, CSV, SQL) keeps paths, names and rows as they were written: they are opened, or
compared, by them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

HIDDEN = "(hidden)"
ALONE = {
    "auth", "oauth", "oauth2", "authorization", "bearer", "sas", "sig", "pass", "pwd", "pw", "psk", "pin", "pem",
    "jwt", "otp", "totp", "hmac", "cookie", "cookies", "passcode",
}  # fmt: skip
"""Words that name a secret where they stand alone."""
WITHIN = {
    "secret", "passw", "passphrase", "token", "credential", "signature", "privatekey", "accesskey", "accountkey",
    "apikey", "sharedkey", "masterkey", "storagekey", "subscriptionkey", "connectionstring",
    "connstr", "keytab",
}  # fmt: skip
"""What names a secret wherever it stands in a name without its separators."""
HARMLESS_BEFORE = {
    "primary", "foreign", "unique", "natural", "surrogate", "business", "composite", "candidate", "partition",
    "partitions", "partitioning", "sort", "sorting", "order", "cluster", "clustering", "distribution", "bucket",
    "hash", "join", "group", "row", "record", "upsert", "merge", "dedup", "lookup", "by", "map",
}  # fmt: skip
"""Keys of these kinds are columns."""
HARMLESS_AFTER = {
    "id", "ids", "name", "names", "column", "columns", "field", "fields", "count", "size", "length", "type",
    "alias", "arn",
}  # fmt: skip
"""What is said about a key, not the key."""
ABOUT = {"count", "size", "length", "type", "date", "method", "column", "columns", "field", "fields", "ttl", "version"}
"""Last words of names of what is said about any secret."""
LONGEST_QUOTED = 10_000
"""Characters in which the end of a quoted value is looked for."""
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+\d*|\d+")
# Each of these takes time in proportion to the text, whatever it is: it is a stranger's, and nothing can stop a search.
_USER_INFO = re.compile(
    r"(?:(?P<azure>(?<![\w+.-])(?i:abfss?|wasbs?))|(?<=[\w+.-]))://(?P<info>[^/\s\"'<>?#]*)@"
    r"|(?:(?<=jdbc:oracle:thin:)|(?<=jdbc:oracle:oci:))[^@\s]{1,1000}@"
)
"""Before the @ of Azure's schemes stands a container."""
_PARAMETER = re.compile(
    r"""(?<![\w./%-])(?P<name>[\w.%-]+(?: [kK]ey)?)"""
    r"""(?:(?:\\*["'`])?\s*[:=]?=>?\s*|\\*["'`]\s*:\s*|:\s+)(?P<quote>\\*["'])?"""
)
"""What stands before the value in `name=value` or `"name": "value"`, which may be JSON within JSON; not the folder of a
partition, after a slash."""
_VALUE = re.compile(r"""(?:(?!/[\w.%+-]+=[^=&\s])[^&;,\s"'<>(){}])+""")
"""To what separates it from what follows, which may be the folder of another partition."""
_OPTION = re.compile(r"(?<![\w.-])--(?P<name>[\w.-]+)\s+(?=[^\s-])")
_SCHEMES = {"basic", "bearer", "token", "digest", "negotiate", "apikey", "aws4-hmac-sha256"}
"""Of authorization, before what authorizes."""
_HARMLESS = re.compile(r"(?i:true|false|null|none|string|int|long|float|double|boolean|binary|date|timestamp)\Z")
"""Values that are no secret, such as the type of a column."""
_NUMBER = re.compile(r"-?\d{1,18}\Z")
_FORMS = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|\Z)"
    r"|\b(?:[Bb]earer|[Bb]asic)\s+(?=[a-z_.-]*[A-Z0-9+/=~])[\w.~+/=-]{8,}"
    r"|(?<![\w-])(?=[\w-]+\.[\w-]{8,}\.)(?:[\w-]*-)?eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"  # a JSON Web Token
    r"|(?<![A-Z])(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Z])"  # AWS
    r"|(?<![A-Za-z0-9])(?:gh[opsur]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abeoprs]-[\w-]{10,}"
    r"|AIza[\w-]{35}|ya29\.[\w-]{20,}|dapi[0-9a-f]{32}|sk_live_\w{16,}|sk-ant-[\w-]{20,}|hf_\w{20,}"
    r"|SG\.[\w-]{16,}\.[\w-]{16,}|hooks\.slack\.com/services/[\w/]+)",
    re.DOTALL,
)
_BEGIN = (
    "-----BEGIN", "earer", "asic", "eyJ", "AKIA", "ASIA", "gho_", "ghp_", "ghs_", "ghu_", "ghr_", "github_pat_",
    "glpat-", "xox", "AIza", "ya29.", "dapi", "sk_live_", "sk-ant-", "hf_", "SG.", "hooks.slack.com",
)  # fmt: skip
"""What those forms have: a text with none of them has none of them, which is soon told."""
_ENCODED = re.compile(r"""[^\s/"'<>=?&]+""")
SUSPECT = r"@|%|--|(^|[^/\pL\pN_.%-])[\pL\pN_.%-]+[^\pL\pN_.%=:-]*[=:]|" + "|".join(map(re.escape, _BEGIN))
"""RE2, whose classes know ASCII only: what every text has that `redacted` changes, and some others; not the path of a
file in the folder of a partition."""


def is_secret(name: str) -> bool:
    """Whether a property's name looks like that of a secret."""
    parts = _words(name)
    return _names_secret(parts) or _names_key(parts)


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)]


def _names_secret(parts: Sequence[str]) -> bool:
    if parts and parts[-1] in ABOUT:
        return False
    return bool(ALONE & set(parts)) or any(part in "".join(parts) for part in WITHIN)


def _names_key(parts: Sequence[str]) -> bool:
    for i, word in enumerate(parts):
        before, after = parts[i - 1] if i else "", parts[i + 1] if i + 1 < len(parts) else ""
        if word in ("key", "keys") and before not in HARMLESS_BEFORE and after not in HARMLESS_AFTER:
            return True
    return False


def without_secrets(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Properties with the values of secret-looking names replaced, and no credentials in the others."""
    return {
        redacted(str(name)): HIDDEN
        if is_secret(str(name)) and not isinstance(value, Mapping)
        else metadata_without_secrets(value)
        for name, value in properties.items()
    }


def metadata_without_secrets(value: Any) -> Any:
    """JSON of a metadata file without the secrets in its properties, summaries, unknown fields, names and URIs."""
    if isinstance(value, Mapping):
        return {
            redacted(str(name)): without_secrets(item)
            if name in ("properties", "summary") and isinstance(item, Mapping)
            else HIDDEN
            if _is_text(item) and name != "key" and is_secret(str(name))  # `key` is a map's type
            else metadata_without_secrets(item)
            for name, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [metadata_without_secrets(item) for item in value]
    return redacted(value) if isinstance(value, str) else value


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


def redacted(text: str, values: Iterable[str] = ()) -> str:
    """Text without the credentials in it, and without these values."""
    for value in sorted(values, key=len, reverse=True):
        text = text.replace(value, HIDDEN)

    def user_info(match: re.Match[str]) -> str:
        azure, info = match["azure"], match["info"]
        if info is None:
            return f"{HIDDEN}@"
        return match[0] if azure and ":" not in info else f"{azure or ''}://{HIDDEN}@"

    if "@" in text:
        text = _USER_INFO.sub(user_info, text)
    if any(begin in text for begin in _BEGIN):
        text = _FORMS.sub(HIDDEN, text)
    if "=" in text or ":" in text:
        text = _without_values(text, _PARAMETER)
    if "--" in text:
        text = _without_values(text, _OPTION)
    return _ENCODED.sub(_decoded, text) if "%" in text else text


def _without_values(text: str, before: re.Pattern[str]) -> str:
    """Text without the values of names of secrets; `before` is what stands before a value."""
    kept, begin, at = [], 0, 0
    while match := before.search(text, at):  # in the value of one that is no secret another may stand
        at = match.end()
        words = _words(match["name"])
        secret = _names_secret(words)
        if not secret and not _names_key(words):
            continue
        end = _value_ends(text, at, match.groupdict().get("quote"))
        value = text[at:end]
        if value and not _HARMLESS.match(value) and (secret or not _NUMBER.match(value)):
            kept += [text[begin:at], HIDDEN]
            begin = at = end
    return "".join([*kept, text[begin:]])


def _value_ends(text: str, at: int, quote: str | None) -> int:
    """Where a value that begins there ends: at the quote that opened it, if there is another, else at a separator."""
    if quote and (closed := text.find(quote, at, at + LONGEST_QUOTED)) >= 0:
        while text[closed - 1] == "\\" and len(quote) == 1:  # the quote is a part of it
            if (closed := text.find(quote, closed + 1, at + LONGEST_QUOTED)) < 0:
                return min(len(text), at + LONGEST_QUOTED)
        return closed
    value = _VALUE.match(text, at)
    if value is None:
        return at
    if value[0].lower() in _SCHEMES and (more := _VALUE.match(text, value.end() + 1)):
        return more.end()
    return value.end()


def _decoded(match: re.Match[str]) -> str:
    """A part of a path; where it hides something behind %-escapes, without them and that."""
    told = unquote(match[0])
    safe = redacted(told) if told != match[0] and "%" not in told else told
    return match[0] if safe == told else safe


def harmless(error: BaseException, properties: Mapping[str, Any]) -> BaseException | None:
    """The error, to raise another from; None where it, or what led to it, repeats a secret: notebooks keep what a
    traceback says."""
    values, at = secret_values(properties), error
    while at is not None:
        if redacted(str(at), values) != str(at):
            return None
        at = at.__cause__ or at.__context__  # type: ignore[assignment]
    return error
