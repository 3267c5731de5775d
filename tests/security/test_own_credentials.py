"""Credentials that a person gives to a session: for its questions alone, in its memory alone, and for no other server
than the catalog's. A catalog that a page adds names no class, and no file has a secret of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from explorer.app.protocol import AddCatalog, UseCredentials
from explorer.app.rights import Rights
from explorer.errors import WrongUsage
from explorer.serving import places
from explorer.storage.catalogs import catalogs
from explorer.storage.catalogs.added_catalogs import FILE, added_names, check_catalog
from explorer.storage.catalogs.credentials import CREDENTIALS, LONGEST, check_credentials, replace_credentials
from explorer.storage.catalogs.new_catalogs import SETTINGS, check_form
from tests.support.app_client import Client
from tests.support.small_tables import make_table, newest_metadata
from tests.support.token_catalog import SECRETS, TokenCatalog, token_catalog


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    return make_table(tmp_path).parent


@pytest.fixture
def server(warehouse: Path) -> Iterator[TokenCatalog]:
    [metadata] = {newest_metadata(path.parent) for path in warehouse.rglob("metadata")}
    with token_catalog(metadata) as serving:
        yield serving


@pytest.fixture
def prod(home: Path, server: TokenCatalog, warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> TokenCatalog:
    """A catalog that who runs the server has configured, with a token of theirs."""
    for name, value in {"TYPE": "rest", "URI": server.url, "WAREHOUSE": str(warehouse)}.items():
        monkeypatch.setenv(f"PYICEBERG_CATALOG__PROD__{name}", value)
    return server


def give(client: Client, who: str, catalog: str = "prod") -> dict[str, Any]:
    return client.ask(type="credentials", catalog=catalog, credentials={"token": SECRETS[who]} if who else {})


def test_each_session_has_its_own(prod: TokenCatalog, caplog: pytest.LogCaptureFixture) -> None:
    ann, bob, nobody = Client(), Client(), Client()
    assert give(ann, "ann")["data"] == {"namespaces": 1}
    assert give(bob, "bob")["data"] == {"namespaces": 1}
    assert ann.data(type="catalogs", catalog="prod") == {"namespaces": [["ann"]]}
    assert bob.data(type="catalogs", catalog="prod") == {"namespaces": [["bob"]]}
    assert ann.data(type="catalogs", catalog="prod", namespace=["ann"]) == {"tables": ["prod.ann.t"]}
    assert ann.data(type="open", table="prod.ann.t")["title"] == "prod.ann.t"
    assert ann.data(type="ask", question="inspect files", table="prod.ann.t")["blocks"]
    assert ann.data(type="ask", question="catalog tables", catalog="prod")["blocks"]
    for client in (bob, nobody):
        for asked in (
            {"type": "open", "table": "prod.ann.t"},
            {"type": "ask", "question": "inspect files", "table": "prod.ann.t"},
            {"type": "graph", "table": "prod.ann.t"},
            {"type": "catalogs", "catalog": "prod", "namespace": ["ann"]},
            {"type": "ask", "question": "catalog pointer", "table": "prod.ann.t"},
        ):
            assert client.ask(**asked)["type"] == "error"
    for one in (ann, bob, nobody):
        shown = json.dumps(one.messages) + caplog.text
        assert not [secret for secret in SECRETS.values() if secret in shown]
        one.session.close()
        assert not one.session._credentials


def test_they_take_the_place_of_the_servers_own(prod: TokenCatalog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYICEBERG_CATALOG__PROD__TOKEN", SECRETS["server"])
    client = Client()
    assert client.data(type="catalogs", catalog="prod") == {"namespaces": [["server"]]}
    prod.tokens.clear()
    give(client, "ann")
    client.data(type="open", table="prod.ann.t")
    assert set(prod.tokens) == {SECRETS["ann"]}
    assert client.data(type="facts", table="prod.ann.t")["title"] == "prod.ann.t"
    give(client, "")  # and back; what was open with them is not kept
    assert client.data(type="catalogs", catalog="prod") == {"namespaces": [["server"]]}
    assert client.ask(type="facts", table="prod.ann.t")["type"] == "error"


def test_what_opens_nothing_is_not_kept(prod: TokenCatalog) -> None:
    client = Client()
    give(client, "ann")
    wrong = client.ask(type="credentials", catalog="prod", credentials={"token": "wrong-canary-3"})
    assert wrong["type"] == "error"
    assert "wrong-canary-3" not in wrong["text"]
    assert client.data(type="catalogs", catalog="prod") == {"namespaces": [["ann"]]}


@pytest.mark.parametrize(
    "name",
    ["uri", "s3.endpoint", "py-io-impl", "py-catalog-impl", "auth.impl", "oauth2-server-uri", "warehouse", "header.x"],
)
def test_a_credential_is_no_address_and_no_class(prod: TokenCatalog, name: str) -> None:
    client = Client()
    told = client.ask(type="credentials", catalog="prod", credentials={name: "x", "token": SECRETS["ann"]})
    assert "is no credential" in told["text"]
    assert not prod.tokens


@pytest.mark.parametrize("value", ["", "a\nb", "x" * (LONGEST + 1), 5, None, ["a"]])
def test_a_credential_is_a_line(value: Any) -> None:
    with pytest.raises(WrongUsage):
        check_credentials({"token": value})


def test_only_catalogs_that_are_offered_take_them(prod: TokenCatalog, monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client()
    assert client.ask(type="credentials", catalog="other", credentials={"token": "x"})["type"] == "error"
    assert client.ask(type="credentials", catalog="sandbox", credentials={"token": "x"})["type"] == "error"
    monkeypatch.setenv(places.NAMES_VARIABLE, json.dumps(["sandbox."]))
    assert give(client, "ann")["type"] == "error"
    assert not prod.tokens


def test_no_other_catalog_gets_them(prod: TokenCatalog, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that the sandbox does not have is looked for in the default catalog."""
    with token_catalog(prod.metadata) as other:
        monkeypatch.setenv("PYICEBERG_CATALOG__DEFAULT__TYPE", "rest")
        monkeypatch.setenv("PYICEBERG_CATALOG__DEFAULT__URI", other.url)
        client = Client()
        give(client, "ann")
        prod.tokens.clear()
        assert client.ask(type="open", table="`prod`.ann.t")["type"] == "error"
        assert SECRETS["ann"] not in prod.tokens
        for name in ("prod.t", "ann.t", "default.ann.t", "prod.ann.t", "prod.ann.none", "./prod.ann.t", "prod.ann.t/x"):
            client.ask(type="open", table=name)
            client.ask(type="ask", question="catalog pointer", table=name)
        client.ask(type="catalogs", catalog="default")
        client.ask(type="ask", question="catalog tables", catalog="default")
        assert other.tokens
        assert SECRETS["ann"] not in other.tokens


def test_requests_do_not_show_them() -> None:
    shown = repr(UseCredentials(1, "prod", {"token": "canary"})) + repr(
        AddCatalog(1, "a", typed={"token": "canary"}, own={"t": "canary"})
    )
    assert "canary" not in shown


# -- which take whose place --------------------------------------------------------------------------------------------
def test_a_key_does_not_go_with_anothers_secret() -> None:
    configured = {
        "uri": "http://x", "s3.access-key-id": "a", "s3.secret-access-key": "b", "s3.session-token": "c",
        "client.role-arn": "d", "s3.endpoint": "e", "token": "f",
    }  # fmt: skip
    given = {"client.access-key-id": "1", "client.secret-access-key": "2"}
    assert replace_credentials(configured, given) == {"uri": "http://x", "s3.endpoint": "e", "token": "f", **given}
    assert replace_credentials(configured, {"credential": "g"}) == {
        **{name: value for name, value in configured.items() if name != "token"},
        "credential": "g",
    }
    assert replace_credentials(configured, {"uri": "http://y"}) == {**configured, "uri": "http://y"}
    assert replace_credentials(configured, configured) == configured


# -- adding ------------------------------------------------------------------------------------------------------------
def test_a_page_adds_a_catalog(
    home: Path, server: TokenCatalog, warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Client(Rights(catalogs=True))
    given = {"type": "rest", "uri": server.url, "warehouse": str(warehouse)}
    told = client.ask(type="add_catalog", name="lake", properties=given)
    assert "cannot be listed" in told["text"]
    assert not added_names()
    monkeypatch.setenv("LAKE_TOKEN", SECRETS["ann"])
    told = client.data(type="add_catalog", name="lake", properties=given, secrets={"token": "env:LAKE_TOKEN"})
    assert told == {"catalogs": ["sandbox", "lake"], "namespaces": 1}
    assert catalogs.namespaces("lake") == [("ann",)]
    told = client.data(type="add_catalog", name="Pond", properties=given, own={"token": SECRETS["bob"]})
    assert client.data(type="catalogs", catalog="pond") == {"namespaces": [["bob"]]}
    assert Client().ask(type="catalogs", catalog="pond")["type"] == "error"
    kept = (home / FILE).read_text()
    assert not [secret for secret in SECRETS.values() if secret in kept + json.dumps(client.messages)]


def test_an_address_of_tokens_is_no_secret_and_no_database_is_made(home: Path, tmp_path: Path) -> None:
    server = {"type": "rest", "uri": "http://x", "oauth2-server-uri": "http://y/tokens"}
    check_form(server)
    check_catalog("lake", server, {})
    with pytest.raises(WrongUsage, match="looks like a secret"):
        check_catalog("lake", {**server, "oauth2-server-uri": "http://u:hunter2@y?token=hunter2"}, {})
    file = tmp_path / "none.db"
    given = {"type": "sql", "uri": f"sqlite:///{file}"}
    told = Client(Rights(catalogs=True)).ask(type="add_catalog", name="lake", properties=given)
    assert "there is no database" in told["text"]
    assert not file.exists()


@pytest.mark.parametrize(
    "properties",
    [
        {"type": "rest", "uri": "file:///etc/passwd"},
        {"type": "rest", "uri": "http://x", "py-io-impl": "os.system"},
        {"type": "rest", "uri": "http://x", "py-catalog-impl": "a.B"},
        {"type": "rest", "uri": "http://x", "auth.impl": "a.B"},
        {"type": "in-memory", "uri": "http://x"},
        {"type": "sql", "uri": "mysql+evil://x"},
        {"type": "hive", "uri": "http://x"},
        {"type": "rest"},
        {"uri": "http://x"},
        {"type": "rest", "uri": "http://x", "scope": 5},
    ],
)
def test_a_form_names_no_class_and_no_other_kind_of_address(properties: dict[str, Any], home: Path) -> None:
    with pytest.raises(WrongUsage):
        check_form(properties)
    told = Client(Rights(catalogs=True)).ask(type="add_catalog", name="lake", properties=properties)
    assert told["type"] == "error"
    assert not (home / FILE).exists()


def test_no_property_of_a_form_is_a_class_or_a_secret() -> None:
    assert not [name for name in SETTINGS if "impl" in name or "signer" in name or name in CREDENTIALS]
    assert not [name for name in CREDENTIALS if "impl" in name or "uri" in name or "endpoint" in name]


def test_who_may_not_add_adds_nothing(home: Path, server: TokenCatalog) -> None:
    given = {"type": "rest", "uri": server.url}
    told = Client(Rights(sql=True, lab=True)).ask(type="add_catalog", name="lake", properties=given)
    assert "No catalog is added here" in told["text"]
    assert not server.tokens
    assert not (home / FILE).exists()
