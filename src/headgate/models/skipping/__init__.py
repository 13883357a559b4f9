"""Load shedding under a CPU budget: which rows probe, which are stored, which are dropped.

The strategies of Ayad, Naughton, Wright and Srivastava (2005), each solved for a workload, and
extensions of them.
"""

from headgate.models.skipping.best_plan import best_plan
from headgate.models.skipping.capacity import Rows
from headgate.models.skipping.coin_flip import coin_flip
from headgate.models.skipping.drop_and_store import drop_and_store
from headgate.models.skipping.drop_rows import drop_rows
from headgate.models.skipping.insert_no_probe import insert_no_probe
from headgate.models.skipping.online_max_subset import online_max_subset
from headgate.models.skipping.probe_no_insert import probe_no_insert
from headgate.models.skipping.semantic_pni import semantic_pni
from headgate.models.skipping.skipping_plan import SkippingPlan
from headgate.models.skipping.workload import Shares, Sides, Workload

STRATEGIES = (
    coin_flip,
    insert_no_probe,
    probe_no_insert,
    drop_rows,
    online_max_subset,
    semantic_pni,
)
"""Each makes a `SkippingPlan` of a `Workload`."""

__all__ = [
    "STRATEGIES",
    "Rows",
    "Shares",
    "Sides",
    "SkippingPlan",
    "Workload",
    "best_plan",
    "coin_flip",
    "drop_and_store",
    "drop_rows",
    "insert_no_probe",
    "online_max_subset",
    "probe_no_insert",
    "semantic_pni",
]
