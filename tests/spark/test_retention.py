"""What expiry keeps, held against Iceberg's own RemoveSnapshots, which answers without committing."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path
from typing import Any

import pytest

from explorer.errors import NotPossible
from explorer.lab import scenarios
from explorer.lab.scenarios import SCENARIOS
from explorer.model.metadata import TableMetadata
from explorer.reports.maintenance import runs
from explorer.spark_engine.spark import SparkEngine
from explorer.spec.snapshots.retention import MAX_REF_AGE, MAX_SNAPSHOT_AGE, MIN_SNAPSHOTS, retention
from explorer.storage.metadata import parse_metadata
from tests.support import direct
from tests.support.helpers import open_demo
from tests.support.paper_tables import HOUR, table_metadata

CASES = 200


class Oracle:
    """Iceberg's answer for a metadata file, given as JSON."""

    def __init__(self, engine: SparkEngine) -> None:
        session: Any = engine.session()
        jvm, gateway = session._jvm, session._sc._gateway
        self.iceberg = jvm.org.apache.iceberg
        # what both apply() and commit() ask; apply() tells of the snapshots only
        none = gateway.new_array(jvm.java.lang.Class, 0)
        owner = jvm.java.lang.Class.forName("org.apache.iceberg.RemoveSnapshots")
        self.decide = owner.getDeclaredMethod("internalApply", none)
        self.decide.setAccessible(True)
        self.nothing = gateway.new_array(jvm.java.lang.Object, 0)

    def expire(self, text: str, older_than: int | None, retain_last: int | None) -> tuple[set[int], set[str]]:
        """(snapshot ids that would stay, refs that would stay). Raises what Iceberg raises."""
        after = json.loads(self.updated(text, older_than, retain_last))
        return {int(s["snapshot-id"]) for s in after["snapshots"]}, set(after["refs"])

    def updated(self, text: str, older_than: int | None, retain_last: int | None) -> str:
        """The metadata that would be committed. Raises what Iceberg raises."""
        metadata = self.iceberg.TableMetadataParser.fromJson("/t/metadata/v1.metadata.json", text)
        operations = self.iceberg.StaticTableOperations(metadata, None)
        pending = self.iceberg.BaseTable(operations, "t").expireSnapshots()
        if older_than is not None:
            pending = pending.expireOlderThan(older_than)
        if retain_last is not None:
            pending = pending.retainLast(retain_last)
        updated = self.decide.invoke(pending, self.nothing)
        return str(self.iceberg.TableMetadataParser.toJson(updated))


@pytest.fixture(scope="module")
def oracle(engine: SparkEngine) -> Oracle:
    return Oracle(engine)


def agree(oracle: Oracle, metadata: TableMetadata, text: str, older_than: int | None, retain_last: int | None) -> None:
    ours = retention(metadata, int(time.time() * 1000), older_than, retain_last)
    kept, refs = oracle.expire(text, older_than, retain_last)
    told = "\n".join(f"{s.snapshot.snapshot_id}: {s.reason}" for s in ours.snapshots)
    assert {s.snapshot_id for s in ours.snapshots_to_keep} == kept, (text, older_than, retain_last, told)
    assert {r.ref.name for r in ours.refs if r.kept} == refs
    assert all(s.keepers if s.is_kept else s.expired_because for s in ours.snapshots)


@pytest.mark.parametrize("name", [s.name for s in SCENARIOS])
def test_every_scenario(name: str, sandbox: Path, oracle: Oracle) -> None:
    metadata = open_demo(name).metadata
    text = json.dumps(dict(metadata.raw))
    times = [s.timestamp_ms or 0 for s in metadata.snapshots]
    moments = [None, *{t + d for t in (min(times), max(times), sorted(times)[len(times) // 2]) for d in (0, 1)}]
    for older_than in moments:
        for retain_last in (None, 1, 2):
            agree(oracle, metadata, text, older_than, retain_last)


def test_generated_refs_and_policies(oracle: Oracle) -> None:
    """A dozen snapshots in a tree, an hour apart; refs, policies and arguments at random, half an hour off."""
    chance = random.Random(12)
    now = int(time.time() * 1000)
    kinds = {"expired": 0, "refs gone": 0}
    for case in range(CASES):
        text = generated(chance, now)
        metadata, problems = parse_metadata(text.encode(), "/t/metadata/v1.metadata.json")
        assert not problems, case
        older_than = chance.choice([None, now, now - chance.randrange(13) * HOUR - HOUR // 2])
        retain_last = chance.choice([None, 1, 2, 3, 20])
        agree(oracle, metadata, text, older_than, retain_last)
        found = retention(metadata, now, older_than, retain_last)
        kinds["expired"] += bool(found.snapshots_to_expire)
        kinds["refs gone"] += any(not r.kept for r in found.refs)
    assert min(kinds.values()) > CASES // 5, kinds  # the cases are no trivial ones


def generated(chance: random.Random, now: int) -> str:
    def age() -> int:
        return chance.randrange(13) * HOUR + HOUR // 2

    parents: list[int | None] = [None]
    for i in range(1, 12):
        parents.append(None if chance.random() < 0.05 else chance.randrange(max(0, i - 3), i) + 1)
    if chance.random() < 0.2:
        parents[chance.randrange(1, 12)] = 99  # its parent has expired
    refs: dict[str, dict[str, Any]] = {"main": {"snapshot-id": chance.randrange(6, 13), "type": "branch"}}
    for i in range(chance.randrange(4)):
        refs[f"b{i}"] = {"snapshot-id": chance.randrange(1, 13), "type": "branch"}
    for i in range(chance.randrange(3)):
        refs[f"t{i}"] = {"snapshot-id": chance.randrange(1, 13), "type": "tag"}
    for ref in refs.values():
        if ref["type"] == "branch" and chance.random() < 0.5:
            ref["min-snapshots-to-keep"] = chance.randrange(1, 5)
        if ref["type"] == "branch" and chance.random() < 0.5:
            ref["max-snapshot-age-ms"] = age()
        if chance.random() < 0.4:
            ref["max-ref-age-ms"] = age()
    properties = {}
    for name, value in (
        (MAX_SNAPSHOT_AGE, age()),
        (MIN_SNAPSHOTS, chance.randrange(0, 5)),
        (MAX_REF_AGE, age()),
    ):
        if chance.random() < 0.4:
            properties[name] = str(value)
    return table_metadata(parents, refs, properties, now)


def test_where_iceberg_refuses_we_say_so(oracle: Oracle) -> None:
    now = int(time.time() * 1000)
    main = {"main": {"snapshot-id": 2, "type": "branch"}}
    for properties, retain_last in (
        ({"gc.enabled": "false"}, 1),
        ({"gc.enabled": "no"}, 1),
        ({MIN_SNAPSHOTS: "many"}, 1),
        ({MAX_REF_AGE: " 5"}, 1),
        ({MAX_SNAPSHOT_AGE: "1_000"}, None),
        ({}, 0),
    ):
        text = table_metadata([None, 1], main, properties, now)
        metadata, _ = parse_metadata(text.encode(), "m")
        with pytest.raises(ValueError, match=r"property|at least 1"):
            retention(metadata, now, None, retain_last)
        with pytest.raises(Exception, match=r"GC is disabled|For input string|at least 1"):
            oracle.expire(text, None, retain_last)


def test_the_preview_and_the_procedure_agree_on_policies(sandbox: Path, engine: SparkEngine) -> None:
    """A branch keeps two snapshots, a tag's time is over, and statistics go with their snapshot."""
    session = engine.session()
    name = scenarios.fresh_copy("three_inserts")
    first = direct.open_table(name).metadata.snapshots[0].snapshot_id
    for sql in (
        f"ALTER TABLE sandbox.{name} CREATE BRANCH audit RETAIN 30 DAYS WITH SNAPSHOT RETENTION 2 SNAPSHOTS",
        f"ALTER TABLE sandbox.{name} CREATE TAG opening AS OF VERSION {first}",
        f"ALTER TABLE sandbox.{name} SET TBLPROPERTIES ('{MIN_SNAPSHOTS}' = '9', '{MAX_REF_AGE}' = '1')",
        f"CALL sandbox.system.compute_table_stats(table => '{name}', snapshot_id => {first})",
        f"CALL sandbox.system.compute_table_stats(table => '{name}')",
        f"INSERT INTO sandbox.{name} SELECT * FROM sandbox.{name} LIMIT 1",
    ):
        session.sql(sql)
    table = direct.open_table(name)
    assert len({s.path for s in table.metadata.statistics}) == 2
    root = Path(table.metadata.location.removeprefix("file:"))
    there = {str(p) for p in root.rglob("*") if p.is_file() and p.suffix != ".crc"}
    now = {"older_than": "2999-01-01"}
    seen = runs.preview(table, "expire", retain_last=1, options=now)
    assert "1 snapshot of 4" in seen.words[0]
    assert any(w.startswith("The tag opening would go") for w in seen.words)
    assert any("snapshot-2 to snapshot-3, since branch audit keeps its 2 youngest" in w for w in seen.words)
    _, after = runs.run(table, "expire", retain_last=1, options=now, engine=engine)
    left = {str(p) for p in root.rglob("*")}
    assert {p.removeprefix("file:") for p in seen.files} == there - left
    assert any(p.endswith(".stats") for p in seen.files)
    assert sorted(r.name for r in after.metadata.refs) == ["audit", "main"]
    assert len(after.metadata.snapshots) == 3


def test_without_garbage_collection_nothing_goes(sandbox: Path, engine: SparkEngine) -> None:
    name = scenarios.fresh_copy("three_inserts")
    engine.session().sql(f"ALTER TABLE sandbox.{name} SET TBLPROPERTIES ('gc.enabled' = 'false')")
    table = direct.open_table(name)
    for operation in ("expire", "remove-orphans"):
        seen = runs.preview(table, operation)
        assert seen.words[0].startswith("Iceberg would refuse: ")
        assert seen.files == []
        with pytest.raises(NotPossible):
            runs.run(table, operation, engine=engine)
        assert direct.open_table(name).metadata.metadata_location == table.metadata.metadata_location
