"""What a session may do: by default it reads metadata, and neither runs SQL nor writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from explorer.errors import AccessRefused
from explorer.questions import Question
from explorer.questions.parameters import Sql, kind_of

SQL = kind_of(Sql)
ALLOW_WRITES = "allow_writes"
"""The parameter by which other tables than the sandbox's are written; no page has it."""


@dataclass(frozen=True)
class Rights:
    """What a session may do.

    Args:
        sql: Whether it may run text in SQL.
        lab: Whether it may write: to copies of teaching tables, and what is marked as writing.
        catalogs: Whether it may add a catalog to those of this machine's user.
    """

    sql: bool = False
    lab: bool = False
    catalogs: bool = False

    def allow(self, question: Question) -> bool:
        """Return whether a question may be asked at all."""
        needs_sql = any(one.kind == SQL and one.is_required for one in question.parameters)
        return (self.lab or not question.is_writing) and (self.sql or not needs_sql)

    def check(self, question: Question, arguments: Mapping[str, Any]) -> None:
        """Check that a question may be asked with these arguments.

        Args:
            question: The question.
            arguments: Its parameters, by name.

        Raises:
            AccessRefused: It writes or runs SQL, and this session may not.
        """
        if not self.allow(question):
            needed = "writes" if question.is_writing and not self.lab else "runs SQL"
            raise AccessRefused(f"This question {needed}, and the server was started without that.")
        in_sql = any(arguments.get(one.name) for one in question.parameters if one.kind == SQL)
        if (in_sql or arguments.get("sql")) and not self.sql:
            raise AccessRefused("SQL is not run here: the server was started without --allow-sql.")
        if arguments.get(ALLOW_WRITES):
            raise AccessRefused("A page writes to the sandbox alone: use the command line for other tables.")
        if arguments.get("write") and not self.lab:
            raise AccessRefused("Nothing is written here: the server was started without --allow-lab.")
