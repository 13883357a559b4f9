"""Pictures of the site's pages in a real browser: light, dark and narrow, to be looked at.

Run it after `make docs-site`:  python tools/site_images.py FOLDER [PAGE...]
A page is named like `guides/policies`; without names it takes one page of each kind.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.browser.reader import reader

SITE = Path(__file__).parents[1] / "docs" / "_build" / "html"
PAGES = (
    "index",
    "start/in-process",
    "guides/index",
    "guides/policies",
    "concepts/windows",
    "concepts/auto",
    "reference/api/joins",
    "reference/errors",
    "papers/vldb04",
    "notebooks/first_join",
    "notebooks/plans",
    "gallery/first_join",
)
LOOKS = (("light", 1280, 900), ("dark", 1280, 900), ("narrow", 390, 844))


def main(folder: Path, pages: tuple[str, ...]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with reader() as browser:
        for page in pages:
            for look, width, height in LOOKS:
                browser.scheme("dark" if look == "dark" else "light")
                browser.size(width, height)
                browser.open(f"file://{SITE}/{page}.html")
                browser.picture(folder / f"{page.replace('/', '-')}-{look}.png")
                wide = browser.run("return document.documentElement.scrollWidth")
                if wide > width:
                    print(f"{page} ({look}): {wide} pixels wide, the window has {width}")
    print(f"{len(pages) * len(LOOKS)} pictures in {folder}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), tuple(sys.argv[2:]) or PAGES)
