"""Example alert rules for Prometheus; the numbers in them are to be changed."""

from pathlib import Path

RULES = Path(__file__).parent / "alert_rules.yml"


def alert_rules() -> str:
    """The rules as YAML.

    Examples
    --------
    >>> "headgate_total_recall_high < 0.9" in alert_rules()
    True
    """
    return RULES.read_text(encoding="utf-8").rstrip()
