"""The demo's live view: progress, stored and evicted rows, and recall."""

from rich import box
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from headgate.demo.batch_tally import BatchTally

BLOCKS = "▁▂▃▄▅▆▇█"
BAR_WIDTH = 32


class DemoView:
    """The terminal view of the running join, drawn from the current tally.

    Parameters
    ----------
    tally
        The figures.
    title
        A description of the running join.
    log
        Where Spark's log is.
    """

    def __init__(self, tally: BatchTally, title: str, log: str) -> None:
        self._tally, self._title, self._log = tally, title, log

    def __rich__(self) -> RenderableType:
        return Panel(
            Group(self._bars(), Text(), self._figures()),
            title=f"[bold]clicks ⋈ orders on Spark · {self._title}",
            title_align="left",
            subtitle=f"[dim]Spark's log: {self._log}",
            subtitle_align="right",
            box=box.ROUNDED,
            padding=(1, 2),
        )

    def _bars(self) -> Table:
        tally = self._tally
        table = Table.grid(padding=(0, 2))
        table.add_column(style="bold", min_width=13)
        table.add_column(width=BAR_WIDTH)
        table.add_column(justify="right", min_width=6)
        table.add_column()
        recall = f"{tally.pairs:,} of {tally.exact_pairs:,} results"
        for name, share, colour, said in (
            ("stream", tally.rows / tally.stream.rows, "cyan", f"{tally.rows:,} rows"),
            ("memory", self._memory, "yellow", f"{tally.stored_rows:,} rows stored"),
            ("recall, true", tally.recall if tally.rows else 0.0, "green", recall),
            (
                "estimated",
                tally.estimate.value if tally.estimate else 0.0,
                "green",
                _interval(tally),
            ),
        ):
            bar = ProgressBar(
                total=1.0,
                completed=share,
                width=BAR_WIDTH,
                complete_style=colour,
                finished_style=colour,
            )
            table.add_row(name, bar, _percent(share), said)
        return table

    @property
    def _memory(self) -> float:
        """What is stored, of the memory that the exact join takes."""
        return self._tally.stored_rows / max(self._tally.exact_rows, 1)

    def _verdict(self) -> Text:
        tally = self._tally
        if tally.rows < tally.stream.rows:
            return Text("")
        return Text(
            f"{_percent(tally.recall)} of the results with "
            f"{_percent(tally.most_stored / max(tally.exact_rows, 1))} of the memory",
            style="bold green",
        )

    def _figures(self) -> Table:
        tally = self._tally
        clock = tally.event_time
        rate = f"{tally.last_rate:,.0f} in the last batch, {tally.mean_rate:,.0f} on average"
        table = Table.grid(padding=(0, 2))
        table.add_column(style="bold", min_width=13)
        table.add_column()
        for name, said in (
            ("batch", f"{tally.batches}" if tally.batches else "starting the query…"),
            ("event time", f"{clock:%Y-%m-%d %H:%M:%S}" if clock else "–"),
            ("rows/s", rate if tally.batches else "–"),
            ("keeps rows by", tally.following or "–"),
            (
                "learned from",
                f"{tally.watched_rows:,} watched rows, {tally.tracked_keys:,} counted keys",
            ),
            ("given up", f"{tally.shed:,} stored rows, {tally.refused:,} arrivals refused"),
            (
                "most stored",
                f"{tally.most_stored:,} rows of {tally.budget_rows:,} allowed; "
                f"the exact join {tally.exact_rows:,}",
            ),
            ("recall so far", _course(tally.recalls)),
            ("", self._verdict()),
        ):
            table.add_row(name, said)
        return table


def _interval(tally: BatchTally) -> str:
    if tally.estimate is None:
        return "not known yet"
    return f"{_percent(tally.estimate.low)} to {_percent(tally.estimate.high)}, 95 % interval"


def _course(recalls: list[float]) -> Text:
    if not recalls:
        return Text("–")
    line = Text(sparkline(recalls), style="green")
    return line.append(f"  from {_percent(recalls[0])} to {_percent(recalls[-1])}", style="default")


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def sparkline(shares: list[float]) -> str:
    """Draw one block per share, the highest for the largest.

    Examples
    --------
    >>> sparkline([0.0, 0.25, 0.5])
    '▁▅█'
    """
    top = max(shares) or 1.0
    return "".join(BLOCKS[round(share / top * (len(BLOCKS) - 1))] for share in shares)
