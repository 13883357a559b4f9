"""Tables from files, for the command line: Parquet and CSV, single files or folders of them."""

from pathlib import Path

import pyarrow as pa

from headgate.spec import SpecError

FORMATS = {".parquet": "parquet", ".csv": "csv"}


def read_table(path: Path, which: str) -> pa.Table:
    """All rows of a Parquet or CSV file, or of a folder of either."""
    from pyarrow import dataset

    kind = _format_of(path, which)
    try:
        return dataset.dataset(str(path), format=kind).to_table()
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise SpecError(f"{path} cannot be read as {kind}: {error}") from error


def check_readable(path: Path, which: str) -> None:
    """Raise where a path is neither a Parquet nor a CSV file, nor a folder of one kind."""
    _format_of(path, which)


def _format_of(path: Path, which: str) -> str:
    if not path.exists():
        raise SpecError(f"{path} does not exist: give the {which} side as a Parquet or CSV file")
    suffixes = {path.suffix.lower()}
    if path.is_dir():
        # Spark leaves marker files beside the data; names like these are never data.
        inside = (file for file in path.rglob("*") if not file.name.startswith(("_", ".")))
        suffixes = {file.suffix.lower() for file in inside if file.is_file()}
    kinds = {FORMATS[suffix] for suffix in suffixes if suffix in FORMATS}
    if len(kinds) != 1:
        found = ", ".join(sorted(suffix or "no ending" for suffix in suffixes)) or "nothing"
        raise SpecError(
            f"{path} is not a Parquet or CSV file, or a folder of one kind of them "
            f"(found: {found}): give files that end in .parquet or .csv"
        )
    return kinds.pop()
