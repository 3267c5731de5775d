"""Why a file of a table is still there, and when it can go."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from explorer.model.metadata import TableMetadata
from explorer.spec.snapshots.retention import (
    DELETES_OLD,
    MOST_OLD,
    MOST_OLD_BY_DEFAULT,
    Keeper,
    Retention,
    expired_from_ms,
)
from explorer.spec.text.names import runs, snapshot_name, snapshot_ordinals
from explorer.spec.text.units import count, instant, whole

REASONS = 12
"""Rules that keep snapshots which are told."""
CHANGES: Mapping[str, str] = {
    "manifest list": "Each commit writes a new one for its own snapshot.",
    "manifest": "A commit must rewrite or merge it first.",
    "data or delete file": "A commit must rewrite it, or drop it whole, first: rows that deletes hide stay in it.",
    "delete file": "A commit must rewrite it, or drop it whole, first. Compaction of its data files lets one drop it.",
    "statistics": "They stay with their snapshot.",
}
"""What must happen before a file that the current snapshot needs can go, by its kind."""
DROPPED = (
    "icedive maintain preview TABLE dangling-deletes tells what drops it from there. The file stays until all "
    "snapshots that list it have expired."
)
"""What must happen before a delete file that hides nothing can go."""
IDLE = "It is a delete file that hides nothing in the current snapshot: {}. That snapshot lists it all the same."
LISTED = "Readers of {} may need it."
"""Of a delete file, how older snapshots need it than the current one, where it hides nothing."""
UNOPENED = (
    "It is a delete file of several data files: only its rows tell whether these are all gone, so that it hides "
    "nothing. icedive doctor TABLE --deep reads them."
)
NEEDS: Mapping[str, str] = {
    "manifest list": "It is the manifest list of {}.", "manifest": "The manifest lists of {} name it.",
    "data or delete file": "Readers of {} need it.", "statistics": "It holds statistics of {}.",
}  # fmt: skip
"""How each kind is needed by snapshots."""


@dataclass(frozen=True)
class HeldDelete:
    """A delete file of the current snapshot.

    Attributes:
        idle: Why it hides nothing there; empty where it does, or may.
        doubt: Why it may be needed all the same.
        is_unopened: Whether only its rows tell whether it hides nothing.
    """

    idle: str = ""
    doubt: str = ""
    is_unopened: bool = False


@dataclass(frozen=True)
class FileStay:
    """The answer of one file.

    Attributes:
        file: Its path.
        kind: What it is.
        bytes: Its length; None if it is not there.
        needed_by: The snapshots that need it, or list it and so keep it, oldest first.
        until_ms: When it can go, if time alone decides, in ms since 1970.
        words: Why it is there, and when it can go, a sentence each.
        statement: What removes it now; empty where nothing does, or must not.
    """

    file: str
    kind: str
    bytes: int | None
    needed_by: tuple[str, ...]
    until_ms: int | None
    words: tuple[str, ...]
    statement: str = ""

    @property
    def can_go(self) -> bool:
        """Whether a statement removes it now."""
        return bool(self.statement)


def stay_of_needed(
    metadata: TableMetadata, kind: str, needing: Collection[int], decided: Retention | None, refusal: str, now_ms: int,
    held: HeldDelete | None = None,
) -> tuple[tuple[str, ...], int | None]:  # fmt: skip
    """Say why a file is there that snapshots need.

    Args:
        metadata: The table's.
        kind: A key of NEEDS.
        needing: The ids of these snapshots.
        decided: What an expiry keeps by the table's policy; None where there is none.
        refusal: Why there is none.
        now_ms: The time, in ms since 1970.
        held: What it does in the current snapshot, of a delete file that this lists.

    Returns:
        Sentences, and when it can go if time alone decides.
    """
    ordinals = snapshot_ordinals(metadata)
    is_idle = held is not None and held.idle
    needers = [one for one in needing if not (is_idle and one == metadata.current_snapshot_id)]
    names = runs(snapshot_name(one, ordinals) for one in sorted(needers, key=lambda one: ordinals.get(one, 0)))
    words = [(LISTED if is_idle else NEEDS[kind]).format(names)] if needers else []
    if held is not None and held.idle:
        words.append(IDLE.format(held.idle.removesuffix(": it hides nothing")))
    if held is not None and held.doubt:
        why = f" ({held.doubt})" if held.doubt != held.idle else ""
        words.append(f"Look before you drop it: it may have been meant for rows that are there{why}.")
    if decided is None:
        return (*words, f"Nothing removes it: {refusal}."), None
    kept: dict[str, list[int]] = {}
    for verdict in decided.snapshots:
        if verdict.snapshot.snapshot_id in needing:
            for keeper in verdict.keepers:
                kept.setdefault(_why(keeper), []).append(ordinals[verdict.snapshot.snapshot_id])
    if not kept:
        return (*words, "Nothing keeps them: an expiry by the table's policy removes them, and this file."), None
    if metadata.current_snapshot_id in needing and held is not None and held.idle:
        return (*words, DROPPED), None
    if metadata.current_snapshot_id in needing:
        words.append(f"The current snapshot needs it. {CHANGES['delete file' if held else kind]}")
        return (*words, *([UNOPENED] if held is not None and held.is_unopened else [])), None
    words += [f"{_capital(runs(f'snapshot-{n}' for n in ns))} {_stays(ns)}, since {why}."
              for why, ns in list(kept.items())[:REASONS]]  # fmt: skip
    if len(kept) > REASONS:
        words.append(f"{count(len(kept) - REASONS, 'rule')} more keep snapshots that need it.")
    until = expired_from_ms(metadata, needing, now_ms)
    if until is None:
        return (*words, "Time alone does not let it go: a branch or tag must move on or be dropped first."), None
    return (*words, f"It can go from {instant(until)} on: an expiry then removes the last of them."), until


def _why(keeper: Keeper) -> str:
    """Why a snapshot stays; of its age, without the time of this moment."""
    if keeper.rule == "age":
        return f"branch {keeper.ref} keeps snapshots of this age"
    if keeper.rule == "unreferenced":
        return "no branch or tag leads to it, but it is too young to expire"
    return keeper.reason


def _stays(numbers: Sequence[int]) -> str:
    return "stays" if len(numbers) == 1 else "stay"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def stay_of_older_metadata(metadata: TableMetadata, place: int) -> Iterator[str]:
    """Say why an older metadata file is there.

    Args:
        metadata: The table's.
        place: How many files of the metadata log are newer.

    Returns:
        Sentences.
    """
    text = metadata.properties.get(MOST_OLD, str(MOST_OLD_BY_DEFAULT))
    most = whole(text)
    newer = "It is the newest" if place == 0 else f"{count(place, 'file')} {'is' if place == 1 else 'are'} newer"
    yield f"It is an older metadata file, which the metadata log names. {newer}."
    if most is None:
        yield f"The table's property {MOST_OLD} is {text!r}, which is no number: commits fail."
        return
    left = max(1, max(1, most) - place)
    drops = f"The log holds {max(1, most):,} ({MOST_OLD}). After {count(left, 'more commit')} it is no longer there."
    if metadata.properties.get(DELETES_OLD, "false").lower() == "true":
        yield f"{drops} The last of these commits removes the file, since {DELETES_OLD} is true."
    else:
        yield f"{drops} The file stays even then, since {DELETES_OLD} is not true: then nothing leads to it."
