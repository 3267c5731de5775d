"""Sessions with REST catalogs: their headers, certificates, limits, and signatures of AWS (SigV4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import requests
from pyiceberg import __version__
from pyiceberg.catalog.rest.auth import AuthManager, AuthManagerAdapter
from pyiceberg.utils.properties import (
    get_first_property_value,
    get_header_properties,
    property_as_bool,
    property_as_int,
)
from urllib3.util.retry import Retry

from explorer.storage.catalogs.answers import AnswerBudget, BoundedAdapter, mount_bounded

EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
"""SHA-256 of no body."""
RETRIES = 10
"""Of connections, as pyiceberg has it where requests are signed."""


class CatalogSession(requests.Session):
    """A session with a catalog, whose answers are bounded.

    Args:
        properties: The catalog's properties.
        budget: What its server may answer.
    """

    def __init__(self, properties: Mapping[str, Any], budget: AnswerBudget) -> None:
        super().__init__()
        mount_bounded(self, budget)
        own = {**properties}
        self.headers.update(get_header_properties(own))
        self.headers["Content-type"] = "application/json"
        self.headers["User-Agent"] = f"PyIceberg/{__version__}"  # servers know it; the protocol is pyiceberg's
        self.headers["X-Client-Version"] = f"PyIceberg {__version__}"
        self.headers.setdefault("X-Iceberg-Access-Delegation", "vended-credentials")
        certificates = own.get("ssl") or {}
        if (bundle := certificates.get("cabundle")) is not None:
            self.verify = bundle
        client = certificates.get("client") or {}
        if "cert" in client and "key" in client:
            self.cert = (client["cert"], client["key"])
        elif client.get("cert"):
            self.cert = client["cert"]
        if property_as_bool(own, "rest.sigv4-enabled", False):
            self.mount(str(own["uri"]), SigningAdapter(budget, own))

    def use(self, log_in: AuthManager) -> None:
        """Have each request say what a log-in says.

        Args:
            log_in: Says it.
        """
        self.auth = AuthManagerAdapter(log_in)


class SigningAdapter(BoundedAdapter):
    """Signs each request with a person's keys of AWS, as pyiceberg does.

    Args:
        budget: What the server may answer.
        properties: The catalog's properties.
    """

    def __init__(self, budget: AnswerBudget, properties: Mapping[str, Any]) -> None:
        import boto3

        own = {**properties}
        retries = property_as_int(own, "rest.sigv4.max-retries", RETRIES)
        super().__init__(budget, Retry(retries, read=False))  # of what was sent none: the deadline is of all
        names = ("profile-name", "region", "access-key-id", "secret-access-key", "session-token")
        profile, region, key, secret, token = (get_first_property_value(own, f"client.{name}") for name in names)
        self._keys = boto3.Session(
            profile_name=profile, region_name=region, botocore_session=own.get("botocore_session"),
            aws_access_key_id=key, aws_secret_access_key=secret, aws_session_token=token,
        )  # fmt: skip
        self._region = own.get("rest.signing-region", self._keys.region_name)
        self._service = own.get("rest.signing-name", "execute-api")

    def add_headers(self, request: requests.PreparedRequest, **options: Any) -> None:
        """See requests. A header that the signature has too goes along as `Original-…`."""
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest

        credentials = self._keys.get_credentials()
        if credentials is None:
            raise ValueError("no keys of AWS are found to sign requests with")
        request.headers.pop("connection", None)  # is another after signing
        if not request.body:
            request.headers["x-amz-content-sha256"] = EMPTY
        url = str(request.url)
        signed = AWSRequest(
            method=request.method, url=url.split("?")[0], params=dict(parse_qsl(str(urlsplit(url).query))),
            data=request.body, headers=dict(request.headers),
        )  # fmt: skip
        SigV4Auth(credentials.get_frozen_credentials(), self._service, self._region).add_auth(signed)
        others = {
            f"Original-{name}": value
            for name, value in request.headers.items()
            if name in signed.headers and signed.headers[name] != value
        }
        request.headers.update(others)
        request.headers.update(signed.headers)
