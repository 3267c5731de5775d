from tests.cases.mini import *

# A position delete of two files: its file_path bounds are cut to 16 characters, and the upper one was not raised.
t = Table(target(), [(1, "id", "long")])
a, b = t.parquet("a.parquet", {"id": [1, 2]}), t.parquet("b.parquet", {"id": [3, 4]})
t.append(a, b)
p = t.position_delete("p.parquet", [(a["file_path"], 0), (b["file_path"], 1)])
for k in ("lower_bounds", "upper_bounds"):
    p[k] = {2147483546: p[k][2147483546][:16]}
t.delta(deletes=[p], operation="delete")
