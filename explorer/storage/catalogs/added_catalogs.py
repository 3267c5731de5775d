"""Catalogs that a person adds: their properties in a private file of the data folder, their secrets in the environment
or the system's keyring, never in a file."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from explorer.errors import ExplorerError, NotPossible, WrongUsage
from explorer.extras import needs_extra
from explorer.spec.secrets.redaction import redact, secret_values
from explorer.spec.secrets.secret_names import is_secret
from explorer.spec.secrets.token_forms import without_tokens
from explorer.storage.catalogs.sandbox_entries import SANDBOX
from explorer.storage.data_dirs import data_home, not_private, private
from explorer.storage.whole_files import write_whole

FILE = "catalogs.json"
KEYRING, VARIABLE = "keyring", "env:"
"""Where a secret is: in the system's keyring, or in an environment variable, whose name follows."""
LONGEST = 1_000_000
TOKEN_SERVER = "oauth2-server-uri"
"""An address, though its name has a word of secrets."""
_NAME = re.compile(r"[A-Za-z][\w-]{0,63}", re.ASCII)
_USER = re.compile(r"(?<=://)[^/:@\s]*@")
_VARIABLE_NAME = re.compile(r"[A-Za-z_]\w{0,127}", re.ASCII)


def added_names() -> list[str]:
    """The names of the catalogs that were added."""
    return sorted(_read())


def added_properties(name: str) -> dict[str, str]:
    """The properties of a catalog that was added, its secrets too; nothing where there is none of that name.

    Raises:
        NotPossible: A secret is not where it should be.
    """
    entry = _read().get(name.lower(), {})
    secrets = {key: read_secret(name.lower(), key, place) for key, place in entry.get("secrets", {}).items()}
    return {**entry.get("properties", {}), **secrets}


def check_catalog(name: str, properties: Mapping[str, str], secrets: Mapping[str, str]) -> None:
    """Check what add_catalog takes. Raises WrongUsage for a name, property or place that cannot be kept."""
    if not _NAME.fullmatch(name) or name.lower() == SANDBOX:
        raise WrongUsage(f"{name!r} is no name for a catalog: begin with a letter, then letters, digits, - and _")
    for key, value in properties.items():
        if _has_secret(key, value):
            raise WrongUsage(
                f"{key} looks like a secret, or has one in it, which no file may have: leave it out, and name it with "
                "the option --secret, as KEY (it is asked for, and kept in the system's keyring) or KEY=env:VARIABLE "
                "(it is read from the environment)"
            )
    for key, place in secrets.items():
        if place != KEYRING and not (place.startswith(VARIABLE) and _VARIABLE_NAME.fullmatch(place[len(VARIABLE) :])):
            raise WrongUsage(f"{key}: a secret is in {KEYRING} or env:VARIABLE")


def _has_secret(key: str, value: str) -> bool:
    """Whether a property is a secret, or has one in it that can be told: a password among an address's parameters, a
    token. A name of a user is none."""
    if key != TOKEN_SERVER and (secret_values({key: value}) or is_secret(key)):
        return True
    return any(
        redact(_USER.sub("", text)) != _USER.sub("", text) or without_tokens(text, "") != text
        for text in {value, unquote(value)}
    )


def add_catalog(name: str, properties: Mapping[str, str], secrets: Mapping[str, str]) -> Path:
    """Add a catalog, or replace one that was added.

    Args:
        name: Its name.
        properties: Its properties, without secrets.
        secrets: Where the value of each secret property is: KEYRING, or VARIABLE and a name.

    Returns:
        The file that has it.

    Raises:
        WrongUsage: The name, a property or a place is none that can be kept.
        NotPossible: The file cannot be written.
    """
    check_catalog(name, properties, secrets)
    entries = _read()
    entries[name.lower()] = {"properties": dict(properties), "secrets": dict(secrets)}
    return _write(entries)


def remove_catalog(name: str) -> None:
    """Remove a catalog that was added, and its secrets from the keyring. Raises WrongUsage where there is none."""
    entries = _read()
    entry = entries.pop(name.lower(), None)
    if entry is None:
        raise WrongUsage(f"no catalog {name!r} was added: there are {', '.join(sorted(entries)) or 'none'}")
    _write(entries)
    for key, place in entry["secrets"].items():
        if place == KEYRING:
            _forget(name.lower(), key)


def keep_secret(name: str, key: str, value: str) -> None:
    """Put a secret into the system's keyring. Raises NotPossible where there is none, NotInstalled."""
    keyring = _keyring()
    try:
        keyring.set_password(_service(name), key, value)
    except Exception as error:
        raise NotPossible(
            f"the system's keyring cannot keep {key} ({type(error).__name__}): name an environment variable that has "
            "it instead (KEY=env:VARIABLE)"
        ) from None


def read_secret(name: str, key: str, place: str) -> str:
    """Read a secret. Raises NotPossible where it is not there, NotInstalled."""
    if place.startswith(VARIABLE):
        variable = place.removeprefix(VARIABLE)
        value = os.environ.get(variable)
        if value is None:
            raise NotPossible(f"the environment has no {variable}, from which catalog {name!r} takes its {key}")
        return value
    try:
        value = _keyring().get_password(_service(name), key)
    except ExplorerError:
        raise
    except Exception as error:
        raise NotPossible(f"the system's keyring cannot be read ({type(error).__name__})") from None
    if value is None:
        raise NotPossible(f"the system's keyring has no {key} of catalog {name!r}: icedive catalog add {name} keeps it")
    return str(value)


def _forget(name: str, key: str) -> None:
    try:
        _keyring().delete_password(_service(name), key)
    except Exception as error:
        raise NotPossible(f"the system's keyring still has {key} of {name!r} ({type(error).__name__})") from None


def _keyring() -> Any:
    with needs_extra():
        import keyring
    return keyring


def _service(name: str) -> str:
    return f"icedive catalog {name}"


def _file() -> Path:
    return data_home() / FILE


def _read() -> dict[str, dict[str, dict[str, str]]]:
    """The catalogs of the file; what is none of ours there is an error, since it says where credentials are sent."""
    file = _file()
    if not file.is_file():
        return {}
    if (reason := not_private(file)) is not None:
        raise NotPossible(f"{file} is not read: {reason}")
    try:
        with file.open(encoding="utf-8") as text:
            data = json.loads(text.read(LONGEST))
        return {
            str(name): {
                part: {str(key): str(value) for key, value in entry.get(part, {}).items()}
                for part in ("properties", "secrets")
            }
            for name, entry in data.items()
        }
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        raise NotPossible(f"{file} is no list of catalogs ({type(error).__name__}): mend or remove it") from None


def _write(entries: Mapping[str, Any]) -> Path:
    file = _file()
    try:
        private(file.parent)
        write_whole(file, (json.dumps(entries, indent=2) + "\n").encode())
        file.chmod(0o600)
    except OSError as error:
        raise NotPossible(f"{file} cannot be written: {error.strerror or error}") from error
    return file
