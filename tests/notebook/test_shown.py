"""What a notebook shows of each kind of value."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from support.page import Page

import bayesmend as bm
from bayesmend._shown import Shown
from bayesmend.data import CompletedCells
from bayesmend.notebook import as_html
from bayesmend.notebook.certainty import least_certain

HOSTILE = "<script>alert('a')</script>&\"\x00\u202e"
MOST_BYTES = 120_000


class Fragment(Page):
    """What is shown, read strictly: closed tags, no script, nothing from elsewhere."""

    def __init__(self, html):
        super().__init__(html)
        assert "script" not in self.tags
        assert not {name for name, _ in self.attributes if name.startswith("on")}
        assert not {"href", "src", "id"} & {name for name, _ in self.attributes}
        self.text = " ".join(self.texts)
        self.size = len(html)


@pytest.fixture(scope="module")
def asia():
    return bm.load_network("asia")


@pytest.fixture(scope="module")
def data(asia):
    return bm.hide_mnar(asia.sample(300, seed=1), 0.2, strength=1, seed=1).data


@pytest.fixture(scope="module")
def result(data):
    return bm.learn_em(data, seed=1)


@pytest.fixture(scope="module")
def shown(asia, data, result, tmp_path_factory):
    """One of each kind, by the name of its class."""
    complete = result.completed
    folder = tmp_path_factory.mktemp("files")
    data.write_csv(folder / "table.csv")
    ensemble = bm.learn_ensemble(data, n_networks=4, seed=1)
    given = {"smoke": "yes"}
    values = [
        bm.hide_mcar(complete, 0.1, seed=1),
        data,
        data.summary(),
        result,
        result.cells,
        result.mended,
        result.dag,
        result.dag.cpdag(),
        result.network,
        asia["dysp"],
        ensemble,
        ensemble.mixture,
        ensemble.arc_probabilities(),
        bm.query(asia, ["lung", "bronc"], given=given, joint=True),
        bm.impute(asia, data),
        bm.inference.impute_files(asia, folder / "table.csv", folder / "filled.csv"),
        bm.learn_structure(complete),
        bm.structure.structure_posterior(complete, seed=1),
        bm.bootstrap(data, n=3, method="em", seed=1),
        bm.fit_parameters(asia.dag, data),
        bm.learn_em(data, mechanism="auto", seed=1).mechanism,
        bm.learning.innocence(data, n_permutations=19, seed=1),
        bm.learning.sensitivity(result, "smoke"),
        bm.impute_multiple(data, 2, burn_in=1, thin=1, n_chains=2, seed=1),
        bm.pool([[1.0, 2.0], [1.5, 2.5]], [[0.1, 0.2], [0.1, 0.2]]),
        bm.cross_validate(data, methods=["em", "mode"], n_repeats=1, seed=1),
    ]
    return {type(value).__name__: value for value in values}


def kinds_of_shown(kind=Shown):
    subclasses = kind.__subclasses__()
    return {kind, *subclasses}.union(*map(kinds_of_shown, subclasses))


def test_every_kind_is_shown_with_what_it_says(shown):
    for value in shown.values():
        page = Fragment(value._repr_html_())
        assert {"table", "svg"} & {*page.tags}, type(value)
        assert page.size < MOST_BYTES


def test_no_kind_is_forgotten(shown):
    kinds = {kind.__name__ for kind in kinds_of_shown()} - {"Shown", "Outcome"}
    # Shown as any outcome, as is what `learn_structure` returns.
    assert kinds - {"Solution", "ReductionResult"} == {*shown}


def test_a_result_tells_its_status_and_its_least_certain_cells_first(result):
    page = Fragment(as_html(result))
    assert f"{result.dag.n_arcs} arcs" in page.text
    assert "Local optimum." in page.text
    lowest = result.cells.probabilities[
        result.cells.codes != result.cells.runners_up
    ].min()
    numbers = [float(t) for t in page.texts if t.startswith("0.") and len(t) == 5]
    assert numbers[0] == pytest.approx(lowest, abs=6e-4)
    assert numbers[:10] == sorted(numbers[:10])


def test_a_proof_is_told_as_one():
    html = as_html(bm.learn({"a": [0, 1, 0, 1], "b": [0, 1, None, 1]}, seed=1))
    assert '<p class="proven">Optimal.' in html


def test_cells_alike_share_a_line(result):
    cells = result.cells
    groups, n_left = least_certain(cells, 5)
    slow = {}
    for cell in cells:
        if cell.runner_up is not None:
            slow.setdefault((cell.probability, *cell[1:3]), []).append(cell.row)
    first = sorted(slow)[:5]
    assert [(g.measure, g.cell.variable, g.cell.state) for g in groups] == first
    assert [g.n_cells for g in groups] == [len(slow[key]) for key in first]
    assert [g.rows for g in groups] == [slow[key][:6] for key in first]
    assert n_left == sum(map(len, slow.values())) - sum(g.n_cells for g in groups)


def test_rows_beyond_the_first_are_counted():
    table = {"a": list("xy") * 20, "b": [*"uv" * 10, *[None] * 20]}
    assert " and 4 more" in as_html(bm.learn(table, seed=1).cells)


def test_no_label_acts_as_markup():
    labels = [HOSTILE, "</td></table>", None, HOSTILE, "</td></table>"]
    table = {HOSTILE: labels * 6, "a&b": ["x" * 5000, "y", None, "y", "y"] * 6}
    result = bm.learn_em(table, seed=1)
    values = [
        bm.IncompleteData.from_table(table),
        bm.summary(table),
        result,
        result.network,
        result.cells,
        result.mended,
        bm.query(result.network, "a&b", given={HOSTILE: HOSTILE}),
        result.network[HOSTILE],
    ]
    for value in values:
        page = Fragment(as_html(value))
        assert any("<script>" in text for text in page.texts), type(value)
        assert not any("\u202e" in text or "\x00" in text for text in page.texts)
        assert page.size < 20_000


def test_what_is_huge_is_shown_in_part_and_says_so():
    names = [f"variable {k}" for k in range(500)]
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 30, (1000, 500)).astype(np.uint8)
    codes[rng.random(codes.shape) < 0.1] = 255
    states = [tuple(range(30))] * 500
    data = bm.IncompleteData.from_codes(codes, names=names, states=states)
    page = Fragment(as_html(data))
    assert "480 more variables" in page.text
    assert page.size < 30_000
    chain = bm.Dag.from_arcs(names, [(k, k + 1) for k in range(499)])
    codes[codes == 255] = 0
    rows = bm.IncompleteData.from_codes(codes, names=names, states=states)
    network = bm.Network.fit(chain, rows, estimate="posterior")
    page = Fragment(as_html(network))
    assert "450 more variables" in page.text
    assert "tables are not shown" in page.text
    assert page.size < 40_000


@pytest.mark.parametrize("n_measures", [3, 200_000])
def test_the_least_certain_of_many_cells_are_found(n_measures):
    n = 30_000
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 3, n).astype(np.uint8)
    measures = rng.integers(1, 1 + n_measures, n) / (1 + n_measures)
    cells = CompletedCells(
        rows=np.arange(n),
        variables=np.zeros(n, np.intp),
        codes=codes,
        runners_up=((codes + 1) % 3).astype(np.uint8),
        names=("a",),
        states=(("x", "y", "z"),),
        probabilities=measures,
    )
    counts = Counter(zip(measures.tolist(), codes.tolist(), strict=True))
    groups, n_left = least_certain(cells, 8)
    found = [(g.measure, "xyz".index(g.cell.state), g.n_cells) for g in groups]
    assert found == [(*key, counts[key]) for key in sorted(counts)[:8]]
    assert n_left == n - sum(n_cells for *_, n_cells in found)
    page = Fragment(as_html(cells))
    assert "30,000 completed cells" in page.text


def test_what_has_nothing_to_show_is_shown():
    codes = np.zeros((0, 1), np.uint8)
    empty = bm.IncompleteData.from_codes(codes, names=["a"], states=[("x", "y")])
    assert "0 rows" in Fragment(as_html(empty)).text
    complete = bm.learn({"a": [0, 1, 0, 1], "b": [0, 1, 0, 1]}, seed=1)
    assert "0 of 8 cells mended" in Fragment(as_html(complete)).text
    assert "0 completed cells" in Fragment(as_html(complete.cells)).text
    assert "0 variables" in Fragment(as_html(complete.mended)).text


def test_unlike_cells_are_told_of_first(result):
    alarm = replace(
        result.mended,
        variables=tuple(
            replace(v, total=replace(v.total, is_alarm=True))
            for v in result.mended.variables
        ),
    )
    page = Fragment(as_html(alarm))
    assert "resemble no observed ones" in page.text


def test_weights_and_notes_of_a_table_are_told(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a;b\nx;1\ny;2\n")
    told = Fragment(as_html(bm.IncompleteData.from_csv(path))).text
    weighted = bm.IncompleteData.from_table({"a": ["x", "y"]}, weights=[1.0, 2.0])
    assert "rows weighted" in Fragment(as_html(weighted)).text
    assert "2 of 2" not in told


def test_weighting_tells_its_errors(asia):
    answer = bm.query(asia, "lung", inference="weighting", n_samples=500, seed=1)
    text = Fragment(as_html(answer)).text
    assert "±" in text
    assert "unweighted samples" in text


def test_any_other_value_is_shown_by_its_repr():
    assert "&lt;b&gt;" in as_html(["<b>"])


def test_the_text_stays_beside_the_picture(shown):
    """A terminal and a notebook saved as text still have ``repr``."""
    for value in shown.values():
        assert repr(value)
        json.dumps({"text/plain": repr(value), "text/html": value._repr_html_()})


def test_an_equivalence_class_has_edges_without_a_head():
    dag = bm.Dag.from_arcs("abcd", [("a", "c"), ("b", "c"), ("a", "d")])
    html = as_html(dag.cpdag())
    assert html.count('class="arc') == 3
    assert html.count('class="head') == 2
    assert "without a head" in html
    assert "without a head" not in as_html(bm.Dag.from_arcs("ab").cpdag())


def test_the_part_that_is_drawn_is_around_the_middle():
    """Of two stars, the larger one, and then the other."""
    names = [f"v{k}" for k in range(120)]
    arcs = [(0, k) for k in range(1, 41)] + [(60, k) for k in range(61, 80)]
    html = as_html(bm.Dag.from_arcs(names, arcs))
    page = Fragment(html)
    drawn = [text for text in page.texts if text.startswith("v")]
    assert drawn[:41] == names[:41]
    assert set(drawn[41:]) <= set(names[60:80])
    assert len(drawn) == 50
    assert "70 more variables and 11 more arcs are left out" in page.text
