"""Values that must not reach a view, an export or a saved notebook."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SECRET_WORDS = (
    "secret",
    "password",
    "token",
    "credential",
    "access-key",
    "session-token",
    "sas",
    "private-key",
    "auth",
)
HIDDEN = "(hidden)"


def is_secret(key: str) -> bool:
    """Whether a property's name looks like that of a secret."""
    return any(word in key.lower() for word in SECRET_WORDS)


def without_secrets(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Properties with the values of secret-looking keys replaced."""
    return {k: HIDDEN if is_secret(k) else v for k, v in properties.items()}
