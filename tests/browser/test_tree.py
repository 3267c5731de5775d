"""The tree of a catalog with ten thousand tables: all can be reached."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from pathlib import Path

import pyarrow as pa
from playwright.sync_api import Browser, expect
from pyiceberg.catalog.sql import SqlCatalog

from tests.browser.conftest import page_of, served

TABLES = 10_000


def test_every_one_of_ten_thousand_tables_is_found(
    sandbox: Path, browser: Browser, tmp_path: Path, artifacts: Path
) -> None:
    uri = f"sqlite:///{tmp_path}/catalog.db"
    catalog = SqlCatalog("large", uri=uri, warehouse=f"file://{tmp_path}")
    catalog.create_namespace("many")
    schema = pa.schema([("id", pa.int64())])
    last = catalog.create_table(("many", f"t{TABLES - 1:05}"), schema).metadata_location
    catalog.engine.dispose()
    rows = [("large", "many", f"t{i:05}", last) for i in range(TABLES - 1)]
    with contextlib.closing(sqlite3.connect(tmp_path / "catalog.db")) as database, database:
        columns = "catalog_name, table_namespace, table_name, metadata_location"
        database.executemany(f"INSERT INTO iceberg_tables ({columns}) VALUES (?, ?, ?, ?)", rows)
    environment = {"PYICEBERG_CATALOG__LARGE__URI": uri, "PYICEBERG_CATALOG__LARGE__TYPE": "sql"}
    with served(tmp_path / "log", **environment) as url, page_of(browser, url) as page:
        page.goto(url)
        page.get_by_role("button", name="Browse catalogs").click()
        tables = page.get_by_role("complementary", name="Tables")
        tables.get_by_role("button", name="large", exact=True).click()
        tables.get_by_role("button", name="many", exact=True).click()
        expect(tables.get_by_role("button", name="t00000", exact=True)).to_be_attached()
        began = time.monotonic()
        tables.get_by_label("Filter tables").press_sequentially("T0999")
        expect(tables.get_by_role("button", name="t09990", exact=True)).to_be_visible()
        print(f"filtered after {time.monotonic() - began:.2f} s")
        expect(tables.get_by_role("button", name="Pin large.many")).to_have_count(10)
        page.screenshot(path=artifacts / "tree-filtered.png")
        tables.get_by_role("button", name="t09999", exact=True).click()
        expect(page.get_by_role("button", name="large / many / t09999")).to_be_visible()
