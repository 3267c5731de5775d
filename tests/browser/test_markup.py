"""A table whose every string is markup, looked at everywhere: the strings are there, as text, and nothing else is."""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pytest
from explorer.ui.rooms import VIEWS
from playwright.sync_api import Browser, Error, Page, expect
from pyiceberg.catalog.sql import SqlCatalog

from tests.browser.conftest import Served, Watched, served, signed_in, tab, to
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
INNER = {"plan": ("Bounds", "Manifests", "Statistics")}


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
    """A dashboard with catalogs, namespaces and tables that have markup for names."""
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
    context = signed_in(browser, dangerous, bypass_csp=True, viewport={"width": 1500, "height": 1000})
    watched = Watched(context.new_page())
    watched.page.on("dialog", lambda dialog: watched.errors.append(f"dialog: {dialog.message}"))
    yield watched.page
    assert not watched.outside
    assert not [e for e in watched.errors if "__ran" in e or "dialog" in e]
    context.close()


def inert(page: Page) -> None:
    """No element of the page comes from a string, in any shadow root; no script ran."""
    page.wait_for_timeout(400)
    assert page.evaluate(BAD) == []


def test_the_probe_sees_markup(page: Page) -> None:
    page.set_content(f"<div id=a></div>{IMG}")
    page.wait_for_timeout(300)
    assert "a script ran" in page.evaluate(BAD)
    assert len(page.evaluate(BAD)) == 2


def test_every_tab_and_node(evil: Path, dangerous: Served, page: Page) -> None:
    page.goto(f"{dangerous}?table={quote(str(evil))}&view=graph")
    page.wait_for_selector(".ix-node", timeout=60_000)
    inert(page)
    for i in range(page.locator(".ix-node .ix-head").count()):
        page.locator(".ix-node .ix-head").nth(i).dispatch_event("click")
        page.wait_for_timeout(150)
    inert(page)
    page.locator(".ix-search").fill(IMG)
    inert(page)
    for name in (name for name in VIEWS if name not in ("graph", "tables", "sql")):
        to(page, name)
        page.wait_for_timeout(400)
        for title in page.locator(".tabulator-col:visible .tabulator-col-title").all()[:6]:
            with contextlib.suppress(Error):  # a column that ends off the page
                title.hover(force=True, timeout=1_000)
        inert(page)
        for inner in INNER.get(name, ()):
            tab(page, inner)
            page.wait_for_timeout(400)
            inert(page)
    to(page, "files")
    expect(page.locator(".tabulator-row").first).to_be_visible()


def test_rows_and_deletes_and_lab(evil: Path, dangerous: Served, page: Page, artifacts: Path) -> None:
    page.goto(f"{dangerous}?table={quote(str(evil))}&view=rows")
    page.get_by_role("button", name="Run", exact=True).click(timeout=60_000)
    page.locator(".tabulator-row").first.wait_for(timeout=180_000)
    for title in page.locator(".tabulator-col:visible .tabulator-col-title").all()[:6]:
        title.hover(force=True)
        inert(page)  # its tooltip, too
    page.screenshot(path=artifacts / "markup-read.png")
    to(page, "row-diff")
    page.locator(".tabulator-row").first.wait_for(timeout=60_000)
    expect(page.locator(".tabulator-col-title", has_text="<").first).to_be_attached()
    for title in page.locator(".tabulator-col:visible .tabulator-col-title").all()[:6]:
        title.hover(force=True)
        inert(page)
    page.get_by_label("columns that tell an update").click()
    inert(page)
    page.keyboard.press("Escape")
    page.screenshot(path=artifacts / "markup-row-diff.png")
    page.get_by_label("from", exact=True).fill(IMG)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Compare").click()
    inert(page)
    to(page, "fate")
    page.get_by_label("which rows").fill("id >= 0")
    page.get_by_label("which rows").press("Enter")
    page.get_by_text("The answer").wait_for(timeout=60_000)
    inert(page)
    page.screenshot(path=artifacts / "markup-fate.png")
    page.get_by_label("which rows").fill(f"a = '{IMG}'")
    page.get_by_label("which rows").press("Enter")
    inert(page)
    for name in ("statement", "conflict"):
        to(page, name)
        page.wait_for_timeout(700)
        inert(page)
    page.get_by_label("it began at").fill("snapshot-1")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Explain").click()
    page.wait_for_timeout(2500)
    inert(page)


def test_catalogs_errors_and_links(dangerous: Served, page: Page, artifacts: Path) -> None:
    page.goto(f"{dangerous}?table={quote('/' + IMG)}&node={quote(IMG)}&snapshot={quote(IMG)}&view={quote(IMG)}")
    expect(page.get_by_text("no such folder").first).to_be_visible(timeout=60_000)
    expect(page.get_by_text("<img src=x").first).to_be_visible()
    page.screenshot(path=artifacts / "markup-errors.png")
    inert(page)
    for attack in MARKUP:
        page.get_by_label("Table, folder or metadata.json").fill(f"/{attack.payload}")
        page.keyboard.press("Enter")
        page.wait_for_timeout(150)
    inert(page)
    namespaces = page.get_by_role("treeitem").locator("p", has_text=re.compile(r"^<.*\d$")).all()
    assert len(namespaces) > 4
    tables = page.get_by_role("treeitem").locator("p", has_text=re.compile("^<.* t$"))
    for number, namespace in enumerate(namespaces if EVERY else namespaces[::3]):
        namespace.click()
        expect(tables).to_have_count(number + 1, timeout=60_000)
    inert(page)
    for table in tables.all():
        name = table.inner_text()
        table.click()
        expect(page.locator("header").get_by_text(name)).to_be_visible(timeout=60_000)
    inert(page)
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
    page.goto(f"{dangerous}?view=graph")
    page.wait_for_selector(".ix-node", timeout=60_000)
    for attack in (a for a in MARKUP if "refresh" not in a.payload):  # which no policy forbids
        page.evaluate(
            "text => { const e = document.createElement('div'); e.innerHTML = text; document.body.append(e); }",
            attack.payload,
        )
    page.evaluate(
        "() => { const s = document.createElement('script'); s.src = 'http://192.0.2.1/'; document.body.append(s); }"
    )
    page.evaluate("() => { location.href = 'javascript:window.__ran=1'; }")
    page.wait_for_timeout(700)
    assert page.evaluate("window.__ran") is None
    later = """() => new Promise((told) => setTimeout(() => {
        try { told(new Function("return 1")()); } catch (e) { told(e.name); }
    }))"""  # what the test itself evaluates at once is let through
    assert page.evaluate(later) == "EvalError"
    context.close()
