"""Writes docs/gallery/: every example run as it is, with its code, its output and a picture.

Run it:  python tools/gallery_pages.py [NAME...]
"""

import importlib.util
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from matplotlib.figure import Figure

ROOT = Path(__file__).parents[1]
EXAMPLES, PAGES = ROOT / "examples", ROOT / "docs" / "gallery"
ORDER = (
    "first_join",
    "moving_values",
    "unpaid_orders",
    "half_a_core",
    "cached_lookup",
    "sampled_average",
    "shared_budget",
    "changing_importance",
    "flight_files",
    "auction_files",
)


def bars(title: str, values: dict[str, float]) -> Figure:
    """Shares as bars, the best on top."""
    figure = Figure(figsize=(6.4, 0.5 + 0.42 * len(values)), layout="constrained")
    axes = figure.subplots()
    ordered = sorted(values.items(), key=lambda item: item[1])
    drawn = axes.barh([name for name, _ in ordered], [value for _, value in ordered])
    axes.bar_label(drawn, fmt="%.3f", padding=3)
    axes.set(title=title, xlim=(0, 1.12 * max(values.values())))
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def of_lookup(example: ModuleType) -> Figure:
    """Hit rates by policy, on a table written for it."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        path = Path(folder) / "energy.duckdb"
        example.write_consumption(path)
        outcomes = example.outcomes(path, example.temperatures(3650), rows=100)
        rates = {policy: outcome.stats.hit_rate for policy, outcome in outcomes.items()}
    return bars("Hit rate of the cache", rates)


PICTURES: dict[str, Callable[[Any], Figure]] = {
    "first_join": lambda one: bars(
        "Share of the minutes late, a fifth of the memory", one.shares()
    ),
    "moving_values": lambda one: bars("Recall with room for 10 rows", one.recalls()),
    "cached_lookup": of_lookup,
    "unpaid_orders": lambda one: bars(
        "Share of the alerts, by rows of memory",
        {f"{rows} rows": one.alerts(rows).recall for rows in (50, 100, 200, 400)},
    ),
}
"""Of examples that print no chart themselves."""


def loaded(name: str) -> ModuleType:
    """The example as a module."""
    found = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def page(name: str) -> str:
    """Run the example; its page as Markdown."""
    code = (EXAMPLES / f"{name}.py").read_text()
    docstring, code = code.split('"""', 2)[1:]
    title, _, rest = docstring.partition("\n")
    about = rest.split("\nRun it:", 1)[0].strip()
    done = subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"examples/{name}.py failed:\n{done.stderr[-2_000:]}")
    parts = [
        f"# {title.rstrip('.')}\n",
        f"Run `python examples/{name}.py` and change it to your streams.\n",
    ]
    parts += [f"{about}\n"] if about else []
    if name in PICTURES:
        picture = PICTURES[name](loaded(name))
        picture.savefig(PAGES / f"{name}.png", dpi=110)
        parts.append(f"![{title}]({name}.png)\n")
    parts.append(f"## What it prints\n\n```text\n{done.stdout.strip()}\n```\n")
    parts.append(f"## The program\n\n<!-- run as a file -->\n```python\n{code.strip()}\n```\n")
    return "\n".join(parts)


def main(names: list[str]) -> None:
    PAGES.mkdir(exist_ok=True)
    for name in names:
        (PAGES / f"{name}.md").write_text(page(name))
        print(name)


if __name__ == "__main__":
    main(sys.argv[1:] or list(ORDER))
