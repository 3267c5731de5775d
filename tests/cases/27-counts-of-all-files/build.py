from tests.cases.mini import *

# One INSERT into three partitions: each entry has the rows and bytes of all three files together.
t = Table(target(), [(1, "a", "int"), (2, "b", "int")], [(1, 1000, "a", "identity")])
files = [t.parquet(f"d{i}.parquet", {"a": [i * 10], "b": [i]}, partition={"a": i * 10}) for i in (1, 2, 3)]
total = sum(f["file_size_in_bytes"] for f in files)
ms = [
    t.manifest(f"{uuids.UUID(int=i)}.avro", [(1, {**f, "record_count": 3, "file_size_in_bytes": total})])
    for i, f in enumerate(files)
]
t.snapshot(
    "append", ms, {"added-data-files": "3", "added-records": "3", "total-records": "3", "added-files-size": str(total)}
)
