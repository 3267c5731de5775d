"""The text tree, DOT, JSON and CLI output of scenarios, word by word (ids, times, sizes and folders replaced)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from explorer.app.hosts.file import export
from explorer.cli import main
from explorer.render.text import render_tree
from tests.support.helpers import normalize, open_demo, steady


@pytest.mark.parametrize("n", range(1, 6))
def test_figure_8_as_text(n: int, sandbox: Path, snapshot: Any) -> None:
    table = open_demo("manifest_lifecycle")
    assert normalize(render_tree(table.graph(f"snapshot-{n}")), table) == snapshot


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
    assert normalize(render_tree(table.graph()), table) == snapshot


@pytest.mark.parametrize("picture", ["dot", "json", "svg"])
def test_picture(picture: str, sandbox: Path, snapshot: Any) -> None:
    table = open_demo("manifest_lifecycle")
    assert normalize(export(table.graph("snapshot-3"), picture).decode(), table) == snapshot


@pytest.mark.parametrize(
    "command",
    ["inspect snapshots", "inspect refs", "inspect manifests", "inspect entries", "inspect files", "show",
     "inspect metadata", "inspect partitions", "history lifecycle", "history lineage", "diff T snapshot-2 snapshot-5",
     "inspect deletes", "inspect deletes --show layers", "history metadata T 0 5"],
)  # fmt: skip
def test_cli_json(command: str, sandbox: Path, snapshot: Any) -> None:
    """Every value, but those that no two runs have in common."""
    table = open_demo("manifest_lifecycle")
    words = command.split() if "T" in command.split() else [*command.split(), "T"]
    asked = ["demo.manifest_lifecycle" if word == "T" else word for word in words]
    result = CliRunner().invoke(main, [*asked, "--output", "json"])
    assert result.exit_code == 0, result.stderr
    data = steady(json.loads(result.stdout))
    assert normalize(json.dumps(data, indent=1, sort_keys=True, ensure_ascii=False), table) == snapshot
