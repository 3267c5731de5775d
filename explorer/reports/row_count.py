"""Rows of a snapshot as readers see them, counted without Spark: by manifests and vectors' cardinalities, and by the
contents of deletes where these do not tell."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from explorer.errors import UnreadableFile
from explorer.progress import steps
from explorer.spec.deletes.needless_deletes import only_adds
from explorer.spec.entries.entries import live
from explorer.spec.rows.live_rows import HiddenRows, LiveRows
from explorer.spec.text.units import whole
from explorer.storage.rows import vector_place
from explorer.table import Table

ASKED = 1_000
"""Files of deletion vectors, which are not opened, that are looked for."""


def live_rows(table: Table, snapshot: str | int | None = None) -> LiveRows:
    """How many rows readers of a snapshot see, and which rows each of its deletes hides (see spec.rows.live_rows).
    Files are opened only for data files that position or equality deletes apply to. Raises NotFoundInTable,
    UnreadableFile: also where a manifest list or manifest cannot be read, since nobody knows how many rows it leads
    to."""
    table = table.complete
    at = table.resolve(snapshot).snapshot if snapshot is not None or table.metadata.current_snapshot else None
    if at is None:
        return LiveRows(None, None, 0, 0, 0, ())
    data = [m for m in table.tree.manifests(at) if m.content == 0]
    rows = sum(pc.sum(live(t)["record_count"]).as_py() or 0 for _, t in table.tree.logical(data, at))
    reader = table.row_reader
    deletes = reader.deletes(at)
    hidden, opened, unopened = 0, set[str](), dict[str, None]()
    removed: dict[tuple[str, int | None], list[int]] = defaultdict(lambda: [0, 0])
    for file in steps(deletes.hit, "data files with deletes"):
        applying = [v.delete for v in deletes.files.of(file) if v.applies]
        hidden_here = sum(delete.record_count for delete in applying)
        if all(delete.kind == "deletion_vector" for delete in applying) and 0 <= hidden_here <= file.record_count:
            for delete in applying:
                vector_place(delete)
            hidden_by = [(delete, delete.record_count) for delete in applying]
            hidden += hidden_here
            unopened |= {delete.path: None for delete in applying}
        else:
            hits = [h for h in reader.hits(reader.verdicts(deletes.files, file)) if len(h.positions)]
            places = [pc.filter(h.positions, pc.less(h.positions, file.record_count)) for h in hits]
            hidden_by = [(h.verdict.delete, len(p)) for h, p in zip(hits, places, strict=True)]
            hidden += len(np.unique(pa.chunked_array(places, pa.int64()).to_numpy())) if places else 0
            opened |= {delete.path for delete in applying}
            opened |= {file.path} if any(delete.kind == "equality_deletes" for delete in applying) else set()
        for delete, count in hidden_by:
            removed[delete.key][0] += count
            removed[delete.key][1] += 1
    vector_files = list(unopened)[:ASKED]
    sizes = table.tree.sizes(vector_files)
    if gone := [path for path in vector_files if path not in sizes]:
        raise UnreadableFile(gone[0], "the file of this deletion vector cannot be found; this answer depends on it")
    each = [
        HiddenRows(d.path, d.content_offset, d.kind, d.record_count, *removed.get(d.key, (0, 0)))
        for d in deletes.files.deletes
    ]
    equality = [one for one in each if one.kind == "equality_deletes"]
    is_needless = not hidden and only_adds(table.metadata, at, int(rows))
    return LiveRows(
        at.snapshot_id,
        whole(at.summary.get("total-records")),
        int(rows),
        hidden,
        len(opened),
        tuple(each),
        deletes.refused,
        whole(at.summary.get("total-position-deletes")),
        len(equality) if is_needless else 0,
    )
