"""The lab's store: what clients of S3 are answered, counted, and nothing from outside its folder."""

from __future__ import annotations

import urllib.error
import urllib.request
from pathlib import Path
from xml.etree import ElementTree

import pytest
from pyarrow import fs

from explorer.lab import slow_s3
from explorer.lab.slow_s3 import FarStore


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "secret").write_text("outside")
    for name in ("a/1", "a/2", "b & c/3", "d"):
        path = tmp_path / "bucket" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"0123456789")
    return tmp_path / "bucket"


def test_a_client_lists_and_reads(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Level by level, a page at a time, a part of a file; each request is counted."""
    monkeypatch.setattr(slow_s3, "PAGE", 2)
    with FarStore(folder, 0.0) as store:
        client = fs.S3FileSystem(
            access_key="x", secret_key="x", region="us-east-1", scheme="http", endpoint_override=store.address
        )
        found = {info.path: info.type for info in client.get_file_info(fs.FileSelector("lab"))}
        assert found == {"lab/a": fs.FileType.Directory, "lab/b & c": fs.FileType.Directory, "lab/d": fs.FileType.File}
        assert dict(store.requests) == {"LIST": 2}
        with client.open_input_file("lab/b & c/3") as file:
            assert file.read_at(3, 4) == b"456"
        assert dict(store.requests) == {"LIST": 2, "HEAD": 1, "GET": 1}


def test_nothing_from_outside_is_given(folder: Path) -> None:
    with FarStore(folder, 0.0) as store:
        for path in ("lab/../secret", "lab/%2e%2e/secret", "lab//etc/hostname", "lab/%2Fetc%2Fhostname", "lab/none"):
            with pytest.raises(urllib.error.HTTPError, match="404"):
                urllib.request.urlopen(f"http://{store.address}/{path}")
        with urllib.request.urlopen(f"http://{store.address}/lab?list-type=2&prefix=..") as answer:
            assert ElementTree.fromstring(answer.read()).findtext("KeyCount") == "0"
