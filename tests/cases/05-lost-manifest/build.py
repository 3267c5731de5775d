from tests.cases.mini import *

# One older manifest was deleted by a lifecycle rule of the bucket; data files are all there.
t = Table(target(), [(1, "id", "long"), (2, "v", "string")])
for i in range(4):
    t.append(t.parquet(f"f{i}.parquet", {"id": [i], "v": [str(i)]}))
(t.folder / "metadata" / t.lists[104][1]["manifest_path"].rsplit("/", 1)[1]).unlink()
