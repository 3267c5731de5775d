"""Which rows are equal, and the hashes by which they are dealt out (spec.values.equality, spec.values.hashes)."""

from __future__ import annotations

import datetime
import random
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from explorer.spec.values.equality import comparable, find_rows, join_rows, number_rows
from explorer.spec.values.hashes import AT_ONCE, LONG, hashes, row_hashes

OTHER_NAN = np.array([0x7FF8000000000001], np.int64).view(np.float64)[0]
COLUMNS: list[tuple[Any, Any, pa.DataType | None]] = [
    (1, 2, pa.int32()),
    (True, False, None),
    ("a", "", None),
    ("a", "b", pa.dictionary(pa.int32(), pa.string())),
    (b"a", b"", None),
    (b"ab", b"ac", pa.binary(2)),
    (Decimal("1.50"), Decimal("1.51"), None),
    (datetime.date(2020, 1, 1), datetime.date(2020, 1, 2), None),
    (datetime.time(1), datetime.time(2), None),
    (datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 2), pa.timestamp("us", "UTC")),
    ({"a": 1.0}, {"a": None}, None),
    ([0.0], [], pa.list_(pa.float64())),
    (1.5, float("nan"), pa.float32()),
]


def column(*values: Any, of: pa.DataType | None = None) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(values[:2], of), pa.array(values[2:], of)] if of else [pa.array(values)])


def numbers(*tables: list[pa.ChunkedArray], **options: bool) -> list[list[int]]:
    return [n.tolist() for n in number_rows(*([comparable(c, **options) for c in table] for table in tables))]


@pytest.mark.parametrize(("one", "other", "kind"), COLUMNS)
def test_rows_of_every_type_are_equal_where_their_values_are(one: Any, other: Any, kind: pa.DataType | None) -> None:
    rows = column(one, None, other, one, None, of=kind) if kind else column(one, None, other, one, None)
    assert numbers([rows], [rows.slice(2)]) == [[0, 1, 2, 0, 1], [2, 0, 1]]
    assert numbers([rows, rows], [rows.slice(2), rows.slice(2)]) == [[0, 1, 2, 0, 1], [2, 0, 1]]
    hashed = row_hashes([comparable(rows)])
    assert (hashed[0], hashed[1]) == (hashed[3], hashed[4])
    assert len(set(hashed.tolist())) == 3
    assert row_hashes([comparable(rows.slice(2))]).tolist() == hashed[2:].tolist()
    assert row_hashes([comparable(rows), comparable(rows.slice(0))]).tolist() != hashed.tolist()


def test_zeros_and_nans() -> None:
    rows = column(0.0, -0.0, float("nan"), OTHER_NAN, None)
    assert numbers([rows]) == [[0, 0, 1, 1, 2]]
    assert numbers([rows], signed_zero=True) == [[0, 1, 2, 2, 3]]
    assert len(set(row_hashes([comparable(rows)]).tolist())) == 3


def test_rows_of_several_columns_and_of_none() -> None:
    first, second = column("a", "b", "a", None), column(1, 1, 2, None)
    assert numbers([first, second]) == [[0, 1, 2, 3]]
    assert numbers([first, second], [second.slice(4).cast(pa.string()), second.slice(4)]) == [[0, 1, 2, 3], []]
    assert numbers([column(None, None)], [column(1, None)]) == [[0, 0], [1, 0]]
    assert numbers([column(None, None), column("a", "b")]) == [[0, 1]]
    assert numbers([pa.chunked_array([], pa.string())]) == [[]]
    assert len(set(row_hashes([column(None, None), column("a", "b").cast(pa.large_string())]).tolist())) == 2


@pytest.mark.parametrize(("one", "other", "kind"), COLUMNS)
def test_rows_are_found_among_others(one: Any, other: Any, kind: pa.DataType | None) -> None:
    rows = column(one, None, other, one, None, of=kind) if kind else column(one, None, other, one, None)
    rows, wanted, nothing = (comparable(some) for some in (rows, rows.slice(1, 2), rows.slice(5)))
    assert find_rows([rows], [wanted]).tolist() == [1, 2, 4]
    assert find_rows([rows, rows], [wanted, wanted]).tolist() == [1, 2, 4]
    assert find_rows([rows, rows], [wanted, wanted.take(pa.array([1, 0]))]).tolist() == []
    assert find_rows([rows, rows], [nothing, nothing]).tolist() == find_rows([nothing], [wanted]).tolist() == []


def test_rows_are_joined_in_the_order_of_the_first() -> None:
    first, second = join_rows(np.array([0, 1, 2, 1]), np.array([1, 1, 3, 2]))
    assert list(zip(first.tolist(), second.tolist(), strict=True)) == [(1, 0), (1, 1), (2, 3), (3, 0), (3, 1)]
    assert [len(places) for places in join_rows(np.zeros(0, np.int64), np.arange(2))] == [0, 0]


def test_hashes_are_the_same_everywhere() -> None:
    texts = column("", "a", "00000-1-data.parquet", "ü" * 9, "x" * LONG, "x" * (LONG + 1))
    assert [f"{h:016x}" for h in hashes(texts).view(np.uint64).tolist()] == [
        "873e6848283318eb", "48620fa1252e1bf2", "abbc5621a2a46d40",
        "2f0237502ac39f9d", "78254efaedede47e", "2131db56ef032de4",
    ]  # fmt: skip
    assert hashes(column(None, "", None)).tolist() == [0, hashes(texts)[0], 0]
    assert hashes(column(None, None)).tolist() == [0, 0]
    assert not len(hashes(pa.chunked_array([], pa.string())))


def test_hashes_tell_texts_of_all_lengths_apart() -> None:
    chosen = random.Random(7)
    lengths = [*range(40), 100, LONG, LONG + 1]
    texts = ["".join(chosen.choices("abé\0", k=chosen.choice(lengths))) for _ in range(2 * AT_ONCE)]
    hashed = hashes(pa.chunked_array([pa.array(texts)]))
    of_text = dict(zip(texts, hashed.tolist(), strict=True))
    assert [of_text[text] for text in texts] == hashed.tolist()
    assert len(set(of_text.values())) == len(of_text)
    shuffled = np.random.default_rng(7).permutation(len(texts))
    again = hashes(pa.chunked_array([pa.array(texts, pa.large_string()).take(pa.array(shuffled)).slice(5)]))
    assert again.tolist() == hashed[shuffled][5:].tolist()
    high, low = np.histogram(hashed >> 60, 16)[0], np.histogram(hashed & 15, 16)[0]
    assert min(high.min(), low.min()) > len(texts) // 32
