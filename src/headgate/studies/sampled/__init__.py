"""Beyond the papers: bias of samples, coverage of their intervals, and memory use."""

from headgate.studies.sampled import estimates, inclusion, learned, memory
from headgate.studies.study import Study

STUDIES: tuple[Study, ...] = (
    estimates.STUDY,
    inclusion.STUDY,
    learned.STUDY,
    memory.STUDY,
)
