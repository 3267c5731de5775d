"""Which catalog a table's name means, and what is said where there is none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyiceberg.catalog.sql import SqlCatalog

from explorer.cli import main
from explorer.errors import AccessRefused, TableNotFound
from explorer.reports.maintenance import runs
from explorer.spec.text.identifiers import join_identifier, split_identifier
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


NAMES = (
    "a/b", "<b>t</b>", "with.dot", "..", "a`b", "می‌خواهم", "👩‍💻", "עברית", "plain", "a b",
)  # fmt: skip
"""Names that a catalog takes: with slashes, dots and joiners, of other scripts."""


@pytest.fixture
def odd(home: Path) -> Path:
    """A catalog `odd` of tables of a row each, with such names."""
    properties = {"type": "sql", "uri": f"sqlite:///{home}/odd.db", "warehouse": f"file://{home}/odd"}
    catalog = SqlCatalog("odd", **properties)
    catalog.create_namespace("db")
    for number, name in enumerate(NAMES):
        table = catalog.create_table(
            ("db", name), pa.schema([("id", pa.int64()), ("می‌خواهم", pa.string())]), f"file://{home}/odd/{number}"
        )
        table.append(pa.table({"id": [number], "می‌خواهم": ["👩‍💻"]}))
    configure(home, properties, "odd")
    return home


def test_every_table_of_a_catalog_is_opened_by_the_name_that_is_shown(odd: Path) -> None:
    ask = CliRunner().invoke
    swept = ask(main, ["catalog", "tables", "odd", "--summary", "-o", "jsonl"])
    assert swept.exit_code == 0, swept.output
    rows = [json.loads(line) for line in swept.stdout.splitlines()]
    assert [row["records"] for row in rows] == [1] * len(NAMES)
    assert {split_identifier(row["table"]) for row in rows} == {("odd", "db", name) for name in NAMES}
    shown = [line.split()[1] for line in ask(main, ["catalog", "tables", "odd"]).stdout.splitlines()[1:]]
    assert len(shown) == len(NAMES)
    for name in ("db.a b" if one == "db.a" else one for one in shown):
        for words in ([f"odd.{name}"], [name, "--catalog", "odd"]):
            told = ask(main, ["count", *words])
            assert told.stdout.startswith("1 visible rows"), (words, told.output)
        table = direct.open_table(f"odd.{name}")
        assert table.refresh().name == table.name == f"odd.{name}"
    assert ask(main, ["catalog", "doctor", "odd", "-o", "json"]).exit_code == 0
    missing = ask(main, ["count", "odd.db.with.dots"])
    assert "it has: db.`with.dot`" in missing.output


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8"])
def test_output_that_is_not_utf_8_ends_no_command(odd: Path, encoding: str) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    run = partial(subprocess.run, env=environment, capture_output=True, check=True)
    for words in (["show", "odd.db.עברית"], ["inspect", "schema", "odd.db.plain"], ["catalog", "tables", "odd"]):
        run([sys.executable, "-m", "explorer.cli", *words])
    for form in ("json", "jsonl", "csv"):
        told = run([sys.executable, "-m", "explorer.cli", "inspect", "schema", "odd.db.plain", "-o", form])
        text = told.stdout.decode("utf-8")  # whatever the terminal's encoding is
        assert "می‌خواهم" in text or json.dumps("می‌خواهم")[1:-1] in text or "خواهم" in text


def test_names_as_text() -> None:
    for parts in (("a", "b"), ("a.b", "c"), ("", "x"), ("`", "``"), ("a`.`b", ".")):
        assert split_identifier(join_identifier(parts)) == parts
    assert join_identifier(("db", "a/b")) == "db.a/b"
    assert split_identifier("a.`b") == ("a", "`b")
    assert split_identifier("a`b.c") == ("a`b", "c")
