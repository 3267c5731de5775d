"""REST catalogs, asked by a client of our own, which takes what their servers say by lists. pyiceberg's merges a
server's `/v1/config` into its own properties, where some name classes to import, or where secrets are sent; it follows
redirects, and takes an answer of any length. Words of the protocol, its errors and ways to log in are pyiceberg's.

What a server answers is bounded: each answer, and all of one connection; its bytes, and what they become in memory.
Of a table's answer the metadata is left alone: it is in its file."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, TypeVar, cast
from urllib.parse import quote, unquote

import requests
from pyiceberg.catalog.rest import (
    DEFAULT_ENDPOINTS,
    DEFAULT_NAMESPACE_SEPARATOR,
    NAMESPACE_SEPARATOR_PROPERTY,
    PAGE_SIZE,
    SNAPSHOT_LOADING_MODE,
    VIEW_ENDPOINTS,
    VIEW_ENDPOINTS_SUPPORTED,
    Capability,
    ConfigResponse,
    Endpoint,
    Endpoints,
)
from pyiceberg.catalog.rest.response import _handle_non_200_response
from pyiceberg.catalog.rest.scan_planning import StorageCredential
from pyiceberg.exceptions import (
    AuthorizationExpiredError,
    NoSuchIdentifierError,
    NoSuchNamespaceError,
    NoSuchTableError,
    NoSuchViewError,
    UnauthorizedError,
)
from pyiceberg.typedef import Identifier
from pyiceberg.utils.properties import property_as_bool, property_as_int

from explorer.errors import UnreadableFile
from explorer.model.problem import Problems
from explorer.spec.secrets.redaction import metadata_without_secrets, redact
from explorer.storage import limits as budget
from explorer.storage.catalogs import answers
from explorer.storage.catalogs.answers import AnswerBudget, BadAnswer
from explorer.storage.catalogs.log_ins import Renewable, log_in
from explorer.storage.catalogs.rest_sessions import CatalogSession
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
PAGES = 10_000
"""Of one list."""
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


def _again(ask: F) -> F:
    """Once more with a new token, where the old one is over."""

    @functools.wraps(ask)
    def ask_again(catalog: ListedRest, *arguments: Any) -> Any:
        try:
            return ask(catalog, *arguments)
        except (AuthorizationExpiredError, UnauthorizedError):
            catalog.renew_token()
            return ask(catalog, *arguments)

    return cast(F, ask_again)


class ListedRest:
    """A REST catalog.

    Args:
        name: Its name.
        properties: Its properties, as pyiceberg has them.

    Raises:
        Exception: The server cannot be reached or refuses: of requests and pyiceberg.
    """

    def __init__(self, name: str, **properties: Any) -> None:
        self.name, self.uri = name, str(properties["uri"])
        self.properties: dict[str, Any] = properties
        """Those of its user, and what the server says of how it is to be asked."""
        self._budget = AnswerBudget()
        self.session = CatalogSession(properties, self._budget)
        """Has the token and the limits."""
        self._log_in = log_in(properties, self.session, self.url(Endpoints.get_token, prefixed=False))
        self.session.use(self._log_in)
        self._read_config()

    def _read_config(self) -> None:
        own = dict(self.properties)
        place = {"warehouse": own["warehouse"]} if own.get("warehouse") else {}
        response = self.session.get(self.url(Endpoints.get_config, prefixed=False), params=place)
        _check(response, {})
        config = ConfigResponse.model_validate_json(response.text)
        merged = {**(config.defaults or {}), **own, **(config.overrides or {})}
        self.given: dict[str, str] = {k: v for k, v in storage_settings(merged).items() if own.get(k) != v}
        """The storage properties that the server says, for all tables or the one that was loaded last: credentials for
        its location above all."""
        self.signs = _yes(merged.get(SIGNING))
        """Whether it wants to sign each request to the store itself."""
        self._signing = {key: merged[key] for key in merged if "signer." in key and own.get(key) is None}
        self.properties = {**own, **{k: merged[k] for k in PROTOCOL if k in merged}}
        views = VIEW_ENDPOINTS if property_as_bool(merged, VIEW_ENDPOINTS_SUPPORTED, False) else frozenset[Endpoint]()
        self._endpoints = frozenset(config.endpoints or DEFAULT_ENDPOINTS | views)
        separator = merged.get(NAMESPACE_SEPARATOR_PROPERTY, DEFAULT_NAMESPACE_SEPARATOR)
        if not separator:
            raise ValueError("Namespace separator cannot be an empty string")
        self._separator = unquote(str(separator))

    def renew_token(self) -> None:
        """Ask for a new token, where the log-in has one that can be."""
        if isinstance(self._log_in, Renewable):
            self._log_in.renew()

    def url(self, endpoint: str, prefixed: bool = True, **names: str) -> str:
        """Return the address of an endpoint.

        Args:
            endpoint: One of pyiceberg's Endpoints.
            prefixed: Whether the server's prefix is part of it.
            names: Names in the path, quoted.

        Returns:
            The address.
        """
        base = f"{self.uri.removesuffix('/')}/v1/"
        if prefixed:
            base += str(self.properties.get("prefix", ""))
        return f"{base.removesuffix('/')}/{endpoint.format(**names)}"

    def supports(self, endpoint: Endpoint) -> bool:
        """Return whether the server says that it has an endpoint."""
        return endpoint in self._endpoints

    def _check_endpoint(self, endpoint: Endpoint) -> None:
        if not self.supports(endpoint):
            raise NotImplementedError(f"Server does not support endpoint: {endpoint}")

    def path_names(self, identifier: Identifier, kind: str = "table") -> dict[str, str]:
        """Return the names of a table or view as parts of a path.

        Args:
            identifier: Its name, with its namespace.
            kind: What it is: table or view.

        Returns:
            The namespace and the name.

        Raises:
            NoSuchIdentifierError: It has no namespace.
        """
        if len(identifier) < 2:
            raise NoSuchIdentifierError(f"Missing namespace or invalid identifier: {'.'.join(identifier)}")
        return {"namespace": self._namespace_path(identifier[:-1]), kind: quote(identifier[-1], safe="")}

    def _namespace_path(self, namespace: Identifier) -> str:
        if not namespace:
            raise NoSuchNamespaceError("Empty namespace identifier: ()")
        return self._separator.join(quote(part, safe="") for part in namespace)

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
        settings = {**config, **_nearest(credentials, location)}
        self.given |= storage_settings(settings)
        self.signs = (self.signs or _yes(settings.get(SIGNING))) and "s3.access-key-id" not in self.given
        if self.signs and location.startswith(("s3:", "s3a:", "s3n:")) and "s3.access-key-id" not in self.properties:
            own_signing = answer.get("remote-signing-config")
            self.given |= signing_settings({**self._signing, **settings}, self.uri, own_signing)
        return location

    @_again
    def list_tables(self, namespace: Identifier) -> list[Identifier]:
        """Names of the tables of a namespace. Raises NoSuchNamespaceError, requests' errors."""
        self._check_endpoint(Capability.V1_LIST_TABLES)
        space = self._namespace_path(namespace)
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
    def list_views(self, namespace: Identifier) -> list[Identifier]:
        """Names of the views of a namespace. Raises NoSuchNamespaceError, requests' errors."""
        self._check_endpoint(Capability.V1_LIST_VIEWS)
        space = self._namespace_path(namespace)
        return self._identifiers(self.url(Endpoints.list_views, namespace=space), "views")

    @_again
    def view_answer(self, identifier: Identifier) -> tuple[str, Any]:
        """Where the server says that a view's metadata is, and the metadata. Raises NoSuchViewError, requests'
        errors."""
        self._check_endpoint(Capability.V1_LOAD_VIEW)
        names = self.path_names(identifier, "view")
        answer = self._ask(self.url(Endpoints.load_view, prefixed=True, **names), {}, NoSuchViewError)
        location = answer.get("metadata-location")
        return location if isinstance(location, str) else "", answer.get("metadata")

    @_again
    def list_namespaces(self, namespace: Identifier = ()) -> list[Identifier]:
        """Namespaces in a namespace, or of the catalog. Raises NoSuchNamespaceError, requests' errors."""
        self._check_endpoint(Capability.V1_LIST_NAMESPACES)
        parent = {"parent": self._namespace_path(namespace)} if namespace else {}
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
        names = self.path_names(identifier)
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
        self._budget.most = answers.ANSWER_BYTES
        try:
            response = self.session.request("GET" if body is None else "POST", url, params=params, json=body)
        finally:
            self._budget.most = answers.SMALL_BYTES
        _check(response, {404: missing})
        try:
            answer = load_json(response.content, url, Problems(url))
        except UnreadableFile as error:
            raise BadAnswer(f"its answer cannot be read: {error.cause}") from error
        if not isinstance(answer, dict):
            raise BadAnswer("its answer is no object of JSON")
        return answer

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


class LostMetadata(Exception):
    """A server has the table, and says that its metadata file, which it would answer with, is gone."""

    def __init__(self, location: str) -> None:
        self.location = location
        super().__init__(f"the server cannot load the table: it says that {location} does not exist")


def _check(response: requests.Response, errors: dict[int, type[Exception]]) -> None:
    """Raise pyiceberg's error for what is no success."""
    try:
        response.raise_for_status()
    except requests.HTTPError as error:
        _handle_non_200_response(error, errors)


def _nearest(credentials: list[StorageCredential], location: str) -> dict[str, Any]:
    """The settings of the credential with the longest prefix of a location, as Iceberg has it."""
    fitting = [one for one in credentials if location.startswith(one.prefix)]
    return dict(max(fitting, key=lambda one: len(one.prefix)).config) if fitting else {}


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
