"""Plans of maintenance held against Iceberg's own planners, on tables that are made of metadata alone."""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from explorer.reports.maintenance import preview, runs
from explorer.reports.maintenance.expiry import plan_expiry
from explorer.reports.maintenance.manifest_rewrites import plan_append
from explorer.reports.maintenance.procedure_calls import bind_filter
from explorer.reports.maintenance.rewrites import RewritePlan, plan_rewrite
from explorer.spark_engine.spark import SparkEngine
from explorer.spec.maintenance.manifest_merges import next_append
from explorer.spec.maintenance.rewrite_options import OPTIONS, Strategy
from explorer.table import Table
from tests.spark.planner_oracle import Iceberg
from tests.support import direct

SCHEMA = {"type": "struct", "fields": [{"id": 1, "name": "id", "required": False, "type": "long"},
                                       {"id": 2, "name": "day", "required": False, "type": "int"}]}  # fmt: skip
BY_DAY = [{"source-id": 2, "field-id": 1000, "name": "day", "transform": "identity"}]
TARGET = 1000
CASES = 8


@pytest.fixture(scope="module")
def iceberg(engine: SparkEngine) -> Iceberg:
    return Iceberg(engine)


class Maker:
    """A table without data: files of chosen sizes, which do not exist."""

    def __init__(self, iceberg: Iceberg, folder: Path, spec: list[dict[str, Any]], version: int = 2) -> None:
        self.iceberg, self.made = iceberg, iceberg.create(folder, SCHEMA, spec, version)
        self.folder, self.count = folder, 0

    def set(self, **properties: str) -> None:
        update = self.made.updateProperties()
        for name, value in properties.items():
            update = update.set(name, value)
        update.commit()

    def evolve(self, name: str = "") -> None:
        """Partition by the id too, or no longer by a field."""
        change = self.made.updateSpec()
        (change.removeField(name) if name else change.addField("id")).commit()

    def file(self, kind: str, size: int, rows: int, partition: Any = None, spec: int | None = None, **more: Any) -> Any:
        """A data file, or a delete file."""
        self.count += 1
        made, known = self.made, self.made.specs().get(self.made.spec().specId() if spec is None else spec)
        path = f"{made.location()}/data/{kind}-{self.count}.{'puffin' if kind == 'vector' else 'parquet'}"
        content = {"data": "data", "position": "position-deletes", "vector": "position-deletes"}.get(
            kind, "equality-deletes"
        )
        fields = json.loads(self.iceberg.iceberg.PartitionSpecParser.toJson(known))["fields"]
        values = {str(f["field-id"]): partition for f in fields} if partition is not None else {}
        told = {
            "spec-id": known.specId(), "content": content, "file-path": path, "partition": values,
            "file-format": "puffin" if kind == "vector" else "parquet", "file-size-in-bytes": size,
            "record-count": rows, **more,
        }  # fmt: skip
        if kind == "equality":
            told["equality-ids"] = [1]
        node = self.iceberg.iceberg.util.JsonUtil.mapper().readTree(json.dumps(told))
        return self.iceberg.iceberg.ContentFileParser.fromJson(node, self.made.specs())

    def append(self, *files: Any) -> None:
        change = self.made.newFastAppend()
        for file in files:
            change = change.appendFile(file)
        change.commit()

    def delete(self, *files: Any) -> None:
        change = self.made.newRowDelta()
        for file in files:
            change = change.addDeletes(file)
        change.commit()

    def remove(self, *files: Any) -> None:
        change = self.made.newDelete()
        for file in files:
            change = change.deleteFile(file)
        change.commit()

    def listed(self) -> list[Any]:
        """The manifests of the current snapshot."""
        return list(each(self.made.currentSnapshot().allManifests(self.made.io())))

    def opened(self) -> Table:
        self.made.refresh()
        return direct.open_table(str(self.folder))

    def planner(self, options: Mapping[str, str], deletes: bool = False) -> Any:
        actions = self.iceberg.iceberg.actions
        known = (actions.BinPackRewritePositionDeletePlanner if deletes else actions.BinPackRewriteFilePlanner)(
            self.made
        )
        known.init(dict(options))
        return known

    def theirs(self, options: Mapping[str, str], deletes: bool = False) -> list[tuple[frozenset[str], int, int, int]]:
        """Iceberg's groups: paths, files that it expects, bytes of a split, of a file at most."""
        groups = each(self.planner(options, deletes).plan().groups())
        return [
            (frozenset(f"{t.file().location()}@{t.file().contentOffset() or ''}" for t in g.fileScanTasks()),
             g.expectedOutputFiles(), g.inputSplitSize(), g.maxOutputFileSize())
            for g in groups
        ]  # fmt: skip


def each(iterable: Any) -> Iterator[Any]:
    items = iterable.iterator()
    while items.hasNext():
        yield items.next()


def ours(plan: RewritePlan) -> list[tuple[frozenset[str], int, int, int]]:
    paths: dict[int, set[str]] = {}
    for part in plan.files.read():
        for row in part.to_pylist():
            if row["becomes"] == "rewritten":
                paths.setdefault(row["group"], set()).add(f"{row['file']}@")
    rewritten = [g for g in plan.grouping.groups if g.is_rewritten]
    assert {g.number for g in rewritten} == set(paths)
    assert all(g.files == len(paths[g.number]) for g in rewritten)
    most = plan.rule.max_output_bytes
    return [(frozenset(paths[g.number]), g.expected_files, g.split_bytes, most) for g in rewritten]


def drawn_options(rng: random.Random) -> dict[str, str]:
    """Some options, which Iceberg would take."""
    options = {
        "target-file-size-bytes": str(TARGET), "min-file-size-bytes": str(rng.randint(0, TARGET - 1)),
        "max-file-size-bytes": str(rng.randint(TARGET + 1, 2 * TARGET)), "min-input-files": str(rng.randint(1, 6)),
        "max-file-group-size-bytes": str(rng.choice([1750, 2000, rng.randint(500, 8000)])),
        "rewrite-all": rng.choice(["false", "TRUE", "no"]),
        "max-file-group-input-files": str(rng.randint(1, 7)), "delete-file-threshold": str(rng.randint(0, 3)),
        "delete-ratio-threshold": f"{rng.uniform(0.01, 1):.2f}",
        "rewrite-job-order": rng.choice(["none", "bytes-asc", "bytes-desc", "files-asc", "FILES-desc"]),
        "max-files-to-rewrite": str(rng.randint(1, 12)),
    }  # fmt: skip
    chosen = {name: value for name, value in options.items() if rng.random() < 0.35}
    return {"target-file-size-bytes": str(TARGET), **chosen}


@pytest.mark.parametrize("case", range(CASES))
def test_groups_are_those_of_icebergs_planner(case: int, iceberg: Iceberg, tmp_path: Path) -> None:
    """Files of one manifest for each spec: of several, Iceberg's planner reads whichever comes first."""
    rng = random.Random(case)
    version, partitioned = rng.choice([1, 2, 3]), rng.random() < 0.6
    table = Maker(iceberg, tmp_path / "t", BY_DAY if partitioned else [], version)
    days = [None, 1, 2] if partitioned else [None]

    def data() -> Any:
        return table.file("data", rng.choice([rng.randint(1, 3 * TARGET), TARGET, 750, 751, 1800, 1801]),
                          rng.choice([0, 10, 100]), rng.choice(days))  # fmt: skip

    files = [data() for _ in range(rng.randint(1, 25))]
    table.append(*files)
    if version > 1:
        for _ in range(rng.randint(0, 3)):
            table.delete(*deletes(table, rng, version, files, days))
    other = version > 1 and rng.random() < 0.4
    if other:
        table.evolve()
        table.append(*(table.file("data", rng.randint(1, 2000), 10, rng.choice([None, 3])) for _ in range(6)))
    known = table.opened()
    for _ in range(6):
        options = drawn_options(rng)
        if other or len(days) > 1:  # which partition comes first is not told
            options.pop("max-files-to-rewrite", None)
        if other:  # nor which manifest
            options |= {"max-file-group-size-bytes": "1000000"}
            options.pop("max-file-group-input-files", None)
        plan = plan_rewrite(known, "binpack", options, "", "local")
        mine, theirs = ours(plan), table.theirs(options)
        assert sorted(map(repr_of, mine)) == sorted(map(repr_of, theirs)), options
        sizes = {f"{r['file']}@": r["bytes"] for part in plan.files.read() for r in part.to_pylist()}
        by = options.get("rewrite-job-order", "none").lower().partition("-")[0]
        if by != "none":
            told = [
                [len(g[0]) if by == "files" else sum(map(sizes.__getitem__, g[0])) for g in x] for x in (mine, theirs)
            ]
            assert told[0] == told[1]


def repr_of(group: tuple[frozenset[str], int, int, int]) -> str:
    return repr((sorted(group[0]), *group[1:]))


def deletes(table: Maker, rng: random.Random, version: int, files: list[Any], days: list[Any]) -> list[Any]:
    """Deletes of every kind that a version takes, for some files."""
    made = [table.file("equality", 50, 5, rng.choice(days))] if rng.random() < 0.5 else []
    if version == 2:
        made.append(table.file("position", rng.randint(1, 90), rng.randint(1, 60), rng.choice(days)))
    for at, file in enumerate(rng.sample(files, k=min(3, len(files)))):
        day = file.partition().get(0, table.iceberg.jvm.java.lang.Object._java_lang_class) if len(days) > 1 else None
        named = {"referenced-data-file": str(file.location())}
        if version == 3 and not any(
            named["referenced-data-file"] == v for v in table.__dict__.setdefault("vectors", [])
        ):
            table.__dict__["vectors"].append(named["referenced-data-file"])
            named |= {"content-offset": 4 + 50 * at, "content-size-in-bytes": 40}
            made.append(table.file("vector", 400, rng.randint(1, 60), day, **named))
        elif version == 2:
            made.append(table.file("position", 40, rng.randint(1, 60), day, **named))
    return made


def test_options_are_those_that_spark_takes(iceberg: Iceberg, tmp_path: Path) -> None:
    """By what the actions, runners and planners of the pinned version say."""
    table = Maker(iceberg, tmp_path / "t", []).made
    jvm, gateway = iceberg.jvm, iceberg.gateway
    spark = iceberg.spark._jsparkSession
    none = gateway.new_array(jvm.java.lang.Class, 0)

    def own(name: str) -> set[str]:
        field = jvm.java.lang.Class.forName(f"org.apache.iceberg.spark.actions.{name}").getDeclaredField(
            "VALID_OPTIONS"
        )
        field.setAccessible(True)
        return set(field.get(None))

    def asked_of(name: str, *arguments: Any) -> set[str]:
        owner = jvm.java.lang.Class.forName(f"org.apache.iceberg.spark.actions.{name}")
        [made] = [c for c in owner.getDeclaredConstructors() if c.getParameterCount() == len(arguments)]
        made.setAccessible(True)
        given = gateway.new_array(jvm.java.lang.Object, len(arguments))
        for at, value in enumerate(arguments):
            given[at] = value
        asked = owner.getMethod("validOptions", none)
        asked.setAccessible(True)
        return set(asked.invoke(made.newInstance(given), gateway.new_array(jvm.java.lang.Object, 0)))

    actions, columns = iceberg.iceberg.actions, jvm.java.util.ArrayList(["id"])
    order = iceberg.iceberg.SortOrder.builderFor(table.schema()).asc("id").build()
    always = iceberg.iceberg.expressions.Expressions.alwaysTrue()
    data = own("RewriteDataFilesSparkAction")
    shuffled = data | asked_of("SparkShufflingDataRewritePlanner", table, always, None, False)
    theirs: dict[Strategy, set[str]] = {
        "binpack": data
        | asked_of("SparkBinPackFileRewriteRunner", spark, table)
        | set(actions.BinPackRewriteFilePlanner(table).validOptions()),
        "sort": shuffled | asked_of("SparkSortFileRewriteRunner", spark, table, order),
        "zorder": shuffled | asked_of("SparkZOrderFileRewriteRunner", spark, table, columns),
        "position-deletes": own("RewritePositionDeleteFilesSparkAction")
        | asked_of("SparkRewritePositionDeleteRunner", spark, table)
        | set(actions.BinPackRewritePositionDeletePlanner(table).validOptions()),
    }
    assert {name: set(options) for name, options in OPTIONS.items()} == theirs


REFUSED = [
    {"min-file-size-bytes": "1000"}, {"max-file-size-bytes": "1000"}, {"target-file-size-bytes": "0"},
    {"min-input-files": "0"}, {"max-file-group-size-bytes": "-1"}, {"delete-ratio-threshold": "0"},
    {"delete-ratio-threshold": "1.1"}, {"delete-file-threshold": "-1"}, {"max-files-to-rewrite": "0"},
    {"rewrite-job-order": "size"}, {"min-input-files": "many"}, {"min-input-files": "3000000000"},
    {"output-spec-id": "7"}, {"max-file-group-input-files": "0"},
]  # fmt: skip


def test_what_iceberg_refuses_is_refused(iceberg: Iceberg, tmp_path: Path) -> None:
    table = Maker(iceberg, tmp_path / "t", [])
    table.append(table.file("data", 10, 1))
    known = table.opened()
    for options in REFUSED:
        options = {"target-file-size-bytes": str(TARGET), **options}
        with pytest.raises((Py4JJavaError, PySparkException)):
            table.planner(options)
        with pytest.raises(ValueError, match=r"must be|there is no|which is no|there are"):
            plan_rewrite(known, "binpack", options, "", "local")
    with pytest.raises(ValueError, match=r"no option 'min-files': there are .*min-input-files"):
        plan_rewrite(known, "binpack", {"min-files": "2"}, "", "local")


def test_position_deletes_are_grouped_as_iceberg_does(iceberg: Iceberg, tmp_path: Path) -> None:
    """Of two specs, one manifest each: files of equal partitions go together."""
    rng = random.Random(5)
    table = Maker(iceberg, tmp_path / "t", BY_DAY, 2)
    table.append(*(table.file("data", 100, 10, day) for day in (1, 2)))
    table.delete(*(table.file("position", rng.randint(1, 3000), 5, rng.choice([1, 2])) for _ in range(30)))
    known = table.opened()
    for _ in range(8):
        options = {k: v for k, v in drawn_options(rng).items() if k in OPTIONS["position-deletes"]}
        plan = plan_rewrite(known, "position-deletes", options, "", "local")
        assert sorted(map(repr_of, ours(plan))) == sorted(map(repr_of, table.theirs(options, deletes=True))), options


def test_a_filter_leaves_what_icebergs_leaves(iceberg: Iceberg, tmp_path: Path) -> None:
    table = Maker(iceberg, tmp_path / "t", BY_DAY)
    table.append(*(table.file("data", 100, 10, day) for day in (1, 2, 3) for _ in range(6)))
    where = "day >= 2 and id > 7"
    plan = plan_rewrite(table.opened(), "binpack", {}, where, "local")
    filtered = iceberg.expression(bind_filter(table.opened(), where), table.made)
    planner = iceberg.iceberg.actions.BinPackRewriteFilePlanner(table.made, filtered)
    planner.init({})
    theirs = {frozenset(f"{t.file().location()}@" for t in g.fileScanTasks()) for g in each(planner.plan().groups())}
    assert {paths for paths, *_ in ours(plan)} == theirs
    assert len(theirs) == 2


@pytest.mark.parametrize("case", range(8))
def test_the_next_append_merges_as_planned(case: int, iceberg: Iceberg, tmp_path: Path) -> None:
    """Held against the manifests of a real append that is applied, and not committed."""
    rng = random.Random(100 + case)
    table = Maker(iceberg, tmp_path / "t", BY_DAY if case % 2 else [], 2)
    added = []
    for _ in range(rng.randint(1, 9)):
        if case == 5 and len(added) == 3:
            table.evolve()
        files = [table.file("data", 100, 10, 1 if case % 2 else None) for _ in range(rng.choice([1, 2, 60]))]
        table.append(*files)
        added.append(files)
        if rng.random() < 0.5:
            table.delete(table.file("equality", 40, 2, 1 if case % 2 else None))
    if case == 3:
        table.remove(*added[0])
    sizes = sorted(m.length() for m in table.listed())
    sizes = [sizes[-1] + 10, 3 * sizes[-1], 1 << 20]
    properties = {"commit.manifest.min-count-to-merge": str(rng.choice([2, 4, 100])),
                  "commit.manifest-merge.enabled": "false" if case == 7 else "true",
                  "commit.manifest.target-size-bytes": str(rng.choice(sizes))}  # fmt: skip
    table.set(**properties)
    known = table.opened()
    listed = known.tree.manifests(known.metadata.current_snapshot)
    pending = table.made.newAppend().appendFile(table.file("data", 100, 10, 1 if case % 2 else None))
    theirs = list(each(pending.apply().allManifests(table.made.io())))
    length = min(m.length() for m in table.listed())  # of one file: like that of this append
    bins = next_append(listed, known.metadata.properties, known.metadata.default_spec_id or 0, length)
    kept = [m.manifest_path for b in bins if not b.merged for m in b.manifests]
    assert {str(m.path()) for m in theirs} & {m.manifest_path for m in listed} == set(kept)
    expected = sum(1 if b.merged else len(b.manifests) + b.with_new for b in bins)
    assert len(theirs) == expected
    live = sorted(
        sum((m.added_files_count or 0) + (m.existing_files_count or 0) for m in b.manifests) + b.with_new
        for b in bins if b.merged
    )  # fmt: skip
    new = [m for m in theirs if str(m.path()) not in kept]
    counts = [m.addedFilesCount() + m.existingFilesCount() for m in new]
    alone = sum(b.with_new and not b.merged for b in bins)
    assert sorted(counts) == sorted([*live, *[1] * alone])
    words, rows = plan_append(known.tree)
    assert len({r["manifest_path"] for r in rows} - {None}) == len(listed)
    assert f"{expected} manifest" in words[0]


def test_expiry_by_id_and_of_metadata(iceberg: Iceberg, engine: SparkEngine, tmp_path: Path) -> None:
    """Snapshots, schemas and specs that Iceberg's RemoveSnapshots would leave, for drawn arguments."""
    rng = random.Random(9)
    table = Maker(iceberg, tmp_path / "t", BY_DAY)
    for number in range(4):
        table.append(table.file("data", 100, 10, 1))
        if number == 1:
            table.made.updateSchema().addColumn("more", iceberg.iceberg.types.Types.LongType.get()).commit()
        if number == 2:
            table.evolve()
    table.made.updateSchema().addColumn("unused", iceberg.iceberg.types.Types.LongType.get()).commit()
    for name in ("day", "id"):
        table.evolve(name)
    table.made.manageSnapshots().createTag("kept", table.made.currentSnapshot().parentId()).commit()
    known = table.opened()
    ids = [s.snapshot_id for s in known.metadata.snapshots]
    seen = set()
    for _ in range(24):
        chosen = [i for i in ids if rng.random() < 0.3]
        older = rng.choice([None, int(time.time() * 1000), known.metadata.snapshots[2].timestamp_ms])
        last, clean = rng.choice([None, 1, 2]), rng.random() < 0.7
        values = {"snapshot_ids": chosen, "clean_expired_metadata": clean}
        values |= {k: v for k, v in (("older_than", older), ("retain_last", last)) if v is not None}
        theirs = removed(iceberg, table.made, values)
        try:
            ours = plan_expiry(known.tree, values)
        except ValueError:
            assert theirs is None, values
            continue
        assert theirs is not None, values
        left = ({s.snapshot_id for s in ours.decided.snapshots_to_keep},
                {s.schema_id for s in known.metadata.schemas} - set(ours.schemas),
                {s.spec_id for s in known.metadata.partition_specs} - set(ours.specs))  # fmt: skip
        assert left == theirs, values
        seen.add((len(left[0]), len(left[1]), len(left[2])))
    assert {schemas for _, schemas, _ in seen} == {2, 3}
    assert {specs for *_, specs in seen} == {3, 4}


def removed(iceberg: Iceberg, table: Any, values: Mapping[str, Any]) -> tuple[set[int], set[int], set[int]] | None:
    """What RemoveSnapshots would leave: snapshots, schemas, specs. None where it refuses."""
    jvm, gateway = iceberg.jvm, iceberg.gateway
    pending = table.expireSnapshots().cleanExpiredMetadata(values["clean_expired_metadata"])
    for snapshot_id in values["snapshot_ids"]:
        pending = pending.expireSnapshotId(snapshot_id)
    if "older_than" in values:
        pending = pending.expireOlderThan(values["older_than"])
    if "retain_last" in values:
        pending = pending.retainLast(values["retain_last"])
    owner = jvm.java.lang.Class.forName("org.apache.iceberg.RemoveSnapshots")
    decide = owner.getDeclaredMethod("internalApply", gateway.new_array(jvm.java.lang.Class, 0))
    decide.setAccessible(True)
    try:
        updated = decide.invoke(pending, gateway.new_array(jvm.java.lang.Object, 0))
    except (Py4JJavaError, PySparkException):
        return None
    after = json.loads(str(iceberg.iceberg.TableMetadataParser.toJson(updated)))
    keys = (("snapshots", "snapshot-id"), ("schemas", "schema-id"), ("partition-specs", "spec-id"))
    return tuple({int(x[key]) for x in after[name]} for name, key in keys)  # type: ignore[return-value]


def test_a_scheme_that_differs_is_told_as_spark_finds_it(iceberg: Iceberg, tmp_path: Path) -> None:
    """Metadata names a file with another scheme than it is listed with. The action runs, on a table that may break."""
    table = Maker(iceberg, tmp_path / "t", [])
    folder = tmp_path / "t" / "data"
    (folder / "_hidden").mkdir(parents=True)
    file = table.file("data", 4, 1)
    live = str(file.location())
    node = json.loads(str(iceberg.iceberg.ContentFileParser.toJson(file, table.made.specs().get(0))))
    node["file-path"] = f"hdfs://cluster{live.removeprefix('file:')}"
    tree = iceberg.iceberg.util.JsonUtil.mapper().readTree(json.dumps(node))
    table.append(iceberg.iceberg.ContentFileParser.fromJson(tree, table.made.specs()))
    for name in (live.removeprefix("file:"), folder / "stray", folder / "_hidden" / "x", folder / ".crc"):
        Path(name).write_text("left")
        os.utime(name, (1, 1))
    (folder / "young").write_text("left")
    known, data = table.opened(), Path(live).name
    for mode, fate in (("ERROR", "in doubt"), ("IGNORE", "kept"), ("DELETE", "removed")):
        seen = preview(known, "remove-orphans", options={"prefix_mismatch_mode": mode})
        becomes = {Path(row["file"]).name: row["becomes"] for row in seen.tables["files"]}
        assert becomes.pop(data) == fate
        rest = {"stray": "removed", "x": "not listed", ".crc": "not listed", "young": "too young"}
        assert {name: what for name, what in becomes.items() if not name.endswith(".crc") or name == ".crc"} == rest
        assert ("1 live file would be removed" in seen.words[0]) == (mode == "DELETE")
        assert ("would refuse" in seen.words[0]) == (mode == "ERROR")
    equal = {"equal_schemes": '{"hdfs": "file"}', "equal_authorities": '{"cluster": ""}'}
    assert all(not row["live"] for row in preview(known, "remove-orphans", options=equal).tables["files"])
    action = iceberg.iceberg.spark.actions.SparkActions.get().deleteOrphanFiles(table.made)
    modes = getattr(iceberg.iceberg.actions, "DeleteOrphanFiles$PrefixMismatchMode")
    before = set(folder.rglob("*"))
    with pytest.raises((Py4JJavaError, PySparkException)):
        action.execute()
    action.prefixMismatchMode(modes.valueOf("DELETE")).execute()
    assert {path.name for path in before - set(folder.rglob("*"))} == {data, "stray"}


def test_which_commit_drops_dangling_deletes(iceberg: Iceberg, tmp_path: Path) -> None:
    """Deletes older than every data file go with the next commit that removes a data file, and no other."""
    table = Maker(iceberg, tmp_path / "t", [])
    table.delete(table.file("equality", 40, 2), table.file("position", 40, 2))
    table.append(file := table.file("data", 100, 10), table.file("data", 100, 10))
    seen = preview(table.opened(), "dangling-deletes")
    ways = [row["dropped_by"] for row in seen.tables["deletes"]]
    assert [("the next commit that removes data files" in way) for way in ways] == [True, True]
    assert all("remove-dangling-deletes" in way for way in ways)

    def deletes_after(change: Any) -> int:
        listed = each(change.apply().deleteManifests(table.made.io()))
        return sum(m.existingFilesCount() + m.addedFilesCount() for m in listed)

    assert deletes_after(table.made.newAppend().appendFile(table.file("data", 100, 10))) == 2
    assert deletes_after(table.made.newDelete().deleteFile(file)) == 0


def test_what_never_ends_is_told_and_never_ends(sandbox: Path, engine: SparkEngine) -> None:
    """Sorting a little more than the target makes two files that are too small; so does a Parquet writer that is asked
    for less than a row group. Each is run twice, and there is as much to do as before."""
    session = engine.session()
    for name, value, share, operation, said in (
        ("endless_sort", "rand(1)", 1.2, "compact-sort", "It may never end: 1 group would come out below"),
        ("endless_groups", "concat(repeat('a', 90), id)", 4.0, "compact", "Files may come out smaller than the target"),
    ):
        session.sql(f"DROP TABLE IF EXISTS sandbox.lab.{name}")
        session.sql(
            f"CREATE TABLE sandbox.lab.{name} USING iceberg AS SELECT id, {value} AS x FROM range(0, 24000, 1, 6)"
        )
        table = direct.open_table(f"lab.{name}")
        size = sum(f["file_size_in_bytes"] for f in table.files())
        options = {"target-file-size-bytes": str(int(size / share)), "min-input-files": "2"}
        taken = []
        for _ in range(2):
            seen = preview(table, operation, options=options)
            assert any(words.startswith(said) for words in seen.words), seen.words
            _, table = runs.run(table, operation, options=options, engine=engine)
            taken.append([row["becomes"] for row in preview(table, operation, options=options).tables["groups"]])
        assert taken == [["rewritten"], ["rewritten"]]
        again = preview(table, operation, options=options).words
        assert any(words.startswith("The last rewrite (snapshot-3) wrote ") for words in again), again
