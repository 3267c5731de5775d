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
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import unquote

HIDDEN = "(hidden)"
ALONE = {
    "auth", "oauth", "oauth2", "authorization", "bearer", "sas", "sig", "pass", "pwd", "pw", "psk", "pin", "pem",
    "jwt", "otp", "totp", "hmac", "salt", "cookie", "cookies",
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
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+\d*|\d+")
# Each of these takes time in proportion to the text, whatever it is: it is a stranger's, and nothing can stop a search.
_USER_INFO = re.compile(
    r"(?:(?P<azure>(?<![\w+.-])(?i:abfss?|wasbs?))|(?<=[\w+.-]))://(?P<info>[^/\s\"'<>?#]*)@"
    r"|(?<=jdbc:oracle:thin:)[^@\s]{1,1000}@"
)
"""Before the @ of Azure's schemes stands a container."""
_PARAMETER = re.compile(
    r"""(?:(?<=[?&;,\s"'{(])|^)(?P<name>[\w.%-]+(?: [kK]ey)?)"""
    r"""(?:["']?\s*=\s*["']?|["']\s*:\s*["']?|:\s+["']?)"""
)
"""What stands before the value in `name=value` or `"name": "value"`; not the folder of a partition, after a slash."""
_VALUE = re.compile(r"""[^&;,\s"'<>(){}]+""")
_FORMS = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|\b(?:Bearer|Basic)\s+[\w.~+/=-]{8,}"
    r"|(?<![\w-])(?=[\w-]+\.[\w-]{8,}\.)(?:[\w-]*-)?eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"  # a JSON Web Token
    r"|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"  # AWS
    r"|\bgh[opsur]_\w{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}|\bxox[abeoprs]-[\w-]{10,}"
    r"|\bAIza[\w-]{35}|\bya29\.[\w-]{20,}|\bdapi[0-9a-f]{32}\b|\bsk_live_\w{16,}",
    re.DOTALL,
)
_BEGIN = (
    "-----BEGIN", "Bearer", "Basic", "eyJ", "AKIA", "ASIA", "gho_", "ghp_", "ghs_", "ghu_", "ghr_", "github_pat_",
    "glpat-", "xox", "AIza", "ya29.", "dapi", "sk_live_",
)  # fmt: skip
"""How those forms begin: a text with none of them has none of them, which is soon told."""
SUSPECT = r"@|(^|[^/\pL\pN_.%-])[\pL\pN_.%-]+[^\pL\pN_.%=:-]*[=:]|" + "|".join(re.escape(begin) for begin in _BEGIN)
"""RE2, whose classes know ASCII only: what every text has that `redacted` changes, and some others; not the path of a
file in the folder of a partition."""


def is_secret(name: str) -> bool:
    """Whether a property's name looks like that of a secret."""
    parts = [word.lower() for word in _WORD.findall(name)]
    if ALONE & set(parts) or any(part in "".join(parts) for part in WITHIN):
        return True
    for i, word in enumerate(parts):
        before, after = parts[i - 1] if i else "", parts[i + 1] if i + 1 < len(parts) else ""
        if word in ("key", "keys") and before not in HARMLESS_BEFORE and after not in HARMLESS_AFTER:
            return True
    return False


def without_secrets(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Properties with the values of secret-looking names replaced, and no credentials in the others."""
    return {
        name: HIDDEN if is_secret(str(name)) and not isinstance(value, Mapping) else metadata_without_secrets(value)
        for name, value in properties.items()
    }


def metadata_without_secrets(value: Any) -> Any:
    """JSON of a metadata file without the secrets in its properties, summaries, unknown fields and URIs."""
    if isinstance(value, Mapping):
        return {
            name: without_secrets(item)
            if name in ("properties", "summary") and isinstance(item, Mapping)
            else HIDDEN
            if isinstance(item, str) and name != "key" and is_secret(str(name))  # `key` is a map's type
            else metadata_without_secrets(item)
            for name, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [metadata_without_secrets(item) for item in value]
    return redacted(value) if isinstance(value, str) else value


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
    return _without_parameters(text) if "=" in text or ":" in text else text


def _without_parameters(text: str) -> str:
    kept, begin, at = [], 0, 0
    while match := _PARAMETER.search(text, at):  # in the value of one that is no secret another may stand
        at = match.end()
        if is_secret(match["name"]) and (value := _VALUE.match(text, at)):
            kept += [text[begin:at], HIDDEN]
            begin = at = value.end()
    return "".join([*kept, text[begin:]])


def harmless(error: BaseException, properties: Mapping[str, Any]) -> BaseException | None:
    """The error, to raise another from; None where it, or what led to it, repeats a secret: notebooks keep what a
    traceback says."""
    values, at = secret_values(properties), error
    while at is not None:
        if redacted(str(at), values) != str(at):
            return None
        at = at.__cause__ or at.__context__  # type: ignore[assignment]
    return error
