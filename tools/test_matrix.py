"""Runs the Spark tests on every supported version of Spark, classic and on Spark Connect.

Each version has an environment of its own under .matrix, with the packages of requirements.lock,
that PySpark, and the Python that runs this or another one (``--python``). At the end a table says
how many tests passed, were skipped and failed, by what they promise; the exit status is 1 if any
failed.
"""

import argparse
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
MATRIX = ROOT / ".matrix"
VERSIONS = ("4.0.5", "4.1.4", "4.2.1", "4.3.0")
"""The last release of each minor version; the newest is the one in requirements.lock."""
CLASSIC, CONNECT = "classic", "connect"
QUICK = {
    "exactness": "tests/spark/test_exact.py",
    "budget": "tests/spark/test_budget.py",
    "restart": "tests/spark/test_restart.py",
    "errors": "tests/spark/test_errors.py",
    "quick start": "tests/spark/test_quick_start.py",
    "checkpoints": "tests/spark/test_adoption.py",
}
"""What is run by default: a file a promise."""
NO_STREAMS = {("4.0.5", CONNECT)}
"""Where Spark itself has no streams with Python state."""


def environment(version: str, interpreter: str | None) -> Path:
    """The Python of an environment with that PySpark, made if it is not there."""
    minor = ".".join(version.split(".")[:2])
    own = "" if interpreter is None else f"-{Path(interpreter).name}"
    folder = MATRIX / f"spark-{minor}{own}"
    python, stamp = folder / "bin" / "python", folder / f".pyspark-{version}"
    if stamp.exists():
        return python
    print(f"== making {folder.relative_to(ROOT)} with PySpark {version}", flush=True)
    uv = [str(Path(sys.executable).parent / "uv")]
    base = interpreter or sys.executable
    subprocess.run([*uv, "venv", "-q", "--clear", "-p", base, str(folder)], check=True)
    install = [*uv, "pip", "install", "-q", "-p", str(python)]
    subprocess.run([*install, f"pyspark[connect]=={version}", *locked()], check=True)
    subprocess.run(
        [*install, "--no-deps", "--no-build-isolation", "-e", str(ROOT)], check=True, cwd=ROOT
    )
    stamp.touch()
    return python


def locked() -> list[str]:
    """The locked packages, without PySpark and what it brings."""
    pins = re.findall(r"^([a-z0-9][^ \\\n]*==[^ \\\n;]+)", lock(), re.MULTILINE)
    return [pin for pin in pins if not pin.startswith(("pyspark", "py4j"))]


def lock() -> str:
    """The text of the lock file."""
    return (ROOT / "requirements.lock").read_text()


def tested(python: Path, version: str, kind: str, paths: list[str]) -> dict[str, Counter]:
    """Run the tests; how many passed, were skipped and failed, by file."""
    report = MATRIX / f"{version}-{kind}.xml"
    report.unlink(missing_ok=True)
    settings = {**os.environ, "PYSPARK_PYTHON": str(python)}
    if kind == CONNECT:
        settings["HEADGATE_TESTS_CONNECT"] = "1"
    print(f"== Spark {version}, {kind}", flush=True)
    command = [str(python), "-m", "pytest", "-q", "-m", "spark and not slow and not long"]
    subprocess.run(
        [*command, f"--junitxml={report}", "-p", "no:cacheprovider", *paths],
        env=settings,
        cwd=ROOT,
        check=False,
    )
    return counted(report)


def counted(report: Path) -> dict[str, Counter]:
    """The outcomes in a report of pytest, by file."""
    found: dict[str, Counter] = {}
    if not report.exists():
        return {"no report": Counter(failed=1)}
    for case in ET.parse(report).iter("testcase"):
        names = case.get("classname", "").split(".")
        name = next((part for part in names if part.startswith("test_")), names[-1])
        kinds = {child.tag for child in case}
        outcome = "failed" if kinds & {"failure", "error"} else "passed"
        outcome = "skipped" if "skipped" in kinds else outcome
        found.setdefault(name, Counter())[outcome] += 1
    return found


def shown(counts: Counter) -> str:
    """As in ``15`` or ``15 (2 skipped, 1 FAILED)``."""
    more = [f"{counts['skipped']} skipped"] if counts["skipped"] else []
    more += [f"{counts['failed']} FAILED"] if counts["failed"] else []
    return f"{counts['passed']} ({', '.join(more)})" if more else str(counts["passed"])


def table(results: dict[tuple[str, str], dict[str, Counter]]) -> str:
    """What ran where, with counts, as Markdown."""
    files = list(dict.fromkeys(name for result in results.values() for name in result))
    titles = {Path(path).stem: title for title, path in QUICK.items()}
    heads = ["Spark", "session", *(titles.get(name, name) for name in files), "all"]
    lines = [heads, ["---"] * len(heads)]
    for (version, kind), result in results.items():
        cells = [shown(result[name]) if name in result else "" for name in files]
        lines.append([version, kind, *cells, shown(sum(result.values(), Counter()))])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> int:
    """Run what was asked for; 1 if any test failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", help="of Spark, such as 4.1; all by default")
    parser.add_argument("--python", help="version or path, such as 3.13; this one by default")
    parser.add_argument("--all", action="store_true", help="every test on Spark")
    parser.add_argument("--promise", choices=QUICK, help="the tests of one promise; all by default")
    parser.add_argument("--kind", choices=(CLASSIC, CONNECT), help="of session; both by default")
    asked = parser.parse_args()
    versions = [each for each in VERSIONS if each.startswith(asked.version or "")]
    if not versions:
        parser.error(f"{asked.version} is none of {', '.join(VERSIONS)}")
    kinds = [asked.kind] if asked.kind else [CLASSIC, CONNECT]
    quick = [QUICK[asked.promise]] if asked.promise else list(QUICK.values())
    paths = ["tests/spark"] if asked.all else quick
    MATRIX.mkdir(exist_ok=True)
    results = {}
    for version in versions:
        python = environment(version, asked.python)
        for kind in kinds:
            if (version, kind) in NO_STREAMS:
                print(f"== Spark {version}, {kind}: has no streams with Python state")
                continue
            # Connect has no driver to ask: the whole folder tests much of that.
            chosen = quick if kind == CONNECT else paths
            results[version, kind] = tested(python, version, kind, chosen)
    print(table(results))
    return int(any(sum(each.values(), Counter())["failed"] for each in results.values()))


if __name__ == "__main__":
    sys.exit(main())
