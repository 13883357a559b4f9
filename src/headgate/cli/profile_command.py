"""`headgate profile`: reads two files, prints what the streams are like and saves it."""

from pathlib import Path

from rich.console import Console

from headgate.api.profiler import profile
from headgate.cli.asked_sides import AskedSides
from headgate.profiles.profile_picture import save_picture
from headgate.profiles.terminal import as_tables


def run(asked: AskedSides, most_rows: int, out: Path, as_json: bool, console: Console) -> None:
    """Profile the files, print the report, and save it with a picture."""
    left, right = asked.checked()
    on, left_on, right_on = asked.keys
    assert asked.files[0] is not None
    assert asked.files[1] is not None
    found = profile(
        asked.files[0],
        asked.files[1],
        left=left,
        right=right,
        on=on,
        left_on=left_on,
        right_on=right_on,
        most_rows=most_rows,
    )
    saved = (*save_picture(found, out), out / "profile.json")
    saved[-1].write_text(found.to_json())
    if as_json:
        console.out(found.to_json(), highlight=False)
        return
    console.print(as_tables(found))
    console.print(f"Saved {', '.join(str(path) for path in saved)}", soft_wrap=True)
