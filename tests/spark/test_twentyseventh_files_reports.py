"""A data file that was removed, came back and is gone: what is printed runs in Spark, and does what it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from explorer.spec.doctor.findings import Finding
from explorer.storage.paths import local_path
from tests.statements.printed import statements
from tests.support.report_tables import found, java_table, live_files, run_java

SPACE = "sandbox.came_back"


def place(path: Any) -> Path:
    return Path(str(local_path(str(path))))


def insert(session: Any, name: str, rows: str) -> None:
    """Insert rows as one file."""
    session.sql(f"INSERT INTO {name} SELECT /*+ COALESCE(1) */ * FROM VALUES {rows}")


def lose(session: Any, name: str, row: str) -> str:
    """Remove the file that has a row."""
    [path] = [r.path for r in session.sql(f"SELECT DISTINCT _file AS path FROM {name} WHERE {row}").collect()]
    place(path).unlink()
    return str(path)


def missing(session: Any, name: str) -> Finding:
    session.sql(f"REFRESH TABLE {name}")
    [finding] = found(name, "file-missing", files=True)
    return finding


def deletes(finding: Finding) -> list[str]:
    return [statement for statement in statements(finding.remedy) if statement.startswith("DELETE")]


def ids(session: Any, name: str) -> list[int]:
    session.sql(f"REFRESH TABLE {name}")
    return sorted(row.id for row in session.sql(f"SELECT id FROM {name}").collect())


def take_out(session: Any, name: str, finding: Finding) -> None:
    """Run the call of Java that is printed. Java's compiler takes the method of DeleteFiles, whose path is a
    CharSequence; py4j takes the protected one for a String, which removes the file itself."""
    text = session._jvm.java.lang.StringBuilder
    run_java(java_table(session, name), re.sub(r'deleteFile\((".*?")\)', r"deleteFile(text(\1))", finding.remedy), text)


def test_through_py4j_the_call_that_is_printed_removes_the_file_itself(session: Any) -> None:
    name = f"{SPACE}.bridge"
    session.sql(f"CREATE TABLE {name} (id INT) USING iceberg")
    session.sql(f"INSERT INTO {name} VALUES (1)")
    [file] = live_files(session, name)
    assert java_table(session, name).newDelete().deleteFile(file.location()) is None
    assert not place(file.location()).exists()
    assert missing(session, name).remedy.count("through PySpark's bridge the call removes the file from the store") == 1


@pytest.mark.parametrize(
    ("kind", "values", "parted", "where"),
    [
        ("BIGINT", ["1), (3", "4), (9"], "", "k >= 1 AND k <= 3"),
        ("INT", ["2", "4"], "", "k = 2"),
        ("DATE", ["DATE '2024-01-01'", "DATE '2024-02-01'"], "", "k = DATE '2024-01-01'"),
        ("STRING", [r"'it\'s'", "'b'"], "PARTITIONED BY (k)", r"k = 'it\'s'"),
        ("DATE", ["DATE '2024-01-01'", "DATE '2024-02-01'"], "PARTITIONED BY (k)", "k = DATE '2024-01-01'"),
        ("INT", ["5", "6"], "PARTITIONED BY (k, bucket(4, id))", "k = 5"),
    ],
)
def test_the_delete_that_is_printed_takes_out_a_missing_file(
    kind: str, values: list[str], parted: str, where: str, session: Any
) -> None:
    name = f"{SPACE}.t"
    session.sql(f"CREATE TABLE {name} (k {kind}, id INT) USING iceberg {parted}")
    for number, some in enumerate(values):
        rows = ", ".join(f"({one}, {number})" for one in some.split("), ("))
        insert(session, name, rows)
    lose(session, name, "id = 0")
    finding = missing(session, name)
    [statement] = deletes(finding)
    assert statement == f"DELETE FROM {name} WHERE {where}"
    session.sql(statement)
    assert set(ids(session, name)) == {1}
    assert not found(name, "file-missing", files=True, snapshot="main")
    session.sql(f"DROP TABLE {name}")


def test_where_no_filter_takes_the_file_alone_spark_fails_and_java_takes_it_out(session: Any) -> None:
    name = f"{SPACE}.meets"
    session.sql(f"CREATE TABLE {name} (id INT) USING iceberg")
    for rows in ("(1), (4)", "(2), (3)"):
        insert(session, name, rows)
    lose(session, name, "id = 2")
    finding = missing(session, name)
    assert not deletes(finding)
    with pytest.raises(Exception, match=r"does not exist|FileNotFound|FILE_NOT_EXIST"):
        session.sql(f"DELETE FROM {name} WHERE id >= 2 AND id <= 3")
    take_out(session, name, finding)
    assert ids(session, name) == [1, 4]
    assert "It loses its 2 rows, unless they are in other files, too." in finding.remedy


@pytest.mark.parametrize("expired", [False, True])
def test_nothing_is_lost_of_a_file_that_a_compaction_had_replaced(expired: bool, session: Any) -> None:
    name = f"{SPACE}.replaced{int(expired)}"
    session.sql(f"CREATE TABLE {name} (id INT) USING iceberg")
    for rows in ("(1), (2)", "(3), (4)"):
        insert(session, name, rows)
    old = live_files(session, name)[0]
    session.sql(f"CALL sandbox.system.rewrite_data_files(table => '{name}', options => map('rewrite-all', 'true'))")
    java_table(session, name).newAppend().appendFile(old).commit()
    session.sql(f"REFRESH TABLE {name}")
    session.sql(f"INSERT INTO {name} VALUES (5)")
    if expired:  # of Iceberg's API: it takes the file, though it is in use
        replaced = [s for s in java_table(session, name).snapshots() if s.operation() == "replace"][-1]
        expiry = java_table(session, name).expireSnapshots().expireOlderThan(replaced.timestampMillis() + 1)
        expiry.retainLast(1).commit()
    else:
        place(old.location()).unlink()
    finding = missing(session, name)
    assert ("had removed this very file before it came back" in finding.what) == (not expired)
    assert ("a snapshot that has expired had removed the file" in finding.what) == expired
    assert ("Nothing is lost: snapshot" in finding.remedy) == (not expired)
    assert not deletes(finding)
    take_out(session, name, finding)
    assert ids(session, name) == [1, 2, 3, 4, 5]
