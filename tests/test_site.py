"""The site is built without a warning: every link, anchor and reference leads somewhere."""

import inspect
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name

import headgate as hg

DOCS = Path(__file__).parents[1] / "docs"


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-d", tmp_path / "trees"]
    done = subprocess.run(
        [*build, "-b", "html", DOCS, tmp_path / "html"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "html" / "searchindex.js").exists()


def test_the_page_of_commands_is_what_the_commands_say() -> None:
    written = subprocess.run(
        [sys.executable, "tools/cli_page.py"], cwd=DOCS.parent, capture_output=True, check=True
    )
    page = (DOCS / "reference" / "cli.md").read_bytes()
    assert written.stdout == page, "run: python tools/cli_page.py > docs/reference/cli.md"


PACKAGES = ("policies", "models", "sampling", "lookup")
LISTS = {"ALL_POLICIES", "FOLLOWING", "ALL_SAMPLERS"}
BASES = {
    *("Policy", "FixedScore", "AgeScore", "ValueScore", "HistoryScore"),
    *("Process", "Survival", "Table"),
}
"""Have no example of their own: those of what derives from them, and of their page."""


def described() -> dict[str, object]:
    """What the reference describes, by its name below ``headgate``."""
    pages = "".join(path.read_text() for path in (DOCS / "reference" / "api").glob("*.md"))
    names = re.findall(r":: headgate\.([\w.]+)$", pages, re.MULTILINE)
    return {name: resolve_name(f"headgate.{name}") for name in names}


def test_every_public_name_is_in_the_reference() -> None:
    told = {name.rpartition(".")[2] for name in described()}
    for name in PACKAGES:
        assert set(import_module(f"headgate.{name}").__all__) - LISTS <= told, name
    assert {name for name in described() if "." not in name} | {"policies", "estimate"} == set(
        hg.__all__
    )


def test_every_name_in_the_reference_has_an_example() -> None:
    shown = {name: inspect.getdoc(what) or "" for name, what in described().items()}
    assert {name.rpartition(".")[2] for name, text in shown.items() if ">>>" not in text} <= BASES


def test_errors_on_their_page_are_said_somewhere() -> None:
    page = (DOCS / "reference" / "errors.md").read_text().split("## No error", 1)[0]
    told = re.findall(r"^\| (?!the message|---)(.*?) \|", page, re.MULTILINE)
    source = "".join(path.read_text() for path in Path(hg.__file__).parent.rglob("*.py"))
    assert len(told) > 15
    assert not [message for message in told if message not in source]


OPENINGS = ("After this page ", "Find ", "Join ", "Look up ", "Read ", "Run ")
"""What a reader can do after a page, or with it."""


def test_every_page_opens_with_what_its_reader_can_do() -> None:
    pages = [path for path in DOCS.rglob("*.md") if "_build" not in path.parts]
    for page in (*pages, *(path for path in DOCS.parent.glob("*.md") if path.stem != "README")):
        lines = [line for line in page.read_text().splitlines() if line.strip()]
        assert lines[0].startswith("# "), page
        assert lines[1].startswith(OPENINGS), page


def test_the_version_is_the_same_everywhere() -> None:
    found = tomllib.loads((DOCS.parent / "pyproject.toml").read_text())["project"]["version"]
    cited = re.search(r"^version: (\S+)$", (DOCS.parent / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited is not None
    assert found == hg.__version__ == cited[1]
