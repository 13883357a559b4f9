"""Settings under which Spark is quick with many small queries, for tests."""

from tests.thoroughness import LONG

QUICK_TO_START: dict[str, str] = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""Tests run many queries over few rows, which are planned and compiled far longer than they run."""

if LONG:
    # The long round leaves Spark as users have it.
    QUICK_TO_START.clear()
