"""Measured numbers on pages come from files that commands wrote.

Speeds, shares, recalls, seconds and bytes in text and tables need a comment that the site does not
show. It holds to the next heading or the next such comment:

``<!-- numbers from: FILE, FILE -->`` each number is in one of the files, as precise as it is given;
``<!-- numbers printed by: COMMAND -->`` the command printed them, and its output was not kept;
``<!-- numbers noted: REASON -->`` measured once while something was decided; nothing repeats it;
``<!-- numbers set: REASON -->`` nothing was measured: limits, defaults, examples.

Pages that a command writes as a whole (`WRITTEN`) need none.
"""

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from headgate.bench.bench_command import PARTS
from headgate.bench.on_demand import ON_DEMAND
from headgate.studies.catalogue import ALL_STUDIES
from tools.measured import COMMANDS, written

ROOT = Path(__file__).parents[1]
WRITTEN = {
    "docs/gallery": "tools/gallery_pages.py",
    "docs/papers": "tools/paper_pages.py",
    "docs/project": "a copy of the files in the repository's root",
    "docs/reference/cli.md": "tools/cli_page.py",
    "docs/reference/metrics.md": "headgate.metrics.metrics_page",
    "docs/reference/campaigns.md": "tests/campaigns.py",
    "docs/reference/kinds.md": "headgate bench --part kinds",
    "docs/reference/real-streams.md": "headgate bench --part real",
}
MOST = {"printed by": 5, "noted": 0}
"""How many comments may say that there is no file. Lower it as files are kept."""

COMMENT = re.compile(r"<!-- numbers (from|printed by|noted|set): (.+?) -->", re.DOTALL)
CODE = re.compile(r"```.*?```|`[^`\n]*`|\]\([^)]*\)", re.DOTALL)
DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
UNIT = r"(%|ms|µs|s|kB|MB|GB|times|rows/s|million)(?!\w)"
MEASURED = re.compile(
    rf"(?<![\w.,/])(?<!version )({DIGITS})(?=(?:,? (?:to |and |/ |→ )?(?:{DIGITS}))*\s{UNIT})"
    r"|(?<![\w.,/])(?<!version )(0\.\d+)(?![\w.])"
)
"""A number with a unit, in a list of such numbers too, and any share; not "version 0.1"."""
ALWAYS = {"95 %", "100 %"}
"""A 95 % interval is a name, and all of something is no measurement."""


class Told(NamedTuple):
    """A measured number on a page, and the comment that holds for it."""

    text: str
    value: float
    decimals: int
    percent: bool
    kind: str
    source: str


def told(page: Path) -> list[Told]:
    """The measured numbers of a page, in order."""
    found = []
    for section in re.split(r"^(?=#+ )", CODE.sub(" ", page.read_text()), flags=re.MULTILINE):
        pieces = COMMENT.split(section)
        for kind, source, text in zip(
            ["", *pieces[1::3]], ["", *pieces[2::3]], pieces[::3], strict=True
        ):
            text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
            for match in MEASURED.finditer(text):
                if f"{match[0]} {match[2]}" not in ALWAYS:
                    digits = (match[1] or match[3]).replace(",", "")
                    decimals = len(digits.partition(".")[2])
                    percent = match[2] == "%"
                    name = f"{match[0]} {match[2] or ''}".strip()
                    found.append(Told(name, float(digits), decimals, percent, kind, source.strip()))
    return found


def numbers_in(file: Path) -> set[float]:
    """All numbers of a file; a percentage also as a share."""
    text = re.sub(r"(?<=\d),(?=\d{3})", "", file.read_text())
    found = set()
    for number, percent in re.findall(r"(\d+(?:\.\d+)?(?:e-?\d+)?)(\s?%)?", text):
        found |= {float(number), float(number) / 100} if percent else {float(number)}
    return found


def is_among(number: Told, known: set[float]) -> bool:
    """Whether one of the known numbers, rounded, is this one; shares may be written in percent."""
    slack = 0.5 * 10**-number.decimals + 1e-9
    scales = (1, 100) if number.percent else (1,)
    return any(abs(scale * each - number.value) <= slack for each in known for scale in scales)


def pages() -> list[Path]:
    every = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    names = [page.relative_to(ROOT).as_posix() for page in every]
    apart = (*WRITTEN, "docs/_build")
    return [page for page, name in zip(every, names, strict=True) if not name.startswith(apart)]


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", pages(), ids=named)
def test_a_number_comes_from_a_file_or_says_why_not(page: Path) -> None:
    unmarked = [number.text for number in told(page) if not number.kind]
    assert not unmarked, f"put <!-- numbers from: FILE --> above: {', '.join(unmarked)}"


@pytest.mark.parametrize("page", pages(), ids=named)
def test_numbers_are_in_the_file_they_come_from(page: Path) -> None:
    for number in told(page):
        if number.kind == "from":
            files = [ROOT / name.strip() for name in number.source.split(",")]
            known = set().union(*map(numbers_in, files))
            assert is_among(number, known), f"{number.text} is not in {number.source}"


def test_commands_that_print_numbers_exist() -> None:
    made = (ROOT / "Makefile").read_text()
    sources = {
        number.source for page in pages() for number in told(page) if number.kind == "printed by"
    }
    for source in sources:
        parts = set(re.findall(r"--part (\w+)", source))
        assert parts <= {*PARTS, *ON_DEMAND, "real"}, source
        if "headgate reproduce" in source:
            names = set(source.split("headgate reproduce ")[1].split())
            assert all(any(study.name.startswith(name) for study in ALL_STUDIES) for name in names)
        for file in re.findall(r"\S+\.py", source):
            assert (ROOT / file).exists(), source
        for verb in re.findall(r"make (\S+)", source):
            assert f"\n{verb}:" in made, source


def test_numbers_without_a_file_become_fewer() -> None:
    kinds = [kind for page in pages() for kind, _ in COMMENT.findall(page.read_text())]
    assert {kind: kinds.count(kind) for kind in MOST} == MOST


def test_a_number_that_was_not_measured_says_why() -> None:
    for page in pages():
        for number in told(page):
            assert number.kind not in ("set", "noted") or len(number.source.split()) >= 3, page


def test_a_changed_number_is_noticed(tmp_path: Path) -> None:
    measured = tmp_path / "measured.txt"
    measured.write_text("recall 0.9021\n1,300 rows in 12.34 s")
    page = tmp_path / "page.md"
    page.write_text(
        f"# A\n\n<!-- numbers from: {measured} -->\nIt makes 90 % in 12.3 s, not 91 %.\n\n"
        "## B\n\nIt takes 4.2 MB, with a 95 % interval, `5 %` and\n```\n7 s\n```\n"
    )
    numbers = told(page)
    assert [(number.text, number.kind) for number in numbers] == [
        ("90 %", "from"),
        ("12.3 s", "from"),
        ("91 %", "from"),
        ("4.2 MB", ""),
    ]
    known = numbers_in(measured)
    assert [is_among(number, known) for number in numbers[:3]] == [True, True, False]


@pytest.mark.long
@pytest.mark.parametrize("name", COMMANDS)
def test_a_kept_output_is_what_the_command_prints(name: str, tmp_path: Path) -> None:
    def without_date(text: str) -> list[str]:
        return re.sub(r"  Made of .*?headgate \S+\n", "", text, flags=re.DOTALL).splitlines()

    kept = (ROOT / "docs" / "measured" / f"{name}.txt").read_text()
    assert without_date(written(COMMANDS[name], tmp_path)) == without_date(kept)
