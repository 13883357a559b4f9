"""Runs the notebooks in docs/notebooks and keeps their output in them, for the site.

Run it:  python tools/run_notebooks.py [NAME...]
"""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"


def run(path: Path) -> None:
    """In place, from the top, in a fresh kernel; a cell that fails fails all."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook, timeout=1200, resources={"metadata": {"path": FOLDER.parents[1]}}
    ).execute()
    for cell in notebook.cells:
        # When a cell ran, and for how long, changes each time and tells nobody anything; nor do
        # Spark's warnings about this machine.
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = [one for one in cell.outputs if one.get("name") != "stderr"]
    nbformat.write(notebook, path)
    print(path.name)


if __name__ == "__main__":
    for name in sys.argv[1:] or ["first_join", "sizing", "plans", "live_stream"]:
        run(FOLDER / f"{name}.ipynb")
