"""Which catalog a table's name means, and what is said where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from pyiceberg.catalog.sql import SqlCatalog

from explorer.cli import main
from explorer.errors import AccessRefused, TableNotFound
from explorer.reports.maintenance import runs
from tests.support import direct
from tests.support.small_tables import in_catalog, make_table, newest_metadata


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for pyiceberg's configuration, and no sandbox."""
    monkeypatch.setenv("ICEDIVE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PYICEBERG_HOME", str(tmp_path))
    return tmp_path


def configure(home: Path, properties: dict[str, str], name: str, more: str = "") -> None:
    lines = "".join(f"    {key}: {value}\n" for key, value in properties.items())
    (home / ".pyiceberg.yaml").write_text(f"{more}catalog:\n  {name}:\n{lines}")


def test_properties_that_describe_a_catalog_are_not_the_sandbox(home: Path) -> None:
    properties = in_catalog(make_table(home), "default")
    table = direct.open_table("db.t", properties=properties)
    assert (table.name, table.reader.location.catalog) == ("default.db.t", "default")
    assert not runs.is_writable(table)
    with pytest.raises(AccessRefused, match="is not in the sandbox catalog"):
        runs.check_writable(table)
    with pytest.raises(TableNotFound, match="'sandbox' is the embedded catalog: the property 'type' describes another"):
        direct.open_table("db.t", "sandbox", {"type": "rest", "uri": "http://127.0.0.1:1"})
    with pytest.raises(TableNotFound, match="'sandbox' is the embedded catalog"):
        direct.open_table("sandbox.db.t", None, {"uri": properties["uri"]})
    options = [option for key, value in properties.items() for option in ("-p", f"{key}={value}")]
    swept = CliRunner().invoke(main, ["catalog", "tables", "--summary", *options])
    assert "sandbox" not in swept.output


def test_a_mistyped_catalog_is_named(home: Path) -> None:
    configure(home, in_catalog(make_table(home)), "small")
    assert direct.open_table("small.db.t").name == "small.db.t"
    with pytest.raises(
        TableNotFound, match=r"no catalog 'smal' is configured \(known: sandbox, small; did you mean small"
    ):
        direct.open_table("smal.db.t")
    with pytest.raises(TableNotFound, match=r"'small' is a catalog: its tables are named small.namespace.table"):
        direct.open_table("small.t")


@pytest.mark.parametrize(("name", "more"), [("default", ""), ("lake", "default-catalog: lake\n")])
def test_the_default_catalog_of_pyiceberg(home: Path, name: str, more: str) -> None:
    configure(home, in_catalog(make_table(home), name), name, more)
    table = direct.open_table("db.t")
    assert table.name == f"{name}.db.t"
    assert table.refresh().name == table.name
    assert not runs.is_writable(table)
    with pytest.raises(TableNotFound, match=rf"nor in the default catalog: no table 'db.x' in catalog '{name}'"):
        direct.open_table("db.x")


def test_a_table_that_is_registered_in_the_sandbox_from_elsewhere(home: Path) -> None:
    (home / "home" / "sandbox").mkdir(parents=True)
    uri = f"sqlite:///{home}/home/sandbox/catalog.db"
    catalog = SqlCatalog("sandbox", uri=uri, warehouse=f"{home}/home/sandbox/warehouse")
    catalog.create_namespace("db")
    catalog.register_table("db.t", str(newest_metadata(make_table(home))))
    catalog.engine.dispose()
    table = direct.open_table("db.t")
    assert not runs.is_writable(table)
    with pytest.raises(AccessRefused, match="is registered in the sandbox, and its files are elsewhere"):
        runs.check_writable(table)
    runs.check_writable(table, allow_writes=True)
