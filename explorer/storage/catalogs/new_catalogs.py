"""A catalog that a person adds: what a form may say of it, and the test of its connection before it is kept."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from urllib.parse import urlsplit

from explorer.errors import WrongUsage
from explorer.storage.catalogs import catalogs
from explorer.storage.catalogs.added_catalogs import KEYRING, add_catalog, check_catalog, keep_secret, read_secret

SCHEMES = {
    "rest": ("http", "https"),
    "glue": (),
    "hive": ("thrift",),
    "sql": ("sqlite", "postgresql", "postgresql+psycopg2"),
}
"""The kinds of catalogs that a form offers, and how their addresses begin."""
SETTINGS = (
    "prefix", "scope", "audience", "resource", "oauth2-server-uri", "rest.sigv4-enabled", "rest.signing-name",
    "rest.signing-region", "glue.id", "glue.region", "glue.endpoint", "hive.hive2-compatible", "client.region",
    "s3.endpoint", "s3.region", "s3.connect-timeout", "s3.request-timeout", "s3.force-virtual-addressing",
    "gcs.project-id", "gcs.service.host", "adls.account-name", "adls.account-host",
)  # fmt: skip
"""Other properties that a form takes: none of them names a class, or code to run."""


def check_form(properties: Mapping[str, str]) -> None:
    """Check what a form says of a catalog: its type, uri and warehouse, and properties among SETTINGS.

    Args:
        properties: The catalog's properties, without secrets.

    Raises:
        WrongUsage: One of them is none that a form takes.
    """
    kind, uri = properties.get("type", ""), properties.get("uri", "")
    if kind not in SCHEMES:
        raise WrongUsage(f"a catalog's type is one of {', '.join(SCHEMES)}")
    if uri or SCHEMES[kind]:
        scheme = urlsplit(uri).scheme.lower()
        if scheme not in (SCHEMES[kind] or ("http", "https")):
            begins = " or ".join(f"{one}:" for one in SCHEMES[kind] or ("http", "https"))
            raise WrongUsage(f"the address of a catalog of type {kind} begins with {begins}")
    for name, value in properties.items():
        if name not in ("type", "uri", "warehouse", *SETTINGS):
            raise WrongUsage(
                f"{name[:60]!r} is no property that a form takes: icedive catalog add takes it on the command line. "
                f"A form takes {', '.join(SETTINGS)}"
            )
        if not isinstance(value, str):
            raise WrongUsage(f"{name}: a property is text")


def add_new(
    name: str,
    properties: Mapping[str, str],
    secrets: Mapping[str, str],
    typed: Mapping[str, str],
    is_tested: bool = True,
    own: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Path, int | None]:
    """Test the connection of a catalog, then keep its properties and secrets.

    Args:
        name: Its name.
        properties: Its properties, without secrets.
        secrets: Where the value of each secret is: added_catalogs.KEYRING, or VARIABLE and a name.
        typed: The values of those that go to the keyring.
        is_tested: Whether the connection is tested.
        own: Credentials that the test uses, and that are not kept.

    Returns:
        The file that has it, and how many namespaces it has, None if it was not tested.

    Raises:
        WrongUsage: The name is taken, or something given cannot be kept.
        TableNotFound: The catalog cannot be reached.
        NotPossible: A secret or the file cannot be kept.
    """
    if name.lower() in catalogs.configured_names():
        raise WrongUsage(f"{name} is in .pyiceberg.yaml or the environment already: give another name")
    check_catalog(name, properties, secrets)
    missing = [key for key, place in secrets.items() if place == KEYRING and not typed.get(key)]
    if missing:
        raise WrongUsage(f"{missing[0]} has no value")
    namespaces = None
    file = properties.get("uri", "").removeprefix("sqlite:///")
    if is_tested and properties.get("uri", "").startswith("sqlite:") and not Path(file).is_file():
        raise WrongUsage(f"there is no database {file[:200]!r}: it would be made, and be empty")
    if is_tested:
        values = {
            key: typed[key] if place == KEYRING else read_secret(name, key, place) for key, place in secrets.items()
        }
        namespaces = len(catalogs.namespaces(name.lower(), {**properties, **values, **own}))
    for key, place in secrets.items():
        if place == KEYRING:
            keep_secret(name.lower(), key, typed[key])
    return add_catalog(name, properties, secrets), namespaces
