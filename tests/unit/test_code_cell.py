"""A cell for what a page shows calls the method of the same question, with the same arguments."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import Any, cast

import pytest

import explorer
from explorer.app.code_cell import code_cell
from explorer.app.protocol import Ask
from explorer.errors import NotPossible, WrongUsage
from explorer.questions import QUESTIONS, Parameter
from explorer.questions.facade import OpenTable
from tests.support.small_tables import make_table

TABLE = 'it\'s "quoted"\\ \n of a stranger'
READING = [one for one in QUESTIONS.values() if one.subject and not one.is_writing]


def sample(one: Parameter) -> Any:
    """A value of a parameter as a page sends it."""
    if one.kind.form in ("pairs", "numbers"):
        return {"a'b": 1.5 if one.kind.form == "numbers" else "x\\\n"}
    text = {"flag": True, "number": 3, "count": 3, "decimal": 3.5, "choice": one.kind.choices[-1:]}.get(
        one.kind.form, TABLE
    )
    value = (one.kind.choices[-1] if one.kind.choices else text) if one.kind.form != "flag" else True
    return [value] if one.kind.several else value


@pytest.mark.parametrize("question", READING, ids=lambda one: " ".join(one.path))
def test_a_cell_calls_the_method_of_the_question(question: Any) -> None:
    given = {one.name: sample(one) for one in question.parameters if one.kind.metavar != "FILE"}
    code = code_cell(Ask(1, " ".join(question.path), TABLE, "sandbox", given))
    imported, opened, asked = ast.parse(code).body
    assert ast.unparse(imported) == "import explorer"
    assert isinstance(opened, ast.Assign)
    assert isinstance(opened.value, ast.Call)
    assert ast.literal_eval(opened.value.args[0]) == ("sandbox" if question.subject == "catalog" else TABLE)
    assert isinstance(asked, ast.Expr)
    assert isinstance(asked.value, ast.Call)
    of: Any = explorer.catalog() if question.subject == "catalog" else OpenTable(cast(Any, None))
    for name in ast.unparse(asked.value.func).split(".")[1:]:
        of = getattr(of, name)
    passed = {one.arg: ast.literal_eval(one.value) for one in asked.value.keywords}
    inspect.signature(of).bind(**passed)
    as_sent = {name: list(value) if isinstance(value, tuple) else value for name, value in passed.items()}
    assert as_sent == {name: value for name, value in given.items() if value != ""}


def test_a_cell_answers_as_the_page_does(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    names: dict[str, Any] = {}
    code = code_cell(Ask(1, "plan", str(table), arguments={"where": "fruit = 'fruit-1'"}))
    body = ast.parse(code).body
    exec(compile(ast.Module(body[:-1], []), "cell", "exec"), names)
    assert isinstance(body[-1], ast.Expr)
    answer = eval(compile(ast.Expression(body[-1].value), "cell", "eval"), names)
    assert answer.to_text() == explorer.open_table(table).plan("fruit = 'fruit-1'").to_text()
    assert code_cell(Ask(1, "", str(table))).endswith(f"table = explorer.open_table({str(table)!r})\ntable\n")


@pytest.mark.parametrize("question", ["maintain run", "refs run"])
def test_what_writes_has_no_cell(question: str) -> None:
    with pytest.raises(NotPossible, match="writes"):
        code_cell(Ask(1, question, "demo.three_inserts"))


@pytest.mark.parametrize(
    ("question", "arguments"), [("none", {}), ("data history", {}), ("plan", {"where": 1}), ("show", {"x": 1})]
)
def test_what_is_no_question_has_no_cell(question: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(WrongUsage):
        code_cell(Ask(1, question, "demo.three_inserts", arguments=arguments))


def test_no_cell_has_a_credential() -> None:
    for table in ("s3://reader:hunter2hunter2@bucket/t", "/t?token=hunter2hunter2"):
        with pytest.raises(NotPossible, match="credential") as refused:
            code_cell(Ask(1, "", table))
        assert "hunter2" not in str(refused.value)
