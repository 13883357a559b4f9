"""Measured costs of this machine, stored in a per-user file."""

import json
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from headgate.models.cost.unit_time import NODE_ROWS
from headgate.models.cost.weights import Weights
from headgate.models.cost.work_cost import WorkCost
from headgate.spec import SpecError
from headgate.spec.bounded_json import read_json

VERSION = 1
"""Version of the file format; other versions are rejected."""
LONGEST_TEXT = 1_000_000
"""The most characters of the file that are read."""
PLACE = "HEADGATE_CALIBRATION"
"""The environment variable that says where the file is."""


@dataclass(frozen=True)
class Calibration:
    """The weights of one machine.

    Parameters
    ----------
    weights
        What touching rows costs in each structure, in seconds (ICDE 2003).
    work
        What rows and pairs cost with hash indexes, in seconds (C_u, C_p and C_a).
    work_spread
        Standard deviations of these over the rounds they were measured in.
    node, bucket
        Rows in a tree's node and in a hash bucket, as measured.
    machine, taken
        The machine and the time of measurement, in words.

    Examples
    --------
    >>> from headgate.models.cost import Weight
    >>> work = WorkCost(update=5e-8, produce=2e-8, arrive=2e-7)
    >>> measured = Calibration(Weights({"hash": Weight(2e-8, 3e-8)}), work, work, bucket=1)
    >>> Calibration.from_json(measured.to_json()) == measured
    True
    """

    weights: Weights
    work: WorkCost
    work_spread: WorkCost
    node: int = NODE_ROWS
    bucket: int = 1
    machine: str = ""
    taken: str = ""

    def to_json(self) -> str:
        """The calibration as text."""
        return json.dumps(
            {
                "version": VERSION,
                "machine": self.machine,
                "taken": self.taken,
                "node": self.node,
                "bucket": self.bucket,
                "work": asdict(self.work),
                "work_spread": asdict(self.work_spread),
                "structures": json.loads(self.weights.to_json()),
            },
            indent=1,
        )

    @classmethod
    def from_json(cls, text: str) -> "Calibration":
        """A calibration from what `to_json` wrote."""
        try:
            stored = read_json(text, "a calibration", LONGEST_TEXT, deepest=10)
            version = stored["version"]
        except (ValueError, TypeError, KeyError) as error:
            raise SpecError(
                f"this is not a calibration ({error}): measure again with `headgate calibrate`"
            ) from error
        if version != VERSION:
            raise SpecError(
                f"this calibration is of version {version}, and version {VERSION} is wanted: "
                f"measure again with `headgate calibrate`"
            )
        try:
            return cls(
                weights=Weights.from_json(json.dumps(stored["structures"])),
                work=WorkCost(**stored["work"]),
                work_spread=WorkCost(**stored["work_spread"]),
                node=int(stored["node"]),
                bucket=int(stored["bucket"]),
                machine=str(stored["machine"]),
                taken=str(stored["taken"]),
            )
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            raise SpecError(
                f"this calibration is incomplete ({error}): measure again with `headgate calibrate`"
            ) from error

    def save(self, path: Path | None = None) -> Path:
        """Write the file atomically; returns its path."""
        place = calibration_file() if path is None else path
        place.parent.mkdir(parents=True, exist_ok=True)
        half_written = place.with_name(f"{place.name}.{os.getpid()}")
        half_written.write_text(self.to_json())
        half_written.replace(place)
        return place


def calibration_file() -> Path:
    """Path of this user's calibration: HEADGATE_CALIBRATION, or in the cache folder."""
    told = os.environ.get(PLACE)
    if told:
        return Path(told)
    caches = os.environ.get("XDG_CACHE_HOME")
    usual = Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
    return (Path(caches) if caches else usual) / "headgate" / "calibration.json"


def load_calibration(path: Path | None = None) -> Calibration | None:
    """This user's calibration; None where nothing was measured yet.

    Raises
    ------
    SpecError
        Where there is a file, and it is broken or of another version.
    """
    place = calibration_file() if path is None else path
    try:
        with place.open("rb") as file:
            text = file.read(LONGEST_TEXT + 1).decode()
        return Calibration.from_json(text)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise SpecError(f"{place}: {error}") from error
