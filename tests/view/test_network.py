"""The drawing of a network in a browser: chosen, searched, moved, asked."""

import numpy as np
import pytest
from support.views import page_of

import bayesmend as bm
from bayesmend.view import ArcNote, VariableNote, describe

START = """
window.told = [];
window.view = mount(document.getElementById('host'), data);
window.view.onChange(found => window.told.push(found));
"""


@pytest.fixture
def asia(page):
    network = bm.load_network("asia")
    data = describe(
        network,
        variables={"bronc": VariableNote([40, 50], [6, 4], [45, 55])},
        arcs={("smoke", "bronc"): ArcNote(gain=12.34, either=0.9, probability=0.4)},
    )
    page.set_content(page_of(data, start=START))
    return page


def box(page, name):
    names = bm.load_network("asia").names
    return page.locator(f"[data-variable='{names.index(name)}']")


def test_a_click_chooses_a_variable_and_shows_all_of_it(asia):
    box(asia, "bronc").click()
    panel = asia.locator(".bm-panel")
    assert panel.locator("h3").inner_text() == "bronc"
    text = panel.inner_text()
    assert "gain 12.3 nats, 90.0 % of the networks, 40.0 % this way" in text
    assert "observed (90)" in text
    assert "mended (10)" in text
    table = panel.locator("[aria-label='Probabilities of bronc']")
    assert table.locator("tbody tr").count() == 2
    assert table.locator("tbody tr").nth(0).inner_text().split() == (
        ["yes", "0.600", "0.400", "45"]
    )
    near = asia.locator(".bm-near").evaluate_all(
        "boxes => boxes.map(b => Number(b.dataset.variable))"
    )
    names = bm.load_network("asia").names
    blanket = bm.load_network("asia").markov_blanket("bronc")
    assert {names[v] for v in near} == set(blanket)
    assert asia.evaluate("told.at(-1).selected") == "bronc"


def test_a_state_that_is_set_moves_the_others(asia):
    network = bm.load_network("asia")
    box(asia, "xray").click()
    asia.get_by_role("button", name="xray = yes").click()
    pressed = asia.get_by_role("button", name="xray = yes 100.0 %")
    assert pressed.get_attribute("aria-pressed") == "true"
    assert pressed.evaluate("e => e === document.activeElement")
    box(asia, "lung").click()
    told = bm.query(network, "lung", given={"xray": "yes"}).distributions["lung"]
    asia.get_by_role("button", name=f"lung = yes {100 * told['yes']:.1f} %").wait_for()
    assert asia.evaluate("told.at(-1).evidence") == {"xray": "yes"}
    asia.get_by_role("button", name="Clear").click()
    assert asia.evaluate("told.at(-1).evidence") == {}


def test_what_cannot_be_is_said(asia):
    asia.evaluate("view.setEvidence({either: 'no', lung: 'yes'})")
    box(asia, "tub").click()
    asia.get_by_text("What is set cannot occur together.").wait_for()


def test_the_keyboard_goes_from_variable_to_variable(asia):
    first = asia.locator(".bm-variable[tabindex='0']")
    assert first.count() == 1
    first.focus()
    seen = set()
    for key in ("ArrowDown", "ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp"):
        asia.keyboard.press(key)
        seen.add(asia.evaluate("document.activeElement.getAttribute('aria-label')"))
    assert len(seen) >= 4
    asia.keyboard.press("Enter")
    name = asia.evaluate("document.activeElement.getAttribute('aria-label')")
    assert asia.locator(".bm-panel h3").inner_text() == name.split()[0]


def test_search_marks_and_enter_shows_one_after_the_other(asia):
    asia.get_by_role("searchbox").fill("S")
    names = [name for name in bm.load_network("asia").names if "s" in name]
    assert asia.locator(".bm-match").count() == len(names)
    assert asia.get_by_role("status").inner_text().startswith(f"{len(names)} found")
    shown = []
    for _ in names:
        asia.keyboard.press("Enter")
        shown.append(asia.locator(".bm-panel h3").inner_text())
    assert shown == names


def transform(page):
    return page.locator(".bm-drawing > g").get_attribute("transform")


def test_the_drawing_zooms_moves_and_fits_again(asia):
    fitted = transform(asia)
    asia.get_by_role("button", name="Zoom in").click()
    zoomed = transform(asia)
    assert zoomed != fitted
    stage = asia.locator(".bm-drawing").bounding_box()
    asia.mouse.move(stage["x"] + 5, stage["y"] + 5)
    asia.mouse.down()
    asia.mouse.move(stage["x"] + 65, stage["y"] + 35, steps=4)
    asia.mouse.up()
    assert transform(asia) != zoomed
    assert asia.locator(".bm-chosen").count() == 0
    asia.get_by_role("button", name="Fit").click()
    assert transform(asia) == fitted


def test_an_arc_tells_its_gain(asia):
    names = bm.load_network("asia").names
    arcs = bm.load_network("asia").dag.arcs
    at = arcs.index(("smoke", "bronc"))
    asia.locator(".bm-hit").nth(order_of(arcs, names).index(at)).dispatch_event(
        "pointerover"
    )
    tip = asia.locator(".bm-tip").inner_text()
    assert tip.startswith("smoke → bronc: gain 12.3 nats")
    assert tip.endswith("its direction is not told by the data")


def order_of(arcs, names):
    """Arcs are drawn child by child."""
    place = {name: v for v, name in enumerate(names)}
    return sorted(
        range(len(arcs)), key=lambda k: (place[arcs[k][1]], place[arcs[k][0]])
    )


def test_nothing_is_left_of_a_view_that_is_destroyed(asia):
    asia.evaluate("view.destroy()")
    assert asia.locator("#host").inner_html() == ""
    asia.evaluate("view.setEvidence({xray: 'yes'})")


def test_a_drawing_too_wide_to_read_begins_where_most_arcs_meet(page):
    names = [f"v{k}" for k in range(100)]
    arcs = [(name, "v60") for name in names if name != "v60"][:3]
    arcs += [("v60", name) for name in names if name not in ("v0", "v1", "v2", "v60")]
    dag = bm.Dag.from_arcs(names, arcs)
    even = [np.full((2 ** len(members), 2), 0.5) for members in dag.parents]
    network = bm.Network(dag, [("no", "yes")] * 100, even)
    page.set_content(page_of(describe(network), start=START))
    middle = page.locator("[data-variable='60']").bounding_box()
    stage = page.locator(".bm-drawing").bounding_box()
    assert middle["height"] > 20  # pixels, so that names can be read
    assert stage["x"] < middle["x"] < stage["x"] + stage["width"] - middle["width"]
    page.get_by_role("button", name="Fit").click()
    boxes = page.locator(".bm-variable")
    for box in (boxes.first.bounding_box(), boxes.last.bounding_box()):
        assert stage["x"] <= box["x"] <= stage["x"] + stage["width"] - box["width"]


def wide_network(n=260):
    """A chain of binary variables with a fan of parents at its end."""
    names = [f"v{i}" for i in range(n)]
    arcs = [(names[i], names[i + 1]) for i in range(n - 1)]
    dag = bm.Dag.from_arcs(names, arcs)
    rng = np.random.default_rng(1)
    cpts = [rng.dirichlet([1, 1], 2 if members else 1) for members in dag.parents]
    return bm.Network(dag, [("no", "yes")] * n, cpts)


def test_beyond_two_hundred_variables_a_neighbourhood_is_drawn(page):
    page.set_content(page_of(describe(wide_network()), start=START))
    page.evaluate("view.select('v100')")
    assert page.locator(".bm-variable").count() == 3
    page.get_by_role("button", name="One step more").click()
    assert page.locator(".bm-variable").count() == 5
    assert "5 of 260 variables: 2 steps around v100" in page.inner_text(".bm-tools")
    page.get_by_role("searchbox").fill("v200")
    page.keyboard.press("Enter")
    assert page.locator(".bm-chosen").get_attribute("aria-label") == "v200"
    page.locator(".bm-map").click(position={"x": 2, "y": 2})
    assert page.locator(".bm-chosen").get_attribute("aria-label") != "v200"
