"""The site's page that reads dropped metadata, in a real browser: its answers are those of Python, of every teaching
table and every case, of folders and zips; it connects to nothing, and what is damaged leaves the rest."""

from __future__ import annotations

import gzip
import json
import shutil
import zipfile
import zlib
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from playwright.sync_api import Page, expect
from pyiceberg.transforms import IdentityTransform

from explorer.errors import UnreadableFile
from explorer.lab.scenarios import SCENARIOS
from explorer.spec.values.values import partition_path_by_name
from explorer.table import Table
from tests.browser.conftest import AXE, VIOLATIONS, Watched, folder_served
from tests.cases import NAMES, build_case
from tests.security.build import Victim, avro_file, long
from tests.support import direct
from tests.support.small_tables import edit_metadata, make_table, new_table, newest_metadata

PAGE = Path(__file__).parents[2] / "website" / "dropped"
SAME = (
    "logical_status", "status", "snapshot_id", "sequence_number", "file_sequence_number", "content", "file_path",
    "record_count", "file_size_in_bytes", "first_row_id", "referenced_data_file", "content_offset",
    "content_size_in_bytes", "reason", "manifest_path", "ordinal", "spec_id",
)  # fmt: skip
"""Of an entry, what both tell; and its partition, as text."""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with folder_served(PAGE) as address:
        yield f"{address}/index.html"


def drop(page: Page, url: str, *paths: Path) -> None:
    """Give a folder, or files, to the page."""
    page.goto(url)
    field = "Choose a folder" if paths[0].is_dir() else "Choose a zip or files"
    page.get_by_label(field).set_input_files([str(path) for path in paths] if len(paths) > 1 else str(paths[0]))
    expect(page.get_by_text("Reading…")).to_have_count(0)


def saved(page: Page) -> dict[str, Any]:
    with page.expect_download() as download:
        page.get_by_role("button", name="Save all as JSON").click()
    answers: dict[str, Any] = json.loads(download.value.path().read_text("utf-8"))
    return answers


def entries_of(table: Table) -> list[dict[str, Any]]:
    """What Python says of the entries of the current snapshot, as the page saves it."""
    rows = table.entries().to_arrow()
    if not rows.num_rows:
        return []
    partitions = [
        partition_path_by_name(row, table.metadata.spec(spec_id), table.metadata)
        for row, spec_id in zip(rows["partition"].to_pylist(), rows["spec_id"].to_pylist(), strict=True)
    ]
    told = rows.select(list(SAME)).to_pylist()
    return [
        {**row, "content": row["content"] or 0, "partition": text} for row, text in zip(told, partitions, strict=True)
    ]


def differences_of(table: Table) -> list[dict[str, Any]]:
    told = []
    for snapshot in table.metadata.by_number:
        parent = table.metadata.snapshot(snapshot.parent_snapshot_id)
        pair = (parent.snapshot_id if parent else None, snapshot.snapshot_id)
        try:
            found = table.diff(*pair)
        except UnreadableFile:
            told.append({"before": pair[0], "after": pair[1]})
            continue
        sides = {
            side: sorted(
                (c.file_path, c.kind, c.record_count, c.file_size_in_bytes, c.partition, c.manifest_path)
                for c in changes
            )
            for side, changes in (("added", found.added), ("removed", found.removed))
        }
        told.append({
            **sides, "before": found.before, "after": found.after, "kept": list(found.kept_manifests),
            "added_manifests": list(found.added_manifests),
            "rewritten": [(list(r.sources), list(r.into), r.reason) for r in found.rewritten],
            "dropped": [(d.manifest_path, d.reason) for d in found.dropped],
        })  # fmt: skip
    return told


def as_compared(difference: dict[str, Any]) -> dict[str, Any]:
    """A difference as the page saves it, in the order and shape of `differences_of`."""
    if "refused" in difference:
        return {side: difference[side] for side in ("before", "after")}
    names = ("file_path", "kind", "record_count", "file_size_in_bytes", "partition", "manifest_path")
    sides = {
        side: sorted(tuple(one[name] for name in names) for one in difference[side]) for side in ("added", "removed")
    }
    rewritten = [(one["sources"], one["into"], one["reason"]) for one in difference["rewritten"]]
    return {
        **difference,
        **sides,
        "rewritten": rewritten,
        "dropped": [(d["manifest_path"], d["reason"]) for d in difference["dropped"]],
    }


def same_answers(answers: dict[str, Any], table: Table) -> None:
    """The page's answers are those of Python."""
    assert answers["uuid"] == table.metadata.table_uuid
    assert answers["file"].rsplit("/", 1)[-1] == table.metadata.metadata_location.rsplit("/", 1)[-1]
    names = (*SAME, "partition")
    assert [{name: one[name] for name in names} for one in answers["entries"]] == entries_of(table)
    cells = ("manifest_path", "manifest", "snapshot_id", "snapshot", "state", "reason")
    ours = [{**{name: getattr(cell, name) for name in cells}, "into": list(cell.into)} for cell in table.lifecycle()]
    assert answers["lifecycle"] == ours
    assert [as_compared(one) for one in answers["differences"]] == differences_of(table)


@pytest.mark.parametrize("name", [scenario.name for scenario in SCENARIOS])
def test_every_teaching_table_has_the_answers_of_python(name: str, watched: Watched, url: str, sandbox: Path) -> None:
    folder = sandbox / "warehouse" / "demo" / name
    drop(watched.page, url, folder)
    answers = saved(watched.page)
    assert not answers["problems"]
    same_answers(answers, direct.open_table(str(folder)))
    watched.clean()


@pytest.mark.parametrize("name", NAMES)
def test_every_case_has_the_answers_of_python(name: str, watched: Watched, url: str, tmp_path: Path) -> None:
    folder = build_case(name, tmp_path)
    table = direct.open_table(str(folder))
    drop(watched.page, url, folder)
    answers = saved(watched.page)
    same_answers(answers, table)
    watched.clean()


def types(folder: Path) -> Path:
    """A table that is partitioned by a column of each type; frontend/test has the other transforms."""
    micros, days = pa.array([-1, None], pa.int64()), pa.array([-1, None], pa.int32())
    columns = {
        "i": pa.array([-7, None]), "t": micros.cast(pa.timestamp("us")),
        "z": micros.cast(pa.timestamp("us", "UTC")), "d": days.cast(pa.date32()),
        "c": pa.array([9, None]).cast(pa.time64("us")), "s": pa.array(["<b>é/=", None]), "b": pa.array([True, None]),
        "x": pa.array([b"\x00\xff", None]), "n": pa.array([Decimal("-123.45"), None], pa.decimal128(9, 2)),
        "f": pa.array([1e-7, None]),
    }  # fmt: skip
    rows = pa.table(columns)
    table = new_table(folder / "types", rows.schema)
    with table.update_spec() as spec:
        for name in columns:
            spec.add_field(name, IdentityTransform(), f"own_{name}")
    table.append(rows)
    return folder / "types"


def test_partitions_of_every_type_read_as_in_python(watched: Watched, url: str, tmp_path: Path) -> None:
    folder = types(tmp_path)
    drop(watched.page, url, folder)
    same_answers(saved(watched.page), direct.open_table(str(folder)))
    watched.clean()


def test_zips_gzip_and_several_tables(watched: Watched, url: str, tmp_path: Path) -> None:
    place = make_table(tmp_path / "in", 2)
    newest = Path(newest_metadata(place))
    newest.with_name(newest.name.replace(".metadata.json", ".gz.metadata.json")).write_bytes(
        gzip.compress(newest.read_bytes())
    )
    newest.unlink()
    other = build_case("38", tmp_path / "in")
    with zipfile.ZipFile(tmp_path / "both.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in (tmp_path / "in").rglob("*"):
            archive.write(path, path.relative_to(tmp_path))
    page = watched.page
    drop(page, url, tmp_path / "both.zip")
    for folder in (other, place):
        page.get_by_role("combobox", name="Table", exact=True).select_option(
            label=folder.relative_to(tmp_path).as_posix()
        )
        expect(page.locator(".crumb")).to_have_text(folder.name)
        same_answers(saved(page), direct.open_table(str(folder)))
    watched.clean()


@pytest.mark.parametrize("codec", ["null", "deflate", "zstandard", "snappy"])
def test_every_codec_is_read(codec: str, watched: Watched, url: str, tmp_path: Path) -> None:
    place = make_table(tmp_path, 2)
    for path in (place / "metadata").glob("*.avro"):
        with path.open("rb") as file:
            reader = fastavro.reader(file)
            schema, records = json.loads(reader.metadata["avro.schema"]), list(reader)
        metadata = {k: v for k, v in reader.metadata.items() if not k.startswith("avro.")}
        with path.open("wb") as file:
            fastavro.writer(file, schema, records, codec=codec, metadata=metadata)
    drop(watched.page, url, place)
    same_answers(saved(watched.page), direct.open_table(str(place)))
    watched.clean()


def test_what_is_damaged_is_named_and_the_rest_is_there(watched: Watched, url: str, tmp_path: Path) -> None:
    place = make_table(tmp_path, 3)
    manifests = sorted((place / "metadata").glob("*-m0.avro"), key=lambda path: path.stat().st_mtime_ns)
    manifests[0].write_bytes(manifests[0].read_bytes()[:-40])
    manifests[1].unlink()
    page = watched.page
    drop(page, url, place)
    page.get_by_role("tab", name="Entries").click()
    expect(page.get_by_text("2 files could not be read whole. The rest is shown.")).to_be_visible()
    expect(page.get_by_text("it is not among the files that were dropped")).to_be_visible()
    expect(page.get_by_text("A reader of this snapshot sees at least 1 of 1 entries: 1 ADDED")).to_be_visible()
    (tmp_path / "no.json").write_text("{}")
    drop(page, url, tmp_path / "no.json")
    expect(page.get_by_role("alert")).to_contain_text("No *.metadata.json is among these files")
    watched.clean()


def test_strangers_text_is_text_and_large_ids_stay_exact(watched: Watched, url: str, tmp_path: Path) -> None:
    place = make_table(tmp_path, 1)
    name = "<img src=x onerror=document.title='run'>"

    def change(raw: dict[str, Any]) -> None:
        ref = {"type": "tag", "snapshot-id": raw["current-snapshot-id"]}
        raw["refs"][name] = raw["refs"]["__proto__"] = ref
        raw["snapshots"][0]["summary"]["operation"] = name

    edit_metadata(place, change)
    page = watched.page
    drop(page, url, place)
    expect(page.locator("summary").first).to_contain_text(name)
    assert page.title() == "Read Iceberg metadata in the browser"
    assert page.locator("img").count() == 0
    current = direct.open_table(str(place)).metadata.current_snapshot_id
    assert current is not None
    assert current > 2**53
    expect(page.get_by_text(f"id {current}")).to_be_visible()
    refused = page.evaluate("() => fetch(location.href).then(() => '', (error) => String(error))")
    assert "Failed to fetch" in refused  # not even its own server is asked
    watched.errors.clear()


def test_a_bomb_ends_early(watched: Watched, url: str, tmp_path: Path) -> None:
    place = make_table(tmp_path, 1)
    Path(newest_metadata(place)).rename(place / "metadata" / "v1.gz.metadata.json")
    file = place / "metadata" / "v1.gz.metadata.json"
    file.write_bytes(gzip.compress(b" " * (300 << 20), 9))
    drop(watched.page, url, place)
    expect(watched.page.get_by_role("alert")).to_contain_text("it is greater than this page reads, unpacked")


def doubled(levels: int) -> Any:
    """A record of two records of two records …, of which the last has no bytes."""
    kind: Any = {"type": "record", "name": "r0", "fields": [{"name": "a", "type": "null"}]}
    for level in range(1, levels):
        fields = [{"name": "a", "type": kind}, {"name": "b", "type": f"r{level - 1}"}]
        kind = {"type": "record", "name": f"r{level}", "fields": fields}
    return kind


NULLS = {"type": "array", "items": "null"}
ONE_BYTE = {"type": "record", "name": "m", "fields": [{"name": "a", "type": "int"}]}
NESTED = b'{"type":"record","fields":' + b"[" * 50_000 + b"]" * 50_000 + b"}"


def bomb(victim: Victim) -> None:
    data = zlib.compress(b"\0" * (200 << 20), 9)[2:-4]
    victim.manifest.write_bytes(avro_file(victim.schema_with("int"), (1, data), codec="deflate"))


HOSTILE: dict[str, tuple[str, Callable[[Victim], Any]]] = {
    "records that double": ("far more values than bytes", lambda v: v.manifest_of(doubled(50))),
    "a fixed type of -1 bytes": ("wrong size", lambda v: v.manifest_of({"type": "fixed", "name": "f", "size": -1})),
    "items without bytes": (
        "far more values than bytes",
        lambda v: v.manifest_of(NULLS, (1, long(100_000) * 5_000 + b"\0" * 100_000)),
    ),
    "nesting": ("nested too deeply", lambda v: v.manifest.write_bytes(avro_file(NESTED))),
    "a schema that is no JSON": ("it cannot be read", lambda v: v.manifest.write_bytes(avro_file(b"{no"))),
    "a bomb": ("greater than this page reads", bomb),
    "a list of records of a byte": (
        "manifests; this page reads at most 250,000",
        lambda v: v.list.write_bytes(avro_file(ONE_BYTE, (300_000, b"\0" * 300_000))),
    ),
    "a text that is no UTF-8": (
        "it cannot be read",
        lambda v: v.manifest.write_bytes(v.manifest.read_bytes().replace(b"avro.codec", b"avro.cod\xff\xff")),
    ),
}
"""What is wrong with one file, and how."""


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_named_and_ends_early(name: str, watched: Watched, url: str, tmp_path: Path) -> None:
    place = make_table(tmp_path, 2)
    words, damage = HOSTILE[name]
    damage(Victim(place))
    page = watched.page
    drop(page, url, place)
    page.get_by_role("tab", name="Entries").click()
    expect(page.locator(".dropped-problems")).to_contain_text(words)
    expect(page.get_by_text("A reader of this snapshot sees at least")).to_be_visible()
    watched.clean()


def test_a_file_of_another_table_is_never_taken(watched: Watched, url: str, tmp_path: Path) -> None:
    """Of a table and its copy in one zip, one has lost a manifest."""
    place = make_table(tmp_path / "a", 2)
    shutil.copytree(place, tmp_path / "b")
    Victim(place).manifest.unlink()
    with zipfile.ZipFile(tmp_path / "both.zip", "w") as archive:
        for path in [*place.rglob("*"), *(tmp_path / "b").rglob("*")]:
            archive.write(path, path.relative_to(tmp_path))
        archive.write(Victim(tmp_path / "b").manifest, "data/" + Victim(tmp_path / "b").manifest.name)
        archive.writestr("__MACOSX/a/metadata/._v9.metadata.json", b"\0\5\x16\7")
    page = watched.page
    drop(page, url, tmp_path / "both.zip")
    page.get_by_role("combobox", name="Table", exact=True).select_option(label=place.relative_to(tmp_path).as_posix())
    page.get_by_role("tab", name="Entries").click()
    expect(page.get_by_text("it is not among the files that were dropped")).to_be_visible()
    page.get_by_role("combobox", name="Table", exact=True).select_option(label="b")
    expect(page.get_by_text("A reader of this snapshot sees 2 of 2 entries")).to_be_visible()
    watched.clean()


def test_what_metadata_lacks_is_told(watched: Watched, url: str, tmp_path: Path) -> None:
    place = make_table(tmp_path, 2)

    def change(raw: dict[str, Any]) -> None:
        del raw["snapshots"][1]["manifest-list"]
        raw["snapshots"].append({**raw["snapshots"][0]})

    edit_metadata(place, change)
    page = watched.page
    drop(page, url, place)
    page.get_by_role("tab", name="Difference").click()
    expect(page.get_by_role("alert")).to_contain_text("has neither `manifest-list` nor `manifests`")
    expect(page.locator(".dropped-problems")).to_contain_text("several snapshots have the id")
    watched.clean()


def test_four_views_by_keyboard_and_without_barriers(
    watched: Watched, url: str, sandbox: Path, artifacts: Path
) -> None:
    page = watched.page
    page.goto(url)
    drop(page, url, sandbox / "warehouse" / "demo" / "manifest_lifecycle")
    page.get_by_role("tab", name="Tree").focus()
    for view in ("Tree", "Entries", "Lifecycle", "Difference"):
        expect(page.get_by_role("tab", name=view)).to_have_attribute("aria-selected", "true")
        expect(page.get_by_text("Reading")).to_have_count(0)
        page.evaluate(AXE)
        assert page.evaluate(VIOLATIONS) == []
        page.screenshot(path=artifacts / f"dropped-{view}.png")
        page.keyboard.press("ArrowRight")
    page.get_by_role("tab", name="Tree").click()
    page.locator("summary").first.click()
    page.locator(".dropped-inside summary").first.click()
    expect(page.get_by_role("table", name="Entries")).to_contain_text("data-4.parquet")
    page.screenshot(path=artifacts / "dropped-open.png")
    page.get_by_role("tab", name="Lifecycle").click()
    expect(page.get_by_role("table", name="Lifecycle of manifests")).to_contain_text("rewritten → manifest-2")
    watched.clean()
