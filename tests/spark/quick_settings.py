"""Settings under which Spark is quick with many small queries, for tests."""

from tests.thoroughness import LONG

NO_DATA_BATCHES = "spark.sql.streaming.noDataMicroBatches.enabled"
"""Whether Spark runs a batch without rows, for the watermark alone, once it has moved."""

QUICK_JAVA = " ".join(
    (
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        # 48 MB, as this compiler has by default, are full after some fifty queries.
        "-XX:ReservedCodeCacheSize=256m",
        # Classes of the installed jars, loaded by the ten thousand, need no verification.
        "-XX:+UnlockDiagnosticVMOptions",
        "-XX:-BytecodeVerificationRemote",
    )
)
QUICK_TO_START: dict[str, str] = {
    "spark.driver.extraJavaOptions": f"{QUICK_JAVA} -Djdk.lang.Process.launchMechanism=VFORK",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    # Hadoop runs chmod or readlink for every step of writing a local file, and does all of it twice
    # where it keeps checksums of its own beside the files.
    "spark.hadoop.fs.AbstractFileSystem.file.impl": "org.apache.hadoop.fs.local.RawLocalFs",
    # A batch without rows costs as much as one with some: tests of what happens there ask for it.
    NO_DATA_BATCHES: "false",
    # Nobody reads the plans that Spark would otherwise write out for its user interface.
    "spark.sql.ui.explainMode": "simple",
}
"""Tests run many queries over few rows, which are planned and compiled far longer than they run."""

QUICK_MACHINE = {"JAVA_TOOL_OPTIONS": QUICK_JAVA}
"""The same for sessions that other code makes, by an environment variable."""

if LONG:
    # The long round leaves Spark as users have it.
    QUICK_TO_START.clear()
    QUICK_MACHINE.clear()
