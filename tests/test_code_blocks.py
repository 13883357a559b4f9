"""Every block of Python on a page runs as it is written, or says why it cannot.

Blocks of a page run in order and share their names. Above a block, a comment that the site does not
show may say: ``<!-- fragment: reason -->`` it does not run by itself; ``<!-- tested: file -->`` a
test of its own runs it; ``<!-- run as a file -->`` it is an example, which test_examples.py runs;
``<!-- spark -->`` it needs Spark, and runs in the long round. ``<!-- before: code -->`` makes names
that a reader would have. Above a block without a language, ``<!-- printed -->`` says that the code
of the page prints these lines, in this order; a line of dots stands for others.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MARK = re.compile(r"<!-- (fragment|tested|run as a file|spark|before)(?:: (.*?))? ?-->", re.DOTALL)
BLOCK = re.compile(
    r"(?:<!-- (?:fragment|tested|run as a file|spark).*?-->\n)?```python\n.*?```", re.S
)


PRINTED = re.compile(r"<!-- printed -->\n```\n(.*?)```", re.DOTALL)


@dataclass(frozen=True)
class Block:
    """Code of a page, and what the comment above it says."""

    code: str
    mark: str = ""
    reason: str = ""


def blocks(page: Path) -> list[Block]:
    """The Python of a page, block by block, with what comes before it."""
    text = page.read_text()
    before = [Block(found[2]) for found in MARK.finditer(text) if found[1] == "before"]
    made = []
    for found in BLOCK.finditer(text):
        said = MARK.match(found[0])
        code = found[0].split("```python\n", 1)[1].removesuffix("```")
        made.append(Block(code, said[1], said[2] or "") if said else Block(code))
    return [*before, *made]


def pages() -> list[Path]:
    skipped = {ROOT / "docs" / name for name in ("project", "_build", "gallery")}
    inside = [path for path in (ROOT / "docs").rglob("*.md") if not skipped & set(path.parents)]
    return sorted([ROOT / "CONTRIBUTING.md", ROOT / "ARCHITECTURE.md", *inside])


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def run(page: Path, which: tuple[str, ...]) -> None:
    names: dict[str, object] = {"__name__": "page"}
    for block in blocks(page):
        if block.mark in which:
            exec(compile(block.code, named(page), "exec"), names)


PLAIN = [page for page in pages() if any(not block.mark for block in blocks(page))]
ON_SPARK = [page for page in pages() if any(block.mark == "spark" for block in blocks(page))]


@pytest.mark.parametrize("page", PLAIN, ids=named)
def test_code_on_a_page_runs_and_prints_what_the_page_shows(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    run(page, ("",))
    lines = iter([line.strip() for line in capsys.readouterr().out.splitlines()])
    for shown in "".join(PRINTED.findall(page.read_text())).splitlines():
        assert shown.strip() in ("", "…") or shown.strip() in lines, shown


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize("page", ON_SPARK, ids=named)
def test_code_for_spark_runs(
    page: Path, spark: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import headgate as hg

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(hg, "session", lambda *_, **__: spark)
    run(page, ("", "spark"))


@pytest.mark.parametrize("page", pages(), ids=named)
def test_a_fragment_says_why_it_does_not_run(page: Path) -> None:
    for block in blocks(page):
        if block.mark in ("fragment", "tested"):
            assert len(block.reason.split()) >= (3 if block.mark == "fragment" else 1)
        if block.mark == "tested":
            assert (ROOT / block.reason).exists()
