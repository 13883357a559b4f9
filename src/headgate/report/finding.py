"""What an examination finds: what is there, what it costs, and the line that mends it."""

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Verdict(StrEnum):
    """How good something is."""

    FINE = "fine"
    SLOW = "slow"
    """Works, and costs something."""
    UNSET = "unset"
    """Needed, and set by one line in the program."""
    MISSING = "missing"
    """Needed, and not there."""
    ABSENT = "absent"
    """Optional, and not there."""


@dataclass(frozen=True)
class Finding:
    """One line of a report.

    Parameters
    ----------
    name
        What was looked at.
    found
        What is there.
    verdict
        How good that is.
    costs
        What it costs as it is.
    add
        What to run or write to mend it.
    """

    name: str
    found: str
    verdict: Verdict = Verdict.FINE
    costs: str = ""
    add: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The finding for a machine to read."""
        return asdict(self)


def is_ready(findings: list[Finding]) -> bool:
    """Whether nothing that is needed is missing.

    Examples
    --------
    >>> is_ready([Finding("Java", "17"), Finding("protobuf", "none", Verdict.MISSING)])
    False
    """
    return all(finding.verdict != Verdict.MISSING for finding in findings)
