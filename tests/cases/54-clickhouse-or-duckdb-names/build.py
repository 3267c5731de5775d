from tests.cases.mini import *

# One commit writes a data manifest and a delete manifest, each with a UUID of its own and -m0; another writes three plain <uuid>.avro.
t = Table(target(), [(1, "id", "long")])
a = [t.parquet(f"a{i}.parquet", {"id": [i, i + 10]}) for i in range(3)]
ms = [t.manifest(f"{uuids.UUID(int=7 + i)}.avro", [(1, f)]) for i, f in enumerate(a)]
t.snapshot("append", ms, {"added-data-files": "3", "added-records": "6"})
b = t.parquet("b.parquet", {"id": [77]})
p = t.position_delete("p.parquet", [(a[0]["file_path"], 0)])
m = [
    t.manifest(f"{uuids.UUID(int=70)}-m0.avro", [(1, b)]),
    t.manifest(f"{uuids.UUID(int=71)}-m0.avro", [(1, p)], content=1),
]
t.snapshot("overwrite", [*ms, *m], {"added-data-files": "1", "added-records": "1", "added-delete-files": "1"})
