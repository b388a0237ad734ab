"""The page in a real browser, at a real run: what a person does, and what comes of it."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from tests.live.test_run import running

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (CHROMIUM and DRIVER), reason="no browser: install chromium and chromium-driver to test the page"
    ),
]

FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-background-networking --disable-component-update "
    "--disable-sync --no-first-run --window-size=1280,800"
)
# Slow enough for a browser on a busy machine, and nothing is kept aside, so that every label is learnt.
RUN = ("--set", "benchmark.keep_aside=0", "--set", "checkpoint.every=5", "--labels-per-step", "1")


class Page:
    """The page as a person uses it."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._profile = tempfile.mkdtemp()
        options = Options()
        options.binary_location = str(CHROMIUM)
        for flag in (*FLAGS.split(), f"--user-data-dir={self._profile}"):
            options.add_argument(flag)
        self.driver = webdriver.Chrome(options=options, service=Service(DRIVER))
        self.driver.get(address)

    def close(self) -> None:
        self.driver.quit()
        shutil.rmtree(self._profile, ignore_errors=True)

    def find(self, name: str) -> WebElement:
        """The element of this name, once it is there."""
        return self.wait(lambda: self.driver.find_elements(By.CSS_SELECTOR, f'[data-testid="{name}"]'))[0]

    def has(self, name: str) -> bool:
        return bool(self.driver.find_elements(By.CSS_SELECTOR, f'[data-testid="{name}"]'))

    def press(self, *keys: str) -> None:
        """Type on the keyboard, wherever the focus is."""
        ActionChains(self.driver).send_keys(*keys).perform()

    def draw(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Draw a box with the mouse; corners in parts of the picture, from its middle."""
        stage = self.find("stage")
        width, height = stage.size["width"], stage.size["height"]
        chain = ActionChains(self.driver, duration=100)
        chain.move_to_element_with_offset(stage, int(start[0] * width), int(start[1] * height)).click_and_hold()
        chain.move_by_offset(int((end[0] - start[0]) * width / 2), int((end[1] - start[1]) * height / 2))
        chain.move_by_offset(int((end[0] - start[0]) * width / 2), int((end[1] - start[1]) * height / 2))
        chain.release().perform()

    def name(self, name: str) -> None:
        """Name the box that is picked."""
        field = self.find("name-input")
        field.click()
        field.clear()
        field.send_keys(name, Keys.ENTER)

    def answer(self, *keys: str) -> None:
        """Answer the request that is shown, and wait until another one is."""
        shown = self.find("frame-title").text
        self.press(*keys)
        self.wait(lambda: self.has("frame-title") and self.find("frame-title").text != shown)

    def wait(self, condition: Callable[[], Any], seconds: float = 90) -> Any:
        """Wait until something is so; returns it."""
        ends = time.monotonic() + seconds
        while not (found := condition()):
            if time.monotonic() > ends:
                self.driver.save_screenshot(str(Path(tempfile.gettempdir()) / "leocod-page-failed.png"))
                raise AssertionError("It did not happen.")
            time.sleep(0.1)
        return found

    def state(self) -> Any:
        with urlopen(f"{self.address}api/state", timeout=30) as answer:
            return json.load(answer)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return tmp_path / "run"


@pytest.fixture
def frames_a_second() -> int:
    return 4


@pytest.fixture
def page(run: Path, frames_a_second: int) -> Iterator[Page]:
    with running(run, *RUN, "--fps", str(frames_a_second)) as (_, address):
        page = Page(address)
        yield page
        page.close()


def list_names(state: Any) -> list[str]:
    return [name for label in state["labels"] for name in label["names"]]


def is_predicted(state: Any, name: str) -> bool:
    """Whether the detector finds a class in later frames: as a proposal, or in the live picture."""
    proposed = (one["name"] for request in state["requests"] for one in request["proposals"])
    return name in proposed or any(known["name"] == name and known["last_seen"] for known in state["classes"])


@pytest.mark.parametrize("frames_a_second", [10])
def test_a_box_drawn_by_mouse_with_a_new_name_is_learnt_and_found_again(page: Page) -> None:
    page.wait(lambda: page.state()["requests"])
    # A thing that is there, as a person would see it: what is drawn must be something that can be found again.
    for _ in range(40):
        page.wait(
            lambda: page.driver.find_elements(
                By.CSS_SELECTOR, '[data-testid="stage"] canvas, [data-testid="stage"] img'
            )
        )
        for _ in range(len(page.driver.find_elements(By.CSS_SELECTOR, '[data-testid="box"]'))):
            page.press(Keys.TAB, Keys.DELETE)
        page.draw((-0.10, 0.05), (0.12, 0.45))
        page.name("thimble")
        before = page.state()["counters"]["labels"]
        page.press(Keys.ENTER)
        page.wait(lambda before=before: page.state()["counters"]["labels"] > before)
        page.wait(lambda: page.state()["requests"])
        if is_predicted(page.state(), "thimble"):
            break
    assert "thimble" in list_names(page.state())
    page.wait(lambda: any(label["state"] == "learnt" for label in page.state()["labels"]))
    page.wait(lambda: is_predicted(page.state(), "thimble"), seconds=240)


def test_accept_correct_and_take_back_by_keyboard_alone(page: Page) -> None:
    page.wait(lambda: page.state()["requests"])
    page.find("stage")
    page.wait(lambda: len(page.state()["requests"]) > 2)
    page.answer(Keys.ENTER)
    page.wait(lambda: page.state()["counters"]["labels"] == 1)
    page.answer("n")
    page.wait(lambda: page.state()["counters"]["labels"] == 2)
    assert page.state()["labels"][0]["names"] == []
    page.press("u")
    page.wait(lambda: page.state()["counters"]["labels"] == 1)
    page.wait(lambda: page.state()["requests"])
    page.press("p")
    page.wait(lambda: "Paused" in page.find("status").text)
    page.press("p")
    page.wait(lambda: page.state()["status"] == "learning")


def test_a_reload_midway_loses_nothing(page: Page) -> None:
    page.wait(lambda: page.state()["requests"])
    page.find("stage")
    page.draw((-0.1, -0.1), (0.1, 0.2))
    page.name("thimble")
    page.wait(lambda: "thimble" in page.find("boxes").text)

    page.driver.refresh()

    page.wait(lambda: page.has("boxes") and "thimble" in page.find("boxes").text)
    page.press(Keys.ENTER)
    page.wait(lambda: "thimble" in list_names(page.state()))


def test_two_tabs_see_the_same(page: Page) -> None:
    page.wait(lambda: page.state()["requests"])
    page.find("stage")
    page.driver.switch_to.new_window("tab")
    page.driver.get(page.address)
    page.find("stage")
    page.press(Keys.ENTER)
    page.wait(lambda: page.state()["counters"]["labels"] == 1)

    page.driver.switch_to.window(page.driver.window_handles[0])

    page.wait(lambda: page.find("counter-labels").text.split()[1:2] == ["1"])
    frame = page.state()["labels"][0]["frame"]
    page.wait(lambda: not page.has(f"request-{frame}"))


def test_no_acknowledged_label_is_lost_when_the_server_is_killed(run: Path) -> None:
    with running(run, *RUN, "--fps", "4") as (process, address):
        page = Page(address)
        page.wait(lambda: page.state()["requests"])
        page.find("stage")
        page.press("n")
        page.wait(lambda: page.state()["counters"]["labels"] == 1)
        process.kill()
    page.wait(lambda: page.has("banner"))
    page.close()

    with running(run, *RUN, "--fps", "4") as (_, address), urlopen(f"{address}api/state", timeout=30) as answer:
        assert json.load(answer)["counters"]["labels"] == 1


def test_nothing_is_asked_of_another_machine(page: Page) -> None:
    page.find("stage")

    asked = page.driver.execute_script("return performance.getEntriesByType('resource').map(one => one.name)")

    assert asked
    assert all(one.startswith((page.address, "blob:", "data:")) for one in asked)
