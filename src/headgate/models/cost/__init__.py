"""Cost models of a join: by the index structures of its windows, and by rows and pairs."""

from typing import TYPE_CHECKING

from headgate.lazy_names import lazy_names

if TYPE_CHECKING:
    from headgate.models.cost.calibration import Calibration as Calibration
    from headgate.models.cost.calibration import calibration_file as calibration_file
    from headgate.models.cost.calibration import load_calibration as load_calibration
    from headgate.models.cost.crossovers import PAPER_CROSSOVERS as PAPER_CROSSOVERS
    from headgate.models.cost.crossovers import crossover as crossover
    from headgate.models.cost.crossovers import paper_crossovers as paper_crossovers
    from headgate.models.cost.index_ranking import EXTRA_BYTES as EXTRA_BYTES
    from headgate.models.cost.index_ranking import IndexChoice as IndexChoice
    from headgate.models.cost.index_ranking import IndexRanking as IndexRanking
    from headgate.models.cost.index_ranking import cheapest as cheapest
    from headgate.models.cost.join_allocation import Demand as Demand
    from headgate.models.cost.join_allocation import JoinAllocation as JoinAllocation
    from headgate.models.cost.join_allocation import best_both as best_both
    from headgate.models.cost.join_allocation import best_cpu as best_cpu
    from headgate.models.cost.join_allocation import best_memory as best_memory
    from headgate.models.cost.join_allocation import both_strategies as both_strategies
    from headgate.models.cost.join_allocation import cpu_strategies as cpu_strategies
    from headgate.models.cost.join_allocation import memory_strategies as memory_strategies
    from headgate.models.cost.structure import PAPER_STRUCTURES as PAPER_STRUCTURES
    from headgate.models.cost.structure import Pair as Pair
    from headgate.models.cost.structure import Structure as Structure
    from headgate.models.cost.structure import pair_letters as pair_letters
    from headgate.models.cost.structure import parse_pair as parse_pair
    from headgate.models.cost.unit_time import BUCKET_ROWS as BUCKET_ROWS
    from headgate.models.cost.unit_time import NODE_ROWS as NODE_ROWS
    from headgate.models.cost.unit_time import direction_cost as direction_cost
    from headgate.models.cost.unit_time import join_cost as join_cost
    from headgate.models.cost.unit_time import touched_by_search as touched_by_search
    from headgate.models.cost.unit_time import touched_by_update as touched_by_update
    from headgate.models.cost.weights import PAPER_WEIGHTS as PAPER_WEIGHTS
    from headgate.models.cost.weights import MeasuredCost as MeasuredCost
    from headgate.models.cost.weights import Weight as Weight
    from headgate.models.cost.weights import Weights as Weights
    from headgate.models.cost.work_cost import ByValue as ByValue
    from headgate.models.cost.work_cost import WorkCost as WorkCost
    from headgate.models.cost.work_cost import by_value as by_value
    from headgate.models.cost.work_cost import output_rate as output_rate

_MODULES = {
    "JoinAllocation": "headgate.models.cost.join_allocation",
    "BUCKET_ROWS": "headgate.models.cost.unit_time",
    "ByValue": "headgate.models.cost.work_cost",
    "Calibration": "headgate.models.cost.calibration",
    "IndexChoice": "headgate.models.cost.index_ranking",
    "Demand": "headgate.models.cost.join_allocation",
    "EXTRA_BYTES": "headgate.models.cost.index_ranking",
    "NODE_ROWS": "headgate.models.cost.unit_time",
    "PAPER_CROSSOVERS": "headgate.models.cost.crossovers",
    "PAPER_STRUCTURES": "headgate.models.cost.structure",
    "PAPER_WEIGHTS": "headgate.models.cost.weights",
    "Pair": "headgate.models.cost.structure",
    "MeasuredCost": "headgate.models.cost.weights",
    "IndexRanking": "headgate.models.cost.index_ranking",
    "Structure": "headgate.models.cost.structure",
    "Weight": "headgate.models.cost.weights",
    "Weights": "headgate.models.cost.weights",
    "WorkCost": "headgate.models.cost.work_cost",
    "best_both": "headgate.models.cost.join_allocation",
    "best_cpu": "headgate.models.cost.join_allocation",
    "best_memory": "headgate.models.cost.join_allocation",
    "both_strategies": "headgate.models.cost.join_allocation",
    "by_value": "headgate.models.cost.work_cost",
    "calibration_file": "headgate.models.cost.calibration",
    "cheapest": "headgate.models.cost.index_ranking",
    "cpu_strategies": "headgate.models.cost.join_allocation",
    "crossover": "headgate.models.cost.crossovers",
    "direction_cost": "headgate.models.cost.unit_time",
    "join_cost": "headgate.models.cost.unit_time",
    "load_calibration": "headgate.models.cost.calibration",
    "memory_strategies": "headgate.models.cost.join_allocation",
    "output_rate": "headgate.models.cost.work_cost",
    "pair_letters": "headgate.models.cost.structure",
    "paper_crossovers": "headgate.models.cost.crossovers",
    "parse_pair": "headgate.models.cost.structure",
    "touched_by_search": "headgate.models.cost.unit_time",
    "touched_by_update": "headgate.models.cost.unit_time",
}
"""Where each name is; the imports above tell type checkers the same."""

__all__ = [*_MODULES]

if not TYPE_CHECKING:  # a checker that saw __getattr__ would let any name pass
    __getattr__, __dir__ = lazy_names(__name__, _MODULES)
