"""The report page: safe, self-contained, readable."""

import base64
import hashlib
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from support.page import Page

import bayesmend as bm
from bayesmend.errors import ParameterError, SupportWarning
from bayesmend.outcome import Certificate, Stopped
from bayesmend.report import render_report
from bayesmend.report.chart import draw_trace
from bayesmend.report.words import certificate, least_certain, number, stopping

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style></title>",
    "a&b;&lt;",
    "--p:1;'",
    "\u202eright to left",
    "nul\x01",
)


@pytest.fixture(scope="module")
def result():
    data = bm.load_network("asia").sample(200, seed=1)
    return bm.learn(bm.hide_mcar(data, 0.01, seed=1).data, seed=1)


def hostile_result():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2, (40, len(HOSTILE))).astype(np.uint8)
    codes[:8, 0] = bm.data.MISSING
    states = [(f"yes {name}", f"no {name}") for name in HOSTILE]
    data = bm.IncompleteData.from_codes(codes, names=HOSTILE, states=states)
    constraints = bm.Constraints(required=[(HOSTILE[0], name) for name in HOSTILE[1:]])
    return bm.learn_local(data, constraints=constraints, seed=1)


# --- page -----------------------------------------------------------------------------


def test_the_page_is_well_formed_and_complete(result):
    page = Page(render_report(result))
    text = " ".join(page.texts)
    assert page.tags.count("svg") == 3  # missing cells, network, search
    assert page.tags.count("details") == 8
    assert page.tags.count("h1") == 1
    assert "optimal" in text
    assert certificate(result) in text
    assert number(result.score) in text
    for name in result.dag.names:
        assert name in text


def test_the_page_needs_nothing_from_elsewhere(result):
    text = render_report(result)
    # The name of a drawing's elements looks like an address.
    named = text.replace('"http://www.w3.org/2000/svg"', "")
    assert not re.search("https?:", named)
    assert "@import" not in text
    assert not re.search(r"url\((?!#)", text)
    assert not re.search(r"\b(fetch|XMLHttpRequest|WebSocket|sendBeacon)\b", text)
    page = Page(text)
    assert not {"link", "img", "iframe", "object", "base"} & set(page.tags)
    assert "src" not in {name for name, _ in page.attributes}
    assert all(value[0] == "#" for name, value in page.attributes if name == "href")
    assert page.tags.count("script") == 4
    assert text.count('<script type="application/json"') == 3


def test_the_policy_of_the_page_allows_its_own_script_alone(result):
    text = render_report(result)
    [script] = re.findall('<script type="module">(.*?)</script>', text, re.DOTALL)
    [style] = re.findall("<style>(.*?)</style>", text, re.DOTALL)
    head = text[: text.index("<style>")]
    policy = re.search('http-equiv="Content-Security-Policy" content="(.*?)">', head)[1]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == f"'sha256-{hash_of(script)}'"
    assert rules["style-src"] == f"'sha256-{hash_of(style)}'"
    assert "connect-src" not in rules
    # What has no hash would be refused by the browser.
    assert "style" not in {name for name, _ in Page(text).attributes}


def hash_of(text):
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def test_labels_cannot_act_as_markup():
    calm = Page(render_report(hostile_result()))
    assert calm.tags.count("script") == 4
    assert "img" not in calm.tags
    assert not any(name.startswith("on") for name, _ in calm.attributes)
    shown = " ".join(calm.texts)
    assert "yes <script>alert(1)</script>" in shown
    assert "no a&b;&lt;" in shown
    assert "nul\ufffd" in shown


def test_title_and_notes_are_text_too(result):
    text = render_report(result, title="<i>mine</i>", notes={"<b>": "<u>"})
    page = Page(text)
    assert not {"i", "u"} & set(page.tags)
    assert "<i>mine</i>" in page.texts


def test_the_same_result_gives_the_same_page(result):
    assert render_report(result) == render_report(result)


def test_the_file_is_the_page(result, tmp_path):
    bm.write_report(result, tmp_path / "r.html", title="Mine")
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == render_report(
        result, title="Mine"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["r.html"]


def test_a_table_without_holes_has_no_section_on_cells():
    result = bm.learn(bm.load_network("asia").sample(100, seed=1), seed=1)
    text = render_report(result)
    Page(text)
    assert "<h2>Mended cells</h2>" not in text
    assert "plain structure learning" in text


def test_an_unknown_bound_is_said_to_be_none():
    data = bm.load_network("asia").sample(200, seed=1)
    result = bm.learn_local(bm.hide_mcar(data, 0.02, seed=1).data, seed=1)
    page = Page(render_report(result))
    assert page.texts[page.texts.index("upper bound") + 1] == "none"
    assert "nan" not in " ".join(page.texts)


def test_a_single_state_has_no_runner_up():
    table = {"a": ["x", None, "x"], "b": ["u", "v", "u"]}
    result = bm.learn(table, seed=1, columns=["a", "b"])
    Page(render_report(result))
    assert least_certain(result) == []


def test_long_tables_are_cut_and_say_so():
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 7, (400, 4)).astype(np.uint8)
    codes[rng.random(codes.shape) < 0.15] = bm.data.MISSING
    states = [tuple(range(7))] * 4
    data = bm.IncompleteData.from_codes(codes, names=list("abcd"), states=states)
    constraints = bm.Constraints(required=[(p, "d") for p in "abc"])
    how = {"constraints": constraints, "restarts": 0, "seed": 1, "support": 0}
    result = bm.learn_local(data, **how)
    text = render_report(result)
    assert "more cells, more certain" in text
    assert len(text) < 250_000


# --- words ----------------------------------------------------------------------------


def test_every_state_of_knowledge_has_its_sentence(result):
    def words(bound, known, locality=None):
        from dataclasses import replace

        found = replace(result, bound=bound, certificate=known, locality=locality)
        return certificate(found)

    score, unknown = result.score, float("inf")
    optimal, bounded, local, nothing = Certificate
    assert words(score, optimal).endswith("scores higher: proven.")
    assert words(unknown, local, 1).startswith("No change of one missing")
    assert words(unknown, local, 2).startswith("No change of up to 2 missing")
    assert words(score + 2, bounded, 1).startswith("No change of one missing")
    assert words(score + 2, bounded, 1).endswith(
        "The best possible score is at most 2.000 nats higher."
    )
    assert words(score + 2, bounded) == (
        "The best possible score is at most 2.000 nats higher."
    )
    assert words(unknown, local).endswith("nothing is proven.")
    assert words(unknown, nothing) == ("Nothing is proven about the score.")


def test_what_ended_the_search_is_named(result):
    from dataclasses import replace

    def ended(stopped, certificate=Certificate.HEURISTIC):
        return stopping(replace(result, certificate=certificate, stopped=stopped))

    assert ended(Stopped.TIME) == "the time limit"
    assert ended(Stopped.INTERRUPT) == "Ctrl-C"
    assert ended(Stopped.NOTHING) is None
    assert ended(Stopped.TIME, Certificate.OPTIMAL) is None


def test_cells_alike_are_told_together(result):
    groups = least_certain(result)
    margins = [alike.cell.margin for alike in groups]
    assert margins == sorted(margins)
    rows = [(row, alike.cell.variable) for alike in groups for row in alike.rows]
    assert sorted(rows) == sorted((cell.row, cell.variable) for cell in result.cells)


# --- drawings -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scores", "bound", "shows"),
    [
        ([-10.0], -10.0, True),
        ([-10.0], float("inf"), False),
        ([-20.0, -10.0], -9.0, True),
        ([-20.0, -10.0], 500.0, False),
        ([-10.0, -10.0], -10.0, True),
    ],
)
def test_the_trace_shows_every_move_and_a_bound_that_is_near(scores, bound, shows):
    from bayesmend.learning.result import Step

    trace = [Step(s, "flip", 0.0 + k) for k, s in enumerate(scores)]
    svg = draw_trace(trace, bound, 2.0)
    assert svg.count("<circle") == len(scores)
    assert ('class="bound"' in svg) == shows
    assert "nan" not in svg
    Page(svg)


def test_a_result_of_em_is_told_by_probabilities():
    data = bm.hide_mcar(bm.load_network("asia").sample(200, seed=1), 0.05, seed=1).data
    result = bm.learn(data, method="em", seed=1)
    page = render_report(result)
    assert '<th class="n">probability</th>' in page
    assert "log-likelihood" in page
    assert "nothing is proven" in page
    assert page.count("<circle") == len(result.trace)


def test_only_what_learning_returns_is_shown(tmp_path):
    found = bm.learn_structure({"a": [0, 1, 0, 1], "b": [0, 1, 0, 0]})
    with pytest.raises(ParameterError, match=r"a LearnResult.*Got StructureResult"):
        bm.write_report(found, tmp_path / "report.html")


# --- what nobody should miss ----------------------------------------------------------


def block_result(fill=None):
    """A column that is missing throughout one wave, by a structure that splits them."""
    rng = np.random.default_rng(1)
    wave, race = rng.integers(2, size=400), rng.choice(3, 400, p=[0.6, 0.25, 0.15])
    codes = np.column_stack([wave, race, race]).astype(np.uint8)
    codes[wave == 0, 2] = bm.data.MISSING
    data = bm.IncompleteData.from_codes(
        codes,
        names=("wave", "race", "again"),
        states=(("early", "late"), HOSTILE[:3], ("b", "w", "o")),
    )
    required = {"required": [("wave", "again"), ("race", "again")]}
    with pytest.warns(SupportWarning):
        result = bm.learn_em(
            data, support=0.1, constraints=required, restarts=0, seed=1
        )
    if fill is None:
        return result
    filled = np.where(codes == bm.data.MISSING, fill, codes).astype(np.uint8)
    return replace(result, completed=data.with_codes(np.asfortranarray(filled)))


def test_cells_without_an_example_come_first_and_are_listed():
    result = block_result()
    page = render_report(result)
    Page(page)
    warned = page.index("No observed example")
    assert warned < page.index(f"<strong>{result.status}</strong>")
    assert f"again ({len(result.cells):,} of {len(result.cells):,})" in page
    assert "<h3>Without an observed example</h3>" in page
    assert "wave = early" in page
    assert "Mended cells unlike the observed" not in page


def test_mended_cells_unlike_the_observed_are_an_alarm():
    page = render_report(block_result(fill=0))
    Page(page)
    assert "Mended cells unlike the observed" in page
    assert "The mended cells of again resemble no observed ones" in page
    assert '<span class="unlike">unlike any observed</span>' in page


def test_a_page_without_anything_to_warn_of_warns_of_nothing():
    asia = bm.load_network("asia").sample(300, seed=1)
    data = bm.hide_mcar(asia, 0.05, seed=1).data
    page = render_report(bm.learn_em(data, support=0.1, restarts=0, seed=1))
    assert "certificate alarm" not in page
    assert "<h3>Observed against mended</h3>" in page
    complete = render_report(bm.learn_em(asia, support=0.1, restarts=0, seed=1))
    assert "<h3>Observed against mended</h3>" not in complete


# --- how the table was read -----------------------------------------------------------


def write_raw(path):
    """Write a table with an identifier, numbers, weights and a constant."""
    rng = np.random.default_rng(1)
    lines = ["id;größe;smoke;w;year"]
    for i in range(60):
        smoke = ("yes", "no", "NA")[i % 3]
        size = f"{1.5 + 0.2 * (i % 2) + rng.random() / 10:.2f}".replace(".", ",")
        lines.append(f"P{i:02};{size};{smoke};{1 + i % 2};2020")
    path.write_bytes("\n".join(lines).encode("cp1252"))
    return path


def test_the_page_says_how_the_table_was_read(tmp_path):
    path = write_raw(tmp_path / "raw.csv")
    with pytest.warns(bm.errors.ReadingWarning):
        result = bm.learn(path, weights="w", columns={"year": "drop"}, seed=1)
    text = render_report(result)
    section = text.partition("<h3>How the table was read")[2]
    part = f"<section><h3>{section.partition('</section>')[0]}</section>"
    told = " ".join(Page(part).texts)
    assert "Windows-1252" in told
    assert "NA (20)" in told
    intervals = result.completed.states[result.completed.index("größe")]
    for fact in ("passed through", "identifier", "row weights", "dropped", *intervals):
        assert fact in told
    assert "20 of 120 cells of the modelled columns mended" in text


def test_a_table_of_codes_was_not_read_in_any_way():
    assert "How the table was read" not in render_report(hostile_result())


def test_names_and_notes_of_a_table_are_escaped():
    labels = ["a", "b", None] * 10
    table = dict.fromkeys(HOSTILE, labels) | {"<i>one</i>": ["x"] * 30}
    with pytest.warns(bm.errors.ReadingWarning):
        text = render_report(bm.learn_local(table, seed=1, restarts=0))
    page = Page(text)
    assert "How the table was read" in text
    assert not {"img", "i"} & set(page.tags)


def test_the_page_tells_why_cells_are_missing_and_what_rests_on_it():
    rows = bm.load_network("asia").sample(400, seed=1)
    data = bm.hide_mnar(rows, 0.25, strength=2, seed=1).data
    options = {"starts": ("mode",), "restarts": 0, "seed": 1}
    result = bm.learn_em(data, mechanism="self", **options)
    page = render_report(result)
    assert "<h3>Why cells are missing</h3>" in page
    assert page.count("<td>depends on hidden values</td>") == 8
    assert "Shares under tilted log-odds of being missing" in page
    blind = render_report(bm.learn_em(data, **options))
    assert "Why cells are missing" not in blind
    for text in (page, blind):
        assert "<h3>Are cells missing at random?</h3>" in text
        assert "completely at random is <b>not tenable</b>: p = 0.01, by 99" in text
    complete = render_report(bm.learn_em(rows, **options))
    assert "Are cells missing at random?" not in complete


# --- how to get it again --------------------------------------------------------------


def data_of(text, name):
    [found] = re.findall(f'id="{name}">(.*?)</script>', text, re.DOTALL)
    return json.loads(found)


def test_the_page_holds_the_result_and_how_to_get_it_again(result):
    options = {"seed": 1, "gap": float("inf"), "restarts": None}
    calls = {"command": "bayesmend learn 'a<b.csv'", "python": "one()\n\ntwo()"}
    text = render_report(result, options=options, calls=calls)
    held = data_of(text, "bayesmend-result")
    assert held["score"] == result.score
    assert held["arcs"] == [list(arc) for arc in result.dag.arcs]
    assert held["options"] == {"seed": 1, "gap": None, "restarts": None}
    assert held["again"] == calls
    assert held["version"] == bm.__version__
    assert len(held["table_digest"]) == 64
    assert held["table_digest"] in text[: text.index("bayesmend-result")]
    again = text.partition("<h2>Do it again</h2>")[2].partition("</section>")[0]
    told = " ".join(Page(again).texts)
    assert calls["command"] in told
    assert calls["python"] in told
    assert "restarts" not in told


@pytest.mark.parametrize("name", ["options", "calls"])
def test_options_and_calls_are_mappings(result, name):
    with pytest.raises(ParameterError, match=f"{name} must be a mapping"):
        render_report(result, **{name: [1]})


def test_the_digest_is_that_of_what_was_observed():
    table = {"a": list("xyxyxx"), "b": ["u", "v", None, "v", "u", "u"]}

    def digest(given, **options):
        result = bm.learn(given, seed=1, **options)
        return data_of(render_report(result), "bayesmend-result")["table_digest"]

    assert digest(table) == digest(table, method="em")
    assert digest(table) != digest({**table, "b": ["u", "v", "u", "v", "u", "u"]})
    assert digest(table) != digest({"a": table["a"], "c": table["b"]})


def test_small_pages_stay_small(result):
    assert len(render_report(result).encode()) < 300_000


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_seventy_variables_and_five_thousand_cells_take_less_than_3_mb():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 3, (5000, 70)).astype(np.uint8)
    codes[np.arange(5000), rng.integers(0, 70, 5000)] = bm.data.MISSING
    names = [f"variable {k}" for k in range(70)]
    states = [("never", "sometimes", "always")] * 70
    data = bm.IncompleteData.from_codes(codes, names=names, states=states)
    result = bm.learn_em(data, restarts=0, max_iter=2, seed=1)
    assert len(result.cells) == 5000
    assert len(render_report(result).encode()) < 3_000_000


def test_what_a_reader_should_know_comes_first():
    rows = bm.load_network("asia").sample(400, seed=1)
    data = bm.hide_mnar(rows, 0.25, strength=2, seed=1).data
    options = {"starts": ("mode",), "restarts": 0, "seed": 1}
    page = render_report(bm.learn_em(data, mechanism="self", **options))
    assert page.index("Cells that are not missing at random") < page.index("<nav")
    stopped = bm.learn(data, method="exact", time_limit=1, seed=1)
    page = render_report(stopped)
    assert "The time limit ended the search before it was done." in page


def test_what_is_missing_is_tabulated_and_drawn():
    table = {
        "a": ["x", "y", None, None, "x", "y"] * 5,
        "b": ["u", "v", None, None, "u", None] * 5,
        "c": ["p", "q", "p", "q", "q", "p"] * 5,
    }
    text = render_report(bm.learn_em(table, restarts=0, seed=1))
    data = text.partition("<h2>Your data</h2>")[2].partition("</section>")[0]
    told = Page(data).texts
    at = told.index("b")
    assert told[at + 1 : at + 3] == ["50.0%", "15"]
    assert told[told.index("a, b") - 2 : told.index("a, b")] == ["10", "33.3%"]
    assert "all variables" not in told
    [path] = re.findall('class="missing" d="(.*?)"', data)
    # Two columns; a is missing in 5 runs of rows, b in 10.
    assert path.count("M") == 15


def test_it_is_said_who_answers(result):
    data = bm.hide_mcar(bm.load_network("asia").sample(200, seed=1), 0.1, seed=1).data
    ensemble = bm.learn_ensemble(data, n_networks=2, seed=1)
    assert "It is the network shown that answers" in render_report(ensemble)
    assert "It is the network shown that answers" not in render_report(result)


def test_cells_hidden_on_purpose_are_shown_where_they_were(result):
    ways = ["em", "mode"]
    checked = bm.cross_validate(result.completed, methods=ways, n_repeats=1, seed=1)
    page = render_report(result, validation=checked)
    assert f"{checked.n_hidden} observed cells of this table, in 1 repeat" in page
    assert f"{checked['mode'].accuracy:.1%}" in page
    curve = [share for share in checked.methods[0].curve if share.n_cells]
    assert all(f"{share.share:.1%}</td>" in page for share in curve)
    assert "Cells hidden on purpose" not in render_report(result)
    with pytest.raises(ParameterError, match="what cross_validate returns"):
        render_report(result, validation=0.9)
