"""Texts and names that are longer than any that a person reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.spec.secrets import redaction
from explorer.spec.secrets.redaction import HIDDEN, redact
from explorer.spec.text import names
from explorer.spec.text.names import similar_names
from tests.cases.mini import Table
from tests.support import direct


def test_of_a_long_text_the_beginning_is_looked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = 0
    original = redaction.without_tokens

    def counted(text: str, instead: str) -> str:
        nonlocal looked_at
        looked_at += len(text)
        return original(text, instead)

    monkeypatch.setattr(redaction, "without_tokens", counted)
    told = redact("password=hush " + "a-b.c=d " * 10_000_000)
    assert looked_at <= redaction.LONGEST
    assert told.startswith(f"password={HIDDEN} a-b.c=d")
    assert told.endswith("more characters)")
    assert len(told) < redaction.LONGEST


def test_no_half_of_a_credential_is_left_at_the_cut() -> None:
    secret = "AKIA" + "Z" * 16
    told = redact("x" * (redaction.LONGEST - 10) + f" {secret} " + "y" * 100)
    assert "AKIA" not in told


def test_only_short_names_are_compared() -> None:
    assert similar_names("fruits", ["fruit", "id"]) == ["fruit"]
    assert similar_names("x" * (names.COMPARED + 1), ["x" * (names.COMPARED + 1)]) == []
    assert similar_names("fruits", ["f" * 1_000_000, "fruit"]) == ["fruit"]
    assert similar_names("fruits", (f"n{n}" for n in range(10**9))) == []  # which ends


@pytest.mark.parametrize("transform", ["truncate[0]", "truncate[-1]", f"truncate[{10**20}]", f"truncate[{'9' * 5000}]"])
def test_transforms_of_no_width_are_told(transform: str, tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long")])
    table.append(table.parquet("a.parquet", {"id": [1]}))
    table.md["partition-specs"] = [
        {"spec-id": 0, "fields": [{"name": "p", "source-id": 1, "field-id": 1000, "transform": transform}]}
    ]
    table.save()
    opened = direct.open_table(tmp_path / "t")
    assert opened.plan("id = 5").left.files is not None
    assert any("the transform of" in f.what for f in direct.doctor(opened).findings)
