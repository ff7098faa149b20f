"""Results in a real JupyterLab, in light and dark."""

import pytest
from support.browser import contrast

import bayesmend as bm

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


LONG = """
found = bm.learn(data, method="exact", time_limit={limit}, seed=1)
print("stopped:", found.stopped.value)
"""


def test_a_bar_moves_while_a_search_goes_on_and_leaves_nothing_behind(lab):
    page = lab.open([FIRST + LONG.format(limit=6)])
    lab.start_all(page)
    bar = page.locator("progress")
    bar.wait_for()
    first = bar.get_attribute("value")
    page.wait_for_function(
        "first => document.querySelector('progress')?.value > first", arg=float(first)
    )
    assert "best score" in bar.locator("..").inner_text()
    page.get_by_text("stopped: time").wait_for()
    assert bar.count() == 0
    outputs = page.locator(".jp-OutputArea-output")
    assert outputs.first.bounding_box()["height"] < 12
    assert outputs.last.inner_text().strip() == "stopped: time"


def test_interrupting_the_kernel_keeps_the_best_so_far(lab):
    page = lab.open([FIRST + LONG.format(limit=600), "found"])
    lab.start_all(page)
    page.locator("progress").wait_for()
    page.wait_for_timeout(500)
    lab.run(page, "notebook:interrupt-kernel")
    page.get_by_text("stopped: interrupt").wait_for()
    assert page.locator("progress").count() == 0


VIEW = """
from bayesmend.notebook import NetworkView
view = NetworkView(asia, evidence={"smoke": "yes"}, selected="lung")
view
"""


def run_cell(lab, page, source):
    """Run a further cell; return what it prints."""
    lab.run(page, "notebook:move-cursor-down")
    lab.run(page, "notebook:insert-cell-below")
    lab.run(page, "notebook:replace-selection", {"text": source})
    lab.run(page, "notebook:run-cell")
    return page.locator(".jp-Cell").last.locator(".jp-OutputArea-output").inner_text()


@pytest.mark.parametrize("dark", [False, True])
def test_clicks_in_a_view_are_told_to_python_and_back(lab, dark):
    page = lab.show([FIRST + VIEW], dark=dark)
    panel = page.locator(".bm-panel")
    assert panel.locator("h3").inner_text() == "lung"
    page.get_by_role("button", name="lung = yes 10.0 %").wait_for()
    page.locator(".bm-variable", has_text="xray").click()
    page.get_by_role("button", name="xray = yes 15.2 %").click()
    told = run_cell(lab, page, "print(view.evidence, view.selected)")
    assert told.strip() == "{'smoke': 'yes', 'xray': 'yes'} xray"
    run_cell(lab, page, "view.evidence = {'lung': 'no'}; view.selected = 'dysp'; 1")
    page.get_by_role("button", name="dysp = yes").wait_for()
    answer = bm.query(bm.load_network("asia"), "dysp", given={"lung": "no"})
    percent = 100 * answer.distributions["dysp"]["yes"]
    page.get_by_role("button", name=f"dysp = yes {percent:.1f} %").wait_for()
    for shown in (
        page.locator(".bm-variable text").first,
        panel.locator("h3"),
        panel.locator(".bm-soft").first,
        panel.locator("td").first,
    ):
        assert contrast(shown) > 4.5
