"""Decode a manifest on which polars panics again and again; what Rust says of it comes on stderr.

python -m tests.security.panicking FOLDER"""

from __future__ import annotations

import contextlib
import copy
import sys
from dataclasses import replace
from pathlib import Path

from explorer.errors import UnreadableFile
from explorer.storage.decoder_process import panics
from explorer.storage.formats.avro import Container, open_container
from explorer.storage.manifests import entries, entries_of_many
from tests.support.small_tables import make_table

TIMES = 40


def panicking(folder: Path) -> Container:
    """A manifest of which two columns have one name."""
    container = open_container(min(make_table(folder).rglob("*-m*.avro")).read_bytes(), "damaged")
    schema = copy.deepcopy(container.schema)
    inside = next(field for field in schema["fields"] if field["name"] == "data_file")["type"]["fields"]
    next(field for field in inside if field["name"] == "record_count")["field-id"] = 1
    return replace(container, schema=schema)


if __name__ == "__main__":
    damaged = panicking(Path(sys.argv[1]))
    for _ in range(TIMES):
        with contextlib.suppress(UnreadableFile):
            entries(damaged)
        entries_of_many([damaged, damaged])
    assert panics.are_many()
