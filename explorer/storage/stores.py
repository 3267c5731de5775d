"""Object stores read by obstore: one GET for a file or a part of it, tried again when the store is busy, with limits on
how long anything may take. ADR 12 says why, and what is left to pyiceberg's FileIO."""

from __future__ import annotations

import functools
import importlib.util
import os
import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit
from urllib.request import getproxies

from explorer.extras import missing_package
from explorer.spec.secrets.redaction import redact, secret_values
from explorer.storage import azure

if TYPE_CHECKING:
    from obstore.store import ClientConfig, ObjectStore, RetryConfig
    from pyarrow.fs import FileInfo

CONNECT_S, READ_S, WHOLE_S, RETRY_S, RETRIES = 5.0, 20.0, 300.0, 60.0, 5
"""How long a connection, a silence, and one file may take; how long, and how often, it is tried again."""

NO_PROXY = "http://127.0.0.1:0"
"""The address of a proxy that no machine has."""

IN_FLIGHT, EACH = 64, 48
"""Requests under way at once, of all sessions together, and of one question."""

KEYS = {
    "endpoint": ("s3.endpoint",),
    "access_key_id": ("s3.access-key-id", "client.access-key-id"),
    "secret_access_key": ("s3.secret-access-key", "client.secret-access-key"),
    "session_token": ("s3.session-token", "client.session-token"),
    "region": ("s3.region", "client.region"),
}
"""obstore's names for S3, and pyiceberg's, the first of which wins."""
S3 = ("s3", "s3a", "s3n")
"""Schemes of S3."""
SIGNING_URL, SIGNING_PROPERTIES = "remote-signing.url", "remote-signing.properties"
"""Among what a catalog gave: where it signs requests to S3 (see storage.signed_requests), and what is sent along, as
JSON."""
EMPTY_SEGMENT = "a key has an empty segment (two slashes in a row), which the client of the store refuses"
_TOKENS = ("AWS_SESSION_TOKEN", "AWS_TOKEN")
LEFT = (
    "py-io-impl", "s3.profile-name", "client.profile-name", "s3.role-arn", "client.role-arn", "s3.proxy-uri",
    "s3.retry-strategy-impl", "s3.signer", "s3.resolve-region", "adls.account-host", "adls.blob-storage-authority",
    "adls.credential",
)  # fmt: skip
"""With one of these, pyiceberg's FileIO reads: it knows how."""


@functools.cache
def requests() -> ThreadPoolExecutor:
    """The threads that wait for stores. Each question has at most EACH requests for metadata here, and as many for
    data, so nobody waits long for a turn; and where those take all threads, each question's own thread asks for what
    it needs."""
    return ThreadPoolExecutor(IN_FLIGHT, "store")


ACCOUNT = re.compile(r"(s3|client)\.(access-key-id|secret-access-key|session-token|role-arn|profile-name|anonymous)")
"""What says who asks."""
AZURE_PLACES = (
    "adls.account-name", "adls.connection-string", "adls.account-host", "adls.blob-storage-authority",
)  # fmt: skip
"""What says which host of Azure is asked."""


def combine(own: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """The user's properties with those that a catalog's server gave. An endpoint or account of the server's own gets no
    keys of the user's, nor of the environment."""
    if any(given.get(name) not in (None, own.get(name)) for name in AZURE_PLACES):
        own = {k: v for k, v in own.items() if not k.startswith("adls.")}
    if given.get("gcs.service.host") not in (None, own.get("gcs.service.host")):
        own = {k: v for k, v in own.items() if not k.startswith("gcs.")}
    if given.get("s3.endpoint") in (None, own.get("s3.endpoint")):
        return {**own, **given}
    others = {k: v for k, v in own.items() if not ACCOUNT.fullmatch(k)}
    keys = "s3.access-key-id" in given and "s3.secret-access-key" in given
    return {**others, **given, **({} if keys else {"s3.anonymous": "true"})}


def split_uri(uri: str) -> tuple[str, str, str]:
    """(scheme, bucket, key) of a store's URI, nothing in it decoded."""
    scheme, _, rest = uri.partition("://")
    bucket, _, key = rest.partition("/")
    return scheme.lower(), bucket, key


def plain_key(key: str) -> bool:
    """Whether obstore can name it: it has no empty segments, `.` or `..`."""
    return bool(key) and all(part not in ("", ".", "..") for part in key.split("/"))


def split_at_empty(uri: str) -> tuple[str, str]:
    """Split a store's URI so that obstore can ask for it: it refuses keys with an empty segment (`a//b`), and puts what
    it has as a bucket before each key as it is.

    Args:
        uri: The URI.

    Returns:
        What stands for the bucket, and the key below it. Of S3 the first has all up to the last empty segment, encoded
        as S3 signs it.
    """
    scheme, bucket, key = split_uri(uri)
    before, slashes, rest = f"/{key}".rpartition("//")
    if scheme not in S3 or not slashes or {".", ".."} & set(before.split("/")):  # these would lead out of the bucket
        return bucket, key
    return f"{bucket}{quote(before, safe='/-_.~')}/", rest


def store_of(uri: str, properties: Mapping[str, str], place: str = "") -> ObjectStore | None:
    """The bucket or container of a URI of S3, GCS or Azure, or a place in it (see split_at_empty); None where
    pyiceberg's FileIO is to read: other stores, settings of LEFT, and wherever obstore is not installed (the extra
    `s3`, `gcs` or `azure`)."""
    scheme, bucket, _ = split_uri(uri)
    if not bucket or _is_left(properties) or not importlib.util.find_spec("obstore"):
        return None
    if scheme in ("gs", "gcs"):
        return _gcs(bucket, properties)
    if scheme in azure.SCHEMES:
        return azure.container(bucket, properties, _patience(properties), _RETRY, only_to)
    return _s3(place or bucket, properties) if scheme in S3 else None


def _is_left(properties: Mapping[str, str]) -> bool:
    return any(properties.get(name) for name in LEFT)


def _patience(properties: Mapping[str, str]) -> ClientConfig:
    return {
        "connect_timeout": _seconds(properties, "s3.connect-timeout", CONNECT_S),
        "read_timeout": _seconds(properties, "s3.request-timeout", READ_S),
        "timeout": timedelta(seconds=WHOLE_S),
    }


def only_to(endpoint: str) -> ClientConfig:
    """Options with which a client asks no other host than that of an endpoint: obstore follows redirects, also with the
    token of a session. Whatever is asked of another host goes to a proxy that is not there. Where this machine has a
    proxy, that one decides.

    Args:
        endpoint: The endpoint; empty for that of the cloud.
    """
    host = urlsplit(endpoint).hostname if endpoint else None
    return {"proxy_url": NO_PROXY, "proxy_excludes": host} if host and not getproxies().keys() - {"no"} else {}


_RETRY: RetryConfig = {"max_retries": RETRIES, "retry_timeout": timedelta(seconds=RETRY_S)}


def _gcs(bucket: str, properties: Mapping[str, str]) -> ObjectStore:
    """With a token of the properties, else with what the environment offers; pyarrow would try for a quarter of an
    hour where there is nothing."""
    from obstore.store import GCSStore

    host, token = properties.get("gcs.service.host", ""), properties.get("gcs.oauth2.token")
    until = str(properties.get("gcs.oauth2.token-expires-at", ""))
    expires = datetime.fromtimestamp(int(until) / 1000, timezone.utc) if until.isdigit() else None
    given: dict[str, Any] = {"credential_provider": lambda: {"token": token, "expires_at": expires}} if token else {}
    return GCSStore(
        bucket,
        config={"base_url": host} if host else None,
        client_options={
            **_patience(properties),
            **(only_to(host) if token else {}),  # without one, others are asked for it
            "allow_http": host.startswith("http://"),
        },
        retry_config=_RETRY,
        **given,
    )


def _s3(bucket: str, properties: Mapping[str, str]) -> ObjectStore | None:
    """With the properties' or the environment's keys; None for profiles, roles, instances' own credentials, and where
    the region must be asked for."""
    if str(properties.get("s3.force-virtual-addressing", "")).lower() == "true":
        return None
    config: dict[str, Any] = {
        ours: value for ours, names in KEYS.items() if (value := _first(properties, names)) is not None
    }
    if str(properties.get("s3.anonymous", "")).lower() == "true":
        config["skip_signature"] = True
    elif "access_key_id" not in config and not os.environ.get("AWS_ACCESS_KEY_ID"):
        return None
    endpoint = config.get("endpoint") or os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL", "")
    if "region" not in config and not (os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")):
        if not endpoint:
            return None
        config["region"] = "us-east-1"
    if "/" in bucket:
        config["virtual_hosted_style_request"] = False  # else the environment could make a host of it
    from obstore.store import S3Store

    alone: dict[str, Any] = {}
    if "access_key_id" in config and "session_token" not in config and any(os.environ.get(name) for name in _TOKENS):
        keys = {name: config.pop(name, "") for name in ("access_key_id", "secret_access_key")}
        alone = {
            "credential_provider": lambda: {**keys, "expires_at": None}
        }  # the environment's token is of other keys
    return S3Store(
        bucket,
        config=config,  # type: ignore[arg-type]
        client_options={**_patience(properties), **only_to(endpoint), "allow_http": endpoint.startswith("http://")},
        retry_config=_RETRY,
        **alone,
    )


def infos(uri: str, properties: Mapping[str, str], recursive: bool = False) -> Iterator[tuple[FileInfo, str]]:
    """What pyarrow says is in a folder, and what stands after the folder in its path. Raises OSError where a catalog
    signs each request: it is asked to sign reads of files, and no lists."""
    if SIGNING_URL in properties:
        raise OSError("the catalog signs requests to read files (remote signing), and folders are not listed so")
    from pyarrow.fs import FileSelector
    from pyiceberg.io.pyarrow import PyArrowFileIO

    scheme, netloc, place = PyArrowFileIO.parse_location(uri, dict(properties))
    files = PyArrowFileIO(dict(properties)).fs_by_scheme(scheme, netloc)
    for info in files.get_file_info(FileSelector(place, recursive=recursive)):
        yield info, info.path[len(place.rstrip("/")) :]


def _first(properties: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    return next((str(properties[name]) for name in names if properties.get(name)), None)


def _seconds(properties: Mapping[str, str], name: str, usual: float) -> timedelta:
    try:
        return timedelta(seconds=float(properties.get(name) or usual))
    except ValueError:
        return timedelta(seconds=usual)


_has_empty_segment = re.compile(r"[Ee]mpty path (?:segment|component)").search


def _kind(error: Exception) -> str:
    return str(getattr(error, "kind", type(error).__name__))


def is_refusal(error: Exception) -> bool:
    """Whether a store did not take the credentials, or no longer."""
    return _kind(error) in ("PermissionDeniedError", "UnauthenticatedError") or isinstance(error, PermissionError)


def explain(error: Exception, uri: str, properties: Mapping[str, str]) -> str:
    """What a store's client says, in a line without its inner workings, and what can be set where it took too long."""
    if isinstance(error, ModuleNotFoundError) and (missing := missing_package(error, _is_left(properties))):
        return str(missing)
    if _has_empty_segment(str(error)):
        is_of_file = "//" in f"/{split_uri(uri)[2]}"
        return f"{EMPTY_SEGMENT}{': the tool of the store tells whether the file is there' if is_of_file else ''}"
    text = re.split(r"\n|Debug source", str(error))[0].strip()
    kind = _kind(error)
    complaint = redact(f"{kind}: {text}", secret_values(properties))[:500]
    if re.search(r"\btimed? ?out|deadline", str(error), re.IGNORECASE):  # and not obstore's `retry_timeout: 60s`
        host = urlsplit(properties.get("s3.endpoint", "")).netloc or split_uri(uri)[1]
        complaint += (
            f" ({host} was too slow: s3.connect-timeout and s3.request-timeout, in seconds, say how long to wait)"
        )
    if "token request" in text:
        google = split_uri(uri)[0] in ("gs", "gcs")
        wanted = (
            "gcs.oauth2.token or $GOOGLE_APPLICATION_CREDENTIALS" if google else "adls.account-key, adls.sas-token …"
        )
        complaint += f" (no credentials were given: {wanted})"
    return complaint
