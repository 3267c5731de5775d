"""Credentials of a catalog and its storage: which properties they are, and how those that a person gives take the place
of those that are configured."""

from __future__ import annotations

from collections.abc import Mapping

from explorer.errors import WrongUsage

FAMILIES: tuple[tuple[str, ...], ...] = (
    ("token", "credential"),
    tuple(
        f"{prefix}.{name}"
        for prefix in ("s3", "client", "glue")
        for name in ("access-key-id", "secret-access-key", "session-token")
    ),
    ("adls.account-key", "adls.sas-token", "adls.tenant-id", "adls.client-id", "adls.client-secret"),
    ("gcs.oauth2.token", "gcs.oauth2.token-expires-at"),
)
"""The properties, as pyiceberg names them, by which one is let in: of a REST catalog, and of each kind of storage."""
CREDENTIALS = tuple(name for family in FAMILIES for name in family)
_OTHER_WAYS: tuple[tuple[str, ...], ...] = (
    ("auth.type", "rest.sigv4-enabled"),
    tuple(
        f"{prefix}.{name}" for prefix in ("s3", "client", "glue") for name in ("profile-name", "role-arn", "anonymous")
    ),
    ("adls.connection-string", "adls.credential"),
    (),
)
"""Other ways in, for each of FAMILIES: they are left out where credentials are given."""
_AWS = ("s3", "client", "glue")
_WAYS: Mapping[str, tuple[set[str], ...]] = {
    "adls.": ({"adls.account-key"}, {"adls.sas-token"}, {"adls.tenant-id", "adls.client-id", "adls.client-secret"}),
    "gcs.": ({"gcs.oauth2.token"},),
}
"""What lets one in, for other storage than AWS's."""
LONGEST = 20_000
"""Characters of one."""


def check_credentials(given: Mapping[str, str]) -> None:
    """Check that properties are credentials and nothing else: no address, and no name of a class.

    Args:
        given: The properties.

    Raises:
        WrongUsage: One is none of CREDENTIALS, or no text that fits.
    """
    for name, value in given.items():
        if name not in CREDENTIALS:
            raise WrongUsage(f"{name[:60]!r} is no credential: there are {', '.join(CREDENTIALS)}")
        if not isinstance(value, str) or not value or len(value) > LONGEST or not value.isprintable():
            raise WrongUsage(f"{name}: a credential is a line of at most {LONGEST:,} characters")


def check_whole(given: Mapping[str, str], configured: Mapping[str, str]) -> None:
    """Check that credentials let one in by themselves. What is configured for the same server is left out beside them:
    a part of a key would have that server asked by what this machine's environment has, as nobody configured.

    Args:
        given: What a person gives, as check_credentials takes it.
        configured: The properties of the catalog's configuration.

    Raises:
        WrongUsage: Something is missing.
    """
    whole = {prefix for prefix in _AWS if _pair(prefix) <= given.keys()}
    parts = {prefix for prefix in _AWS if any(name.startswith(f"{prefix}.") for name in given)}
    for prefix in sorted(parts - whole):
        raise WrongUsage(f"{' and '.join(sorted(_pair(prefix)))} are given together")
    signs = str(configured.get("rest.sigv4-enabled", "")).lower() == "true" and given.keys().isdisjoint(FAMILIES[0])
    is_glue = configured.get("type") == "glue"
    if parts and "client" not in parts and (signs or "s3" not in parts or (is_glue and "glue" not in parts)):
        raise WrongUsage(f"{' and '.join(sorted(_pair('client')))} are needed: AWS is asked for more than that")
    for begin, ways in _WAYS.items():
        if any(name.startswith(begin) for name in given) and not any(way <= given.keys() for way in ways):
            raise WrongUsage(f"{begin[:-1]} needs {' or '.join(' and '.join(sorted(way)) for way in ways)}")


def _pair(prefix: str) -> set[str]:
    return {f"{prefix}.access-key-id", f"{prefix}.secret-access-key"}


def replace_credentials(configured: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """Return a catalog's properties with others that a person gives.

    One credential takes the place of all that are configured for the same server: a key with another's secret, or
    another's session, opens nothing.

    Args:
        configured: The properties of its configuration.
        given: What the person gives; what is no credential is added, or takes the place of one property.

    Returns:
        All of them.
    """
    gone = {
        name
        for family, others in zip(FAMILIES, _OTHER_WAYS, strict=True)
        if any(given.get(name) not in (None, configured.get(name)) for name in family)
        for name in (*family, *others)
    }
    return {**{name: value for name, value in configured.items() if name not in gone}, **given}
