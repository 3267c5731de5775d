from tests.cases.mini import *


# The partition struct of entries is a union with null.
def union(schema):
    df = schema["fields"][-1]["type"]["fields"]
    p = next(f for f in df if f["name"] == "partition")
    p["type"] = ["null", p["type"]]
    p["default"] = None


t = Table(target(), [(1, "id", "long"), (2, "d", "string")], [(2, 1000, "d", "identity")])
m = t.manifest(
    f"{t.uid()}-m0.avro",
    [(1, t.parquet("a.parquet", {"id": [1], "d": ["x"]}, partition={"d": "x"}))],
    edit_schema=union,
)
t.snapshot("append", [m], {"added-data-files": "1", "added-records": "1"})
