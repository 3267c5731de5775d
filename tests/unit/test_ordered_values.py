"""Values that take the place of others: their order, their lengths, and what transforms make of them."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyiceberg.transforms import DayTransform, HourTransform, MonthTransform, TruncateTransform, YearTransform
from pyiceberg.types import IntegerType, StringType, TimestampType

from explorer.spec.bundle.ordered_values import family_of, pack, unpack
from explorer.storage.replaced_values import ReplacedValues

VALUES: dict[str, st.SearchStrategy[Any]] = {
    "string": st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    "binary": st.binary(max_size=4),
    "int": st.integers(-(2**31), 2**31 - 1),
    "decimal(38, 2)": st.integers(-(10**38) + 1, 10**38 - 1),
    "double": st.floats(allow_nan=False),
    "date": st.integers(-1_000_000, 3_000_000),
    "timestamp": st.integers(-(2**62), 2**62),
    "time": st.integers(0, 86_399_999_999),
}


def replaced(folder: Path, wanted: list[tuple[Any, str, str]], widths: Sequence[int] = (1,)) -> list[Any]:
    """What takes the place of values of one column: of each the value, the type, and the transform that made it."""
    import tempfile

    with tempfile.TemporaryDirectory(dir=folder) as own:
        values = ReplacedValues(Path(own))

        def new(value: Any, kind: str, transform: str) -> Any:
            packed, family = pack(value, kind, transform), family_of(kind)
            assert family is not None
            return value if packed is None else unpack(values.replace("c", family, packed, widths), kind, transform)

        for item in wanted:
            new(*item)
        values.decide()
        result = [new(*item) for item in wanted]
        values.close()
    return result


def key(value: Any) -> Any:
    return value.encode() if isinstance(value, str) else value


@pytest.mark.parametrize("kind", VALUES)
def test_new_values_have_the_order_of_the_old_ones(kind: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("values")

    @given(st.lists(VALUES[kind], max_size=30))
    def check(olds: list[Any]) -> None:
        news = replaced(folder, [(old, kind, "identity") for old in olds])
        for a, b in zip(olds, news, strict=True):
            if kind in ("string", "binary"):
                assert len(a) == len(b)
            for c, d in zip(olds, news, strict=True):
                assert (key(a) < key(c)) == (key(b) < key(d)), (a, c, b, d)
                if kind in ("string", "binary"):
                    assert a.startswith(c) == b.startswith(d)

    check()


def test_truncated_values_stay_the_beginnings_of_values(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("values")

    @given(st.lists(VALUES["string"], max_size=20), st.integers(1, 4))
    def texts(olds: list[str], width: int) -> None:
        cut = TruncateTransform[str](width).transform(StringType())
        news = replaced(folder, [(v, "string", "identity") for old in olds for v in (old, cut(old))])
        assert [cut(new) for new in news[::2]] == news[1::2]

    @given(st.lists(VALUES["int"] | st.integers(-3000, 3000), max_size=20), st.integers(1, 1000), st.integers(1, 9))
    def numbers(olds: list[int], width: int, times: int) -> None:
        cuts = [TruncateTransform[int](one).transform(IntegerType()) for one in (width * times, width)]
        olds = [each for old in olds for each in (old, *(cut(old) for cut in cuts))]
        news = replaced(folder, [(old, "int", "identity") for old in olds], (width * times, width, 1))
        for at, cut in enumerate(cuts, 1):
            assert [cut(new) for new in news[::3]] == news[at::3]
        assert all(abs(new) <= abs(old) for old, new in zip(olds, news, strict=True))
        assert all((a < b) == (c < d) for a, c in zip(olds, news, strict=True) for b, d in zip(olds, news, strict=True))

    texts()
    numbers()


def test_years_months_days_and_hours_hold_between_new_values(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("values")
    transforms = {
        "year": YearTransform[int](), "month": MonthTransform[int](), "day": DayTransform[int](),
        "hour": HourTransform[int](),
    }  # fmt: skip
    moments = st.datetimes(datetime.datetime(1600, 1, 1), datetime.datetime(2400, 1, 1))
    epoch = datetime.datetime(1970, 1, 1)

    @given(st.lists(moments, max_size=12))
    def check(moments: list[datetime.datetime]) -> None:
        olds = [(moment - epoch) // datetime.timedelta(microseconds=1) for moment in moments]
        made = {name: one.transform(TimestampType()) for name, one in transforms.items()}
        wanted = [(old, "timestamp", "identity") for old in olds]
        wanted += [(make(old), "timestamp", name) for name, make in made.items() for old in olds]
        news = replaced(folder, wanted)
        values, rest = news[: len(olds)], news[len(olds) :]
        assert rest == [make(value) for make in made.values() for value in values]

    check()


def test_zero_stays_and_a_date_and_a_time_of_one_column_agree(tmp_path: Path) -> None:
    assert replaced(tmp_path, [(n, "long", "identity") for n in (-700, -5, 0, 1_000_000)]) == [-2, -1, 0, 1]
    day, noon = replaced(
        tmp_path, [(19_000, "date", "identity"), (19_000 * 86_400_000_000 + 5, "timestamp", "identity")]
    )
    assert noon // 86_400_000_000 == day
