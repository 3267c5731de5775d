"""`%iceberg` in a real IPython shell: every question, tables by name and by variable, cells, errors, and Tab."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

import explorer
from explorer.app.hosts.magics import ASKED
from tests.golden.every_question import ASKED as GOLDEN
from tests.golden.every_question import arguments
from tests.support.small_tables import make_table, writable


@pytest.fixture
def shell(sandbox: Path) -> Iterator[InteractiveShell]:
    own = InteractiveShell.instance()
    own.run_line_magic("load_ext", "explorer")
    yield own
    InteractiveShell.clear_instance()


@pytest.mark.parametrize("one", GOLDEN, ids=lambda one: " ".join(one.path))
def test_every_question_answers_as_its_method(one: Any, shell: InteractiveShell) -> None:
    table = explorer.open_table("demo.branches_and_tags")
    words = arguments(one, table)[0] + (["--snapshot", "main"] if one.group == "refs" else [])
    answer = shell.run_line_magic("iceberg", " ".join([*one.path, "demo.branches_and_tags", *map(_quoted, words)]))
    assert (hasattr(answer, "to_json"), bool(answer.to_text())) == (True, True)


def _quoted(word: str) -> str:
    return word if word.startswith("--") else f'"{word}"'


def test_a_variable_holds_a_table(shell: InteractiveShell, tmp_path: Path) -> None:
    place = make_table(tmp_path)
    shell.user_ns |= {"mine": explorer.open_table(place), "theirs": writable(place)}
    for name in ("mine", "theirs", str(place)):
        assert len(shell.run_line_magic("iceberg", f"inspect snapshots {name}")) == 3
    assert shell.run_line_magic("iceberg", "doctor mine").to_json()["findings"] == []


def test_the_cell_is_what_a_question_asks_for_last(shell: InteractiveShell) -> None:
    plan = shell.run_cell_magic("iceberg", "plan demo.three_inserts", "fruit = 'apple'\n")
    by_line = shell.run_line_magic("iceberg", "plan demo.three_inserts \"fruit = 'apple'\"")
    assert plan.to_json() == by_line.to_json()
    with pytest.raises(UsageError, match="takes no cell"):
        shell.run_cell_magic("iceberg", "overview demo.three_inserts", "text")


def test_options_are_those_of_the_question(shell: InteractiveShell) -> None:
    ask = shell.run_line_magic
    assert len(ask("iceberg", "inspect manifests demo.three_inserts --snapshot snapshot-1")) == 1
    health = ask("iceberg", "health demo.three_inserts --threshold small-files=9 --threshold schemas=7").to_json()
    assert {m["measure"]: m["threshold"] for m in health["measures"]}["small-files"] == 9
    seen = ask("iceberg", "maintain preview demo.three_inserts compact --option rewrite-all=true").value
    assert "'rewrite-all', 'true'" in seen.call
    assert ask("iceberg", "storage demo.three_inserts --price 1.5").value.price == 1.5


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("nothing demo.three_inserts", "there is no question 'nothing demo.three_inserts'"),
        ("plan demo.nothing x", "no table 'demo.nothing'"),
        ("data history demo.three_inserts", "the following arguments are required: WHERE"),
        ("plan demo.three_inserts 'fruit", "a quote is not closed"),
        ("storage demo.three_inserts --by year", "there are partition, month"),
        ("storage demo.three_inserts --price much", "is no number"),
        ("storage demo.three_inserts --price=-1", "0 is the least"),
        ("health demo.three_inserts --threshold small-files", "is not NAME=NUMBER"),
        ("history watch demo.three_inserts", "there is no question"),
        ("overview demo.three_inserts --unknown", "unrecognized arguments: --unknown"),
    ],
)
def test_what_is_wrong_is_said_without_a_traceback(line: str, says: str, shell: InteractiveShell) -> None:
    with pytest.raises(UsageError) as error:
        shell.run_line_magic("iceberg", line)
    assert says in str(error.value)


def test_help_lists_questions_and_explains_one(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    shell.run_line_magic("iceberg", "")
    listed = capsys.readouterr().out
    assert all(f"  {' '.join(path)} " in listed for path in ASKED)
    shell.run_line_magic("iceberg", "plan --help")
    assert "A filter such as" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("%iceberg pl", ["plan"]),
        ("%iceberg inspect s", ["schema", "snapshots"]),
        ("%iceberg plan demo.three", ["demo.three_inserts"]),
        ("%iceberg plan demo.three_inserts fr", ["fruit"]),
        ("%iceberg plan demo.three_inserts x --sn", ["--snapshot"]),
        ("%iceberg plan demo.three_inserts x --snapshot snap", ["snapshot-1", "snapshot-2", "snapshot-3"]),
        ("%iceberg check conflict demo.three_inserts snapshot-1 ap", ["append"]),
        ("%iceberg storage demo.three_inserts --by mo", ["month"]),
        ("%%iceberg sq", ["sql"]),
        ("plan = %iceberg scan ", ["estimate"]),
        ("%iceberg inspect entries demo.three_inserts --s", ["--snapshot"]),
        ("%iceberg de", ["demo"]),
        ("%iceberg demo three", ["three_inserts"]),
        ("%iceberg inspect files min", ["mine"]),
        ("%iceberg plan demo.nothing zz", []),
    ],
)
def test_tab_completes(text: str, offered: list[str], shell: InteractiveShell) -> None:
    shell.user_ns["mine"] = explorer.open_table("demo.three_inserts")
    with provisionalcompleter():
        names = [one.text for one in shell.Completer.completions(text, len(text))]
    assert (names if offered else [name for name in names if name.startswith(text.split()[-1])]) == offered


def test_tab_offers_no_words_of_python(shell: InteractiveShell) -> None:
    """Words that begin with nothing: all questions, in their order, and nothing else, also after it is loaded again."""
    shell.run_line_magic("reload_ext", "explorer")
    for text, offered in (("%iceberg ", {path[0] for path in ASKED} | {"demo"}), ("%iceberg check ", None)):
        with provisionalcompleter():
            names = [one.text for one in shell.Completer.completions(text, len(text))]
        assert names == sorted(offered or {path[1] for path in ASKED if path[0] == "check"})


def test_without_a_sandbox_an_error_says_what_to_do(
    shell: InteractiveShell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a machine where no tables were made yet; then what it says is done."""
    monkeypatch.setenv("ICEDIVE_HOME", str(tmp_path / "home"))

    def refusals() -> Iterator[str]:
        for line in ("show demo.three_inserts", "doctor demo.three_inserts", "catalog pointer demo.three_inserts"):
            with pytest.raises(UsageError) as error:
                shell.run_line_magic("iceberg", line)
            yield str(error.value)

    assert all("%iceberg demo" in said and "does not exist yet" in said for said in refusals())
    with pytest.raises(UsageError, match="%iceberg demo"):
        shell.run_line_magic("iceberg", "catalog tables")
    assert len(shell.run_line_magic("iceberg", "demo sorted_files")) == 1
    assert all("'demo.three_inserts' in catalog 'sandbox'; it has: demo.sorted_files" in said for said in refusals())
    shell.run_line_magic("iceberg", "demo three_inserts")
    assert len(shell.run_line_magic("iceberg", "inspect snapshots demo.three_inserts")) == 3
    with pytest.raises(UsageError, match="no such teaching table: nothing"):
        shell.run_line_magic("iceberg", "demo nothing")


def test_a_sandbox_without_teaching_tables_says_how_they_are_made(
    shell: InteractiveShell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ICEDIVE_HOME", str(tmp_path / "home"))
    shell.run_line_magic("iceberg", "lab copy three_inserts")
    with pytest.raises(UsageError, match="the teaching tables are not there yet"):
        shell.run_line_magic("iceberg", "show demo.three_inserts")
