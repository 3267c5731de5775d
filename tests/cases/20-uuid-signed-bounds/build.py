from tests.cases.mini import *

# Bounds of a uuid column as Java's signed comparison gives them: 8… is "below" 2….
t = Table(target(), [(1, "id", "long"), (2, "u", "uuid")])
u = [uuids.UUID(h * 32).bytes for h in "29f"]
a = t.parquet("a.parquet", {"id": [1, 2, 3], "u": u})
a["lower_bounds"][2], a["upper_bounds"][2] = u[1], u[0]  # signed: 9… < f… < 2…
t.append(a)
