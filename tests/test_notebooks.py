"""The notebooks run in their short form, cell by cell, in a real IPython shell."""

import json
from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).parents[1] / "docs" / "notebooks"


def run(name: str) -> None:
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell()
    for cell in json.loads((NOTEBOOKS / f"{name}.ipynb").read_text())["cells"]:
        if cell["cell_type"] == "code":
            shell.run_cell("".join(cell["source"])).raise_error()


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HEADGATE_NOTEBOOKS", "short")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", ["first_join", "sizing", "plans"])
def test_a_notebook_runs(name: str) -> None:
    run(name)


@pytest.mark.spark
@pytest.mark.long
def test_the_notebook_of_a_live_stream_updates_in_place(tmp_path: Path) -> None:
    """In a kernel of its own: without one, nothing is displayed that could be updated."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(NOTEBOOKS / "live_stream.ipynb", as_version=4)
    NotebookClient(notebook, timeout=900, resources={"metadata": {"path": tmp_path}}).execute()
    (live,) = (cell for cell in notebook.cells if "shown.update" in cell.source)
    (shown,) = (one for one in live.outputs if one.output_type == "display_data")
    assert "Progress(batch=" in shown["data"]["text/plain"]
    assert "recall 0." in shown["data"]["text/html"]
