"""Files of a table, changed on purpose."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fastavro

Records = list[dict[str, Any]]


def edit_json(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change a metadata file in place; what `change` returns, if anything, is written instead."""
    data = path.read_bytes()
    packed = data.startswith(b"\x1f\x8b")
    value = json.loads(gzip.decompress(data) if packed else data)
    value = change(value) or value
    text = json.dumps(value).encode()
    path.write_bytes(gzip.compress(text) if packed else text)


def edit_avro(
    path: Path, change: Callable[[Records], Any], header: Callable[[dict[str, str]], Any] = lambda _: None
) -> None:
    """Change the records and the header of a manifest or manifest list in place."""
    reader: Any = fastavro.reader(io.BytesIO(path.read_bytes()))
    schema, records = reader.writer_schema, list(reader)
    records = change(records) or records
    kept = {k: v for k, v in reader.metadata.items() if not k.startswith("avro.")}
    header(kept)
    out = io.BytesIO()
    fastavro.writer(out, schema, records, codec=reader.metadata.get("avro.codec", "null"), metadata=kept)
    path.write_bytes(out.getvalue())
