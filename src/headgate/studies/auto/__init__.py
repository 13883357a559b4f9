"""Beyond the papers: does "auto" find the policy that fits?"""

from headgate.studies.auto import bands, choice, sampled
from headgate.studies.study import Study

STUDIES: tuple[Study, ...] = (choice.STUDY, bands.STUDY, sampled.STUDY)
