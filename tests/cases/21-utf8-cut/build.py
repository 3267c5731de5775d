from tests.cases.mini import *

# The lower bound of a string is cut in the middle of a character (16 bytes, not 16 characters).
t = Table(target(), [(1, "id", "long"), (2, "text", "string")])
s = ["AAAAAAAAAAAAAAA\u2022 a bullet at byte sixteen", "zzzz plain"]
a = t.parquet("a.parquet", {"id": [1, 2], "text": s})
a["lower_bounds"][2], a["upper_bounds"][2] = s[0].encode()[:16], b"{"
t.append(a)
