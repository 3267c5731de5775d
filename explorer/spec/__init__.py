"""Pure functions over the model: no files, no Spark, no widgets."""
