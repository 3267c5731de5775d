"""Iceberg's own REST server, with the three ways in which a client comes by the keys of the store."""

from __future__ import annotations

import traceback
from collections.abc import Iterator

import pytest
from pyiceberg.catalog import load_catalog
from pyiceberg.catalog.rest import Endpoints, RestCatalog
from pyiceberg.table import Table as PyicebergTable
from tornado.httputil import HTTPServerRequest

import explorer
from explorer.errors import TableNotFound
from tests.servers.asking import Engineer, no_secret, register
from tests.servers.conftest import EVERY, Store
from tests.servers.running import rest_server
from tests.support import direct

CLIENT = {"credential": "me:hush-credential"}
SERVER = {"s3.access-key-id": "servers", "s3.secret-access-key": "hush-vended", "s3.session-token": "hush-session"}
OWN = {"s3.access-key-id": "clients", "s3.secret-access-key": "hush-own"}
SECRETS = ("hush-credential", "hush-vended", "hush-session", "hush-own", "client-credentials-token")
WAYS = {
    "plain": ("clients", lambda store: {"s3.endpoint": store.proxy.url, "s3.region": "us-east-1", **OWN}),
    "vending": ("servers", lambda store: {"s3.endpoint": store.proxy.url, "s3.region": "us-east-1"}),
    "configured": ("servers", lambda store: {}),
}
"""Whose keys the store is to see, and what of it the client is configured with."""


@pytest.fixture(scope="module")
def served(bucket: Store, written: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    own = {**SERVER, "s3.endpoint": bucket.direct, "warehouse": "s3://warehouse/written"}
    told = {"endpoint": bucket.proxy.url, "token": "client-credentials-token:sub=me"}
    with rest_server(tmp_path_factory.mktemp("rest"), {**own, **told}) as address:
        store = bucket.properties(endpoint=bucket.direct)
        register("served", {"type": "rest", "uri": f"{address}/plain", **CLIENT, **store}, written)
        yield address


@pytest.mark.parametrize("way", WAYS)
def test_rest(
    way: str,
    served: str,
    store: Store,
    engineer: Engineer,
) -> None:
    account, known = WAYS[way]
    engineer.configures("served", {"type": "rest", "uri": f"{served}/{way}", **CLIENT, **known(store)})
    accounts = set()

    def noted(request: HTTPServerRequest) -> str:
        signed = request.headers.get("Authorization", "").partition("Credential=")[2].partition("/")[0]
        accounts.add(signed)
        return "" if signed == account else "refuse"

    store.proxy.fault = noted
    engineer.page |= way == "vending"
    engineer.asks("served", SECRETS)
    engineer.page = EVERY
    assert accounts == {account}
    engineer.is_refused("served", SECRETS, store)
    store.proxy.fault = lambda request: ""
    found = direct.pointer(direct.open_table("served.shop.marked"))
    assert not found.newer
    assert found.stored.row["metadata-location"] == found.metadata_location
    assert found.stored.row["metadata.table-uuid"]
    no_secret(SECRETS, [str(found)])
    for wrong in ({"credential": "you:hush-credential"}, {"token": "hush-credential"}):
        with pytest.raises(TableNotFound, match="not the token") as refused:  # the server says which it got
            direct.open_table(
                "shop.marked", catalog="other", properties={"type": "rest", "uri": f"{served}/{way}", **wrong}
            )
        no_secret(SECRETS, traceback.format_exception(refused.value))


def test_a_table_of_pyiceberg_and_a_response_bring_the_keys_that_a_server_gave(
    served: str, store: Store, engineer: Engineer
) -> None:
    """What a person has in hand opens with it alone, and answers as the table by its name does."""
    known = WAYS["vending"][1](store)
    properties = {"type": "rest", "uri": f"{served}/vending", **CLIENT, **known}
    engineer.configures("served", properties)
    named = explorer.open_table("served.shop.marked")
    catalog = load_catalog("mine", **properties)
    assert isinstance(catalog, RestCatalog)
    table = catalog.load_table("shop.marked")
    assert isinstance(table, PyicebergTable)
    response = catalog._session.get(catalog.url(Endpoints.load_table, prefixed=True, namespace="shop", table="marked"))
    for given in (table, response.json()):
        opened = explorer.open_table(given, properties=None if given is table else known)
        for ask in (
            lambda of: of.inspect.snapshots(),
            lambda of: of.inspect.files(),
            lambda of: of.inspect.entries(view="stored"),
        ):
            assert list(ask(opened)) == list(ask(named))
        no_secret(SECRETS, [repr(opened), str(opened.overview().to_text())])
