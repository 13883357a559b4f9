"""The curve of a soak: figures after every batch, as a table, a picture and a judgement."""

import contextlib
import math
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from rich.table import Table

SLACK = {"MB": 16.0, "files": 40, "handles": 12, "threads": 12}
"""How much more the last third may have than the middle one, besides 15 %, by unit; medians, since
what one batch of a burst takes and gives back is no growth."""


def files_in(folder: Path) -> tuple[int, float]:
    """How many files there are below a folder, and their megabytes; some may go meanwhile."""
    sizes = []
    for path in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError):
            if path.is_file():
                sizes.append(path.stat().st_size)
    return len(sizes), sum(sizes) / 1e6


def recall_of(figures: dict[str, Any]) -> float:
    """The total recall that a batch tells; no number where it is not known yet."""
    told = figures["total_recall"]
    return math.nan if told is None else float(told)


@dataclass
class Curve:
    """Figures by name, unit in brackets, one value a batch."""

    title: str
    arrivals: list[int] = field(default_factory=list)
    figures: dict[str, list[float]] = field(default_factory=dict)

    def add(self, arrivals: int, **figures: float) -> None:
        """Note the figures after a batch that brought so many arrivals."""
        self.arrivals.append((self.arrivals[-1] if self.arrivals else 0) + arrivals)
        for name, value in figures.items():
            self.figures.setdefault(name, []).append(value)

    def grown(self) -> list[str]:
        """Figures that are larger in the last third than in the middle one; time is not judged."""
        third = len(self.arrivals) // 3
        said: list[str] = []
        if third < 2:
            return [f"{self.title}: {len(self.arrivals)} batches are too few to tell"]
        for name, values in self.figures.items():
            slack = SLACK.get(name.rsplit("_", 1)[-1])
            if slack is None:
                continue
            middle, last = median(values[third : 2 * third]), median(values[2 * third :])
            if last > 1.15 * middle + slack:
                said.append(f"{self.title}: {name} grew from {middle:,.1f} to {last:,.1f}")
        return said

    def table(self, lines: int = 20) -> Table:
        """Some batches, evenly apart, and the last."""
        table = Table(title=f"{self.title}, {self.arrivals[-1]:,} arrivals")
        for heading in ("arrivals", *self.figures):
            table.add_column(heading.replace("_", " "), justify="right")
        every = max(len(self.arrivals) // lines, 1)
        for place in sorted({*range(0, len(self.arrivals), every), len(self.arrivals) - 1}):
            shown = (f"{values[place]:,.4g}" for values in self.figures.values())
            table.add_row(f"{self.arrivals[place]:,}", *shown)
        return table

    @property
    def name(self) -> str:
        """For files."""
        return f"soak-{self.title.lower().replace(' ', '-')}"

    def save_values(self, folder: Path, lines: int = 50) -> None:
        """Write some batches, evenly apart, and the last, as CSV."""
        folder.mkdir(parents=True, exist_ok=True)
        every = max(len(self.arrivals) // lines, 1)
        places = sorted({*range(0, len(self.arrivals), every), len(self.arrivals) - 1})
        rows = [",".join(("arrivals", *self.figures))]
        for place in places:
            shown = (f"{values[place]:.5g}" for values in self.figures.values())
            rows.append(",".join((str(self.arrivals[place]), *shown)))
        (folder / f"{self.name}.csv").write_text("\n".join(rows) + "\n")

    def save_picture(self, folder: Path) -> None:
        """Draw all values."""
        from matplotlib.figure import Figure

        folder.mkdir(parents=True, exist_ok=True)
        figure = Figure(figsize=(9, 1.5 * len(self.figures)), layout="constrained")
        panels = figure.subplots(len(self.figures), sharex=True)
        for panel, (label, points) in zip(panels, self.figures.items(), strict=True):
            panel.plot([at / 1e6 for at in self.arrivals], points, linewidth=1)
            panel.set_ylabel(label.replace("_", "\n"), fontsize=8)
            panel.set_ylim(bottom=0)
        panels[0].set_title(self.title)
        panels[-1].set_xlabel("million arrivals")
        figure.savefig(folder / f"{self.name}.png", dpi=70)
