"""Settings of the test runner itself."""

import signal

import pytest
from support.browser import chromium, page, watch
from support.examples import load_profile
from support.lab import jupyterlab, lab

# Fixtures for all tests.
__all__ = ["chromium", "jupyterlab", "lab", "page", "watch"]

# A job in the background may have been started with Ctrl-C ignored, which programs that
# the tests start would inherit, and wait for it in vain.
signal.signal(signal.SIGINT, signal.default_int_handler)

load_profile()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if "chromium" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")
