"""A JupyterLab of its own, and notebooks that are run in it."""

import json
import os
import re
import secrets
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from support.browser import Watch

# Nothing is fetched, and all of a notebook is on the page at once.
CONFIG = {
    "LabApp": {
        "open_browser": False,
        "expose_app_in_browser": True,
        "news_url": None,
        "check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
    },
}
SETTINGS = {
    "notebook-extension/tracker": {
        "windowingMode": "none",
        "autoStartDefaultKernel": True,
    },
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
}
KERNEL = "jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel"
PATIENCE = 60_000


class Lab:
    """A running JupyterLab."""

    def __init__(self, url, token, folder, chromium):
        self.url, self.token, self.folder, self.chromium = url, token, folder, chromium
        self.watch = Watch(hosts=(url.split("/")[2],))

    def open(self, cells, *, dark=False):
        """Open a notebook of these cells; return its page."""
        self.watch.problems = []
        name = f"{secrets.token_hex(4)}.ipynb"
        (self.folder / name).write_text(notebook(cells), encoding="utf-8")
        context = self.chromium.new_context(viewport={"width": 1200, "height": 1000})
        self.watch.over(context)
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.goto(f"{self.url}/lab/tree/{name}?token={self.token}&reset")
        page.wait_for_selector(".jp-Notebook .jp-Cell")
        theme = "JupyterLab Dark" if dark else "JupyterLab Light"
        self.run(page, "apputils:change-theme", {"theme": theme})
        page.wait_for_selector(f"body[data-jp-theme-name='{theme}']", state="attached")
        page.wait_for_function(f"() => {KERNEL}?.status === 'idle'")
        return page

    def run(self, page, command, args=None):
        """Do what a menu does."""
        page.evaluate(
            "([command, args]) => jupyterapp.commands.execute(command, args)",
            [command, args or {}],
        )

    def start_all(self, page):
        """Start the cells, and wait for none of them."""
        page.evaluate("() => {jupyterapp.commands.execute('runmenu:run-all')}")

    def wait(self, page):
        """Wait until all cells are done."""
        page.wait_for_function(
            """() => {
                const prompts = [...document.querySelectorAll(
                    '.jp-CodeCell .jp-InputPrompt')].map(p => p.textContent);
                return prompts.length && prompts.every(p => /\\d/.test(p));
            }"""
        )
        page.wait_for_timeout(300)

    def show(self, cells, *, dark=False):
        """Open a notebook and run all of its cells."""
        page = self.open(cells, dark=dark)
        self.start_all(page)
        self.wait(page)
        return page


def notebook(cells):
    """Return the text of a notebook."""
    return json.dumps(
        {
            "nbformat": 4,
            "nbformat_minor": 5,
            "metadata": {
                "kernelspec": {"name": "python3", "display_name": "Python 3"},
                "language_info": {"name": "python"},
            },
            "cells": [
                {
                    "cell_type": "code",
                    "id": f"cell{k}",
                    "metadata": {},
                    "execution_count": None,
                    "outputs": [],
                    "source": source,
                }
                for k, source in enumerate(cells)
            ],
        }
    )


@pytest.fixture(scope="session")
def jupyterlab(chromium, tmp_path_factory) -> Iterator[Lab]:
    """Start JupyterLab once, away from all settings of whoever runs the tests."""
    for name in ("jupyterlab", "ipykernel", "anywidget"):
        if find_spec(name) is None:
            pytest.skip(f"{name} is not installed (pip install --group browser)")
    home = tmp_path_factory.mktemp("lab")
    folder, settings = home / "notebooks", home / "settings"
    folder.mkdir()
    for name, values in SETTINGS.items():
        path = settings / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))
    (home / "config.json").write_text(json.dumps(CONFIG))
    places = {
        f"JUPYTER_{kind}_DIR": str(home / kind.lower())
        for kind in ("CONFIG", "DATA", "RUNTIME")
    }
    token = secrets.token_hex(16)
    log = home / "log.txt"
    command = [
        *(sys.executable, "-m", "jupyterlab", f"--config={home / 'config.json'}"),
        *(f"--notebook-dir={folder}", f"--LabApp.user_settings_dir={settings}"),
        *(f"--LabApp.workspaces_dir={home / 'workspaces'}", "--ip=127.0.0.1"),
        *("--port=0", f"--IdentityProvider.token={token}", "--allow-root"),
    ]
    with log.open("w") as file:
        server = subprocess.Popen(
            command,
            stdout=file,
            stderr=subprocess.STDOUT,
            env={**os.environ, **places, "IPYTHONDIR": str(home / "ipython")},
            cwd=folder,
        )
    try:
        yield Lab(wait_for(server, log), token, folder, chromium)
    finally:
        server.terminate()
        server.wait(timeout=30)


def wait_for(server, log: Path):
    """Return the address of a server once it answers."""
    until = time.monotonic() + PATIENCE / 1000
    while time.monotonic() < until and server.poll() is None:
        found = re.search(r"http://127\.0\.0\.1:\d+", log.read_text())
        if found and answers(f"{found[0]}/api"):
            return found[0]
        time.sleep(0.2)
    pytest.fail(f"JupyterLab did not start:\n{log.read_text()}")


def answers(url):
    try:
        with urllib.request.urlopen(url, timeout=60):
            return True
    except OSError:  # it is said before it is so
        return False


@pytest.fixture
def lab(jupyterlab) -> Iterator[Lab]:
    """Lend JupyterLab to a test; no page may ask the network or complain of us."""
    yield jupyterlab
    for context in list(jupyterlab.chromium.contexts):
        context.close()
    jupyterlab.watch.judge()
