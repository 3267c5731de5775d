"""Panics of polars, where it decodes. Rust says each on stderr, where nothing in this process can stop it: after a few
of them what may panic is decoded in children alone, whose stderr is nowhere."""

from __future__ import annotations

MOST = 5
_seen: list[str] = []


def note(path: str) -> None:
    """Remember a panic about a file."""
    if not are_many():
        _seen.append(path)


def are_many() -> bool:
    """Whether there were as many here as anyone needs to read about."""
    return len(_seen) >= MOST
