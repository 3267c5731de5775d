from tests.cases.mini import *

# The writer died between writing v3 and the hint: the hint says 2.
t = Table(target(), [(1, "id", "long")])
for i in range(2):
    t.append(t.parquet(f"a{i}.parquet", {"id": [i]}))
m = t.folder / "metadata"
names = sorted(m.glob("*.metadata.json"))
for i, old in enumerate(names):
    text = old.read_text()
    for j, n in enumerate(names):
        text = text.replace(n.name, f"v{j + 1}.metadata.json")
    (m / f"v{i + 1}.metadata.json").write_text(text)
    old.unlink()
(m / "version-hint.text").write_text("2\n")
