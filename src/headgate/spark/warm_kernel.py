"""Compiles the kernel once, before workers need it."""

from dataclasses import replace

import numpy as np

from headgate.kernel.rows import Rows
from headgate.kernel.step import Step
from headgate.kernel.step_input import StepInput
from headgate.kernel.terms import Terms


def warm_kernel(terms: Terms) -> None:
    """Run the kernel on two rows, so that its compiled form is in the disk cache."""
    one = Rows.of_arrivals(
        np.array([1, 2]), np.zeros(2, np.int32), np.ones(2, np.int64), np.zeros(2)
    )
    if terms.where is not None:
        one = one._replace(value=np.zeros(2, np.float64 if terms.where.real else np.int64))
    small = replace(terms, most_rows=(1, 1))
    nothing = (Rows.empty(), Rows.empty())
    for _ in Step(StepInput(small, nothing, (one, one), codes=1)).pairs():
        pass
