"""How far bounds confine the equality deletes of a snapshot, and which partition field would.

An equality delete applies to each older data file of its partition whose bounds do not exclude its keys. Where keys are
random (UUIDs, hashes), the bounds of every file span nearly all of them (apache/iceberg#12280)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from explorer.model.metadata import TableMetadata
from explorer.spec.entries.live_files import LiveFile
from explorer.spec.filters.projections import takes
from explorer.spec.layout.layouts import bucket_count
from explorer.spec.maintenance.rewrite_options import file_target
from explorer.spec.text.units import count

FEW = 10
"""Pairs of which there are no more need no other layout."""
LITTLE = 0.5
"""A share of pairs below which bounds exclude little."""
ORDER = (
    "Stop the writers before: a delete of the new partition spec applies to no file of the older one. The second "
    "statement writes all rows into buckets, and applies the deletes that are there. Then start the writers"
)


@dataclass(frozen=True)
class EqualitySpread:
    """Pairs of an equality delete and an older data file of its partition.

    Attributes:
        pairs: How many there are.
        applying: In how many of them bounds do not exclude the delete, so that readers apply it.
        column: A column of all deletes' keys whose buckets would confine them; empty where bounds do enough, the
            table has such buckets, or no column fits.
        buckets: How many buckets suit the table's size.
        fits_one_file: Whether bounds do too little, and all data fits into one file of the target size.
    """

    pairs: int
    applying: int
    column: str = ""
    buckets: int = 0
    fits_one_file: bool = False

    @property
    def excluded(self) -> int:
        """Pairs that bounds exclude."""
        return self.pairs - self.applying

    @property
    def words(self) -> str:
        """The share in a sentence; empty where there is no such pair."""
        if not self.pairs:
            return ""
        share = self.excluded / self.pairs
        pairs = f"{count(self.pairs, 'pair')} of an equality delete and an older data file of its partition"
        told = f"bounds exclude {share:.0%} of {pairs}"
        if self.fits_one_file:
            return (
                f"{told}. All data fits into one file of the target size: a compaction helps, and another partition "
                "field would not. icedive count TABLE tells whether the deletes hide a row at all"
            )
        if not self.column:
            return told
        return (
            f"{told}: of random keys the bounds of each file span nearly all. Partitions by bucket({self.buckets}, "
            f"{self.column}) would confine each delete to the files of its buckets, of {self.buckets}"
        )


def equality_spread(
    metadata: TableMetadata, deletes: Sequence[LiveFile], pairs: int, applying: int, data_bytes: int
) -> EqualitySpread:
    """Say how far bounds confine equality deletes.

    Args:
        metadata: The table's.
        deletes: The deletes of a snapshot.
        pairs: Pairs of an equality delete and an older data file of its partition.
        applying: Those that bounds do not exclude.
        data_bytes: Bytes of the snapshot's data files.
    """
    own = [set(delete.equality_ids) for delete in deletes if delete.kind == "equality_deletes"]
    if applying <= FEW or pairs - applying >= LITTLE * pairs or len(own) < 2:
        return EqualitySpread(pairs, applying)
    if 0 < data_bytes < file_target(metadata):
        return EqualitySpread(pairs, applying, fits_one_file=True)
    buckets = bucket_count(data_bytes / file_target(metadata))
    spec = metadata.spec(metadata.default_spec_id)
    parted = {source for field in (spec.fields if spec else ()) for source in field.source_ids}
    schema = metadata.schema(metadata.current_schema_id)
    keys = set.intersection(*own)
    for column in schema.raw["fields"] if schema and parted.isdisjoint(keys) else ():
        if int(column["id"]) in keys and takes(f"bucket[{buckets}]", column["type"]):
            return EqualitySpread(pairs, applying, column["name"], buckets)
    return EqualitySpread(pairs, applying)
