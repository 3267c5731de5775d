"""Files that are encrypted: told by how they begin or end, never taken for damaged ones.

Iceberg encrypts manifest lists, manifests and files of formats without an encryption of their own as AES-GCM streams
(the spec's "AES GCM Stream" format, which begins with AGS1). Parquet has its own (Parquet Modular Encryption): a file
with an encrypted footer begins and ends with PARE."""

from __future__ import annotations

from explorer.errors import NotReadHere

STREAM, PARQUET = b"AGS1", b"PARE"


def refuse_encrypted(mark: bytes, path: str) -> None:
    """Raise NotReadHere where the first or last four bytes of a file say that it is encrypted."""
    if mark in (STREAM, PARQUET):
        how = "an AES-GCM stream, which begins with AGS1" if mark == STREAM else "Parquet with an encrypted footer"
        raise NotReadHere(path, f"it is encrypted ({how}): nothing in it can be read without its key")
