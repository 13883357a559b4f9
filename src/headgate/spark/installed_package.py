"""Checks the versions of the packages that Headgate needs on Spark, before it uses them."""

import re
from dataclasses import dataclass
from importlib import import_module

from headgate.spec import SpecError

Version = tuple[int, ...]


@dataclass(frozen=True)
class InstalledPackage:
    """A package and its supported versions: from ``oldest`` up to, not including, ``newest``."""

    name: str
    oldest: Version
    newest: Version | None = None
    module: str | None = None
    """What it is imported as, where that is another name."""

    @property
    def wanted(self) -> str:
        """The requirement as pip reads it.

        Examples
        --------
        >>> InstalledPackage("pandas", (2, 2), (3,)).wanted
        'pandas>=2.2,<3'
        """
        below = "" if self.newest is None else f",<{_dotted(self.newest)}"
        return f"{self.name}>={_dotted(self.oldest)}{below}"

    def fits(self, found: str) -> bool:
        """Whether a version is supported.

        Examples
        --------
        >>> spark = InstalledPackage("pyspark", (4, 0), (5,))
        >>> [spark.fits(version) for version in ("3.5.7", "4.0.0.dev1", "5.0.0")]
        [False, True, False]
        """
        version = numbers(found)
        # Compare only as many numbers as the bound has: 4.2.1 counts as 4.2.
        new_enough = version[: len(self.oldest)] >= self.oldest
        return new_enough and (self.newest is None or version[: len(self.newest)] < self.newest)

    def check(self) -> None:
        """Raise unless the package can be imported in a supported version."""
        try:
            found = str(import_module(self.module or self.name).__version__)
        except ImportError as error:
            raise SpecError(
                f"{self.name} cannot be imported here ({error}), and Headgate needs it on Spark: "
                f'pip install "headgate[spark]"'
            ) from error
        if not self.fits(found):
            raise SpecError(
                f"{self.name} {found} is installed, and Headgate needs {self.wanted} on Spark: "
                f'pip install "{self.wanted}"'
            )


PYSPARK = InstalledPackage("pyspark", (4, 0), (5,))
PROTOBUF = InstalledPackage("protobuf", (5, 28, 3), module="google.protobuf")
"""For streams: Spark's transformWithState crashes without. Each version of Spark has its own oldest
(`spark_versions.protobuf_for`)."""
ALWAYS = (PYSPARK, InstalledPackage("pandas", (2, 2), (3,)), InstalledPackage("pyarrow", (18,)))
"""As in pyproject.toml."""


def check_installed() -> None:
    """Raise unless the packages that are always needed on Spark are installed."""
    for package in ALWAYS:
        package.check()


def numbers(text: str) -> Version:
    """The leading numbers of a version.

    Examples
    --------
    >>> numbers("4.3.0"), numbers("5.0.0-SNAPSHOT"), numbers("6.33.0rc2")
    ((4, 3, 0), (5, 0, 0), (6, 33, 0))
    """
    found = re.match(r"\d+(?:\.\d+)*", text)
    return tuple(int(part) for part in found.group().split(".")) if found else ()


def _dotted(version: Version) -> str:
    return ".".join(str(part) for part in version)
