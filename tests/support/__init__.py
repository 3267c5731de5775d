"""What several test folders use.

- `direct`: rules and reports asked without the answers that show them.
- `small_tables`: tables that pyiceberg commits. `paper_tables`: metadata without files.
- `every_type`, `other_types`: tables with every type, and with types that differ from the spec's.
- `helpers`: texts without ids and times. `ports`: free ports. `report_tables`: what the tests of public reports share.
- `tiers`: what each test needs, and which tests `make test` runs. `examples`: the examples of docstrings.

Programs that a person runs (`python -m tests.reference`) are in `tests` itself."""
