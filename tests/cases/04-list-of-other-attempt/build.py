from tests.cases.mini import *

# The metadata names attempt 1 of the manifest list, which was cleaned up; attempt 2 of the same snapshot is in the folder.
t = Table(target(), [(1, "id", "long"), (2, "v", "string")])
t.append(t.parquet("a.parquet", {"id": [1, 2], "v": ["a", "b"]}))
sid = t.append(t.parquet("b.parquet", {"id": [3], "v": ["c"]}))
first = t.folder / "metadata" / t.md["snapshots"][-1]["manifest-list"].rsplit("/", 1)[1]
first.rename(first.with_name(first.name.replace("-1-", "-2-", 1)))
