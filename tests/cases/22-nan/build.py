from tests.cases.mini import *

# A NaN beside numbers: bounds leave it out, as they must. b: counts of NaN are not written. c: NaN as bounds (old ORC writers).
t = Table(target(), [(1, "id", "long"), (2, "x", "double")])
nan = float("nan")
t.append(t.parquet("a.parquet", {"id": [1, 2, 3], "x": [1.0, nan, 2.0]}, nan_value_counts={2: 1}))
t.append(t.parquet("b.parquet", {"id": [4, 5], "x": [1.0, nan]}))
c = t.parquet("c.parquet", {"id": [6, 7], "x": [9.0, nan]}, nan_value_counts={2: 1})
c["lower_bounds"][2] = c["upper_bounds"][2] = single("double", nan)
t.append(c)
