"""The frequency model: each side draws its keys from a fixed distribution."""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from headgate.columns.common_type import Unlike
from headgate.columns.key_codes import NULL, encode_together
from headgate.models.memory_curve import MemoryCurve
from headgate.models.model_plots import frequency_axes
from headgate.spec import SpecError

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class KeyFrequencies:
    """How often each key occurs among the rows of one side.

    Parameters
    ----------
    columns
        The keys, one array a key column.
    share
        The fraction of the side's rows with that key.

    Examples
    --------
    >>> keys = pa.chunked_array([["a", "b"]])
    >>> KeyFrequencies((keys,), np.array([0.75, 0.25])).share.sum()
    np.float64(1.0)
    """

    columns: tuple[pa.ChunkedArray, ...]
    share: np.ndarray

    @classmethod
    def of_columns(cls, columns: Sequence[pa.ChunkedArray]) -> "KeyFrequencies":
        """Count the keys of a sample; rows with a null key are left out."""
        (codes,), count = encode_together([columns])
        known = codes[codes != NULL]
        counts = np.bincount(known, minlength=count)
        _, first = np.unique(codes, return_index=True)
        first = first[codes[first] != NULL]
        firsts = pa.array(first)
        return cls(
            tuple(column.take(firsts) for column in columns),
            counts[codes[first]] / max(len(known), 1),
        )

    @classmethod
    def of_mapping(cls, shares: Mapping[Any, float]) -> "KeyFrequencies":
        """From a mapping of key (a tuple for several columns) to frequency; need not sum to 1."""
        if not shares:
            raise SpecError("frequencies are empty: give at least one key and its frequency")
        share = np.array(list(shares.values()), np.float64)
        if not np.all(np.isfinite(share)) or np.any(share < 0):
            raise SpecError("frequencies must be finite and not negative")
        keys = [key if isinstance(key, tuple) else (key,) for key in shares]
        if len({len(key) for key in keys}) > 1:
            raise SpecError("frequencies have keys of different lengths: give tuples of one length")
        columns = tuple(pa.chunked_array([pa.array(column)]) for column in zip(*keys, strict=True))
        return cls(columns, share)

    def look_up(self, columns: Sequence[pa.ChunkedArray]) -> np.ndarray:
        """The frequency of each given key; 0 for keys the model has never seen."""
        if len(columns) != len(self.columns):
            raise SpecError(
                f"the frequency model has keys of {len(self.columns)} columns and the join of "
                f"{len(columns)}: learn the model on the join's own keys"
            )
        try:
            (known, asked), count = encode_together([self.columns, columns])
        except Unlike as error:
            mine, given = (
                ", ".join(str(column.type) for column in side) for side in (self.columns, columns)
            )
            raise SpecError(
                f"the frequency model's keys ({mine}) are not of the join's key type ({given}): "
                f"{error}"
            ) from None
        by_code = np.zeros(count + 1)
        by_code[known] = self.share
        by_code[NULL] = 0.0
        result: np.ndarray = by_code[asked]
        return result

    def to_json(self) -> str:
        """The frequencies as text; keys are kept with their type."""
        table = pa.table([*self.columns, pa.array(self.share)], names=self._names())
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        return json.dumps({"arrow": base64.b64encode(sink.getvalue()).decode()})

    @classmethod
    def from_json(cls, text: str) -> "KeyFrequencies":
        """Frequencies from what `to_json` wrote."""
        raw = base64.b64decode(json.loads(text)["arrow"])
        table = pa.ipc.open_stream(raw).read_all()
        # Lengths and offsets that point outside would otherwise be followed.
        table.validate(full=True)
        return cls(tuple(table.columns[:-1]), table.columns[-1].to_numpy())

    def plot(self, axes: "Axes | None" = None, label: str | None = None) -> "Axes":
        """Draw the share of rows against the rank of the key; needs Matplotlib."""
        return frequency_axes(axes, self.share, label)

    def __repr__(self) -> str:
        if not len(self.share):
            return "KeyFrequencies(no keys)"
        top = int(np.argmax(self.share))
        key = ", ".join(str(column[top]) for column in self.columns)
        return (
            f"KeyFrequencies({len(self.share):,} keys, the most frequent {key} with "
            f"{100 * self.share[top]:.3g} % of the rows)"
        )

    def _names(self) -> list[str]:
        return [*(f"key {place}" for place in range(len(self.columns))), "share"]


@dataclass(frozen=True, eq=False)
class Frequencies:
    """The frequency-based model of both sides.

    Parameters
    ----------
    left, right
        How often keys occur on each side.
    rows_per_second
        How many rows of each side arrive per second, if known. Policies then know how likely a row
        of an outer or semi join is to stay without a partner.

    Examples
    --------
    >>> model = Frequencies.of_mappings({"a": 0.9, "b": 0.1}, {"a": 0.5, "c": 0.5})
    >>> model.match_probability([pa.chunked_array([["a", "b", "c"]])], side=0).tolist()
    [0.5, 0.0, 0.5]

    References
    ----------
    Srivastava and Widom, Memory-Limited Execution of Windowed Stream Joins, VLDB 2004,
    Definition 2.1.
    """

    left: KeyFrequencies
    right: KeyFrequencies
    rows_per_second: tuple[float, float] | None = field(default=None, repr=False)

    @property
    def rows_per_us(self) -> tuple[float, float] | None:
        """For rows of each side: how many rows of the other come in a microsecond."""
        if self.rows_per_second is None:
            return None
        left, right = self.rows_per_second
        return right * 1e-6, left * 1e-6

    @classmethod
    def of_mappings(cls, left: Mapping[Any, float], right: Mapping[Any, float]) -> "Frequencies":
        """From each side's frequency per key."""
        return cls(KeyFrequencies.of_mapping(left), KeyFrequencies.of_mapping(right))

    @classmethod
    def of_tables(
        cls, left: pa.Table, right: pa.Table, left_on: Sequence[str], right_on: Sequence[str]
    ) -> "Frequencies":
        """Counted on a sample of both streams."""
        return cls(
            KeyFrequencies.of_columns([left.column(name) for name in left_on]),
            KeyFrequencies.of_columns([right.column(name) for name in right_on]),
        )

    def match_probability(self, columns: Sequence[pa.ChunkedArray], side: int) -> np.ndarray:
        """For each row's key: the probability that the next row of the other side matches."""
        return (self.right if side == 0 else self.left).look_up(columns)

    def output(self, side: int, rates: tuple[float, float], window: float) -> MemoryCurve:
        """Matches per unit of time by a side's stored rows, against rows stored under PROB.

        PROB stores all rows of the key most frequent on the other side, then of the next, so output
        is piecewise linear and concave.

        Parameters
        ----------
        side
            Whose rows are stored.
        rates
            Rows of each side per unit of time.
        window
            The side's window, in that unit.

        Examples
        --------
        >>> model = Frequencies.of_mappings({"a": 0.5, "b": 0.5}, {"a": 0.9, "b": 0.1})
        >>> curve = model.output(0, (10.0, 10.0), window=10)
        >>> curve.at(50), curve.at(100)
        (450.0, 500.0)

        References
        ----------
        Srivastava and Widom, VLDB 2004, section 3.3.
        """
        own, other = (self.left, self.right) if side == 0 else (self.right, self.left)
        match = other.look_up(own.columns)
        order = np.argsort(-match, kind="stable")
        rows = rates[side] * window * own.share[order]
        output = rows * rates[1 - side] * match[order]
        return MemoryCurve(
            np.concatenate([[0.0], np.cumsum(rows)]), np.concatenate([[0.0], np.cumsum(output)])
        )

    def to_json(self) -> str:
        """The model as text."""
        return json.dumps([self.left.to_json(), self.right.to_json(), self.rows_per_second])

    @classmethod
    def from_json(cls, text: str) -> "Frequencies":
        """A model from what `to_json` wrote.

        Examples
        --------
        >>> model = Frequencies.of_mappings({"a": 0.9, "b": 0.1}, {"a": 0.5, "c": 0.5})
        >>> Frequencies.from_json(model.to_json())
        Frequencies(left=KeyFrequencies(2 keys, the most frequent a with 90 % of the rows),
                    right=KeyFrequencies(2 keys, the most frequent a with 50 % of the rows))
        """
        left, right, *rates = json.loads(text)
        known = tuple(rates[0]) if rates and rates[0] else None
        return cls(KeyFrequencies.from_json(left), KeyFrequencies.from_json(right), known)
