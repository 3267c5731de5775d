"""A process that has a Spark of its user's: what the explorer leaves as it was, and what it says. Run by
test_users_spark.py with `with` or `without` Iceberg's jar, or to compare `names`; by tests/servers/test_users_rest.py
to compare what a catalog that is `served` has, whose settings are its third argument; prints JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def start(with_iceberg: bool, folder: Path, packages: Sequence[str] = ()) -> Any:
    """Spark as a user starts it: in a JVM that pyspark finds running, with settings that are none of ours."""
    from pyspark.sql import SparkSession

    from explorer.spark_engine import gateway
    from explorer.spark_engine.java import find_java, resolve_jars

    java = find_java()
    jars = resolve_jars(java, packages) if packages else resolve_jars(java)
    gateway.launch(java, jars if with_iceberg else jars[1:], {"spark.master": "local[1]"})
    builder = SparkSession.builder.master("local[1]").appName("users").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.warehouse.dir", str(folder / "users")).getOrCreate()
    session.conf.set("spark.sql.session.timeZone", "Asia/Kolkata")
    session.conf.set("spark.sql.shuffle.partitions", "7")
    session.conf.set("spark.sql.ansi.enabled", "false")
    session.sparkContext.setLogLevel("FATAL")
    session.sparkContext.setLocalProperty("spark.job.description", "users own")
    session.range(3).createOrReplaceTempView("mine")
    if with_iceberg:
        session.conf.set("spark.sql.catalog.own", "org.apache.iceberg.spark.SparkCatalog")
        session.conf.set("spark.sql.catalog.own.type", "hadoop")
        session.conf.set("spark.sql.catalog.own.warehouse", str(folder / "own"))
        session.conf.set("spark.sql.catalog.prod", "org.apache.iceberg.spark.SparkCatalog")
        session.conf.set("spark.sql.catalog.prod.type", "jdbc")
        session.conf.set("spark.sql.catalog.prod.uri", f"jdbc:sqlite:{folder}/prod.db")
        session.conf.set("spark.sql.catalog.prod.warehouse", str(folder / "prod"))
        session.sql("CREATE NAMESPACE prod.db")
        session.sql("CREATE TABLE own.db.t AS SELECT id, CAST(id AS STRING) AS name FROM range(3)")
        session.sql("INSERT INTO own.db.t VALUES (7, 'seven')")
        session.read.format("iceberg").load(str(folder / "own" / "db" / "t"))  # it adds the catalog default_iceberg
        session.sql("SELECT * FROM own.db.t").collect()  # Iceberg's reader sets properties of Java once
    return session


def state(session: Any) -> dict[str, Any]:
    """All that a user may have set, and what their queries see of it."""
    from pyspark.sql import SparkSession

    from explorer.spark_engine.versions import session_conf

    context, jvm = session.sparkContext, session._jvm
    hadoop = context._jsc.hadoopConfiguration()
    entries = hadoop.iterator()
    local = ("spark.jobGroup.id", "spark.job.description", "spark.scheduler.pool", "spark.job.interruptOnCancel")
    active = SparkSession.getActiveSession()
    return {
        "hadoop": {entry.getKey(): entry.getValue() for entry in iter(lambda: next_of(entries), None)},
        "runtime": session_conf(session),
        "context": sorted(context.getConf().getAll()),
        "properties": {str(k): str(v) for k, v in jvm.java.lang.System.getProperties().items()},
        "log level": str(jvm.org.apache.logging.log4j.LogManager.getRootLogger().getLevel()),
        "files": str(jvm.org.apache.hadoop.fs.FileSystem.getLocal(hadoop).getClass().getName()),
        "local": [context.getLocalProperty(key) for key in local],
        "catalogs": sorted(row.name for row in session.catalog.listCatalogs()),
        "views": sorted(row.name for row in session.catalog.listTables()),
        "functions": len(session.catalog.listFunctions()),
        "place": [session.catalog.currentCatalog(), session.catalog.currentDatabase()],
        "active": active is not None and active._jsparkSession.hashCode(),
        "is created": SparkSession.builder.getOrCreate() is session,
        "hour": session.sql("SELECT hour(timestamp_seconds(0)) AS h").first().h,
        "partitions": session.range(9, numPartitions=3).repartition("id").rdd.getNumPartitions(),
    }


def next_of(entries: Any) -> Any:
    return entries.next() if entries.hasNext() else None


def use(folder: Path) -> list[Any]:
    """What a person asks of Spark through the explorer."""
    import explorer
    from explorer.lab.scenarios import SCENARIOS, unpack_all
    from explorer.reports.maintenance import runs
    from explorer.table import open_table

    table = open_table(str(folder / "own" / "db" / "t"))
    told = [
        explorer.spark().conf.get("spark.sql.session.timeZone"),
        len(table.rows()),
        len(table.sql("SELECT * FROM t WHERE id > 1")),
        table.entries(engine="spark").to_spark().count(),
        table.snapshots.to_spark().count(),
        len(table.row_diff("snapshot-1", "main", engine="spark").changes.inserted),
    ]
    told += open_what_spark_has(folder)
    unpack_all([s for s in SCENARIOS if s.name in ("tracked_delete", "equality_deletes")])
    copy = open_table("demo.tracked_delete")
    told += [len(copy.snapshots), bool(runs.preview(copy, "compact").words)]
    return told


def open_what_spark_has(folder: Path) -> list[Any]:
    """Tables by the user's own names, DataFrames, and by SQL alone, each answering as by its path."""
    from pyspark.sql import SparkSession

    import explorer
    from explorer.spark_engine.user_tables import _by_sql, table_of_session

    spark = SparkSession.builder.getOrCreate()
    expected = explorer.open_table(folder / "own" / "db" / "t").inspect.files().to_arrow()
    asked = {
        "name": explorer.open_table("own.db.t", spark=spark),
        "frame": explorer.open_table(spark.table("own.db.t").where("id > 1").select("name")),
        "query": explorer.open_table(spark.sql("SELECT count(*) FROM own.db.t")),
    }
    told: list[Any] = [{how: table.inspect.files().to_arrow().equals(expected) for how, table in asked.items()}]
    told.append([asked["name"].engine.name, asked["name"].engine.reader.location.catalog])
    by_name, by_sql = table_of_session(spark, "own.db.t"), _by_sql(spark, "own.db.t")
    told.append([Path(by_sql.metadata_location).name == Path(by_name.metadata_location).name, by_sql.name])
    told.append(asked["name"].maintain.preview("compact", option={"rewrite-all": "true"}).value.call)
    told.append(len(asked["name"].rows()))
    spark.sql("CREATE TABLE own.db.other AS SELECT 1 AS id")
    both = spark.table("own.db.t").join(spark.table("own.db.other"), "id")
    for given in (both, spark.range(3)):
        try:
            told.append(explorer.open_table(given).engine.name)
        except explorer.WrongUsage as error:
            told.append(str(error))
    try:
        told.append(explorer.open_table("own.db.nothing", spark=spark).engine.name)
    except explorer.TableNotFound as error:
        told.append(str(error))
    told.append(open_otherwise(spark, folder))
    spark.sql("CREATE TABLE prod.db.t AS SELECT 1 AS id, 'a' AS name")
    told.append([differing_answers(spark, name, {}) for name in ("own.db.t", "prod.db.t")])
    spark.sql("DROP TABLE prod.db.t")
    spark.sql("DROP TABLE own.db.other")
    return [*told, write_in_the_session(spark, ("own", "prod"))]


def differing_answers(spark: Any, name: str, properties: Mapping[str, str]) -> dict[str, list[Any]]:
    """The questions whose answers differ between a table by its name in the session and by its metadata file, which
    `properties` reach. What says where the table was found, or names it, is left out."""
    import explorer
    from tests.golden.every_question import ASKED, aged, arguments, method

    table = explorer.open_table(name, spark=spark)
    by_path = explorer.open_table(table.metadata.metadata_location, properties=dict(properties))
    differs: dict[str, list[Any]] = {}
    asked = 0
    for question in ASKED:
        if question.path in OF_THE_NAME:
            continue
        for words in arguments(question, table):
            given = {"name": words[2]} if "--name" in words else {}
            positional: list[Any] = (
                [[words[0]]] if question.path == ("scan", "estimate") else words[: 1 if given else None]
            )
            one, other = (_answer(method(question, by), positional, given) for by in (table, by_path))
            asked += 1
            told = [json.dumps(aged(data), default=str, sort_keys=True).replace(own, "t") for data, own in
                    ((one, table.name), (other, by_path.name))]  # fmt: skip
            if told[0] != told[1]:
                differs[" ".join([*question.path, *map(str, words)])] = told
    assert asked > 30
    return differs


OF_THE_NAME = {
    ("catalog", "pointer"), ("show",), ("overview",), ("scan", "estimate"), ("maintain", "all"),
    ("maintain", "preview"), ("maintain", "file"), ("refs", "preview"),
}  # fmt: skip
"""Questions whose answers say which catalog has the table, or name it in statements."""


def _answer(ask: Any, positional: Sequence[Any], given: Mapping[str, Any]) -> Any:
    import explorer

    try:
        return ask(*positional, **given).to_json()
    except explorer.ExplorerError as error:
        return str(error)


def open_otherwise(spark: Any, folder: Path) -> list[Any]:
    """DataFrames of a path, of a name with a dot in a part, and of a metadata table."""
    import explorer

    path = str(folder / "own" / "db" / "by_path")
    spark.sql("CREATE TABLE own.db.by_path AS SELECT 1 AS id")
    by_path = explorer.open_table(spark.read.format("iceberg").load(path))
    spark.sql("INSERT INTO own.db.by_path VALUES (2)")
    told: list[Any] = [by_path.name, len(by_path.refresh().inspect.snapshots())]
    spark.sql("CREATE TABLE own.db.`a.b` AS SELECT 1 AS id")
    told.append(explorer.open_table(spark.table("own.db.`a.b`")).refresh().name)
    for given in (spark.table("own.db.t.files"), "own.db.t.files"):
        try:
            told.append(explorer.open_table(given, spark=spark).name)
        except explorer.ExplorerError as error:
            told.append(f"{type(error).__name__}: {error}")
    for name in ("by_path", "`a.b`"):
        spark.sql(f"DROP TABLE own.db.{name}")
    return told


def write_in_the_session(spark: Any, catalogs: Sequence[str]) -> list[Any]:
    """A table of catalogs that only the session knows: opened again after the session's commits, and compacted."""
    import explorer
    from explorer.reports.maintenance import runs

    told: list[Any] = []
    for catalog in catalogs:
        name = f"{catalog}.db.written"
        spark.sql(f"CREATE TABLE {name} AS SELECT 1 AS id")
        spark.sql(f"INSERT INTO {name} VALUES (2)")
        table = explorer.open_table(name, spark=spark)
        spark.sql(f"INSERT INTO {name} VALUES (3)")
        again = table.refresh()
        told.append([len(one.inspect.snapshots()) for one in (table, again)])
        told.append([again.engine.name, table.engine.newer() is not None, again.engine.newer() is not None])
        try:
            runs.run(again.engine, "compact", options={"rewrite-all": "true"})
        except explorer.AccessRefused:
            told.append("refused without allow_writes")
        outcome, after = runs.run(again.engine, "compact", options={"rewrite-all": "true"}, allow_writes=True)
        told.append([outcome.before.data_files, outcome.after.data_files, len(after.snapshots), len(after.rows())])
        told.append(outcome.sql)
        spark.sql(f"DROP TABLE {name}")
    return told


def compare_all_names(folder: Path) -> None:
    """Print the names that are resolved otherwise than by Spark."""
    from tests.support.spark_names import compare_names, make_tables

    session = start(True, folder)
    session.conf.set("spark.sql.catalog.other", "org.apache.iceberg.spark.SparkCatalog")
    session.conf.set("spark.sql.catalog.other.type", "hadoop")
    session.conf.set("spark.sql.catalog.other.warehouse", str(folder / "other"))
    make_tables(session)
    print(json.dumps(compare_names(session)))


def use_served(folder: Path, settings: Mapping[str, str], properties: Mapping[str, str]) -> None:
    """Print what the explorer makes of a catalog `served`: answers that differ from those by path, what writing does,
    and what of the session differs afterwards."""
    import explorer
    from explorer.spark_engine.java import BUNDLES
    from explorer.spark_engine.versions import packages

    session = start(True, folder, (*packages(), BUNDLES["aws"].package))
    for key, value in settings.items():
        session.conf.set(f"spark.sql.catalog.served{key}", value)
    session.sql("CREATE NAMESPACE served.db")
    session.sql(
        "CREATE TABLE served.db.t (id INT, name STRING) USING iceberg TBLPROPERTIES "
        "('format-version' = '2', 'write.delete.mode' = 'merge-on-read')"
    )
    for rows in ("(1, 'a'), (2, 'b')", "(3, 'c')"):
        session.sql(f"INSERT INTO served.db.t VALUES {rows}")
    session.sql("DELETE FROM served.db.t WHERE id = 1")
    session.sql("SELECT * FROM served.db.t").collect()
    before = state(session)
    table = explorer.open_table("served.db.t", spark=session)
    frame = explorer.open_table(session.table("served.db.t").where("id > 1").select("name"))
    told: dict[str, Any] = {
        "answers": differing_answers(session, "served.db.t", properties),
        "frame": frame.metadata.metadata_location == table.metadata.metadata_location,
        "rows": sorted(row["id"] for row in table.rows().to_arrow().to_pylist()),
        "shown": f"{table!r}{table.show().to_text()}{table.inspect.properties().to_text()}{table.engine.why}",
        "written": write_in_the_session(session, ["served"]),
    }
    after = state(session)
    told["differs"] = {key: [before[key], after[key]] for key in before if before[key] != after[key]}
    print(json.dumps(told))


def main() -> None:
    folder = Path(sys.argv[2])
    if sys.argv[1] == "names":
        compare_all_names(folder)
        return
    if sys.argv[1] == "served":
        use_served(folder, *json.loads(sys.argv[3]))
        return
    session = start(sys.argv[1] == "with", folder)
    before = state(session)
    if sys.argv[1] == "with":
        told: Any = use(folder)
    else:
        import explorer

        try:
            explorer.spark()
            told = "nothing"
        except explorer.EngineError as error:
            told = str(error)
    after = state(session)
    answer = {"differs": {key: [before[key], after[key]] for key in before if before[key] != after[key]}, "told": told}
    if sys.argv[1] == "with":
        import explorer

        session.stop()
        answer["stopped"] = explorer.spark().sql("SELECT 1 AS one").first().one
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
