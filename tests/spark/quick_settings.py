"""Settings under which Spark is quick with many small queries, for tests."""

from tests.thoroughness import LONG

QUICK_TO_START: dict[str, str] = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""Tests run many queries over few rows, which are planned and compiled far longer than they run."""

QUICK_CHECKPOINTS: dict[str, str] = {
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing."
        "FileSystemBasedCheckpointFileManager"
    ),
}
"""The usual manager runs a process for every file it looks at, dozens a batch.

Programs that are killed keep it: how a file comes to be there at once or not at all is its part.
"""

if LONG:
    # The long round leaves Spark as users have it.
    QUICK_TO_START.clear()
    QUICK_CHECKPOINTS.clear()
