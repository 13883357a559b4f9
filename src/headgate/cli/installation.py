"""Examines what is installed: Python, Java, packages, the kernel's machine code, extras."""

import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from headgate.report.finding import Finding, Verdict

OLDEST_PYTHON = (3, 11)
EXTRAS = {
    "jit": ("numba", "scores of your own, and other platforms"),
    "connect": ("grpc", "sessions of Spark Connect"),
    "watch": ("starlette", "the live page (hg.watch) and figures for Prometheus"),
    "lookup": ("psycopg", "lookups in PostgreSQL and DuckDB"),
    "importance": ("sqlglot", "importance by an expression"),
    "offline": ("ortools", "offline plans, and the best any policy could do"),
    "cli": ("matplotlib", "figures, reports and job files"),
}
"""Each extra with a module that it brings, and what that is for."""


def installed_findings(remote: bool) -> list[Finding]:
    """What is installed here; with ``remote``, for a client of a Connect server elsewhere."""
    found = [_python(), _kernel(), *_packages()]
    if not remote:
        found.append(_java())
    return found + [_extra(name, *told) for name, told in EXTRAS.items()]


def has_spark(findings: list[Finding]) -> bool:
    """Whether a session can be started with what is installed."""
    needed = ("PySpark", "protobuf", "Java", "pandas", "pyarrow")
    return not any(
        finding.verdict == Verdict.MISSING for finding in findings if finding.name in needed
    )


def _python() -> Finding:
    found = f"{platform.python_version()}, {sys.executable}"
    if sys.version_info >= OLDEST_PYTHON:
        return Finding("Python", found)
    return Finding("Python", found, Verdict.MISSING, "Headgate needs Python 3.11 or newer")


def _kernel() -> Finding:
    from headgate.compiling.machine_library import library_path, loaded, why_not

    if loaded() is not None:
        return Finding("kernel", f"machine code, {library_path().name}")
    if find_spec("numba") is not None:
        costs = f"{why_not()}: Numba compiles it at the first join, about a minute"
        return Finding("kernel", "compiled here by Numba", Verdict.SLOW, costs, "make kernel")
    return Finding("kernel", "none", Verdict.MISSING, why_not(), 'pip install "headgate[jit]"')


def _packages() -> list[Finding]:
    found = [_pyspark(), _package("pandas"), _package("pyarrow")]
    spark = _version_of("pyspark") or _version_of("pyspark-client")
    if spark is not None:
        found.append(_protobuf())
    return found


def _pyspark() -> Finding:
    from headgate.spec import SpecError

    found = _version_of("pyspark") or _version_of("pyspark-client")
    if found is None:
        costs = "no stream and no batch on Spark; run, profile and whatif work on tables"
        return Finding("PySpark", "none", Verdict.MISSING, costs, 'pip install "headgate[spark]"')
    try:
        from headgate.spark.installed_package import PYSPARK

        PYSPARK.check()
    except SpecError as error:
        return Finding("PySpark", found, Verdict.MISSING, str(error))
    only = "" if _version_of("pyspark") else ", a client of Spark Connect alone"
    return Finding("PySpark", f"{found}{only}")


def _protobuf() -> Finding:
    from headgate.spec import SpecError

    found = _version_of("protobuf") or "none"
    try:
        from headgate.spark.spark_versions import protobuf_here

        protobuf_here().check()
    except SpecError as error:
        said, _, add = str(error).partition(": pip install ")
        line = f"pip install {add}" if add else ""
        return Finding("protobuf", found, Verdict.MISSING, f"{said}; streams crash", line)
    return Finding("protobuf", found)


def _package(name: str) -> Finding:
    from headgate.spec import SpecError

    found = _version_of(name) or "none"
    try:
        from headgate.spark.installed_package import ALWAYS

        next(package for package in ALWAYS if package.name == name).check()
    except SpecError as error:
        return Finding(name, found, Verdict.MISSING, str(error))
    return Finding(name, found)


def _java() -> Finding:
    from headgate.spec import SpecError

    try:
        from headgate.spark.session import OLDEST_JAVA, java_version
    except SpecError:
        return Finding("Java", "not looked for without PySpark", Verdict.ABSENT)
    found = java_version()
    if found >= OLDEST_JAVA:
        return Finding("Java", str(found))
    costs = f"Spark {'does not start' if not found else 'needs Java 17 or newer'}"
    line = "apt-get install openjdk-17-jre-headless, or set JAVA_HOME"
    return Finding("Java", str(found or "none"), Verdict.MISSING, costs, line)


def _extra(name: str, module: str, gives: str) -> Finding:
    if find_spec(module) is not None:
        return Finding(f"headgate[{name}]", f"there: {gives}")
    line = f'pip install "headgate[{name}]"'
    return Finding(f"headgate[{name}]", "not there", Verdict.ABSENT, f"without: {gives}", line)


def _version_of(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
