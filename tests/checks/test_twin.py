"""The plain-Python twin, which defines what is right, needs nothing of what it is compared with."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.compiling import Compiled
from headgate.kernel.step import Step
from headgate.kernel.twin.twin import Twin
from headgate.policies import ALL_POLICIES, Features, Heeb, Policy
from headgate.sampling import ALL_SAMPLERS
from tests.checks.generated import cases, deliveries
from tests.checks.runs import EVERY_ROW, run
from tests.thoroughness import examples

KERNEL = ("headgate.kernel.", "headgate.policies.kinds.", "headgate.policies.structures.")
"""What the twin is compared with. How a policy scores a row defines the policy, and is not."""
CALL = Compiled.__call__
EVERYONE = (*ALL_POLICIES, Features, *ALL_SAMPLERS, Heeb)


class Refused(Exception):
    """A compiled function of the kernel was called."""


def outside_the_kernel(function: Compiled, *arguments: Any, **named: Any) -> Any:
    """Call a compiled function, unless it is part of the kernel."""
    if function.name.startswith(KERNEL):
        raise Refused(function.name)
    return CALL(function, *arguments, **named)


@pytest.mark.parametrize(
    "policy", [*ALL_POLICIES, Features, *ALL_SAMPLERS, Heeb], ids=lambda p: p.name
)
@examples(3)
@given(data=st.data())
def test_the_twin_calls_nothing_of_the_kernel(policy: type[Policy], data: st.DataObject) -> None:
    case = data.draw(cases(policy))
    parts = data.draw(deliveries(case))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Compiled, "__call__", outside_the_kernel)
        assert run(case, parts, False, Twin, EVERY_ROW).steps
        with pytest.raises(Refused):
            run(case, parts, False, Step, EVERY_ROW)
