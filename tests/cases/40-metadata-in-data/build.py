# A writer puts metadata.json, lists and manifests into <location>/data; there is no metadata folder.
import shutil

from tests.cases.mini import *

t = Table(target(), [(1, "id", "long")])
t.append(t.parquet("a.parquet", {"id": [1]}))
for p in list((t.folder / "metadata").iterdir()):
    b = (
        p.read_bytes().replace(f"{t.location}/metadata/".encode(), f"{t.location}/data/".encode())
        if p.suffix == ".json"
        else p.read_bytes()
    )
    (t.folder / "data" / p.name).write_bytes(b)
shutil.rmtree(t.folder / "metadata")
ms = [dict(m, manifest_path=m["manifest_path"].replace("/metadata/", "/data/")) for m in t.lists[101]]
with open(t.folder / "data" / t.md["snapshots"][-1]["manifest-list"].rsplit("/", 1)[1], "wb") as f:
    fastavro.writer(f, list_schema(2), ms, codec="deflate", metadata={"format-version": "2"})
