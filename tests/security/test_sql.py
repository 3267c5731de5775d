"""The attack table for statements, in real Spark: each is refused, and nothing that is watched is touched."""

from __future__ import annotations

import random
import re
import socket
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pyspark
import pytest

from explorer.errors import AccessRefused, StatementFailed
from explorer.spark_engine import gateway, landlock
from explorer.spark_engine.read_queue import ReadSession, SqlRequest
from explorer.spark_engine.spark import SparkEngine
from explorer.spark_engine.sql_guard import guard, sql_allowlist
from explorer.spark_engine.user_spark import active_session
from explorer.storage.paths import canonical
from tests.security import EVERY, harmless, sql_cases
from tests.security.canary import Canary
from tests.security.generator import statement
from tests.support import direct

"""`make attacks` sets it: 5,000 statements and every example of Spark's documentation."""
COLUMNS = """id BIGINT, name STRING, price DOUBLE, amount DECIMAL(10, 2), born DATE, ts TIMESTAMP, tags ARRAY<STRING>,
    attrs MAP<STRING, STRING>, address STRUCT<city: STRING, zip: INT>, flag BOOLEAN, payload STRING"""
ROWS = """(1, 'jack', 1.5, 2.5, DATE '2024-01-01', TIMESTAMP '2024-01-01 10:00:00', array('a', 'b'), map('k', 'v'),
    named_struct('city', 'Oslo', 'zip', 1), true, '{"a": 1}'), (2, 'tom', 2.5, 3.5, DATE '2024-02-01',
    TIMESTAMP '2024-02-01 10:00:00', array('c'), map('k', 'w'), named_struct('city', 'Rome', 'zip', 2), false, '{}')"""
TABLE = ("sandbox", "lab", "x")
VIEWS: dict[str, Callable[[], str]] = {}
not_spark3 = pytest.mark.skipif(pyspark.__version__ < "4", reason="Spark 3 has fewer functions, and no such sockets")


@pytest.fixture(scope="module")
def spark(engine: SparkEngine) -> Iterator[object]:
    """A person's session with the views t and u; the table sandbox.lab.x may be written to."""
    main = engine.session()
    main.sql("CREATE NAMESPACE IF NOT EXISTS sandbox.lab")
    main.sql(f"CREATE OR REPLACE TABLE sandbox.lab.attacked ({COLUMNS}) USING iceberg")
    main.sql(f"INSERT INTO sandbox.lab.attacked VALUES {ROWS}")
    main.sql("CREATE OR REPLACE TABLE sandbox.lab.x (id BIGINT, name STRING, price DOUBLE) USING iceberg")
    main.sql("INSERT INTO sandbox.lab.x VALUES (1, 'a', 1)")
    session = engine.person_session()
    with active_session(session):  # where Spark 3.5 looks for catalogs
        for view in "tu":
            session.read.format("iceberg").load("sandbox.lab.attacked").createOrReplaceTempView(view)
            VIEWS[view] = lambda: canonical(direct.open_table("lab.attacked").metadata.metadata_location)
    yield session
    for name in ("attacked", "x"):
        main.sql(f"DROP TABLE IF EXISTS sandbox.lab.{name} PURGE")


@pytest.fixture(scope="module")
def canary(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Canary]:
    watched = Canary(tmp_path_factory.mktemp("canary"))
    yield watched
    watched.close()


@pytest.fixture
def untouched(spark, canary: Canary) -> Iterator[Canary]:
    """Fails when a statement of the test opened a file or a page, ran a program or called Java by name."""
    canary.files()
    canary.requests.clear()
    yield canary
    assert canary.files() == []
    assert canary.requests == []
    assert spark._jvm.java.lang.System.getProperty("canary") is None


def let_through(spark, sql: str, write: bool) -> bool:
    """Whether a statement would be, or was, run. One that is no SQL at all counts as refused."""
    try:
        if write:
            guard.check_write(spark, sql, TABLE, guard.refuse_tables)
            spark.sql(sql)
        else:
            guard.query(spark, sql, VIEWS, guard.refuse_tables).limit(3).collect()
    except (AccessRefused, StatementFailed):
        return False
    except Exception:  # it was run, and failed then
        return True
    return True


@pytest.mark.parametrize("case", sql_cases.QUERIES)
def test_queries_that_reach_out_are_refused(case: str, spark, untouched: Canary) -> None:
    with pytest.raises((AccessRefused, StatementFailed)):
        guard.query(spark, untouched.filled(sql_cases.QUERIES[case]), VIEWS, guard.refuse_tables)


@pytest.mark.parametrize("case", sql_cases.CONDITIONS)
def test_conditions_that_reach_out_are_refused(case: str, spark, untouched: Canary) -> None:
    with pytest.raises((AccessRefused, StatementFailed)):
        guard.condition(spark, spark.table("t"), untouched.filled(sql_cases.CONDITIONS[case]))


@pytest.mark.parametrize("case", sql_cases.WRITES)
def test_writes_that_reach_out_are_refused(case: str, spark, untouched: Canary) -> None:
    with pytest.raises((AccessRefused, StatementFailed)):
        guard.check_write(spark, untouched.filled(sql_cases.WRITES[case]), TABLE, guard.refuse_tables)


def test_statements_at_random_that_reach_out_are_refused(spark, untouched: Canary) -> None:
    random_ = random.Random(20261121)
    parser = spark._jsparkSession.sessionState().sqlParser()
    number, parsed = (5000 if EVERY else 120), 0
    with untouched.programs_of(gateway.pid()):
        for i in range(number):
            sql = untouched.filled(statement(random_, write=i % 3 == 0))
            assert not let_through(spark, sql, i % 3 == 0), sql
            if i % 10 == 0:
                try:
                    parser.parsePlan(sql)
                    parsed += 1
                except Exception:
                    pass
    assert {p for p in untouched.programs if p and "chmod" not in p.split()[0]} == set()
    understood = 0.8 if pyspark.__version__ >= "4" else 0.5
    assert parsed > number / 10 * understood  # else the generator makes nonsense, and is refused for that


def is_of_spark_4(error: Exception) -> bool:
    """Whether it is Spark 3 itself that refuses a statement, as some are of Spark 4: the guard refuses otherwise."""
    return pyspark.__version__ < "4" and isinstance(error, StatementFailed)


def test_queries_that_people_write_still_run(spark) -> None:
    newer = 0
    for i, sql in enumerate(harmless.SIMPLE if EVERY else harmless.SIMPLE[::3]):
        try:
            rows = guard.query(spark, sql, VIEWS, guard.refuse_tables)
            if EVERY or i % 10 == 0:
                rows.limit(5).collect()
        except Exception as error:
            if not is_of_spark_4(error):
                pytest.fail(f"{sql}\n{error}")
            newer += 1
    assert len(harmless.SIMPLE) >= 200
    assert newer < 20


def test_writes_that_people_write_still_run(engine: SparkEngine, spark) -> None:
    engine.session().sql("CREATE OR REPLACE TABLE sandbox.lab.w (id BIGINT, name STRING, price DOUBLE) USING iceberg")
    try:
        for template in harmless.WRITES:
            sql = template.replace("{t}", "sandbox.lab.w").replace("{name}", "lab.w")
            if pyspark.__version__ < "4" and "(id, name, price) VALUES" in sql:
                continue  # Spark 3 takes no rows that lack a column
            try:
                guard.check_write(spark, sql, ("sandbox", "lab", "w"), guard.refuse_tables)
                if not sql.startswith("CALL"):
                    spark.sql(sql)
            except Exception as error:
                if not is_of_spark_4(error):
                    pytest.fail(f"{sql}\n{error}")
    finally:
        engine.session().sql("DROP TABLE sandbox.lab.w PURGE")


def registered(engine: SparkEngine) -> tuple[dict[str, str], set[str]]:
    """The functions of the installed Spark with the examples of their documentation, and its table functions."""
    state = engine.session()._jsparkSession.sessionState()
    registry, tables = state.functionRegistry(), state.tableFunctionRegistry()
    identifier = engine.session()._jvm.org.apache.spark.sql.catalyst.FunctionIdentifier
    names = str(registry.listFunction().mkString("\n")).splitlines()
    examples = {name: str(registry.lookupFunction(identifier(name)).get().getExamples()) for name in names}
    return examples, set(str(tables.listFunction().mkString("\n")).splitlines())


def test_no_function_of_this_spark_is_unknown(engine: SparkEngine, spark) -> None:
    examples, tables = registered(engine)
    known = sql_allowlist.FUNCTIONS | sql_allowlist.TABLE_FUNCTIONS | sql_allowlist.REACHING
    assert set(examples) | tables <= known


@not_spark3
def test_every_function_of_this_spark_is_sorted(engine: SparkEngine, spark) -> None:
    examples, tables = registered(engine)
    assert set(examples) | tables == sql_allowlist.FUNCTIONS | sql_allowlist.TABLE_FUNCTIONS | sql_allowlist.REACHING
    assert set(examples) - sql_allowlist.REACHING == sql_allowlist.FUNCTIONS
    assert tables - sql_allowlist.REACHING == sql_allowlist.TABLE_FUNCTIONS
    assert not sql_allowlist.REACHING & (sql_allowlist.FUNCTIONS | sql_allowlist.TABLE_FUNCTIONS)


@not_spark3
def test_examples_of_sparks_documentation_go_through(engine: SparkEngine, spark) -> None:
    documented, _ = registered(engine)
    statements = [
        sql
        for name in sorted(documented.keys() & sql_allowlist.FUNCTIONS)
        for sql in re.findall(r"^\s*> (SELECT .*?);\s*$", documented[name], re.M | re.S)
        if "TIME'" not in sql and not re.search(r"\bto_time|make_time\(|st_", sql, re.I)  # off in this Spark
    ]
    refused = []
    for sql in statements if EVERY else statements[::16]:
        try:
            guard.query(spark, sql, {}, guard.refuse_tables)
        except AccessRefused as error:
            refused.append((sql, str(error)))
        except StatementFailed:  # features that this Spark has switched off
            continue
        except Exception:
            continue
    assert refused == []
    assert len(statements) > 1000


def test_fences_behind_the_guard(engine: SparkEngine, spark, canary: Canary) -> None:
    """What happens if the guard lets everything through: no function that reaches out, no program, no file, no page."""
    canary.files()
    canary.requests.clear()
    statements = [
        f"SELECT {sql_cases.REFLECT}",
        f"SELECT system.builtin.{sql_cases.REFLECT}",
        f"SELECT {sql_cases.XSD}",
        sql_cases.FILE,
        "SELECT * FROM csv.`{url}/a.csv`",
        "SELECT * FROM python_worker_logs()",
        *([sql_cases.TRANSFORM] if landlock.is_supported() else []),
    ]
    for sql in statements:
        with pytest.raises(Exception, match=r".+"):
            spark.sql(canary.filled(sql)).collect()
    with pytest.raises(Exception, match=r"none|not found"):
        engine.session().read.text(f"{canary.url}/page").collect()
    assert spark.sql("SELECT '${env:HOME}' AS home").collect()[0].home == "${env:HOME}"
    assert canary.files() == []
    assert canary.requests == []
    assert spark._jvm.java.lang.System.getProperty("canary") is None


def test_a_reading_session_is_a_persons(sandbox: Path, engine: SparkEngine, spark) -> None:
    reads = ReadSession(engine)
    assert reads.session().conf.get("spark.sql.runSQLOnFiles") == "false"
    assert reads.session().conf.get("spark.sql.variable.substitute") == "false"
    with pytest.raises(AccessRefused, match="reaches out"):
        reads.read(SqlRequest("SELECT reflect('a', 'b')", {}))


def test_spark_asks_who_is_there(engine: SparkEngine) -> None:
    assert engine.session().conf.get("spark.authenticate") == "true"


@not_spark3
def test_what_spark_collects_is_met_in_a_folder_of_ours(engine: SparkEngine) -> None:
    """Not at a port of loopback, where the first who connects has the only connection."""
    where, secret, _ = engine.session().range(3)._jdf.collectToPython()
    assert secret is None
    assert Path(where).is_socket()
    assert stat.S_IMODE(Path(where).parent.stat().st_mode) == 0o700
    with socket.socket(socket.AF_UNIX) as waiting:
        waiting.connect(where)
