from tests.cases.mini import *

# Dropped without purge and created anew at the same place: metadata of two tables (two UUIDs) in one folder; the old one has the higher version.
f = target()
t = Table(f, [(1, "name", "string"), (2, "age", "double")])
t.append(t.parquet("old.parquet", {"name": ["old"], "age": [1.0]}))
t.append(t.parquet("old2.parquet", {"name": ["old2"], "age": [2.0]}))
for p in sorted((t.folder / "metadata").glob("0000*.metadata.json")):
    p.write_text(p.read_text().replace("-00000000-0000-0000", "-aaaaaaaa-0000-0000"))
    p.rename(p.with_name(p.name.replace("-00000000-0000-0000", "-aaaaaaaa-0000-0000")))
for p in (t.folder / "metadata").glob("snap-*"):
    p.rename(p.with_name(p.name.replace("-00000000-0000-0000", "-aaaaaaaa-0000-0000")))
n = Table(f, [(1, "name", "string"), (2, "age", "double")], uuid="99999999-9999-4999-8999-999999999999")
n.clock += 86_400_000
n.snaps = 500
n.append(n.parquet("new.parquet", {"name": ["new"], "age": [9.0]}))
