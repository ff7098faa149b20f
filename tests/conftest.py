"""Settings of the test runner itself."""

import signal

import pytest
from hypothesis import settings
from support.browser import chromium, page, watch
from support.lab import jupyterlab, lab

# Fixtures for all tests.
__all__ = ["chromium", "jupyterlab", "lab", "page", "watch"]

# A job in the background may have been started with Ctrl-C ignored, which programs that
# the tests start would inherit, and wait for it in vain.
signal.signal(signal.SIGINT, signal.default_int_handler)

# How long one random instance takes says more of the machine than of the code: speed
# has tests and benchmarks of its own.
settings.register_profile("bayesmend", deadline=None)
settings.load_profile("bayesmend")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if "chromium" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")
