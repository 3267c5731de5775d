"""Credentials that a table's writer left in paths, names, values and operations are in nothing that is shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.typedef import Record

from explorer.app.blocks import ShownAnswer
from explorer.app.downloads import file_of
from explorer.app.graph_state import ViewState
from explorer.app.printed import Exhibit
from explorer.app.row_pages import RowPages
from explorer.app.start import header
from explorer.cli import main
from explorer.queries.collection import Collection
from explorer.queries.graph import whole_view
from explorer.render.svg import picture
from explorer.render.text import clean
from explorer.reports.inspector import inspect
from explorer.spec.secrets.redaction import HIDDEN, redact
from explorer.spec.secrets.token_forms import PREFIXES
from explorer.spec.text.names import shorten
from tests.support import direct
from tests.support.small_tables import edit_metadata, new_table

KEY, PASSWORD, SIGNATURE, BEARER = "AKIAZQ3DRSTUVWXY2345", "hunter2hunter2", "c2lnbmF0dXJl", "abcdefgh12345678"
SECRETS = (KEY, PASSWORD, SIGNATURE, BEARER)
FILE = f"s3://reader:{PASSWORD}@bucket/warehouse/{'x' * 60}.parquet?X-Amz-Signature={SIGNATURE}&n="


def data_file(n: int, path: str = FILE, partition: Record | None = None) -> DataFile:
    metrics = ("column_sizes", "value_counts", "null_value_counts", "nan_value_counts")
    nothing = ("split_offsets", "equality_ids", "key_metadata", "sort_order_id")
    bounds = {2: KEY.encode()}
    return DataFile.from_args(
        content=DataFileContent.DATA, file_path=f"{path}{n}", file_format=FileFormat.PARQUET, record_count=n + 1,
        partition=Record(f"login?token={PASSWORD}") if partition is None else partition, file_size_in_bytes=1000,
        lower_bounds=bounds, upper_bounds=bounds,
        **{name: {} for name in metrics}, **dict.fromkeys(nothing),
    )  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("credentials") / "warehouse" / "db" / "t"
    schema = pa.schema([("id", pa.int64()), ("kind", pa.string())])
    table = new_table(place, schema)
    with table.update_spec() as spec:
        spec.add_identity("kind")
    for n in range(3):
        with table.transaction() as transaction, transaction.update_snapshot().fast_append() as append:
            append.append_data_file(data_file(n))

    def name(data: dict[str, Any]) -> None:
        data["refs"][f"by-{KEY}"] = {**data["refs"]["main"], "type": "tag"}
        data["snapshots"][1]["summary"]["operation"] = f"Bearer {BEARER}"
        data["snapshots"][0]["summary"]["engine-name"] = f"job --password={PASSWORD}"

    edit_metadata(place, name)
    return place


ASKED = [
    "show {}", "inspect snapshots {}", "inspect refs {}", "inspect manifests {}", "inspect entries {}",
    "inspect files {}", "inspect partitions {}", "export graph {} --format svg", "export graph {} --format dot",
    "overview {}", "history lineage {}", "diff {} snapshot-1 snapshot-3", "history lifecycle {}", "history commits {}",
    "inspect deletes {}", "inspect file {} {file}", "plan {} id>0", "health {}", "doctor {}", "inspect metadata {}",
    "history metadata {} 0 3", "inspect map {}", "maintain preview {} expire", "inspect columns {} --show clustering",
    "inspect columns {}", "inspect schema {}", "inspect properties {}", "export page {} {out}",
    "export graph {} --format html",
]  # fmt: skip


def clear(text: str) -> None:
    """No credential is in the text."""
    assert not [text[max(0, (at := text.find(secret)) - 60) : at + 30] for secret in SECRETS if secret in text]


@pytest.mark.parametrize("asked", ASKED)
def test_of_the_command_line(folder: Path, tmp_path: Path, asked: str) -> None:
    words = asked.split()
    out = tmp_path / "page.html"
    done = CliRunner().invoke(
        main, [word.format(folder, out=out, file=f"{FILE}0") if "{" in word else word for word in words]
    )
    assert done.exit_code in (0, 3) or words[0] == "doctor", done.output
    clear(done.output)
    if out.exists():
        clear(out.read_text())


@pytest.mark.parametrize(
    "ask",
    [
        direct.overview, lambda t: t.lineage(), lambda t: t.lifecycle(),
        lambda t: t.diff("snapshot-1", "snapshot-3"), lambda t: t.deletes(), lambda t: t.plan("kind > 'a'"),
    ],
)  # fmt: skip
def test_of_results_in_a_notebook(folder: Path, ask: Any) -> None:
    shown = Exhibit(ask(direct.open_table(str(folder))))
    for told in (repr(shown), shown._repr_html_(), shown._repr_svg_() or ""):
        clear(told)


def test_of_the_graph_and_the_inspector(folder: Path) -> None:
    table = direct.open_table(str(folder))
    snapshot = table.metadata.current_snapshot
    assert snapshot
    graph = table.graph(view=whole_view(table.tree, snapshot, 100, 100))
    assert {"data_file", "ref"} <= {node.kind for node in graph.nodes}
    clear(json.dumps(picture(graph)))
    for node in graph.nodes:
        clear(json.dumps(inspect(table, node).to_json()))


def cells(**columns: Any) -> list[Any]:
    """The rows of a list as a page has them."""
    return RowPages(Collection(pa.table(columns), "files")).page()["rows"]


def test_of_lists() -> None:
    paths = [f"{FILE}{n}" for n in range(3)]
    rows = cells(file_path=paths, n=[0, 1, 2], kind=[None, "a", f"?token={PASSWORD}"])
    clear(json.dumps(rows))
    assert {row[1:].index(str(n)) >= 0 for n, row in enumerate(rows)} == {True}
    assert [f"?token={HIDDEN}" in row for row in rows] == [False, False, True]


@pytest.mark.parametrize("before", ["?", " ", "\u00a0", "\u2003", "\x1f", "ключ", "é-", "x;", '{"'])
@pytest.mark.parametrize("between", ["=", " = ", "\u00a0=", '": "', ": ", "'="])
def test_a_list_is_suspicious_of_all_that_is_hidden(before: str, between: str) -> None:
    text = f"{before}token{between}{PASSWORD}"
    assert cells(kind=[text]) == [[clean(text)]]
    assert PASSWORD not in clean(text)


HUSH = "Hu5hHu5hHu5h"


@pytest.mark.parametrize(
    "text",
    [
        "a|token={}", "password='a {}'", 'pwd="x\\"{}"', '{{"password": "{}"}}',
        r'{{"j": "{{\"password\": \"{}\"}}"}}',
        "Authorization: Token {}", "authorization=bearer {}", "bearer {}", "--password {}", "--conf=spark.password={}",
        "https://x/#access_token={}", "[token={}", "`password`={}", "password => {}", "password := '{}'",
        "x.parquet?X-Amz-Security-Token=head/{}", "kind=a%3Ftoken%3D{}", "kind=s3%3A%2F%2Freader%3A{}%40b%2Fp",
        "jdbc:oracle:oci:scott/{}@host", "sk-ant-abcdefghijk-{}", "hf_abcdefghij{}", "https://hooks.slack.com/services/T0/B0/{}",
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\n{}", "passcode={}", "tokens=a/{}/day=5",
    ],
)  # fmt: skip
def test_what_is_hidden(text: str) -> None:
    told = redact(text.format(HUSH))
    assert HUSH not in told
    assert HIDDEN in told


@pytest.mark.parametrize(
    "text",
    [
        "salt=3/customer_key=5", "customer_key = 5",
        "customer_key = 'C-12'", "flow_key=order.3", "token_count = 3", "date_key=20240101/auth_method=x",
        "token: string",
        "Basic statistics", "a bearer instrument", "key_metadata=null", "s3://b/day=2024-01-01/kind=a%20b/x-0001.parquet",
        "SELECT product_key = 42 -- token is", "a@b.c", "part=1/token=2", "password=''",
    ],
)  # fmt: skip
def test_what_is_none_stays(text: str) -> None:
    assert redact(text) == text


OTHER_NOTATIONS = [
    "/properties/token: {}", "at /properties/s3.secret-access-key: {}, and",
    "password={{{}}}", "Driver=x;PWD={{a;{}}};Port=1", "password=(a, {})", "password: < {} >", "pwd=[{}]",
    "token=ab(cd,{})ef",
    "password=$(echo {})", "password={{{}", 'secret: {{"{}"}}',
    "<password>{}</password>", '<ns:Password kind="x">a b;c {}</ns:Password>', "<token><![CDATA[<a>{}]]></token>",
    "<property><name>fs.s3a.secret.key</name><value>a {}</value></property>",
    "<property>\n  <name>fs.s3a.secret.key</name>\n  <value>{}</value>\n</property>",
    '<add key="DbPassword" value="a {}"/>', '{{"name": "API_TOKEN", "value": "{}"}}',
    "- name: DB_PASSWORD\n  value: {}",
    "<key>password</key><string>{}</string>",
    "password:{}", "a,token:{},b", "{{password:{}}}",
    "curl -u user:{} https://x", "curl -uuser:{}", "curl --user 'user:a b {}'", "curl --proxy-user=user:{}",
    "//user:{}@host/x", "url=//user:{}@host", "('//u:a@{}@h/')",
    "Cookie: a=1; sid={}", "cookie=a=1; b=2; c={}", "curl -H 'Cookie: a=\"1\"; sid={}'",
    "password: |\n  {}\nnext: 1", "password: >-\n  a\n\n  {}\n", "token: |2+ # x\n    a\n\t{}",
    'password = """\n{}\n"""',
    "kind%253Ftoken%253D{}", "kind%25253Ftoken%25253D{}", "s3%25253A%25252F%25252Freader%25253A{}%252540b",
    "a%" + "25" * 40 + "3Ftoken={}",
]  # fmt: skip


@pytest.mark.parametrize("text", OTHER_NOTATIONS)
def test_what_is_hidden_in_other_notations(text: str) -> None:
    told = redact(text.format(HUSH))
    assert HUSH not in told
    assert HIDDEN in told


@pytest.mark.parametrize(
    "prefix",
    [
        *PREFIXES, "sk-proj-", "xoxb-", "xoxp-", "eyJhbGciOiJIUzI1NiJ9.e30xxxxx.", "eyJhbGciOiJkaXIiLCJlbmMi..",
        "x_eyJhbGciOiJIUzI1NiJ9.e30xxxxx.", "-----BEGIN EC PRIVATE KEY-----\n", "-----BEGIN OPENSSH PRIVATE KEY-----\n",
    ],
)  # fmt: skip
@pytest.mark.parametrize("before", ["", "x/", "('", "user_", "a b="])
def test_tokens_are_hidden_by_how_they_begin(prefix: str, before: str) -> None:
    token = f"{prefix}{HUSH}{HUSH.lower()}"
    told = redact(f"{before}{token}")
    assert HUSH not in told
    assert HUSH.lower() not in told
    assert told == redact(f"{before}{token} and more").removesuffix(" and more") or "BEGIN" in prefix


@pytest.mark.parametrize(
    "text",
    [
        "struct<token:string,key:bigint>", "token:decimal(10,2)", "key: map<string,int>", "key: list<int>", "s3://b/t/x",
        '{"key": {"type": "struct", "fields": []}}', "a<b and c>d", "<b>bold</b>", "<key>5</key>", "sort -u a.txt",
        "docker run -u 1000:1000 x", "// a comment: see me@example.org", "day=2024-01-01 12:30", "urn:uuid:1-2",
        "50%25", "100% of it", "a%20b%2Fc", "name: city, value: Bonn", "sk-learn-pipeline-for-training",
        "npm_config_cache_of_this_user", "hf_dataset_of_this_long_name", "sg.internal.example", "primary-key:id",
        "partition key (id)", "token=[]", "token: { }", "x.eyJa.parquet",
    ],
)  # fmt: skip
def test_what_is_none_stays_in_other_notations(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize("text", OTHER_NOTATIONS)
def test_a_list_is_suspicious_of_other_notations(text: str) -> None:
    written = text.format(HUSH)
    assert cells(kind=[written]) == [[clean(written)]]
    assert HUSH not in clean(written)


def test_a_key_ends_where_the_folder_of_the_next_partition_begins() -> None:
    assert redact("a?api_key=x/y1/day=5") == f"a?api_key={HIDDEN}/day=5"


@pytest.mark.parametrize("before", [0, 300, 475, 2_000, 30_000])
@pytest.mark.parametrize("length", [30, 990, 5_000])
def test_of_a_long_name_no_end_of_a_credential_is_left(before: int, length: int) -> None:
    token = "".join(f"z{n:04}" for n in range(length // 5))
    told = clean(shorten(f"s3://bucket/{'x' * before}.parquet?X-Amz-Security-Token={token}", 100))
    assert not [n for n in range(length // 5) if f"z{n:04}" in told], told
    assert len(told) <= 100


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table whose names are credentials, and whose second snapshot deletes files that have such names."""
    place = tmp_path_factory.mktemp("named") / "warehouse" / "db" / "t"
    table = new_table(place, pa.schema([("id", pa.int64()), (f"c {KEY}", pa.string())]))
    names = (f"s3://b/wh/{KEY}-", f"s3://b/wh/a?token={PASSWORD}/{SIGNATURE}")
    with table.transaction() as transaction, transaction.update_snapshot().fast_append() as append:
        for file_name in names:
            append.append_data_file(data_file(0, file_name, Record()))
    [files] = [
        [e.data_file for m in table.current_snapshot().manifests(table.io) for e in m.fetch_manifest_entry(table.io)]
    ]
    with table.transaction() as transaction, transaction.update_snapshot().overwrite() as overwrite:
        for gone in files:
            overwrite.delete_data_file(gone)

    def name(data: dict[str, Any]) -> None:
        data["refs"][f"tag-{KEY}"] = {**data["refs"]["main"], "type": "tag"}
        data["refs"][f"\x1b]0;token={PASSWORD}"] = {**data["refs"]["main"], "type": "tag"}
        data["properties"][f"x {KEY}"] = "1"
        data["properties"]["auth"] = {"tokens": [PASSWORD]}
        data["snapshots"][0]["summary"][f"k token={PASSWORD}"] = json.dumps({"j": json.dumps({"password": PASSWORD})})

    edit_metadata(place, name)
    return place


def test_of_names(named: Path, tmp_path: Path) -> None:
    table = direct.open_table(str(named))
    snapshot = table.metadata.snapshots[0]
    page = tmp_path / "page.html"
    assert CliRunner().invoke(main, ["export", "page", str(named), str(page)]).exit_code == 3  # the files are nowhere
    clear(page.read_text())
    clear(json.dumps(header(table, str(named))))
    clear(json.dumps(ViewState(table).timeline()))
    clear(table.entries()._repr_html_())
    for node in table.graph(view=whole_view(table.tree, snapshot, 100, 100)).nodes:
        clear(json.dumps(inspect(table, node).to_json()))
    clear(json.dumps(cells(**{"kind": [["a", f"?token={PASSWORD}"]]})))
    clear(json.dumps(cells(**{"kind": [{"password": PASSWORD}]})))
    clear(CliRunner().invoke(main, ["doctor", str(named), "-o", "sarif"]).output)


def test_csv_is_data() -> None:
    nested = Collection(pa.table({"partition": [{"kind": f"x?token={PASSWORD}\u00a0"}]}), "files")
    assert f"x?token={PASSWORD}" in str(file_of(ShownAnswer(nested, None), "csv").read())


def test_what_is_data_stays_as_it_is(folder: Path) -> None:
    table = direct.open_table(str(folder))
    assert f"{FILE}0" in table.files().to_arrow()["file_path"].to_pylist()
    assert f"{FILE}0" in CliRunner().invoke(main, ["inspect", "files", str(folder), "-o", "json"]).output


@pytest.mark.parametrize("width", range(12, 130, 5))
def test_no_half_of_a_credential_is_left(width: int) -> None:
    path = f"s3://reader:{PASSWORD}@b/x.parquet?X-Amz-Signature={SIGNATURE}"
    for secret in (PASSWORD, SIGNATURE):
        told = clean(shorten(path, width))
        assert not [part for part in (secret[:5], secret[-5:]) if part in told], told


@pytest.mark.parametrize(
    "text", ["key = 'k1'", "key=k1", "shows 1 row with key = 13.", "id=1, key='abc'", "WHERE key > 'a'"]
)
def test_a_column_named_key_is_shown(text: str) -> None:
    assert redact(text) == text
    assert HUSH not in redact(f"api_key={HUSH}, s3.key={HUSH}, account key: {HUSH}")
