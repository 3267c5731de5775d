"""Blocks: the parts of a page that shows an answer. Hosts draw them; they hold data and no markup but pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Text:
    """Lines of plain text, without control characters and credentials. Text that says the same as the blocks before it
    is `folded`."""

    lines: tuple[str, ...]
    folded: bool = False


@dataclass(frozen=True)
class Rows:
    """Rows, which a host delivers in pages. `title` says what they are, where an answer has more than one list."""

    rows: Sequence[Mapping[str, Any]]
    title: str = ""


@dataclass(frozen=True)
class Picture:
    """A picture as SVG. A page that shows the graph beside the answer leaves a picture of that graph out."""

    svg: str
    is_graph: bool = False


@dataclass(frozen=True)
class Notice:
    """A sentence that stands first: the answer in words, or what is to be known of it. `level` is a word of
    spec.doctor.rules."""

    text: str
    level: str = "ok"


@dataclass(frozen=True)
class Statement:
    """A statement to paste elsewhere; a page offers to copy it."""

    sql: str


@dataclass(frozen=True)
class Fact:
    """A name and its value as text. A measure has a `limit` that it is held to, and how far it is within (`level`)."""

    name: str
    value: str
    limit: str = ""
    level: str = ""


@dataclass(frozen=True)
class FactTable:
    """Names and values."""

    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class Link:
    """What can be opened: a snapshot by its id, a manifest or a file by its path (`kind` and `key`), or another
    question with its arguments."""

    label: str
    kind: str
    key: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class FindingCard:
    """Something that is not as it should be: what, why, and what to do; statements can be copied."""

    level: str
    title: str
    name: str
    lines: tuple[str, ...]
    remedy: str = ""
    links: tuple[Link, ...] = ()


@dataclass(frozen=True)
class FindingCards:
    """Findings, the worst first."""

    findings: tuple[FindingCard, ...]


@dataclass(frozen=True)
class LinkList:
    """Questions that lead on from here."""

    links: tuple[Link, ...]


@dataclass(frozen=True)
class FoldedBlocks:
    """Blocks under a title, which unfold."""

    title: str
    blocks: tuple[Block, ...]
    is_open: bool = False
    note: str = ""


@dataclass(frozen=True)
class JsonTree:
    """JSON as a tree that unfolds and can be searched; where two versions are compared, with the `older` one. Titles
    say which they are."""

    value: Any
    title: str
    older: Any = None
    older_title: str = ""


Block: TypeAlias = (
    "Text | Rows | Picture | Notice | Statement | FactTable | FindingCards | LinkList | FoldedBlocks | JsonTree"
)
