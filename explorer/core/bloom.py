"""Bloom filters of Parquet: split blocks, looked up by XXH64 (parquet-format's BloomFilter.md)."""

from __future__ import annotations

import struct

_BLOCK = 32
"""Bytes of a block: eight words, in each of which a value sets one bit."""
_SALTS = (0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31)
_P1, _P2, _P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
_P4, _P5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
_ALL = (1 << 64) - 1


def may_hold(bits: bytes, stored: bytes) -> bool:
    """Whether a filter of whole blocks may hold a value, given as its bytes in plain encoding."""
    hashed = xxh64(stored)
    block = ((hashed >> 32) * (len(bits) // _BLOCK)) >> 32
    words = struct.unpack_from("<8I", bits, block * _BLOCK)
    return all(word >> ((hashed * salt & 0xFFFFFFFF) >> 27) & 1 for word, salt in zip(words, _SALTS, strict=True))


def xxh64(data: bytes) -> int:
    """XXH64 with seed 0 (xxHash's doc/xxhash_spec.md)."""
    whole = len(data) // 32 * 32
    if whole:
        lanes = [_P1 + _P2 & _ALL, _P2, 0, -_P1 & _ALL]
        for at in range(0, whole, 32):
            lanes = [_round(lane, word) for lane, word in zip(lanes, struct.unpack_from("<4Q", data, at), strict=True)]
        digest = sum(_turned(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True)) & _ALL
        for lane in lanes:
            digest = (digest ^ _round(0, lane)) * _P1 + _P4 & _ALL
    else:
        digest = _P5
    digest = digest + len(data) & _ALL
    rest = data[whole:]
    at = len(rest) // 8 * 8
    for (word,) in struct.iter_unpack("<Q", rest[:at]):
        digest = _turned(digest ^ _round(0, word), 27) * _P1 + _P4 & _ALL
    if len(rest) - at >= 4:
        digest = _turned(digest ^ struct.unpack_from("<I", rest, at)[0] * _P1 & _ALL, 23) * _P2 + _P3 & _ALL
        at += 4
    for byte in rest[at:]:
        digest = _turned(digest ^ byte * _P5 & _ALL, 11) * _P1 & _ALL
    digest = (digest ^ digest >> 33) * _P2 & _ALL
    digest = (digest ^ digest >> 29) * _P3 & _ALL
    return digest ^ digest >> 32


def _round(lane: int, word: int) -> int:
    return _turned(lane + word * _P2 & _ALL, 31) * _P1 & _ALL


def _turned(number: int, by: int) -> int:
    return (number << by | number >> 64 - by) & _ALL
