"""Writes docs/papers/: a page for each paper, from what `headgate reproduce --out FOLDER` wrote.

Run it:  python tools/paper_pages.py FOLDER...
"""

import json
import sys
from pathlib import Path

import pandas as pd
from PIL import Image

from headgate.studies.catalogue import ALL_STUDIES
from headgate.studies.study import Study

PAGES = Path(__file__).parents[1] / "docs" / "papers"
PAPERS = {
    "vldb04": "which rows to keep when matches depend on age or frequency, how to sample instead, "
    "and how joins share memory",
    "sigmod05": "how to keep rows when the values of streams follow a known random process",
    "tr1542": "which work to skip when the processor, not memory, is short",
    "icde03": "what a window join costs with each kind of index, and which to choose",
    "ijoin": "how to keep the rows whose results matter most, when what is hot changes",
}
"""By paper, what the reader knows after its page."""
MARKS = {"holds": "holds", "departs": "**departs**", "holds after all": "holds (declared not to)"}
SHORT = ", the short form: one seed, shorter streams. The full run is `make study`"


def page(paper: str, studies: list[Study], folder: Path) -> str:
    """A paper's page: the verdict on each claim, figures, departures with their reasons."""
    verdicts = pd.read_csv(folder / "verdicts.csv").fillna("")
    counts = verdicts[verdicts.study.isin([study.name for study in studies])].verdict.value_counts()
    short = json.loads((folder / "run.json").read_text())["quick"]
    told = ", ".join(f"{count} {name}" for name, count in counts.items())
    lines = [
        f"# {studies[0].paper.split(': ', 1)[1].rsplit(',', 1)[0]}\n",
        f"After this page you know {PAPERS[paper]}; and which of its claims hold here.\n",
        f"*{studies[0].paper}.* {counts.sum()} claims: {told}.",
        f"Made by `headgate reproduce {'--quick ' if short else ''}{paper}`"
        f"{SHORT if short else ''}.\n",
        "Figures are drawn from our runs. Where the paper prints a number, the claim names it and",
        "the column beside it has ours.\n",
    ]
    for study in studies:
        lines += section(study, verdicts[verdicts.study == study.name], folder)
    return "\n".join(lines).rstrip() + "\n"


def section(study: Study, verdicts: pd.DataFrame, folder: Path) -> list[str]:
    """One study: its figures and its claims."""
    lines = [f"## {study.place[:1].upper()}{study.place[1:]}: {study.title}\n"]
    for figure in study.figures:
        name = "-".join(filter(None, (study.name, figure.name)))
        picture = folder / f"{name}.png"
        if picture.exists():
            (PAGES / "figures").mkdir(exist_ok=True)
            # Few colours do for lines and text, in a third of the bytes.
            Image.open(picture).convert("RGB").quantize(64).save(
                PAGES / "figures" / picture.name, optimize=True
            )
            lines.append(f"![{study.title}, {name}](figures/{picture.name})\n")
    lines.append("| the paper claims | measured here | |\n|---|---|---|")
    lines += [
        f"| {cell(row.says)} | {cell(row.measured)} | {MARKS.get(row.verdict, row.verdict)} |"
        for row in verdicts.itertuples()
    ]
    reasons = [row for row in verdicts.itertuples() if row.departs]
    if reasons:
        lines.append("\nWhy it departs:\n")
        lines += [f"- *{row.claim}*: {cell(row.departs)}" for row in reasons]
    return [*lines, ""]


def cell(text: str) -> str:
    """Text for a cell of a table."""
    return " ".join(str(text).split()).replace("|", "\\|").replace("*", "\\*")


def main(folders: list[Path]) -> None:
    for paper in PAPERS:
        studies = [study for study in ALL_STUDIES if study.name.startswith(f"{paper}-")]
        folder = next((one for one in folders if any(one.glob(f"{paper}-*.csv"))), None)
        if folder is None:
            print(f"{paper}: no results in {', '.join(map(str, folders))}; its page stays as it is")
            continue
        (PAGES / f"{paper}.md").write_text(page(paper, studies, folder))
        print(f"{paper}: {len(studies)} studies")


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]] or [Path("reproduced")])
