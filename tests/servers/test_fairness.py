"""Who reads much, or from a store that does not answer, keeps nobody else waiting."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from pyiceberg.io import load_file_io

from explorer.progress import Watch
from explorer.storage import limits
from explorer.storage.storage import Storage
from tests.servers.conftest import COMMITS, EVERY, Store
from tests.support import direct

MANY = 400 if EVERY else 150


def seconds(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


@pytest.fixture(scope="module")
def many(bucket: Store) -> list[str]:
    """So many manifests, in one folder of the bucket."""
    table = direct.open_table(bucket.metadata, properties=bucket.properties(endpoint=bucket.direct))
    data = table.reader.storage.read(table.manifests()[0]["manifest_path"])
    folder = "s3://warehouse/many"
    paths = [f"{folder}/{i}-m0.avro" for i in range(MANY)]
    files = load_file_io(bucket.properties(endpoint=bucket.direct), folder)

    def put(path: str) -> None:
        with files.new_output(path).create() as file:
            file.write(data)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(put, paths))
    return paths


def read_all(store: Store, paths: list[str], account: str) -> None:
    """As a question does that reads these manifests: fetched ahead, then asked for one by one."""
    storage = Storage(["s3://warehouse/many"], store.properties(access_key_id=account))
    storage.ahead([(path, None) for path in paths])
    for path in paths:
        storage.read_through_cache(path, limit=limits.MANIFEST)


def first_screen(store: Store, account: str) -> None:
    table = direct.open_table(store.metadata, properties=store.properties(access_key_id=account))
    assert table.graph().nodes
    assert not table.problems


def every_entry(store: Store, account: str) -> None:
    table = direct.open_table(store.metadata, properties=store.properties(access_key_id=account))
    assert len(table.files()) == COMMITS
    assert not table.problems


@pytest.mark.skipif(not EVERY, reason="a timed one: part of `make test-servers`")
@pytest.mark.parametrize(("ask", "times"), [(first_screen, 2), (every_entry, 4)])
def test_many_manifests_keep_nobody_waiting(
    ask: Callable[[Store, str], None], times: int, store: Store, many: list[str]
) -> None:
    """Who asks later is done before, and the first screen comes in twice its quiet time; entries share the threads,
    and this processor with moto."""
    store.proxy.delay = 0.5  # moto itself takes 5 ms of this processor for each request
    quiet = seconds(lambda: ask(store, "quiet"))
    other = threading.Thread(target=read_all, args=(store, many, "busy"))
    other.start()
    while store.proxy.under_way < 40:
        time.sleep(0.01)
    busy = seconds(lambda: ask(store, "hurried"))
    assert other.is_alive()
    other.join()
    assert busy < times * quiet, (busy, quiet)


@pytest.mark.parametrize("questions", [1, 3])
def test_a_store_that_does_not_answer_keeps_nobody_waiting(questions: int, store: Store, many: list[str]) -> None:
    store.proxy.fault = lambda request: "hang" if "Credential=stuck" in request.headers["Authorization"] else ""
    watch = Watch()
    with watch.listening():
        for i in range(questions):
            own = store.properties(access_key_id=f"stuck{i}", request_timeout="8")
            Storage(["s3://warehouse/many"], own).ahead([(path, None) for path in many])
    while store.proxy.under_way < 40:
        time.sleep(0.01)
    try:
        assert seconds(lambda: every_entry(store, "hurried")) < 6
        assert store.proxy.under_way >= 40
    finally:
        watch.cancel()
        store.proxy.fault = lambda request: ""
        while store.proxy.under_way:
            time.sleep(0.01)
