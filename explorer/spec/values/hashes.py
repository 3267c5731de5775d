"""64 bits of values, the same on every machine and in every version: by them rows are dealt out, and found again."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from explorer.spec.entries.numpy_columns import Ints
from explorer.spec.values.equality import bits

Hashes = npt.NDArray[np.uint64]
AT_ONCE = 8192
"""Texts that are hashed together: what is made of them should stay in the processor's cache."""
LONG = 4096
"""Bytes of a text that is hashed alone."""
WORD = 8
FIRST, SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
HALF = np.uint64(32)


def hashes(column: pa.ChunkedArray) -> Ints:
    """Return a hash of each text or binary value; 0 for null."""
    parts = [np.zeros(0, np.uint64)]
    for chunk in column.cast(pa.large_binary()).chunks:
        if not len(chunk):
            continue
        _, offsets, data = chunk.buffers()
        ends = np.frombuffer(offsets, np.int64)[chunk.offset : chunk.offset + len(chunk) + 1]
        every = np.frombuffer(data if data is not None else b"", np.uint8)
        for start in range(0, len(chunk), AT_ONCE):
            parts.append(_hash_texts(ends[start : start + AT_ONCE + 1], every))
    hashed = np.concatenate(parts)
    if column.null_count:
        hashed[column.is_null().to_numpy()] = 0
    return hashed.view(np.int64)


def row_hashes(columns: Sequence[pa.ChunkedArray]) -> Hashes:
    """Return a hash of each row of some columns, as `spec.values.equality.comparable` makes them."""
    rows = np.zeros(len(columns[0]), np.uint64)
    for column in columns:
        kind = column.type
        text = pa.types.is_large_binary(kind) or pa.types.is_large_string(kind)
        values = (hashes(column) if text else _whole_numbers(column)).view(np.uint64)
        if column.null_count:
            values = np.where(column.is_null().to_numpy(), FIRST, values)
        rows = _mix(_mix(rows) ^ values)
    return rows


def _whole_numbers(column: pa.ChunkedArray) -> Ints:
    whole = bits(column)
    filled = whole.fill_null(False if pa.types.is_boolean(whole.type) else 0)
    numbers: Ints = filled.to_numpy().astype(np.int64)
    return numbers


def _mix(words: Hashes) -> Hashes:
    mixed: Hashes = (words + FIRST) * SECOND
    mixed ^= mixed >> HALF
    mixed *= SECOND
    mixed ^= mixed >> HALF
    return mixed


def _hash_texts(ends: Ints, data: npt.NDArray[np.uint8]) -> Hashes:
    """Hash texts that follow each other: of each the words from its start on, and then the word before its end, with
    which a shorter one is filled up."""
    first, last = int(ends[0]), int(ends[-1])
    words = np.zeros((last - first) // WORD + 4, "<u8")
    texts = words.view(np.uint8)
    texts[WORD : WORD + last - first] = data[first:last]
    starts, lengths = ends[:-1] - first + WORD, np.diff(ends)
    whole_words = np.where(lengths > LONG, 0, lengths // WORD)
    order = np.argsort(-whole_words, kind="stable")
    hashed = lengths.astype(np.uint64) * FIRST
    hashed[order] = _hash_words(hashed[order], words, starts[order], whole_words[order])
    missing = np.clip(WORD - lengths, 0, WORD - 1).astype(np.uint64)
    word_at = np.ndarray((len(texts) - WORD + 1,), "<u8", texts, strides=(1,))
    hashed = _mix(hashed ^ np.where(lengths > 0, word_at[starts + lengths - WORD] >> missing * np.uint64(8), 0))
    for long in np.flatnonzero(lengths > LONG).tolist():
        text = data[ends[long] : ends[long + 1]].tobytes()
        hashed[long] = int.from_bytes(hashlib.blake2b(text, digest_size=WORD).digest(), "little")
    return hashed


def _hash_words(hashed: Hashes, words: Hashes, starts: Ints, lengths: Ints) -> Hashes:
    """Add to hashes the words from some bytes on, so many of each, the most first. A word that begins within one of the
    buffer's ends in the next."""
    at, shift = starts // WORD, (starts % WORD * 8).astype(np.uint64)
    rest = np.uint64(63) - shift
    low = words[at]
    rounds = np.arange(lengths.max(initial=0))
    for n, rows in zip(rounds.tolist(), np.searchsorted(-lengths, -rounds).tolist(), strict=True):
        high = words[n + 1 :].take(at[:rows])
        some = hashed[:rows]
        some ^= (low[:rows] >> shift[:rows]) | (high << np.uint64(1) << rest[:rows])
        some *= SECOND
        some ^= some >> HALF
        low = high
    return hashed
