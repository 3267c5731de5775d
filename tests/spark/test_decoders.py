"""All decoders agree on every manifest of every scenario, in every column."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer import native_module
from explorer.lab.scenarios import SCENARIOS
from explorer.storage import manifests, native_decoder
from explorer.storage.formats import avro
from tests.support.helpers import open_demo


@pytest.mark.parametrize("name", [s.name for s in SCENARIOS])
def test_decoders_agree(name: str, sandbox: Path) -> None:
    table = open_demo(name)
    paths = {m.manifest_path for s in table.metadata.snapshots[:40] for m in table.tree.manifests(s)}
    assert paths
    for path in paths:
        data = table.reader.storage.read(path)
        container = avro.open_container(data, path)
        bulk, careful = manifests.entries_polars(container), manifests.entries_fastavro(container)
        assert bulk.schema == careful.schema
        for column in bulk.column_names:
            assert bulk[column].to_pylist() == careful[column].to_pylist(), column
        if native_module.version() is not None:  # what Spark writes is decoded natively, all of it
            assert native_decoder.decode({path: data}, True, 1 << 30).tables[path].equals(bulk)
