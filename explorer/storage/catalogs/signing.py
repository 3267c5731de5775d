"""Where a REST catalog signs requests to S3 (see storage.signed_requests)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urljoin, urlsplit

from explorer.errors import NotSupported
from explorer.storage.stores import SIGNING_PROPERTIES, SIGNING_URL

ENDPOINT = "v1/aws/s3/sign"
"""Where servers sign that do not say where."""


def signing_settings(config: Mapping[str, Any], catalog_uri: str, more: Any = None) -> dict[str, str]:
    """Return where and how a server signs requests.

    Args:
        config: What it says of a table.
        catalog_uri: The catalog's address.
        more: What it says of signing alone: `remote-signing-config`.

    Returns:
        SIGNING_URL and SIGNING_PROPERTIES.

    Raises:
        NotSupported: It has them signed at another address, which would get the person's credentials.
    """
    base = str(config.get("signer.uri") or config.get("s3.signer.uri") or catalog_uri).rstrip("/") + "/"
    endpoint = str(config.get("signer.endpoint") or config.get("s3.signer.endpoint") or ENDPOINT)
    url = urljoin(base, endpoint if urlsplit(endpoint).scheme else endpoint.lstrip("/"))
    if _origin(url) != _origin(catalog_uri):
        raise NotSupported(
            f"the catalog has each request to its storage signed at {_origin(url)}, which is another server than the "
            "catalog's: it would get your credentials"
        )
    told = more.get("properties") if isinstance(more, dict) else None
    own = {str(k): str(v) for k, v in told.items()} if isinstance(told, dict) else {}
    return {SIGNING_URL: url, SIGNING_PROPERTIES: json.dumps(own)}


def _origin(url: str) -> str:
    parts = urlsplit(url)
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)
    return f"{parts.scheme}://{parts.hostname}:{port}"
