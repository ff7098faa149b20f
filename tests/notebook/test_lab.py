"""Results in a real JupyterLab, in light and dark."""

import pytest
from support.browser import contrast

FIRST = """
import bayesmend as bm
asia = bm.load_network("asia")
data = bm.hide_mcar(asia.sample(300, seed=1), 0.15, seed=1).data
asia
"""


@pytest.mark.parametrize("dark", [False, True])
def test_results_are_drawn_and_tabulated_in_the_colours_of_the_theme(lab, dark):
    page = lab.show([FIRST, "data", "bm.learn_em(data, seed=1)"], dark=dark)
    outputs = page.locator(".jp-OutputArea-output .bayesmend")
    assert outputs.count() == 3
    assert outputs.nth(0).locator("svg rect").count() == 8
    assert outputs.nth(1).locator("tbody tr").first.is_visible()
    for shown in (
        outputs.nth(0).locator("svg text").first,
        outputs.nth(1).locator("td").first,
        outputs.nth(2).locator("svg .small").first,
        outputs.nth(2).locator("p.note").first,
    ):
        assert contrast(shown) > 4.5


def test_text_stands_left_and_numbers_right(lab):
    page = lab.show([FIRST, "data"])
    row = page.locator(".bayesmend").last.locator("tbody tr").first
    align = "e => getComputedStyle(e).textAlign"
    assert row.locator("td").nth(0).evaluate(align) == "left"
    assert row.locator("td").nth(2).evaluate(align) == "right"
    assert row.locator("td").nth(3).evaluate(align) == "left"
