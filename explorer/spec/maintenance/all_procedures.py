"""All maintenance of a table at once: its procedures, and the order in which they are run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from explorer.spec.maintenance.engine_statements import OTHER_ENGINES
from explorer.spec.maintenance.statement_engines import StatementEngine
from explorer.spec.text.units import count

ORDER: Mapping[str, str] = {
    "compact": "First: it rewrites data files, and applies their deletes.",
    "dangling-deletes": "After a compaction, which leaves deletes that apply to nothing.",
    "rewrite-position-deletes": "After a compaction, which makes some deletes unnecessary.",
    "rewrite-manifests": "After all that rewrites files: each commit adds manifests.",
    "expire": "After all that rewrites: the files that were replaced stay until their snapshots expire.",
    "remove-orphans": "Last: it removes what failed commits and other expiries left.",
}
"""The procedures in the order in which they are run, and why each is there."""
FREES = ("expire", "remove-orphans")
"""The procedures that remove files. The others write files anew, and free nothing until an expiry."""
IDLE, NO_STATEMENT = "nothing to do", "has no statement"
"""What a line says of a procedure that would change nothing, and of one that the engine has no statement for."""


@dataclass(frozen=True)
class ProcedureLine:
    """What one procedure would do.

    Attributes:
        operation: Its name, as `maintain preview` takes it.
        does: What it would do, in words.
        files: Files and manifests that it rewrites or removes.
        bytes: Their bytes, as far as metadata has them.
        statement: The statement; empty if there is nothing to do, or it must not be run.
        refusal: Why it must not be run, if so.
        reason: Why it is run in this place.
        warning: What it would destroy that may still be wanted; empty if nothing is known.
        why: Why there is nothing to do, or no statement, if so.
        note: How the engine that runs it differs from Spark, if it does.
    """

    operation: str
    does: str
    files: int
    bytes: int
    statement: str
    refusal: str
    reason: str
    warning: str = ""
    why: str = ""
    note: str = ""


@dataclass(frozen=True)
class MaintenancePlan:
    """All procedures, in the order in which they are run.

    Attributes:
        lines: The procedures.
        engine: The engine whose statements they have.
        known: How the statements of another engine than Spark are known, in a sentence; else empty.
        beside: What no procedure does, in a sentence; empty where nothing is left.
    """

    lines: tuple[ProcedureLine, ...]
    engine: StatementEngine = "spark"
    known: str = ""
    beside: str = ""

    @property
    def words(self) -> tuple[str, ...]:
        """How to carry it out."""
        to_run = [line for line in self.lines if line.statement]
        refused = [line.operation for line in self.lines if line.refusal]
        no = [f"Must not be run: {', '.join(refused)}."] if refused else []
        no += [self.beside] if self.beside else []
        if all(line.does == NO_STATEMENT for line in self.lines):
            title, whys = OTHER_ENGINES[self.engine].title, dict.fromkeys(line.why for line in self.lines)
            return (f"{title} has no statement for this table.", *whys)
        if not to_run:
            return ("No procedure has anything to do." if not refused else "There is nothing to run.", *no)
        run = f"Run {count(len(to_run), 'statement')} in this order" if len(to_run) > 1 else "Run one statement"
        words = [f"{run}: {', '.join(line.operation for line in to_run)}."]
        if warned := [line.operation for line in to_run if line.warning]:
            words.append(f"Read the warnings below, before you run {', '.join(warned)}.")
        if len(to_run) > 1:
            words.append("Each line is about the table as it is now. Ask again after each statement.")
        words += [f"The statements are {OTHER_ENGINES[self.engine].title}'s. {self.known}"] if self.known else []
        return (*words, *no)
