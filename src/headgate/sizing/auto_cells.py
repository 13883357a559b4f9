"""Cells of "auto" where rows are a sample: told by those of the policies that it would try."""

from collections.abc import Callable, Sequence

from headgate.engine.request import Request
from headgate.learning import Estimate
from headgate.policies import Learned, Policy
from headgate.sizing.grid import Cell
from headgate.spec import Budget, SpecError
from headgate.trials.auto_recall import auto_among
from headgate.trials.simulation import tried

NOTE = (
    "{label} learns too little from a sample to be run on it: its recall is that of the best "
    "policy that it tries at each memory, less what it loses until it knows which that is."
)
Run = Callable[[Sequence[Cell]], list[Estimate | None]]


class AutoCells:
    """Runs cells, each once, and those of "auto" by its rivals.

    Parameters
    ----------
    request
        The join that is asked about.
    policies
        All that are asked for.
    run
        Tries cells.
    """

    def __init__(self, request: Request, policies: Sequence[Policy], run: Run) -> None:
        self._run = run
        self._stand_ins: dict[int, list[Policy]] = {
            id(policy): [policy]
            if policy.learned is None or not policy.tries_others
            else rivals_of(policy.learned, request, policies)
            for policy in policies
        }
        self._known: dict[tuple[int, Budget], Estimate | None] = {}

    def recalls(self, cells: Sequence[Cell]) -> list[Estimate | None]:
        """The recall of each cell; None where the budget is too small for the policy."""
        new = {
            (id(policy), cell.budget): Cell(policy, cell.budget)
            for cell in cells
            for policy in self._stand_ins[id(cell.policy)]
            if (id(policy), cell.budget) not in self._known
        }
        self._known |= zip(new, self._run([*new.values()]), strict=True)
        return [self._recall(cell) for cell in cells]

    def _recall(self, cell: Cell) -> Estimate | None:
        each = [self._known[id(own), cell.budget] for own in self._stand_ins[id(cell.policy)]]
        if not cell.policy.tries_others:
            return each[0]
        known = [recall for recall in each if recall is not None]
        return auto_among(known) if known else None


def rivals_of(auto: Learned, request: Request, policies: Sequence[Policy]) -> list[Policy]:
    """What "auto" tries in a join, by itself; those of ``policies`` where they are the same."""
    found = []
    for name in auto.rivals(request.windows, request.how):
        try:
            rival = tried(request, name, request.budget).policy
        except SpecError:
            continue  # it cannot serve this kind of join alone
        same = (own for own in policies if type(own) is type(rival) and own == rival)
        found.append(next(same, rival))
    return found
