"""Every metric of joins and lookups, declared once: name, unit, meaning, and how it adds up."""

from headgate.metrics.metric import LAST, MAX, RATIO, SUM, Metric, metric, metrics_of, names_of

__all__ = ["LAST", "MAX", "RATIO", "SUM", "Metric", "metric", "metrics_of", "names_of"]
