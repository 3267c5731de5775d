"""What a sixteenth attack found: in answers of servers, exported pages, the folder of a class, and views."""

from __future__ import annotations

import json
import os
import time
import tracemalloc
from contextlib import suppress
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fastavro
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema

import explorer
from explorer.app.hosts.agents.tables import Offered
from explorer.app.hosts.file import export_gallery
from explorer.app.local_paths import LocalPaths
from explorer.app.rights import Rights
from explorer.app.session import Session
from explorer.errors import ExplorerError, IncompleteAnswer, WrongUsage
from explorer.lab import progress_store
from explorer.lab.exercises.course import class_progress
from explorer.lab.progress_store import STUDENTS
from explorer.progress import Cancelled, Watch, check_cancellation
from explorer.render.svg import render_svg
from explorer.render.text import clean
from explorer.reports.maintenance import preview
from explorer.reports.maintenance.file_stay import file_stay
from explorer.reports.storage_ledger import storage_ledger
from explorer.serving import places
from explorer.spark_engine import user_tables
from explorer.spec.catalogs.views import compare_versions
from explorer.storage import processor_time
from explorer.storage.catalogs import metastore_entries
from explorer.storage.catalogs.added_catalogs import check_catalog
from explorer.storage.catalogs.view_metadata import parse_view
from tests.cases.mini import Table
from tests.support import direct
from tests.support.report_tables import found
from tests.support.small_tables import edit_metadata, make_table, newest_metadata
from tests.unit.test_cli import run
from tests.unit.test_twentyfirst_reports import age, raced, unnamed


def one_row(folder: Path) -> Table:
    table = Table(folder, [(1, "id", "long", True)])
    table.append(table.parquet("a.parquet", {"id": [1]}))
    table.write()
    return table


# -- what a REST catalog's server answers ------------------------------------------------------------------------------
@pytest.mark.parametrize("where", ["config", "storage-credentials"])
@pytest.mark.parametrize("name", ["py-io-impl", "s3.retry-strategy-impl", "s3.signer", "s3.proxy-uri"])
def test_a_response_names_no_class(name: str, where: str, tmp_path: Path) -> None:
    """Its configuration counted as the person's own, so the class was imported, and made with their keys."""
    config = {name: "of_a_server.IO", "s3.region": "eu-1"}
    given = {"config": config} if where == "config" else {where: [{"prefix": "file://", "config": config}]}
    place = newest_metadata(one_row(tmp_path / "t").folder)
    opened = explorer.open_table({"metadata-location": f"file://{place}", **given})
    assert opened.engine.reader.location.properties == {"s3.region": "eu-1"}
    own = explorer.open_table({"metadata-location": f"file://{place}", **given}, properties={name: "mine.IO"})
    assert own.engine.reader.location.properties == {"s3.region": "eu-1", name: "mine.IO"}


def test_a_response_sends_nobodys_keys_to_its_address(tmp_path: Path) -> None:
    """Requests to an endpoint that the server named were signed with the keys of the environment."""
    place = f"file://{newest_metadata(one_row(tmp_path / 't').folder)}"

    def properties(config: dict[str, str], **own: str) -> Any:
        given = {name.replace("_", "-").replace("s3-", "s3."): value for name, value in own.items()}
        response = {"metadata-location": place, "config": config}
        return explorer.open_table(response, properties=given).engine.reader.location.properties

    address = {"s3.endpoint": "http://elsewhere:1"}
    mine = {"s3_access_key_id": "mine", "s3_secret_access_key": "hush"}
    assert properties(address) == {**address, "s3.anonymous": "true"}
    assert properties(address, **mine) == {**address, "s3.anonymous": "true"}
    theirs = {**address, "s3.access-key-id": "theirs", "s3.secret-access-key": "given"}
    assert properties(theirs) == theirs
    assert properties(theirs, s3_endpoint="http://mine:1")["s3.endpoint"] == "http://mine:1"


def test_pages_of_versions_end() -> None:
    """Glue's could be empty, with two tokens in turn."""
    asked: list[str] = []

    def versions(NextToken: str = "", **_: Any) -> dict[str, Any]:
        asked.append(NextToken)
        assert len(asked) <= metastore_entries.VERSIONS, "nothing ends it"
        return {"TableVersions": [], "NextToken": "ab"[len(asked) % 2]}

    glue: Any = SimpleNamespace(glue=SimpleNamespace(get_table_versions=versions))
    glue.identifier_to_database_and_table = lambda *_: ("db", "t")
    assert metastore_entries.entry_versions(glue, ("db", "t"))[0] == []


def test_a_file_io_of_spark_names_no_class_of_python() -> None:
    """A catalog's server adds what it likes to the properties of Java's FileIO."""
    pytest.importorskip("py4j")
    settings = {"py-io-impl": "of_a_server.IO", "s3.endpoint": "http://store", "s3.proxy-uri": "http://elsewhere"}
    table = SimpleNamespace(io=lambda: SimpleNamespace(properties=lambda: settings))
    assert user_tables._io_properties(table) == {"s3.endpoint": "http://store"}


@pytest.mark.parametrize("is_own", [False, True])
def test_a_servers_address_gets_no_keys_of_a_session(is_own: bool) -> None:
    """Keys of Hadoop's S3A went to the endpoint that a catalog's server gave to the table's FileIO."""
    pytest.importorskip("py4j")
    hadoop = {"fs.s3a.access.key": "mine", "fs.s3a.secret.key": "hush"}
    conf = {"spark.sql.catalog.c.s3.endpoint": "http://store"} if is_own else {}
    state = SimpleNamespace(newHadoopConf=lambda: SimpleNamespace(get=hadoop.get))
    session: Any = SimpleNamespace(
        _jsparkSession=SimpleNamespace(sessionState=lambda: state),
        conf=SimpleNamespace(get=lambda name, other: conf.get(name, other)),
    )
    current = SimpleNamespace(metadataFileLocation=lambda: "s3://b/t/metadata/1.metadata.json")
    table = SimpleNamespace(
        name=lambda: "c.db.t", location=lambda: "s3://b/t",
        operations=lambda: SimpleNamespace(current=lambda: current),
        io=lambda: SimpleNamespace(properties=lambda: {"s3.endpoint": "http://store"}),
    )  # fmt: skip
    found_properties = user_tables._spark_table(session, table, ["c", "db", "t"]).properties
    keys = {"s3.access-key-id": "mine", "s3.secret-access-key": "hush"}
    assert found_properties == {"s3.endpoint": "http://store", **(keys if is_own else {"s3.anonymous": "true"})}


# -- exported pages ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("made", ["page", "graph"])
def test_no_folder_is_called_like_a_tag(made: str, tmp_path: Path) -> None:
    """Local paths were cut in the picture's markup: a location that was a piece of it left a tag of a stranger's."""
    name = "a/meta http-equiv=refresh content=0;url=//elsewhere/ x"
    folder = one_row(tmp_path / "t").folder
    edit_metadata(folder, lambda md: md["refs"].update({name: {"snapshot-id": 101, "type": "branch"}}))
    picture = render_svg(explorer.open_table(str(folder)).engine.graph())
    end = picture.index(">branch a/meta", picture.index("<title>branch a/meta") + 10) + len(">branch a/meta")
    location = picture[picture.rindex("</title>", 0, end) + 1 : end]
    edit_metadata(folder, lambda md: md.update({"location": location}))
    if made == "page":
        explorer.export_html(str(folder), tmp_path / "page.html")
        page = (tmp_path / "page.html").read_text()
    else:
        page = LocalPaths([location]).cut_picture(picture)
    assert "<meta http-equiv=refresh" not in page
    assert f">branch {name}<" in page


def test_local_paths_are_cut_in_pictures() -> None:
    paths = LocalPaths(["/home/ann/<w> & 'h'/t"])
    picture = '<text x="1">file:///home/ann/&lt;w&gt; &amp; &#x27;h&#x27;/t/data/f &lt;b&gt;</text>'
    assert paths.cut_picture(picture) == '<text x="1">t/data/f &lt;b&gt;</text>'
    assert unescape(paths.cut_picture("<g>/home/ann/x</g>")) == "<g>/home/ann/x</g>"


def test_no_page_says_where_a_table_lies(tmp_path: Path) -> None:
    """The roots that an error names did, and a gallery's errors, where the catalog's paths have no scheme."""
    secret = tmp_path / "of-ann"
    folder = one_row(secret / "t").folder
    edit_metadata(folder, lambda md: md["snapshots"][0].update({"manifest-list": "/elsewhere/x.avro"}))
    with pytest.warns(IncompleteAnswer):
        explorer.export_html(explorer.open_table(str(folder), roots=[str(secret / "more")]), tmp_path / "page.html")
    settings = {"type": "sql", "uri": f"sqlite:///{secret}/c.db", "warehouse": f"{secret}/wh"}
    catalog = SqlCatalog("c", **settings)
    catalog.create_namespace("db")
    for name in ("gone", "broken"):
        place = Path(catalog.create_table(f"db.{name}", Schema()).metadata_location)
        place.unlink() if name == "gone" else place.write_text("{")
    assert len([*export_gallery(tmp_path / "gallery", "c", settings)]) == 2
    pages = [tmp_path / "page.html", *(tmp_path / "gallery").iterdir()]
    assert [page.name for page in pages if "of-ann" in page.read_text()] == []


@pytest.mark.parametrize("piece", ["/ ", "/a", "/a/", "/a/ "])
def test_folders_are_found_in_linear_time(piece: str) -> None:
    """They were alternatives of a pattern, which took seconds for each of thousands of texts."""
    paths = LocalPaths([f"{piece * 400_000}/x", *(f"{piece * (4_000 + i)}/y" for i in range(19))])
    began = time.process_time()
    for text in (piece * 500_000, f"{piece * 400_000}/xx", f"b{piece * 400_000}/x"):
        paths.cut(text)
    assert time.process_time() - began < 3


# -- the folder of a class ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("line", ["\n", "[]\n", " \n", '{"question": "a", "at": "", "state": "tried"}\n', "\0"])
def test_a_students_file_costs_what_a_student_leaves(line: str, tmp_path: Path) -> None:
    """One file of line ends took twenty seconds, of the teacher and of the student whose name it had."""
    (tmp_path / "ann.jsonl").write_text(line * (8_000_000 // len(line)))
    began = time.process_time()
    assert [one.student for one in class_progress(tmp_path).students] == ["ann"]
    progress_store.report_to_class(tmp_path, "ann")
    assert time.process_time() - began < 0.5


def test_files_of_a_class_are_read_one_after_another(tmp_path: Path) -> None:
    """Files without contents, which take no room on the disk, were all in memory at once."""
    for number in range(100):
        with (tmp_path / f"{number}.jsonl").open("wb") as file:
            file.truncate(4_000_000)
    tracemalloc.start()
    assert len(class_progress(tmp_path).students) == 100
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 10_000_000


def test_a_teacher_hears_of_students_that_are_hidden(tmp_path: Path) -> None:
    """Whoever put a thousand files there whose names come first hid all others, and nothing said so."""
    for number in range(STUDENTS):
        (tmp_path / f"-{number}.jsonl").touch()
    (tmp_path / "ann.jsonl").touch()
    assert class_progress(tmp_path).left_out == 1
    assert "1 more file" in run("course", "--progress", "--class", str(tmp_path)).output


# -- views -------------------------------------------------------------------------------------------------------------
def view_of(folder: Path, number: int) -> Path:
    """A view of two versions, which have a text in each of so many dialects."""

    def version(own: int) -> dict[str, Any]:
        texts = [{"type": "sql", "sql": f"SELECT {own}", "dialect": f"d{i}"} for i in range(number)]
        return {"version-id": own, "timestamp-ms": own, "default-namespace": ["db"], "representations": texts}

    file = folder / "v" / "metadata" / "00000-a.metadata.json"
    file.parent.mkdir(parents=True)
    view = {"view-uuid": "1", "format-version": 1, "current-version-id": 2, "versions": [version(1), version(2)]}
    file.write_text(json.dumps(view))
    return file


def test_versions_of_a_view_are_compared_in_linear_time(tmp_path: Path) -> None:
    """Two megabytes took half a minute: for each dialect its text was looked for among all."""
    view = parse_view(json.loads(view_of(tmp_path, 20_000).read_text()), "v")
    began = time.process_time()
    assert len(compare_versions(view, view.versions[0], view.versions[1]).sql) == 20_000
    assert time.process_time() - began < 3


def test_no_text_of_a_view_shows_a_credential(tmp_path: Path) -> None:
    """A dialect did, and so did the differences of columns and of what names without a catalog mean."""
    file, word = view_of(tmp_path, 1), "postgres://u:hush-word@h/"
    data = json.loads(file.read_text())
    for version in data["versions"]:
        own = f"{word}{version['version-id']}"
        version |= {"default-catalog": own, "default-namespace": [own], "schema-id": version["version-id"]}
        version["representations"][0] |= {"dialect": word, "sql": f"SELECT '{own}'"}
    fields = [{"id": 1, "name": word, "type": word, "required": False}]
    data["schemas"] = [{"schema-id": 1, "fields": []}, {"schema-id": 2, "fields": fields}]
    file.write_text(json.dumps(data))
    for older in ([], ["--older", "1"]):
        told = run("catalog", "views", "--name", str(file), *older).output
        assert "(hidden)@h/" in told
        assert "hush-word" not in told


def test_a_view_has_a_limit_as_a_table_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is asked of a catalog had none, since each of its tables has one: a view was no table."""
    file = view_of(tmp_path, 10_000)
    monkeypatch.delenv(processor_time.VARIABLE, raising=False)
    monkeypatch.setattr(processor_time, "SECONDS", 0.05)
    monkeypatch.setattr(processor_time, "GRACE_S", 0.0)
    asked = run("catalog", "views", "--name", str(file), "--older", "1")
    assert "refused: the command took" in asked.output, (asked.exit_code, asked.output[-500:], asked.exception)
    assert asked.exit_code == 1
    answers: list[str] = []
    page = Session(answers.append, Rights())
    question = {"question": "catalog views", "catalog": "sandbox", "arguments": {"name": str(file), "older": "1"}}
    page.handle(json.dumps({"type": "ask", "id": 1, **question}))
    while page.is_busy:
        time.sleep(0.05)
    page.close()
    assert "refused: the question took" in answers[-1]


def test_a_refusal_that_python_ignores_is_told_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is raised in a callback of the garbage collector, say, ends nothing: the next step is cancelled."""
    monkeypatch.delenv(processor_time.VARIABLE, raising=False)

    def command(seconds: float) -> None:
        with Watch().listening(), processor_time.time_limit():
            processor_time.begin("t")
            monkeypatch.setattr(processor_time, "SECONDS", seconds)
            with suppress(processor_time.OutOfTime):
                processor_time._look(0, None)
            check_cancellation()
            raise Cancelled("by the person")

    with pytest.raises(ExplorerError, match="t: refused: the command took"):
        command(0.0)
    with pytest.raises(Cancelled, match="by the person"):
        command(60.0)


def test_a_view_is_opened_where_its_namespace_may_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The namespace that was checked is one that the list is of; an agent read views of the others."""
    read: list[str] = []

    def read_view(name: str, *_: Any) -> Any:
        read.append(name)
        return "", parse_view({"view-uuid": "1"}, "")

    monkeypatch.setattr("explorer.storage.catalogs.view_metadata.read_view", read_view)
    monkeypatch.setattr(places, "_allowed", {})
    Offered(roots=[str(tmp_path / "root")]).restrict()
    answers: list[str] = []
    page = Session(answers.append, Rights())
    for name in ("private.salaries", str(tmp_path / "v.metadata.json"), "demo.own", str(tmp_path / "root" / "v.json")):
        arguments = {"namespace": "demo", "name": name}
        question = {"question": "catalog views", "catalog": "sandbox", "arguments": arguments}
        page.handle(json.dumps({"type": "ask", "id": 1, **question}))
        while page.is_busy:
            time.sleep(0.05)
    page.close()
    assert read == ["demo.own", str(tmp_path / "root" / "v.json")]
    assert ["This server opens tables" in answer for answer in answers] == [True, True, False, False]


# -- commits that no metadata names ------------------------------------------------------------------------------------
@pytest.mark.parametrize("is_readable", [False, True])
def test_newer_lists_hide_no_commit_whose_files_would_go(is_readable: bool, tmp_path: Path) -> None:
    """Twenty of them did: the statement that removes the files of the older one was printed."""
    place = raced(tmp_path)
    [commit] = unnamed(place).commits
    [file] = commit.added_files or ()
    own = Path(direct.open_table(str(place)).metadata.snapshots[0].manifest_list or "")
    for number in range(20):
        newer = place / "metadata" / f"snap-{7000 + number}-1-x.avro"
        newer.write_bytes(Path(str(own).removeprefix("file:")).read_bytes() if is_readable else b"")
        os.utime(newer, (time.time() - 9 * 86_400,) * 2)
    table = direct.open_table(str(place))
    assert unnamed(place).unread == is_readable
    orphans = preview(table, "remove-orphans")
    assert (orphans.call, bool(orphans.refusal)) == ("", True)
    assert ("nobody looked" in orphans.refusal) == is_readable
    assert file_stay(table, file).statement == ""
    assert [group.cleanup.statement for group in storage_ledger(table).groups if group.group == "unused"] == [""]


def test_no_file_of_another_table_is_added(tmp_path: Path) -> None:
    """A list beside the metadata could name one, and a compaction of this table would delete it there."""
    (tmp_path / "other").mkdir()
    place, other = raced(tmp_path), make_table(tmp_path / "other", 1)
    [theirs] = other.rglob("*.parquet")
    [commit] = unnamed(place).commits
    manifest = Path(commit.listed.own[0].manifest_path.removeprefix("file://"))
    with manifest.open("rb") as file:
        reader: Any = fastavro.reader(file)
        header = {key: value for key, value in reader.metadata.items() if not key.startswith("avro.")}
        schema, records = reader.writer_schema, list(reader)
    for record in records:
        record["data_file"]["file_path"] = f"file://{theirs}"
    with manifest.open("wb") as file:
        fastavro.writer(file, schema, records, metadata=header)
    age(place)
    [finding] = found(str(place), "commit-unnamed")
    assert "1 file is missing" in finding.what
    assert "CALL" not in finding.remedy
    assert str(theirs) not in finding.remedy


# -- catalogs that a person adds ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("uri", "https://h/?token=hush-hush"),
        ("uri", "postgresql://h/db?user=u&password=hush-hush"),
        ("uri", "mssql+pyodbc:///?odbc_connect=DRIVER%3DX%3BPWD%3Dhush-hush"),
        ("uri", "https://ghp_16C7e42F292c6912E7710c838347Ae178B4a@h"),
        ("uri", "https://h/v1/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJodXNoIn0.c2lnbmF0dXJlc2lnbmF0dXJl"),
        ("uri", "thrift://u:hu@h"),
        ("header.X-Of-Ours", "Basic dXNlcjpodXNoaHVzaA=="),
    ],
)
def test_no_part_of_a_property_is_a_secret(key: str, value: str) -> None:
    """Addresses with a password among their parameters were written to the file."""
    with pytest.raises(WrongUsage, match="--secret, as KEY") as refused:
        check_catalog("mine", {key: value}, {})
    assert clean(str(refused.value)) == str(refused.value)


@pytest.mark.parametrize(
    "value",
    [
        "postgresql+psycopg2://user@host/db", "arn:aws:s3tables:us-east-1:111122223333:bucket/b", "thrift://hive@h:9083",
        "abfss://container@account.dfs.core.windows.net/w", "sqlite:////home/me/c.db", "https://h/api/catalog?realm=a",
        "0e3f0a52-1111-4222-8333-abcdefabcdef", "PRINCIPAL_ROLE:ALL", "s3://bucket/w",
    ],
)  # fmt: skip
def test_what_is_no_secret_is_a_property(value: str) -> None:
    check_catalog("mine", {"uri": value}, {})
