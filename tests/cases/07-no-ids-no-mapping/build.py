from tests.cases.mini import *

# As 06, but without a name mapping, and a column was renamed later: readers that fall back to names or places differ.
t = Table(target(), [(1, "first", "string"), (2, "second", "string"), (3, "third", "string")])
t.append(t.parquet("a.parquet", {"first": ["aaa"], "second": ["bbb"], "third": ["ccc"]}, ids=False))
t.set_schema([(1, "first", "string"), (2, "renamed", "string"), (3, "third", "string")])
t.save()
