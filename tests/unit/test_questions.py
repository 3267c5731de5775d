"""The registry: each question is described once, and every interface is made of that."""

from __future__ import annotations

import inspect
import json
import time
from pathlib import Path
from typing import Any, Literal

import click
import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyiceberg.catalog.sql import SqlCatalog

import explorer
from explorer.cli import main
from explorer.cli.commands import command_of
from explorer.questions import QUESTIONS, Question
from explorer.questions.facade import OpenCatalog, OpenTable
from explorer.questions.parameters import Kind, TableAt, kind_of
from explorer.questions.registry import question
from tests import facade_source
from tests.support.small_tables import make_table

EVERY = [pytest.param(one, id=" ".join(one.path)) for one in QUESTIONS.values()]


def test_the_facade_is_that_of_the_registry() -> None:
    assert facade_source.TARGET.read_text() == facade_source.source()


@pytest.mark.parametrize("one", EVERY)
def test_a_question_is_described_whole(one: Question) -> None:
    assert one.summary.endswith((".", "Markdown; it takes about seven minutes."))
    assert all(parameter.help.endswith(".") for parameter in one.parameters)
    required = [p.is_required for p in one.parameters if p.is_positional]
    assert required == sorted(required, reverse=True), "what may be left out comes last"
    assert not [p.name for p in one.parameters if p.is_required and not p.is_positional]
    assert "Answer" in one.function.__annotations__["return"] or one.has_rows
    assert one.returns.endswith(".")


@pytest.mark.parametrize("one", EVERY)
def test_a_question_is_a_command_with_its_parameters(one: Question) -> None:
    command: click.Command = main
    for word in one.path:
        assert isinstance(command, click.Group)
        command = command.commands[word]
    by_name = {param.name: param for param in command.params}
    for parameter in one.parameters:
        made = by_name[parameter.name]
        assert isinstance(made, click.Argument) == parameter.is_positional
        assert made.multiple or made.nargs == -1 if parameter.kind.several else not made.multiple
        if isinstance(made, click.Option):
            assert made.help == parameter.help
            assert made.opts[0] == f"--{parameter.name.replace('_', '-')}"


@pytest.mark.parametrize("one", [e for e in EVERY if e.values[0].subject])
def test_a_question_is_a_method_with_its_parameters(one: Question) -> None:
    holder: Any = OpenCatalog if one.subject == "catalog" else OpenTable
    if one.group and one.subject != "catalog":
        holder = getattr(inspect.getmodule(OpenTable), f"{one.group.capitalize()}Questions")
    method = inspect.signature(getattr(holder, one.name.replace("-", "_")))
    own = list(inspect.signature(one.function).parameters.values())[1:]
    assert [(p.name, p.kind, p.default) for p in own] == [
        (p.name, p.kind, p.default) for p in list(method.parameters.values())[1:]
    ]


def test_groups_and_commands_have_names_of_their_own() -> None:
    groups = {one.group for one in QUESTIONS.values()} - {""}
    assert not groups & {one.name for one in QUESTIONS.values() if not one.group}


def test_a_parameter_that_is_added_to_a_question_is_an_option_at_once() -> None:
    def nothing(table: Table, *, limit: int = 5) -> Answer[int]:  # noqa: F821
        """Count to nothing.

        Args:
            limit: Where to stop.
        """

    try:
        question("nothing", "check")(nothing)
        command = command_of(QUESTIONS["check", "nothing"])
        option = next(param for param in command.params if param.name == "limit")
        assert isinstance(option, click.Option)
        assert (option.opts, option.default, option.help) == (["--limit"], 5, "Where to stop.")
        with pytest.raises(ValueError, match="registered already"):
            question("nothing", "check")(nothing)
    finally:
        del QUESTIONS["check", "nothing"]


def test_kinds() -> None:
    assert kind_of(bool).form == "flag"
    assert kind_of(Literal["a", "b"]).choices == ("a", "b")
    assert kind_of(int | None) == Kind("number", "N")
    with pytest.raises(TypeError, match="is not a kind"):
        kind_of(list)
    assert Kind("pairs").schema() == {"type": "object", "additionalProperties": {"type": "string"}}
    assert Kind("number", least=1, several=True).schema() == {
        "type": "array", "items": {"type": "integer", "minimum": 1},
    }  # fmt: skip


def test_answers_are_the_same_in_python_and_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = time.time()
    monkeypatch.setattr(time, "time", lambda: began)  # ages are the same in each answer
    folder = str(make_table(tmp_path))
    table = explorer.open_table(folder)
    for words, answer in (
        (["show"], table.show()), (["inspect", "snapshots"], table.inspect.snapshots()),
        (["plan", "id = 1"], table.plan("id = 1")),
        (["diff", "snapshot-1", "snapshot-2"], table.diff("snapshot-1", "snapshot-2")),
        (["inspect", "deletes"], table.inspect.deletes()), (["history", "commits"], table.history.commits()),
        (["doctor"], table.doctor()), (["health"], table.health()),
        (["check", "conflict", "snapshot-1", "append"], table.check.conflict("snapshot-1", "append")),
    ):  # fmt: skip
        at = 2 if len(words) > 1 and tuple(words[:2]) in QUESTIONS else 1
        run = CliRunner().invoke(main, [*words[:at], folder, *words[at:], "-o", "json"])
        assert run.exit_code == 0, run.output
        told = json.loads(run.stdout)
        assert told == json.loads(json.dumps(answer.to_json())), words
        text = CliRunner().invoke(main, [*words[:at], folder, *words[at:]]).stdout
        if not isinstance(answer, explorer.Collection):
            assert text == answer.to_text()


@pytest.mark.parametrize("form", ["csv", "parquet", "jsonl"])
def test_rows_in_every_form(form: str, tmp_path: Path) -> None:
    import io

    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pq

    folder = str(make_table(tmp_path))
    run = CliRunner().invoke(main, ["inspect", "entries", folder, "-o", form, "--filter", "record_count > 0"])
    assert run.exit_code == 0, run.output
    expected = explorer.open_table(folder).inspect.entries().select("record_count > 0")
    if form == "jsonl":
        assert [json.loads(line) for line in run.stdout.splitlines()] == expected.to_json()
    elif form == "parquet":
        assert pq.read_table(io.BytesIO(run.stdout_bytes)).to_pylist() == [
            row | {"partition": None} for row in expected
        ]
    else:
        table = pa_csv.read_csv(io.BytesIO(run.stdout_bytes))
        assert table.column_names == expected.columns
        assert table["file_path"].to_pylist() == [row["file_path"] for row in expected]


def test_rows_and_pictures_are_written_into_files(tmp_path: Path) -> None:
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pq

    table = explorer.open_table(str(make_table(tmp_path)))
    files = table.inspect.files()
    files.to_csv(tmp_path / "files.csv")
    files.to_parquet(str(tmp_path / "files.parquet"))
    paths = [row["file_path"] for row in files]
    assert pa_csv.read_csv(tmp_path / "files.csv")["file_path"].to_pylist() == paths
    assert pq.read_table(tmp_path / "files.parquet")["file_path"].to_pylist() == paths
    written = pq.read_table(tmp_path / "files.parquet")
    assert written.column_names == files.columns
    lineage = table.history.lineage()
    lineage.save_picture(tmp_path / "lineage.svg")
    assert (tmp_path / "lineage.svg").read_text() == lineage.to_svg()
    with pytest.raises(explorer.WrongUsage, match=r"drawn as \.html or \.svg"):
        lineage.save_picture(tmp_path / "lineage.png")
    with pytest.raises(explorer.WrongUsage, match="no picture"):
        table.show().save_picture(tmp_path / "show.svg")
    with pytest.raises(explorer.NotPossible, match="there is no folder"):
        lineage.save_picture(tmp_path / "nowhere" / "lineage.svg")


def test_an_answer_without_rows_says_so(tmp_path: Path) -> None:
    folder = str(make_table(tmp_path))
    with pytest.raises(explorer.NotPossible, match="not a list of rows"):
        explorer.open_table(folder).show().to_arrow()
    assert CliRunner().invoke(main, ["show", folder, "-o", "csv"]).exit_code == 2


def test_blocks_hold_what_a_page_shows(tmp_path: Path) -> None:
    table = explorer.open_table(str(make_table(tmp_path)))
    names = [type(block).__name__ for block in table.history.lineage().blocks()]
    assert names == ["Picture", "Text", "Rows"]
    assert [type(b).__name__ for b in table.inspect.refs().blocks()] == ["Rows"]


def test_a_table_that_does_not_open_is_still_checked(tmp_path: Path) -> None:
    folder = make_table(tmp_path)
    newest = max((folder / "metadata").glob("*.metadata.json"))
    newest.write_text("{")
    answer = explorer.doctor(str(folder))
    assert (answer.level(), answer.value.findings[0].rule) == ("error", "metadata-unreadable")
    assert QUESTIONS["doctor",].ask(TableAt(str(folder))).to_json() == answer.to_json()


def test_a_catalog_is_checked_once_however_often_its_answer_is_looked_at(tmp_path: Path) -> None:
    own = {"type": "sql", "uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": f"file://{tmp_path}/warehouse"}
    small = SqlCatalog("small", **own)
    small.create_namespace("db")
    for name in ("db.a", "db.b"):
        small.create_table(name, pa.schema([("id", pa.int64())])).append(pa.table({"id": [1, 2]}))
    small.engine.dispose()
    answer = explorer.catalog("small", own).doctor()
    first, lines = answer.to_json(), answer.to_text()
    assert [row["table"] for row in first] == [report.table for report in answer.value] == ["small.db.a", "small.db.b"]
    assert (answer.to_json(), answer.to_text()) == (first, lines)


def test_rows_are_chosen_once_and_by_a_filter_of_ours(tmp_path: Path) -> None:
    """Options that choose among rows would choose among the first ones that Spark returned."""
    for path in (("rows",), ("sql",)):
        options = {param.name for param in command_of(QUESTIONS[path]).params}
        assert not options & {"row_filter", "row_columns", "row_limit"}
    table = explorer.open_table(str(make_table(tmp_path)))
    assert table.engine.sql_condition("id > 1 AND id is not null") == "(`id` > 1 AND `id` IS NOT NULL)"
    assert table.engine.sql_condition("") == ""
    with pytest.raises(explorer.NotFoundInTable, match="there is no column 'nothing'"):
        table.rows(where="nothing = 1")
