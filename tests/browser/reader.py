"""A real browser to look at pages with: Debian's chromium, driven by selenium."""

import gzip
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

AXE = Path(__file__).parent / "axe-4.14.0.min.js.gz"
WAIT_S = 30.0
SERIOUS = ("serious", "critical")


class Reader:
    """A browser with one page open."""

    def __init__(self, driver: Any) -> None:
        self._driver = driver

    def open(self, address: str) -> None:
        """Go to a page; complaints of the one before, whose server may have ended, are dropped."""
        self._driver.get("about:blank")
        self.complaints()
        self._driver.get(address)

    def run(self, script: str, *given: Any) -> Any:
        """What a script in the page returns."""
        return self._driver.execute_script(script, *given)

    def text(self, selector: str) -> str:
        """The text of an element, empty where there is none."""
        told = self.run("return document.querySelector(arguments[0])?.textContent || ''", selector)
        return str(told)

    def until(self, what: str, is_so: Callable[[], bool]) -> None:
        """Wait until something is so."""
        ends = time.monotonic() + WAIT_S
        while not is_so():
            assert time.monotonic() < ends, f"{what}: {self.text('body')[:600]}"
            time.sleep(0.05)

    def size(self, width: int, height: int) -> None:
        """Give the page another size; a narrow one is a phone's."""
        given = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self._driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", given)

    def scheme(self, name: str) -> None:
        """Prefer light or dark."""
        features = [{"name": "prefers-color-scheme", "value": name}]
        self._driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def save_to(self, folder: Path) -> None:
        """Save what the page offers in a folder."""
        folder.mkdir()
        given = {"behavior": "allow", "downloadPath": str(folder)}
        self._driver.execute_cdp_cmd("Browser.setDownloadBehavior", given)

    def press(self, selector: str, *keys: str) -> None:
        """Type keys with an element in focus."""
        from selenium.webdriver.common.by import By

        self._driver.find_element(By.CSS_SELECTOR, selector).send_keys(*keys)

    def click(self, selector: str) -> None:
        """Click like a person: a page may save only so many files that nobody asked for."""
        from selenium.webdriver.common.by import By

        self._driver.find_element(By.CSS_SELECTOR, selector).click()

    def complaints(self) -> list[str]:
        """Errors and warnings in the console since the last time they were asked for."""
        logged = self._driver.get_log("browser")
        return [each["message"] for each in logged if each["level"] in ("SEVERE", "WARNING")]

    def barriers(self) -> list[str]:
        """What axe finds that keeps people out: serious and critical findings."""
        self.run(gzip.decompress(AXE.read_bytes()).decode())
        found = self._driver.execute_async_script(
            "axe.run().then(arguments[arguments.length - 1])",
        )
        assert found["passes"], "axe has looked at the page"
        return [
            f"{each['id']}: {each['help']}: {each['nodes'][0]['html'][:200]}"
            for each in found["violations"]
            if each["impact"] in SERIOUS
        ]

    def picture(self, path: Path, whole: bool = True) -> None:
        """Save what is to be seen, or the whole page, as PNG."""
        import base64

        asked = {"format": "png", "captureBeyondViewport": whole}
        shot = self._driver.execute_cdp_cmd("Page.captureScreenshot", asked)
        path.write_bytes(base64.b64decode(shot["data"]))


@contextmanager
def reader() -> Iterator[Reader]:
    """A browser, for a while; the test is skipped where there is none."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("no browser: apt-get install chromium chromium-driver, or make browser as root")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for switch in ("--headless=new", "--disable-gpu", "--hide-scrollbars", "--no-first-run"):
        options.add_argument(switch)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # chromium refuses to run as root with one
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    started = webdriver.Chrome(options, webdriver.ChromeService(driver))
    try:
        yield Reader(started)
    finally:
        started.quit()
