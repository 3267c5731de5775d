"""Which names are those of secrets: a name tells, word by word, and doubt hides."""

from __future__ import annotations

import re
from collections.abc import Sequence

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
    "with", "where", "and", "or",
}  # fmt: skip
"""Keys of these kinds are columns."""
HARMLESS_AFTER = {
    "id", "ids", "name", "names", "column", "columns", "field", "fields", "count", "size", "length", "type",
    "alias", "arn",
}  # fmt: skip
"""What is said about a key, not the key."""
ABOUT = {"count", "size", "length", "type", "date", "method", "column", "columns", "field", "fields", "ttl", "version"}
"""Last words of names of what is said about any secret."""
PLAIN_VALUE = re.compile(r"(?i:true|false|none|counts|full|truncate\(\d{1,9}\)|[+-]?\d{1,19}(?:\.\d{1,19})?)")
"""What Iceberg's properties of a column may have: a flag, a number, a mode of metrics."""
_OF_COLUMN = re.compile(r"write\.[a-z.-]{1,40}\.column\.")
"""What begins the names of Iceberg's properties of a column, before the column's name."""
_FLAG = re.compile(r"(?i:true|false)")
_WITHIN = re.compile("|".join(sorted(WITHIN)))
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+\d*|\d+")


def is_secret(name: str) -> bool:
    """Whether a property's name looks like that of a secret."""
    parts = words(name)
    return names_secret(parts) or names_key(parts)


def holds_secret(name: str, value: str) -> bool:
    """Whether a property may hold a secret: by its name, unless its value can be none. A flag is none, and neither is
    what Iceberg's properties of a column may have, whatever the column's name."""
    if _FLAG.fullmatch(value) or (_OF_COLUMN.match(name) and PLAIN_VALUE.fullmatch(value)):
        return False
    return is_secret(name)


def words(name: str) -> list[str]:
    """The words of a name, in small letters."""
    return [word.lower() for word in _WORD.findall(name)]


def names_secret(parts: Sequence[str]) -> bool:
    """Whether a name of these words is that of a password, a token or the like."""
    if parts and parts[-1] in ABOUT:
        return False
    return not ALONE.isdisjoint(parts) or _WITHIN.search("".join(parts)) is not None


def names_key(parts: Sequence[str]) -> bool:
    """Whether a name of these words is that of a key which may be a secret."""
    for i, word in enumerate(parts):
        before, after = parts[i - 1] if i else "", parts[i + 1] if i + 1 < len(parts) else ""
        if word in ("key", "keys") and before not in HARMLESS_BEFORE and after not in HARMLESS_AFTER:
            return True
    return False
