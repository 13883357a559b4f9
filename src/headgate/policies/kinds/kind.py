"""Base class of the kinds of score: how rows are ranked, compiled and in plain Python.

A kind is a class in a file of its own, beside the base class that policies of the kind derive from.
It defines three things:

* its own arrays besides the kernel's (`arrays`), and the state that outlasts a step (`progress`);
* its *verbs*, compiled functions that the kernel calls when rows arrive, match, enter and leave.
  Each gets the kernel's arrays and, as ``own``, the kind's. The kernel dispatches to the verbs of
  all kinds in `KINDS` (`kernel/ranking.py`); a verb that a kind does not define costs nothing;
* `plain`, the same in plain Python, against which the kernel is tested.

The defaults are those of a score kept in the row's record, with the rows in a heap.
"""

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from headgate.compiling import Score, compiled
from headgate.policies.structures import heap
from headgate.spec import Window

if TYPE_CHECKING:
    from headgate.policies.kinds.plain_score import PlainScore
    from headgate.policies.policy import Arrivals


@Score
def no_score(matches: int, touched: int, time: int, parameter: float) -> float:
    """Placeholder where a policy has no scoring function."""
    return 0.0


class Given(NamedTuple):
    """Input for building a kind's arrays."""

    policy: Any
    windows: tuple[Window, Window]
    rows: np.ndarray  # the rows' records, in event order
    arrivals: "Arrivals"  # all rows, in the order given
    order: np.ndarray  # int64: event order, as indices of the rows given
    left_rows: int  # how many of them are of the left side
    levels: int  # lists of a side, see `lists.py`
    weights: np.ndarray  # what rows of each list of a side count
    progress: Any  # the `Progress` of the step before


class Block(NamedTuple):
    """Output buffers for the pairs of one kernel call."""

    pairs: np.ndarray  # PAIR
    passed: np.ndarray  # float64: samples: the threshold of each pair's stored row
    spent: np.ndarray  # int64: rows without further matches after a probe
    score: Any  # address of the policy's scoring function, from `Kind.score_function`


@compiled
def enter_heap(arrays: Any, own: Any, row: int) -> None:
    """Insert a row with its present score."""
    heap.enter(arrays, arrays.sides[arrays.links[row].side].pool, row)


@compiled
def build_heap(arrays: Any, own: Any, pool: int) -> None:
    """Insert all stored rows of a pool."""
    heap.build(arrays, pool)


@compiled
def top_of_heap(arrays: Any, own: Any, pool: int) -> tuple[np.int64, float, np.int64]:
    """The row of least score."""
    return heap.worst(arrays, pool)


@compiled
def score_of_row(arrays: Any, own: Any, row: int) -> tuple[float, np.int64]:
    """The score in the row's record."""
    return arrays.rows[row].score, np.int64(row)


@compiled
def nothing(arrays: Any, own: Any, number: int) -> None:
    """Do nothing."""


@compiled
def all_pairs(
    arrays: Any, own: Any, row: int, block: Block, first: int, end: int
) -> tuple[int, Any]:
    """Keep every pair, and remove no row."""
    return end, np.int64(0)


class Kind:
    """Base of all kinds; by default a score per row, in a heap."""

    name: ClassVar[str]
    keeps_history: ClassVar[bool] = False
    """Whether the match history of stored rows must be kept between steps."""
    goes_by_history: ClassVar[bool] = False
    """Whether a score depends on all rows of a key, so that a subset of rows is misleading."""
    tells_of_classes: ClassVar[bool] = False
    """Whether scores follow from the classes by which meetings are counted, and nothing else."""
    follows_values: ClassVar[bool] = False
    """Whether it must see the values of a whole stream."""
    uses_heap: ClassVar[bool] = True
    reads_partners: ClassVar[bool] = False
    """Whether it reads the records of an arrival's partners."""
    reads_importance: ClassVar[bool] = False
    """Whether it uses the importance of rows."""
    chooses_pairs: ClassVar[bool] = False
    """Whether only some pairs are kept, as in a sample."""
    plain: ClassVar["type[PlainScore]"]
    """The kind in plain Python."""

    @staticmethod
    def scores(policy: Any, arrivals: "Arrivals", importance: np.ndarray) -> np.ndarray:
        """Scores known on arrival, by definition of importance and row; empty if there are none."""
        return np.empty((len(importance), 0))

    @staticmethod
    def fallen(policy: Any, arrivals: "Arrivals", importance: np.ndarray) -> np.ndarray:
        """Likewise, of rows that cannot come out without a partner any more."""
        return np.empty((len(importance), 0))

    @staticmethod
    def classes(policy: Any, arrivals: "Arrivals") -> tuple[np.ndarray, np.ndarray] | None:
        """The class of each row and the weights of classes, where each class has its own list."""
        return None

    @staticmethod
    def arrays(given: Given) -> Any:
        """The kind's arrays, passed to the verbs as ``own``: a tuple of arrays."""
        return ()

    @staticmethod
    def no_arrays() -> Any:
        """Empty arrays of the same types, for joins whose policy is of another kind."""
        return ()

    @staticmethod
    def score_function(policy: Any) -> Score:
        """The policy's scoring function; verbs find its address in `Block`."""
        return no_score

    @staticmethod
    def take_up(policy: Any, arrays: Any, own: Any) -> None:
        """Before stored rows are loaded: restore their scores from their history."""

    @staticmethod
    def progress(arrays: Any, own: Any) -> dict[str, Any]:
        """The fields of `Progress` that the kind has changed."""
        return {}

    @staticmethod
    def memory(policy: Any, arrays: Any, before: int, seen: Any) -> str:
        """What the policy learned from a step; ``before`` is the clock when it began."""
        return ""

    enter: ClassVar[Any] = enter_heap
    """(row) Called when a row is stored, if the structure exists."""
    leave: ClassVar[Any] = nothing
    """(row) Called when a row is removed, if the structure exists."""
    build: ClassVar[Any] = build_heap
    """(pool) Build the structure over the pool's stored rows."""
    worst: ClassVar[Any] = top_of_heap
    """(pool) The stored row of lowest score or NONE, its score, and its order among equals."""
    standing: ClassVar[Any] = score_of_row
    """(row) An arrival's score, and its order among equals."""
    forget: ClassVar[Any] = nothing
    """(definition) Called when importance is redefined; structures will be rebuilt."""
    fall: ClassVar[Any] = nothing
    """(row) Called when a row cannot come out without a partner any more, if the policy `falls`."""
    on_arrival: ClassVar[Any] = nothing
    """(row) Called when a row arrives, before the clock moves."""
    on_pairs: ClassVar[Any] = all_pairs
    """(row, block, first, end) Called with an arrival's pairs: returns the new end, and how many
    rows in ``block.spent`` to remove. Also called where pairs are only counted, with none in the
    block."""
    on_admission: ClassVar[Any] = nothing
    """(row) Called before an arrival is stored."""
    on_removal: ClassVar[Any] = nothing
    """(row) Called after a stored row is removed, whether or not the structure exists."""
