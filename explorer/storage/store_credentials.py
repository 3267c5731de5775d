"""How the stores of one table are opened: by obstore, or else by pyiceberg's FileIO."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlparse

from explorer.storage.stores import S3, SIGNING_URL, combine, plain_key, split_at_empty, split_uri, store_of

if TYPE_CHECKING:
    from pyiceberg.io import FileIO

if TYPE_CHECKING:
    from obstore.store import ObjectStore


PLACES = 100
"""Places of stores that are kept open: of keys with empty segments there may be any number."""


class Access:
    """How stores are opened with what was given last; another takes its place when that is renewed."""

    def __init__(self, own: Mapping[str, str], given: Mapping[str, str]) -> None:
        self.given, self._own = given, own
        self.properties = combine(own, given)
        self._file_ios: dict[str, FileIO] = {}
        self._stores: dict[str, ObjectStore | None] = {}
        outer = {k: v for k, v in os.environ.items() if k.startswith(("AWS_", "GOOGLE_", "AZURE_"))}
        outer.pop("AWS_SESSION_TOKEN", None)  # one account, for an hour
        settings = (sorted(own.items()), sorted(outer.items()), given.get("s3.endpoint"))
        self.identity = hashlib.blake2b(repr(settings).encode(), digest_size=16).hexdigest()

    def file_io(self, path: str) -> FileIO:
        """pyiceberg's, for a URI."""
        scheme = urlparse(path).scheme
        if scheme not in self._file_ios and self._is_signed(scheme):
            from explorer.storage.signed_requests import SignedFiles

            self._file_ios[scheme] = SignedFiles(self._own, self.properties)
        if scheme not in self._file_ios:
            from pyiceberg.io import load_file_io

            self._file_ios[scheme] = load_file_io(self.properties, path)
        return self._file_ios[scheme]

    def _is_signed(self, scheme: str) -> bool:
        """Whether the catalog signs each request to a store."""
        return scheme in S3 and SIGNING_URL in self.given

    def store(self, resolved: str) -> tuple[ObjectStore | None, str]:
        """The store that reads a URI, and the key there; None where FileIO does."""
        scheme, _, _ = split_uri(resolved)
        place, key = split_at_empty(resolved)
        if self._is_signed(scheme) or not plain_key(key):
            return None, key
        name = f"{scheme}://{place}"
        stores = self._stores if len(self._stores) < PLACES else {}
        if name not in stores:
            stores[name] = store_of(resolved, self.properties, place)
            self._stores = stores
        return stores[name], key
