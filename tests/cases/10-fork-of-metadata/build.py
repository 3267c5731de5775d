# Two writers replace the same version: two files 00003-…, the catalog went on from one; the insert of the other is lost.
import copy

from tests.cases.mini import *

t = Table(target(), [(1, "id", "long")])
t.append(t.parquet("a.parquet", {"id": [1]}))
t.append(t.parquet("b.parquet", {"id": [2]}))
saved = copy.deepcopy(t.md), dict(t.lists), t.n, t.last, t.snaps
t.append(t.parquet("lost.parquet", {"id": [33]}), sid=777)
lost, content = t.last, (t.folder / "metadata" / t.last).read_text()
t.md, t.lists, t.n, t.last, t.snaps = saved[0], saved[1], saved[2], saved[3], 3
t.append(t.parquet("c.parquet", {"id": [3]}), sid=103)
other = t.folder / "metadata" / t.last
mine = other.with_name("00003-ffffffff-0000-4000-8000-000000000003.metadata.json")
mine.write_text(other.read_text())
other.write_text(content)  # both versions 3
t.last = mine.name
t.append(t.parquet("d.parquet", {"id": [4]}))
