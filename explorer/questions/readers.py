"""Questions about who can read a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeAlias

from explorer.questions.answers import Answer
from explorer.questions.parameters import EngineName, Kind
from explorer.questions.registry import question

if TYPE_CHECKING:
    from explorer.spec.readers.reader_support import TableReaders
    from explorer.table import Table

FormatVersion: TypeAlias = Annotated["int | None", Kind("number", "VERSION", least=2)]


@question("readers", rows=True)
def readers(table: Table, *, upgrade: FormatVersion = None, engine: EngineName = "auto") -> Answer[TableReaders]:
    """Say who can read a table: its features, against engines and their versions.

    It finds the features in metadata: format version, kinds of deletes, types, defaults, promotions, transforms, file
    formats and more. What is known of readers is dated: we tried them, or a document says it. Else it is unknown.

    Args:
        upgrade: A higher format version: also say what an upgrade would change, and which readers it would lock out.

    Returns:
        The answer. A row for each reader and feature: reader, version, feature, reads, words, source and date.

    Raises:
        WrongUsage: The table has that format version already, or there is none such.
        EngineError: The engine is spark, and Spark or Java is not available.

    Example:
        >>> table = explorer.open_table("demo.equality_deletes")
        >>> answer = table.readers().value
        >>> [verdict.reader.name for verdict in answer.verdicts if verdict.answer == "no"][0]
        'pyiceberg'
    """
    from explorer.queries.collection import Collection
    from explorer.render.readers import cell_rows, readers_blocks, readers_json, render_readers
    from explorer.reports.readers import find_readers

    found = find_readers(table, upgrade, engine)
    return Answer(
        found,
        lambda: readers_json(found),
        lambda: render_readers(found),
        lambda: Collection.of_rows(cell_rows(found.verdicts), "readers"),
        parts=lambda: readers_blocks(found),
    )
