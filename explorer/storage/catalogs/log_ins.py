"""How a REST catalog is logged in to. Tokens are asked for by sessions with our limits; other ways (basic, Google,
Entra, a class of the person's own) are pyiceberg's, by its public factory."""

from __future__ import annotations

import base64
import threading
import time
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import requests
from pyiceberg.catalog.rest.auth import AuthManager, AuthManagerFactory, OAuth2AuthManager, OAuth2TokenProvider
from pyiceberg.catalog.rest.response import TokenResponse, _handle_non_200_response
from pyiceberg.exceptions import OAuthError

from explorer.storage.catalogs.answers import AnswerBudget, BadAnswer, mount_bounded

FORM = "application/x-www-form-urlencoded"
CUSTOM = "custom"


class Renewable(AuthManager):
    """A log-in by a token that can be had anew."""

    @abstractmethod
    def renew(self) -> None:
        """Have another token. Raises requests' errors, OAuthError."""


class TokenOfCatalog(Renewable):
    """pyiceberg's `token` and `credential`: a token as it is, or one that the catalog's own server of tokens, or
    another, gives for a credential.

    Args:
        session: The catalog's session.
        address: Where tokens are.
        properties: The catalog's properties.
    """

    def __init__(self, session: requests.Session, address: str, properties: Mapping[str, Any]) -> None:
        self._session = session
        self._address = str(properties.get("oauth2-server-uri") or address)
        self._credential, self._token = properties.get("credential"), properties.get("token")
        self._more = {key: str(properties[key]) for key in ("audience", "resource") if properties.get(key)}
        self._more["scope"] = str(properties.get("scope") or "catalog")
        self.renew()

    def renew(self) -> None:
        """See Renewable. A token that was given stays."""
        if self._credential is None:
            return
        first, colon, second = str(self._credential).partition(":")
        client = {"client_id": first, "client_secret": second} if colon else {"client_secret": first}
        data = {"grant_type": "client_credentials", **client, **self._more}
        response = self._session.post(self._address, data=data, headers={"Content-type": FORM}, auth=_as_it_is)
        try:
            response.raise_for_status()
        except requests.HTTPError as error:
            _handle_non_200_response(error, {400: OAuthError, 401: OAuthError})
        self._token = TokenResponse.model_validate_json(response.text).access_token

    def auth_header(self) -> str | None:
        """See pyiceberg."""
        return None if self._token is None else f"Bearer {self._token}"


class TokenOfProvider(Renewable):
    """pyiceberg's `auth.type: oauth2`: a token of any server, asked for again before it is over.

    Args:
        provider: Says where, with what, and for how long.
    """

    def __init__(self, provider: OAuth2TokenProvider) -> None:
        self._provider, self._lock = provider, threading.Lock()
        self._budget = AnswerBudget()
        self._token, self._until = "", 0.0

    def renew(self) -> None:
        """See Renewable."""
        with self._lock:
            self._ask()

    def auth_header(self) -> str:
        """See pyiceberg."""
        with self._lock:
            if not self._token or time.monotonic() >= self._until:
                self._ask()
            return f"Bearer {self._token}"

    def _ask(self) -> None:
        asks = self._provider
        data = {"grant_type": "client_credentials"} | ({"scope": asks.scope} if asks.scope else {})
        with requests.Session() as session:
            mount_bounded(session, self._budget)
            response = session.post(asks.token_url, data=data, auth=self._as_client)
        response.raise_for_status()
        answer = response.json()
        seconds = answer.get("expires_in", asks.expires_in)
        if seconds is None:
            raise BadAnswer("the answer with its token does not say when that expires; say expires_in in your settings")
        self._token, self._until = answer["access_token"], time.monotonic() + seconds - asks.refresh_margin

    def _as_client(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        pair = f"{self._provider.client_id}:{self._provider.client_secret}".encode()
        request.headers["Authorization"] = f"Basic {base64.b64encode(pair).decode()}"
        return request


def log_in(properties: Mapping[str, Any], session: requests.Session, address: str) -> AuthManager:
    """Log in to a catalog as its properties say.

    Args:
        properties: The catalog's properties.
        session: Its session.
        address: Where tokens are, if the properties do not say.

    Returns:
        What says the header of each request.

    Raises:
        ValueError: The properties say no way that there is.
        Exception: A server of tokens refuses: of requests and pyiceberg.
    """
    ways = properties.get("auth")
    if not ways:
        return TokenOfCatalog(session, address, properties)
    kind, implementation = ways.get("type"), ways.get("impl")
    if kind is None:
        raise ValueError("auth.type must be defined")
    if kind == CUSTOM and not implementation:
        raise ValueError("auth.impl must be specified when using custom auth.type")
    if kind != CUSTOM and implementation:
        raise ValueError("auth.impl can only be specified when using custom auth.type")
    manager = AuthManagerFactory.create(implementation or kind, ways.get(kind, {}))
    if isinstance(manager, OAuth2AuthManager) and type(manager).auth_header is OAuth2AuthManager.auth_header:
        return TokenOfProvider(manager.token_provider)  # its own asks without any limit
    return manager


def _as_it_is(request: requests.PreparedRequest) -> requests.PreparedRequest:
    """No log-in: neither the session's, nor one of the person's .netrc."""
    return request
