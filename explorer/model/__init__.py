"""What an Iceberg table's metadata says, as frozen dataclasses with the spec's names. Imports nothing of ours."""
