"""An environment with a wheel of Headgate and the packages that its metadata asks for, no others.

Packages are linked from the environment of the tests, so that it is made in seconds; `make dist`
installs them anew. What Headgate imports without asking for it is missing here.
"""

import csv
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from headgate.compiling.machine_library import loaded

ROOT = Path(__file__).parents[2]


def asked_for(name: str, extras: Iterable[str]) -> dict[str, Distribution]:
    """The installed packages that a package needs with these extras, by name, itself left out."""
    found: dict[str, Distribution] = {}
    waiting = [(name, tuple(extras))]
    seen = set()
    while waiting:
        one, wanted = waiting.pop()
        for text in distribution(one).requires or ():
            needed = Requirement(text)
            marked = [{"extra": extra} for extra in wanted or ("",)]
            if needed.marker and not any(needed.marker.evaluate(mark) for mark in marked):
                continue
            each = (canonicalize_name(needed.name), tuple(sorted(needed.extras)))
            if each not in seen and each[0] != canonicalize_name(name):
                seen.add(each)
                found[each[0]] = distribution(each[0])
                waiting.append(each)
    return found


def linked(packages: Iterable[Distribution], place: Path) -> None:
    """Link their folders and files; of folders that several share, single files."""
    files: dict[str, dict[str, list[str]]] = {}
    homes: dict[str, Path] = {}
    for package in packages:
        name = package.name
        homes[name] = Path(str(package.locate_file("")))
        for file, *_ in csv.reader((package.read_text("RECORD") or "").splitlines()):
            top = file.partition("/")[0]
            if top not in ("..", "__pycache__"):
                files.setdefault(top, {}).setdefault(name, []).append(file)
    place.mkdir(parents=True, exist_ok=True)
    for top, owners in files.items():
        for name, own in owners.items():
            for part in own if len(owners) > 1 else [top]:
                (place / part).parent.mkdir(parents=True, exist_ok=True)
                (place / part).symlink_to(homes[name] / part)


def wheel_environment(folder: Path) -> Path:
    """Build a wheel and an environment around it below a folder; the Python of that environment."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    uv = Path(sys.executable).with_name("uv")
    subprocess.run([uv, "venv", "-q", "-p", sys.executable, folder / "empty"], check=True)
    python = folder / "empty" / "bin" / "python"
    subprocess.run(
        [uv, "pip", "install", "-q", "--offline", "--no-deps", "--python", python, wheel],
        check=True,
    )
    place = sysconfig.get_path(
        "purelib", vars={"base": str(folder / "empty"), "platbase": str(folder / "empty")}
    )
    # Without `make kernel` after an edit, as in a checkout, Numba compiles.
    compiler = () if loaded() is not None else ("jit",)
    linked(asked_for("headgate", ("spark", "cli", *compiler)).values(), Path(place))
    return python
