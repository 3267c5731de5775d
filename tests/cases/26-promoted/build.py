from tests.cases.mini import *

# v3: int became long, float double, date timestamp; the older file's bounds are of the old types' widths.
old = [(1, "i", "int"), (2, "f", "float"), (3, "d", "date"), (4, "x", "decimal(5,2)")]
new = [(1, "i", "long"), (2, "f", "double"), (3, "d", "timestamp"), (4, "x", "decimal(12,2)")]
t = Table(target(), old, version=3)
t.append(
    t.parquet(
        "old.parquet",
        {
            "i": [-5, 7],
            "f": [0.5, 1.5],
            "d": [date(1969, 12, 30), date(2024, 2, 29)],
            "x": [Decimal("1.00"), Decimal("2.50")],
        },
    )
)
t.set_schema(new)
t.save()
t.append(
    t.parquet(
        "new.parquet",
        {
            "i": [2**40, 2**41],
            "f": [0.1, 1e300],
            "d": [datetime(2024, 3, 1, 5), datetime(2024, 3, 2)],
            "x": [Decimal("9999999.00")] * 2,
        },
    )
)
