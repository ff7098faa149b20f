import pytest


@pytest.fixture(autouse=True)
def figures():
    """Matplotlib without windows; its figures are gone afterwards."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    yield pyplot
    pyplot.close("all")
