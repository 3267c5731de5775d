from tests.cases.mini import *

# Lower bound above the upper one (a decimal's bytes compared the wrong way round).
t = Table(target(), [(1, "id", "long"), (2, "amount", "decimal(38,0)")])
a = t.parquet("a.parquet", {"id": [1, 2, 3], "amount": [Decimal(5), Decimal(700), Decimal(70000)]})
for f in (1, 2):
    a["lower_bounds"][f], a["upper_bounds"][f] = a["upper_bounds"][f], a["lower_bounds"][f]
t.append(a)
