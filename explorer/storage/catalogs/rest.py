"""REST catalogs, as pyiceberg reads them, but what their servers say is taken by lists. pyiceberg merges a server's
`/v1/config` into its own properties, where some name classes to import, or where secrets are sent."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Any

import requests
from pyiceberg.catalog.rest import Endpoints, RestCatalog
from pyiceberg.exceptions import NoSuchTableError
from pyiceberg.io import FileIO
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.table import Table

from explorer.spec.secrets.redaction import metadata_without_secrets, redact

STORAGE = frozenset({
    *(f"{kind}.{key}" for kind in ("s3", "client")
      for key in ("access-key-id", "secret-access-key", "session-token", "region")),
    "s3.endpoint", "s3.anonymous", "s3.force-virtual-addressing",
    "gcs.oauth2.token", "gcs.oauth2.token-expires-at", "gcs.project-id",
    "adls.account-name", "adls.account-key", "adls.sas-token", "adls.connection-string", "adls.token",
})  # fmt: skip
"""What a server may say of storage. None of it names a class, a proxy or a signer."""
_PER_ACCOUNT = "adls.sas-token."
PROTOCOL = frozenset({"prefix", "namespace-separator", "warehouse"})
"""What it may say of how it is to be asked."""
TIMEOUT_S = (10.0, 60.0)
"""To connect, and without an answer."""
ANSWER_BYTES, ANSWER_S = 128 << 20, 120
"""How large an answer may be (it has a table's metadata file in it), and how long it may take."""
METADATA = ("table-uuid", "format-version", "current-snapshot-id", "last-sequence-number", "last-updated-ms")
"""What is told of the metadata that it sends along."""
SIGNING = "s3.remote-signing-enabled"


class ListedRest(RestCatalog):
    """A REST catalog whose `given` are the storage properties that its server says, for all tables or the one that was
    loaded last: credentials for its location above all. `signs` says that it wants to sign each request itself."""

    given: dict[str, str]
    signs: bool

    def _config_headers(self, session: requests.Session) -> None:
        """The first that is done with a new session, before a token is asked for."""
        super()._config_headers(session)
        _set_limits(session)

    def _fetch_config(self) -> None:
        own, uri = dict(self.properties), self.uri
        super()._fetch_config()
        said = self.properties
        self.given = {k: v for k, v in _storage(said).items() if own.get(k) != v}
        self.signs = _yes(said.get(SIGNING))
        self.properties = {**own, **{k: said[k] for k in PROTOCOL if k in said}}
        self.uri = uri

    def _response_to_table(self, identifier_tuple: tuple[str, ...], table_response: Any) -> Table:
        nearest = self._resolve_storage_credentials(
            table_response.storage_credentials, table_response.metadata_location
        )
        said = {**table_response.config, **nearest}
        self.given |= _storage(said)
        self.signs = (self.signs or _yes(said.get(SIGNING))) and "s3.access-key-id" not in self.given
        return super()._response_to_table(identifier_tuple, table_response)

    def answered(self, identifier: str) -> dict[str, str | None]:
        """What the server answers of a table, without the values of its configuration, which may be secrets. Raises
        NoSuchTableError, requests' errors."""
        names = self._split_identifier_for_path(identifier)
        response = self._session.get(self.url(Endpoints.load_table, prefixed=True, **names))
        if response.status_code == 404:
            raise NoSuchTableError(identifier)
        response.raise_for_status()
        said = response.json()
        metadata, config = said.get("metadata") or {}, said.get("config") or {}
        told = {"metadata-location": said.get("metadata-location")}
        told |= {f"metadata.{key}": metadata[key] for key in METADATA if key in metadata}
        told |= {f"config.{key}": "(not shown)" for key in config}
        told |= {f"storage-credentials.{c.get('prefix')}": "(not shown)" for c in said.get("storage-credentials") or []}
        clean = metadata_without_secrets(told)
        return {redact(key): None if value is None else str(value) for key, value in clean.items()}

    def _load_file_io(self, properties: Any = None, location: str | None = None) -> FileIO:
        return PyArrowFileIO({})  # nothing is read through it


def _set_limits(session: requests.Session) -> None:
    """Have a session follow no redirect, and read no more of an answer than it may have."""
    send = session.send

    def send_within_limits(request: requests.PreparedRequest, **options: Any) -> requests.Response:
        limits = {"timeout": TIMEOUT_S, "allow_redirects": False, "stream": True}
        response = send(request, **options | limits)
        if response.is_redirect:
            raise requests.ConnectionError("it sends us to another address, which would get your credentials")
        response.raw = Bounded(response.raw)
        return response

    session.send = send_within_limits  # type: ignore[method-assign]


class Bounded:
    """The body of an answer, which ends with an error after ANSWER_BYTES or ANSWER_S."""

    def __init__(self, raw: Any) -> None:
        self._raw, self._until = raw, time.monotonic() + ANSWER_S

    def stream(self, size: int = 1 << 16, decode_content: bool | None = None) -> Iterator[bytes]:
        """The body, as it comes: `stream` of urllib3 waits until a part is full."""
        read = 0
        while part := self._raw.read1(size, decode_content=decode_content):
            read += len(part)
            if read > ANSWER_BYTES:
                raise requests.ConnectionError(f"its answer has more than {ANSWER_BYTES >> 20} MiB")
            if time.monotonic() > self._until:
                raise requests.ConnectionError(f"its answer takes more than {ANSWER_S} s")
            yield part

    def __getattr__(self, name: str) -> Any:
        return getattr(self._raw, name)


def _storage(said: dict[str, Any]) -> dict[str, str]:
    """By the list. A region becomes part of a host's name, so it is only accepted as one."""
    listed = {k: str(v) for k, v in said.items() if v is not None and (k in STORAGE or k.startswith(_PER_ACCOUNT))}
    return {k: v for k, v in listed.items() if not k.endswith(".region") or re.fullmatch("[a-z0-9-]{1,40}", v)}


def _yes(value: Any) -> bool:
    return str(value).lower() == "true"
