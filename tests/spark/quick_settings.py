"""Settings under which Spark is quick with many small queries, for tests."""

QUICK_TO_START = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    # The usual one runs a process for every file it looks at, dozens a batch.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing."
        "FileSystemBasedCheckpointFileManager"
    ),
}
"""Tests run many queries over few rows, which are planned and compiled far longer than they run.

The long round leaves Spark as users have it, and so does `in_one_gigabyte.py` in every round, for
a join of streams, a join of bounded inputs and a lookup.
"""
