"""pyspark 3.5 to 4.1: it never forgets a Java process that has ended.

`SparkContext._gateway` is set once, and no method clears it: whoever wants Spark again in the same Python would ask the
process that is gone. SPARK-48711 (`stop` fails where Java is gone; closed) is near; no issue asks that the gateway be
forgotten. A gateway of ours that is connected to the new Java instead would need no patch, but objects of the old Java,
which a read that still runs has, would be taken for others in the new one: py4j numbers them."""

from __future__ import annotations

from explorer.errors import EngineError

OF_CONTEXT = ("_gateway", "_jvm", "_active_spark_context")


def forget_java() -> None:
    """Have pyspark forget its Java process, which has ended. Raises EngineError where it remembers it elsewhere."""
    import pyspark
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    if not all(hasattr(SparkContext, name) for name in OF_CONTEXT) or not hasattr(SparkSession, "_instantiatedSession"):
        raise EngineError(f"pyspark {pyspark.__version__} keeps its Java in another way: use 3.5 to 4.1")
    SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = None
