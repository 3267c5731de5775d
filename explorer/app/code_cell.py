"""The Python of what a page shows: a notebook's cell that opens the table and asks the same question."""

from __future__ import annotations

from explorer.app.forms import read_arguments
from explorer.app.protocol import Ask
from explorer.errors import NotPossible, WrongUsage
from explorer.questions import QUESTIONS
from explorer.spec.secrets.redaction import redact


def code_cell(request: Ask) -> str:
    """Return the text of a cell.

    Args:
        request: The question, and the table or catalog that it is about; without a question, the table alone.

    Returns:
        Lines of Python. The last one is the answer.

    Raises:
        WrongUsage: There is no such question, or it has other parameters.
        NotPossible: The question writes, or the text would have a credential.
    """
    opened, asked = f"table = explorer.open_table({request.table!r})", "table"
    if request.question:
        question = QUESTIONS.get(tuple(request.question.split(" ")))
        if question is None:
            raise WrongUsage(f"there is no question {request.question[:60]!r}")
        if question.is_writing:
            raise NotPossible("This question writes: a cell for it is written by hand.")
        arguments = read_arguments(question, request.arguments)
        given = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
        if question.subject == "catalog":
            opened, asked = f"catalog = explorer.catalog({request.catalog or 'sandbox'!r})", "catalog"
            words = question.path[1:]
        elif question.subject:
            words = question.path
        else:
            raise NotPossible("This question is about no table: there is no method for it.")
        asked = f"{'.'.join((asked, *words)).replace('-', '_')}({given})"
    text = f"import explorer\n\n{opened}\n{asked}\n"
    if redact(text) != text:
        raise NotPossible("A credential would stand in the notebook: open the table by a name in a catalog.")
    return text
