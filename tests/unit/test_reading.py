"""Locating and reading tables, good and bad. Bad input gives an error that names the file, and the rest opens."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import fastavro
import pytest

from explorer.errors import NotFoundInTable, TableNotFound, UnreadableFile
from explorer.model.problem import Problem
from explorer.queries import metadata_tree
from explorer.queries.orphans import orphans
from explorer.storage.formats import avro
from explorer.storage.manifest_reader import NOT_NOW, ReadResult
from tests.security.build import avro_file
from tests.support import direct
from tests.support.small_tables import edit_metadata, make_table, newest_metadata


def manifest_list(path: Path) -> Path:
    found = direct.open_table(str(path)).metadata.current_snapshot
    assert found is not None
    assert found.manifest_list is not None
    return Path(found.manifest_list.removeprefix("file://"))


def manifest_of(path: Path) -> str:
    return str(direct.open_table(str(path)).manifests()[0]["manifest_path"])


def test_opens_a_folder_a_file_and_a_uri(table: Path) -> None:
    for name in (str(table), str(newest_metadata(table)), f"file://{newest_metadata(table)}", f"{table}/"):
        opened = direct.open_table(name)
        assert len(opened.snapshots) == 3
        assert not opened.problems
        assert len(opened.files()) == 3
    assert "highest version" in direct.open_table(str(table)).why


def test_the_version_hint_decides_and_a_wrong_one_is_told(table: Path) -> None:
    older = sorted((table / "metadata").glob("*.metadata.json"))[1]
    (table / "metadata" / "version-hint.text").write_text(older.name)
    assert len(direct.open_table(str(table)).snapshots) == 1
    (table / "metadata" / "version-hint.text").write_text("77")
    opened = direct.open_table(str(table))
    assert len(opened.snapshots) == 3
    assert "says '77', but no such file is there" in opened.why


@pytest.mark.parametrize("name", ["v9.gz.metadata.json", "v9.metadata.json.gz"])
def test_gzipped_metadata(table: Path, name: str) -> None:
    (table / "metadata" / name).write_bytes(gzip.compress(newest_metadata(table).read_bytes()))
    opened = direct.open_table(str(table))
    assert opened.metadata.metadata_location.endswith(name)
    assert len(opened.files()) == 3


def test_a_copied_table_reads_its_copy_and_says_so(table: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(table, copy)
    shutil.rmtree(table)
    opened = direct.open_table(str(copy))
    assert len(opened.files()) == 3
    assert [p.severity for p in opened.problems] == ["info"]
    assert "copied or edited" in opened.problems[0].cause


def test_v1_with_inline_manifests(tmp_path: Path) -> None:
    table = make_table(tmp_path, **{"format-version": "1"})
    paths = [m["manifest_path"] for m in direct.open_table(str(table)).manifests()]

    def inline(data: dict) -> None:  # type: ignore[type-arg]
        for snapshot in data["snapshots"]:
            if snapshot["snapshot-id"] == data["current-snapshot-id"]:
                del snapshot["manifest-list"]
                snapshot["manifests"] = paths

    edit_metadata(table, inline)
    opened = direct.open_table(str(table))
    rows = opened.manifests().to_json()
    assert [r["manifest_path"] for r in rows] == paths
    assert rows[0]["added_files_count"] is None  # unknown, so to be taken as non-zero
    assert {r["sequence_number"] for r in opened.entries()} == {0}
    assert len(opened.files()) == 3
    assert "inline" in repr(opened)


def test_unknown_fields_are_kept(table: Path) -> None:
    edit_metadata(table, lambda d: d.update({"new-in-v9": {"a": 1}}))
    opened = direct.open_table(str(table))
    assert opened.metadata.raw["new-in-v9"] == {"a": 1}


def test_a_newer_format_version_opens_with_what_is_known(table: Path) -> None:
    edit_metadata(table, lambda d: d.update({"format-version": 5}))
    opened = direct.open_table(str(table))
    assert len(opened.files()) == 3
    assert opened.problems[0].location == "/format-version"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("/nonexistent/table", "no such folder"),
        ("demo.nothing_here", "demo"),
        ("nothing", "no table name"),
        ("no_such_catalog.db.t", "sandbox"),
    ],
)
def test_no_such_table(name: str, words: str) -> None:
    with pytest.raises(TableNotFound, match=words):
        direct.open_table(name)


def test_a_folder_that_is_no_table(tmp_path: Path) -> None:
    (tmp_path / "readme.txt").write_text("hello")
    with pytest.raises(TableNotFound, match=r"not an Iceberg table folder.*readme.txt"):
        direct.open_table(str(tmp_path))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not JSON"),
        (b"hello", "starts with b'hello'"),
        (b"[]", "no `format-version`"),
        (b"\x1f\x8bxx", "gzip"),
        (b'{"a": 1}', "format-version"),
    ],
)
def test_metadata_that_is_none(table: Path, content: bytes, words: str) -> None:
    newest_metadata(table).write_bytes(content)
    with pytest.raises(UnreadableFile, match=words):
        direct.open_table(str(table))


def test_a_missing_manifest_list_leaves_the_other_snapshots(table: Path) -> None:
    missing = manifest_list(table)
    missing.unlink()
    opened = direct.open_table(str(table))
    assert len(opened.manifests()) == 0
    assert str(missing) in str(opened.problems[0])
    assert "does not exist" in opened.problems[0].cause
    assert len(opened.files("snapshot-2")) == 2
    graph = opened.graph()
    bad = [n for n in graph.nodes if n.problem]
    assert {n.kind for n in bad} == {"manifest_list", "problem"}


def test_a_truncated_manifest_keeps_the_others(table: Path) -> None:
    victim = Path(direct.open_table(str(table)).manifests()[0]["manifest_path"].removeprefix("file://"))
    victim.write_bytes(victim.read_bytes()[:-40])
    opened = direct.open_table(str(table))
    assert len(opened.entries()) == 2
    assert victim.name in opened.problems[0].file
    assert "cut off" in opened.problems[0].cause
    assert opened.problems[0].location.startswith("byte ")
    assert victim.name in " ".join(str(n.facts.get("path")) for n in opened.graph().nodes if n.problem)


@pytest.mark.parametrize("inside", ["a partition field", "a map's key"])
def test_a_name_with_a_nul(table: Path, inside: str) -> None:
    path = Path(str(direct.open_table(str(table)).reader.storage.check(manifest_of(table))).removeprefix("file://"))
    container = avro.open_container(path.read_bytes(), "")
    files = [record["data_file"]["file_path"] for record in avro.records(container)]
    schema = json.loads(json.dumps(container.schema))
    if inside == "a partition field":
        data_file = next(field for field in schema["fields"] if field["name"] == "data_file")["type"]
        partition = next(field for field in data_file["fields"] if field["name"] == "partition")["type"]
        partition["fields"] = [{"name": "a_b", "type": ["null", "int"], "field-id": 1000}]
        records = list(avro.records(container))
        for record in records:
            record["data_file"]["partition"] = {"a_b": 7}
        out = io.BytesIO()
        for record in records:
            fastavro.schemaless_writer(out, schema, record)
        blocks = [(len(records), out.getvalue())]
        text = json.dumps(schema).replace("a_b", "a\\u0000b")
    else:
        blocks = [(block.count, block.data) for block in container.blocks]
        text = json.dumps(schema).replace('"key"', '"k\\u0000"')
    path.write_bytes(avro_file(text.encode(), *blocks))
    opened = direct.open_table(str(table))
    entries = opened.entries(view="stored", metrics=True).to_json()
    assert not opened.problems
    mine = [entry for entry in entries if entry["file_path"] in files]
    assert len(mine) == len(files)
    if inside == "a partition field":
        assert all("7" in json.dumps(entry["partition"]) for entry in mine)
    else:
        assert all(entry["lower_bounds"] for entry in mine)


def test_a_text_file_as_manifest(table: Path) -> None:
    victim = Path(direct.open_table(str(table)).manifests()[0]["manifest_path"].removeprefix("file://"))
    victim.write_text("these are not the bytes you are looking for")
    opened = direct.open_table(str(table))
    assert len(opened.entries()) == 2
    assert "not an Avro file: it starts with b'these are no" in opened.problems[0].cause


def test_a_manifest_list_in_the_place_of_a_manifest(table: Path) -> None:
    victim = Path(direct.open_table(str(table)).manifests()[0]["manifest_path"].removeprefix("file://"))
    victim.write_bytes(manifest_list(table).read_bytes())
    opened = direct.open_table(str(table))
    assert len(opened.entries()) == 2
    assert "not a manifest" in opened.problems[0].cause


def test_cyclic_parents(table: Path) -> None:
    def cycle(data: dict) -> None:  # type: ignore[type-arg]
        data["snapshots"][0]["parent-snapshot-id"] = data["snapshots"][-1]["snapshot-id"]

    edit_metadata(table, cycle)
    opened = direct.open_table(str(table))
    assert "run in a circle" in opened.problems[0].cause
    assert len(opened.files()) == 3
    assert opened.graph().nodes


def test_wrong_types_become_problems_with_pointers(table: Path) -> None:
    def damage(data: dict) -> None:  # type: ignore[type-arg]
        data["snapshots"][0]["timestamp-ms"] = "yesterday"
        data["snapshots"].append({"no": "id"})
        data["refs"]["broken"] = {"type": "tag"}
        data["refs"]["dangling"] = {"type": "tag", "snapshot-id": 12}

    edit_metadata(table, damage)
    opened = direct.open_table(str(table))
    assert {p.location for p in opened.problems} == {
        "/snapshots/0/timestamp-ms",
        "/snapshots/3",
        "/refs/broken",
        "/refs/dangling",
    }
    assert len(opened.files()) == 3


def test_duplicate_keys_are_told(table: Path) -> None:
    path = newest_metadata(table)
    path.write_text(path.read_text().replace("{", '{"location": "elsewhere", ', 1))
    assert any("'location' appears twice" in p.cause for p in direct.open_table(str(table)).problems)


def test_nothing_outside_the_roots_is_read(table: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.avro"
    secret.write_bytes(manifest_list(table).read_bytes())

    def escape(data: dict) -> None:  # type: ignore[type-arg]
        for snapshot in data["snapshots"]:
            snapshot["manifest-list"] = f"file://{secret}"

    edit_metadata(table, escape)
    opened = direct.open_table(str(table))
    assert len(opened.manifests()) == 0
    assert "outside the table's folder" in opened.problems[0].cause
    assert len(direct.open_table(str(table), roots=[str(tmp_path)]).manifests()) == 3


def test_a_location_that_claims_another_folder_allows_nothing(tmp_path: Path) -> None:
    table = make_table(tmp_path / "source")
    secret = tmp_path / "secret.avro"
    secret.write_bytes(manifest_list(table).read_bytes())

    def claim(data: dict) -> None:  # type: ignore[type-arg]
        data["location"] = str(tmp_path)
        data["properties"]["write.data.path"] = f"{tmp_path}/."
        data["snapshots"][-1]["manifest-list"] = f"file:{secret}"

    edit_metadata(table, claim)
    opened = direct.open_table(str(table))
    assert len(opened.manifests()) == 0
    assert any("outside the table's folder" in p.cause or "does not exist" in p.cause for p in opened.problems)


def test_a_link_out_of_the_table_is_not_followed(table: Path, tmp_path: Path) -> None:
    listed = manifest_list(table)
    shutil.move(listed, tmp_path / "moved.avro")
    listed.symlink_to(tmp_path / "moved.avro")
    opened = direct.open_table(str(table))
    assert len(opened.manifests()) == 0
    assert "outside the table's folder" in opened.problems[0].cause


def test_a_pipe_does_not_hang(table: Path) -> None:
    listed = manifest_list(table)
    listed.unlink()
    os.mkfifo(listed)
    opened = direct.open_table(str(table))
    assert len(opened.manifests()) == 0
    assert "not a regular file" in opened.problems[0].cause


def test_the_first_screen_reads_metadata_and_one_manifest_list(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from explorer.storage.storage import Storage

    read: list[str] = []
    original = Storage.read
    monkeypatch.setattr(
        Storage, "read", lambda self, path, *a, **k: (read.append(path), original(self, path, *a, **k))[1]
    )
    opened = direct.open_table(str(table))
    opened.manifests()
    assert [p.rsplit(".", 1)[-1] for p in read] == ["json", "json", "avro"]
    assert read[0] == read[1]  # once to see that all metadata files are of one table
    assert read[2].rsplit("/", 1)[-1].startswith("snap-")


def test_resolving_snapshots(table: Path) -> None:
    opened = direct.open_table(str(table))
    rows = list(opened.snapshots)
    assert opened.resolve().snapshot.snapshot_id == rows[-1]["snapshot-id"]
    assert opened.resolve(rows[0]["snapshot-id"]).reason == "that snapshot id"
    assert opened.resolve("main").reason == "branch main"
    assert opened.resolve("snapshot-2").snapshot.snapshot_id == rows[1]["snapshot-id"]
    assert opened.resolve(str(rows[1]["timestamp-ms"])).snapshot.snapshot_id == rows[1]["snapshot-id"]
    assert "snapshot log" in opened.resolve("2999-01-01").reason
    for wanted, words in (
        ("12345", "may have expired"),
        ("2001-01-01T00:00:00Z", "the snapshot log begins"),
        ("nope", "branches and tags: main"),
    ):
        with pytest.raises(NotFoundInTable, match=words):
            opened.resolve(wanted)


def test_time_travel_goes_by_the_log_not_by_parents(table: Path) -> None:
    def rolled_back(data: dict) -> None:  # type: ignore[type-arg]
        first, last = data["snapshots"][0], data["snapshots"][-1]
        later = last["timestamp-ms"] + 1000
        data["snapshot-log"].append({"timestamp-ms": later, "snapshot-id": first["snapshot-id"]})
        data["current-snapshot-id"] = data["refs"]["main"]["snapshot-id"] = first["snapshot-id"]

    path = edit_metadata(table, rolled_back)
    data = json.loads(path.read_text())
    opened = direct.open_table(str(table))
    assert opened.resolve("2999-01-01").snapshot.snapshot_id == data["snapshots"][0]["snapshot-id"]


def test_an_empty_table(tmp_path: Path) -> None:
    opened = direct.open_table(str(make_table(tmp_path, commits=0)))
    assert len(opened.snapshots) == len(opened.manifests()) == len(opened.entries()) == len(opened.files()) == 0
    assert [n.kind for n in opened.graph().nodes] == ["catalog", "metadata"]
    assert repr(opened)


def test_a_sentence_has_lines_and_a_path_has_one() -> None:
    sentence, path = " ".join(["one word after another"] * 5), f"file:/{'folder/' * 20}data.parquet"
    few = direct.Collection.of_rows([{"path": path, "reason": sentence}], "reasons")._repr_html_()
    assert f">{sentence}</td>" in few
    assert few.count("white-space:normal") == few.count("white-space:nowrap") == 1
    assert "…" in few
    many = direct.Collection.of_rows([{f"column {n}": sentence for n in range(7)}], "reasons")._repr_html_()
    assert "white-space:normal" not in many
    assert f">{sentence}</td>" not in many


def test_collections_convert(table: Path) -> None:
    files = direct.open_table(str(table)).files(metrics=True)
    assert files.to_arrow().num_rows == len(files.to_pandas()) == len(files.to_polars()) == len(files.to_json()) == 3
    assert files[0]["record_count"] == files[-1]["record_count"] == 2
    assert len(files[:2]) == 2
    assert "<table>" in files._repr_html_()
    json.dumps(files.to_json())
    with pytest.raises(IndexError):
        files[3]


def test_the_disk_cache_gives_the_same_and_survives_damage(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from explorer.storage import cache

    monkeypatch.setenv("ICEDIVE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "SMALLEST", 0)
    first = direct.open_table(str(table)).entries(metrics=True).to_arrow()
    stored = list((tmp_path / "cache").rglob("*.arrow"))
    assert len(stored) == 3
    assert direct.open_table(str(table)).entries(metrics=True).to_arrow().equals(first)
    for file in stored:
        file.unlink()  # the old one is mapped still
        file.write_bytes(b"damaged")
    assert direct.open_table(str(table)).entries(metrics=True).to_arrow().equals(first)
    cache.trim(limit=0)
    assert not list((tmp_path / "cache").rglob("*.arrow"))


@pytest.mark.parametrize("optional", ["items", "key", "value", "all"])
@pytest.mark.parametrize("decoder", ["bulk", "child"])
def test_maps_whose_items_are_unions(optional: str, decoder: str, tmp_path: Path) -> None:
    """BigQuery makes the key-value records of a manifest's maps, and what is in them, optional; it leaves out what is
    inherited, too."""
    folder = make_table(tmp_path, commits=1)
    before = direct.open_table(str(folder))
    (listed,) = before.manifests()
    path = Path(before.reader.storage.check(listed["manifest_path"]).removeprefix("file://"))
    with path.open("rb") as file:
        reader = fastavro.reader(file)
        schema, metadata, records = json.loads(reader.metadata["avro.schema"]), reader.metadata, list(reader)
    inherited = ("snapshot_id", "sequence_number", "file_sequence_number")
    schema["fields"] = [f for f in schema["fields"] if f["name"] not in inherited]
    for field in next(f for f in schema["fields"] if f["name"] == "data_file")["type"]["fields"]:
        for option in field["type"] if isinstance(field["type"], list) else ():
            if isinstance(option, dict) and option.get("logicalType") == "map":
                for part in option["items"]["fields"]:
                    if optional in (part["name"], "all"):
                        part["type"] = ["null", part["type"]]
                if optional in ("items", "all"):
                    option["items"] = ["null", option["items"]]
    others = {k: v for k, v in metadata.items() if not k.startswith("avro.")}
    if decoder == "child":
        schema["doc"], schema["namespace"] = "", "a.b"  # no plain schema any more
    with path.open("wb") as file:
        fastavro.writer(file, schema, records, metadata=others)
    after = direct.open_table(str(folder))
    whole = after.entries(view="logical", metrics=True).to_arrow()
    assert not after.problems
    expected = before.entries(view="logical", metrics=True).to_arrow()
    assert (
        whole.select(["file_path", "column_sizes", "lower_bounds", "logical_status"]).to_pylist()
        == expected.select(["file_path", "column_sizes", "lower_bounds", "logical_status"]).to_pylist()
    )
    assert whole["lower_bounds"].null_count == 0


def test_snapshot_ids_beyond_64_bits(table: Path) -> None:
    """pyiceberg has written 2^63 (apache/iceberg-python 1424): the snapshot opens, with its rows, and it is told."""
    current = json.loads(newest_metadata(table).read_text())["current-snapshot-id"]
    text = re.sub(rf'(snapshot-id": *){current}\b', rf"\g<1>{1 << 63}", newest_metadata(table).read_text())
    newest_metadata(table).write_text(text)
    opened = direct.open_table(str(table))
    snapshot = opened.metadata.current_snapshot
    assert snapshot is not None
    assert snapshot.snapshot_id == -(1 << 63)
    assert [r.snapshot_id for r in opened.metadata.refs] == [snapshot.snapshot_id]
    assert opened.metadata.snapshot_log[-1].snapshot_id == snapshot.snapshot_id
    assert {p.severity for p in opened.problems} == {"warning"}
    assert "the id 9223372036854775808 has no place in 64 bits" in str(opened.problems[0])
    assert len(opened.file_rows(opened.files()[0]["file_path"])) == 2


def test_of_very_many_problems_the_first_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As of the data files of a store that cannot be had; a manifest that cannot be read is known all the same."""
    monkeypatch.setattr(metadata_tree, "KEPT", 3)
    folder = make_table(tmp_path)
    first = min((folder / "metadata").glob("*-m0.avro"), key=lambda file: file.stat().st_mtime)
    first.write_text("no manifest")
    table = direct.open_table(str(folder))
    for _ in range(2):  # the same ones, once
        table.tree.by("local", "footers").note([Problem(f"file-{n}.parquet", "it is gone") for n in range(9)])
    assert [p.file for p in table.problems] == [f"file-{n}.parquet" for n in range(3)]
    assert table.tree.more_problems
    assert not table.tree.lacks
    assert len(table.files()) == 2
    assert len(table.problems) == 4
    assert table.tree.unreadable == {first.as_uri()}
    assert first.name in table.tree.lacks
    assert "manifest-missing" in {finding.rule for finding in direct.doctor(table).findings}
    with pytest.raises(UnreadableFile, match="nobody knows"):
        orphans(table.tree)


def test_what_could_not_be_read_for_a_while_is_not_lost(tmp_path: Path) -> None:
    """Also where Spark's workers say so."""
    table = direct.open_table(str(make_table(tmp_path)))
    manifest = table.manifests()[0]["manifest_path"]
    table.tree._note_manifests([Problem(manifest, "timed out", rule=NOT_NOW)])
    assert table.tree.unreadable == {manifest}
    assert len(table.files()) == 3
    assert not table.tree.unreadable
    assert not table.problems


def test_a_snapshot_that_names_no_manifests_is_told_of_itself(tmp_path: Path) -> None:
    """metadata.json has been read whole."""
    folder = make_table(tmp_path)
    newest = newest_metadata(folder)
    metadata = json.loads(newest.read_text())
    del metadata["snapshots"][-1]["manifest-list"]
    newest.write_text(json.dumps(metadata))
    table = direct.open_table(str(folder))
    assert not table.files()
    assert "neither `manifest-list` nor `manifests`" in str(table.problems[-1])
    assert not table.tree.unreadable


def test_what_is_odd_is_not_lost(table: Path) -> None:
    """A manifest that somebody was warned of has been read whole."""
    opened = direct.open_table(str(table))
    opened.tree.note([Problem(manifest_of(table), "its partition fields are in no other one", severity="warning")])
    assert not opened.tree.unreadable
    assert not opened.tree.lacks


def test_a_list_that_is_named_like_the_metadata_file_is_lost(tmp_path: Path) -> None:
    """Nobody knows what it names: no file is unreachable then."""
    folder = make_table(tmp_path)
    name = newest_metadata(folder).as_uri()
    edit_metadata(folder, lambda data: data["snapshots"][0].update({"manifest-list": name}))
    table = direct.open_table(str(folder))
    with pytest.raises(UnreadableFile, match="nobody knows"):
        orphans(table.tree)
    assert table.tree.unreadable == {name}


@pytest.mark.parametrize("wrong", [{"manifest-list": 5}, {"manifest-list": None}, None, "twice", "statistics"])
def test_no_file_is_unreachable_where_a_snapshot_is_not_known(tmp_path: Path, wrong: Any) -> None:
    folder = make_table(tmp_path)

    def edit(data: dict[str, Any]) -> None:
        if wrong == "twice":
            data["snapshots"][0]["snapshot-id"] = data["snapshots"][1]["snapshot-id"]
        elif wrong == "statistics":
            data["statistics"] = [{"statistics-path": 3}]
        elif wrong:
            data["snapshots"][0].update(wrong)
        else:
            data["snapshots"][0] = 5

    edit_metadata(folder, edit)
    with pytest.raises(UnreadableFile, match=r"nobody knows|only one of them"):
        orphans(direct.open_table(str(folder)).tree)


def test_what_is_lost_is_told_in_few_words(tmp_path: Path) -> None:
    """However many files, and however long their names, and by the name that metadata has for each."""
    table = direct.open_table(str(make_table(tmp_path)))
    long = f"/../?{'a=' * 50_000}"
    table.tree._note("a", ReadResult(None, (Problem(f"{long[:100]}…", "no path"),)), long)
    table.tree._note_manifests([Problem(f"file-{n:05}.avro", "it is gone") for n in range(10_000)])
    assert len(table.tree.unreadable) == 10_001
    assert long in table.tree.unreadable
    assert table.tree.lacks.endswith("there: file-00000.avro, file-00001.avro and 9,999 more")
    one = tmp_path / "one.avro"
    table.tree._note_manifests([Problem(str(one), f"record {n} is none") for n in range(1_000)])
    assert sum(p.file == str(one) for p in table.problems) == metadata_tree.OF_ONE
    assert table.tree.more_problems
