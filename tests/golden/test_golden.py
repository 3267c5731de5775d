"""The text tree, DOT, JSON and CLI output of scenarios, word by word (ids, times, sizes and folders replaced)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from explorer.cli import main
from explorer.ui.export import export
from explorer.views.text import render_tree
from tests.helpers import normalized, open_demo


@pytest.mark.parametrize("n", range(1, 6))
def test_figure_8_as_text(n: int, sandbox: Path, snapshot: Any) -> None:
    table = open_demo("manifest_lifecycle")
    assert normalized(render_tree(table.graph(f"snapshot-{n}")), table) == snapshot


@pytest.mark.parametrize(
    "name",
    [
        "deletion_vectors",
        "equality_deletes",
        "hidden_partitioning",
        "branches_and_tags",
        "long_history",
        "sorted_files",
    ],
)
def test_tree(name: str, sandbox: Path, snapshot: Any) -> None:
    table = open_demo(name)
    assert normalized(render_tree(table.graph()), table) == snapshot


@pytest.mark.parametrize("picture", ["dot", "json", "svg"])
def test_picture(picture: str, sandbox: Path, snapshot: Any) -> None:
    table = open_demo("manifest_lifecycle")
    assert normalized(export(table.graph("snapshot-3"), picture).decode(), table) == snapshot


@pytest.mark.parametrize("command", ["snapshots", "refs", "manifests", "entries", "files", "show", "metadata"])
def test_cli_json(command: str, sandbox: Path, snapshot: Any) -> None:
    table = open_demo("manifest_lifecycle")
    result = CliRunner().invoke(main, [command, "demo.manifest_lifecycle", "--output", "json"])
    assert result.exit_code == 0, result.stderr
    data = json.loads(result.stdout)
    shape = data if isinstance(data, dict) else {"rows": len(data), "fields": sorted(data[0])}
    kept = {
        k: v
        for k, v in shape.items()
        if k in ("rows", "fields", "title", "format-version", "current-schema-id", "refs")
    }
    assert normalized(json.dumps(kept, indent=1, sort_keys=True), table) == snapshot
