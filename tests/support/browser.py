"""Chromium, driven by playwright: pages that are quiet and ask the network for nothing.

A test that takes `page` or `lab` is marked ``browser`` by itself. It is skipped, with
the reason, where Chromium or a package of the group ``browser`` is not found.
"""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUIET = (
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
# A page may be a file, and hold what it shows; these ask nobody.
LOCAL = ("file", "data", "blob", "about")


def find_chromium():
    """Return the path of Chromium, or of what `BAYESMEND_CHROMIUM` names; or None."""
    named = os.environ.get("BAYESMEND_CHROMIUM")
    found = (shutil.which(name) for name in ([named] if named else NAMES))
    return next((path for path in found if path), None)


@dataclass
class Watch:
    """What a page did that it must not do."""

    hosts: tuple[str, ...] = ()
    problems: list[str] = field(default_factory=list)

    def allows(self, url):
        parts = urlsplit(url)
        return parts.scheme in LOCAL or parts.netloc in self.hosts

    def over(self, context):
        """Watch every page of a context, and let no request out."""
        context.on("console", self._read)
        context.on("weberror", self._catch)
        context.route("**/*", self._guard)
        context.route_web_socket(
            lambda url: not self.allows(url),
            lambda socket: self.problems.append(f"asked the network: {socket.url}"),
        )

    def judge(self):
        """Fail a test whose page did what it must not do."""
        if self.problems:
            pytest.fail("\n".join(["the page is not quiet:", *self.problems]))

    def _read(self, message):
        if message.type in ("error", "warning"):
            self.problems.append(f"console {message.type}: {message.text}")

    def _catch(self, found):
        self.problems.append(f"uncaught: {found.error}")

    def _guard(self, route):
        if self.allows(route.request.url):
            route.continue_()
        else:
            self.problems.append(f"asked the network: {route.request.url}")
            route.abort()


@pytest.fixture(scope="session")
def chromium() -> Iterator[object]:
    """Start the browser once; skip where it cannot be."""
    playwright = pytest.importorskip(
        "playwright.sync_api",
        reason="playwright is not installed (pip install --group browser)",
    )
    path = find_chromium()
    if path is None:
        pytest.skip(
            "no Chromium found (apt install chromium, or BAYESMEND_CHROMIUM=path)"
        )
    with playwright.sync_playwright() as driver:
        # The sandbox of Chromium refuses to work for root.
        is_root = hasattr(os, "geteuid") and os.geteuid() == 0
        browser = driver.chromium.launch(
            executable_path=path,
            args=[*QUIET, *(["--no-sandbox"] if is_root else [])],
        )
        yield browser
        browser.close()


@pytest.fixture
def watch() -> Watch:
    """Return what the page is watched by: ``watch.problems`` must stay empty."""
    return Watch()


@pytest.fixture
def page(chromium, watch) -> Iterator[object]:
    """Open an empty page that may neither complain in the console nor ask the network.

    ``page.goto(path.as_uri())`` opens a file, ``page.set_content(html)`` shows text,
    ``page.emulate_media(color_scheme="dark")`` makes it dark.
    """
    context = chromium.new_context(viewport={"width": 1100, "height": 800})
    watch.over(context)
    opened = context.new_page()
    opened.set_default_timeout(20_000)
    yield opened
    opened.evaluate("1")  # whatever was said until now has been heard
    context.close()
    watch.judge()


def contrast(locator):
    """Return how a text stands out from what is behind it, by the measure of WCAG.

    From 1 for nothing to 21 for black on white; texts should have 4.5.
    """
    return locator.evaluate(
        """element => {
            const canvas = document.createElement("canvas").getContext(
                "2d", {willReadFrequently: true});
            const read = colour => {
                canvas.clearRect(0, 0, 1, 1);
                canvas.fillStyle = colour;
                canvas.fillRect(0, 0, 1, 1);
                const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
                return {rgb: [r, g, b], alpha: a / 255};
            };
            const over = (top, alpha, under) =>
                top.map((c, k) => alpha * c + (1 - alpha) * under[k]);
            const light = rgb => {
                const [r, g, b] = rgb.map(c => c / 255).map(
                    c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
                return 0.2126 * r + 0.7152 * g + 0.0722 * b;
            };
            const chain = [];
            for (let e = element; e; e = e.parentElement) chain.unshift(e);
            let under = [255, 255, 255], opacity = 1;
            for (const e of chain) {
                const style = getComputedStyle(e);
                const {rgb, alpha} = read(style.backgroundColor);
                under = over(rgb, alpha, under);
                opacity *= style.opacity;
            }
            const style = getComputedStyle(element);
            const isDrawn = element instanceof SVGElement;
            const ink = read(isDrawn ? style.fill : style.color);
            const alpha = ink.alpha * opacity * (isDrawn ? style.fillOpacity : 1);
            const [one, two] = [light(over(ink.rgb, alpha, under)), light(under)];
            return (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
        }"""
    )
