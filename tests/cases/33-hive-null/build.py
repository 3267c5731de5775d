from tests.cases.mini import *

# Migrated: the null partition came over as the string __HIVE_DEFAULT_PARTITION__; the column is not in the files.
fields = [(1, "id", "long"), (2, "dt", "string")]
mapping = json.dumps([{"field-id": 1, "names": ["id"]}, {"field-id": 2, "names": ["dt"]}])
t = Table(target(), fields, [(2, 1000, "dt", "identity")], properties={"schema.name-mapping.default": mapping})
x = t.parquet(
    "dt=__HIVE_DEFAULT_PARTITION__/a.parquet", {"id": [1, 2]}, ids=False, partition={"dt": "__HIVE_DEFAULT_PARTITION__"}
)
y = t.parquet("dt=2024-01-01/b.parquet", {"id": [3]}, ids=False, partition={"dt": "2024-01-01"})
t.append(x, y)
