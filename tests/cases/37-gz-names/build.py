# Hadoop table with gzip metadata: v1.metadata.json.gz (old), v2.gz.metadata.json, v3.gzip.metadata.json (a wrong name); the hint says 3.
import gzip

from tests.cases.mini import *

t = Table(target(), [(1, "id", "long")], properties={"write.metadata.compression-codec": "gzip"})
for i in range(2):
    t.append(t.parquet(f"a{i}.parquet", {"id": [i]}))
m = t.folder / "metadata"
for old, new in zip(
    sorted(m.glob("*.metadata.json")), ("v1.metadata.json.gz", "v2.gz.metadata.json", "v3.gzip.metadata.json")
):
    text = old.read_text()
    for i, n in enumerate(("v1.metadata.json.gz", "v2.gz.metadata.json", "v3.gzip.metadata.json")):
        text = text.replace(f"{i:05d}-{uuids.UUID(int=i)}.metadata.json", n)
    (m / new).write_bytes(gzip.compress(text.encode()))
    old.unlink()
(m / "version-hint.text").write_text("3")
