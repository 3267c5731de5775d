"""The command line: exit codes, where output goes, and that every command is documented."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from explorer.cli import main
from explorer.questions import QUESTIONS
from explorer.storage.locate import parse_move
from tests import examples, reference, table_pages
from tests.support import direct
from tests.support.small_tables import edit_metadata, make_table, newest_metadata

TABLE_COMMANDS = [
    "show", "inspect metadata", "inspect snapshots", "inspect refs", "inspect manifests", "inspect entries",
    "inspect files",
]  # fmt: skip


def run(*arguments: str, input: str | None = None) -> Result:
    return CliRunner().invoke(main, list(arguments), input=input)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_table(tmp_path_factory.mktemp("cli"))


def test_layers_and_versions_are_what_the_dashboard_draws(table: Path) -> None:
    layers = json.loads(run("inspect", "deletes", str(table), "--show", "layers", "--output", "json").stdout)
    assert [(each["sequence_number"], each["kind"], each["applied"]) for each in layers] == [
        (1, "data", 0), (2, "data", 0), (3, "data", 0)
    ]  # fmt: skip
    assert run("inspect", "deletes", str(table), "--show", "layers").stdout.startswith("sequence_number  kind")
    [version] = json.loads(run("data", "history", str(table), "id = 1", "--output", "json").stdout)["versions"]
    assert version["row"]["id"] == 1
    assert version["stretches"] == [{"first": "snapshot-2", "last": "snapshot-3", "hidden_by": None}]


@pytest.mark.parametrize("command", TABLE_COMMANDS)
def test_json_is_json_and_text_is_text(command: str, table: Path) -> None:
    result = run(*command.split(), str(table), "--output", "json")
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert isinstance(data, dict) or (data and isinstance(data[0], dict))
    text = run(*command.split(), str(table))
    assert text.exit_code == 0
    assert text.stdout.strip()


@pytest.mark.parametrize("view", ["stored", "inherited", "logical", "all"])
def test_entries_views(view: str, table: Path) -> None:
    rows = json.loads(run("inspect", "entries", str(table), "--view", view, "-o", "json").stdout)
    assert len(rows) == 3
    if view == "all":
        assert rows[2]["stored"]["sequence_number"] is None
        assert rows[2]["inherited"]["sequence_number"] == 1
        assert rows[2]["logical_status"] == "EXISTING"
        assert "reads as EXISTING" in rows[2]["reason"]
    elif view == "stored":
        assert rows[0]["sequence_number"] is None


@pytest.mark.parametrize("picture", ["dot", "svg", "png", "html", "json"])
def test_graph_formats_to_a_file(picture: str, table: Path, tmp_path: Path) -> None:
    target = tmp_path / "graph"
    result = run("export", "graph", str(table), "--format", picture, "--file", str(target))
    assert result.exit_code == 0
    starts = {"dot": b"digraph", "svg": b"<svg", "png": b"\x89PNG", "html": b"<!doctype html>", "json": b"{"}
    assert target.read_bytes().startswith(starts[picture])
    assert not result.stdout


@pytest.mark.parametrize("command", [*TABLE_COMMANDS, "export graph"])
def test_no_such_table_is_1_on_stderr(command: str) -> None:
    result = run(*command.split(), "/no/such/table")
    assert result.exit_code == 1
    assert "no such folder" in result.stderr
    assert not result.stdout


def test_wrong_usage_is_2() -> None:
    assert run("show").exit_code == 2
    assert run("inspect", "entries", "x/y", "--view", "nonsense").exit_code == 2
    assert run("demo", "no_such_lesson").exit_code == 2


@pytest.mark.parametrize("command", ["show -o", "inspect entries -o", "inspect files -o", "export graph --format"])
def test_an_unreadable_manifest_is_3_and_the_rest_is_printed(command: str, tmp_path: Path) -> None:
    folder = make_table(tmp_path)
    victim = sorted((folder / "metadata").glob("*-m0.avro"))[0]
    victim.write_text("text")
    result = run(*command.split(), "json", str(folder))
    assert result.exit_code == 3
    assert victim.name in result.stderr
    assert "not an Avro file" in result.stderr
    data = json.loads(result.stdout)
    assert len(data["nodes"] if isinstance(data, dict) else data) >= 2


def test_an_unreadable_metadata_file_is_1(tmp_path: Path) -> None:
    folder = make_table(tmp_path)
    newest_metadata(folder).write_text("{")
    result = run("show", str(folder))
    assert result.exit_code == 1
    assert newest_metadata(folder).name in result.stderr


ROOT = Path(__file__).parents[2]
COMMON = {
    "--output", "--catalog", "--property", "--root", "--relocate", "--snapshot", "--help", "--wide", "--timezone",
    "--color", "--no-pager",
}  # fmt: skip
"""Options that docs/cli.md tells of once, for all commands; `--snapshot` in its rows is `-s`."""


def hosts() -> dict[str, click.Command]:
    """The commands that ask no question, by their words."""
    named: dict[str, click.Command] = {}
    for name, command in main.commands.items():
        inside = command.commands.items() if isinstance(command, click.Group) else [("", command)]
        named |= {f"{name} {inner}".strip(): one for inner, one in inside}
    return {name: one for name, one in named.items() if tuple(name.split()) not in QUESTIONS}


def test_what_asks_no_question_is_documented_with_its_options() -> None:
    rows = re.findall(r"^\| `([^`]+)` \| ", (ROOT / "docs" / "cli.md").read_text(), flags=re.MULTILINE)
    for name, command in hosts().items():
        [row] = [row for row in rows if row.split("[")[0].startswith(name) or row.startswith(f"{name} ")]
        options = {o for p in command.params if isinstance(p, click.Option) for o in p.opts if o.startswith("--")}
        assert options - COMMON == set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", row)) - COMMON, name
        assert command.help


def test_the_reference_is_that_of_the_registry() -> None:
    assert (ROOT / "docs" / "reference.md").read_text() == reference.text()


def test_the_page_of_teaching_tables_is_that_of_the_scenarios() -> None:
    assert (ROOT / "docs" / "teaching-tables.md").read_text() == table_pages.text()


SEVERAL_MEANINGS = {
    "--output": "each command lists the formats that it has",
    "--catalog": "that of TABLE, or of all tables of a gallery",
    "--key": "what tells an updated row, or what should be of one row alone",
    "--limit": "of rows, or of pairs of files",
    "--name": "of a branch or tag, or of a view",
    "--namespace": "of tables, or of views",
    "--show": "each question lists the parts of its answer",
    "--snapshot": "the doctor checks all if it is left out; an operation on refs moves to it",
    "--where": "always a FILTER; each question says of what",
}
"""Options whose description is not the same everywhere, and why."""


def test_an_option_has_one_meaning() -> None:
    """An option of several commands has one kind of value and is described in the same words."""
    kinds: dict[str, set[Any]] = {}
    helps: dict[str, set[Any]] = {}
    for command in every_command(main):
        for option in command.params:
            if isinstance(option, click.Option):
                name = option.opts[0]
                kinds.setdefault(name, set()).add((type(option.type), option.metavar, option.multiple, option.is_flag))
                helps.setdefault(name, set()).add((option.help, tuple(getattr(option.type, "choices", ()))))
    assert {name: of for name, of in kinds.items() if len(of) > 1} == {}
    assert {name for name, of in helps.items() if len(of) > 1} == set(SEVERAL_MEANINGS)


def test_a_parameter_has_one_meaning() -> None:
    """Also where it has a place. A plan has one filter, an estimate has several."""
    forms: dict[str, set[Any]] = {}
    for question in QUESTIONS.values():
        for parameter in question.parameters:
            forms.setdefault(parameter.name, set()).add((parameter.kind.form, parameter.kind.several))
            assert parameter.help, (question.path, parameter.name)
    assert {name for name, of in forms.items() if len(of) > 1} == {"where"}


def every_command(group: click.Group) -> Iterator[click.Command]:
    """All commands, and the groups that they are in."""
    yield group
    for command in group.commands.values():
        yield from every_command(command) if isinstance(command, click.Group) else [command]


def test_places_that_moved_are_given_as_pairs(table: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(table, copy)
    shutil.move(copy / "data", tmp_path / "elsewhere")
    data = str(next((tmp_path / "elsewhere").glob("*.parquet")).name)
    rows = ("inspect", "file", str(copy), data, "--show", "rows")
    lost = run(*rows)
    assert lost.exit_code == 1
    assert f"looked for at {copy}/data/{data}" in lost.output
    told = run(*rows, "--relocate", f"file://{table}/data={tmp_path}/elsewhere", "-o", "json")
    assert (told.exit_code, len(json.loads(told.stdout))) == (0, 2)
    partition = f"file://{table}/data/dt=1={tmp_path}/a=b"  # both may have a =
    assert run("show", str(copy), "--relocate", partition).exit_code == 0
    assert parse_move(partition) == (f"file://{table}/data/dt=1", f"{tmp_path}/a=b")
    assert parse_move("s3://b/dt=1/t=s3://c/dt=1") == ("s3://b/dt=1/t", "s3://c/dt=1")
    for wrong in ("x", "=y", "=", "x=", "/old=./new", "/old=new", "/old=~/new"):
        refused = run("show", str(copy), "--relocate", wrong)
        assert refused.exit_code == 2
        assert "OLD=NEW" in refused.output


def test_secrets_are_not_printed(tmp_path: Path) -> None:
    folder = make_table(tmp_path, **{"s3.secret-access-key": "hunter2"})
    edit_metadata(folder, lambda d: d["properties"].update({"s3.secret-access-key": "hunter3", "plain": "visible"}))
    changed = run("history", "metadata", str(folder), "0", "3", "-o", "json").output
    assert "visible" in changed
    assert "s3.secret-access-key" in changed
    assert "hunter" not in changed
    for command in (
        ["diff", str(folder), "snapshot-1", "snapshot-3"],
        ["inspect", "metadata", str(folder)],
        ["show", str(folder)],
    ):
        for output in ("text", "json"):
            result = run(*command, "-o", output)
            assert result.exit_code == 0
            assert "hunter" not in result.output
            assert ("s3.secret-access-key" in result.output) == (command[0] != "show")


@pytest.mark.parametrize("output", ["text", "json"])
def test_a_closed_pipe_is_no_error(output: str, tmp_path: Path) -> None:
    folder = make_table(tmp_path, 1)
    lines = {f"comment-{i}": "x" * 60 for i in range(2_000)}
    edit_metadata(folder, lambda d: d["properties"].update(lines))
    command = [sys.executable, "-m", "explorer.cli", "inspect", "metadata", str(folder), "-o", output]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read(1)  # it has begun, and has more to say than a pipe holds
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0
    assert len(run("inspect", "metadata", str(folder), "-o", output).output) > 2 * 65_536


def test_serving_to_other_machines_needs_a_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ICEDIVE_PASSWORD", raising=False)
    result = run("serve", "--address", "0.0.0.0")
    assert result.exit_code == 1
    assert "ICEDIVE_PASSWORD" in result.stderr


def test_commands_that_decode_data_files_end_well(tmp_path: Path) -> None:
    """A thread alive at the interpreter's end made some of them abort, with 134."""
    folder = make_table(tmp_path)
    [first, *_] = direct.open_table(str(folder)).files()
    ask = ["inspect", "file", str(folder), first["file_path"], "--show", "rows", "-o", "json"]
    command = [sys.executable, "-m", "explorer.cli", *ask]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(examples(4))]
    ends = [(process.communicate(timeout=120), process.returncode) for process in started]
    assert [code for _, code in ends] == [0] * len(started), ends
    assert all(len(json.loads(out)) == 2 for (out, _), _ in ends)
