"""What the plan of a rewrite comes to, in sentences: what would be done, why nothing would, and why files come out as
candidates again."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from explorer.model.metadata import TableMetadata
from explorer.spec.entries.numpy_columns import Ints
from explorer.spec.maintenance.rewrite_options import UNLIMITED, RewriteOptions
from explorer.spec.maintenance.rewrite_parts import OTHER_SPECS
from explorer.spec.maintenance.rewrite_tasks import MOST, endless, output_sizes
from explorer.spec.maintenance.rewrites import DELETE_RATIO, MANY_DELETES, TOO_LARGE, TOO_SMALL, Grouping
from explorer.spec.scan.tasks import Packing
from explorer.spec.snapshots.lineage import ancestry
from explorer.spec.text.names import snapshot_name, snapshot_ordinals
from explorer.spec.text.units import count, human_bytes, whole

GRANULARITY = "write.delete.granularity"
ROWS_OF_A_LOOK = 1000
"""A writer of Iceberg looks at the size of its file after so many rows, and only then begins another (Iceberg Java
1.12: BaseRollingWriter)."""
ROW_GROUP, DEFAULT_ROW_GROUP = "write.parquet.row-group-size-bytes", 128 << 20


def sentences(metadata: TableMetadata, rule: RewriteOptions, grouping: Grouping) -> Iterator[str]:
    """All that is to be said of a plan."""
    kind = "position delete file" if rule.strategy == "position-deletes" else "data file"
    if not grouping.seen.files:
        yield f"Nothing would be rewritten: there is no {kind} to look at."
        return
    yield _candidate_words(rule, grouping, kind)
    files = grouping.amounts[0]
    if len(files):
        yield from _would(metadata, rule, grouping, kind)
    else:
        yield _nothing(rule, grouping)
    yield from _unsorted(metadata, rule, grouping)
    yield from _remainder(rule, grouping)
    yield from _again(metadata, rule, grouping)


def _unsorted(metadata: TableMetadata, rule: RewriteOptions, grouping: Grouping) -> Iterator[str]:
    """Where bin-packing meets a sort order: Iceberg sorts the rows of each task alone; and where
    sorting leaves files out."""
    order = metadata.sort_order(metadata.default_sort_order_id)
    if rule.strategy == "binpack" and order is not None and order.fields and len(grouping.amounts[0]):
        yield (
            "The table has a sort order, and this packs files without sorting rows across them. The strategy sort "
            "(compact-sort) makes files of separate ranges."
        )
    left = grouping.seen.files - int(grouping.amounts[0].sum())
    if rule.strategy in ("sort", "zorder") and left and not rule.rewrite_all:
        stay = count(left, "file stays", "files stay")
        yield (
            f"Files are chosen by their size, not by how their rows are sorted: {stay} as written, and their ranges "
            "may overlap (icedive inspect columns TABLE --show clustering tells how much). With rewrite-all=true the "
            "procedure sorts them all."
        )


def _candidate_words(rule: RewriteOptions, grouping: Grouping, kind: str) -> str:
    seen = grouping.seen
    reasons = {
        TOO_SMALL: f"smaller than {human_bytes(rule.smallest)}",
        TOO_LARGE: f"larger than {human_bytes(rule.largest)}",
        MANY_DELETES: "with too many deletes",
        DELETE_RATIO: "with too high a delete ratio",
    }
    why = ", ".join(f"{seen.by_reason[bit]:,} {reason}" for bit, reason in reasons.items() if seen.by_reason[bit])
    begin = f"{count(seen.files, kind)} ({human_bytes(seen.bytes)}): "
    if rule.rewrite_all:
        return begin + "rewrite-all takes all of them" + (f" ({why})." if why else ".")
    rest = seen.files - seen.candidates
    inside = f"{count(rest, 'other lies', 'others lie')} {rule.range_words}" if seen.candidates else ""
    if not seen.candidates:
        return f"{begin}no candidate, since every file lies {rule.range_words}, and none has too many deletes."
    return f"{begin}{count(seen.candidates, 'candidate')} ({why})" + (f"; {inside}." if rest else ".")


def _output_count(metadata: TableMetadata, rule: RewriteOptions, grouping: Grouping) -> int:
    """How many files would be written: one for each task that reads a part of a group, where rows are not shuffled."""
    files, sizes = grouping.amounts
    rows = grouping.seen.candidate_rows
    least = ROWS_OF_A_LOOK * int(grouping.bytes.sum()) // rows if rows else 0

    def by_size(groups: Ints) -> int:
        expected = rule.count_output_files(groups)
        return int(np.minimum(expected, -(-groups // least)).sum() if least else expected.sum())

    if not _is_packed(metadata, rule) or int(files.sum()) > MOST:
        return by_size(sizes)
    lookback = Packing.of(metadata.properties).lookback
    number = 0
    for place, own, parts in grouping.members():
        shuffled = place == OTHER_SPECS
        number += by_size(own.sum()[None]) if shuffled else len(output_sizes(rule, own, parts, lookback, least))
    return number


def _is_packed(metadata: TableMetadata, rule: RewriteOptions) -> bool:
    """Whether tasks write what they read."""
    return rule.strategy in ("binpack", "position-deletes") and rule.output_spec_id == metadata.default_spec_id


def _endless(metadata: TableMetadata, rule: RewriteOptions, grouping: Grouping) -> str:
    """Why files that are too small come out as they are, and what ends that; empty where they do not."""
    if not _is_packed(metadata, rule) or int(grouping.amounts[0].sum()) > MOST:
        return ""
    lookback = Packing.of(metadata.properties).lookback
    stuck = [
        reason
        for place, sizes, parts in grouping.members()
        if place != OTHER_SPECS and (reason := endless(rule, sizes, parts, lookback))
    ]
    if not stuck:
        return ""
    files, first = sum(each.files for each in stuck), stuck[0]
    cure = (
        f"min-file-size-bytes => {rule.target // 2} ends it, since of files that are smaller two fit into one task; so "
        "does a larger target"
        if rule.smallest > rule.target // 2
        else "A larger target ends it"
    )
    return (
        f"It never ends: {count(files, 'file')} of about {human_bytes(first.bytes)} each would come out as they go in, "
        f"and be taken again. A task reads {human_bytes(first.split)} at most, into which no two of them fit, and each "
        f"task writes a file of its own, outside {human_bytes(rule.smallest)} to {human_bytes(rule.largest)}. {cure}."
    )


def _would(metadata: TableMetadata, rule: RewriteOptions, grouping: Grouping, kind: str) -> Iterator[str]:
    files = grouping.amounts[0]
    if rule.strategy == "position-deletes" and is_by_data_file(metadata):
        yield from _by_data_file(metadata, grouping)
    else:
        yield from _by_size(metadata, rule, grouping, kind)
    if rule.commits:
        commits = min(rule.commits, -(-len(files) // -(-len(files) // rule.commits)))
        yield (
            f"partial-progress makes that about {count(commits, 'commit')}, each with a snapshot of its own; a group "
            "that fails stays as it is."
        )
    if rule.max_files is not None:
        yield (
            f"max-files-to-rewrite stops at {count(rule.max_files, 'file')}; which partitions come first, and so which "
            "files, is the engine's choice."
        )
    yield "The old files stay as long as a snapshot that reads them does: expire it to free them."


def is_by_data_file(metadata: TableMetadata) -> bool:
    """Whether Spark writes position deletes, or vectors, of each data file on their own (Iceberg Java 1.12:
    SparkWriteConf.deleteGranularity, SparkPositionDeletesRewrite)."""
    return metadata.format_version >= 3 or metadata.properties.get(GRANULARITY, "file").lower() != "partition"


def _by_data_file(metadata: TableMetadata, grouping: Grouping) -> Iterator[str]:
    files, sizes = grouping.amounts
    total, (targets, unclear) = int(files.sum()), grouping.target_counts
    is_v3 = metadata.format_version >= 3
    made = "deletion vector" if is_v3 else "position delete file"
    amount = (
        f"one {made} for each data file that they name, which their entries do not tell"
        if not targets
        else f"{'at least ' if unclear else ''}{count(targets, made)}, one for each data file that they name"
    )
    groups = f"{count(len(files), 'group')} of {count(total, 'file')} ({human_bytes(int(sizes.sum()))})"
    yield f"{groups} would become {amount}. The deletes of data files that are gone are dropped."
    if is_v3:
        return
    again = " So they do not become fewer, and are candidates again." if targets == total else ""
    yield (
        f"Spark writes the deletes of each data file to a file of their own.{again} With the table property "
        f"{GRANULARITY} = partition, the same statement writes one file for many data files of a partition, and who "
        "reads one of these data files reads the deletes of all. Spark with Iceberg before 1.7 does so unless the "
        "property says file."
    )


def _by_size(metadata: TableMetadata, rule: RewriteOptions, grouping: Grouping, kind: str) -> Iterator[str]:
    files, sizes = grouping.amounts
    number = _output_count(metadata, rule, grouping)
    less = ", less the rows that deletes hide" if grouping.seen.with_deletes else ""
    spread = _spread_files(metadata, rule, grouping)
    yield (
        f"{count(len(files), 'group')} of {count(int(files.sum()), 'file')} ({human_bytes(int(sizes.sum()))}{less}) "
        f"would become about {count(number, kind)} of at most "
        f"{human_bytes(rule.max_output_bytes)}."
    )
    if rule.strategy == "position-deletes":
        yield "The deletes of data files that are gone are dropped, so it may be none."
    if spread:
        yield (
            f"The rows of {count(spread, 'file')} of other partition specs go to the partitions of spec "
            f"{rule.output_spec_id}, at least one file to each, so there may be more files than before. With "
            "output-spec-id the files are written by another spec."
        )


def _spread_files(metadata: TableMetadata, rule: RewriteOptions, grouping: Grouping) -> int:
    """How many files would be rewritten into partitions that their entries do not tell: those of other specs than the
    one that is written."""
    spec = metadata.spec(rule.output_spec_id)
    if spec is None or all(field.transform == "void" for field in spec.fields):
        return 0
    if rule.output_spec_id != metadata.default_spec_id:
        return int(grouping.amounts[0].sum())
    return sum(len(sizes) for place, sizes, _ in grouping.members() if place == OTHER_SPECS)


def _nothing(rule: RewriteOptions, grouping: Grouping) -> str:
    if not grouping.seen.candidates:
        return "Nothing would be rewritten: no file is a candidate. rewrite-all takes every file all the same."
    is_limited = rule.max_group_bytes < UNLIMITED
    most = f", and of at most {human_bytes(rule.max_group_bytes)} (max-file-group-size-bytes)" if is_limited else ""
    return (
        f"Nothing would be rewritten: in none of {count(len(grouping.files), 'group')} there are {_enough(rule)}. The "
        f"largest group by files has {int(grouping.files.max())}, the largest by bytes "
        f"{human_bytes(int(grouping.bytes.max()))}. A group is of one partition{most}."
    )


def _enough(rule: RewriteOptions) -> str:
    least = max(2, rule.min_input_files)
    deletes = "" if rule.delete_ratio is None else ", or a file with too many deletes"
    large = f", more than {human_bytes(rule.largest)}" if rule.largest < UNLIMITED else ""
    return (
        f"{count(least, 'file')} (min-input-files is {rule.min_input_files}), two files of more than "
        f"{human_bytes(rule.target)} together (the target){large}{deletes}"
    )


def _remainder(rule: RewriteOptions, grouping: Grouping) -> Iterator[str]:
    left = np.setdiff1d(np.arange(len(grouping.files)), grouping.groups_to_rewrite)
    if len(left) and len(grouping.groups_to_rewrite):
        yield (
            f"{count(int(grouping.files[left].sum()), 'candidate')} in {count(len(left), 'group')} would be left: "
            f"there are not {_enough(rule)}."
        )
    several = left[grouping.files[left] > 1]
    if len(several):
        files = int(grouping.files[several].sum())
        yield (
            f"With the option min-input-files=2 (-O min-input-files=2), {count(files, 'candidate')} in "
            f"{count(len(several), 'group')} would be rewritten, too."
        )
    alone = int(((grouping.files[left] == 1) & (grouping.bytes[left] < rule.smallest)).sum()) if len(left) else 0
    if alone:
        yield (
            f"{count(alone, 'group')} {'is' if alone == 1 else 'are'} one small file alone in its partition: "
            "it stays a candidate, and is never rewritten, as there is nothing to put with it."
        )


def _again(metadata: TableMetadata, rule: RewriteOptions, grouping: Grouping) -> Iterator[str]:
    """Why a run would leave work to the next."""
    files, sizes = grouping.amounts
    if not len(files):
        return
    if rule.strategy == "position-deletes" and metadata.format_version >= 3:
        return  # it writes deletion vectors, which it does not take again
    if rule.rewrite_all:
        yield "Run it once: with rewrite-all each run writes all of it anew, whatever its sizes."
    elif rule.delete_files == 0:
        yield "It never ends: delete-file-threshold is 0, which every file reaches."
    elif rule.strategy in ("sort", "zorder"):
        numbers = rule.count_output_files(sizes)
        again = (numbers > 1) & (sizes // numbers < rule.smallest)
        again &= (numbers >= rule.min_input_files) | (sizes > rule.target)
        if again.any():
            first = int(np.flatnonzero(again)[0])
            yield (
                f"It may never end: {count(int(again.sum()), 'group')} would come out below min-file-size-bytes "
                f"({human_bytes(rule.smallest)}) and be taken again. Of {human_bytes(int(sizes[first]))}, which is "
                f"more than 110 % of the target, sorting makes {int(numbers[first])} files of about "
                f"{human_bytes(int(sizes[first] // numbers[first]))} each."
            )
    by_data_file = rule.strategy == "position-deletes" and is_by_data_file(metadata)
    stuck = "" if rule.rewrite_all or rule.delete_files == 0 or by_data_file else _endless(metadata, rule, grouping)
    if stuck:
        yield stuck
    elif (
        rule.strategy != "position-deletes" and metadata.properties.get("write.format.default", "parquet") == "parquet"
    ):
        group = whole(metadata.properties.get(ROW_GROUP)) or DEFAULT_ROW_GROUP
        if rule.max_output_bytes <= group:
            yield (
                f"Files may come out smaller than the target, and be candidates again: a Parquet writer begins another "
                f"file at {human_bytes(rule.max_output_bytes)}, counting what is not yet compressed until its first "
                f"row group of {human_bytes(group)} ({ROW_GROUP}) is written."
            )
    yield from _last_run(metadata, rule)


def vain_run_words(metadata: TableMetadata, engine: str, title: str) -> str:
    """Say so where the last compaction of an engine made as many data files as it took; empty where it did not.

    Args:
        metadata: The table's.
        engine: The engine's name, as snapshots record it.
        title: Its name for people.
    """
    current = set(ancestry(metadata, metadata.current_snapshot_id))
    for snapshot in reversed(metadata.snapshots):
        if snapshot.operation != "replace" or snapshot.snapshot_id not in current:
            continue
        added, gone = (whole(snapshot.summary.get(n)) for n in ("added-data-files", "deleted-data-files"))
        if not added or not gone:  # of manifests, or of deletes
            continue
        is_own = snapshot.summary.get("engine-name", "").lower() == engine
        if not is_own or added != gone or added < 2 or whole(snapshot.summary.get("removed-delete-files")):
            return ""
        name = snapshot_name(snapshot.snapshot_id, snapshot_ordinals(metadata))
        words = f"The last compaction by {title} ({name}) made {count(added, 'file')} of {gone:,}: it may do so again."
        spec = metadata.spec(metadata.default_spec_id)
        if engine == "trino" and not (spec and any(field.transform != "void" for field in spec.fields)):
            words += (
                " Without partitions Trino makes at least one file for each of its writers (trinodb/trino#21808). "
                "Leave the files, or run Spark's statement: icedive maintain all TABLE has it."
            )
        return words
    return ""


def _last_run(metadata: TableMetadata, rule: RewriteOptions) -> Iterator[str]:
    """What the last rewrite wrote, if it is below the minimum: its files are candidates again."""
    if rule.strategy == "position-deletes":
        return
    for snapshot in reversed(metadata.snapshots):
        if snapshot.operation == "replace":
            added, size = (whole(snapshot.summary.get(n)) for n in ("added-data-files", "added-files-size"))
            if added and size and size // added < rule.smallest and added >= 2:
                yield (
                    f"The last rewrite ({snapshot_name(snapshot.snapshot_id, snapshot_ordinals(metadata))}) wrote "
                    f"{count(added, 'file')} of {human_bytes(size // added)} on average, below min-file-size-bytes "
                    f"({human_bytes(rule.smallest)}): its own files are candidates again."
                )
                return
            if added:
                return
