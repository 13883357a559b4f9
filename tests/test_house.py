"""The tree is kept small and plain: short files and functions, few arguments, names that say it."""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "headgate"
FILE_LINES, FUNCTION_LINES, POSITIONAL = 400, 60, 6
ARCHITECTURE_LINES = 250
RIDDLES = {"atlas", "desk", "lesson", "lessons", "shelf", "undone"}
"""Private metaphors. The field has words for them: curves, arrays, learned model, skipped work."""
LITERAL_PACKAGES = {"studies", "planner/rules"}
"""Where a file is named for a figure, a part of a plan or the like, whatever others are called."""


@cache
def nodes() -> list[tuple[str, ast.AST]]:
    """Every part of every module of the package, by the module's path in it."""
    return [
        (path.relative_to(SOURCE).as_posix(), node)
        for path in sorted(SOURCE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Call)
    ]


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines from its `def` to its end, the docstring not counted."""
    count = (function.end_lineno or 0) - function.lineno + 1
    first = function.body[0]
    if isinstance(first, ast.Expr) and ast.get_docstring(function, clean=False) is not None:
        count -= (first.end_lineno or 0) - first.lineno + 1
    return count


def words_of(name: str) -> set[str]:
    """The words of a name in snake or camel case."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)}


def test_files_are_short() -> None:
    long = {
        path.relative_to(ROOT).as_posix()
        for folder in (SOURCE, ROOT / "tests")
        for path in folder.rglob("*.py")
        if len(path.read_text().splitlines()) > FILE_LINES
    }
    assert long == set()


def test_functions_are_short() -> None:
    long = {
        f"{path}: {node.name}"
        for path, node in nodes()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and lines_of(node) > FUNCTION_LINES
    }
    assert long == set()


def test_many_arguments_are_passed_by_name() -> None:
    """An unpacked sequence is not counted: what it holds has names where it was made."""
    wide = Counter(
        path
        for path, node in nodes()
        if isinstance(node, ast.Call)
        and sum(not isinstance(each, ast.Starred) for each in node.args) > POSITIONAL
    )
    assert wide == {}


def test_a_module_name_occurs_once() -> None:
    names = Counter(
        path.stem
        for path in SOURCE.rglob("*.py")
        if path.name not in ("__init__.py", "__main__.py")
        and not path.relative_to(SOURCE).as_posix().startswith(tuple(LITERAL_PACKAGES))
    )
    assert {name for name, count in names.items() if count > 1} == set()


def classes_and_main(path: Path) -> tuple[set[str], str | None]:
    """A module's public classes, and the one that makes up more than half of it."""
    body = ast.parse(path.read_text()).body
    parts = [each for each in body if isinstance(each, ast.ClassDef | ast.FunctionDef)]
    size = [(each.end_lineno or 0) - each.lineno + 1 for each in parts]
    classes = {
        each.name: lines
        for each, lines in zip(parts, size, strict=True)
        if isinstance(each, ast.ClassDef) and not each.name.startswith("_")
    }
    main = (name for name, lines in classes.items() if 2 * lines > sum(size))
    return {name.lower() for name in classes}, next(main, None)


def test_a_file_is_named_for_its_main_class() -> None:
    """Or for a base class, or the word that its classes share: `cluster.py` has `PpsCluster`.

    Errors aside: those of a room are in its `errors.py`, as everywhere in Python.
    """
    other = set()
    for path in SOURCE.rglob("*.py"):
        place, stem = path.relative_to(SOURCE).as_posix(), path.stem.replace("_", "")
        if place.startswith("studies/") or stem.endswith("errors") or path.name == "__init__.py":
            continue
        classes, main = classes_and_main(path)
        if main is not None and stem not in classes and stem not in main.lower():
            other.add(f"{place}: {main}")
    assert other == set()


def test_a_class_name_occurs_once() -> None:
    """Each paper's study has names of its own: streams, settings, cases."""
    names = Counter(
        node.name
        for path, node in nodes()
        if isinstance(node, ast.ClassDef)
        and not node.name.startswith("_")
        and not re.match(r"studies/\w+/", path)
    )
    assert {name for name, count in names.items() if count > 1} == set()


def test_names_are_no_riddles() -> None:
    modules = [path for path in SOURCE.rglob("*.py") if words_of(path.stem) & RIDDLES]
    defined = {
        f"{path}: {node.name}"
        for path, node in nodes()
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and words_of(node.name) & RIDDLES
    }
    assert not modules
    assert defined == set()


def pages() -> list[Path]:
    """The project's pages, without what the site copies or builds."""
    made = {ROOT / "docs" / name for name in ("project", "_build")}
    inside = (path for path in (ROOT / "docs").rglob("*.md") if not made & set(path.parents))
    return [*ROOT.glob("*.md"), *inside]


def test_headings_are_no_riddles() -> None:
    """A heading says what the reader can do or find."""
    lines = [line for page in pages() for line in page.read_text().splitlines()]
    headings = [line for line in lines if line[:1] == "#"]
    assert not [line for line in headings if re.match(r"#+ (Who|Whoever|Rows that)\b", line)]


def test_the_architecture_is_short_and_names_what_is_there() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    assert len(text.splitlines()) <= ARCHITECTURE_LINES
    named = re.findall(r"`([\w./]+\.py)`", text)
    assert len(named) > 50
    assert not [name for name in named if not ((SOURCE / name).exists() or (ROOT / name).exists())]


def test_links_between_pages_lead_somewhere() -> None:
    """To a file that is there, and a heading that it has."""
    astray = []
    for page in pages():
        for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            if "://" not in link and not (
                target.exists() and (not anchor or anchor in anchors(target))
            ):
                astray.append((page.name, link))
    assert not astray


def anchors(page: Path) -> set[str]:
    """The headings of a page, as links name them."""
    headings = [
        line.lstrip("# ").lower() for line in page.read_text().splitlines() if line[:1] == "#"
    ]
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in headings}
