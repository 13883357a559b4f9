"""What a join's figures say in one sentence, and what more or less memory would bring."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from headgate.planner.live_curve import TIMES, live_curve
from headgate.spec.quantity import format_bytes
from headgate.watching.batch_record import BatchRecord

NEXT_TO_NOTHING = 0.005
"""A gain below this is said to be none."""


class Use(NamedTuple):
    """What is stored, and what may be: in bytes, or in rows."""

    used: float
    budget: float | None
    in_bytes: bool

    @property
    def text(self) -> str:
        """In words: "412 MB of 512 MB"."""
        used = format_bytes(round(self.used)) if self.in_bytes else f"{self.used:,.0f}"
        if self.budget is not None:
            return f"{used} of {self.budget_text}"
        return used if self.in_bytes else f"{used} rows"

    @property
    def budget_text(self) -> str:
        """What may be stored, in words; empty where nothing limits it."""
        if self.budget is None:
            return ""
        return format_bytes(round(self.budget)) if self.in_bytes else f"{self.budget:,.0f} rows"


def use_of(record: BatchRecord, about: Mapping[str, Any]) -> Use:
    """What a join stores of its budget; limits in force come before what was asked for."""
    figures = record.figures
    limit = figures.get("limit") or None
    if about.get("rows"):
        return Use(figures.get("stored_rows") or 0.0, limit or about["rows"], False)
    held = (figures.get("held_bytes") or 0.0) + (figures.get("monitor_bytes") or 0.0)
    return Use(held, limit or about.get("memory") or None, True)


class Expected(NamedTuple):
    """The recall expected of an amount of memory."""

    times: float
    memory: float
    recall: float


def marginal_curve(record: BatchRecord, about: Mapping[str, Any]) -> list[Expected]:
    """Recall expected with a quarter to four times the memory; empty while it is not known.

    Parameters
    ----------
    record
        Of some batches: their recall calibrates what models expect.
    """
    budget = use_of(record, about).budget
    figures = record.figures
    recall = figures.get("recall")
    if recall is None:
        recall = figures.get("total_recall")
    if budget is None or recall is None or not figures.get("expected_full"):
        return []
    curve = live_curve({name: value or 0.0 for name, value in figures.items()}, budget, recall)
    if curve is None:
        return []
    return [Expected(each, each * budget, curve.at(each * budget)) for each in TIMES.values()]


def sentence(record: BatchRecord, recent: BatchRecord, about: Mapping[str, Any]) -> str:
    """One sentence that a person can repeat.

    Parameters
    ----------
    record, recent
        The last batch, and the last few merged.
    about
        What the join or lookup is.

    Examples
    --------
    >>> figures = {"left_rows": 1, "right_rows": 1, "total_recall": 0.91, "total_recall_low": 0.89}
    >>> figures |= {"total_recall_high": 0.93, "held_bytes": 412e6}
    >>> record = BatchRecord(0.0, 0, 1, 1.0, 1.0, None, figures, [])
    >>> sentence(record, record, {"kind": "join", "memory": 512_000_000})
    'Recall 0.91 (0.89 to 0.93) at 412 MB of 512 MB.'
    """
    use = use_of(record, about).text
    if about.get("kind") == "lookup":
        return _of_lookup(recent, use)
    if about.get("goal") == "Sample":
        return _of_sample(recent, use)
    figures = record.figures
    low, high = figures.get("total_recall_low"), figures.get("total_recall_high")
    recall = figures.get("total_recall")
    if recall is None or low is None or high is None:
        return f"Recall is not known yet; {use} stored."
    if low == high == 1.0:
        return f"Nothing is missing: recall 1 at {use}."
    # 0.999 is not all of it.
    shown = [min(round(each, 2), 0.99) if each < 1 else 1.0 for each in (recall, low, high)]
    told = f"Recall {shown[0]:.2f} ({shown[1]:.2f} to {shown[2]:.2f}) at {use}"
    curve = {each.times: each.recall for each in marginal_curve(recent, about)}
    if not curve:
        return f"{told}."
    gain = curve[2.0] - curve[1.0]
    more = "next to nothing" if gain < NEXT_TO_NOTHING else f"+{gain:.2f}"
    return f"{told}; twice the memory would bring {more}."


def _of_lookup(recent: BatchRecord, use: str) -> str:
    hits, misses = (recent.figures.get(name) or 0.0 for name in ("hits", "misses"))
    queries = (recent.figures.get("queries") or 0.0) / max(recent.span, 1e-9)
    if not hits + misses:
        return f"No row was looked up yet; {use} cached."
    share = hits / (hits + misses)
    return f"Hit rate {share:.2f} at {use}; {queries:.3g} queries a second."


def _of_sample(recent: BatchRecord, use: str) -> str:
    figures = recent.figures
    weights, pairs = figures.get("weights") or 0.0, figures.get("pairs") or 0.0
    if not weights:
        return f"No row was sampled yet; {use} stored."
    error = 1.96 * (figures.get("weights_variance") or 0.0) ** 0.5 / weights
    return (
        f"{pairs:,.0f} sampled rows stand for {weights:,.0f}, give or take {100 * error:.1f} %, "
        f"at {use}."
    )
