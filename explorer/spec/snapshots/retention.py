"""Which snapshots and refs expiry keeps, and by which rule (spec: "Snapshot Retention Policy").

The rule is that of Iceberg's RemoveSnapshots, which Spark's procedure calls; the tests hold it against what that class
answers."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from explorer.model.metadata import Ref, Snapshot, TableMetadata
from explorer.spec.snapshots.ancestors import Parents, parents_first, parents_of, reachable_snapshots
from explorer.spec.snapshots.branch_retention import LISTED, BranchPolicy, branch_verdicts
from explorer.spec.snapshots.lineage import circle_words
from explorer.spec.text.units import count, instant

MAX_SNAPSHOT_AGE = "history.expire.max-snapshot-age-ms"
MIN_SNAPSHOTS = "history.expire.min-snapshots-to-keep"
MAX_REF_AGE = "history.expire.max-ref-age-ms"
DEFAULTS: Mapping[str, int] = {MAX_SNAPSHOT_AGE: 5 * 24 * 3600 * 1000, MIN_SNAPSHOTS: 1, MAX_REF_AGE: 2**63 - 1}
"""The table properties that set the policy where a ref has none of its own, and what holds without them: five days, one
snapshot, forever."""

DELETES_OLD, MOST_OLD = "write.metadata.delete-after-commit.enabled", "write.metadata.previous-versions-max"
MOST_OLD_BY_DEFAULT = 100
"""The properties that say whether a commit removes older metadata files, and how many the metadata log holds."""
YEAR_9999 = 253_370_764_800_000
"""Its beginning, in ms since 1970: what is later never comes."""

RetentionRule = Literal["ref", "youngest", "age", "unreferenced", "more"]


@dataclass(frozen=True)
class Keeper:
    """A rule that keeps a snapshot: a `ref` that stays points to it, it is among the `youngest` of a branch, its `age`
    is within a branch's limit, or it is young and `unreferenced` (`ref` is then None). One of `more` counts those that
    are not listed."""

    rule: RetentionRule
    ref: str | None
    reason: str


@dataclass(frozen=True)
class RefRetention:
    """Whether a branch or tag stays, and why."""

    ref: Ref
    kept: bool
    reason: str


@dataclass(frozen=True)
class SnapshotRetention:
    """Whether a snapshot stays: every rule that keeps it, or why none does."""

    snapshot: Snapshot
    keepers: tuple[Keeper, ...]
    expired_because: tuple[str, ...] = ()

    @property
    def is_kept(self) -> bool:
        """Whether any rule keeps it."""
        return bool(self.keepers)

    @property
    def reason(self) -> str:
        """In words."""
        if self.is_kept:
            return "kept: " + "; ".join(k.reason for k in self.keepers)
        return "expired: " + "; ".join(self.expired_because)


@dataclass(frozen=True)
class Retention:
    """What expiry makes of a table's refs and snapshots, both in the table's order."""

    refs: tuple[RefRetention, ...]
    snapshots: tuple[SnapshotRetention, ...]

    @property
    def snapshots_to_keep(self) -> tuple[Snapshot, ...]:
        """The snapshots that stay."""
        return tuple(s.snapshot for s in self.snapshots if s.is_kept)

    @property
    def snapshots_to_expire(self) -> tuple[Snapshot, ...]:
        """The snapshots that go."""
        return tuple(s.snapshot for s in self.snapshots if not s.is_kept)


NESSIE_KEEPS = (
    "the table's property gc.enabled is not true. Nessie's catalog sets it so on purpose, and some versions set it "
    "again on each load, whatever ALTER TABLE says: files that this table no longer needs may be needed by other "
    "branches and tags of the catalog. Nessie's own tool nessie-gc looks at all of them, and removes what none needs"
)
"""Why no file of a table of Nessie's may be removed (org.apache.iceberg.nessie.NessieUtil)."""


def gc_refusal(metadata: TableMetadata) -> str:
    """Why no file of a table may be removed, be it of an expired snapshot or an orphan; empty where they may."""
    if metadata.properties.get("gc.enabled", "true").lower() == "true":
        return ""
    if is_of_nessie(metadata):
        return NESSIE_KEEPS
    return "the table's property gc.enabled is not true: its files may belong to other tables too"


def is_of_nessie(metadata: TableMetadata) -> bool:
    """Whether Nessie's catalog has the table, as the properties say that it gives."""
    return any(name.startswith("nessie.") for name in metadata.properties)


def endless_expiry(metadata: TableMetadata) -> str:
    """Return why an expiry would not end: it follows the parents of every branch; empty where it would."""
    parents = parents_of(metadata.snapshots)
    endless = parents.keys() - parents_first(parents)
    branch = next((ref for ref in metadata.refs if ref.type == "branch" and ref.snapshot_id in endless), None)
    return circle_words(metadata, branch.snapshot_id, f"branch {branch.name}") if branch else ""


def retention(
    metadata: TableMetadata,
    now_ms: int,
    older_than_ms: int | None = None,
    retain_last: int | None = None,
    ids: Collection[int] = (),
) -> Retention:
    """Apply the policy as of `now_ms`. `older_than_ms` (a moment) and `retain_last` are an expiry's own arguments: they
    stand in for the table's properties, never for what a ref itself says. Snapshots of `ids` go too, whatever else
    keeps them. Raises ValueError, with Iceberg's reason, where it would refuse to expire anything."""
    if refusal := gc_refusal(metadata):
        raise ValueError(refusal)
    if retain_last is not None and retain_last < 1:
        raise ValueError(f"{retain_last} snapshots to retain are too few: at least 1 must stay")
    age_limit = now_ms - _number(metadata, MAX_SNAPSHOT_AGE)
    older_than_ms = age_limit if older_than_ms is None else older_than_ms
    least = _number(metadata, MIN_SNAPSHOTS)
    least = least if retain_last is None else retain_last
    max_ref_age = _number(metadata, MAX_REF_AGE)

    by_id = {s.snapshot_id: s for s in metadata.snapshots}
    parents = parents_of(metadata.snapshots)
    if len(parents_first(parents)) < len(parents):
        raise ValueError("the parents of some snapshots run in a circle, in which an expiry walks forever")
    refs = tuple(_ref_retention(by_id.get(r.snapshot_id), r, now_ms, max_ref_age) for r in metadata.refs)
    staying = [r.ref for r in refs if r.kept]
    branches = [_branch_policy(ref, now_ms, older_than_ms, least) for ref in staying if ref.type == "branch"]
    # of a tag only the snapshot itself counts, not its ancestors
    referenced = reachable_snapshots(parents, (branch.ref.snapshot_id for branch in branches)) | {
        r.snapshot_id for r in staying
    }
    keepers, against = _reasons_of_each(metadata, parents, staying, branches)
    for snapshot in metadata.snapshots:
        if snapshot.snapshot_id in referenced:
            continue
        if _at_or_after(snapshot, older_than_ms):
            reason = f"no ref that stays leads to it, and it is not older than {instant(older_than_ms)}"
            keepers[snapshot.snapshot_id].append(Keeper("unreferenced", None, reason))
        else:
            reason = f"no ref that stays leads to it, and it is older than {instant(older_than_ms)}"
            against[snapshot.snapshot_id].append(reason)
    for snapshot_id in ids:
        if held := [ref.name for ref in staying if ref.snapshot_id == snapshot_id]:
            raise ValueError(f"snapshot {snapshot_id} cannot be expired: {', '.join(held)} points to it")
        if snapshot_id in keepers:
            keepers[snapshot_id], against[snapshot_id] = [], ["it is asked for by its id"]
    return Retention(
        refs,
        tuple(
            SnapshotRetention(
                s,
                tuple(keepers[s.snapshot_id]),
                () if keepers[s.snapshot_id] else tuple(against[s.snapshot_id]),
            )
            for s in metadata.snapshots
        ),
    )


def retention_or_refusal(metadata: TableMetadata, now_ms: int) -> tuple[Retention | None, str]:
    """Return what the table's policy keeps as of `now_ms`; or None, and why an expiry would refuse or not end, without
    a full stop."""
    if endless := endless_expiry(metadata):
        return None, endless.rstrip(".")
    try:
        return retention(metadata, now_ms), ""
    except ValueError as error:
        return None, str(error)


def expired_from_ms(metadata: TableMetadata, ids: Collection[int], now_ms: int) -> int | None:
    """Return from when an expiry by the table's policy removes all of these snapshots, in ms since 1970; None if time
    alone does not let it."""

    def is_gone(at_ms: int) -> bool:
        return not any(s.snapshot_id in ids for s in retention(metadata, at_ms).snapshots_to_keep)

    ages = [_number(metadata, MAX_SNAPSHOT_AGE), _number(metadata, MAX_REF_AGE)]
    ages += [age for ref in metadata.refs for age in (ref.max_snapshot_age_ms, ref.max_ref_age_ms) if age is not None]
    longest = max((age for age in ages if age < YEAR_9999), default=YEAR_9999)
    newest = max((s.timestamp_ms or 0 for s in metadata.snapshots), default=0)
    end = min(max(newest, now_ms) + longest + 1, YEAR_9999)  # all that goes by its age is gone then
    return bisect_left(range(end), True, lo=now_ms, key=is_gone) if now_ms < end and is_gone(end) else None


def unused_metadata(
    metadata: TableMetadata, kept: Collection[Snapshot], specs: Collection[int]
) -> tuple[list[int], list[int]]:
    """The ids of the schemas and partition specs that `clean_expired_metadata` drops: those that neither the table nor
    any of the kept snapshots uses. `specs` are those of the manifests of these."""
    schemas = {metadata.current_schema_id, *(s.schema_id for s in kept)}
    used = {metadata.default_spec_id, *specs}
    return (
        [s.schema_id for s in metadata.schemas if s.schema_id not in schemas],
        [s.spec_id for s in metadata.partition_specs if s.spec_id not in used],
    )


def unused_bytes(metadata: TableMetadata, schemas: Collection[int], specs: Collection[int] = ()) -> int:
    """Return how many bytes of JSON some schemas and partition specs take in the metadata file."""
    ids = {"schemas": ("schema-id", set(schemas)), "partition-specs": ("spec-id", set(specs))}
    taken = 0
    for name, (key, unused) in ids.items():
        listed = metadata.raw.get(name)
        entries = [e for e in listed if isinstance(e, Mapping)] if unused and isinstance(listed, list) else []
        taken += sum(json_bytes(e) + 1 for e in entries if type(e.get(key)) is int and e[key] in unused)
    return taken


def json_bytes(value: Any) -> int:
    """Return the length of a value's compact text."""
    return (
        0 if value is None else len(json.dumps(value, separators=(",", ":"), ensure_ascii=False, default=str).encode())
    )


def _branch_policy(ref: Ref, now_ms: int, older_than_ms: int, least: int) -> BranchPolicy:
    if ref.max_snapshot_age_ms is not None:
        older_than_ms = now_ms - ref.max_snapshot_age_ms
    return BranchPolicy(ref, least if ref.min_snapshots_to_keep is None else ref.min_snapshots_to_keep, older_than_ms)


def _reasons_of_each(
    metadata: TableMetadata, parents: Parents, staying: Sequence[Ref], branches: Sequence[BranchPolicy]
) -> tuple[dict[int, list[Keeper]], dict[int, list[str]]]:
    """What keeps each snapshot by its refs and branches, in their order, and what speaks against it."""
    place = {ref.name: i for i, ref in enumerate(staying)}
    pointing: dict[int, list[Ref]] = {}
    for ref in staying:
        pointing.setdefault(ref.snapshot_id, []).append(ref)
    keepers: dict[int, list[Keeper]] = {}
    against: dict[int, list[str]] = {}
    verdicts = branch_verdicts(metadata.snapshots, parents, branches)
    for snapshot in metadata.snapshots:
        own, verdict = snapshot.snapshot_id, verdicts[snapshot.snapshot_id]
        here = pointing.get(own, [])
        reasons = [
            *(Keeper("ref", ref.name, f"{ref.type} {ref.name} points to it") for ref in here[:LISTED]),
            *(_keeps(branches[i], "youngest") for i in verdict.number),
            *(_keeps(branches[i], "age") for i in verdict.age),
        ]
        keepers[own] = sorted(reasons, key=lambda keeper: place[str(keeper.ref)])
        if more := len(here[LISTED:]):
            keepers[own].append(Keeper("more", None, f"{more:,} more branches and tags point to it"))
        if verdict.more_keep:
            keepers[own].append(Keeper("more", None, f"{verdict.more_keep:,} more branches keep it"))
        letting = [(i, _lets_go(branches[i])) for i in verdict.stop]
        letting += [(i, f"branch {branches[i].ref.name} lets a descendant of it go") for i in verdict.before]
        against[own] = [reason for _, reason in sorted(letting)]
        if verdict.more_stop:
            against[own].append(f"{verdict.more_stop:,} more branches let it go")
    return keepers, against


def _among(branch: BranchPolicy) -> str:
    return f"its {count(branch.least, 'youngest snapshot')}"


def _keeps(branch: BranchPolicy, rule: RetentionRule) -> Keeper:
    name = branch.ref.name
    what = _among(branch) if rule == "youngest" else f"what is not older than {instant(branch.older_than_ms)}"
    return Keeper(rule, name, f"branch {name} keeps {what}")


def _lets_go(branch: BranchPolicy) -> str:
    older = instant(branch.older_than_ms)
    return f"of branch {branch.ref.name} it is not among {_among(branch)}, and is older than {older}"


def _ref_retention(snapshot: Snapshot | None, ref: Ref, now_ms: int, max_ref_age: int) -> RefRetention:
    if ref.name == "main":
        return RefRetention(ref, True, "main never expires")
    if snapshot is None:
        return RefRetention(ref, False, f"{ref.type} {ref.name} points to a snapshot that is not there")
    limit = now_ms - (max_ref_age if ref.max_ref_age_ms is None else ref.max_ref_age_ms)
    if _at_or_after(snapshot, limit):
        return RefRetention(ref, True, f"the snapshot of {ref.type} {ref.name} is within its max-ref-age-ms")
    return RefRetention(
        ref, False, f"the snapshot of {ref.type} {ref.name} is older than {instant(limit)}: its max-ref-age-ms is over"
    )


def _at_or_after(snapshot: Snapshot, moment_ms: int) -> bool:
    """A snapshot that says no time is taken as young: what is in doubt is kept."""
    return snapshot.timestamp_ms is None or snapshot.timestamp_ms >= moment_ms


def _number(metadata: TableMetadata, name: str) -> int:
    text = metadata.properties.get(name)
    if text is None:
        return DEFAULTS[name]
    if not re.fullmatch(r"[+-]?\d+", text):
        raise ValueError(f"the table's property {name} is {text!r}, which is no whole number")
    return int(text)
