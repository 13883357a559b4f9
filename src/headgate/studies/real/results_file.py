"""Results of the bench of real streams in a file, so that only what has changed is run again.

A result is known by its stream, seed, form, memory and policy, and by a hash of the source code
that it depends on: the kernel for all, the policy's own file, and what is learned for those that
learn.
"""

import ast
import csv
import hashlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path

import headgate

PACKAGE = Path(headgate.__file__).parent
EVERY = ("kernel", "policies/kinds", "policies/structures", "policies/policy.py", "trials")
LEARNING = ("learning", "policies/learned.py", "engine/limits.py", "models")
OFFLINE = ("policies/offline",)
AUTO, LEARNED = "auto", ("prob", "life", "age", "density")
EXACT, CEILING, PLAN = "exact", "ceiling", "plan"
"""What stands for a policy where all pairs, the bound, and what its plan makes are meant."""


@dataclass(frozen=True)
class PolicyResult:
    """What a policy made of a stream within a memory, in pairs."""

    stream: str
    form: str
    seed: int
    memory: float
    rows: int
    policy: str
    source: str
    """A hash of the source code that the result depends on."""
    made: float
    settled: float
    """Of them, those after the first two windows."""
    followed: str = ""
    """The policy that "auto" mostly followed."""
    cpu_s: float = 0.0

    @property
    def asked(self) -> tuple[str, str, int, float, str, str]:
        """What it is the result of."""
        return self.stream, self.form, self.seed, self.memory, self.policy, self.source


class ResultsFile:
    """A CSV file of results, of which the last of each counts."""

    def __init__(self, path: Path, resume: bool) -> None:
        self._path = path
        self._known: dict[tuple[str, str, int, float, str, str], PolicyResult] = {}
        if resume and path.exists():
            with path.open(newline="") as lines:
                for line in csv.DictReader(lines):
                    self._take(_parsed(line))

    def find(
        self, stream: str, form: str, seed: int, memory: float, policy: str
    ) -> PolicyResult | None:
        """The result of the code as it is, where there is one."""
        return self._known.get((stream, form, seed, memory, policy, source_hash(policy)))

    def add(self, results: Iterable[PolicyResult]) -> None:
        """Keep results; the file is written at once, so that a run may be cut short."""
        for result in results:
            self._take(result)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("w", newline="") as lines:
            names = [field.name for field in fields(PolicyResult)]
            writer = csv.DictWriter(lines, names, lineterminator="\n")
            writer.writeheader()
            writer.writerows(asdict(result) for result in self._known.values())

    def _take(self, result: PolicyResult) -> None:
        older = [known for known in self._known if known[:-1] == result.asked[:-1]]
        for known in older:
            del self._known[known]
        self._known[result.asked] = result


def _parsed(line: dict[str, str]) -> PolicyResult:
    return PolicyResult(
        stream=line["stream"],
        form=line["form"],
        seed=int(line["seed"]),
        memory=float(line["memory"]),
        rows=int(line["rows"]),
        policy=line["policy"],
        source=line["source"],
        made=float(line["made"]),
        settled=float(line["settled"]),
        followed=line["followed"],
        cpu_s=float(line["cpu_s"]),
    )


@cache
def source_hash(policy: str) -> str:
    """Of the source code that a policy's result depends on; comments and docstrings do not count.

    Examples
    --------
    >>> source_hash("fifo") == source_hash("lru")
    False
    """
    parts = [*EVERY, f"policies/{policy.replace('-', '_')}.py"]
    if policy in (CEILING, PLAN):
        parts += OFFLINE
    if policy == AUTO or policy in LEARNED:
        parts += LEARNING
    files: set[Path] = set()
    for part in parts:
        place = PACKAGE / part
        files |= {place} if place.is_file() else set(place.rglob("*.py"))
    if policy == AUTO:
        files |= set((PACKAGE / "policies").glob("[!_]*.py"))
    told = hashlib.sha256()
    for path in sorted(files):
        told.update(_code_of(path).encode())
    return told.hexdigest()[:12]


def _code_of(path: Path) -> str:
    """What a file does: its syntax, without comments and docstrings."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            node.body = [part for part in node.body if not _is_text(part)]
    return ast.dump(tree)


def _is_text(part: ast.stmt) -> bool:
    return isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant)
