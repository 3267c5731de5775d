"""Whether a path may be read is decided once for its folder: it must be what a look at the path alone decides."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from explorer.errors import AccessRefused, UnreadableFile
from explorer.storage.storage import Storage

PARTS = [
    "t", "data", "p=1", "f", "g", "a", "u", "b", "h", "..", ".", "", "link", "ln", "in", "w", "tt", "q", "loop", "old",
    "gone", "bk", "other", "a\\..\\b", "n\0", "..x", "%2e%2e", "?", "x" * 5000,
]  # fmt: skip
BEGINNINGS = [
    "", "{}/", "{}/t/", "file:{}/t/", "file://{}/", "file:///", "s3://bk/", "s3a://bk/t/", "s3://", "s3:/",
    "hdfs://n/t/", "/gone/t/", "file://host/", "file:", "S3://bk/t/", "s3://bk//", "/",
]  # fmt: skip


@pytest.fixture
def storages(tmp_path: Path) -> list[Storage]:
    here = os.path.realpath(tmp_path)
    for folder in ("t/data/p=1", "t/metadata", "t/a", "u/b", "w"):
        os.makedirs(f"{here}/{folder}")
    for file in ("t/data/p=1/f", "t/data/g", "u/b/h", "w/q"):
        Path(here, file).write_text("x")
    links = {"t/link": "u/b", "t/data/ln": "u/b/h", "u/in": "t/data/g", "w/tt": "t"}
    for link, target in links.items():
        os.symlink(f"{here}/{target}", f"{here}/{link}")
    os.symlink("loop", f"{here}/t/loop")
    moved = [("s3://bk/old", f"{here}/t"), ("/gone/t", f"{here}/t")]
    return [
        Storage([f"{here}/t"]),
        Storage([f"{here}/t", f"{here}/w/q"], moved=moved, refused=[("write.data.path", f"{here}/u")]),
        Storage(["s3://bk/t", "s3://other"]),
        Storage(["s3a://bk/t/"], moved=[("hdfs://n/t", "s3://bk/t")]),
        Storage([f"{here}/t/data/g"]),
        Storage(["/"]),
        Storage([f"{here}/w/tt"]),
    ]


def answer(ask: Callable[[str], object], path: str) -> object:
    try:
        return ask(path)
    except (AccessRefused, UnreadableFile) as error:
        return type(error), str(error)


def canonical_place(storage: Storage, path: str) -> str:
    return storage.canonical(storage.resolve(path))


def test_a_folder_decides_as_each_of_its_files_does(storages: list[Storage], tmp_path: Path) -> None:
    draw, decided = random.Random(11), 0
    for _ in range(20_000):
        storage = draw.choice(storages)
        parts = [draw.choice(PARTS) for _ in range(draw.randint(0, 4))]
        path = draw.choice(BEGINNINGS).format(os.path.realpath(tmp_path)) + "/".join(parts)
        alone = answer(storage._check_alone, path)
        assert answer(storage._check, path) == alone, path
        assert answer(storage.canonical_place, path) == answer(partial(canonical_place, storage), path), path
        decided += answer(storage._by_folder, path) is not None
    assert decided > 5_000
