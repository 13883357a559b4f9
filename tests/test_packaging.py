"""What people install has what its metadata says."""

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_wheel_says_that_it_is_typed(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
        metadata = next(name for name in names if name.endswith(".dist-info/METADATA"))
        typed = "Classifier: Typing :: Typed" in packed.read(metadata).decode()
    assert typed
    assert "headgate/py.typed" in names
    page = {"index.html", "page.js", "page.css", "vendor/uPlot.min.js", "vendor/uPlot.LICENSE"}
    assert {f"headgate/watching/page/{name}" for name in page} <= set(names)
    assert "headgate/watching/alert_rules.yml" in names
