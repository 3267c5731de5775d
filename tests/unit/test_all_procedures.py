"""All maintenance of a table: what would be destroyed is told before the statement that does it."""

from __future__ import annotations

from pathlib import Path

import explorer
from explorer.render.blocks import Notice, Statement
from explorer.render.writing_blocks import procedure_blocks
from tests.cases import build_case


def test_the_warning_of_an_expiry_is_told_before_its_statement(tmp_path: Path) -> None:
    answer = explorer.open_table(str(build_case("45", tmp_path))).maintain.all()
    plan, text = answer.value, answer.to_text()
    [expire] = [line for line in plan.lines if line.statement]
    assert expire.does.startswith("expires 3 snapshots, removes 9 files")
    assert plan.words[1] == "Read the warnings below, before you run expire."
    assert 0 < text.index("3 data or delete files of them would be lost") < text.index(expire.statement)
    blocks = procedure_blocks(plan.words, plan.lines)
    [warning] = [i for i, block in enumerate(blocks) if isinstance(block, Notice) and block.level == "warning"]
    assert isinstance(blocks[warning + 1], Statement)
