"""A table whose every string is markup, looked at everywhere: the strings are there, as text, and nothing else is."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pytest
from playwright.sync_api import Browser, Page, expect
from pyiceberg.catalog.sql import SqlCatalog

from tests.browser.conftest import Served, page_of, served, signed_in
from tests.security import EVERY
from tests.security.web_cases import MARKUP
from tests.support.small_tables import edit_metadata

IMG = MARKUP[0].payload
BAD = """() => {
  const bad = window.__ran ? ["a script ran"] : [];
  const walk = (root) => {
    for (const e of root.querySelectorAll("*")) {
      const tag = e.tagName.toLowerCase(), is = (name) => e.getAttribute(name) || "";
      const outside = is("src") + is("href") + is("action") + (tag === "style" ? e.textContent : "");
      if ([...e.attributes].some((a) => a.name.startsWith("on"))
          || ["iframe", "object", "embed", "frame", "base", "math"].includes(tag)
          || (tag === "img" && is("src") === "x")
          || /^\\s*javascript:/i.test(is("href")) || is("http-equiv") === "refresh" || /192\\.0\\.2\\.1/.test(outside)
          || (is("class").includes("icon") && e.textContent === "delete_forever"))
        bad.push(e.outerHTML.slice(0, 200));
      if (e.shadowRoot) walk(e.shadowRoot);
    }
  };
  walk(document);
  return bad;
}"""
MODES = {
    "plan": ("", "why", "where", "cost", "help"), "compare": ("", "rows", "commits", "manifests"),
    "deletes": ("", "layers", "count"), "findings": ("",), "health": ("", "columns", "clustering", "map"),
}  # fmt: skip
LISTS = ("inspect snapshots", "inspect manifests", "inspect files", "inspect entries", "inspect partitions")
QUESTIONS = (
    "inspect metadata",
    "inspect schema",
    "inspect properties",
    "inspect refs",
    "history lineage",
    "overview",
    "show",
)
SCRIPT = """() => {
  const script = document.createElement("script");
  script.textContent = "window.__ran = 1";
  document.body.append(script);
}"""


def make_evil(folder: Path, words: Iterator[str]) -> Path:
    """A partitioned table of three snapshots, with `words` for columns, nested fields, values, refs, properties,
    summaries, docs, statistics and unknown fields, in a folder with such a name."""
    catalog = SqlCatalog("evil", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}/w")
    catalog.create_namespace("db")
    names = [next(words) for _ in range(3)]
    names = [f"{n} {i}" for i, n in enumerate(names)]
    nested = pa.struct([(next(words), pa.string())])
    schema = pa.schema([("id", pa.int64()), (names[0], pa.string()), (names[1], nested), (names[2], pa.string())])
    location = folder / "evil <img src=x onerror=window.__ran=1> *b*"
    table = catalog.create_table("db.t", schema, location=str(location))
    with table.update_spec() as update:
        update.add_identity(names[0])
    for i in range(3):
        row = {"id": [i], names[0]: [next(words)], names[1]: [{nested[0].name: next(words)}], names[2]: [next(words)]}
        table.append(pa.table(row, schema), snapshot_properties={next(words): next(words)})
    catalog.engine.dispose()

    def change(data: dict[str, Any]) -> None:
        main = data["refs"]["main"]
        first = data["snapshots"][0]["snapshot-id"]
        data["refs"] = {"main": main, next(words): {"snapshot-id": first, "type": "tag"}, next(words): dict(main)}
        data["properties"] = {next(words): next(words) for _ in range(4)}
        for snapshot in data["snapshots"]:
            snapshot["summary"] |= {next(words): next(words)}
        data["snapshots"][1]["summary"]["operation"] = next(words)
        data["schemas"][0]["fields"][0]["doc"] = next(words)
        blob = {"type": next(words), "snapshot-id": first, "sequence-number": 1, "fields": [1]}
        blob["properties"] = {next(words): next(words)}
        statistics = {"snapshot-id": first, "statistics-path": next(words), "blob-metadata": [blob]}
        data["statistics"] = [statistics | {"file-size-in-bytes": 1, "file-footer-size-in-bytes": 1}]
        data[next(words)] = next(words)

    edit_metadata(location, change)
    return location


@pytest.fixture(scope="module", params=["one", "all"] if EVERY else ["one"])
def evil(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the first kind of markup everywhere; under `make attacks` also with all kinds in turn."""
    words = itertools.repeat(IMG) if request.param == "one" else itertools.cycle(a.payload for a in MARKUP)
    folder = tmp_path_factory.mktemp("evil")
    numbered = (f"{word}{i}" for i, word in enumerate(words))  # names must differ
    return make_evil(folder, numbered)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


@pytest.fixture(scope="module")
def dangerous(sandbox: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with catalogs, namespaces and tables that have markup for names."""
    folder = tmp_path_factory.mktemp("catalogs")
    catalog = SqlCatalog("good", uri=f"sqlite:///{folder}/c.db", warehouse=f"file://{folder}/w")
    for i, attack in enumerate(MARKUP[:8]):
        space = f"{attack.payload.replace('.', '')}{i}"
        catalog.create_namespace(space)
        catalog.create_table((space, f"{attack.payload.replace('.', '')} t"), pa.schema([("a", pa.int64())]),
                             location=f"file://{folder}/t{i}")  # fmt: skip
    catalog.engine.dispose()
    catalogs = {"good": f"sqlite:///{folder}/c.db", f"{IMG} c": f"sqlite:///{folder}/none/{IMG}"}
    lines = ["catalog:"]
    for name, uri in catalogs.items():
        lines += [f"  {_quoted(name)}:", "    type: sql", f"    uri: {_quoted(uri)}"]
    (folder / ".pyiceberg.yaml").write_text("\n".join(lines) + "\n")
    with served(folder / "log", PYICEBERG_HOME=str(folder)) as url:
        yield url


@pytest.fixture
def page(dangerous: Served, browser: Browser) -> Iterator[Page]:
    """Without the Content-Security-Policy: what is markup would run."""
    with page_of(browser, dangerous, bypass_csp=True, viewport={"width": 1500, "height": 1000}) as opened:
        yield opened


def inert(page: Page) -> None:
    """No element of the page comes from a string; no script ran."""
    expect(page.get_by_text("Connecting…")).to_have_count(0)
    page.wait_for_timeout(400)
    assert page.evaluate(BAD) == []


def test_the_probe_sees_markup(page: Page) -> None:
    page.set_content(f"<div id=a></div>{IMG}")
    page.wait_for_timeout(300)
    assert "a script ran" in page.evaluate(BAD)
    assert len(page.evaluate(BAD)) == 2


def test_the_graph_and_its_inspector(evil: Path, dangerous: Served, page: Page) -> None:
    page.goto(f"{dangerous}?table={quote(str(evil))}")
    expect(page.get_by_role("treeitem").first).to_be_visible()
    inert(page)
    for number in range(page.get_by_role("treeitem").count()):
        page.get_by_role("treeitem").nth(number).dispatch_event("click")
        page.wait_for_timeout(100)
    expect(page.get_by_role("complementary", name="Inspector")).to_be_visible()
    inert(page)
    page.get_by_label("Search the graph").fill(IMG)
    page.get_by_role("button", name="Details").click()
    inert(page)
    page.keyboard.press("Control+k")
    inert(page)


@pytest.mark.parametrize("mode", MODES)
def test_every_mode(mode: str, evil: Path, dangerous: Served, page: Page) -> None:
    for tab in MODES[mode]:
        page.goto(f"{dangerous}?table={quote(str(evil))}&mode={mode}&tab={tab}&filter=id+%3E%3D+0")
        expect(page.locator("#mode-answer .answer, #mode-answer .message").first).to_be_visible()
        inert(page)


def test_lists_and_questions(evil: Path, dangerous: Served, page: Page) -> None:
    for name in LISTS:
        page.goto(f"{dangerous}?table={quote(str(evil))}&list={quote(name)}")
        expect(page.get_by_role("grid").get_by_role("row").nth(1)).to_be_visible()
        inert(page)
    for name in QUESTIONS:
        page.goto(f"{dangerous}?table={quote(str(evil))}&mode=ask&question={quote(name)}")
        expect(page.locator(".answer").first).to_be_visible()
        inert(page)
    assert "<img src=x" in page.inner_text("body")


def test_rows_and_statements(evil: Path, dangerous: Served, page: Page, artifacts: Path) -> None:
    page.goto(f"{dangerous}?table={quote(str(evil))}&mode=rows")
    page.get_by_role("button", name="Read", exact=True).click()
    expect(page.get_by_role("grid", name="rows").get_by_role("row").nth(1)).to_be_visible(timeout=180_000)
    page.get_by_role("columnheader").nth(1).hover()
    inert(page)
    page.screenshot(path=artifacts / "markup-read.png")
    page.get_by_role("grid", name="rows").get_by_role("row").nth(1).click()
    expect(page.get_by_role("tree", name="Metadata graph")).to_be_visible()
    inert(page)
    page.goto(f"{dangerous}?table={quote(str(evil))}&list=data+history")
    for where in ("id >= 0", f"a = '{IMG}'"):
        page.get_by_label("Filter", exact=True).fill(where)
        page.get_by_role("button", name="Ask", exact=True).click()
        page.wait_for_timeout(1500)
        inert(page)
    page.goto(f"{dangerous}?table={quote(str(evil))}&mode=lab&tab=statement")
    expect(page.get_by_role("tab", name="One statement")).to_be_visible()
    inert(page)
    page.goto(f"{dangerous}?table={quote(str(evil))}&mode=lab&tab=conflict")
    page.get_by_label("Base", exact=True).fill("snapshot-1")
    page.get_by_role("button", name="Explain").click()
    page.wait_for_timeout(2500)
    inert(page)
    page.goto(f"{dangerous}?table={quote(str(evil))}&mode=health&tab=maintenance")
    expect(page.get_by_role("region", name="What it would do")).to_contain_text("files")
    inert(page)


def test_errors_and_links(dangerous: Served, page: Page) -> None:
    word = quote(IMG)
    page.goto(
        f"{dangerous}?table={quote('/' + IMG)}&node={word}&snapshot={word}&mode={word}&question={word}&arguments={word}"
    )
    expect(page.get_by_text("<img src=x").first).to_be_visible()
    inert(page)
    page.goto(f"{dangerous}?table=demo.three_inserts&mode=plan&filter={word}&before={word}&list={word}&tab={word}")
    expect(page.get_by_role("alert").first).to_be_visible()
    inert(page)


def test_catalogs(dangerous: Served, page: Page, artifacts: Path) -> None:
    page.goto(dangerous)
    for attack in MARKUP:
        page.get_by_label("Open a table").fill(f"/{attack.payload}")
        page.keyboard.press("Enter")
        page.wait_for_timeout(150)
        inert(page)
        page.get_by_role("link", name="Iceberg metadata explorer: start").click()
    page.get_by_role("button", name="Browse catalogs").click()
    panel = page.get_by_role("complementary", name="Tables")
    panel.get_by_role("button", name=f"{IMG} c", exact=True).click()
    inert(page)
    panel.get_by_role("button", name=f"Credentials for {IMG} c").click()
    expect(panel.get_by_role("form", name=f"Credentials for {IMG} c")).to_be_visible()
    inert(page)
    panel.get_by_role("button", name="Close", exact=True).click()
    panel.get_by_role("button", name="good", exact=True).click()
    namespaces = panel.get_by_role("button", name=re.compile(r"^<.*\d$"))
    expect(namespaces.nth(4)).to_be_visible()
    names = [one.inner_text().removeprefix("▸ ") for one in namespaces.all()]
    for name in names if EVERY else names[::3]:
        panel.get_by_role("button", name=name, exact=True).click()
        table = panel.get_by_role("button", name=re.compile("^<.* t$")).last
        expect(table).to_be_visible()
        inert(page)
        shown = table.inner_text()
        table.click()
        expect(page.get_by_role("banner").get_by_text(shown)).to_be_visible()
        expect(page.get_by_role("button", name="Details", exact=True)).to_be_visible()
        inert(page)
        page.get_by_role("banner").get_by_role("button").first.click()
        panel.get_by_role("button", name="good", exact=True).click()
    page.screenshot(path=artifacts / "markup-tree.png")


def test_notebook_and_exports(evil: Path, page: Page, tmp_path: Path) -> None:
    from explorer.app.hosts.file import export
    from explorer.app.hosts.notebook import TableWidget
    from tests.support import direct

    table = direct.open_table(str(evil))
    parts = [
        TableWidget(table)._repr_mimebundle_()[0]["image/svg+xml"],
        table.files()._repr_html_(),
        table.snapshots._repr_html_(),
    ]
    parts += [table.refs._repr_html_(), table.entries(view="all")._repr_html_(), table.manifests()._repr_html_()]
    for kind in ("html", "svg"):
        file = tmp_path / f"graph.{kind}"
        file.write_bytes(export(table.graph(), kind))
        page.goto(file.as_uri())
        inert(page)
    page.goto("about:blank")
    page.set_content("".join(parts))
    inert(page)
    assert "<img src=x" in page.inner_text("body")


def test_the_policy_is_a_second_lock(dangerous: Served, browser: Browser) -> None:
    context = signed_in(browser, dangerous)
    page = context.new_page()
    page.goto(f"{dangerous}?table=demo.three_inserts")
    expect(page.get_by_role("treeitem").first).to_be_visible()
    for attack in (a for a in MARKUP if "refresh" not in a.payload):  # which no policy forbids
        page.evaluate(
            "text => { const e = document.createElement('div'); e.innerHTML = text; document.body.append(e); }",
            attack.payload,
        )
    page.evaluate(
        "() => { const s = document.createElement('script'); s.src = 'http://192.0.2.1/'; document.body.append(s); }"
    )
    page.evaluate(SCRIPT)
    page.evaluate("() => { location.href = 'javascript:window.__ran=1'; }")
    page.wait_for_timeout(700)
    assert page.evaluate("window.__ran") is None
    later = """() => new Promise((told) => setTimeout(() => {
        try { told(new Function("return 1")()); } catch (e) { told(e.name); }
    }))"""  # what the test itself evaluates at once is let through
    assert page.evaluate(later) == "EvalError"
    context.close()
