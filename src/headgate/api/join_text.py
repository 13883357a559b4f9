"""A join as one would write it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from headgate.policies import Policy, make_policy
from headgate.spec import How, MaxSubset, SpecError
from headgate.spec.how import Unmatched

if TYPE_CHECKING:
    from headgate.engine.request import Request

USUAL_SUFFIX = "_right"


def written(join: "Request", lines: bool) -> str:
    """The call that makes a join, in one line or with a line for each argument."""
    arguments = [f"{name}={value}" for name, value in _arguments(join)]
    if not lines:
        return f"WindowJoin({', '.join(arguments)})"
    return "\n".join(["WindowJoin(", *(f"    {argument}," for argument in arguments), ")"])


def _arguments(join: "Request") -> Iterator[tuple[str, str]]:
    keys = join.keys
    if join.how != How.INNER:
        yield "how", _quoted(str(join.how))
    if keys.left and keys.left == keys.right:
        yield "on", _columns(keys.left)
    elif keys.left:
        yield "left_on", _columns(keys.left)
        yield "right_on", _columns(keys.right)
    if join.where is not None:
        yield "where", repr(join.where)
    yield "left", repr(join.left)
    yield "right", repr(join.right)
    yield "budget", repr(join.budget)
    if not isinstance(join.goal, MaxSubset):
        yield "goal", repr(join.goal)
    if not join.policy.samples:
        yield "policy", _policy(join.policy)
    if join.policy.learned is not None and join.policy.learned.prior:
        yield "prior", _quoted(join.policy.learned.prior)
    if join.features:
        yield "features", f"[{', '.join(map(_quoted, join.features))}]"
    if join.unmatched != Unmatched.CERTAIN:
        yield "unmatched", _quoted(str(join.unmatched))
    if join.rates is not None:
        yield "rates", repr(join.rates)
    if join.index is not None:
        yield "index", repr(tuple(each.value for each in join.index))
    if join.suffix != USUAL_SUFFIX:
        yield "suffix", _quoted(join.suffix)
    if join.seed:
        yield "seed", repr(join.seed)


def _columns(names: tuple[str, ...]) -> str:
    if len(names) == 1:
        return _quoted(names[0])
    return f"[{', '.join(map(_quoted, names))}]"


def _policy(policy: Policy) -> str:
    """The policy's name, where that says all."""
    if policy.learned is not None:
        return _quoted(policy.asked_name)
    try:
        named = make_policy(policy.name)
    except SpecError:
        return repr(policy)
    return _quoted(policy.name) if named == policy else repr(policy)


def _quoted(text: str) -> str:
    return f'"{text}"' if '"' not in text and "\\" not in text else repr(text)
