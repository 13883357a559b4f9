"""Every block of shell on a page names commands that exist, and runs or says why it does not.

A block without a comment runs as it is written, in the long round, in a folder that has the
examples and `.venv`. Above others a comment that the site does not show says
``<!-- fragment: reason -->`` or ``<!-- tested: file -->``, as above blocks of Python. Commands that
the page of the command line shows come from the commands' own help; they are parsed, not run.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer

from headgate.cli.main import app

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(
    r"(?:<!-- (?P<mark>fragment|tested): (?P<reason>[^\n]*?) -->\n)?"
    r"```(?:sh|bash)\n(?P<code>.*?)```",
    re.DOTALL,
)
PROMPT = re.compile(r"^\$ (headgate .*)$", re.MULTILINE)


class ShellBlock(NamedTuple):
    """Commands of a page, and what the comment above them says."""

    page: Path
    code: str
    mark: str
    reason: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT).as_posix()}: {self.code.split()[0]}"


def pages() -> list[Path]:
    made = [path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts]
    apart = {ROOT / "docs" / "project", ROOT / "docs" / "gallery"}
    return sorted(
        [*ROOT.glob("*.md"), *(path for path in made if not apart & set(path.parents))],
    )


def blocks() -> list[ShellBlock]:
    return [
        ShellBlock(page, found["code"], found["mark"] or "", found["reason"] or "")
        for page in pages()
        for found in BLOCK.finditer(page.read_text())
    ]


def commands(code: str) -> list[list[str]]:
    """The words of every simple command, without comments and what is redirected."""
    lines = re.sub(r"(^|\s)#.*", "", code.replace("\\\n", " "), flags=re.MULTILINE).splitlines()
    simple = [part for line in lines for part in re.split(r"&&|[|>;]", line)]
    return [words for part in simple if (words := shlex.split(part))]


def wrong(words: list[str]) -> str:
    """What is wrong with a command of Headgate, Python or make; empty where nothing is."""
    words = [word for word in words if not re.match(r"[A-Z_]+=", word)]
    program, rest = Path(words[0]).name, words[1:]
    if program == "headgate":
        group: Any = typer.main.get_command(app)
        context = group.make_context("headgate", list(rest), resilient_parsing=True)
        name, command, given = group.resolve_command(context, list(rest))
        if command is None:
            return f"headgate {rest[0]}"
        parser = command.make_parser(typer.Context(command, context, info_name=name))
        try:
            parser.parse_args(list(given))
        except Exception as mistake:
            return f"{' '.join(words)}: {mistake}"
    if program == "make":
        made = (ROOT / "Makefile").read_text()
        verbs = [word for word in rest if "=" not in word and not word.startswith("-")]
        return ", ".join(verb for verb in verbs if f"\n{verb}:" not in made)
    files = [word for word in rest if re.match(r"(examples|tools|tests)/.*\.py$", word)]
    return ", ".join(file for file in files if not (ROOT / file).exists())


RUN = [block for block in blocks() if not block.mark and block.page.name != "cli.md"]


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_on_a_page_exist(page: Path) -> None:
    text = page.read_text()
    code = [found["code"] for found in BLOCK.finditer(text)] + PROMPT.findall(text)
    assert not [said for each in code for words in commands(each) if (said := wrong(words))]


def test_a_block_that_does_not_run_says_why() -> None:
    for block in blocks():
        assert block.mark != "fragment" or len(block.reason.split()) >= 3, block
        assert block.mark != "tested" or (ROOT / block.reason).exists(), block


@pytest.mark.long
@pytest.mark.parametrize("block", RUN, ids=str)
def test_a_block_runs(block: ShellBlock, tmp_path: Path) -> None:
    programs = Path(sys.executable).parent
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / ".venv").symlink_to(programs.parent)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euc", block.code],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]


def test_wrong_commands_are_noticed() -> None:
    assert wrong(["headgate", "whatif", "--chekpoint", "folder"])
    assert wrong(["headgate", "adpot", "folder"])
    assert wrong(["make", "kernels"]) == "kernels"
    assert wrong([".venv/bin/python", "examples/no_such.py"]) == "examples/no_such.py"
    assert not wrong(["headgate", "demo", "--quick", "--policy", "lru"])
    assert commands("A=1 make kernel  # once\nheadgate grafana > rules.yml") == [
        ["A=1", "make", "kernel"],
        ["headgate", "grafana"],
        ["rules.yml"],
    ]
