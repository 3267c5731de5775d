"""Bloom filters of Parquet: split blocks, looked up by XXH64 (parquet-format's BloomFilter.md)."""

from __future__ import annotations

import struct

import xxhash

_BLOCK = 32
"""Bytes of a block: eight words, in each of which a value sets one bit."""
_SALTS = (0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31)


def may_hold(bits: bytes, stored: bytes) -> bool:
    """Whether a filter of whole blocks may hold a value, given as its bytes in plain encoding."""
    hashed = xxhash.xxh64_intdigest(stored)
    block = ((hashed >> 32) * (len(bits) // _BLOCK)) >> 32
    words = struct.unpack_from("<8I", bits, block * _BLOCK)
    return all(word >> ((hashed * salt & 0xFFFFFFFF) >> 27) & 1 for word, salt in zip(words, _SALTS, strict=True))
