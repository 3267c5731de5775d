"""Every question of a table in a store with 50 ms a request: it answers as it does of a copy on this machine, and asks
for files together."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import obstore
import pytest
from obstore.store import S3Store

import explorer
from explorer.questions import Question
from tests.golden.every_question import ASKED, aged, arguments, method
from tests.servers.conftest import Store, write_table

FAR_S = 0.05
OF_A_CATALOG = ("catalog", "pointer")
OF_THE_PLACE = {("check", "copy"), ("doctor",), ("overview",), ("show",)}
"""Their answers are of where the table is: whether a copy stands alone, that it is one, and ids of its path."""
MANY, TOGETHER = 20, 8
"""Of so many files of a kind, so many are asked for at once."""
FAR = [question for question in ASKED if question.path != OF_A_CATALOG]


def bucket_of(store: Store) -> S3Store:
    endpoint = {"endpoint": store.direct, "access_key_id": "key", "secret_access_key": "hush", "region": "us-east-1"}
    return S3Store("warehouse", **endpoint, client_options={"allow_http": True})  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def far(bucket: Store, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The metadata file of a table in the bucket, which no other test writes to."""
    return write_table(bucket, tmp_path_factory.mktemp("far"), "s3://warehouse/far")


@pytest.fixture(scope="module")
def near(bucket: Store, far: str, tmp_path_factory: pytest.TempPathFactory) -> explorer.OpenTable:
    """A copy of that table."""
    folder, files = tmp_path_factory.mktemp("near"), bucket_of(bucket)
    top = urlsplit(far).path.strip("/").rpartition("/metadata/")[0]
    for listed in obstore.list(files, top).collect():
        path = folder / str(listed["path"])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes(obstore.get(files, listed["path"]).bytes()))
        os.utime(path, (written := listed["last_modified"].timestamp(), written))
    return explorer.open_table(str(folder / top))


def ask(table: explorer.OpenTable, question: Question, words: list[str]) -> Any:
    """The data of an answer, without the moment's and the place's."""
    given: dict[str, Any] = {"name": words[2], "snapshot": "main"} if "--name" in words else {}
    asked = [[words[0]]] if question.path == ("scan", "estimate") else words[: 1 if given else None]
    text = json.dumps(method(question, table)(*asked, **given).to_json())
    for place in (table.metadata.metadata_location.rpartition("/metadata/")[0], table.metadata.location):
        text = text.replace(place, "(table)")
    return aged(json.loads(text))


@pytest.mark.parametrize("question", FAR, ids=[" ".join(question.path) for question in FAR])
def test_a_question_answers_far_away(
    question: Question,
    store: Store,
    far: str,
    near: explorer.OpenTable,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:  # fmt: skip
    for number, words in enumerate(arguments(question, near)):
        monkeypatch.setenv("ICEDIVE_CACHE", str(tmp_path / f"cache-{number}"))
        words = [far if word == near.metadata.metadata_location else word for word in words]
        store.proxy.reset()
        store.proxy.delay = FAR_S
        answer = ask(explorer.open_table(far, properties=store.properties()), question, words)
        for kind, requests in store.proxy.of_kind.items():
            together = store.proxy.together[kind]
            assert requests < MANY or together >= TOGETHER, f"{requests} requests for {kind}, {together} at once"
        if question.path not in OF_THE_PLACE:
            words = [near.metadata.metadata_location if word == far else word for word in words]
            assert answer == ask(near, question, words)
