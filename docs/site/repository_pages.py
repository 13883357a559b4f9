"""Makes files beside docs/ part of the site, so that links between Markdown files work on both.

ARCHITECTURE.md and its like become pages below ``project/``. A link to an example leads to its page
in the gallery. Pages themselves stay plain Markdown with links that also work in a checkout.
"""

import os
import re
from pathlib import Path

from sphinx.application import Sphinx

DOCS = Path(__file__).resolve().parents[1]
ROOT = DOCS.parent
PROJECT = {
    "ARCHITECTURE.md": "project/architecture.md",
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "RELEASING.md": "project/releasing.md",
    "SECURITY.md": "project/security.md",
    "README.md": "index.md",
}
"""Where a file of the repository is on the site."""


def place_on_site(target: Path) -> str | None:
    """Where the site has this file of the repository, from docs/; None if it has not."""
    name = target.relative_to(ROOT).as_posix()
    if name.startswith("docs/"):
        return name.removeprefix("docs/")
    if name in PROJECT:
        return PROJECT[name]
    if name.startswith("examples/") and name.endswith(".py"):
        page = f"gallery/{target.stem}.md"
        return page if (DOCS / page).exists() else None
    return None


def with_links_of_site(text: str, folder: Path, page: Path) -> str:
    """A text that lies in ``folder`` with links as from ``page``; others lose their link."""

    def changed(found: re.Match[str]) -> str:
        words, link = found["words"], found["link"]
        path, _, anchor = link.partition("#")
        if "://" in link or not path or link.startswith("mailto:"):
            return found[0]
        place = place_on_site((folder / path).resolve())
        if place is None:
            return words if found["picture"] else words.removeprefix("[").removesuffix("]")
        near = os.path.relpath(DOCS / place, page.parent)
        return f"{words}({near}{'#' + anchor if anchor and place != 'index.md' else ''})"

    return re.sub(r"(?P<words>(?P<picture>!?)\[[^\]]*\])\((?P<link>[^)\s]+)\)", changed, text)


def write_project_pages(app: Sphinx) -> None:
    """Copies of the repository's own pages, written only where they changed."""
    (DOCS / "project").mkdir(exist_ok=True)
    for name, place in PROJECT.items():
        source, page = ROOT / name, DOCS / place
        if place == "index.md" or not source.exists():
            continue
        text = with_links_of_site(source.read_text(), ROOT, page)
        if not page.exists() or page.read_text() != text:
            page.write_text(text)


def mend_links(app: Sphinx, name: str, text: list[str]) -> None:
    """Links of a page that lead out of docs/."""
    page = Path(app.env.doc2path(name))
    if page.suffix == ".md" and not name.startswith("project/"):
        text[0] = with_links_of_site(text[0], page.parent, page)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", write_project_pages, priority=100)
    app.connect("source-read", mend_links)
    return {"parallel_read_safe": True}
