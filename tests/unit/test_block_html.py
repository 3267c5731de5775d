"""Blocks of an answer in a notebook: HTML without scripts, in which what a stranger wrote stays text."""

from __future__ import annotations

from pathlib import Path

import explorer
from explorer.queries.collection import SHOWN, Collection
from explorer.questions.answers import Answer
from explorer.questions.block_html import blocks_html
from explorer.render.blocks import (
    Block,
    Fact,
    FactTable,
    FoldedBlocks,
    JsonTree,
    Notice,
    Rows,
    Statement,
    Text,
)

EVIL = "<script>alert(1)</script>\x1b]0;owned\x07"


def test_each_kind_of_block_is_drawn() -> None:
    blocks: list[Block] = [
        Notice("10 groups"),
        Statement("CALL\n  x()"),
        Text(("a  b", "c")),
        Text(("all of it",), folded=True),
        FactTable((Fact("files", "3", "at most 5"),)),
        FoldedBlocks("Groups", (Rows([{"group": 1}], "Of day"),), True, "two"),
    ]
    html = blocks_html(blocks) or ""
    for part in (
        "<p>10 groups</p>", "CALL\n  x()</pre>", "a  b\nc</pre>", "<details><summary>as text</summary>",
        "3 (at most 5)</td>", "<details open><summary>Groups (two)</summary>", "<b>Of day</b>", ">group</th>",
    ):  # fmt: skip
        assert part in html
    assert "font-family:monospace" in html


def test_what_a_stranger_wrote_stays_text() -> None:
    blocks: list[Block] = [
        Notice(EVIL), Statement(EVIL), Text((EVIL,)), FactTable((Fact(EVIL, EVIL, EVIL),)),
        FoldedBlocks(EVIL, (Rows([{EVIL: EVIL}], EVIL),), note=EVIL),
    ]  # fmt: skip
    html = blocks_html(blocks) or ""
    assert "&lt;script&gt;" in html
    assert "<script" not in html
    assert "\x1b" not in html


def test_the_first_of_many_rows_are_shown() -> None:
    many = [{"n": n} for n in range(SHOWN + 5)]
    for rows in (many, Collection.of_rows(many, "numbers")):
        html = blocks_html([Rows(rows)]) or ""
        assert html.count("<tr>") == SHOWN + 1
        assert html.count("… 5 more rows") == 1


def test_an_answer_with_another_block_is_its_text() -> None:
    assert blocks_html([Notice("a"), JsonTree({}, "metadata")]) is None
    assert blocks_html([FoldedBlocks("a", (JsonTree({}, "metadata"),))]) is None
    answer = Answer({}, dict, lambda: ["its  text"], parts=lambda: [JsonTree({}, "metadata")])
    assert "its  text</pre>" in answer._repr_html_()


def test_a_preview_is_sentences_and_tables(whole: Path) -> None:
    html = explorer.open_table(str(whole)).maintain.preview("compact")._repr_html_()
    assert html.startswith('<div class="tex2jax_ignore mathjax_ignore"><p>3 data files')
    assert "<b>Groups</b>" in html
    assert ">expected_files</th>" in html
