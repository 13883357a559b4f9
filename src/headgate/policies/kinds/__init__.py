"""The kinds of score that policies rank rows by, one per file.

A kind of score is a class here: its arrays, its compiled operations for the kernel, and the same in
plain Python, against which the kernel is checked. To add one, write its file and add it to `KINDS`.
Kinds live with the policies, below the kernel, since policies derive from the base class in the
same file; shared structures are in `policies/structures`.
"""

from headgate.policies.kinds.age_score import AgeKind
from headgate.policies.kinds.class_age_score import ClassAgeKind
from headgate.policies.kinds.curve_score import CurveKind
from headgate.policies.kinds.density_score import DensityKind
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
    DensityKind,
    ClassAgeKind,
)
"""All kinds of score; compiled code identifies each by its place in this list."""

__all__ = ["KINDS", "Kind"]
