from tests.cases.mini import *

# The manifest has no key-value header at all (schema, partition-spec, format-version …).
t = Table(target(), [(1, "id", "long"), (2, "d", "date")], [(2, 1000, "d", "identity")])
m = t.manifest(
    f"{t.uid()}-m0.avro",
    [(1, t.parquet("a.parquet", {"id": [1], "d": [date(2024, 1, 1)]}, partition={"d": date(2024, 1, 1)}))],
    header=dict.fromkeys(("schema", "schema-id", "partition-spec", "partition-spec-id", "format-version", "content")),
)
t.snapshot("append", [m], {"added-data-files": "1", "added-records": "1"})
