"""What a kind of score is: how rows of such scores are ranked, compiled and in plain Python.

A kind is a class in a file of its own, beside the base class that policies of the kind derive from.
It says three things:

* what it keeps beside the kernel's arrays (`arrays`), and what of it outlasts a step (`progress`);
* its *verbs*, compiled functions that the kernel calls when rows come, pair, enter and leave. Each
  gets the kernel's arrays and, as ``own``, what `arrays` made. The kernel branches to the verbs of
  all kinds in `KINDS` (`kernel/ranking.py`), so a kind that leaves a verb out costs nothing there;
* `plain`, the same in plain Python, by which the kernel is judged.

What a kind leaves out is done as for scores that belong to a row: they stand in its record, and
the rows in a heap.
"""

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numba import types

from headgate.compiling import callback, inlined
from headgate.policies.structures import heap
from headgate.spec import Window

if TYPE_CHECKING:
    from headgate.policies.kinds.plain_score import PlainScore
    from headgate.policies.policy import Arrivals


SIGNATURE = types.float64(types.int64, types.int64, types.int64, types.float64)


@callback(SIGNATURE)
def no_callback(matches: int, touched: int, time: int, parameter: float) -> float:
    """Stands in where a policy brings no compiled function."""
    return 0.0


class Given(NamedTuple):
    """What a kind may know when its arrays are laid out."""

    policy: Any
    windows: tuple[Window, Window]
    rows: np.ndarray  # the rows' records, in event order
    arrivals: "Arrivals"  # all rows, as given
    order: np.ndarray  # int64: the rows as given that stand in event order
    left_rows: int  # how many of them are of the left side
    levels: int  # lists of a side, see `lists.py`
    progress: Any  # what the step before left, a `Progress`


class Block(NamedTuple):
    """Room for the pairs that a call of the kernel makes."""

    pairs: np.ndarray  # PAIR
    passed: np.ndarray  # float64: samples: the threshold that each pair's stored row has passed
    spent: np.ndarray  # int64: rows that a probe leaves without anything to wait for
    callback: Any  # what `Kind.callback` gave. Among the arrays it would make every call slow


@inlined
def enter_heap(arrays: Any, own: Any, row: int) -> None:
    """Enter a row under its present score."""
    heap.enter(arrays, arrays.sides[arrays.links[row].side].pool, row)


@inlined
def build_heap(arrays: Any, own: Any, pool: int) -> None:
    """Enter all stored rows of a pool."""
    heap.build(arrays, pool)


@inlined
def top_of_heap(arrays: Any, own: Any, pool: int) -> tuple[np.int64, float, np.int64]:
    """The row of least score."""
    return heap.worst(arrays, pool)


@inlined
def score_of_row(arrays: Any, own: Any, row: int) -> tuple[float, np.int64]:
    """What stands in the row's record."""
    return arrays.rows[row].score, np.int64(row)


@inlined
def nothing(arrays: Any, own: Any, number: int) -> None:
    """Where a kind has nothing to do."""


@inlined
def all_pairs(
    arrays: Any, own: Any, row: int, block: Block, first: int, end: int
) -> tuple[int, Any]:
    """Every pair counts, and nobody has to go."""
    return end, np.int64(0)


class Kind:
    """Base of all kinds: scores that belong to a row, in a heap."""

    name: ClassVar[str]
    keeps_history: ClassVar[bool] = False
    """Whether what happened to stored rows must be kept with them."""
    goes_by_history: ClassVar[bool] = False
    """Whether what a row is worth depends on all rows of its key, so that some of them mislead."""
    follows_values: ClassVar[bool] = False
    """Whether it must see the values of a whole stream."""
    uses_heap: ClassVar[bool] = True
    reads_partners: ClassVar[bool] = False
    """Whether it looks at the records of the rows that an arrival pairs with."""
    reads_importance: ClassVar[bool] = False
    """Whether it looks at the importance of rows."""
    chooses_pairs: ClassVar[bool] = False
    """Whether only some of the pairs are made."""
    plain: ClassVar["type[PlainScore]"]
    """The kind in plain Python."""

    @staticmethod
    def scores(policy: Any, arrivals: "Arrivals", importance: np.ndarray) -> np.ndarray:
        """Scores that are known at arrival, by definition of importance and row; else no rows."""
        return np.empty((len(importance), 0))

    @staticmethod
    def classes(policy: Any, arrivals: "Arrivals") -> tuple[np.ndarray, np.ndarray] | None:
        """The class of each row and the weights of classes, where each has a list of its own."""
        return None

    @staticmethod
    def arrays(given: Given) -> Any:
        """What the verbs get as ``own``: a tuple of arrays."""
        return ()

    @staticmethod
    def no_arrays() -> Any:
        """Empty arrays of the same types, for joins whose policy is of another kind."""
        return ()

    @staticmethod
    def callback(policy: Any) -> Any:
        """A compiled function of `SIGNATURE` that the policy brings; verbs find it in `Block`."""
        return no_callback

    @staticmethod
    def take_up(policy: Any, arrays: Any, own: Any) -> None:
        """Before stored rows are taken up: give them the scores that their history earned."""

    @staticmethod
    def progress(arrays: Any, own: Any) -> dict[str, Any]:
        """What of `Progress` the kind has changed."""
        return {}

    @staticmethod
    def memory(policy: Any, arrays: Any, arrivals: "Arrivals") -> str:
        """What the policy remembers of a step, of whose arrivals it is told in event order."""
        return ""

    enter: ClassVar[Any] = enter_heap
    """(row) A row is stored, and the structure exists."""
    leave: ClassVar[Any] = nothing
    """(row) A row is stored no more, and the structure exists."""
    build: ClassVar[Any] = build_heap
    """(pool) Make the structure over the pool's stored rows."""
    worst: ClassVar[Any] = top_of_heap
    """(pool) The stored row worth least or NONE, its score, and its order among equals."""
    standing: ClassVar[Any] = score_of_row
    """(row) A newcomer's score, and its order among equals."""
    forget: ClassVar[Any] = nothing
    """(definition) Importance is redefined: structures will be built again."""
    on_arrival: ClassVar[Any] = nothing
    """(row) A row comes; the clock has not moved yet."""
    on_pairs: ClassVar[Any] = all_pairs
    """(row, block, first, end) An arrival has found these partners: the new end, and how many rows
    in ``block.spent`` have to go. Also where pairs are counted only; then there are none in the
    block."""
    on_admission: ClassVar[Any] = nothing
    """(row) An arrival is about to be stored."""
    on_removal: ClassVar[Any] = nothing
    """(row) A stored row has been let go, whether or not the structure exists."""
