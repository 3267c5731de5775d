"""What the lab's runs come to, as data: steps that writers took, orders of them, and what came of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from string import ascii_uppercase
from typing import Literal

from explorer.spec.commits.operations import ENDS, Operation, State, StepOutcome

LabRow = tuple[int, str, str]
"""A row of the lab's tables: (id, value, part)."""
LabRows = tuple[LabRow, ...]
TABLE, OTHER = "the table", "the other table"
"""What the tables of a run are called."""


@dataclass(frozen=True)
class Event:
    """One step that was taken, or a fault. `outcome` is ok, committed, lost (the swap), unknown (its answer), refused
    (a validation), killed, or of a reader answered or failed; `files` are those it wrote, below the table's folder, in
    the order they were written, `removed` those it removed. `short` is what a diagram says of it."""

    n: int
    writer: str
    step: State | Literal["kill", "again"]
    outcome: StepOutcome
    words: str
    files: tuple[str, ...] = ()
    error: str = ""
    removed: tuple[str, ...] = ()
    short: str = ""

    @property
    def token(self) -> str:
        """How a saved order says it: A takes a step, A! is killed, A? loses the answer to its swap, A+ begins again
        without looking."""
        return self.writer + {"killed": "!", "unknown": "?"}.get(self.outcome, "+" if self.step == "again" else "")


@dataclass(frozen=True)
class LaneView:
    """What a lane saw of a table: the snapshot it loaded, and of a reader the files it planned and the rows it read
    (None before that, or when it failed)."""

    table: str
    snapshot_id: int | None
    snapshot: str
    files: tuple[str, ...] = ()
    rows: LabRows | None = None


@dataclass
class WriterState:
    """A writer or reader: its operation, and how far it is. `state` is the step it takes next (`check` after the answer
    to its swap was lost), or one of ENDS; `left_behind` are files of its that nothing leads to."""

    name: str
    operation: Operation
    _: KW_ONLY
    state: State = "load"
    attempts: int = 0
    left_behind: list[str] = field(default_factory=list)
    saw: list[LaneView] = field(default_factory=list)

    @property
    def over(self) -> bool:
        """Whether it has no step left."""
        return self.state in ENDS


@dataclass(frozen=True)
class WriterProgress:
    """How far a writer is in an order: the phases it has taken, the commits that were there each time it looked at the
    table (as names of writers), and how it stands in a word: the end of its last swap, else its last phase."""

    writer: str
    phases: int = 0
    looked_at: tuple[str, ...] = ()
    word: str = ""


@dataclass(frozen=True)
class OrderPoint:
    """After one phase of an order: whose it was and which, where all writers stand, and who has committed, in order.
    Two orders are at the same point when the standings and the commits are the same."""

    writer: str
    phase: str
    standings: tuple[WriterProgress, ...]
    commits: str


@dataclass(frozen=True)
class OrderOutcome:
    """One order, and what came of it: per writer committed, retried (then committed) or refused; the rows; which serial
    orders of the writers that committed give the same rows; and the anomaly's name where none does. `moments` are those
    it passed, where it was run in phases."""

    order: str
    writers: tuple[Literal["committed", "retried", "refused"], ...]
    rows: LabRows
    serial: tuple[str, ...]
    anomaly: str
    events: tuple[Event, ...]
    saved: str
    moments: tuple[OrderPoint, ...] = ()

    @property
    def ends(self) -> tuple[str, ...]:
        """What came of each writer, by name: `A committed`, `B refused`."""
        return tuple(f"{name} {word}" for name, word in zip(ascii_uppercase, self.writers, strict=False))


@dataclass(frozen=True)
class Interleavings:
    """All orders of some operations, and the rows of every serial order of every subset of them."""

    operations: tuple[Operation, ...]
    outcomes: tuple[OrderOutcome, ...]
    serial: Mapping[str, LabRows]

    def summary(self) -> dict[str, int]:
        """How often each combination of outcomes came, by writer, with anomalies apart."""

        def outcome_text(outcome: OrderOutcome) -> str:
            each = ", ".join(outcome.ends)
            return f"{each} ({outcome.anomaly})" if outcome.anomaly else each

        return dict(Counter(map(outcome_text, self.outcomes)).most_common())


@dataclass(frozen=True)
class Lap:
    """A race under way: commits acknowledged, of each writer too, swaps lost before them, and commits that failed."""

    seconds: float
    acknowledged: int
    retries: int
    failures: int
    by_writer: Mapping[str, int]


@dataclass(frozen=True)
class Appends:
    """What appends one after the other made of a table: how many manifests there are after each, how many were written
    in all, and the seconds from the first commit to the last."""

    kind: str
    manifests: tuple[int, ...]
    written: int
    seconds: float


@dataclass(frozen=True)
class FileSearch:
    """How the files of a query were found: the requests to the store by kind, the seconds, the files there are, and
    those that may have a row that matches."""

    how: str
    requests: Mapping[str, int]
    seconds: float
    files: int
    kept: int

    def __str__(self) -> str:
        requests = ", ".join(f"{number} {kind}" for kind, number in sorted(self.requests.items()))
        total = sum(self.requests.values())
        return (
            f"{self.how}: {total} requests ({requests}), {self.seconds:.2f} s; "
            f"{self.kept} of {self.files} files may have the row"
        )
