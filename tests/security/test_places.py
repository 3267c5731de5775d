"""Where a table's files may be, who may write the cache, and whose configuration counts."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pyarrow as pa
import pytest

from explorer.errors import AccessRefused, OutsideRoots, TableNotFound, UnreadableFile
from explorer.storage import cache, data_dirs
from explorer.storage.allowed_roots import location_is_own, own_folders
from explorer.storage.catalogs import catalogs, configuration
from explorer.storage.decoder_process import client, panics
from explorer.storage.locate import Location
from explorer.storage.paths import below, canonical, move_path, normal_path
from explorer.storage.reader import TableReader
from explorer.storage.storage import Storage
from tests.support import direct
from tests.support.small_tables import edit_metadata, make_table, newest_metadata


def by_catalog(table: Path, **properties: str) -> TableReader:
    return TableReader(Location("c.db.t", str(newest_metadata(table)), "", "c", "db.t", properties))


@pytest.mark.parametrize(
    "location",
    [
        "/.",
        "/",
        "//",
        "file:///",
        "file:/",
        "/etc/..",
        "s3://",
        "s3://bucket",
        "s3:///",
        ".",
        "..",
        "/tmp",
        "/etc",
        " ",
    ],
)
def test_a_table_of_a_catalog_does_not_choose_its_root(table: Path, tmp_path: Path, location: str) -> None:
    secret = tmp_path / "secret.avro"
    secret.write_bytes(next((table / "metadata").glob("snap-*")).read_bytes())

    def claim(data: dict) -> None:  # type: ignore[type-arg]
        data["location"] = location
        data["snapshots"][-1]["manifest-list"] = str(secret)

    edit_metadata(table, claim)
    for warehouse in ({}, {"warehouse": str(table.parents[1])}, {"warehouse": location}):
        reader = by_catalog(table, **warehouse)
        assert reader.storage.roots == [str(table)]
        with pytest.raises(OutsideRoots):
            reader.storage.check(str(secret))
        snapshot = reader.metadata.current_snapshot
        assert snapshot is not None
        assert "outside the table's folder" in reader.manifests(snapshot).problems[0].cause


HOUSE = {"warehouse": "s3://bucket/house"}


@pytest.mark.parametrize(
    ("stated", "metadata", "properties", "own"),
    [
        ("s3://bucket/house/db/t", "s3://bucket/house/db/t/metadata/v1.metadata.json", {}, True),
        ("s3a://bucket/house/db/t", "s3://bucket/house/db/t/metadata/v1.metadata.json", {}, True),
        ("s3://bucket/house/db/t", "s3://other/meta/t/v1.metadata.json", HOUSE, True),
        ("s3://bucket/house/db/t", "s3://other/meta/t/v1.metadata.json", {}, False),
        ("s3://bucket/house/db/t", "s3://bucket/house/db/t/meta/v1.metadata.json", {}, True),
        ("s3://bucket/house/db", "s3://bucket/house/db/t/metadata/v1.metadata.json", {}, True),
        ("s3://bucket/house", "s3://bucket/house/db/t/metadata/v1.metadata.json", {}, False),
        ("s3://bucket/house", "s3://bucket/house/t/metadata/v1.metadata.json", HOUSE, False),
        ("s3://bucket", "s3://bucket/t/metadata/v1.metadata.json", {}, False),
        ("s3://bucket/house/../other", "s3://bucket/house/db/t/metadata/v1.metadata.json", HOUSE, False),
        ("s3://bucket/houses/t", "s3://other/t/metadata/v1.metadata.json", HOUSE, False),
        ("gs://bucket/house/db/t", "s3://bucket/house/db/t/metadata/v1.metadata.json", HOUSE, False),
        ("/data/house/db/t", "/data/house/db/t/metadata/v1.metadata.json", {"warehouse": "named"}, True),
        ("file:/data/house/db/t", "/data/house/db/t/metadata/v1.metadata.json", {}, True),
        ("/data", "/data/t/metadata/v1.metadata.json", {}, False),
    ],
)
def test_which_locations_are_a_tables_own(stated: str, metadata: str, properties: dict[str, str], own: bool) -> None:
    assert location_is_own(stated, metadata, properties) is own


def test_a_table_at_the_top_of_a_bucket_or_disk_has_two_folders() -> None:
    assert own_folders("s3://b/metadata/v1.metadata.json")[1:] == ["s3://b/metadata", "s3://b/data"]
    assert own_folders("/data/metadata/v1.metadata.json")[1:] == ["/data/metadata", "/data/data"]
    assert own_folders("s3://b/t/metadata/v1.metadata.json") == ["s3://b/t"]


@pytest.mark.parametrize(
    ("path", "root", "inside"),
    [
        ("s3://bucket/x", "s3:///", False), ("s3://bucket/x", "s3://", False), ("s3://bucket2/x", "s3://bucket", False),
        ("s3://bucket/x", "s3://bucket/", True), ("s3://bucket/x/../y", "s3://bucket/x", False),
        ("s3a://bucket/x/y", "s3://bucket/x", True), ("/a/bc", "/a/b", False), ("/a/b/c", "/a/b", True),
        ("hdfs://other/x", "hdfs:///", False), ("s3:/bucket/x", "s3://bucket", False),
    ],
)  # fmt: skip
def test_what_is_below_what(path: str, root: str, inside: bool) -> None:
    assert below(canonical(path), canonical(root)) is inside


@pytest.mark.parametrize(
    "path",
    [
        "{t}/data/../../secret",
        "file:{t}/data/../../secret",
        "file:{t}/x#/../../secret",  # Java folds `..`, and takes `#` and `?` for letters of a path
        "file://{t}/x?a=/../../secret",
        "s3://bucket/t/./x",  # a name to a store, nothing to Hadoop
        "s3://bucket/t/x#/../../other",
        "{t}/data/..",
    ],
)
def test_paths_that_readers_take_in_different_ways(path: str, table: Path) -> None:
    storage = Storage([str(table), "s3://bucket/t"])
    for use in (storage.check, storage.read, storage.size):
        with pytest.raises(OutsideRoots, match="in different ways"):
            use(path.format(t=table))


def test_letters_that_uris_give_a_meaning_are_letters(table: Path) -> None:
    for name in ("a%20b", "a b", "a#b", "a?b=c", "a+b"):
        (table / name).write_text(name)
        for spelling in (f"{table}/{name}", f"file:{table}/{name}", f"file://{table}/{name}"):
            assert Storage([str(table)]).read(spelling) == name.encode()


def test_check_says_what_read_would_open(table: Path) -> None:
    storage = Storage([str(table)])
    file = newest_metadata(table)
    assert storage.check(str(file)) == str(file)
    assert storage.check(f"file://{file}") == f"file://{file}"
    os.mkfifo(table / "pipe")
    (table / "link").symlink_to(table.parents[2])
    for path in (
        str(table / "pipe"),
        str(table),
        str(table / "link" / "x"),
        "a\0b",
        "",
        "s3://b/x",
        f"{file}/../../../x",
    ):
        with pytest.raises(UnreadableFile):
            storage.check(path)


def test_a_link_put_in_the_way_after_the_check_is_not_followed(table: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "v1.metadata.json").write_text("secret")
    storage = Storage([str(table)])
    (table / "new").mkdir()
    (table / "new" / "v1.metadata.json").write_text("mine")
    path = str(table / "new" / "v1.metadata.json")
    assert storage.read(path) == b"mine"
    (table / "new").rename(table / "old")
    (table / "new").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnreadableFile, match="cannot be read"):
        storage.read(path)  # its folder was resolved before


def test_every_path_of_a_snapshot_is_named(table: Path) -> None:
    opened = direct.open_table(str(table))
    snapshot = opened.metadata.current_snapshot
    assert snapshot is not None
    paths = list(opened.reader.paths_of_snapshot(snapshot))
    assert paths[0] == snapshot.manifest_list
    assert {m.manifest_path for m in opened.tree.manifests(snapshot)} <= set(paths)
    assert {f["file_path"] for f in opened.files()} <= set(paths)
    assert len(paths) == 7
    assert all(map(opened.reader.storage.check, paths))


# -- the cache and the data folder ------------------------------------------------------------------------------------
@pytest.fixture
def cached(table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table whose manifests are in the cache; gives the cache's folder."""
    monkeypatch.setenv("ICEDIVE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "SMALLEST", 0)
    direct.open_table(str(table)).entries()
    return next((tmp_path / "cache").iterdir())


def test_the_cache_is_the_users_alone(cached: Path) -> None:
    assert stat.S_IMODE(cached.stat().st_mode) == 0o700
    files = list(cached.rglob("*.arrow"))
    assert len(files) == 3
    assert {stat.S_IMODE(f.stat().st_mode) for f in files} == {0o600}


def test_a_cache_that_others_write_to_is_not_used(table: Path, cached: Path) -> None:
    for file in cached.rglob("*.arrow"):
        planted = pa.table({"planted": [1]})
        with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_file(sink, planted.schema) as writer:
            writer.write_table(planted)
    cached.chmod(0o777)
    opened = direct.open_table(str(table))
    assert len(opened.entries()) == 3
    assert "planted" not in opened.entries().columns


def test_the_roots_are_checked_before_the_cache_answers(table: Path, cached: Path, tmp_path: Path) -> None:
    other = make_table(tmp_path / "other", commits=1)
    secret = direct.open_table(str(table)).metadata.current_snapshot
    assert secret is not None
    listed = next((other / "metadata").glob("snap-*"))
    listed.write_bytes(Path(str(secret.manifest_list).removeprefix("file://")).read_bytes())
    opened = direct.open_table(str(other))
    assert len(opened.entries()) == 0
    assert {p.cause.split(",")[0] for p in opened.problems} == {"outside the table's folder"}


def test_other_accounts_have_other_cached_files() -> None:
    keys = {Storage([], {"s3.access-key-id": key}).identity for key in ("a", "b")}
    assert len(keys) == 2
    assert all(len(key) == 32 for key in keys)


def test_a_data_folder_that_others_write_to_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(data_dirs.HOME_VARIABLE, str(tmp_path))
    assert data_dirs.data_home() == tmp_path
    tmp_path.chmod(0o777)
    with pytest.raises(AccessRefused, match="chmod go-w"):
        data_dirs.data_home()
    tmp_path.chmod(0o700)


# -- the working folder's configuration -------------------------------------------------------------------------------
EVIL = """catalog:
  {name}:
    py-catalog-impl: evil_catalog.Catalog
    type: null
  sandbox:
    py-catalog-impl: evil_catalog.Catalog
    py-io-impl: evil_catalog.IO
"""


@pytest.fixture
def working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "downloaded"
    folder.mkdir()
    (folder / ".pyiceberg.yaml").write_text(EVIL.format(name="prod"))
    (folder / "evil_catalog.py").write_text("import pathlib\npathlib.Path('ran').touch()\n")
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PYICEBERG_HOME", raising=False)
    monkeypatch.delenv(configuration.TRUST_VARIABLE, raising=False)
    monkeypatch.setattr(configuration, "_told", set())
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))
    return folder


def test_a_configuration_that_came_with_the_folder_runs_nothing(working_folder: Path) -> None:
    with pytest.warns(UserWarning, match=configuration.TRUST_VARIABLE):
        assert catalogs.catalog_names() == ["sandbox"]
    for name in ("prod", "sandbox"):
        with pytest.raises(TableNotFound):
            catalogs.pointer(name, "no.such")
    with pytest.raises(TableNotFound, match=configuration.TRUST_VARIABLE):
        catalogs.load("prod")
    assert not (working_folder / "ran").exists()


def test_a_folder_is_trusted_when_it_is_named_and_nobody_else_writes_to_it(
    working_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(configuration.TRUST_VARIABLE, f"/nowhere{os.pathsep}{working_folder}")
    assert catalogs.catalog_names() == ["sandbox", "prod"]
    (working_folder / ".pyiceberg.yaml").chmod(0o666)
    with pytest.warns(UserWarning, match="others may write to it"):
        assert catalogs.catalog_names() == ["sandbox"]


def test_the_home_folders_configuration_counts(working_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (Path(os.environ["HOME"]) / ".pyiceberg.yaml").write_text("catalog:\n  mine:\n    uri: http://localhost\n")
    with pytest.warns(UserWarning, match="is not read"):
        assert catalogs.catalog_names() == ["sandbox", "mine"]
    monkeypatch.setenv("PYICEBERG_CATALOG__SECOND__URI", "http://localhost")
    assert catalogs.catalog_names() == ["sandbox", "mine", "second"]


# -- the child --------------------------------------------------------------------------------------------------------
def test_the_child_knows_no_secret_and_imports_nothing_from_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hidden")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "json.py").write_text("raise SystemExit('from the working folder')")
    monkeypatch.setattr(client, "_idle", [])
    with pytest.raises(UnreadableFile, match="cannot be decoded"):
        client.run("footer", "f.parquet", b"PAR1")
    worker = client._idle[0]
    assert worker.healthy
    environment = Path(f"/proc/{worker._process.pid}/environ")
    if environment.exists():
        assert b"hidden" not in environment.read_bytes()
    worker.kill()


def test_honest_manifests_stay_in_this_process(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a child was asked")

    monkeypatch.setattr(client, "run", refuse)
    monkeypatch.setattr(panics, "_seen", [])  # other tests may have led to some
    opened = direct.open_table(str(table))
    assert json.dumps(opened.entries(metrics=True).to_json())
    assert opened.reader.read_records(opened.manifests()[0]["manifest_path"])


def test_half_a_character_in_a_name_is_told(tmp_path: Path) -> None:
    storage = Storage([str(tmp_path)])
    (tmp_path / "there").write_text("so that the folder is known")
    assert storage.size(f"{tmp_path}/there") > 0
    for act in (storage.read, storage.size):
        with pytest.raises(UnreadableFile, match="UnicodeEncodeError"):
            act(f"{tmp_path}/\ud800")


@pytest.mark.parametrize(
    "spellings",
    [
        ["file:///x/y", "file:/x/y", "/x/y", "/x//y/", "file://localhost/x/y", "//x/y"],
        ["./x/y", "x/y", "././x/y/", "file:x/y", ".//x//y"],
        ["s3://b/x", "s3a://b/x", "s3n://b/x", "S3://b/x/"],
        ["abfss://c@a/x", "wasbs://c@a/x"],
        ["file://data/x"],
        ["s3://b//x"],
    ],
)
def test_spellings_of_one_place_are_one_place(spellings: list[str]) -> None:
    assert len({normal_path(spelling) for spelling in spellings}) == 1
    moved = [(normal_path(spellings[0]), "/new")]
    for spelling in spellings:
        assert move_path(f"{spelling.rstrip('/')}/a b%20", moved) == "/new/a b%20"
        assert move_path(spelling, moved) == "/new"
    for other in ("/x/yz", "x/yz", "/elsewhere", "s3://c/x", "gs://b/x", "/data/x", "data/x", "s3://b/x2"):
        assert move_path(other, moved) == other


def test_a_host_before_a_path_is_not_cut_off(table: Path) -> None:
    with pytest.raises(UnreadableFile, match="names a host"):
        canonical("file://data/persistent/t")
    with pytest.raises(UnreadableFile, match="names a host"):
        Storage([str(table)]).check(f"file://host{table}/data/x.parquet")


@pytest.mark.parametrize("name", ["write.data.path", "write.metadata.path", "write.object-storage.path"])
def test_where_a_table_says_it_writes_is_read_below_the_warehouse_only(table: Path, name: str) -> None:
    def named(folder: str) -> None:
        edit_metadata(table, lambda data: data.update(properties={name: folder}))

    house = {"warehouse": "s3://bucket/house"}
    named("s3a://bucket/house/objects")
    assert by_catalog(table, **house).storage.roots[1:] == ["s3://bucket/house/objects"]
    for folder in (
        "s3://bucket/house",
        "s3://bucket",
        "s3://bucket/houses/x",
        "s3://",
        "/",
        "/etc",
        "..",
        "/etc/ssl",
        "x",
    ):
        named(folder)
        for reader in (by_catalog(table, **house), by_catalog(table), by_catalog(table, warehouse="/")):
            assert reader.storage.roots == [str(table)]
        by_path = direct.open_table(str(table)).reader
        assert by_path.storage.roots == [str(table)]
    named("s3://bucket/elsewhere")
    for reader in (by_catalog(table, **house), direct.open_table(str(table)).reader):
        with pytest.raises(OutsideRoots, match=rf"names s3://bucket/elsewhere as its {name}: .*--root"):
            reader.storage.check("s3://bucket/elsewhere/f.parquet")
    allowed = direct.open_table(str(table), roots=["s3://bucket/elsewhere"]).reader
    assert allowed.storage.check("s3://bucket/elsewhere/f.parquet")


def test_metadata_kept_apart_is_no_copy(table: Path) -> None:
    edit_metadata(
        table,
        lambda data: data.update(location="/srv/house/t", properties={"write.metadata.path": f"{table}/metadata"}),
    )
    opened = direct.open_table(str(table))
    assert "keeps its metadata here" in opened.problems[0].cause
    with pytest.raises(OutsideRoots, match="as its location"):
        opened.reader.storage.check("/srv/house/t/data/x.parquet")


def test_a_move_opens_the_new_place_and_no_other(table: Path, tmp_path: Path) -> None:
    where = direct.open_table(
        str(table), relocate={"/": str(tmp_path / "b"), "s3://x/long/er": "/c", "s3://x/long": "/d"}
    )
    storage = where.reader.storage
    assert storage.check("s3a://x/long/er/f") == "/c/f"
    assert storage.check("s3://x/long/f") == "/d/f"
    assert storage.check("/etc/passwd") == str(tmp_path / "b/etc/passwd")
    for path in ("s3://x/other", "s3://x/long/../f", "s3://x/longer"):
        with pytest.raises(OutsideRoots):
            storage.check(path)
    for pair in ({"": "/x"}, {"/x": ""}):
        with pytest.raises(TableNotFound, match="must name a place"):
            direct.open_table(str(table), relocate=pair)
    for new in ("1/t=/mirror", "~/x", "./x", "file://host/x"):  # else folders below the working one
        with pytest.raises(TableNotFound, match="neither an absolute path"):
            direct.open_table(str(table), relocate={"/x": new})
