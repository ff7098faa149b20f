"""The report in a browser: asked, sorted, explained, printed, and always quiet."""

import csv
import io
import json
import os
from pathlib import Path

import numpy as np
import pytest

import bayesmend as bm
from bayesmend.report import render_report

ROOT = Path(__file__).parents[2]
AXE = Path(
    os.environ.get("BAYESMEND_AXE", ROOT / "node_modules" / "axe-core" / "axe.min.js")
)


@pytest.fixture(scope="module")
def result():
    data = bm.load_network("asia").sample(400, seed=1)
    hidden = bm.hide_mcar(data, 0.15, seed=1).data
    return bm.learn_em(hidden, restarts=0, seed=1)


@pytest.fixture
def report(page, result, tmp_path):
    return shown(page, tmp_path, render_report(result))


def shown(page, folder, text):
    """Open a page from a file, as readers do."""
    path = folder / "report.html"
    path.write_text(text, encoding="utf-8")
    page.goto(path.as_uri())
    page.wait_for_function("document.documentElement.classList.contains('scripted')")
    return page


def card(page, name):
    return page.locator(f".bm-card[aria-label='{name}']")


def lines(page):
    return page.locator(".bm-cbody .bm-crow")


# --- ask ------------------------------------------------------------------------------


def test_setting_states_moves_all_other_distributions(report, result):
    card(report, "smoke").get_by_role("button", name="smoke = yes").click()
    card(report, "xray").get_by_role("button", name="xray = yes").click()
    given = {"smoke": "yes", "xray": "yes"}
    answer = bm.query(result.network, given=given)
    for name, shares in answer.distributions.items():
        for state, share in shares.items():
            told = card(report, name).get_by_role("button", name=f"{name} = {state} ")
            shown = told.locator(".bm-number").inner_text()
            assert shown.endswith("%")
            if shown[0] not in "<>":
                assert abs(float(shown[:-1]) - 100 * share) < 0.0501
    told = report.locator(".bm-given").inner_text()
    assert f"Probability of what is set: {100 * answer.probability:.1f} %" in told
    row = {name: [given.get(name)] for name in result.dag.names}
    best = bm.most_probable(result.network, row).completed.to_table()
    report.get_by_text("Most probable states of all others together").click()
    items = report.locator(".bm-columns li").all_inner_texts()
    expected = [f"{name} = {best[name][0]}" for name in best if name not in given]
    assert items == expected
    report.get_by_role("button", name="Take back smoke = yes").click()
    assert report.locator(".bm-chip").count() == 1


def test_the_drawing_and_the_questions_share_what_is_set(report):
    card(report, "bronc").get_by_role("button", name="bronc = yes").click()
    known = report.locator(".bm-known")
    assert known.get_attribute("aria-label") == "bronc = yes"
    known.click()
    panel = report.locator(".bm-panel")
    panel.get_by_role("button", name="Clear").click()
    assert report.locator(".bm-known").count() == 0
    assert report.locator(".bm-chip").count() == 0


def test_a_contradiction_is_said_with_its_causes(page, tmp_path):
    data = bm.load_network("asia").sample(300, seed=1)
    result = bm.learn_em(bm.hide_mcar(data, 0.05, seed=1).data, restarts=0, seed=1)
    from dataclasses import replace

    certain = replace(result, network=bm.load_network("asia"))
    opened = shown(page, tmp_path, render_report(certain))
    for name, state in (("smoke", "yes"), ("lung", "yes"), ("either", "no")):
        button = f"{name} = {state}"
        card(opened, name).get_by_role("button", name=button).click()
    told = opened.locator(".bm-given .bm-alarm-text").inner_text()
    assert told.startswith("The network holds these for impossible together: ")
    assert "lung = yes" in told
    assert "either = no" in told
    assert "smoke" not in told


def test_a_network_too_dense_is_refused_with_reason_and_command(page, tmp_path):
    rng = np.random.default_rng(1)
    n, r = 9, 5
    names = [f"v{k}" for k in range(n)]
    pairs = [(names[i], names[j]) for j in range(n) for i in range(j)]
    dag = bm.Dag.from_arcs(names, pairs)
    states = [tuple("abcde")] * n
    cpts = [rng.dirichlet(np.ones(r), r**k) for k in range(n)]
    table = {name: [*"abcdeabcdea", None] for name in names}
    found = bm.learn_em(table, restarts=0, seed=1)
    from dataclasses import replace

    result = replace(found, network=bm.Network(dag, states, cpts))
    opened = shown(page, tmp_path, render_report(result))
    told = opened.locator("#ask-view").inner_text()
    assert "needs a table of 1,953,125 entries over 9 variables" in told
    assert (
        "bayesmend query network.bif --given NAME=STATE --inference weighting" in told
    )
    lines(opened).first.click()
    assert "cannot be told here" in opened.locator(".bm-why").inner_text()


# --- mended cells ---------------------------------------------------------------------


def test_cells_are_sorted_and_filtered(report, result):
    cells = result.cells
    status = report.locator("#cells-view [role=status]")
    assert status.inner_text() == f"{len(cells):,} cells"
    least = cells[int(np.argmin(cells.probabilities))]
    first = lines(report).first.inner_text().split("\n")
    assert first[:3] == [str(least.row), least.variable, least.state]
    heading = report.get_by_role("columnheader", name="probability")
    assert heading.get_attribute("aria-sort") == "ascending"
    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "descending"
    report.get_by_role("combobox", name="Variable").select_option(label="bronc")
    n_bronc = sum(cell.variable == "bronc" for cell in cells)
    assert status.inner_text() == f"{n_bronc:,} of {len(cells):,} cells"
    report.get_by_label("Mended as").fill("yes")
    report.get_by_label("Probability of at most").fill("75")
    wanted = [
        cell
        for cell in cells
        if (cell.variable, cell.state) == ("bronc", "yes") and cell.probability <= 0.75
    ]
    assert 0 < len(wanted) < n_bronc
    assert status.inner_text() == f"{len(wanted):,} of {len(cells):,} cells"
    report.get_by_role("columnheader", name="row").get_by_role("button").click()
    rows = [int(line.split("\n")[0]) for line in lines(report).all_inner_texts()]
    assert rows == sorted(cell.row for cell in wanted)[: len(rows)]


def test_a_download_has_the_contents_of_the_file(report, result):
    with report.expect_download() as found:
        report.get_by_role("button", name="Download as CSV").click()
    text = Path(found.value.path()).read_text(encoding="utf-8")
    assert found.value.suggested_filename == "cells.csv"
    downloaded = list(csv.DictReader(io.StringIO(text)))
    expected = list(csv.DictReader(io.StringIO(result.cells.to_csv())))
    assert list(downloaded[0]) == list(expected[0])

    def key(line):
        return int(line["row"]), line["variable"]

    for line, other in zip(
        sorted(downloaded, key=key), sorted(expected, key=key), strict=True
    ):
        assert float(line.pop("probability")) == float(other.pop("probability"))
        assert line == other


def test_why_is_what_the_library_says_without_a_cell(report, result):
    cells = result.cells
    which = next(
        i for i, c in enumerate(cells) if c.variable == "bronc" and c.probability < 0.95
    )
    cell = cells[which]
    report.get_by_role("combobox", name="Variable").select_option(label="bronc")
    report.get_by_label("Row", exact=True).fill(str(cell.row))
    lines(report).first.click()
    told = report.locator(".bm-why").inner_text()
    assert f"Row {cell.row}: bronc = {cell.state}" in told
    names, v = result.dag.names, result.dag.names.index("bronc")
    mended = {c.variable for c in cells if c.row == cell.row}
    codes = result.completed.codes[cell.row]
    observed = {
        name: result.network.states[u][codes[u]]
        for u, name in enumerate(names)
        if name not in mended
    }
    weights = {}
    for name in observed:
        others = {k: s for k, s in observed.items() if k != name}
        weights[name] = odds(result, cell, observed) - odds(result, cell, others)
    table = report.locator("[aria-label='Change of log-odds'] tbody tr")
    shown = {
        line.split("\t")[0].split(" = ")[0]: float(line.split("\t")[1])
        for line in table.all_inner_texts()
    }
    telling = {name: w for name, w in weights.items() if abs(w) >= 0.005}
    assert set(shown) == set(telling)
    assert all(abs(shown[name] - w) < 0.00501 for name, w in telling.items())
    assert v == cells.variables[which]


def odds(result, cell, given):
    shares = bm.query(result.network, "bronc", given=given).distributions["bronc"]
    return np.log(shares[cell.state] / (1 - shares[cell.state]))


def test_the_smallest_change_that_flips_a_cell_does_flip_it(report, result):
    lines(report).first.click()
    flips = report.locator(".bm-why h4 + ul li")
    text = flips.first.inner_text()
    change, after = text.split(": then ")
    title = report.locator(".bm-why h3").inner_text()
    row, rest = title.removeprefix("Row ").split(": ")
    variable, state = rest.split(" = ")
    names = result.dag.names
    mended = {c.variable for c in result.cells if c.row == int(row)}
    codes = result.completed.codes[int(row)]
    given = {
        name: result.network.states[u][codes[u]]
        for u, name in enumerate(names)
        if name not in mended
    }
    name, label = change.split(" = ")
    assert given[name] != label
    answer = bm.query(result.network, variable, given=given | {name: label})
    shares = answer.distributions[variable]
    best = max(shares, key=shares.get)
    assert best != state
    assert after.startswith(f"{best} ({100 * shares[best]:.1f} %)")


def test_why_counts_what_missing_cells_say_where_that_was_learned(page, tmp_path):
    rows = bm.load_network("asia").sample(500, seed=1)
    data = bm.hide_mnar(rows, 0.25, strength=2, seed=1).data
    result = bm.learn_em(data, mechanism="self", restarts=0, seed=1)
    network = result.network
    opened = shown(page, tmp_path, render_report(result))
    cell = next(c for c in result.cells if 0.55 < c.probability < 0.9)
    opened.get_by_role("combobox", name="Variable").select_option(label=cell.variable)
    opened.get_by_label("Row", exact=True).fill(str(cell.row))
    lines(opened).first.click()
    mended = {c.variable for c in result.cells if c.row == cell.row}
    codes = result.completed.codes[cell.row]
    given = {
        name: network.states[u][codes[u]]
        for u, name in enumerate(network.names)
        if name not in mended
    }
    for name in network.mechanism.variables:
        given[f"missing_{name}"] = "missing" if name in mended else "observed"
    shares = bm.query(network, cell.variable, given=given).distributions[cell.variable]
    told = opened.locator(".bm-why p").first.inner_text()
    assert f"gives {cell.state} {100 * shares[cell.state]:.1f} %" in told


def test_the_row_of_a_cell_is_shown_whole(report, result):
    lines(report).first.click()
    report.get_by_text("the whole record").click()
    row = int(report.locator(".bm-why h3").inner_text().split(":")[0].split()[1])
    shown = report.locator(".bm-why details tbody tr").all_inner_texts()
    assert [line.split("\t")[0] for line in shown] == list(result.dag.names)
    n_mended = sum(cell.row == row for cell in result.cells)
    assert sum("mended; else" in line for line in shown) == n_mended


def test_the_keyboard_goes_through_the_cells(report):
    table = report.locator(".bm-cells")
    table.focus()
    for _ in range(3):
        report.keyboard.press("ArrowDown")
    chosen = report.locator(".bm-crow[aria-selected='true']")
    assert chosen.get_attribute("aria-rowindex") == "4"
    assert report.locator(".bm-why").is_visible()


def many_cells(n_rows, n_vars):
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 3, (n_rows, n_vars)).astype(np.uint8)
    codes[rng.random(codes.shape) < 0.5] = bm.data.MISSING
    names = [f"v{k}" for k in range(n_vars)]
    data = bm.IncompleteData.from_codes(
        codes, names=names, states=[tuple("abc")] * n_vars
    )
    return bm.learn_em(data, restarts=0, max_parents=1, max_iter=2, seed=1)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_hundred_thousand_cells_stay_fluid(page, tmp_path):
    result = many_cells(10_000, 20)
    assert len(result.cells) > 95_000
    opened = shown(page, tmp_path, render_report(result))
    assert lines(opened).count() < 60
    took = opened.evaluate(
        """() => {
          const table = document.querySelector('.bm-cells');
          const start = performance.now();
          for (let k = 0; k < 50; k++) {
            table.scrollTop = k * table.scrollHeight / 50;
            table.dispatchEvent(new Event('scroll'));
          }
          return (performance.now() - start) / 50;
        }"""
    )
    assert took < 100  # milliseconds for a picture
    assert lines(opened).count() < 60
    opened.evaluate("document.querySelector('.bm-cells').scrollTop = 1e9")
    last = opened.locator(f".bm-crow[aria-rowindex='{len(result.cells) + 1}']")
    last.wait_for()


# --- whom it must serve ---------------------------------------------------------------


def test_hostile_labels_stay_text(page, tmp_path):
    names = (
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "</style></title>",
        "${alert(1)}",
        "__proto__",
        "constructor",
    )
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2, (60, len(names))).astype(np.uint8)
    codes[rng.random(codes.shape) < 0.2] = bm.data.MISSING
    states = [(f"yes {name}", f"no {name}") for name in names]
    data = bm.IncompleteData.from_codes(codes, names=names, states=states)
    result = bm.learn_em(data, restarts=0, seed=1)
    opened = shown(page, tmp_path, render_report(result))
    opened.on("dialog", lambda dialog: pytest.fail(dialog.message))
    opened.locator(".bm-variable").first.click()
    lines(opened).first.click()
    opened.locator(".bm-cards button").first.click()
    opened.locator("details[data-table] summary").first.click()
    assert opened.locator("img").count() == 0
    assert opened.locator(".bm-card h3").all_inner_texts() == list(names)
    opened.get_by_label("Find a variable or a state").fill("__proto__")
    assert opened.locator(".bm-card").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing(page, result, tmp_path, scheme, width):
    if not AXE.exists():
        pytest.skip("axe-core is not there (npm ci)")
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    assert_axe_finds_nothing(shown(page, tmp_path, render_report(result)), width)


@pytest.mark.filterwarnings("ignore")
def test_axe_finds_nothing_in_warnings_and_how_a_table_was_read(page, tmp_path):
    if not AXE.exists():
        pytest.skip("axe-core is not there (npm ci)")
    rows = bm.load_network("asia").sample(400, seed=1)
    hidden = bm.hide_mnar(rows, 0.25, strength=2, seed=1).data
    table = hidden.to_pandas().assign(patient=[f"P{k:04}" for k in range(400)])
    result = bm.learn_em(table, mechanism="self", restarts=0, seed=1)
    text = render_report(result, options={"seed": 1}, calls={"command": "learn"})
    assert "Cells that are not missing at random" in text
    assert "Columns that are passed through" in text
    assert_axe_finds_nothing(shown(page, tmp_path, text), 1280)


def assert_axe_finds_nothing(opened, width):
    opened.locator(".bm-variable").first.click()
    card(opened, "smoke").get_by_role("button", name="smoke = yes").click()
    lines(opened).first.click()
    for summary in opened.locator("summary:visible").all():
        summary.click()
    opened.evaluate(AXE.read_text(encoding="utf-8"))
    found = opened.evaluate(
        "axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa',"
        " 'best-practice']})"
    )
    told = [
        (v["id"], v["nodes"][0]["html"][:150], v["nodes"][0]["failureSummary"])
        for v in found["violations"]
    ]
    assert not told, json.dumps(told, indent=1)
    assert opened.evaluate("document.documentElement.scrollWidth") <= width


def test_paper_has_what_the_screen_lets_one_ask_for(report):
    report.emulate_media(media="print")
    report.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert report.locator("svg.graph").is_visible()
    assert report.get_by_role(
        "table", name="The least certain mended cells first"
    ).is_visible()
    assert not report.locator("#network-view").is_visible()
    assert report.locator("details[data-table] table").count() == 8
    assert report.locator("details:not([open])").count() == 0


def test_long_tables_of_probabilities_are_cut_and_say_so(page, tmp_path):
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 7, (400, 4)).astype(np.uint8)
    codes[rng.random(codes.shape) < 0.15] = bm.data.MISSING
    data = bm.IncompleteData.from_codes(
        codes, names=list("abcd"), states=[tuple(range(7))] * 4
    )
    constraints = bm.Constraints(required=[(p, "d") for p in "abc"])
    how = {"constraints": constraints, "restarts": 0, "seed": 1, "support": 0}
    opened = shown(page, tmp_path, render_report(bm.learn_local(data, **how)))
    opened.locator("details[data-table='3'] summary").click()
    table = opened.locator("[aria-label='Probabilities of d']")
    opened.get_by_text("143 more rows are not shown.").wait_for()
    assert table.locator("tbody tr").count() == 200
