"""The `headgate reproduce` command: runs studies and returns an exit status."""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from headgate.spec import SpecError
from headgate.studies.catalogue import chosen
from headgate.studies.run import available_cores, run
from headgate.studies.study import Status, judge
from headgate.studies.study_report import save_results, save_verdicts, study_list, verdict_table


@dataclass(frozen=True)
class StudySettings:
    """What to reproduce, and how.

    Parameters
    ----------
    names
        Studies or papers; all of them when empty.
    out
        Folder for results and figures.
    seeds
        Seeds to use instead of each study's own.
    jobs
        Processes; as many as there are cores when not given.
    """

    names: tuple[str, ...] = ()
    out: Path = Path("reproduced")
    quick: bool = False
    seeds: tuple[int, ...] | None = None
    jobs: int | None = None


def parse_seeds(text: str | None) -> tuple[int, ...] | None:
    """Seeds as the command line gives them.

    Examples
    --------
    >>> parse_seeds("1,2,3")
    (1, 2, 3)
    """
    if text is None:
        return None
    try:
        seeds = tuple(int(part) for part in text.split(","))
    except ValueError:
        seeds = ()
    if not seeds or min(seeds) < 0 or len(set(seeds)) < len(seeds):
        raise SpecError(f'seeds "{text}" are not accepted: give different numbers, as in 1,2,3')
    return seeds


def list_studies(names: tuple[str, ...], console: Console) -> None:
    """Print what can be reproduced."""
    console.print(study_list(chosen(names)))


def reproduce(settings: StudySettings, console: Console) -> int:
    """Run the studies, save what they found, print the verdicts; 0 unless a claim failed."""
    studies = chosen(settings.names)
    results = run(
        studies, settings.seeds, settings.quick, settings.jobs or available_cores(), console
    )
    verdicts = []
    for study in studies:
        save_results(study, results[study.name], settings.out)
        judged = judge(study, results[study.name])
        console.print(verdict_table(study, judged), highlight=False)
        verdicts += judged
    save_verdicts(verdicts, settings.out)
    made = {"studies": settings.names, "quick": settings.quick, "seeds": settings.seeds}
    (settings.out / "run.json").write_text(json.dumps(made) + "\n")
    counts = Counter(verdict.status for verdict in verdicts)
    console.print(
        f"{len(verdicts)} claims: "
        + ", ".join(f"{status.value} {counts[status]}" for status in Status if counts[status])
        + f". Results, figures and verdicts are in {settings.out}/",
        highlight=False,
    )
    return 1 if counts[Status.FAILS] else 0
