"""Beyond the papers: are samples unbiased, are their intervals honest, do they keep to memory?"""

from headgate.studies.sampled import estimates, inclusion, learned, memory
from headgate.studies.study import Study

STUDIES: tuple[Study, ...] = (
    estimates.STUDY,
    inclusion.STUDY,
    learned.STUDY,
    memory.STUDY,
)
