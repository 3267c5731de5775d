"""REST catalogs, as pyiceberg reads them, but what their servers say is taken by lists. pyiceberg merges a server's
`/v1/config` into its own properties, where some name classes to import, or where secrets are sent.

What a server answers is bounded: each answer, and all of one connection; its bytes, and what they become in memory.
Lists and tables are read here: pyiceberg makes an object of each mistake in an answer, and a table's metadata, which it
would parse, is in its file."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import Any, TypeVar, cast

import requests
from pyiceberg.catalog import rest as protocol
from pyiceberg.catalog.rest import (
    PAGE_SIZE,
    SNAPSHOT_LOADING_MODE,
    Capability,
    Endpoints,
    IdentifierKind,
    RestCatalog,
    _handle_non_200_response,
)
from pyiceberg.catalog.rest.scan_planning import StorageCredential
from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError, NoSuchViewError
from pyiceberg.io import FileIO
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.typedef import Identifier
from pyiceberg.utils.properties import property_as_int

from explorer.errors import UnreadableFile
from explorer.model.problem import Problems
from explorer.progress import check_cancellation
from explorer.spec.secrets.redaction import metadata_without_secrets, redact
from explorer.spec.text.units import human_bytes
from explorer.storage import limits as budget
from explorer.storage.catalogs.deadlines import set_deadlines
from explorer.storage.catalogs.signing import signing_settings
from explorer.storage.formats.json_text import load_json

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
SMALL_BYTES = 512 << 10
"""The same of what pyiceberg reads itself: a configuration, a token, an error."""
ALL_BYTES, REQUESTS, PAGES = 256 << 20, 100_000, 10_000
"""How much all answers of one connection may have, and how many there may be; and pages of one list."""
CREDENTIALS = 1_000
"""Of those that a server vends for parts of a table."""
METADATA = ("table-uuid", "format-version", "current-snapshot-id", "last-sequence-number", "last-updated-ms")
"""What is told of the metadata that it sends along."""
LOST = 3_000
"""Characters of an error in which a metadata file may be named that is gone."""
_LOST = re.compile(r"NotFoundException: (?:Location does not exist|Failed to open input stream for file): (\S+\.json)")
"""The error of a server of Iceberg's that has a table and not its metadata file: by S3FileIO, GCSFileIO and others, by
HadoopFileIO. The file is opened by the same rules as one that the server answers."""
SIGNING = "s3.remote-signing-enabled"


F = TypeVar("F", bound=Callable[..., Any])
_again: Callable[[F], F] = cast(Any, protocol).retry(**protocol._RETRY_ARGS)
"""Once more with a new token, where the old one is over."""


class ListedRest(RestCatalog):
    """A REST catalog whose `given` are the storage properties that its server says, for all tables or the one that was
    loaded last: credentials for its location above all. `signs` says that it wants to sign each request itself."""

    given: dict[str, str]
    signs: bool
    _signing: dict[str, str]
    _most = SMALL_BYTES
    _bytes = _requests = 0

    def _config_headers(self, session: requests.Session) -> None:
        """The first that is done with a new session, before a token is asked for."""
        super()._config_headers(session)
        self._set_limits(session)

    def _create_session(self) -> requests.Session:
        session = super()._create_session()
        provider = getattr(getattr(self, "_auth_manager", None), "token_provider", None)
        if provider is not None:  # it would ask without any limit, and follow redirects with the secret
            provider._refresh_token = partial(self._refresh, provider)
        return session

    def _refresh(self, provider: Any) -> None:
        """Ask for a token, as pyiceberg's provider of `auth.type: oauth2` does."""
        session = requests.Session()
        self._set_limits(session)
        data = {"grant_type": "client_credentials"} | ({"scope": provider.scope} if provider.scope else {})
        headers = {"Authorization": provider._client_secret_header}
        response = session.post(provider.token_url, data=data, headers=headers)
        response.raise_for_status()
        answer = response.json()
        seconds = answer.get("expires_in", provider.expires_in)
        if seconds is None:
            raise BadAnswer("the answer with its token does not say when that expires; say expires_in in your settings")
        provider._token = answer["access_token"]
        provider._expires_at = time.monotonic() + seconds - provider.refresh_margin

    def _fetch_config(self) -> None:
        own, uri = dict(self.properties), self.uri
        super()._fetch_config()
        merged = self.properties
        self.given = {k: v for k, v in storage_settings(merged).items() if own.get(k) != v}
        self.signs = _yes(merged.get(SIGNING))
        self._signing = {key: merged[key] for key in merged if "signer." in key and own.get(key) is None}
        self.properties = {**own, **{k: merged[k] for k in PROTOCOL if k in merged}}
        self.uri = uri

    @_again
    def metadata_location(self, identifier: Identifier) -> str:
        """Where the server says that a table's metadata is; its credentials are `given` then. Raises NoSuchTableError,
        requests' errors."""
        try:
            answer = self._ask_table(identifier)
        except LostMetadata as lost:
            return lost.location
        location, config = answer.get("metadata-location"), answer.get("config") or {}
        vended = answer.get("storage-credentials") or []
        if not isinstance(location, str) or not isinstance(config, dict) or not isinstance(vended, list):
            raise BadAnswer("its answer says not where the table's metadata is, as the protocol has it")
        credentials = [StorageCredential.model_validate(one) for one in vended[:CREDENTIALS]]
        settings = {**config, **self._resolve_storage_credentials(credentials, location)}
        self.given |= storage_settings(settings)
        self.signs = (self.signs or _yes(settings.get(SIGNING))) and "s3.access-key-id" not in self.given
        if self.signs and location.startswith(("s3:", "s3a:", "s3n:")) and "s3.access-key-id" not in self.properties:
            own_signing = answer.get("remote-signing-config")
            self.given |= signing_settings({**self._signing, **settings}, self.uri, own_signing)
        return location

    @_again
    def list_tables(self, namespace: str | Identifier) -> list[Identifier]:
        """See pyiceberg."""
        self._check_endpoint(Capability.V1_LIST_TABLES)
        space = self._encode_namespace_path(self._check_valid_namespace_identifier(namespace))
        return self._identifiers(self.url(Endpoints.list_tables, namespace=space), "tables")

    def _identifiers(self, url: str, kind: str) -> list[Identifier]:
        """The names of a list of tables or views."""
        listed: list[Identifier] = []
        for item in self._pages(url, {}, "identifiers"):
            if not isinstance(item, dict) or not _names(item.get("namespace")) or type(item.get("name")) is not str:
                raise BadAnswer(f"its list of {kind} has what is no {kind[:-1]}'s name")
            listed.append((*item["namespace"], item["name"]))
        return listed

    @_again
    def list_views(self, namespace: str | Identifier) -> list[Identifier]:
        """See pyiceberg."""
        self._check_endpoint(Capability.V1_LIST_VIEWS)
        space = self._encode_namespace_path(self._check_valid_namespace_identifier(namespace))
        return self._identifiers(self.url(Endpoints.list_views, namespace=space), "views")

    @_again
    def view_answer(self, identifier: Identifier) -> tuple[str, Any]:
        """Where the server says that a view's metadata is, and the metadata. Raises NoSuchViewError, requests'
        errors."""
        self._check_endpoint(Capability.V1_LOAD_VIEW)
        names = self._split_identifier_for_path(identifier, IdentifierKind.VIEW)
        answer = self._ask(self.url(Endpoints.load_view, prefixed=True, **names), {}, NoSuchViewError)
        location = answer.get("metadata-location")
        return location if isinstance(location, str) else "", answer.get("metadata")

    @_again
    def list_namespaces(self, namespace: str | Identifier = ()) -> list[Identifier]:
        """See pyiceberg."""
        self._check_endpoint(Capability.V1_LIST_NAMESPACES)
        space = self.identifier_to_tuple(namespace)
        parent = {"parent": self._encode_namespace_path(space)} if space else {}
        listed = []
        for item in self._pages(self.url(Endpoints.list_namespaces), parent, "namespaces"):
            if not _names(item):
                raise BadAnswer("its list of namespaces has what is no name")
            listed.append(tuple(item))
        return listed

    def _pages(self, url: str, params: dict[str, str], key: str) -> Iterator[Any]:
        """The items of a list that comes in pages."""
        size, listed = property_as_int(self.properties, PAGE_SIZE, None), 0
        if size is not None and size <= 0:
            raise ValueError(f"{PAGE_SIZE} must be a positive integer")
        page_params = {**params, **({} if size is None else {"pageSize": str(size)})}
        for _ in range(PAGES):
            answer = self._ask(url, page_params, NoSuchNamespaceError)
            items, token = answer.get(key), answer.get("next-page-token")
            if not isinstance(items, list) or not (token is None or isinstance(token, str)):
                raise BadAnswer(f"its answer has no list of {key}")
            listed += len(items)
            if listed > budget.NAMES:
                raise BadAnswer(f"it lists more than {budget.NAMES:,} {key}")
            yield from items
            if not token:
                return
            page_params["pageToken"] = token
        raise BadAnswer(f"its list of {key} has more than {PAGES:,} pages")

    def _ask_table(self, identifier: Identifier) -> dict[str, Any]:
        self._check_endpoint(Capability.V1_LOAD_TABLE)
        mode = self.properties.get(SNAPSHOT_LOADING_MODE)
        params = {"snapshots": mode} if mode in ("all", "refs") else {}
        names = self._split_identifier_for_path(identifier)
        try:
            return self._ask(self.url(Endpoints.load_table, prefixed=True, **names), params, NoSuchTableError)
        except NoSuchTableError as error:
            if (lost := _LOST.fullmatch(str(error)[:LOST])) is None:
                raise
            raise LostMetadata(lost[1]) from error

    @_again
    def post(self, url: str, body: dict[str, Any], missing: type[Exception]) -> dict[str, Any]:
        """What the server answers to a question that has a body, bounded as all answers. Raises `missing` for what is
        not there, requests' errors."""
        return self._ask(url, {}, missing, body)

    def _ask(
        self, url: str, params: dict[str, str], missing: type[Exception], body: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """What the server answers: an object of JSON, bounded as a metadata file is."""
        self._most = ANSWER_BYTES
        try:
            get = self._session.get if body is None else partial(self._session.post, json=body)
            response = get(url, params=params)
        finally:
            self._most = SMALL_BYTES
        try:
            response.raise_for_status()
        except requests.HTTPError as error:
            _handle_non_200_response(error, {404: missing})
        try:
            answer = load_json(response.content, url, Problems(url))
        except UnreadableFile as error:
            raise BadAnswer(f"its answer cannot be read: {error.cause}") from error
        if not isinstance(answer, dict):
            raise BadAnswer("its answer is no object of JSON")
        return answer

    def _set_limits(self, session: requests.Session) -> None:
        """Have a session follow no redirect, and read no more of an answer, nor of all, than it may have."""
        send = session.send

        def send_within_limits(request: requests.PreparedRequest, **options: Any) -> requests.Response:
            check_cancellation()
            self._requests += 1
            if self._requests > REQUESTS:
                raise BadAnswer(f"it was asked {REQUESTS:,} times already")
            set_deadlines(session, str(request.url))
            limits = {"timeout": TIMEOUT_S, "allow_redirects": False, "stream": True}
            response = send(request, **options | limits)
            with response.raw.ends():
                if response.is_redirect:
                    raise requests.ConnectionError("it sends us to another address, which would get your credentials")
                most = self._most if response.ok else SMALL_BYTES
                response.raw = Bounded(response.raw, min(most, ANSWER_BYTES, ALL_BYTES - self._bytes))
                self._bytes += len(response.content)  # is read now, and kept
            return response

        session.send = send_within_limits  # type: ignore[method-assign]

    def table_answer(self, identifier: Identifier) -> dict[str, str | None]:
        """What the server answers of a table, without the values of its configuration, which may be secrets. Raises
        NoSuchTableError, requests' errors."""
        try:
            answer = self._ask_table(identifier)
        except LostMetadata as lost:
            return {"metadata-location": redact(lost.location), "error": redact(str(lost))}
        metadata, config = answer.get("metadata") or {}, answer.get("config") or {}
        shown = {"metadata-location": answer.get("metadata-location")}
        shown |= {f"metadata.{key}": metadata[key] for key in METADATA if key in metadata}
        shown |= {f"config.{key}": "(not shown)" for key in config}
        shown |= {
            f"storage-credentials.{c.get('prefix')}": "(not shown)" for c in answer.get("storage-credentials") or []
        }
        clean = metadata_without_secrets(shown)
        return {redact(key): None if value is None else str(value) for key, value in clean.items()}

    def _load_file_io(self, properties: Any = None, location: str | None = None) -> FileIO:
        return PyArrowFileIO({})  # nothing is read through it


class LostMetadata(Exception):
    """A server has the table, and says that its metadata file, which it would answer with, is gone."""

    def __init__(self, location: str) -> None:
        self.location = location
        super().__init__(f"the server cannot load the table: it says that {location} does not exist")


class BadAnswer(requests.ConnectionError):
    """A server answers what no server should."""


class Bounded:
    """The body of an answer, which ends with an error after ANSWER_BYTES, or fewer, or ANSWER_S."""

    def __init__(self, raw: Any, most: int | None = None) -> None:
        self._raw, self._until = raw, time.monotonic() + ANSWER_S
        self._most = ANSWER_BYTES if most is None else most

    def stream(self, size: int = 1 << 16, decode_content: bool | None = None) -> Iterator[bytes]:
        """The body, as it comes: `stream` of urllib3 waits until a part is full."""
        read = 0
        while part := self._raw.read1(size, decode_content=decode_content):
            read += len(part)
            if read > self._most:
                most = f"{self._most >> 20} MiB" if self._most >> 20 else human_bytes(self._most)
                raise requests.ConnectionError(f"its answer has more than {most}")
            check_cancellation()
            if time.monotonic() > self._until:
                raise requests.ConnectionError(f"its answer takes more than {ANSWER_S} s")
            yield part

    def __getattr__(self, name: str) -> Any:
        return getattr(self._raw, name)


def storage_settings(config: Mapping[str, Any], more: Collection[str] = ()) -> dict[str, str]:
    """Return what of a server's settings is of storage: none that names a class, a proxy or a signer.

    Args:
        config: What the server says.
        more: Names that are accepted beside those of STORAGE.

    Returns:
        The settings, as text. A region becomes part of a host's name, so it is only accepted as one.
    """
    names = {*STORAGE, *more}
    listed = {k: str(v) for k, v in config.items() if v is not None and (k in names or k.startswith(_PER_ACCOUNT))}
    return {k: v for k, v in listed.items() if not k.endswith(".region") or re.fullmatch("[a-z0-9-]{1,40}", v)}


def _names(value: Any) -> bool:
    """Whether something is the names that lead to a namespace."""
    return isinstance(value, list) and all(type(name) is str for name in value)


def _yes(value: Any) -> bool:
    return str(value).lower() == "true"
