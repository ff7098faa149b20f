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
    page.get_by_role("button", name="xray = yes 100.0 %").wait_for()
    # JupyterLab sends a second change of a view when the first one has been taken in.
    expected, told = "{'smoke': 'yes', 'xray': 'yes'} xray", ""
    for _ in range(10):
        told = run_cell(lab, page, "print(view.evidence, view.selected)").strip()
        if told == expected:
            break
    assert told == expected
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


HOSTILE = """
import bayesmend as bm
from bayesmend.notebook import NetworkView
bad = "<img src='http://example.invalid/x' onerror='document.title=1'>"
table = {bad: [bad, "y", None, "y"] * 9, "b": ["</script>", "v", "v", None] * 9}
result = bm.learn_em(table, seed=1)
result
"""


def test_labels_are_text_in_every_output(lab):
    page = lab.show([HOSTILE, "NetworkView(result, selected='b')", "result.completed"])
    page.get_by_role("button", name="b = </script>").wait_for()
    assert page.locator(".jp-OutputArea img").count() == 0
    assert page.locator(".jp-OutputArea-output", has_text="<img src=").count() == 3


LARGE = """
import bayesmend as bm
from bayesmend.notebook import NetworkView
names = [f"v{k}" for k in range(300)]
chain = bm.Dag.from_arcs(names, list(zip(names, names[1:])))
same = [[0.9, 0.1], [0.2, 0.8]]
network = bm.Network(chain, (("no", "yes"),) * 300, ([[0.5, 0.5]], *[same] * 299))
view = NetworkView(network, selected="v100", evidence={"v99": "yes"})
view
"""


def test_a_large_network_is_shown_around_a_variable_in_as_many_views_as_are_asked(lab):
    page = lab.show([LARGE, "view"])
    views = page.locator(".bm-widget")
    assert views.count() == 2
    for shown in (views.nth(0), views.nth(1)):
        assert shown.locator(".bm-variable").count() == 3
        shown.get_by_role("button", name="v100 = yes 80.0 %").wait_for()
    search = views.nth(0).get_by_role("searchbox")
    search.fill("v250")
    search.press("Enter")
    for shown in (views.nth(0), views.nth(1)):
        shown.get_by_role("heading", name="v250").wait_for()
    assert run_cell(lab, page, "view.selected").strip() == "'v250'"
