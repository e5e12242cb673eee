"""Pages in a real browser: what it loads, how they look, and whether everybody can use them.

Run `tox -e browser`, on a machine with Chromium.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from tests.inspection.pipelines import everything, make_images

playwright = pytest.importorskip("playwright.sync_api", reason="not available: playwright")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="not available: axe")

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="not available: chromium")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Addresses of a report and of a preview."""
    folder = tmp_path_factory.mktemp("pages")
    images = make_images(folder)
    (images / "a" / "1.png").write_bytes(b"no image")
    long = images / ("a_class_with_a_long_name_" + "x" * 100)
    long.mkdir()
    (images / "a" / "2.png").rename(long / f"{'y' * 150}.png")
    pipeline = everything(images, on_sample_error="replace", max_bad_samples=1.0)
    for _ in range(3):
        pipeline.run()
    pipeline.report(folder / "report.html", samples=7)
    pipeline.show(7).save(folder / "preview.html")
    return {name: (folder / f"{name}.html").as_uri() for name in ("report", "preview")}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    # Inside of a container that runs as root, Chromium cannot make its sandbox.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield running
        running.close()


class Seen:
    """What a page did while it was open."""

    def __init__(self, page: Any) -> None:
        self.requests: list[str] = []
        self.messages: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("dialog", lambda dialog: self.messages.append(dialog.message))
        page.on("console", lambda message: self.messages.append(message.text))
        page.on("pageerror", lambda error: self.messages.append(str(error)))


@pytest.mark.parametrize("name", ["report", "preview"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_are_accessible_and_load_nothing(
    browser: Any, files: dict[str, str], name: str, scheme: str
) -> None:
    page = browser.new_page(color_scheme=scheme)
    seen = Seen(page)
    page.goto(files[name])
    page.evaluate("document.querySelectorAll('details').forEach(entry => entry.open = true)")
    assert [url for url in seen.requests if not url.startswith("data:")] == [files[name]]
    assert seen.messages == []
    broken = "[...document.images].filter(image => !image.complete || !image.naturalWidth).length"
    assert page.evaluate(broken) == 0
    found = axe.Axe().run(page)
    violations = found.response["violations"]
    assert [(entry["id"], entry["nodes"][0]["html"]) for entry in violations] == []
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 25, 31)"}[scheme]
    page.close()


def test_reports_can_be_used_with_the_keyboard(browser: Any, files: dict[str, str]) -> None:
    page = browser.new_page()
    page.goto(files["report"])
    reached = []
    for _ in range(40):
        page.keyboard.press("Tab")
        focus = page.evaluate(
            "(() => { const e = document.activeElement, s = getComputedStyle(e);"
            " return [e.tagName, s.outlineStyle, parseFloat(s.outlineWidth)]; })()"
        )
        if focus[0] == "BODY":
            break
        assert focus[1:] == ["solid", 3], focus
        reached.append(focus[0])
    assert reached.count("A") == 7
    assert reached.count("SUMMARY") == 8
    assert {"DIV", "PRE"} <= set(reached), "what scrolls must be reached"
    page.locator("summary").nth(2).focus()
    is_open = "document.querySelectorAll('details')[2].open"
    assert not page.evaluate(is_open)
    page.keyboard.press("Enter")
    assert page.evaluate(is_open)
    page.close()


@pytest.mark.parametrize("name", ["report", "preview"])
@pytest.mark.parametrize("width", [360, 390])
def test_pages_fit_on_a_telephone(
    browser: Any, files: dict[str, str], name: str, width: int
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 700})
    page.goto(files[name])
    page.evaluate("document.querySelectorAll('details').forEach(entry => entry.open = true)")
    assert page.evaluate("document.scrollingElement.scrollWidth") <= width
    page.close()


def test_wide_graphs_say_that_they_scroll(browser: Any, files: dict[str, str]) -> None:
    shown = {}
    for width in (390, 2400):
        page = browser.new_page(viewport={"width": width, "height": 700})
        page.goto(files["report"])
        graph = "document.querySelector('.graph')"
        is_hidden = page.evaluate(f"{graph}.scrollWidth > {graph}.clientWidth")
        shown[width] = (is_hidden, page.locator(".graph-hint").is_visible())
        page.close()
    assert shown == {390: (True, True), 2400: (False, False)}
