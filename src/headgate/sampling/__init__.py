"""Samplers of whole clusters or single pairs, and the sampling fraction that memory allows."""

from headgate.sampling.cluster import EqCluster, PpsCluster
from headgate.sampling.learned_cluster import LearnedCluster
from headgate.sampling.sampler_choice import make_sampler, sampler_within
from headgate.sampling.uniform import Uniform

ALL_SAMPLERS = (EqCluster, PpsCluster, Uniform)

__all__ = [
    "ALL_SAMPLERS",
    "EqCluster",
    "LearnedCluster",
    "PpsCluster",
    "Uniform",
    "make_sampler",
    "sampler_within",
]
