"""Whether files, manifests or row groups may hold rows that match a filter, and the term and the numbers that say so.

The rules are Iceberg's (org.apache.iceberg.expressions.InclusiveMetricsEvaluator, StrictMetricsEvaluator,
ManifestEvaluator), for many places at once: each comparison gives every place a `Why`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from explorer.spec.filters.expressions import And, BoundTerm, Constant, Expression, Or, Predicate
from explorer.spec.scan.ranges import Bounds, Mask, Ranges, Values
from explorer.spec.values.ordering import plain

Codes = npt.NDArray[np.int8]
MANY = 200
"""Values of an IN above which Iceberg does not look (IN_PREDICATE_LIMIT)."""


class Why(IntEnum):
    """What decided; below zero: nothing there can match."""

    REACHED = 0
    UNKNOWN = 1
    TOO_MANY = 2
    HAS_SOME = 3
    NOT_TOLD = 4
    ABOVE = -1
    BELOW = -2
    ONLY_NULLS = -3
    ONLY_NANS = -4
    NO_NULLS = -5
    NO_NANS = -6
    ONLY_THAT = -7
    BETWEEN = -8
    NO_VALUES = -9


@dataclass(frozen=True)
class ScanReason:
    """Why one place is kept or skipped: the deciding comparison, and what it met there. Where several decide, `text`
    names each."""

    term: str
    text: str
    keeps: bool

    def __str__(self) -> str:
        return f"{self.term}: {self.text}" if self.term else self.text


@dataclass(frozen=True)
class Verdicts:
    """A filter's answer for many places. `may` is false where no row can match, `must` true where all rows do."""

    expression: Expression
    codes: Mapping[int, Codes]
    """Of each comparison, by its identity."""
    ranges: Mapping[int, Ranges]
    may: Mask
    must: Mask

    def reason(self, at: int) -> ScanReason:
        """What decided about one place: of ANDs the first side that cannot match, of ORs all sides."""

        def text_of(leaf: Predicate) -> str:
            return words(Why(int(self.codes[id(leaf)][at])), leaf, self.ranges[id(leaf)], at)

        return reason(self.expression, lambda leaf: bool(self.codes[id(leaf)][at] >= 0), text_of)


def judge(expression: Expression, count: int, ranges: Callable[[BoundTerm], Ranges | None]) -> Verdicts:
    """The answers for `count` places; `ranges` gives what is known of a term there, None where that is nothing."""
    codes: dict[int, Codes] = {}
    of: dict[int, Ranges] = {}
    ranges_by_term: dict[tuple[int, str], Ranges | None] = {}
    """By term: comparisons of one column share what is known of it."""

    def ranges_of(term: BoundTerm) -> Ranges | None:
        key = (term.column.field_id, term.transform)
        if key not in ranges_by_term:
            ranges_by_term[key] = ranges(term)
        return ranges_by_term[key]

    def visit(node: Expression) -> tuple[Mask, Mask]:
        if isinstance(node, (And, Or)):
            (a_may, a_must), (b_may, b_must) = visit(node.left), visit(node.right)
            if isinstance(node, And):
                return a_may & b_may, a_must & b_must
            return a_may | b_may, a_must | b_must
        if isinstance(node, Constant):
            all_of = np.full(count, node.value)
            return all_of, all_of
        assert isinstance(node, Predicate)
        assert isinstance(node.term, BoundTerm)
        own_ranges = ranges_of(node.term)
        if own_ranges is None:
            codes[id(node)] = np.full(count, Why.NOT_TOLD, np.int8)
            of[id(node)] = ranges_without_bounds(count)
            return np.ones(count, bool), np.zeros(count, bool)
        of[id(node)] = own_ranges
        codes[id(node)] = inclusive(node, own_ranges)
        return codes[id(node)] >= 0, strict(node, own_ranges)

    may, must = visit(expression)
    return Verdicts(expression, codes, of, may, must)


def ranges_without_bounds(count: int) -> Ranges:
    """Ranges of places that say nothing."""
    no, yes = np.zeros(count, bool), np.ones(count, bool)
    bounds = Bounds(np.zeros(count, np.int64), no)
    return Ranges(
        nulls_only=no, may_null=yes, nans_only=no, may_nan=yes, empty=no, sure_no_null=no, sure_no_nan=no,
        lower=bounds, upper=bounds, nested=True,
    )  # fmt: skip


def reason(
    expression: Expression, keeps: Callable[[Predicate], bool], text_of: Callable[[Predicate], str]
) -> ScanReason:
    """The answer for one place, by what each comparison keeps and says there. One that says nothing is left out."""
    keep = _keeps(expression, keeps)
    leaves = [(leaf, text) for leaf in _deciding(expression, keeps) if (text := text_of(leaf))]
    if isinstance(expression, Constant):
        return ScanReason("", "Iceberg is asked for every row" if keep else "no row can match", keep)
    if len(leaves) == 1:
        return ScanReason(str(leaves[0][0]), leaves[0][1], keep)
    return ScanReason("", "; ".join(f"{leaf}: {text}" for leaf, text in leaves), keep)


def _deciding(node: Expression, keeps: Callable[[Predicate], bool]) -> Iterator[Predicate]:
    """The comparisons that make the answer what it is."""
    if isinstance(node, Predicate):
        yield node
    elif isinstance(node, (And, Or)):
        left, right = _keeps(node.left, keeps), _keeps(node.right, keeps)
        if isinstance(node, And) and not (left and right):
            yield from _deciding(node.right if left else node.left, keeps)
        elif isinstance(node, Or) and left != right:
            yield from _deciding(node.left if left else node.right, keeps)
        else:
            yield from _deciding(node.left, keeps)
            yield from _deciding(node.right, keeps)


def _keeps(node: Expression, keeps: Callable[[Predicate], bool]) -> bool:
    if isinstance(node, And):
        return _keeps(node.left, keeps) and _keeps(node.right, keeps)
    if isinstance(node, Or):
        return _keeps(node.left, keeps) or _keeps(node.right, keeps)
    if isinstance(node, Constant):
        return node.value
    assert isinstance(node, Predicate)
    return keeps(node)


def _compare(values: Values, has_value: Mask, test: Callable[[Values], Any]) -> Mask:
    """A test of what is known; false elsewhere."""
    result = np.zeros(len(has_value), bool)
    if has_value.any():
        result[has_value] = test(values[has_value]).astype(bool)
    return result


def inclusive(leaf: Predicate, r: Ranges) -> Codes:
    """Of one comparison, why each place may hold rows that match, or cannot."""
    assert isinstance(leaf.term, BoundTerm)
    codes = np.full(len(r), Why.REACHED, np.int8)
    op, literals = leaf.op, leaf.keys
    lower, upper = r.lower, r.upper
    if op == "is-null":
        codes[:] = np.where(r.may_null, Why.HAS_SOME, Why.NO_NULLS)
    elif op == "not-null":
        codes[:] = np.where(r.nulls_only, Why.ONLY_NULLS, Why.HAS_SOME)
    elif op == "is-nan":
        codes[:] = np.where(r.nulls_only, Why.ONLY_NULLS, np.where(r.may_nan, Why.HAS_SOME, Why.NO_NANS))
    elif op == "not-nan":
        codes[:] = np.where(r.nans_only, Why.ONLY_NANS, Why.HAS_SOME)
    elif op in ("not-eq", "not-in"):
        same = _unique(leaf, r)
        one_of = _compare(
            lower.values, same, lambda v: np.isin(v, list(literals)) if v.dtype != object else _in(v, literals)
        )
        codes[:] = np.where(one_of, Why.ONLY_THAT, Why.NOT_TOLD)
    elif op == "not-starts-with":
        both = ~r.may_null & lower.known & upper.known
        all_begin = _begins(lower, both, literals[0]) & _begins(upper, both, literals[0])
        codes[:] = np.where(all_begin, Why.ONLY_THAT, Why.NOT_TOLD)
    elif op == "in" and len(literals) > MANY:
        codes[:] = Why.TOO_MANY
    elif op == "in":
        codes[:] = _in_codes(literals, r)
    else:
        if op in ("gt", "gt-eq", "eq", "starts-with"):
            codes[~upper.known] = Why.UNKNOWN
            codes[_compare(upper.values, upper.known, _below(op, literals[0]))] = Why.BELOW
        if op in ("lt", "lt-eq", "eq", "starts-with"):
            codes[~lower.known & ((codes >= 0) | (op == "starts-with"))] = Why.UNKNOWN
            codes[_compare(lower.values, lower.known, _above(op, literals[0]))] = Why.ABOVE
    if op == "starts-with" and leaf.term.transform != "identity":
        codes[:] = Why.NOT_TOLD
    if op not in ("is-null", "not-null", "is-nan", "not-nan", "not-eq", "not-in", "not-starts-with"):
        codes[r.empty] = Why.NO_VALUES
        codes[r.nulls_only] = Why.ONLY_NULLS
        codes[r.nans_only] = Why.ONLY_NANS
    return codes


def _in(values: Values, literals: Sequence[Any]) -> Mask:
    wanted = set(literals)
    return np.array([v in wanted for v in values.tolist()], bool)


def _begins(bounds: Any, has_value: Mask, prefix: str) -> Mask:
    return _compare(bounds.values, has_value, lambda v: np.array([x.startswith(prefix) for x in v.tolist()], bool))


def _below(op: str, literal: Any) -> Callable[[Values], Any]:
    """Whether an upper bound says that all values lie below what is asked for."""
    if op == "starts-with":
        return lambda v: np.array([x[: len(literal)] < literal for x in v.tolist()], bool)
    return _comparison(operator.le if op == "gt" else operator.lt, literal)


def _above(op: str, literal: Any) -> Callable[[Values], Any]:
    if op == "starts-with":
        return lambda v: np.array([x[: len(literal)] > literal for x in v.tolist()], bool)
    return _comparison(operator.ge if op == "lt" else operator.gt, literal)


def _comparison(compare: Callable[[Any, Any], Any], literal: Any) -> Callable[[Values], Any]:
    """A comparison of an array with one value. numpy would cut the zeros off the end of bytes."""

    def test(values: Values) -> Any:
        if values.dtype != object:
            return compare(values, literal)
        return np.array([compare(v, literal) for v in values.tolist()], bool)

    return test


def _unique(leaf: Predicate, r: Ranges) -> Mask:
    """Where all rows have one value: no nulls, no NaN, and bounds that are the same."""
    floating = isinstance(leaf.term, BoundTerm) and leaf.term.kind in ("float", "double")
    sure = ~r.may_null & r.lower.known & r.upper.known & ~(r.may_nan & floating)
    same = np.zeros(len(r), bool)
    same[sure] = (r.lower.values[sure] == r.upper.values[sure]).astype(bool)
    return same


def _in_codes(literals: Sequence[Any], r: Ranges) -> Codes:
    """A value of IN must lie between the bounds; without a lower bound Iceberg does not look."""
    codes = np.full(len(r), Why.UNKNOWN, np.int8)
    inside = np.zeros(len(r), bool)
    all_above, all_below = r.lower.known.copy(), r.lower.known & r.upper.known
    for literal in literals:
        above = _compare(r.lower.values, r.lower.known, _above("eq", literal))
        below = _compare(r.upper.values, r.upper.known, _below("eq", literal))
        inside |= ~above & ~below
        all_above &= above
        all_below &= below
    codes[r.lower.known] = np.where(inside, Why.REACHED, Why.BETWEEN)[r.lower.known]
    codes[all_above] = Why.ABOVE
    codes[all_below] = Why.BELOW
    return codes


def strict(leaf: Predicate, r: Ranges) -> Mask:
    """Where all rows match one comparison."""
    assert isinstance(leaf.term, BoundTerm)
    op, literals = leaf.op, leaf.keys
    lower, upper = r.lower, r.upper
    transformed = leaf.term.transform != "identity"
    if op in ("is-nan", "not-nan") and not transformed:
        return r.nans_only if op == "is-nan" else ~r.may_nan | r.nulls_only
    if r.nested or transformed:
        return np.zeros(len(r), bool)
    if op == "is-null":
        return r.nulls_only
    if op == "not-null":
        return ~r.may_null
    sure = r.sure_no_null & r.sure_no_nan
    if op in ("lt", "lt-eq"):
        within = _comparison(operator.lt if op == "lt" else operator.le, literals[0])
        return sure & _compare(upper.values, upper.known, within)
    if op in ("gt", "gt-eq"):
        within = _comparison(operator.gt if op == "gt" else operator.ge, literals[0])
        return sure & _compare(lower.values, lower.known, within)
    if op in ("eq", "in"):
        both = sure & lower.known & upper.known
        both[both] = (lower.values[both] == upper.values[both]).astype(bool)
        return both & _compare(lower.values, both, lambda v: _in(v, literals))
    if op == "starts-with":
        both = r.sure_no_null & lower.known & upper.known
        return both & _begins(lower, both, literals[0]) & _begins(upper, both, literals[0])
    if op == "not-starts-with":
        apart = _compare(lower.values, lower.known, _above("starts-with", literals[0]))
        return r.nulls_only | apart | _compare(upper.values, upper.known, _below("starts-with", literals[0]))
    only = r.nulls_only | r.nans_only  # not-eq, not-in
    outside = lower.known | upper.known
    for literal in literals:
        above = _compare(lower.values, lower.known, _above("eq", literal))
        outside &= above | _compare(upper.values, upper.known, _below("eq", literal))
    return only | outside


def words(why: Why, leaf: Predicate, r: Ranges, at: int) -> str:
    """What a comparison met in one place."""
    term = leaf.term
    assert isinstance(term, BoundTerm)
    back = plain(term.kind)
    low = term.value_text(back(r.lower.values[at])) if r.lower.known[at] else None
    high = term.value_text(back(r.upper.values[at])) if r.upper.known[at] else None
    bounds = f"its values lie between {low or '(no lower bound)'} and {high or '(no upper bound)'}"
    if why is Why.UNKNOWN:
        missing = [n for n, x in (("lower", low), ("upper", high)) if x is None]
        return f"no {' and no '.join(missing)} bound of {term}" if missing else bounds
    if why is Why.NOT_TOLD:
        text = bounds if low or high else f"no bounds of {term}"
        nulls = ", and there may be nulls or NaN" if low and low == high else ""
        return f"{text}{nulls}: that does not exclude it"
    return {
        Why.REACHED: bounds,
        Why.TOO_MANY: f"more than {MANY} values: Iceberg does not compare them with the bounds",
        Why.HAS_SOME: {
            "is-null": f"{term} may have nulls", "not-null": f"{term} may have values",
            "is-nan": f"{term} may have NaN", "not-nan": f"{term} may have other values than NaN",
        }.get(leaf.op, ""),
        Why.ABOVE: f"its values begin at {low}",
        Why.BELOW: f"its values end at {high}",
        Why.ONLY_NULLS: f"{term} is null in all rows",
        Why.ONLY_NANS: f"{term} is NaN in all rows",
        Why.NO_NULLS: f"{term} has no nulls",
        Why.NO_NANS: f"{term} has no NaN",
        Why.ONLY_THAT: f"all rows have {low}" if low == high else f"all rows lie between {low} and {high}",
        Why.BETWEEN: f"{bounds}, and none of those asked for does",
        Why.NO_VALUES: f"{term} has no values but null or NaN",
    }.get(why, "")  # fmt: skip
