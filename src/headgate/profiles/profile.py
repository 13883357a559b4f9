"""Profile: statistics of two streams and what their join needs; prints, plots, saves as JSON."""

import json
import zlib
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from headgate.models import AgeCurves, Frequencies
from headgate.profiles.facts import Both, Explains, Pairs, SideFacts, Skew, StoredFacts
from headgate.profiles.kept_rows import KeptRows
from headgate.spec import Keys, Side, SpecError, TimeWindow
from headgate.spec.bounded_json import read_json, shortened

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMAT = 2
MICROSECOND = timedelta(microseconds=1)
LONGEST_TEXT = 1 << 28
"""Characters of a saved profile that are read; one of ten million keys takes half of that."""
DEEPEST = 20
_MALFORMED = (
    *(ValueError, LookupError, TypeError, AttributeError, ArithmeticError, OSError),
    *(pa.ArrowException, zlib.error),
)
"""What comes of values that are not those of a profile."""


@dataclass(frozen=True, eq=False)
class Profile:
    """The result of `headgate.profile`. Print it for a report, `plot` it for a picture.

    Attributes
    ----------
    keys, sides
        The join's keys and sides.
    rows
        For each side its rows, the time they cover, and null keys and times.
    rates
        Rows per second of each side, over the time that both sides cover together.
    pairs
        Matches: exact, or estimated where keys were sampled (`pairs.share`, `pairs.error`).
    ages
        The fitted age model: the matches a row makes as it grows older.
    frequencies
        The frequency model: the heavy keys with their share of the rows.
    skew
        For each side the number of keys, the fitted Zipf exponent, the share of the top keys.
    windows_needed
        For each side the age by which 50, 90, 95, 99 and 100 percent of its matches were made.
    stored_rows
        What the exact join would have to hold, in rows and bytes.
    explains
        Which model explains the matches better, and by how much.
    notes
        Remarks on how the figures were obtained.
    trace
        Rows to run joins on, as numbers; None where there are none.

    Examples
    --------
    >>> import headgate as hg
    >>> from headgate.demo.auctions import auction_stream
    >>> stream = auction_stream(rows=16_000)
    >>> found = hg.profile(
    ...     stream.auctions,
    ...     stream.bids,
    ...     left_on="id",
    ...     right_on="auction",
    ...     left=hg.Side(time="opened_at", window="10 minutes"),
    ...     right=hg.Side(time="bid_at", window="0 seconds"),
    ... )
    >>> found
    Profile(1,000 and 15,000 rows, 15,000 pairs, better explained by age)
    >>> round(found.windows_needed.left[50].total_seconds() / 60)
    5
    >>> Profile.from_json(found.to_json())
    Profile(1,000 and 15,000 rows, 15,000 pairs, better explained by age)
    """

    keys: Keys
    sides: Both[Side]
    rows: Both[SideFacts]
    rates: Both[float]
    pairs: Pairs
    ages: AgeCurves
    frequencies: Frequencies
    skew: Both[Skew]
    windows_needed: Both[dict[int, timedelta]]
    stored_rows: StoredFacts
    explains: Explains
    notes: tuple[str, ...] = ()
    trace: KeptRows | None = None

    @property
    def span_us(self) -> int:
        """Time from the first row of either side to the last of either."""
        firsts = [side.first_us for side in self.rows if side.first_us is not None]
        lasts = [side.last_us for side in self.rows if side.last_us is not None]
        return max(lasts) - min(firsts) if firsts else 0

    def hot_keys(self, shards: int) -> list[Any]:
        """Keys that alone have as many rows as half a shard, for ``stream(split_keys=)``.

        Of one key column values, of several tuples; the most frequent first.

        Examples
        --------
        >>> import pyarrow as pa
        >>> import headgate as hg
        >>> at = pa.array(range(8), pa.timestamp("s"))
        >>> rows = pa.table({"id": ["a"] * 6 + ["b", "c"], "at": at})
        >>> side = hg.Side(time="at", window="5 seconds")
        >>> hg.profile(rows, rows.rename_columns(["id", "then"]), on="id", left=side,
        ...            right=hg.Side(time="then", window="5 seconds")).hot_keys(shards=2)
        ['a']
        """
        if shards < 2:
            return []
        rows = [side.rows - side.null_keys for side in self.rows]
        shares: dict[Any, float] = {}
        for known, part in zip((self.frequencies.left, self.frequencies.right), rows, strict=True):
            for *key, share in zip(
                *(column.to_pylist() for column in known.columns), known.share, strict=True
            ):
                named = key[0] if len(key) == 1 else tuple(key)
                shares[named] = shares.get(named, 0.0) + float(share) * part / max(sum(rows), 1)
        hot = [key for key, share in shares.items() if share > 1 / (2 * shards)]
        return sorted(hot, key=lambda key: -shares[key])

    def plot(self) -> "Figure":
        """Age curves and key frequencies as a Matplotlib figure."""
        from headgate.profiles.profile_picture import draw

        return draw(self)

    def __str__(self) -> str:
        from headgate.profiles.profile_report import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from headgate.profiles.profile_report import sections
        from headgate.report.section_html import all_as_html

        return all_as_html(sections(self))

    def __repr__(self) -> str:
        return (
            f"Profile({self.rows.left.rows:,} and {self.rows.right.rows:,} rows, "
            f"{self.pairs} pairs, better explained by {self.explains.better or 'unknown'})"
        )

    def to_json(self) -> str:
        """The profile as text."""
        return json.dumps(
            {
                "format": FORMAT,
                "keys": asdict(self.keys),
                "sides": [
                    {"time": side.time, "window_us": side.window.span} for side in self.sides
                ],
                "rows": [asdict(side) for side in self.rows],
                "rates": list(self.rates),
                "pairs": {**asdict(self.pairs), "rows": list(self.pairs.rows)},
                "ages": json.loads(self.ages.to_json()),
                "frequencies": json.loads(self.frequencies.to_json()),
                "skew": [asdict(side) for side in self.skew],
                "windows_needed_us": [
                    {percent: age // MICROSECOND for percent, age in side.items()}
                    for side in self.windows_needed
                ],
                "stored_rows": {
                    "peak": list(self.stored_rows.peak),
                    "mean": list(self.stored_rows.mean),
                    "bytes": self.stored_rows.bytes,
                },
                "explains": asdict(self.explains),
                "notes": list(self.notes),
                "trace": None if self.trace is None else self.trace.to_dict(),
            }
        )

    @classmethod
    def from_json(cls, text: str) -> "Profile":
        """A profile from what `to_json` wrote; raises `SpecError` for anything else."""
        given = read_json(text, "a profile", longest=LONGEST_TEXT, deepest=DEEPEST)
        if not isinstance(given, dict):
            raise SpecError(f"{shortened(text)} is not a profile: make it with headgate profile")
        if given.get("format") != FORMAT:
            raise SpecError(
                f"this profile has format {given.get('format')!r} and this Headgate reads "
                f"{FORMAT}: make the profile again"
            )
        try:
            return cls._of(given)
        except _MALFORMED as error:
            raise SpecError(
                f"this profile is not as headgate profile writes it ({shortened(repr(error))}): "
                f"make the profile again"
            ) from error

    @classmethod
    def _of(cls, given: dict[str, Any]) -> "Profile":
        keys, stored = given["keys"], given["stored_rows"]
        return cls(
            keys=Keys(tuple(keys["left"]), tuple(keys["right"])),
            sides=Both(
                *(Side(side["time"], TimeWindow(side["window_us"])) for side in given["sides"])
            ),
            rows=Both(*(SideFacts(**side) for side in given["rows"])),
            rates=Both(*given["rates"]),
            pairs=Pairs(**{**given["pairs"], "rows": Both(*given["pairs"]["rows"])}),
            ages=AgeCurves.from_json(json.dumps(given["ages"])),
            frequencies=Frequencies.from_json(json.dumps(given["frequencies"])),
            skew=Both(*(_skew(side) for side in given["skew"])),
            windows_needed=Both(
                *(
                    {percent: us * MICROSECOND for percent, us in _by_number(side).items()}
                    for side in given["windows_needed_us"]
                )
            ),
            stored_rows=StoredFacts(Both(*stored["peak"]), Both(*stored["mean"]), stored["bytes"]),
            explains=Explains(**given["explains"]),
            notes=tuple(given["notes"]),
            trace=None if given["trace"] is None else KeptRows.from_dict(given["trace"]),
        )


def _skew(given: dict[str, Any]) -> Skew:
    return Skew(**{**given, "top": _by_number(given["top"])})


def _by_number(given: dict[str, Any]) -> dict[int, Any]:
    """JSON has no number keys."""
    return {int(number): value for number, value in given.items()}
