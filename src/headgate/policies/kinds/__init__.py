"""The kinds of score, one a file: what a policy may rank rows by, and how that is done quickly.

A kind of score is a class here: what it keeps, what the kernel does for it in compiled code, and
the same in plain Python, by which the kernel is checked. To add one, write its file and add it to
`KINDS`. Kinds lie with the policies, below the kernel, since authors derive from the base class in
the same file; the structures that they share are in `policies/structures`.
"""

from headgate.policies.kinds.age_score import AgeKind
from headgate.policies.kinds.curve_score import CurveKind
from headgate.policies.kinds.fixed_score import FixedKind
from headgate.policies.kinds.flips import FlipsKind
from headgate.policies.kinds.history_score import HistoryKind
from headgate.policies.kinds.kind import Kind
from headgate.policies.kinds.residence_score import ResidenceKind
from headgate.policies.kinds.value_score import ValueKind

KINDS: tuple[type[Kind], ...] = (
    FixedKind,
    AgeKind,
    ValueKind,
    HistoryKind,
    FlipsKind,
    CurveKind,
    ResidenceKind,
)
"""Every kind there is; compiled code knows each by its place here."""

__all__ = ["KINDS", "Kind"]
