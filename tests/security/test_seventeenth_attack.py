"""What a seventeenth attack found."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from explorer.errors import NotSupported, UnreadableFile, WrongUsage
from explorer.questions.parameters import TableAt
from explorer.spark_engine.fileio import java_file_io
from explorer.spec.scan.similar_texts import MOST_FOUND
from explorer.storage import azure
from explorer.storage.catalogs import catalogs
from explorer.storage.catalogs.credentials import check_whole
from explorer.storage.storage import Storage
from tests.cases.mini import Table
from tests.security.dimensions import data_file
from tests.support import direct
from tests.support.app_client import Client
from tests.support.small_tables import make_table, newest_metadata
from tests.support.token_catalog import SECRETS, token_catalog

CLIENT = {"client.access-key-id": "a", "client.secret-access-key": "b"}
S3 = {"s3.access-key-id": "a", "s3.secret-access-key": "b"}
GLUE = {"glue.access-key-id": "a", "glue.secret-access-key": "b"}
APPLICATION = {"adls.tenant-id": "a", "adls.client-id": "b", "adls.client-secret": "c"}


# -- part of a credential ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("given", "configured"),
    [
        ({"glue.session-token": "x"}, {}),
        ({"glue.access-key-id": "x"}, {}),
        ({"s3.session-token": "x"}, {}),
        ({"s3.access-key-id": "x"}, {}),
        (GLUE, {}),  # S3 would be asked by the environment's
        (S3, {"type": "glue"}),
        (S3, {"rest.sigv4-enabled": "true"}),
        ({**CLIENT, "s3.session-token": "x"}, {}),
        ({"gcs.oauth2.token-expires-at": "1"}, {}),
        ({"adls.tenant-id": "x"}, {}),
        ({"adls.client-id": "x", "adls.client-secret": "y"}, {}),
    ],
)
def test_part_of_a_credential_takes_nothings_place(given: dict[str, str], configured: dict[str, str]) -> None:
    with pytest.raises(WrongUsage):
        check_whole(given, configured)


@pytest.mark.parametrize(
    ("given", "configured"),
    [
        ({}, {}),
        ({"token": "x"}, {"rest.sigv4-enabled": "true"}),
        (CLIENT, {"type": "glue"}),
        (S3, {"type": "rest"}),
        ({**S3, **GLUE}, {"type": "glue"}),
        ({**S3, "s3.session-token": "x", "token": "y"}, {"rest.sigv4-enabled": "true"}),
        (APPLICATION, {}),
        ({"adls.sas-token": "x"}, {}),
        ({"gcs.oauth2.token": "x"}, {}),
    ],
)
def test_a_whole_credential_is_taken(given: dict[str, str], configured: dict[str, str]) -> None:
    check_whole(given, configured)


def test_a_session_does_not_take_a_catalogs_own_keys_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without them, the store would be asked by what the environment has."""
    monkeypatch.setenv("ICEDIVE_HOME", str(tmp_path))
    named = {"TYPE": "sql", "URI": f"sqlite:///{tmp_path}/none.db", "S3__ANONYMOUS": "true"}
    for name, value in named.items():
        monkeypatch.setenv(f"PYICEBERG_CATALOG__PROD__{name}", value)
    client = Client()
    told = client.ask(type="credentials", catalog="prod", credentials={"glue.session-token": "x"})
    assert "are given together" in told["text"], json.dumps(told)
    assert not client.session._credentials
    assert catalogs.properties("prod")["s3.anonymous"] == "true"


def test_a_client_secret_of_azure_comes_before_the_environments_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", "YW1iaWVudA==")
    store: Any = azure.container("c@acct.dfs.core.windows.net", APPLICATION, {}, {})
    assert store.config["credential_type"] == "client_secret"


def test_spark_does_not_ask_azure_by_the_environment_in_place_of_a_client_secret() -> None:
    with pytest.raises(NotSupported, match=r"adls\.client-secret"):
        java_file_io("abfss://c@acct.dfs.core.windows.net/t", APPLICATION)


# -- work --------------------------------------------------------------------------------------------------------------
def test_many_partition_fields_of_one_time_are_not_made_coarser_one_by_one(tmp_path: Path) -> None:
    """It took work by the square of the fields."""

    def fields(number: int) -> tuple[int, list[str]]:
        folder = tmp_path / str(number)
        spec = [(1, 1000 + at, f"p{at}", "hour") for at in range(number)]
        table = Table(folder, [(1, "at", "timestamp")], spec)
        partition = {f"p{at}": 5 for at in range(number)}
        bounds = {1: (5 * 3_600_000_000).to_bytes(8, "little")}
        counts = {"value_counts": {1: 10}, "null_value_counts": {1: 0}}
        file = data_file(table, 1, partition=partition, lower_bounds=bounds, upper_bounds=bounds, **counts)
        table.append(file)
        table.write()
        made = direct.estimate(direct.open_table(str(folder)), "at > '1970-01-01T00:00:00'")
        return len(made.changes), [change.text for change in made.changes if "instead" in change.text]

    assert len(fields(1)[1]) == 3
    assert fields(30)[0] <= fields(3)[0]
    assert not fields(3)[1]


def test_few_texts_are_told_that_a_filter_may_mean(tmp_path: Path) -> None:
    """Each manifest of a list may have bounds of its own, which are the filter's text but for capital letters."""
    table = Table(tmp_path / "t", [(1, "v", "string")], [(1, 1000, "v", "identity")])
    one = table.manifest("m.avro", [(1, data_file(table, 1, partition={"v": "x"}))])
    texts = ["".join(c.upper() if n >> at & 1 else c for at, c in enumerate("abcdefgh")) for n in range(1, 101)]
    named = [
        {**one, "partitions": [{**one["partitions"][0], "lower_bound": bound, "upper_bound": bound}]}
        for bound in map(str.encode, texts)
    ]
    table.snapshot("append", named)
    table.write()
    plan = direct.open_table(str(tmp_path / "t")).plan("v = 'abcdefgh'")
    assert len(plan.similar) == MOST_FOUND


# -- redirects ---------------------------------------------------------------------------------------------------------
class Redirects(BaseHTTPRequestHandler):
    """A store that sends all to another host."""

    def do_GET(self) -> None:
        self.server.asked.append(self.path)  # type: ignore[attr-defined]
        if "/elsewhere" in self.path:
            self.send_response(200)
            self.send_header("ETag", '"x"')
            self.send_header("Last-Modified", "Mon, 30 Nov 2026 00:00:00 GMT")
        else:
            self.send_response(307)
            port = str(self.headers["Host"]).rpartition(":")[2]
            self.send_header("Location", f"http://localhost:{port}/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_HEAD = do_GET

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.parametrize(
    ("uri", "properties"),
    [
        ("s3://b/t/m.json", {**S3, "s3.session-token": "canary", "s3.region": "x", "s3.endpoint": "URL"}),
        ("gs://b/t/m.json", {"gcs.oauth2.token": "canary", "gcs.service.host": "URL"}),
        (
            "abfss://c@acct.dfs.core.windows.net/t/m.json",
            {"adls.connection-string": "AccountName=acct;AccountKey=bWluZQ==;BlobEndpoint=URL/acct"},
        ),
    ],
    ids=["s3", "gcs", "azure"],
)
def test_a_store_sends_nobody_to_another_host(
    uri: str, properties: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the token of a session, which obstore would send along."""
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    serving = ThreadingHTTPServer(("127.0.0.1", 0), Redirects)
    serving.asked = asked = list[str]()  # type: ignore[attr-defined]
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{serving.server_address[1]}"
    given = {name: value.replace("URL", url) for name, value in properties.items()}
    with pytest.raises(UnreadableFile):
        Storage([uri.rpartition("/")[0]], given).read(uri)
    serving.shutdown()
    serving.server_close()
    assert asked
    assert not [path for path in asked if "elsewhere" in path]


# -- credentials that are taken back -----------------------------------------------------------------------------------
def test_what_was_read_with_credentials_goes_with_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of a catalog's answer, and a table that was being opened when they were taken back."""
    [metadata] = {newest_metadata(path.parent) for path in make_table(tmp_path).rglob("metadata")}
    with token_catalog(metadata) as server:
        for name, value in {"TYPE": "rest", "URI": server.url, "WAREHOUSE": str(tmp_path)}.items():
            monkeypatch.setenv(f"PYICEBERG_CATALOG__PROD__{name}", value)
        client, question = Client(), {"question": "catalog tables", "catalog": "prod"}
        given = {"type": "credentials", "catalog": "prod", "credentials": {"token": SECRETS["ann"]}}
        back = {**given, "credentials": {}}
        client.data(**given)
        client.data(type="ask", **question)
        assert client.data(type="rows", block=0, **question)["rows"] == [["prod", "ann.t"]]
        client.data(**back)
        assert client.ask(type="rows", block=0, **question)["type"] == "error"

        client.data(**given)
        open_it = TableAt.open

        def slowly(at: TableAt) -> Any:
            table = open_it(at)
            client.session._keep_credentials("prod", {})
            return table

        monkeypatch.setattr(TableAt, "open", slowly)
        assert client.ask(type="open", table="prod.ann.t")["type"] == "error"


@pytest.mark.parametrize("variable", ["AWS_SESSION_TOKEN", "AWS_TOKEN"])
def test_a_session_token_of_the_environment_does_not_go_with_other_keys(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would go to any endpoint, also one that a catalog's server vends."""
    seen = list[str | None]()

    class Store(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.headers.get("x-amz-security-token"))
            assert "Credential=a/" in self.headers["Authorization"]
            self.send_response(403)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    monkeypatch.setenv(variable, "canary")
    serving = ThreadingHTTPServer(("127.0.0.1", 0), Store)
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    endpoint = {"s3.endpoint": f"http://127.0.0.1:{serving.server_address[1]}", "s3.region": "x"}
    with pytest.raises(UnreadableFile):
        Storage(["s3://b/t"], {**S3, **endpoint}).read("s3://b/t/m.json")
    serving.shutdown()
    serving.server_close()
    assert seen == [None]
