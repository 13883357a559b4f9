"""What to skip when processor time is short: who probes, who is stored, who is not looked at.

Strategies of Ayad, Naughton, Wright and Srivastava (2005), each solved for a workload, and what
goes beyond them.
"""

from headgate.models.effort.best import best_plan
from headgate.models.effort.coin_flip import coin_flip
from headgate.models.effort.drop_rows import drop_rows
from headgate.models.effort.dropping import drop_and_store
from headgate.models.effort.insert_no_probe import insert_no_probe
from headgate.models.effort.limits import Rows
from headgate.models.effort.online_max_subset import online_max_subset
from headgate.models.effort.plan import Plan
from headgate.models.effort.probe_no_insert import probe_no_insert
from headgate.models.effort.problem import Shares, Sides, Workload
from headgate.models.effort.semantic_pni import semantic_pni

STRATEGIES = (
    coin_flip,
    insert_no_probe,
    probe_no_insert,
    drop_rows,
    online_max_subset,
    semantic_pni,
)
"""Each makes a `Plan` of a `Workload`."""

__all__ = [
    "STRATEGIES",
    "Plan",
    "Rows",
    "Shares",
    "Sides",
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
