"""Agents: each question that reads is a tool, answers are bounded and say where they come from, and the four jobs lead
to the right causes. The client is the protocol's own, the server a process of its own."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jsonschema
import pytest
from click.testing import CliRunner

from explorer.app.hosts.agents.answers import MOST_CHARACTERS, SCHEMA
from explorer.app.hosts.agents.prompts import JOBS
from explorer.app.hosts.agents.tools import LEFT_OUT, MORE
from explorer.cli import main
from explorer.questions import QUESTIONS, Question
from tests.cases import build_case
from tests.support.agent import DEMO, Agent, Test, over_stdio, served, texts
from tests.support.small_tables import in_catalog, make_table

ENDLESS, IN_SQL, IN_SPARK = {("history", "watch")}, {("sql",)}, {"rows", "data_duplicates"}
READING = {
    "_".join(path): one
    for path, one in QUESTIONS.items()
    if not one.is_writing and path not in ENDLESS and path not in IN_SQL
}
GIVEN: dict[str, dict[str, Any]] = {
    "catalog_tables": {"namespace": "demo", "summary": True}, "catalog_doctor": {"namespace": "demo"},
    "catalog_health": {"namespace": "demo"}, "check_conflict": {"base": "snapshot-1", "operation": "cow-update"},
    "check_copy": {"other": "sandbox.demo.three_inserts"},
    "data_diff": {"before": "snapshot-1", "after": "snapshot-2"}, "diff": {"before": "snapshot-1", "after": "main"},
    "data_history": {"where": "name = 'jack'"}, "plan": {"where": "name = 'jack'"},
    "scan_estimate": {"where": ["name = 'jack'"]}, "history_metadata": {"older": "1"},
    "history_landed": {"what": "snapshot-1"},
    "maintain_preview": {"operation": "compact"}, "refs_preview": {"operation": "tag", "name": "x", "snapshot": "main"},
}  # fmt: skip
"""What tools are given beside the table."""


def with_tables(root: Path, test: Test, over: str = "stdio") -> None:
    """Run a test with an agent that may open the teaching tables and those below a folder."""
    if over == "stdio":
        over_stdio(test, "--root", str(root))
        return
    with served("--root", str(root)) as server:
        server.run(test, "legacy" if over == "http, by a session" else "auto")


WITHOUT_FILE = {"check_rules", "glossary"}
"""Tools whose answers are about no table."""


def metadata_files(name: str, question: Question, data: dict[str, Any]) -> list[str]:
    """The metadata files that a tool's answer names: its own, or that of each table of a catalog. It names one."""
    if name in WITHOUT_FILE:
        return []
    if question.subject != "catalog":
        files = [data["metadata_file"]]
    elif rows := [row for part in data["parts"] if part["kind"] == "rows" for row in part["items"]]:
        files = [row["metadata_file"] for row in rows]
    else:
        lines = texts(data).splitlines()
        files = [line.removeprefix("metadata file: ") for line in lines if line.startswith("metadata file: ")]
        assert len(files) == sum(line.startswith(DEMO) for line in lines) > 5
    return [file.removeprefix("file:") for file in files]


def test_each_question_that_reads_is_a_tool_and_no_other(sandbox: Path, tmp_path: Path) -> None:
    async def look(agent: Agent) -> None:
        tools = {tool.name: tool for tool in (await agent.client.list_tools()).tools}
        assert tools.keys() == {*READING, MORE}
        assert all(one.annotations and one.annotations.read_only_hint for one in tools.values())
        for name, question in READING.items():
            schema = tools[name].input_schema
            jsonschema.Draft202012Validator.check_schema(schema)
            own = {one.name for one in question.parameters} - LEFT_OUT
            assert own == schema["properties"].keys() - {"table", "catalog"}, name
            assert {one.name for one in question.parameters if one.is_required} <= set(schema["required"]), name
            assert all(one["description"] for one in schema["properties"].values()), name
            assert (tools[name].description or "").startswith(question.summary)
        for path, question in QUESTIONS.items():
            if question.is_writing or path in IN_SQL | ENDLESS:
                assert "there is no tool" in await agent.refused("_".join(path), table=f"{DEMO}three_inserts")
        for name in LEFT_OUT:
            given = {"table": f"{DEMO}three_inserts", "where": "fruit = 'a'", name: True}
            assert "has no parameter" in await agent.refused("plan", **given)

    over_stdio(look)


def test_every_tool_answers_and_says_where_to_look(sandbox: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its text is data on one line, it has the form of its schema, and the command that it prints works."""
    commands: dict[str, str] = {}

    async def look(agent: Agent) -> None:
        table = f"{DEMO}equality_deletes"
        file = (await agent.ask("inspect_files", table=table))["parts"][0]["items"][0]["file_path"]
        for name, question in READING.items():
            if name in IN_SPARK:
                continue
            subject = {"table": {"table": table}, "place": {"table": table}, "catalog": {"catalog": "sandbox"}}
            given = {"path": file} if name in {"inspect_file", "maintain_file"} else GIVEN.get(name, {})
            if name in {"catalog_namespaces", "catalog_views"}:
                continue  # of all of a catalog: tests/security/test_agents.py; the sandbox has no view
            data = await agent.ask(name, **subject.get(question.subject, {}), **given)
            jsonschema.validate(data, SCHEMA)
            assert any(part["items"] for part in data["parts"] if part["kind"] != "links"), name
            assert len(json.dumps(data["parts"])) < 2 * MOST_CHARACTERS, name
            assert all(Path(one).is_file() for one in metadata_files(name, question, data)), name
            if "table" in subject.get(question.subject, {}):
                assert data["open_page"] == f"icedive open {table}"
            commands[name] = data["command"]

    over_stdio(look)
    assert len(commands) >= 35
    for name, command in commands.items():
        program, *words = shlex.split(command)
        done = CliRunner().invoke(main, words)
        assert (program, done.exit_code in (0, 5, 6)) == ("icedive", True), (name, command, done.output[-500:])


def test_a_table_that_does_not_open_is_named_by_its_metadata_file(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    newest, name = max((table / "metadata").glob("*.metadata.json")), "small.db.t"
    (tmp_path / ".pyiceberg.yaml").write_text(
        "catalog:\n  small:\n" + "".join(f"    {key}: '{value}'\n" for key, value in in_catalog(table).items())
    )
    newest.write_text("{")

    async def look(agent: Agent) -> None:
        for tool in ("doctor", "catalog_pointer"):
            data = await agent.ask(tool, table=name)
            assert data["metadata_file"].endswith(newest.name), tool
            assert data["level"] != "ok"
        listed = await agent.ask("catalog_doctor", catalog="small")
        assert f"/{newest.name}" in texts(listed)
        assert listed["page"] == "http://localhost:5006/"  # which asks about the sandbox alone
        assert "page" in await agent.ask("doctor", table=name)

    over_stdio(look, "small", "--page", "http://localhost:5006/", PYICEBERG_HOME=str(tmp_path))


@pytest.mark.parametrize("over", ["stdio", "http", "http, by a session"])
def test_tables_are_resources(sandbox: Path, tmp_path: Path, over: str) -> None:
    own = make_table(tmp_path)
    (tmp_path / "an instruction, read as a sentence" / "metadata").mkdir(parents=True)
    (tmp_path / "an instruction, read as a sentence" / "metadata" / "v1.metadata.json").write_text("{}")

    async def look(agent: Agent) -> None:
        listed = {one.name: one for one in (await agent.client.list_resources()).resources}
        assert len(listed) == 27
        assert listed.keys() >= {f"{DEMO}three_inserts", str(own)}
        assert "insert" in (listed[f"{DEMO}three_inserts"].description or "")
        for name in (f"{DEMO}three_inserts", str(own)):
            (content,) = (await agent.client.read_resource(listed[name].uri)).contents
            data = json.loads(content.text.split("\n")[1])  # type: ignore[union-attr]
            assert (data["question"], data["about"]) == ("overview", name)
            assert "3 (as recorded)" in texts(data) or "6 (as recorded)" in texts(data)
        with pytest.raises(Exception, match="begin with icedive://table/"):
            await agent.client.read_resource("file:///etc/passwd")

    with_tables(tmp_path, look, over)


def test_long_answers_come_in_parts_that_have_everything(sandbox: Path) -> None:
    async def look(agent: Agent) -> None:
        given = {"table": f"{DEMO}long_history"}
        data = await agent.ask("inspect_files", **given)
        (part,) = data["parts"]
        assert (part["total"], part["next"]) == (1_200, len(part["items"]))
        assert len(json.dumps(data)) < MOST_CHARACTERS + 3_000
        paths = [row["file_path"] for row in part["items"]]
        while "next" in part:
            (part,) = (await agent.ask(
                MORE, tool="inspect_files", arguments=given, part=0, start=part["next"]))["parts"]  # fmt: skip
            paths += [row["file_path"] for row in part["items"]]
        assert len(set(paths)) == len(paths) == 1_200
        chosen = await agent.ask(
            MORE, tool="inspect_files", arguments=given, part=0, filter="sequence_number > 299", sort="file_path",
            descending=True,
        )  # fmt: skip
        (part,) = chosen["parts"]
        names = [row["file_path"] for row in part["items"]]
        assert (part["total"], names) == (4, sorted(names, reverse=True))
        assert "no column" in await agent.refused(MORE, tool="inspect_files", arguments=given, part=0, sort="nothing")
        assert "parts, from 0" in await agent.refused(MORE, tool="inspect_files", arguments=given, part=9)
        for wrong in ({"start": -1}, {"part": -1}, {"start": 1 << 80}, {"start": True}, {"tool": MORE}, {"sort": 1}):
            asked = {"tool": "inspect_files", "arguments": given, "part": 0, **wrong}
            assert "from 0 to" in (told := str((await agent.call(MORE, asked)).get("error"))) or "of the type" in told
        (part,) = (await agent.ask(MORE, tool="inspect_files", arguments=given, part=0, start=1_000_000))["parts"]
        assert (part["items"], part["total"], "next" in part) == ([], 1_200, False)
        assert "no tool" in await agent.refused(MORE, tool="lab_copy", arguments={}, part=0)

    over_stdio(look)


def test_a_link_leads_to_the_page_where_one_is_served(sandbox: Path) -> None:
    query = {"table": [f"{DEMO}sorted_files"], "mode": ["ask"], "question": ["plan"]}

    async def look(agent: Agent) -> None:
        data = await agent.ask("plan", table=f"{DEMO}sorted_files", where="name = 'jack'", stage="files")
        parts = urlsplit(data["page"])
        asked = parse_qs(parts.query)
        assert json.loads(asked.pop("arguments")[0]) == {"where": "name = 'jack'", "stage": "files"}
        assert (parts.hostname, asked) == ("localhost", query)
        assert "token" not in data["page"]

    over_stdio(look, "--page", "http://localhost:5006/?token=hush")
    with served() as server:
        server.run(look)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["nowhere"], "no catalog named 'nowhere'"),
        (["--page", "localhost:5006"], "--page is the URL of a page"),
        (["--http", "--page", "http://localhost:5006/"], "with --http the page is served, too"),
    ],
)
def test_options_that_do_not_fit_are_told(options: list[str], told: str) -> None:
    done = CliRunner().invoke(main, ["mcp", *options])
    assert (done.exit_code, told in done.output) == (2, True), done.output


def test_what_the_document_says_to_enter_is_right(sandbox: Path) -> None:
    """Each JSON names a command, with options that it has; the first one is carried out."""
    text = (Path(__file__).parents[2] / "docs" / "agents.md").read_text()
    blocks = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", text, re.DOTALL)]
    entries = [next(iter(block.values()))["icedive"] for block in blocks]
    started = [shlex.join([one["command"], *one["args"]]) for one in entries if "command" in one]
    in_shell = [line for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]
    started += [line.partition(" -- ")[2] or line for line in in_shell]
    started += [shlex.join(["icedive", *json.loads(f"[{found}]")]) for found in re.findall(r'"args": \[(.*?)\]', text)]
    assert len(started) >= 8
    for line in started:
        program, *words = shlex.split(line)
        assert program == "icedive"
        name, command, rest = main.resolve_command(main.make_context(program, [*words]), [*words])
        assert command is not None
        assert command.make_context(name, rest).params, line
    (served_one,) = (one for one in entries if "url" in one)
    assert (served_one["url"], [*served_one["headers"]]) == ("http://localhost:5007/mcp", ["Authorization"])

    async def look(agent: Agent) -> None:
        assert len((await agent.client.list_tools()).tools) > 30

    over_stdio(look, *entries[0]["args"][1:])


# -- the four jobs -----------------------------------------------------------------------------------------------------
async def prompt(agent: Agent, name: str, **given: str) -> list[str]:
    """The tools that a prompt names, in their order. Each of them is there."""
    result = await agent.client.get_prompt(name, given)
    text = result.messages[0].content.text  # type: ignore[union-attr]
    assert all(value in text for value in given.values())
    steps = [line for line in text.splitlines() if re.match(r"\d\. ", line)]
    named = [word for line in steps for word in re.findall(r"`(\w+)`", line)]
    tools = [word for word in named if word in READING]
    asked = {one.name for tool in tools for one in READING[tool].parameters}
    choices = {choice for tool in tools for one in READING[tool].parameters for choice in one.kind.choices}
    assert set(named) <= {*READING, *asked, *choices}, text
    return tools


def test_each_prompt_says_what_it_needs() -> None:
    async def look(agent: Agent) -> None:
        listed = {one.name: one for one in (await agent.client.list_prompts()).prompts}
        assert listed.keys() == JOBS.keys()
        for name, one in listed.items():
            given = {each.name: f"<{each.name}>" for each in one.arguments or []}
            assert await prompt(agent, name, **given)
            with pytest.raises(Exception, match=f"{name} needs table"):
                await agent.client.get_prompt(name, {})

    over_stdio(look)


@pytest.mark.parametrize("over", ["stdio", "http"])
def test_the_job_of_a_slow_query(sandbox: Path, tmp_path: Path, over: str) -> None:
    """The fault: the files of the table are not sorted, so their bounds overlap."""

    async def work(agent: Agent) -> None:
        about = {"table": f"{DEMO}unsorted_files"}
        tools = await prompt(agent, "slow_query", **about, filter="name = 'jack'")
        assert tools[:2] == ["plan", "plan"]
        asked = await agent.ask("plan", **about, where="name = 'jack'")
        assert "reads 4 of 4 data files" in texts(asked)
        files = await agent.ask("plan", **about, where="name = 'jack'", stage="files")
        assert texts(files).count("its values lie between") == 4
        (clustering,) = (
            item for part in (await agent.ask("inspect_columns", **about, show="clustering"))["parts"]
            for item in part["items"] if isinstance(item, dict) and item.get("column") == "name"
        )  # fmt: skip
        assert (clustering["data_files"], clustering["opened"]) == ("4", "2.5")
        helps = texts(await agent.ask("scan_estimate", **about, where=["name = 'jack'"]))
        assert "sort by name" in helps

    with_tables(tmp_path, work, over)


@pytest.mark.parametrize("over", ["stdio", "http"])
def test_the_job_of_a_missing_row(tmp_path: Path, over: str) -> None:
    """The fault: a compaction dropped an equality delete that its own output needs, so a deleted row is back."""
    table = str(build_case("12-compaction-lost-delete", tmp_path))

    async def work(agent: Agent) -> None:
        tools = await prompt(agent, "missing_row", table=table, row="id = 2")
        assert tools[:2] == ["data_history", "doctor"]
        history = texts(await agent.ask("data_history", table=table, where="id = 2"))
        assert "came back" in history
        assert "compacted.parquet" in history
        found = await agent.ask("doctor", table=table)
        (finding,) = (item for part in found["parts"] if part["kind"] == "findings" for item in part["items"])
        assert (found["level"], finding["name"]) == ("error", "delete-dropped (71)") or "delete-dropped" in str(finding)
        changed = texts(await agent.ask("data_diff", table=table, before="snapshot-3", after="snapshot-4"))
        assert "compacted.parquet" in changed

    with_tables(tmp_path, work, over)


@pytest.mark.parametrize("over", ["stdio", "http"])
def test_the_job_of_a_table_that_does_not_load(tmp_path: Path, over: str) -> None:
    """The fault: an old manifest is gone."""
    table = str(build_case("05-lost-manifest", tmp_path))

    async def work(agent: Agent) -> None:
        tools = await prompt(agent, "table_does_not_load", table=table, message="FileNotFoundException")
        assert tools[:2] == ["doctor", "doctor"]
        found = await agent.ask("doctor", table=table)
        told = texts(found)
        assert found["level"] == "error"
        assert all(word in told for word in ("manifest-missing", "rollback_to_snapshot", "102, 103, 104", ".avro"))
        shown = await agent.ask("inspect_files", table=table)
        assert any(".avro" in problem for problem in shown["problems"])
        assert any("could not be read whole" in note for note in shown["notes"])
        warned = texts(await agent.ask("maintain_preview", table=table, operation="remove-orphans"))
        assert "Do not run this" in warned

    with_tables(tmp_path, work, over)


@pytest.mark.parametrize("over", ["stdio", "http"])
def test_the_job_of_a_conflict(sandbox: Path, tmp_path: Path, over: str) -> None:
    """The fault: under serializable isolation another commit added rows that the condition may match."""

    async def work(agent: Agent) -> None:
        about = {"table": f"{DEMO}hidden_partitioning", "base": "snapshot-1", "operation": "cow-update"}
        tools = await prompt(agent, "commit_conflict", **about, filter="id = 1")
        assert tools[:2] == ["check_conflict", "history_commits"]
        refused = texts(await agent.ask("check_conflict", **about, where="id = 1"))
        assert "It is refused: snapshot-2 added data files" in refused
        assert "validateNoConflictingData" in refused
        allowed = texts(await agent.ask("check_conflict", **about, where="id = 1", isolation="snapshot"))
        assert "no check finds a conflict" in allowed
        commits = texts(await agent.ask("history_commits", table=about["table"], first="snapshot-1"))
        assert "snapshot-2" in commits

    with_tables(tmp_path, work, over)
