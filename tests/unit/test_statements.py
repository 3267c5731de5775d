"""Every statement that is printed is one that Spark 3.5 accepts: by its grammar here, and by its real parser where that
is (see `make spark35`)."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from explorer.errors import ExplorerError
from explorer.reports.maintenance.runs import preview, undo_statement
from explorer.spec.snapshots.refs import OPERATIONS
from tests.cases import NAMES, build_case
from tests.cases.mini import Table
from tests.statements import parser35
from tests.statements.printed import printed
from tests.statements.spark35 import fault
from tests.support import direct
from tests.support.small_tables import in_catalog

SPARK35 = os.environ.get("ICEDIVE_SPARK35", "")
"""A Python with pyspark 3.5, and the path of Iceberg's jar for it, with a comma between."""
STRANGE = ("my-catalog", "größe 1", "order")
"""A catalog, a namespace and a table whose names need quotes, or are words of SQL."""
QUOTES = ("it's", "the 'db'", 'a`b"c')
"""A catalog, a namespace and a table whose names have quotes and backticks."""
ACCEPTED = [
    "CALL c.system.expire_snapshots(table => 'a.b', older_than => TIMESTAMP '2024-01-01 00:00:00.000 UTC')",
    "CALL c.system.expire_snapshots(table => 'a.b', snapshot_ids => array(1L, -2L), retain_last => 1)",
    "CALL c.system.rewrite_data_files(table => 'a', options => map('a', 'b\\'c', 'd', ''), where => '`x` = \\'(\\'')",
    "CALL `a-b`.system.rewrite_manifests('`a b`.c', false)",
    "CALL c.system.rollback_to_snapshot('a.b', 9223372036854775807)",
    "call c.system.remove_orphan_files(`table` => 'a', equal_schemes => MAP('a', 'b'), dry_run => TRUE)",
    "ALTER TABLE `a-b`.c.d CREATE BRANCH `x y` AS OF VERSION 7",
    "ALTER TABLE a.b.c SET TBLPROPERTIES ('schema.name-mapping.default' = '[{\"names\": [\"it\\'s\"]}]')",
    "ALTER TABLE a.b.c UNSET TBLPROPERTIES ('a;b')",
    "ALTER TABLE a.b.c ALTER COLUMN `x y`.z DROP NOT NULL",
    "ALTER TABLE a.b.c DROP PARTITION FIELD `x-y`",
    "INSERT OVERWRITE a.b.c SELECT DISTINCT * FROM a.b.c",
]
REFUSED = [
    "CALL c.system.expire_snapshots(table => 'a.b', older_than => TIMESTAMP_MILLIS(1L))",
    "CALL c.system.expire_snapshots(table => 'a.b', snapshot_ids => array())",
    "CALL c.system.rewrite_data_files(table => 'a', options => map())",
    "CALL c.system.rewrite_data_files(table => 'a', options => map('a', array('b')))",
    "CALL c.system.rewrite_data_files(table => 'a', options => named_struct('a', 'b'))",
    "CALL c.system.rollback_to_snapshot('a.b', 1 + 1)",
    "CALL c.system.rollback_to_snapshot('a.b', null)",
    "CALL c.system.rollback_to_snapshot('a.b', table = 'c')",
    "CALL c.system.rollback_to_snapshot('a.b', 1",
    "CALL c.system.no_such_procedure('a.b')",
    "CALL a-b.system.rewrite_manifests('a.b')",
    "ALTER TABLE a-b.c.d CREATE BRANCH x AS OF VERSION 7",
    "INSERT OVERWRITE a.b-c SELECT * FROM a.b-c",
]
NAMED = r"`my-catalog`\.`größe 1`\.order|'`größe 1`\.order'"
UNRESOLVED = [
    "CALL c.system.rollback_to_snapshot(table => 'a', 1)",
    "CALL c.system.rewrite_data_files(table => 'a', table => 'b')",
    "CALL c.system.rewrite_data_files(table => 'a', no_such => 'b')",
    "CALL c.system.rewrite_manifests()",
    "CALL c.system.rewrite_data_files('a', options => map('a'))",
]
"""What parses, and is refused by Iceberg afterwards."""


def test_the_grammar_of_spark_35() -> None:
    for statement in ACCEPTED:
        assert fault(statement) == "", statement
    for statement in REFUSED + UNRESOLVED:
        assert fault(statement), statement


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """All statements that are printed of each case, opened by path and by a strange name."""
    folder, told = tmp_path_factory.mktemp("cases"), {}
    for name in NAMES:
        place = build_case(name, folder)
        table = direct.open_table(str(place))
        told[name] = [*printed(table, deep=True), *undone(table)]
    return told


def undone(table: direct.Table) -> Iterator[str]:
    """The statements of `undo`, for the names of strangers too."""
    for snapshot in table.metadata.snapshots:
        for operation in OPERATIONS:
            at = "2024-01-01 00:00:00" if operation == "rollback-to-time" else snapshot.snapshot_id
            for name in ("main", "it's `me`", "größe"):
                try:
                    yield undo_statement(table, operation, name, at)
                except ExplorerError:  # a branch that there is not
                    continue


def test_statements_of_the_cases(cases: dict[str, list[str]]) -> None:
    assert sum(map(len, cases.values())) > 500
    for name, statements in cases.items():
        for statement in statements:
            assert not fault(statement), (name, statement, fault(statement))


@pytest.fixture(scope="module")
def strange(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """All statements that are printed of a table whose names need quotes."""
    folder = build_case("01", tmp_path_factory.mktemp("strange"))
    table = direct.open_table(".".join(STRANGE[1:]), STRANGE[0], in_catalog(folder, *STRANGE))
    return [*printed(table), *undone(table)]


def test_statements_of_a_table_with_strange_names(strange: list[str]) -> None:
    assert any("rollback_to_snapshot" in statement for statement in strange)
    for statement in strange:
        assert not fault(statement), statement
        assert {"`my-catalog`.`größe 1`.order", "'`größe 1`.order'"} & set(re.findall(NAMED, statement)), statement
        assert "your_" not in statement


@pytest.fixture(scope="module")
def quotes(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """All statements that are printed of tables whose names, and whose columns', have quotes and backticks."""
    folder, told = tmp_path_factory.mktemp("quotes"), list[str]()
    for name in ("01", "05", "10", "16", "18", "45", "64"):
        place = build_case(name, folder / name)
        table = direct.open_table(".".join(QUOTES[1:]), QUOTES[0], in_catalog(place, *QUOTES))
        told += [*printed(table, deep=True), *undone(table)]
    for name, make in (("null", hive_null), ("ids", no_ids), ("required", absent_column), ("key", bad_property)):
        make(folder / name / "t")
        table = direct.open_table(".".join(QUOTES[1:]), QUOTES[0], in_catalog(folder / name / "t", *QUOTES))
        told += printed(table, deep=True)
    return told


COLUMN = "it's `x`"


def hive_null(place: Path) -> None:
    table = Table(place, [(1, "id", "long"), (2, COLUMN, "string")], [(2, 1000, COLUMN, "identity")])
    sign = "__HIVE_DEFAULT_PARTITION__"
    table.append(table.parquet("a.parquet", {"id": [1], COLUMN: [sign]}, partition={COLUMN: sign}))


def no_ids(place: Path) -> None:
    table = Table(place, [(1, "id", "long"), (2, COLUMN, "string")])
    table.append(table.parquet("a.parquet", {"id": [1], COLUMN: ["a"]}, ids=False))


def absent_column(place: Path) -> None:
    table = Table(place, [(1, "id", "long"), (2, COLUMN, "string", True)])
    table.append(table.parquet("a.parquet", {"id": [1]}))


def bad_property(place: Path) -> None:
    table = Table(place, [(1, "id", "long")], properties={"it's `my` password": "secret-of-mine"})
    table.append(table.parquet("a.parquet", {"id": [1]}))


def test_statements_with_quotes_and_backticks(quotes: list[str]) -> None:
    in_text, name = r"""'`the \'db\'`.`a``b"c`'""", """`it's`.`the 'db'`.`a``b"c`"""
    assert any(in_text in statement for statement in quotes)
    assert any(r"""'`the \'db\'`.`a``b"c_fork`'""" in statement for statement in quotes)
    for statement in quotes:
        assert not fault(statement), (statement, fault(statement))
        assert "your_" not in statement
    column = "`it's ``x```"
    for wanted in (
        f"UPDATE {name} SET {column} = NULL WHERE {column} = ",
        f"ALTER TABLE {name} ALTER COLUMN {column} DROP NOT NULL",
        f"ALTER TABLE {name} SET TBLPROPERTIES ('schema.name-mapping.default' = '",
        rf"ALTER TABLE {name} UNSET TBLPROPERTIES ('it\'s `my` password')",
        f"CALL `it's`.system.rollback_to_snapshot({in_text}, ",
    ):
        assert any(statement.startswith(wanted) for statement in quotes), wanted


def test_no_text_ends_a_statement_where_a_name_has_quotes(tmp_path: Path) -> None:
    """Spark's shell takes a quote in a name for the beginning of a text, and a semicolon after it for the end of the
    statement."""
    table = Table(tmp_path / "t", [(1, "id", "long"), (2, "a; DROP TABLE x; b", "string")])
    table.append(table.parquet("a.parquet", {"id": [1], "a; DROP TABLE x; b": ["a"]}, ids=False))
    properties = in_catalog(tmp_path / "t", *QUOTES)
    for opened in (direct.open_table(".".join(QUOTES[1:]), QUOTES[0], properties), str(tmp_path / "t")):
        [remedy] = [f.remedy for f in direct.doctor(opened, deep=True).findings if f.rule == "field-ids-absent"]
        assert ("DROP TABLE" in remedy) == isinstance(opened, str)


@pytest.mark.parametrize(
    ("name", "where", "printed_as_it_is"),
    [
        ("a`b", "x = 'a;b'", True), ("a;b", "", False), ("a--b", "", False), ("a${b}", "", False),
        ("ab", "x = '${b}'", False), ("a\u202eb", "", False),
    ],
)  # fmt: skip
def test_maintenance_prints_no_statement_that_is_taken_for_another(
    name: str, where: str, printed_as_it_is: bool, tmp_path: Path
) -> None:
    table = Table(tmp_path / "t", [(1, "x", "string")])
    table.append(table.parquet("a.parquet", {"x": ["a;b", "${b}"]}))
    properties = in_catalog(tmp_path / "t", "cat", "db", name)
    opened = direct.open_table(f"db.{name}", "cat", properties)
    seen = preview(opened, "compact", options={"rewrite-all": "true"}, where=where)
    assert (bool(seen.call), "No statement is printed" in seen.words[0]) == (printed_as_it_is, not printed_as_it_is)
    assert not seen.refusal


@pytest.mark.skipif(not SPARK35, reason="needs Spark 3.5: make spark35")
def test_the_real_parser_of_spark_35_agrees(cases: dict[str, list[str]], strange: list[str], quotes: list[str]) -> None:
    ours = sorted({statement for statements in cases.values() for statement in statements} | {*strange, *quotes})
    asked = [*ACCEPTED, *ours, *REFUSED]
    answers = real_parser(asked)
    assert len(answers) == len(asked)
    for statement, answer in zip(asked, answers, strict=True):
        assert bool(answer) == (statement in REFUSED), (statement, answer)


def real_parser(statements: list[str]) -> list[str]:
    """What the real parser says to each statement; empty where it accepts it."""
    python, jar = SPARK35.split(",")
    told = "".join(json.dumps(statement) + "\n" for statement in statements)
    command = [python, parser35.__file__, jar]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    run = subprocess.run(command, input=told, capture_output=True, text=True, env=environment, timeout=300, check=True)
    return [json.loads(line) for line in run.stdout.splitlines()]
