"""Engines run what metadata alone cannot answer. `spark` is the only module that imports pyspark."""
