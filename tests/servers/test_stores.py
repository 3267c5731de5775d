"""Tables in a store, near and far, on good days and bad ones."""

from __future__ import annotations

import re
import threading
import time
import traceback
from collections import Counter
from pathlib import Path

import obstore
import pytest
from pyarrow.fs import FileSelector
from pyiceberg.io import load_file_io
from tornado.httputil import HTTPServerRequest

import explorer
from explorer.errors import ExplorerError, UnreadableFile
from explorer.progress import Cancelled, Watch
from explorer.render.history import diff_json
from explorer.reports.maintenance.runs import preview
from explorer.spark_engine.read_queue import ReadSession
from explorer.storage import azure
from explorer.storage.storage import Storage
from explorer.storage.stores import EACH
from tests.servers.asking import KEPT, write
from tests.servers.conftest import COMMITS, EVERY, Store
from tests.servers.running import azurite, fake_gcs
from tests.support import direct
from tests.support.small_tables import make_table


def opened(store: Store, **others: str) -> direct.Table:
    return direct.open_table(store.metadata, properties=store.properties(**others))


def test_a_file_takes_one_request(store: Store) -> None:
    opened(store).graph()
    assert (store.proxy.requests, dict(store.proxy.methods)) == (2, {"GET": 2})  # metadata.json and the manifest list


def test_what_is_asked_together_is_fetched_together(store: Store) -> None:
    store.proxy.delay = 0.05
    table = opened(store)
    assert len(table.files()) == COMMITS
    assert len(table.lifecycle()) > COMMITS
    assert len(table.commits().commits) == COMMITS + 1
    assert not table.problems
    assert store.proxy.peak > 16


def test_what_never_changes_is_fetched_once(store: Store) -> None:
    def ask() -> tuple[int, int, int]:
        table = opened(store)
        change = diff_json(table.diff("snapshot-3", "snapshot-7"))
        costs = len(table.commits().commits)  # asks how large metadata files are
        return len(table.entries()), len(table.lifecycle()), len(change["added_data_files"]) + costs

    first = ask()
    assert store.proxy.requests > COMMITS
    store.proxy.reset()
    assert ask() == first
    assert store.proxy.requests == 0
    opened(store, access_key_id="another").files()
    assert store.proxy.requests > COMMITS  # another account may see other bytes


def test_neighbours_are_compared_in_few_requests(store: Store) -> None:
    change = opened(store).diff("snapshot-20", "snapshot-21")
    assert [c.record_count for c in change.added] == [2]
    assert store.proxy.requests <= 6


def test_answers_are_those_of_a_local_table(store: Store, tmp_path: Path) -> None:
    local = direct.open_table(str(make_table(tmp_path / "local", COMMITS)))
    remote = opened(store)
    at = f"snapshot-{COMMITS}"
    assert remote.entries(at).columns == local.entries(at).columns
    counts = [[c.added, c.state] for c in local.lifecycle() if c.snapshot == at]
    assert [[c.added, c.state] for c in remote.lifecycle() if c.snapshot == at] == counts
    told = remote.row_history("id = 100")
    assert [e.what for e in told.events if e.row["id"] == 100] == ["appeared", "deleted"]
    assert remote.row_diff(at, "main").changes.deleted.num_rows == 1


def test_data_files_in_memory_are_not_fetched_again(store: Store) -> None:
    table = opened(store)
    table.row_history("id = 7")
    assert store.proxy.of_kind["parquet"] >= COMMITS
    store.proxy.reset()
    assert table.row_history("id = 107").events
    assert store.proxy.of_kind["parquet"] <= 3  # footers


def test_a_busy_store_is_asked_again(store: Store) -> None:
    tries = Counter[str]()

    def busy(request: HTTPServerRequest) -> str:
        tries[str(request.uri)] += 1
        return "throttle" if tries[str(request.uri)] % 3 else ""

    store.proxy.fault = busy
    table = opened(store)
    assert len(table.files()) == COMMITS
    assert not table.problems


def test_a_cut_answer_is_asked_again_or_told(store: Store) -> None:
    cut: set[str] = set()

    def once(request: HTTPServerRequest) -> str:
        first = str(request.uri) not in cut
        cut.add(str(request.uri))
        return "cut" if first and request.path.endswith(".avro") else ""

    store.proxy.fault = once
    table = opened(store)
    assert len(table.files()) + len({p.file for p in table.problems if p.severity == "error"}) == COMMITS
    assert len(opened(store).files()) == COMMITS  # nothing that was cut was kept


def test_a_store_that_does_not_answer_is_named(store: Store) -> None:
    store.proxy.fault = lambda request: "hang" if re.search(r"-m\d+\.avro$", request.path) else ""
    table = opened(store, request_timeout="0.3")
    assert list(table.files()) == []
    assert table.problems
    for problem in table.problems:
        assert problem.file.endswith(".avro")
        assert "127.0.0.1" in problem.cause
        assert "s3.request-timeout" in problem.cause
        assert "hush" not in str(problem)
    store.proxy.fault = lambda request: ""
    assert len(opened(store).files()) == COMMITS


def test_expired_keys_are_renewed(store: Store) -> None:
    def expired(request: HTTPServerRequest) -> str:
        return "refuse" if "Credential=old/" in request.headers["Authorization"] else ""

    store.proxy.fault = expired
    own = store.properties()
    renewals = []

    def renew() -> dict[str, str]:
        renewals.append(time.monotonic())
        return {"s3.access-key-id": "new"}

    storage = Storage(["s3://warehouse/wh"], own, {"s3.access-key-id": "old"}, renew)
    assert storage.read(store.metadata).startswith(b"{")
    assert storage.size(store.metadata) > 1000
    assert len(renewals) == 1
    stale = Storage(["s3://warehouse/wh"], own, {"s3.access-key-id": "old"}, lambda: {"s3.access-key-id": "old"})
    with pytest.raises(UnreadableFile, match="PermissionDenied") as refusal:
        stale.read(store.metadata)
    assert "too slow" not in str(refusal.value)


def test_a_cancelled_question_fetches_no_more(store: Store) -> None:
    store.proxy.delay = 0.2
    table = opened(store)
    watch = Watch()
    threading.Timer(0.5, watch.cancel).start()
    with watch.listening(), pytest.raises(Cancelled):
        table.commits()
    time.sleep(0.5)  # what was under way ends
    before = store.proxy.requests
    time.sleep(0.5)
    assert store.proxy.requests == before


def test_parts_of_files(store: Store) -> None:
    storage = Storage(["s3://warehouse/wh"], store.properties())
    whole = storage.read(store.metadata)
    store.proxy.reset()
    assert storage.read(store.metadata, 5, 10) == whole[5:15]
    assert storage.read(store.metadata, 5) == whole[5:]
    assert storage.read(store.metadata, len(whole) - 3, 10) == whole[-3:]
    assert storage.tail(store.metadata, 8) == (whole[-8:], len(whole))
    assert storage.tail(store.metadata, 10 * len(whole)) == (whole, len(whole))
    assert store.proxy.requests == 5
    with pytest.raises(UnreadableFile, match="does not exist"):
        storage.read("s3://warehouse/wh/db/t/metadata/nothing.json")


def test_the_ledger_of_a_store_adds_up(store: Store) -> None:
    ledger = explorer.open_table(store.metadata, properties=store.properties()).storage().value
    files = load_file_io(store.properties(endpoint=store.direct), store.metadata).fs_by_scheme("s3", None)  # type: ignore[attr-defined]
    folder = store.metadata.rpartition("/metadata/")[0].removeprefix("s3://")
    listed = [info for info in files.get_file_info(FileSelector(folder, recursive=True)) if info.is_file]
    assert (ledger.files, ledger.bytes) == (len(listed), sum(info.size for info in listed))
    assert ledger.of("young").files == ledger.of("missing").files == 0


def test_orphans_in_a_store(store: Store) -> None:
    table = opened(store)
    assert len(preview(table, "remove-orphans").tables["files"]) == 0
    stray = f"{store.metadata.rpartition('/metadata/')[0]}/data/region=é &%20+/stray.parquet"
    pyarrow = load_file_io(store.properties(endpoint=store.direct), stray)
    with pyarrow.new_output(stray).create() as file:
        file.write(b"left behind")
    try:
        for others in ({}, {"resolve_region": "true"}):  # with the second, pyarrow lists it
            [found] = preview(opened(store, **others), "remove-orphans").tables["files"]
            assert (found["file"], found["becomes"]) == (stray, "too young")
    finally:
        pyarrow.delete(stray)


def test_a_uri_with_a_catalogs_properties(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in store.properties().items():
        name = key.removeprefix("s3.").replace("-", "_").upper()
        monkeypatch.setenv(f"PYICEBERG_CATALOG__MYSTORE__S3__{name}", value)
    folder = store.metadata.rpartition("/metadata/")[0]
    table = direct.open_table(folder, catalog="mystore")
    assert table.metadata.metadata_location == store.metadata
    with pytest.raises(explorer.TableNotFound, match="no catalog 'nosuch' is configured"):
        direct.open_table(folder, catalog="nosuch")


def test_what_a_store_refuses_for_a_while_is_asked_for_again(store: Store) -> None:
    table = opened(store)
    known = len(table.manifests())
    bad = [m["manifest_path"].rsplit("/", 1)[-1] for m in table.manifests()][:3]
    store.proxy.fault = lambda request: "refuse" if any(name in request.path for name in bad) else ""
    short = table.entries()
    assert {p.file.rsplit("/", 1)[-1] for p in table.problems} == set(bad)
    store.proxy.fault = lambda request: ""
    whole = table.entries()
    assert len(whole) > len(short)
    assert not table.problems
    other = table.metadata.snapshots[3]
    store.proxy.fault = lambda request: "refuse" if str(other.manifest_list).rsplit("/", 1)[-1] in request.path else ""
    assert len(table.manifests(other.snapshot_id)) == 0
    assert table.problems
    store.proxy.fault = lambda request: ""
    assert 0 < len(table.manifests(other.snapshot_id)) <= known
    assert not table.problems


def test_what_is_needed_before_its_turn_is_fetched_once(store: Store) -> None:
    table = opened(store)
    lists = [str(snapshot.manifest_list) for snapshot in table.metadata.snapshots]
    paths = [*lists, *(m["manifest_path"] for m in table.manifests())]
    storage = Storage(["s3://warehouse/wh"], store.properties(access_key_id="another"))
    store.proxy.reset()
    store.proxy.delay = 0.05
    assert len(paths) > EACH
    storage.ahead([(path, None) for path in paths])
    for path in reversed(paths):
        storage.read_through_cache(path)
    time.sleep(0.3)
    assert store.proxy.requests == len(paths)


def test_what_failed_ahead_is_told_once_and_then_asked_anew(store: Store) -> None:
    storage = Storage(["s3://warehouse/wh"], store.properties())
    store.proxy.fault = lambda request: "refuse"
    for _ in range(2):  # the second is asked while the first one's failure is not told yet
        storage.ahead([(store.metadata, None)])
        time.sleep(0.5)
    assert store.proxy.requests == 1
    store.proxy.fault = lambda request: ""
    with pytest.raises(UnreadableFile, match="PermissionDenied"):
        storage.read_through_cache(store.metadata)
    assert storage.read_through_cache(store.metadata).startswith(b"{")


def google(host: str, **token: str) -> dict[str, str]:
    """What opens tables of a server that speaks as GCS does."""
    return {"gcs.service.host": host, **{f"gcs.{name}": value for name, value in token.items()}}


def test_a_table_by_the_requests_of_gcs(store: Store) -> None:
    """To moto they are S3's, whose paths are the same: one request a file, with a token."""
    moved = {"s3://warehouse": "gs://warehouse"}
    there = store.metadata.replace("s3://", "gs://")
    asked = google(store.proxy.url, **{"oauth2.token": "hush"})
    table = direct.open_table(there, properties=asked, relocate=moved)
    table.graph()
    assert (store.proxy.requests, dict(store.proxy.methods)) == (2, {"GET": 2})
    assert table.entries().to_arrow().equals(opened(store).entries().to_arrow())
    began = time.monotonic()
    with pytest.raises(UnreadableFile, match=r"gcs\.oauth2\.token"):  # nor is this a machine of Google's
        direct.open_table(there, properties=google(store.proxy.url), relocate=moved)
    assert time.monotonic() - began < 60


def test_gcs(reads: ReadSession, tmp_path: Path) -> None:
    """Tables that Spark wrote, read here and by Spark with Google's own client."""
    if not EVERY:
        pytest.skip("part of `make test-servers`")
    (tmp_path / "buckets" / "warehouse").mkdir(parents=True)
    (tmp_path / "buckets" / "warehouse" / "made").write_text("a bucket has a file")
    with fake_gcs(tmp_path, tmp_path / "buckets") as host:
        asked = google(host, **{"oauth2.token": "hush"})
        for metadata in write(reads, "gs://warehouse/written", asked, tmp_path).values():
            table = direct.open_table(metadata, properties=asked)
            assert sorted(row["id"] for row in table.rows(session=reads)) == KEPT
            assert [e.what for e in table.row_history("id = 3").events] == ["appeared", "deleted"]
            assert direct.open_table(str(table.metadata.location), properties=asked).metadata == table.metadata
            assert not table.problems


def test_azure(store: Store, tmp_path: Path) -> None:
    if not EVERY:
        pytest.skip("part of `make test-servers`")
    local = make_table(tmp_path / "local", 8)
    with azurite(tmp_path, "lake") as account:
        asked = {"adls.connection-string": account}
        made = azure.container("lake", asked, {}, {})
        assert made is not None
        for file in (path for path in local.rglob("*") if path.is_file()):
            obstore.put(made, f"db/t/{file.relative_to(local)}", file)
        for authority in ("lake@devstoreaccount1.dfs.core.windows.net", "lake"):
            table = direct.open_table(f"abfss://{authority}/db/t", properties=asked)
            assert table.entries().columns == direct.open_table(str(local)).entries().columns
            assert [p.severity for p in table.problems] == ["info"]  # it was copied there
            assert [e.what for e in table.row_history("id = 3").events] == ["appeared"]
        wrong = {"adls.connection-string": account.replace("Eby8", "Eby9")}
        with pytest.raises(ExplorerError, match="Azure") as refused:
            direct.open_table("abfss://lake/db/t", properties=wrong)
        assert "Eby9" not in "".join(traceback.format_exception(refused.value))
