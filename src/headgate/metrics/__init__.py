"""Declares every metric of joins and lookups once: name, unit, meaning, how batches combine."""

from headgate.metrics.metric import LAST, MAX, RATIO, SUM, Metric, metric, metrics_of, names_of

__all__ = ["LAST", "MAX", "RATIO", "SUM", "Metric", "metric", "metrics_of", "names_of"]
