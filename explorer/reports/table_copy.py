"""Whether a copy of a table is whole, and stands alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from explorer.progress import steps
from explorer.reports.maintenance.procedure_calls import is_printable, name_argument, procedure_call
from explorer.reports.maintenance.refusals import explain_unreadable
from explorer.spark_engine.sql_guard import quoting
from explorer.spec.entries.lazy_table import Batches
from explorer.spec.snapshots.table_copy import CopiedFiles, CopyCheck, compare_histories
from explorer.spec.text.names import snapshot_name
from explorer.storage.allowed_roots import table_folder
from explorer.storage.paths import normal_path
from explorer.storage.spill import deal_out
from explorer.table import Table

SHOWN = 20
"""Paths of each kind that are named."""
POSITION_DELETES = 1
"""What `content` is of files that name data files, of deletion vectors too."""
AT_ONCE = 25_000
"""Files of one side that are compared at a time."""
_SCHEMA = pa.schema([("path", pa.string()), ("below", pa.string()), ("bytes", pa.int64()), ("rows", pa.int64()),
                     ("content", pa.int32())])  # fmt: skip
_PLACE = r"^file:/+"
KINDS = ("manifest lists", "manifests", "data and delete files")


def check_copy(table: Table, copy: Table, files: bool = False) -> CopyCheck:
    """Compare a copy with its table.

    Args:
        table: The table.
        copy: The copy: another folder, or a table of another catalog.
        files: Also look whether each file that the copy's current snapshot needs is there.

    Returns:
        What was found. The files of the newest snapshot that both have are compared.
    """
    history = compare_histories(table.metadata, copy.metadata)
    copied = _compare(table, copy, history.common) if history.common is not None else None
    elsewhere = _elsewhere(copy)
    own = _folder(copy)
    absent = _absent(copy) if files else None
    stands_alone = not any(outside for outside, _ in elsewhere.values())
    stated = copy.metadata.location
    leads_to = "" if _plain(stated) == own else stated
    name = snapshot_name(history.common, table.metadata.ordinals) if history.common is not None else ""
    notes = [f"The answer may lack something: {one.tree.lacks}." for one in (table, copy) if one.tree.lacks]
    return CopyCheck(
        history, name, copied, elsewhere, leads_to, absent[0] if absent else None, absent[1] if absent else (),
        "" if stands_alone else _statement(table, copy), tuple(notes),
    )  # fmt: skip


def _folder(table: Table) -> str:
    return _plain(table_folder(table.metadata.metadata_location))


def _plain(place: str) -> str:
    """A place without the ways in which one local folder is written."""
    return normal_path(place).rstrip("/")


def _statement(table: Table, copy: Table) -> str:
    """What writes a copy of the table's metadata for the copy's folder; nothing of a table without a catalog, or where
    it cannot be pasted."""
    if table.reader.location.catalog is None or explain_unreadable(table.metadata):
        return ""
    places = {
        "source_prefix": table.metadata.location.rstrip("/"),
        "target_prefix": table_folder(copy.metadata.metadata_location),
    }
    texts = (f"{key} => {quoting.literal(place)}" for key, place in places.items())
    statement = procedure_call(table, "rewrite_table_path", f"table => {name_argument(table)}", *texts)
    return statement if is_printable(table, statement) else ""


# -- the files of a snapshot -------------------------------------------------------------------------------------------
def _live(table: Table, snapshot_id: int) -> Batches:
    """The live files of a snapshot: path, path below the table's folder, bytes, rows."""
    places = dict.fromkeys((_plain(table.metadata.location), _folder(table)))
    listed = table.files(snapshot_id)

    def read() -> Iterator[pa.Table]:
        for part in listed.iter_tables():
            path = part["file_path"]
            plain = pc.replace_substring_regex(path, _PLACE, "/")
            below = plain
            for place in places:
                inside = pc.starts_with(plain, f"{place}/")
                below = pc.if_else(inside, pc.utf8_slice_codeunits(plain, len(place) + 1), below)
            if "content_offset" in part.column_names:  # vectors in one file are several
                offset = pc.fill_null(part["content_offset"].cast(pa.string()), "")
                at = pc.if_else(pc.equal(offset, ""), "", pc.binary_join_element_wise(pa.scalar("@"), offset, ""))
                below = pc.binary_join_element_wise(below, at, "")
            columns = [path, below, part["file_size_in_bytes"], part["record_count"], part["content"]]
            yield pa.Table.from_arrays(
                [column.cast(f.type) for column, f in zip(columns, _SCHEMA, strict=True)], schema=_SCHEMA
            )

    return Batches(_SCHEMA, read)


def _compare(table: Table, copy: Table, snapshot_id: int) -> CopiedFiles:
    ours, theirs = _live(table, snapshot_id), _live(copy, snapshot_id)
    snapshot = table.metadata.snapshot(snapshot_id)
    listed = sum((m.added_files_count or 0) + (m.existing_files_count or 0) for m in table.tree.manifests(snapshot))
    deals = max(1, -(-listed // AT_ONCE))
    numbers = Counter[str]()
    examples: dict[str, list[str]] = {"missing": [], "extra": [], "different": []}
    if deals == 1:
        pairs: Iterable[tuple[pa.Table, pa.Table]] = [(_whole(ours), _whole(theirs))]
    else:
        pairs = zip(deal_out(ours, "below", deals), deal_out(theirs, "below", deals), strict=True)
    for one, other in steps(pairs, "parts", deals):
        numbers["files"] += one.num_rows
        numbers["bytes"] += pc.sum(one["bytes"]).as_py() or 0
        other = other.rename_columns(["path_copy", "below", "bytes_copy", "rows_copy", "content_copy"])
        both = one.join(other, "below", join_type="full outer", use_threads=False)
        names_paths = pc.equal(pc.fill_null(both["content"], 0), POSITION_DELETES)  # of other lengths in another place
        other_bytes = pc.and_not(pc.not_equal(both["bytes"], both["bytes_copy"]), names_paths)
        differs = pc.or_(other_bytes, pc.not_equal(both["rows"], both["rows_copy"]))
        masks = {"missing": pc.is_null(both["path_copy"]), "extra": pc.is_null(both["path"]),
                 "different": pc.fill_null(differs, False)}  # fmt: skip
        for name, mask in masks.items():
            chosen = both.filter(mask)
            numbers[name] += chosen.num_rows
            room = SHOWN - len(examples[name])
            examples[name] += chosen["below"].slice(0, max(0, room)).to_pylist()
    return CopiedFiles(
        numbers["files"], numbers["bytes"], numbers["missing"], numbers["extra"], numbers["different"], examples
    )


def _whole(rows: Batches) -> pa.Table:
    return pa.concat_tables([_SCHEMA.empty_table(), *rows.read()]).combine_chunks()


# -- the copy itself ---------------------------------------------------------------------------------------------------
def _elsewhere(copy: Table) -> dict[str, tuple[int, int]]:
    """How many paths of the copy's snapshots lie outside the copy's folder, by kind."""
    own = f"{_folder(copy)}/"
    lists = [s.manifest_list for s in copy.metadata.snapshots if s.manifest_list]
    snapshot = copy.metadata.current_snapshot
    manifests = [m.manifest_path for m in copy.tree.manifests(snapshot)]
    outside, total = 0, 0
    for part in copy.files().iter_tables() if snapshot else ():
        plain = pc.replace_substring_regex(part["file_path"], _PLACE, "/")
        outside += pc.sum(pc.invert(pc.starts_with(plain, own))).as_py() or 0
        total += part.num_rows
    of = [[path for path in paths if not f"{_plain(path)}".startswith(own)] for paths in (lists, manifests)]
    numbers = [(len(of[0]), len(lists)), (len(of[1]), len(manifests)), (outside, total)]
    return dict(zip(KINDS, numbers, strict=True))


def _absent(copy: Table) -> tuple[int, tuple[str, ...]]:
    """How many files of the copy's current snapshot are not there, or have another length; the first of them."""
    number = 0
    first: list[str] = []
    for part in copy.files().iter_tables() if copy.metadata.current_snapshot else ():
        paths, recorded = part["file_path"].to_pylist(), part["file_size_in_bytes"].to_pylist()
        sizes = copy.reader.storage.sizes(paths)
        wrong = [path for path, size, own in zip(paths, sizes, recorded, strict=True) if size is None or size != own]
        number += len(wrong)
        first += wrong[: SHOWN - len(first)]
    return number, tuple(first)
