"""Questions about the bytes of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from explorer.questions.answers import Answer
from explorer.questions.parameters import EngineName, Kind
from explorer.questions.registry import question

if TYPE_CHECKING:
    from explorer.spec.layout.storage_ledger import StorageLedger
    from explorer.table import Table

Price: TypeAlias = Annotated["float | None", Kind("decimal", "NUMBER", least=0)]


@question("storage", rows=True, picture=True)
def storage(
    table: Table, *, by: Literal["", "partition", "month"] = "", price: Price = None, engine: EngineName = "auto"
) -> Answer[StorageLedger]:
    """Add up all bytes of a table: what its snapshots need, what nothing needs, and what frees which of them.

    Each file counts once: for the current snapshot if that needs it, else for the newest older snapshot that does.
    So the lines add up to all that lies in the table's folder, and what metadata names elsewhere. Files that nothing
    refers to are told apart from those that may be of a commit under way.

    Args:
        by: Also add up by partition, or by the month in which files were written.
        price: What a GiB costs in a month, to add costs.

    Returns:
        The ledger. A row for each group and kind of files: group, title, kind, files, bytes, share.

    Raises:
        EngineError: The engine is spark, and Spark or Java is not available.

    Example:
        >>> table = explorer.open_table("demo.three_inserts")
        >>> ledger = table.storage().value
        >>> ledger.of("current").files, ledger.of("unused").files
        (7, 0)
    """
    from explorer.queries.collection import Collection
    from explorer.render.storage_ledger import ledger_blocks, ledger_json, ledger_rows, ledger_svg, render_ledger
    from explorer.reports.storage_ledger import storage_ledger

    ledger = storage_ledger(table, by, price, engine)
    return Answer(
        ledger,
        lambda: ledger_json(ledger),
        lambda: render_ledger(ledger),
        lambda: Collection.of_rows(ledger_rows(ledger), "storage"),
        picture=lambda: ledger_svg(ledger),
        parts=lambda: ledger_blocks(ledger),
    )
