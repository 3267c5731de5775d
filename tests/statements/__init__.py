"""Statements that the product prints: found in its answers, and held to what Spark accepts.

`printed.py` lists all statements that are printed of a table, `spark35.py` is the grammar of CALL in Spark 3.5,
`parser35.py` asks the real parser, and `run35.py` runs them there."""
