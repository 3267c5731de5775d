"""Statements at random that reach outside somewhere deep inside, by a fixed seed."""

from __future__ import annotations

import random

from tests.security.sql_cases import FILE, REFLECT, TRANSFORM, XSD

REACHING = [
    REFLECT,
    f"`reflect`{REFLECT[7:]}",
    f"java_method{REFLECT[7:]}",
    f"try_reflect{REFLECT[7:]}",
    f"IDENTIFIER('ref' || 'lect'){REFLECT[7:]}",
    f"system.builtin.{REFLECT}",
    f"CAST({XSD} AS STRING)",
    "schema_of_xml('<a/>', map('rowValidationXSDPath', '{url}/b.xsd'))",
    "CAST(from_protobuf(X'00', 'M', '{dir}/secret.txt') AS STRING)",
    "xpath_string('<a/>', 'a')",
]
READING = [
    TRANSFORM,
    "SELECT TRANSFORM (id) USING '/bin/touch {dir}/shell' AS (a STRING) FROM t",
    FILE,
    "SELECT value FROM IDENTIFIER('text.`{dir}/secret.txt`')",
    "SELECT * FROM csv.`{url}/a.csv`",
    "SELECT * FROM binaryFile.`{dir}/secret.txt`",
    "SELECT * FROM sandbox.`{dir}/metadata.json`",
    "SELECT * FROM sandbox.`{url}/metadata.json`",
    "SELECT * FROM python_worker_logs()",
    "SELECT * FROM prod.db.t VERSION AS OF 1",
    "SELECT * FROM global_temp.t TIMESTAMP AS OF '2024-01-01'",
]
AROUND = [
    "upper({e})",
    "coalesce(NULL, {e})",
    "CASE WHEN {e} IS NULL THEN 'a' ELSE 'b' END",
    "if(TRUE, {e}, NULL)",
    "transform(array('a'), x -> concat(x, {e}))[0]",
    "element_at(map('k', {e}), 'k')",
    "struct({e}).col1",
    "named_struct('a', {e}).a",
    "CAST({e} AS STRING)",
    "array({e})[0]",
    "(SELECT max({e}) FROM t)",
    "(SELECT {e})",
    "mask('a', upperChar => {e})",
    "try_cast({e} AS STRING)",
    "concat_ws('-', 'a', {e})",
    "max({e}) OVER (PARTITION BY name)",
    "aggregate(array('a'), {e}, (a, x) -> concat(a, x))",
    "({e}) COLLATE UTF8_LCASE",
    "CASE WHEN EXISTS (SELECT 1 FROM t WHERE {e} = 'a') THEN 'a' END",
    "CASE WHEN {e} IN (SELECT name FROM t) THEN 'a' END",
]
QUERY_OF = [
    "SELECT {e}",
    "SELECT 1 FROM t WHERE {e} = 'a'",
    "SELECT 1 FROM t ORDER BY {e}",
    "SELECT {e}, count(*) FROM t GROUP BY 1",
    "SELECT count(*) FROM t GROUP BY name HAVING max({e}) = 'a'",
    "SELECT sum(id) OVER w FROM t WINDOW w AS (ORDER BY {e})",
    "SELECT count(*) FILTER (WHERE {e} = 'a') FROM t",
    "VALUES (1, {e})",
    "SELECT * FROM VALUES ({e}) AS v (a)",
    "SELECT 1 FROM t JOIN t u ON {e} = 'a'",
    "SELECT y FROM t LATERAL VIEW explode(array({e})) x AS y",
    "SELECT * FROM explode(array({e}))",
    "SELECT 1 FROM t LIMIT length({e})",
    "FROM t |> WHERE {e} = 'a' |> SELECT id",
    "FROM t |> EXTEND {e} AS x",
    "SELECT * FROM t, LATERAL (SELECT {e} AS z)",
    "SELECT * FROM range(length({e}))",
    "SELECT * FROM (SELECT id, name FROM t) PIVOT (max({e}) FOR name IN ('a'))",
    "SELECT sum(id) OVER (ORDER BY id ROWS BETWEEN length({e}) PRECEDING AND CURRENT ROW) FROM t",
    "SELECT /*+ REPARTITION(length({e})) */ 1 FROM t",
]
QUERY_AROUND = [
    "SELECT * FROM ({q})",
    "WITH c AS ({q}) SELECT * FROM c",
    "WITH c AS ({q}) SELECT 1",
    "SELECT 'a' UNION ALL ({q})",
    "SELECT * FROM t, LATERAL ({q}) l",
    "SELECT 1 FROM t WHERE EXISTS ({q})",
    "SELECT ({q})",
    "SELECT 1 FROM t WHERE name IN ({q})",
    "WITH c AS (WITH d AS ({q}) SELECT * FROM d) SELECT * FROM c",
    "SELECT * FROM t LEFT JOIN ({q}) j ON TRUE",
    "SELECT sum(id) OVER w FROM t WINDOW w AS (ORDER BY ({q}))",
    "SELECT 1 FROM t LIMIT (SELECT count(*) FROM ({q}))",
    "SELECT * FROM explode(TABLE({q}))",
    "SELECT count(*) FROM ({q}) TABLESAMPLE (50 PERCENT)",
    "({q}) EXCEPT SELECT 'a'",
    "SELECT /*+ BROADCAST(b) */ * FROM ({q}) b",
    "FROM ({q}) |> AGGREGATE count(*)",
    "SELECT * FROM ({q}) ORDER BY 1",
    "SELECT transform(array(1), x -> ({q}))",
    "SELECT * FROM t TIMESTAMP AS OF ({q})",
]
WRITE_OF = [
    "INSERT INTO {t} (name) {q}",
    "INSERT OVERWRITE {t} (name) {q}",
    "UPDATE {t} SET name = ({q})",
    "DELETE FROM {t} WHERE EXISTS ({q})",
    "MERGE INTO {t} a USING ({q}) b ON TRUE WHEN MATCHED THEN DELETE",
    "MERGE INTO {t} a USING {t} b ON EXISTS ({q}) WHEN NOT MATCHED THEN INSERT *",
    "WITH c AS ({q}) INSERT INTO {t} SELECT 1, 'a', 1",
    "CALL sandbox.system.fast_forward('{name}', ({q}), 'main')",
    "CALL sandbox.system.expire_snapshots(table => '{name}', retain_last => ({q}))",
    "UPDATE {t} SET price = 1 WHERE name IN ({q})",
    "INSERT INTO {t} BY NAME SELECT 1 AS id FROM ({q})",
]


def statement(random_: random.Random, write: bool) -> str:
    """One statement; the placeholders of sql_cases stay in it."""

    def fill(template: str, **parts: str) -> str:
        for key, part in parts.items():
            template = template.replace("{" + key + "}", part)
        return template

    if random_.random() < 0.5:
        expression = random_.choice(REACHING)
        for _ in range(random_.randrange(5)):
            expression = fill(random_.choice(AROUND), e=expression)
        query = fill(random_.choice(QUERY_OF), e=expression)
    else:
        query = random_.choice(READING)
    for _ in range(random_.randrange(4)):
        query = fill(random_.choice(QUERY_AROUND), q=query)
    return fill(random_.choice(WRITE_OF), q=query) if write else query
