"""Decoders of the files that a table consists of: JSON, Avro, Parquet, Puffin."""
