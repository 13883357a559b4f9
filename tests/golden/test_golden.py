"""Results are what they were, to the last digit; `make golden` accepts a change that is meant."""

from difflib import unified_diff

import pytest

from tests.golden import cases
from tests.golden.results import RESULTS


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_as_kept(name: str) -> None:
    kept = (cases.FOLDER / name).read_text().splitlines()
    now = RESULTS[name]().splitlines()
    changes = "\n".join(unified_diff(kept, now, "kept", "now", lineterm="", n=0))
    assert not changes, f"make golden accepts this:\n{changes}"
