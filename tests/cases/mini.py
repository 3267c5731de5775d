"""A small writer of Iceberg tables where every field can be set: for tables that are wrong on purpose."""

import json
import struct
import sys
import uuid as uuids
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq

T0 = 1_750_000_000_000  # a time of the first commit, in milliseconds


def arrow_type(kind):
    named = {
        "int": pa.int32(),
        "long": pa.int64(),
        "string": pa.string(),
        "double": pa.float64(),
        "float": pa.float32(),
        "boolean": pa.bool_(),
        "date": pa.date32(),
        "timestamp": pa.timestamp("us"),
        "timestamptz": pa.timestamp("us", "UTC"),
        "timestamp_ns": pa.timestamp("ns"),
        "binary": pa.binary(),
        "uuid": pa.binary(16),
        "time": pa.time64("us"),
    }
    if kind in named:
        return named[kind]
    if kind.startswith("decimal"):
        p, s = kind[8:-1].split(",")
        return pa.decimal128(int(p), int(s))
    if kind.startswith("fixed"):
        return pa.binary(int(kind[6:-1]))
    raise ValueError(kind)


def single(kind, value):
    """A value in the spec's single-value binary form."""
    if value is None:
        return None
    if kind in ("int", "date"):
        if isinstance(value, date):
            value = (value - date(1970, 1, 1)).days
        return struct.pack("<i", value)
    if kind in ("long", "timestamp", "timestamptz", "time", "timestamp_ns"):
        if isinstance(value, datetime):
            d = value.replace(tzinfo=None) - datetime(1970, 1, 1)
            value = (d.days * 86_400 + d.seconds) * 1_000_000 + d.microseconds
        return struct.pack("<q", value)
    if kind == "double":
        return struct.pack("<d", value)
    if kind == "float":
        return struct.pack("<f", value)
    if kind == "string":
        return value.encode()
    if kind == "boolean":
        return b"\1" if value else b"\0"
    if kind.startswith("decimal"):
        u = int(Decimal(value).scaleb(int(kind[8:-1].split(",")[1])))
        return u.to_bytes(max(1, (u + (u < 0)).bit_length() // 8 + 1), "big", signed=True)
    return bytes(value)


def avro_of(kind):
    named = {
        "int": "int",
        "long": "long",
        "string": "string",
        "double": "double",
        "float": "float",
        "boolean": "boolean",
        "date": {"type": "int", "logicalType": "date"},
        "binary": "bytes",
        "timestamp": {"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": False},
        "timestamptz": {"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": True},
    }
    if kind == "uuid":
        return {"type": "fixed", "size": 16, "name": "uuid_fixed", "logicalType": "uuid"}
    return named[kind]


def result_type(transform, source):
    if transform.startswith("bucket") or transform in ("year", "month", "hour"):
        return "int"
    return "date" if transform == "day" else source


def opt(name, kind, fid, **more):
    return {"name": name, "type": ["null", kind], "default": None, "field-id": fid, **more}


def amap(k, v, value):
    return {
        "type": "array",
        "logicalType": "map",
        "items": {
            "type": "record",
            "name": f"k{k}_v{v}",
            "fields": [{"name": "key", "type": "int", "field-id": k}, {"name": "value", "type": value, "field-id": v}],
        },
    }


def entry_schema(version, partition_fields):
    """partition_fields: (field id, name, Iceberg result type)."""
    part = {
        "type": "record",
        "name": "r102",
        "fields": [
            {"name": n, "type": ["null", avro_of(t)], "default": None, "field-id": i} for i, n, t in partition_fields
        ],
    }
    df = []
    if version > 1:
        df.append({"name": "content", "type": "int", "field-id": 134})
    df += [
        {"name": "file_path", "type": "string", "field-id": 100},
        {"name": "file_format", "type": "string", "field-id": 101},
        {"name": "partition", "type": part, "field-id": 102},
        {"name": "record_count", "type": "long", "field-id": 103},
        {"name": "file_size_in_bytes", "type": "long", "field-id": 104},
    ]
    if version == 1:
        df.append({"name": "block_size_in_bytes", "type": "long", "field-id": 105})
    df += [
        opt("column_sizes", amap(117, 118, "long"), 108),
        opt("value_counts", amap(119, 120, "long"), 109),
        opt("null_value_counts", amap(121, 122, "long"), 110),
        opt("nan_value_counts", amap(138, 139, "long"), 137),
        opt("lower_bounds", amap(126, 127, "bytes"), 125),
        opt("upper_bounds", amap(129, 130, "bytes"), 128),
        opt("key_metadata", "bytes", 131),
        opt("split_offsets", {"type": "array", "items": "long", "element-id": 133}, 132),
    ]
    if version > 1:
        df.append(opt("equality_ids", {"type": "array", "items": "int", "element-id": 136}, 135))
    df.append(opt("sort_order_id", "int", 140))
    if version > 2:
        df += [
            opt("first_row_id", "long", 142),
            opt("referenced_data_file", "string", 143),
            opt("content_offset", "long", 144),
            opt("content_size_in_bytes", "long", 145),
        ]
    elif version == 2:
        df.append(opt("referenced_data_file", "string", 143))
    fields = [
        {"name": "status", "type": "int", "field-id": 0},
        opt("snapshot_id", "long", 1) if version > 1 else {"name": "snapshot_id", "type": "long", "field-id": 1},
    ]
    if version > 1:
        fields += [opt("sequence_number", "long", 3), opt("file_sequence_number", "long", 4)]
    fields.append({"name": "data_file", "type": {"type": "record", "name": "r2", "fields": df}, "field-id": 2})
    return {"type": "record", "name": "manifest_entry", "fields": fields}


def list_schema(version):
    summary = {
        "type": "record",
        "name": "r508",
        "fields": [
            {"name": "contains_null", "type": "boolean", "field-id": 509},
            opt("contains_nan", "boolean", 518),
            opt("lower_bound", "bytes", 510),
            opt("upper_bound", "bytes", 511),
        ],
    }
    req = lambda n, t, i: {"name": n, "type": t, "field-id": i}  # noqa: E731
    f = [req("manifest_path", "string", 500), req("manifest_length", "long", 501), req("partition_spec_id", "int", 502)]
    if version > 1:
        f += [req("content", "int", 517), req("sequence_number", "long", 515), req("min_sequence_number", "long", 516)]
    f.append(req("added_snapshot_id", "long", 503))
    for n, t, i in [
        ("added_files_count", "int", 504),
        ("existing_files_count", "int", 505),
        ("deleted_files_count", "int", 506),
        ("added_rows_count", "long", 512),
        ("existing_rows_count", "long", 513),
        ("deleted_rows_count", "long", 514),
    ]:
        f.append(req(n, t, i) if version > 1 else opt(n, t, i))
    f.append(opt("partitions", {"type": "array", "items": summary, "element-id": 508}, 507))
    f.append(opt("key_metadata", "bytes", 519))
    if version > 2:
        f.append(opt("first_row_id", "long", 520))
    return {"type": "record", "name": "manifest_file", "fields": f}


def pairs(d):
    return None if d is None else [{"key": k, "value": v} for k, v in d.items()]


class Table:
    def __init__(self, folder, fields, spec=(), version=2, location=None, properties=None, spec_id=0, uuid=None):
        """fields: (id, name, type, required); spec: (source id, field id, name, transform)."""
        self.folder = Path(folder).resolve()
        (self.folder / "metadata").mkdir(parents=True, exist_ok=True)
        (self.folder / "data").mkdir(exist_ok=True)
        self.location = location or f"file://{self.folder}"
        self.version, self.n, self.clock = version, -1, T0
        self.snaps, self.lists, self.next_row = 0, {}, 0
        fields = [f if len(f) == 4 else (*f, False) for f in fields]
        self.md = {
            "format-version": version,
            "table-uuid": uuid or str(uuids.UUID(int=0x1234_5678_4000_8000_0000_0000_0000_0001)),
            "location": self.location,
            "last-sequence-number": 0,
            "last-updated-ms": T0,
            "last-column-id": max(f[0] for f in fields),
            "current-schema-id": 0,
            "schemas": [self.schema(0, fields)],
            "default-spec-id": spec_id,
            "partition-specs": [self.spec(spec_id, spec)],
            "last-partition-id": max([f[1] for f in spec], default=999),
            "default-sort-order-id": 0,
            "sort-orders": [{"order-id": 0, "fields": []}],
            "properties": properties or {},
            "current-snapshot-id": None,
            "snapshots": [],
            "snapshot-log": [],
            "metadata-log": [],
            "refs": {},
            "statistics": [],
            "partition-statistics": [],
        }
        if version == 1:
            self.md.pop("last-sequence-number")
        if version > 2:
            self.md["next-row-id"] = 0
        self.save()

    @staticmethod
    def schema(i, fields):
        fields = [f if len(f) == 4 else (*f, False) for f in fields]
        return {
            "type": "struct",
            "schema-id": i,
            "fields": [{"id": f[0], "name": f[1], "required": f[3], "type": f[2]} for f in fields],
        }

    @staticmethod
    def spec(i, fields):
        return {
            "spec-id": i,
            "fields": [{"source-id": s, "field-id": f, "name": n, "transform": t} for s, f, n, t in fields],
        }

    def current(self):
        return next(s for s in self.md["schemas"] if s["schema-id"] == self.md["current-schema-id"])["fields"]

    def spec_fields(self, spec_id):
        return next(s for s in self.md["partition-specs"] if s["spec-id"] == spec_id)["fields"]

    def set_schema(self, fields, i=None):
        i = len(self.md["schemas"]) if i is None else i
        self.md["schemas"].append(self.schema(i, fields))
        self.md["current-schema-id"] = i
        self.md["last-column-id"] = max(self.md["last-column-id"], *(f[0] for f in fields))

    def set_spec(self, fields, i=None):
        i = len(self.md["partition-specs"]) if i is None else i
        self.md["partition-specs"].append(self.spec(i, fields))
        self.md["default-spec-id"] = i
        self.md["last-partition-id"] = max([self.md["last-partition-id"], *(f[1] for f in fields)])

    # -- files

    def local(self, path):
        return Path(path[len(self.location) + 1 :] if False else str(path).replace(self.location, str(self.folder), 1))

    def parquet(self, name, rows, ids=True, fields=None, path=None, **kw):
        """Writes rows (a dict of lists, or an arrow table) as Parquet with field ids; answers a data_file."""
        fields = fields or self.current()
        if isinstance(rows, dict):
            used = [f for f in fields if f["name"] in rows]
            rows = pa.table(
                [pa.array(rows[f["name"]], arrow_type(f["type"])) for f in used], names=[f["name"] for f in used]
            )
        if ids:
            by = {f["name"]: f for f in fields}
            rows = rows.cast(
                pa.schema(
                    [
                        c.with_metadata({"PARQUET:field_id": str(by[c.name]["id"])}) if c.name in by else c
                        for c in rows.schema
                    ]
                )
            )
        uri = path or f"{self.location}/data/{name}"
        file = self.local(uri)
        file.parent.mkdir(parents=True, exist_ok=True)
        wk = {k: kw.pop(k) for k in ("coerce_timestamps", "row_group_size") if k in kw}
        pq.write_table(rows, file, **wk)
        d = {
            "content": 0,
            "file_path": uri,
            "file_format": "PARQUET",
            "partition": {},
            "record_count": rows.num_rows,
            "file_size_in_bytes": file.stat().st_size,
            "split_offsets": [4],
            "sort_order_id": 0,
        }
        m = {"value_counts": {}, "null_value_counts": {}, "lower_bounds": {}, "upper_bounds": {}}
        for f in fields:
            if f["name"] not in rows.column_names or not isinstance(f["type"], str):
                continue
            c = rows[f["name"]]
            m["value_counts"][f["id"]] = len(c)
            m["null_value_counts"][f["id"]] = c.null_count
            py = [v for v in c.to_pylist() if v is not None and v == v]
            if py:
                m["lower_bounds"][f["id"]], m["upper_bounds"][f["id"]] = (
                    single(f["type"], min(py)),
                    single(f["type"], max(py)),
                )
        d.update(m)
        d.update(kw)
        return d

    def position_delete(self, name, rows, path=None, **kw):
        t = pa.table({"file_path": pa.array([r[0] for r in rows]), "pos": pa.array([r[1] for r in rows], pa.int64())})
        t = t.cast(
            pa.schema(
                [
                    pa.field("file_path", pa.string(), False, {"PARQUET:field_id": "2147483546"}),
                    pa.field("pos", pa.int64(), False, {"PARQUET:field_id": "2147483545"}),
                ]
            )
        )
        uri = path or f"{self.location}/data/{name}"
        pq.write_table(t, self.local(uri))
        paths = sorted({r[0] for r in rows})
        return {
            "content": 1,
            "file_path": uri,
            "file_format": "PARQUET",
            "partition": {},
            "record_count": len(rows),
            "file_size_in_bytes": self.local(uri).stat().st_size,
            "split_offsets": [4],
            "lower_bounds": {2147483546: paths[0].encode()},
            "upper_bounds": {2147483546: paths[-1].encode()},
            **kw,
        }

    def equality_delete(self, name, rows, **kw):
        d = self.parquet(name, rows)
        ids = [f["id"] for f in self.current() if f["name"] in rows]
        d.update({"content": 2, "equality_ids": ids, **kw})
        return d

    # -- manifests, lists, snapshots

    def manifest(
        self,
        name,
        entries,
        content=0,
        spec_id=None,
        header=None,
        version=None,
        edit_schema=None,
        snapshot=None,
        seq=None,
        **over,
    ):
        """entries: (status, data_file, {more}); answers the record for a list."""
        version = version or self.version
        spec_id = self.md["default-spec-id"] if spec_id is None else spec_id
        spec = self.spec_fields(spec_id)
        types = {f["id"]: f["type"] for s in self.md["schemas"] for f in s["fields"]}
        pf = [
            (f["field-id"], f["name"], result_type(f["transform"], types.get(f["source-id"], "string"))) for f in spec
        ]
        schema = entry_schema(version, pf)
        if edit_schema:
            schema = edit_schema(schema) or schema
        rows = []
        for status, df, more in [(*e, {}) if len(e) == 2 else e for e in entries]:
            df = {
                k: (
                    pairs(v)
                    if k
                    in (
                        "column_sizes",
                        "value_counts",
                        "null_value_counts",
                        "nan_value_counts",
                        "lower_bounds",
                        "upper_bounds",
                    )
                    else v
                )
                for k, v in df.items()
            }
            df.setdefault("block_size_in_bytes", 67108864)
            df["partition"] = {n: df["partition"].get(n) for _, n, _ in pf}
            rows.append(
                {
                    "status": status,
                    "snapshot_id": snapshot or self.snaps + 1 + 100,
                    "sequence_number": None if status == 1 else more.get("sequence_number"),
                    "file_sequence_number": None
                    if status == 1
                    else more.get("file_sequence_number", more.get("sequence_number")),
                    "data_file": df,
                    **more,
                }
            )
        meta = {
            "schema": json.dumps(next(s for s in self.md["schemas"] if s["schema-id"] == self.md["current-schema-id"])),
            "schema-id": str(self.md["current-schema-id"]),
            "partition-spec": json.dumps(spec),
            "partition-spec-id": str(spec_id),
            "format-version": str(version),
        }
        if version > 1:
            meta["content"] = "deletes" if content else "data"
        for k, v in (header or {}).items():
            meta.pop(k, None) if v is None else meta.__setitem__(k, v)
        path = self.folder / "metadata" / name
        with open(path, "wb") as f:
            fastavro.writer(f, schema, rows, codec="deflate", metadata=meta)
        live = [r for r in rows if r["status"] != 2]
        n = lambda s: sum(r["status"] == s for r in rows)  # noqa: E731
        c = lambda s: sum(r["data_file"]["record_count"] for r in rows if r["status"] == s)  # noqa: E731
        summaries = []
        for _, name_, t in pf:
            vs = [r["data_file"]["partition"][name_] for r in rows]
            some = [v for v in vs if v is not None]
            summaries.append(
                {
                    "contains_null": len(some) < len(vs),
                    "contains_nan": False if t in ("float", "double") else None,
                    "lower_bound": single(t, min(some)) if some else None,
                    "upper_bound": single(t, max(some)) if some else None,
                }
            )
        seq = seq if seq is not None else self.md.get("last-sequence-number", 0) + 1
        return {
            "manifest_path": f"{self.location}/metadata/{name}",
            "manifest_length": path.stat().st_size,
            "partition_spec_id": spec_id,
            "content": content,
            "sequence_number": seq,
            "min_sequence_number": min(
                [seq if r.get("sequence_number") is None else r["sequence_number"] for r in live], default=seq
            ),
            "added_snapshot_id": snapshot or self.snaps + 1 + 100,
            "added_files_count": n(1),
            "existing_files_count": n(0),
            "deleted_files_count": n(2),
            "added_rows_count": c(1),
            "existing_rows_count": c(0),
            "deleted_rows_count": c(2),
            "partitions": summaries,
            "first_row_id": None,
            **over,
        }

    def snapshot(
        self,
        operation,
        manifests,
        summary=None,
        sid=None,
        parent="current",
        list_name=None,
        ref="main",
        write_list=True,
        list_header=None,
        edit_list=None,
        step=60_000,
        **over,
    ):
        self.snaps += 1
        sid = sid or self.snaps + 100
        self.clock += step
        seq = self.md.get("last-sequence-number", 0) + 1
        row = self.next_row
        for m in manifests:
            if self.version > 2 and m["content"] == 0 and m.get("first_row_id") is None:
                m["first_row_id"] = row
                row += m["added_rows_count"] + m["existing_rows_count"]
        name = list_name or f"snap-{sid}-1-{uuids.UUID(int=sid)}.avro"
        schema = list_schema(self.version)
        if edit_list:
            schema = edit_list(schema) or schema
        if write_list:
            meta = {"snapshot-id": str(sid), "sequence-number": str(seq), "format-version": str(self.version)}
            for k, v in (list_header or {}).items():
                meta.pop(k, None) if v is None else meta.__setitem__(k, v)
            with open(self.folder / "metadata" / name, "wb") as f:
                fastavro.writer(f, schema, manifests, codec="deflate", metadata=meta)
        data = [m for m in manifests if m["content"] == 0]
        self.md["snapshots"][-1]["summary"] if self.md["snapshots"] else {}
        dels = [m for m in manifests if m["content"] == 1]
        s = {
            "operation": operation,
            "total-data-files": str(sum(m["added_files_count"] + m["existing_files_count"] for m in data)),
            "total-delete-files": str(sum(m["added_files_count"] + m["existing_files_count"] for m in dels)),
            "total-records": str(sum(m["added_rows_count"] + m["existing_rows_count"] for m in data)),
            **(summary or {}),
        }
        snap = {
            "snapshot-id": sid,
            "sequence-number": seq,
            "timestamp-ms": self.clock,
            "summary": s,
            "manifest-list": f"{self.location}/metadata/{name}",
            "schema-id": self.md["current-schema-id"],
        }
        if parent == "current":
            parent = self.md["refs"].get(ref, {}).get("snapshot-id")
        if parent is not None:
            snap["parent-snapshot-id"] = parent
        if self.version == 1:
            snap.pop("sequence-number")
        if self.version > 2:
            snap["first-row-id"], snap["added-rows"] = self.next_row, row - self.next_row
            self.next_row = self.md["next-row-id"] = row
        snap.update(over)
        snap = {k: v for k, v in snap.items() if v is not ...}
        self.md["snapshots"].append(snap)
        if self.version > 1:
            self.md["last-sequence-number"] = seq
        if ref == "main":
            self.md["current-snapshot-id"] = sid
            self.md["snapshot-log"].append({"snapshot-id": sid, "timestamp-ms": self.clock})
        if ref:
            self.md["refs"][ref] = {"snapshot-id": sid, "type": "branch"}
        self.md["last-updated-ms"] = self.clock
        self.lists[sid] = manifests
        self.save()
        return sid

    def uid(self):
        return uuids.UUID(int=0xABCD << 64 | self.snaps + 1)

    def append(self, *files, name=None, **kw):
        """A fast append."""
        before = self.lists.get(self.md["current-snapshot-id"], [])
        m = self.manifest(name or f"{self.uid()}-m0.avro", [(1, f) for f in files], snapshot=kw.get("sid"))
        return self.snapshot(
            "append",
            [*before, m],
            {"added-data-files": str(len(files)), "added-records": str(sum(f["record_count"] for f in files))},
            **kw,
        )

    def delta(self, data=(), deletes=(), operation="overwrite", **kw):
        before = self.lists.get(self.md["current-snapshot-id"], [])
        new = []
        if data:
            new.append(self.manifest(f"{self.uid()}-m0.avro", [(1, f) for f in data]))
        if deletes:
            new.append(self.manifest(f"{self.uid()}-m1.avro", [(1, f) for f in deletes], content=1))
        s = {"added-delete-files": str(len(deletes))}
        if data:
            s |= {"added-data-files": str(len(data)), "added-records": str(sum(f["record_count"] for f in data))}
        return self.snapshot(operation, [*before, *new], s, **kw)

    def save(self, name=None, log=True):
        """The next metadata file."""
        if self.n >= 0 and log:
            self.md["metadata-log"].append(
                {"metadata-file": f"{self.location}/metadata/{self.last}", "timestamp-ms": self.stamp}
            )
        self.n += 1
        self.last = name or f"{self.n:05d}-{uuids.UUID(int=self.n)}.metadata.json"
        self.stamp = self.md["last-updated-ms"]
        self.write()

    def write(self):
        md = {k: v for k, v in self.md.items() if not (k == "current-snapshot-id" and v is None)}
        (self.folder / "metadata" / self.last).write_text(json.dumps(md, indent=1))


def target():
    if len(sys.argv) != 2:
        sys.exit("usage: build.py FOLDER")
    return sys.argv[1]
