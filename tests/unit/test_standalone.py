"""Pages that need no kernel: what is in them, what is left out and said to be, and that they lay out as Python does."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import explorer
from explorer.app import standalone
from explorer.app.hosts.file import _file_name, _neighbours
from explorer.app.local_paths import FOLDERS, LocalPaths
from explorer.graph.ids import list_node
from explorer.graph.vocabulary import EDGES
from explorer.queries.graph import first_view
from explorer.render.svg import picture, vocabulary
from tests.support import direct
from tests.support.small_tables import edit_metadata, in_catalog, make_table, partitioned
from tests.unit.test_bundle import FRONTEND
from tests.unit.test_cli import run

SECRET = "AKIAIOSFODNN7EXAMPLE"
BREAKOUT = "</script><script>alert(1)</script><!--\u2028\u2029\x1b[2J"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_table(tmp_path_factory.mktemp("page"), commits=5, **{"s3.secret-access-key": SECRET, "note": BREAKOUT})


def node() -> str:
    """Node's path, if it is here: only tests need it."""
    path = shutil.which("node")
    if path is None:
        pytest.skip("Node is not on the PATH: the script's own tests are not run")
    return path


def held(file: Path) -> dict[str, Any]:
    """The data of a page."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', file.read_text(), re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_a_page_has_each_snapshot_each_change_and_all_that_the_inspector_knows(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "t.html"
    told = json.loads(run("export", "page", str(folder), str(file), "-o", "json").stdout)
    data, table = held(file), direct.open_table(str(folder))
    assert told["bytes"] == file.stat().st_size
    assert told["left_out"] == []
    names = [str(s.snapshot_id) for s in table.metadata.snapshots]
    assert data["timeline"]["ids"] == sorted(data["pictures"], key=names.index) == names
    assert set(data["changes"]) == set(names)
    first = data["pictures"][names[-1]]
    state, paths = standalone.ViewState(table), standalone.of_table(table).paths
    for shown in state.graph.nodes:
        state.selected = [shown.id]
        known = data["known"][first["details"][shown.id]]
        live = state.details()
        assert live is not None
        for of_one_picture in ("actions", "summary"):
            live.pop(of_one_picture, None)
        live = paths.cut_all(json.loads(json.dumps(live)))
        assert {**known, "sections": [data["sections"][i] for i in known["sections"]]} == live


def test_no_secret_and_no_way_out_of_the_data(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "t.html"
    explorer.export_html(direct.open_table(str(folder)), file)
    text = file.read_text()
    assert SECRET not in text
    assert not set("\u2028\u2029\x1b") & set(text)
    assert text.lower().count("<script") == text.lower().count("</script") == 2
    assert any(BREAKOUT.partition("\u2028")[0] in json.dumps(section) for section in held(file)["sections"])
    policy = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)[0]
    assert policy.startswith("default-src 'none'")
    assert " style=" not in text.partition("<body")[2].partition("<footer")[0]  # nor does the policy allow any
    assert "unsafe" not in policy
    for tag in ("style", 'script type="module"'):
        inner = re.findall(rf"<{tag}>(.*?)</{tag.split()[0]}>", text, re.DOTALL)[0]
        assert base64.b64encode(hashlib.sha256(inner.encode()).digest()).decode() in policy


def test_what_is_left_out_is_said(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"SNAPSHOTS": 3, "LEVEL": 2, "SNAPSHOT_FILES": 1, "INSPECTED": 7, "RAW": 50}.items():
        monkeypatch.setattr(standalone, name, value)
    edit_metadata(folder, lambda d: d["snapshots"].sort(key=lambda s: -s["sequence-number"]))
    file = tmp_path / "t.html"
    told = explorer.export_html(direct.open_table(str(folder)), file)
    data = held(file)
    assert told["snapshots"] == 3
    assert (data["timeline"]["before"], len(data["known"])) == (2, 7)
    said = " ".join(told["left_out"])
    for words in ("snapshots older than the newest 3: 2", "manifests without their files", "levels beyond 2 nodes",
                  "nodes without details, which 7 have"):  # fmt: skip
        assert words in said
        assert words in file.read_text().partition("<footer")[2]
    assert all(len(section.get("raw", "")) <= 50 for section in data["sections"])
    assert not [m for shown in data["pictures"].values() for m in shown["picture"]["more"] if m["action"]]


@pytest.mark.skipif(not (FRONTEND / "node_modules").is_dir(), reason="needs Node: make frontend")
def test_the_page_lays_out_as_python_does(folder: Path, tmp_path: Path) -> None:
    table, lists = direct.open_table(str(folder)), direct.open_table(str(partitioned(tmp_path)))
    closed = first_view(table.tree, table.metadata.snapshots[1])
    graphs = [standalone._Maker(t).whole(s, set()) for t in (table, lists) for s in t.metadata.snapshots]
    graphs += [table.graph("snapshot-2", closed)]
    every = closed.open_nodes | {list_node(s.snapshot_id) for s in table.metadata.snapshots}
    graphs += [table.graph(view=replace(closed, snapshot_id=s.snapshot_id, open_nodes=every, page_size=n))
               for s in table.metadata.snapshots for n in (1, 2, 9)]  # fmt: skip
    pictures = [picture(graph) for graph in graphs]
    (tmp_path / "pictures.json").write_text(json.dumps([vocabulary()["edges"], pictures]))
    module = tmp_path / "tree.mjs"
    bundle = [FRONTEND / "node_modules/.bin/esbuild", "src/graph/tree.ts", "--bundle", "--format=esm"]
    subprocess.run([*bundle, f"--outfile={module}"], cwd=FRONTEND, check=True, capture_output=True)
    (tmp_path / "law.mjs").write_text(
        f"import {{ unfolded }} from {json.dumps(module.as_uri())};\n"
        'import { readFileSync } from "node:fs";\n'
        f"const [edges, pictures] = JSON.parse(readFileSync({json.dumps(str(tmp_path / 'pictures.json'))}));\n"
        "console.log(JSON.stringify(pictures.map((p) => unfolded(p, edges, new Set()))));\n"
    )
    done = subprocess.run([node(), tmp_path / "law.mjs"], capture_output=True, text=True, check=True)
    laid = json.loads(done.stdout)
    assert len(EDGES) > 3
    for ours, theirs in zip(pictures, laid, strict=True):
        for what in ("nodes", "more"):
            assert [(n["id"], n["x"]) for n in theirs[what]] == [(n["id"], n["x"]) for n in ours[what]]
            assert [n["y"] for n in theirs[what]] == pytest.approx([n["y"] for n in ours[what]], abs=0.2)


def test_a_gallery_is_a_folder_of_pages_with_an_index(folder: Path, tmp_path: Path) -> None:
    options = [word for pair in in_catalog(folder).items() for word in ("--property", "=".join(pair))]
    options += ["--catalog", "small"]
    done = run("export", "gallery", str(tmp_path / "out"), *options, "-o", "json")
    assert done.exit_code == 0, done.output
    [row] = json.loads(done.stdout)
    assert row["table"] == "small.db.t"
    index = (tmp_path / "out" / "index.html").read_text()
    assert f'<a href="{Path(row["file"]).name}">small.db.t</a>' in index
    assert "script" not in index
    assert held(Path(row["file"]))["pages"] == {"index": {"title": "All tables", "file": "index.html"}}
    assert held(Path(row["file"]))["timeline"]["ids"]
    assert run("export", "gallery", str(tmp_path / "none"), "--catalog", "nowhere").exit_code == 1
    assert run("export", "page", str(folder), str(tmp_path / "none" / "deeper" / "t.html")).exit_code == 2


def test_files_of_a_gallery_are_below_it_and_each_tables_own() -> None:
    names = ["sandbox.db.t", "c.db.a b", "c.db.a/b", "c.db.a-b", "../../etc", "..", "c.db." + "x" * 300]
    files = [_file_name(name) for name in names]
    assert files[0] == f"{names[0]}.html"
    assert _file_name("index") != "index.html"
    assert len(set(files)) == len(names)
    assert not [name for name in files if "/" in name or len(name) > 120]


def test_pages_of_a_gallery_lead_to_each_other() -> None:
    order = ["cat.db.a", "cat.db.b", "cat.db.c"]
    assert _neighbours("cat.db.b", order) == {
        "previous": {"title": "cat.db.a", "file": "cat.db.a.html"},
        "next": {"title": "cat.db.c", "file": "cat.db.c.html"},
        "index": {"title": "All tables", "file": "index.html"},
    }
    assert set(_neighbours("cat.db.a", order)) == {"next", "index"}
    assert set(_neighbours("elsewhere", order)) == {"index"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("file:/home/ann/wh/db/t/data/f.parquet", "t/data/f.parquet"),
        ("file:///home/ann/wh/db/t/metadata/v1.metadata.json: damaged", "t/metadata/v1.metadata.json: damaged"),
        ('"location": "/home/ann/wh/db/t"', '"location": "t"'),
        ("/home/ann/wh/db/t2/data", "/home/ann/wh/db/t2/data"),  # what is only called alike, and no file of it is known
        ("s3://bucket/home/ann/wh/db/t/data/f", "s3://bucket/home/ann/wh/db/t/data/f"),
        ("file:/srv/other/data/f.parquet", "data/f.parquet"),
        ("a row of /api/v1/users", "a row of /api/v1/users"),
        (f"{Path.home()}/.cache/x", "~/.cache/x"),
    ],
)
def test_local_paths_are_cut(text: str, expected: str) -> None:
    paths = LocalPaths(["file:/home/ann/wh/db/t", "s3://bucket/t", "/home/ann/wh/db/t/data"])
    assert paths.cut(text) == expected
    assert paths.cut_all({text: [text, 1, None]}) == {expected: [expected, 1, None]}


def test_a_stranger_with_many_folders_does_not_slow_the_search() -> None:
    paths = LocalPaths(f"/f{i}/data" for i in range(10_000))
    assert len(paths._names) == FOLDERS + 1
