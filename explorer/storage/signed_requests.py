"""Files in S3 whose requests a REST catalog signs one by one (Iceberg's REST spec: remote signing). Nobody holds keys.

The catalog's server gets the address and the headers of each request, and answers with more headers. It is asked only
at the catalog's own address. What it signs is sent only if it is the request that was asked for."""

from __future__ import annotations

import io
import json
import os
import threading
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlsplit

import requests
from pyiceberg.io import FileIO, InputFile, InputStream, OutputFile

from explorer.errors import NotSupported
from explorer.progress import check_cancellation
from explorer.storage.stores import CONNECT_S, READ_S, SIGNING_PROPERTIES, SIGNING_URL, split_uri

EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
"""SHA-256 of nothing, which is what a request to read sends."""
MOST_HEADERS, LONGEST = 50, 20_000
"""Of what a server answers."""


class SignedFiles(FileIO):
    """Reads files of S3 by requests that a catalog signs.

    Args:
        own: The user's properties of the catalog: with them it is asked to sign.
        properties: These with what the catalog gave: SIGNING_URL and SIGNING_PROPERTIES, endpoint and region.
    """

    def __init__(self, own: Mapping[str, str], properties: Mapping[str, str]) -> None:
        super().__init__(dict(properties))
        self._own, self._lock = dict(own), threading.Lock()
        self._signer: requests.Session | None = None
        self._store = requests.Session()
        self._region = properties.get("s3.region") or properties.get("client.region") or "us-east-1"

    def new_input(self, location: str) -> InputFile:
        """See pyiceberg."""
        return SignedFile(location, self)

    def new_output(self, location: str) -> OutputFile:
        """See pyiceberg. Nothing is written."""
        raise NotSupported(f"{location}: nothing is written by requests that a catalog signs")

    def delete(self, location: str | InputFile | OutputFile) -> None:
        """See pyiceberg. Nothing is deleted."""
        raise NotSupported(f"{location}: nothing is deleted by requests that a catalog signs")

    def ask(self, method: str, location: str, headers: Mapping[str, str], most: int) -> tuple[bytes, Mapping[str, str]]:
        """Send a request to the store.

        Args:
            method: HEAD or GET.
            location: The file's URI.
            headers: Headers of the request.
            most: Bytes that its answer may have.

        Returns:
            The answer's body and headers.

        Raises:
            FileNotFoundError: There is no such file.
            PermissionError: It may not be read.
            OSError: The store or the signer answers something else.
        """
        check_cancellation()
        url = self._address(location)
        asked = {"Host": urlsplit(url).netloc, "x-amz-content-sha256": EMPTY, **headers}
        signed_url, more = self._sign(method, url, asked)
        sent = {name: value for name, value in {**asked, **more}.items() if name.lower() != "host"}
        answer = self._store.request(
            method, signed_url, headers=sent, timeout=(CONNECT_S, READ_S), allow_redirects=False, stream=True
        )
        with answer:
            if answer.status_code == 404:
                raise FileNotFoundError(location)
            if answer.status_code in (401, 403):
                raise PermissionError(f"{location}: the store refuses the signed request ({answer.status_code})")
            if answer.status_code not in (200, 206):
                raise OSError(f"{location}: the store answers {answer.status_code} {answer.reason}")
            body = b""
            for part in answer.iter_content(1 << 16):
                check_cancellation()
                body += part
                if len(body) > most:
                    raise OSError(f"{location}: the store sends more than was asked for")
            return body, answer.headers

    def _address(self, location: str) -> str:
        """The address of a file: by its path below an endpoint that is named, else by Amazon's host for the bucket."""
        _, bucket, key = split_uri(location)
        path, endpoint = quote(key, safe="/-_.~"), self.properties.get("s3.endpoint", "")
        if endpoint:
            return f"{endpoint.rstrip('/')}/{bucket}/{path}"
        host = f"s3.{self._region}.amazonaws.com"
        return f"https://{host}/{bucket}/{path}" if "." in bucket else f"https://{bucket}.{host}/{path}"

    def _sign(self, method: str, url: str, headers: Mapping[str, str]) -> tuple[str, dict[str, str]]:
        """Have a request signed; return where it is sent, and headers that are added."""
        body = {
            "region": self._region,
            "uri": url,
            "method": method,
            "headers": {name: [value] for name, value in headers.items()},
            "properties": json.loads(self.properties[SIGNING_PROPERTIES]),
        }
        response = self._session().post(self.properties[SIGNING_URL], json=body)
        if response.status_code in (401, 403):
            raise PermissionError(f"{url}: the catalog does not sign this request ({response.status_code})")
        if response.status_code != 200:
            raise OSError(f"{url}: the catalog's signer answers {response.status_code} {response.reason}")
        answer = response.json()
        signed, more = (answer.get("uri"), answer.get("headers")) if isinstance(answer, dict) else (None, None)
        if not isinstance(signed, str) or not isinstance(more, dict) or len(more) > MOST_HEADERS:
            raise OSError(f"{url}: the catalog's signer answers what is no signed request")
        if signed.partition("?")[0] != url:
            raise OSError(f"{url}: the catalog's signer answers another address, {signed.partition('?')[0][:200]}")
        return signed, {str(name): _value(values) for name, values in more.items()}

    def _session(self) -> requests.Session:
        """The catalog's session, which has its token and limits."""
        from explorer.storage.catalogs.rest import ListedRest

        with self._lock:
            if self._signer is None:
                self._signer = ListedRest("signer", **self._own).session
            return self._signer


def _value(values: Any) -> str:
    value = ", ".join(map(str, values)) if isinstance(values, list) else str(values)
    if len(value) > LONGEST or not value.isprintable():
        raise OSError("the catalog's signer answers a header that is none")
    return value


class SignedFile(InputFile):
    """One file that is read so."""

    def __init__(self, location: str, files: SignedFiles) -> None:
        super().__init__(location)
        self._files = files
        self._length: int | None = None

    def __len__(self) -> int:
        """Its length in bytes."""
        if self._length is None:
            _, headers = self._files.ask("HEAD", self.location, {}, 0)
            self._length = int(headers["Content-Length"])
        return self._length

    def exists(self) -> bool:
        """Whether it is there."""
        try:
            return len(self) >= 0
        except FileNotFoundError:
            return False

    def open(self, seekable: bool = True) -> InputStream:
        """See pyiceberg."""
        return SignedStream(self)

    def part(self, start: int, size: int) -> bytes:
        """Some bytes of it."""
        if size <= 0:
            return b""
        body, _ = self._files.ask("GET", self.location, {"Range": f"bytes={start}-{start + size - 1}"}, size)
        return body


class SignedStream(io.RawIOBase):
    """A file that is read in the parts that are asked for."""

    def __init__(self, file: SignedFile) -> None:
        self._file, self._at = file, 0

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """See io.RawIOBase."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at}.get(whence)
        self._at = offset + (len(self._file) if base is None else base)
        return self._at

    def tell(self) -> int:
        """See io.RawIOBase."""
        return self._at

    def read(self, size: int = -1) -> bytes:
        """See io.RawIOBase."""
        left = max(0, len(self._file) - self._at)
        part = self._file.part(self._at, left if size < 0 else min(size, left))
        self._at += len(part)
        return part
