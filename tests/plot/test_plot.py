"""What plots show of tables, networks and results, read off their axes."""

import math
from dataclasses import replace

import numpy as np
import pytest

import bayesmend as bm
from bayesmend import plot
from bayesmend.errors import DataError, MissingDependencyError, ParameterError
from bayesmend.graph.confidence import ArcProbabilities
from bayesmend.learning.result import Step

ASIA = bm.load_network("asia")
ROWS = ASIA.sample(200, seed=1)
TABLE = {
    "a": ["x", None, "y", "x", None],
    "b": ["u", None, "v", "v", None],
    "c": ["p", "q", None, "q", "p"],
}
COLUMNS = {"columns": ["a", "b", "c"]}


@pytest.fixture(scope="module")
def result():
    data = bm.hide_mnar(ROWS, 0.2, strength=1, seed=1).data
    return bm.learn_em(data, mechanism="self", seed=1)


@pytest.fixture(scope="module")
def posterior():
    return bm.structure.structure_posterior(
        ASIA.sample(50, seed=1), max_parents=1, n_dags=10, seed=1
    )


def names_on(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


# --- all of them ----------------------------------------------------------------------


def calls(result, posterior):
    comparison = bm.cross_validate(ROWS, methods=["mode"], n_repeats=1, seed=1)
    data = bm.hide_mcar(ROWS, 0.05, seed=1).data
    multiple = bm.impute_multiple(data, m=2, n_chains=2, burn_in=2, thin=1, seed=1)
    empty = bm.Dag.from_arcs(ASIA.names)
    return {
        "arcs": (posterior,),
        "calibration": (comparison,),
        "chains": (multiple,),
        "difference": (bm.graph.compare_graphs(ASIA.dag, empty),),
        "mechanism": (result,),
        "missing": (data,),
        "network": (ASIA,),
        "patterns": (data,),
        "sensitivity": (bm.learning.sensitivity(result, "smoke"),),
        "trace": (result,),
    }


def test_every_plot_draws_where_it_is_told_and_changes_nothing_else(
    result, posterior, figures
):
    found = calls(result, posterior)
    assert {*found, "colour_of"} == {*plot.__all__}
    before = figures.rcParams.copy()
    for name, args in found.items():
        figure, (left, right) = figures.subplots(1, 2)
        assert getattr(plot, name)(*args, ax=right) is right
        assert right.has_data()
        assert not left.has_data()
        new = getattr(plot, name)(*args)
        assert new.figure is not figure
        new.figure.canvas.draw()
        figures.close("all")
    assert figures.rcParams == before


@pytest.mark.parametrize("name", sorted({*plot.__all__} - {"colour_of"}))
def test_a_plot_says_what_it_is_made_of(name):
    with pytest.raises((ParameterError, DataError), match=r"must be |no format|table"):
        getattr(plot, name)(object())


def test_axes_are_those_of_matplotlib():
    with pytest.raises(ParameterError, match="ax must be the axes of a matplotlib fig"):
        plot.network(ASIA, ax="here")


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.axes", None)
    with pytest.raises(MissingDependencyError, match=r"install 'bayesmend\[plot\]'"):
        plot.missing(ROWS)


def test_a_method_has_one_colour_in_plots_and_experiments():
    from experiments.render.figure import colour_of

    methods = ["exact", "local", "auto", "em", "em-hard", "ensemble", "mode"]
    assert len({plot.colour_of(name) for name in methods}) == len(methods)
    assert all(plot.colour_of(name) == colour_of(name) for name in methods)


def test_a_colour_is_that_of_a_name_or_a_number():
    assert plot.colour_of(1) != plot.colour_of(2)
    assert plot.colour_of("svm", others={"svm": "red"}) == "red"
    with pytest.raises(ParameterError, match="method must be the name of a method, or"):
        plot.colour_of(None)
    with pytest.raises(ParameterError, match="others must be a mapping"):
        plot.colour_of("svm", others=3)


# --- tables ---------------------------------------------------------------------------


def test_the_map_shows_every_cell():
    ax = plot.missing(TABLE, **COLUMNS)
    drawn = np.asarray(ax.images[0].get_array())
    expected = [
        [None is cell for cell in row] for row in zip(*TABLE.values(), strict=True)
    ]
    assert drawn.tolist() == expected
    assert names_on(ax.xaxis) == ["a  40 %", "b  40 %", "c  20 %"]


def test_of_a_long_table_evenly_spaced_rows_are_drawn():
    ax = plot.missing(ROWS, most=60)
    assert ax.images[0].get_array().shape == (50, 8)
    assert ax.get_ylabel() == "row, one in 4 drawn"
    assert ax.get_ylim() == (200, 0)


def test_combinations_come_by_how_often_they_are_missing_together():
    ax = plot.patterns(TABLE, **COLUMNS)
    expected = ["2 complete rows, 40 %", "2 rows, 40 %", "1 row, 20 %"]
    assert names_on(ax.yaxis) == expected
    drawn = np.asarray(ax.images[0].get_array()).astype(int).tolist()
    assert drawn == [[0, 0, 0], [1, 1, 0], [0, 0, 1]]
    ax = plot.patterns(TABLE, most=1, **COLUMNS)
    assert ax.get_title(loc="right") == "2 rarer combinations not shown (3 rows)"
    assert plot.patterns({"a": ["x", "y"]}).get_xlabel() == "no cell is missing"


def test_names_are_short_and_no_formulas():
    from matplotlib.cbook import is_math_text

    table = {"in $ or €, more or less $": ["x", None], "b": ["u", "v"]}
    ax = plot.missing(table, columns=[*table])
    name = ax.get_xticklabels()[0].get_text()
    assert name == r"in \$ or €, more or less…  50 %"
    assert not is_math_text(name)
    assert not is_math_text(plot.axes.shown("$a$"))


def test_names_that_nobody_could_read_are_counted():
    table = {f"v{k}": [0, 1, None] for k in range(300)}
    ax = plot.missing(table)
    assert ax.get_xlabel() == "300 variables"
    assert names_on(ax.xaxis) == []


# --- structures -----------------------------------------------------------------------


def test_a_network_has_a_box_for_each_variable_and_a_line_for_each_arc():
    from matplotlib.patches import FancyBboxPatch, PathPatch, Polygon

    ax = plot.network(ASIA)
    kinds = [type(patch) for patch in ax.patches]
    assert kinds.count(FancyBboxPatch) == ASIA.n_vars
    assert kinds.count(Polygon) == ASIA.dag.n_arcs
    lines = [p for p in ax.patches if isinstance(p, PathPatch) and not p.get_fill()]
    dashed = [p for p in lines if p.get_linestyle() not in ("-", "solid")]
    assert len(lines) == ASIA.dag.n_arcs
    assert len(dashed) == len(ASIA.dag.cpdag().undirected)
    heads = [type(p) for p in plot.network(ASIA.dag.cpdag()).patches].count(Polygon)
    assert heads == len(ASIA.dag.cpdag().directed)


def test_surer_arcs_are_wider():
    one = bm.Dag.from_arcs("abc", [("a", "b"), ("b", "c")])
    two = bm.Dag.from_arcs("abc", [("a", "b")])
    found = ArcProbabilities.of([one, one, two])
    ax = plot.network(found)
    widths = sorted(p.get_linewidth() for p in ax.patches if not p.get_fill())
    assert len(widths) == 2
    assert widths[0] < widths[1]


def test_arcs_are_drawn_where_their_probabilities_are(posterior):
    ax = plot.arcs(posterior)
    either, directed = (line.get_xdata() for line in ax.lines)
    parent, child = names_on(ax.yaxis)[0].split(" → ")
    i, j = posterior.names.index(parent), posterior.names.index(child)
    assert directed[0] == pytest.approx(posterior.arcs[i, j])
    assert either[0] == pytest.approx(posterior.edges[i, j]) == max(either)
    assert plot.arcs(posterior, most=1).get_title(loc="right").endswith("not shown")


# --- results --------------------------------------------------------------------------


def test_a_trace_never_falls_and_ends_with_the_search():
    data = bm.hide_mcar(ROWS, 0.02, seed=1).data
    found = bm.learn_local(data, locality=1, restarts=2, seed=1)
    ax = plot.trace(replace(found, bound=found.score + 1.0))
    best = next(x for x in ax.lines if x.get_label().startswith("best"))
    assert (np.diff(best.get_ydata()) >= 0).all()
    assert best.get_ydata()[-1] == max(step.score for step in found.trace)
    assert best.get_xdata()[-1] == pytest.approx(found.seconds, abs=0.1)
    bound = next(x for x in ax.lines if x.get_label() == "bound")
    assert set(bound.get_ydata()) == {found.score + 1.0}
    far = plot.trace(replace(found, bound=found.score + 1e6))
    assert far.get_title(loc="right").startswith("bound ")
    with pytest.raises(DataError, match="keeps no trace"):
        plot.trace(replace(found, trace=()))


def test_under_a_mechanism_only_scores_that_count_it_are_drawn(result):
    assert result.mechanism is not None
    assert not result.mechanism.is_innocent
    steps = (Step(-9.0, "empty", 0.1), Step(-90.0, "mechanism", 0.2))
    ax = plot.trace(replace(result, trace=steps, bound=math.inf))
    assert ax.lines[0].get_ydata().tolist() == [-90.0]


def test_calibration_is_the_curve_of_each_method():
    found = bm.cross_validate(ROWS, methods=["mode", "em"], n_repeats=1, seed=1)
    ax = plot.calibration(found)
    curves = {x.get_label().split(",")[0]: x for x in ax.lines[1:]}
    assert {*curves} == {"mode", "em"}
    expected = [share.share for share in found["em"].curve]
    assert curves["em"].get_ydata().tolist() == expected


def test_reasons_are_drawn_with_their_intervals(result):
    ax = plot.mechanism(result, variables=["smoke", "lung"])
    expected = ["smoke", "smoke=yes", "smoke=no", "lung", "lung=yes", "lung=no"]
    assert names_on(ax.yaxis) == expected
    why = result.mechanism.of("smoke")
    drawn = ax.lines[0]
    assert drawn.get_xdata().tolist() == why.probabilities.tolist()
    assert drawn.get_ydata().tolist() == [1, 2]
    ends = [segment[:, 0].tolist() for segment in ax.collections[1].get_segments()]
    assert ends == [list(pair) for pair in zip(why.lower, why.upper, strict=True)]
    with pytest.raises(DataError, match="no variable named 'smoek'"):
        plot.mechanism(result, variables=["smoek"])
    with pytest.raises(DataError, match="no reason was learned"):
        plot.mechanism(replace(result, mechanism=None))


def test_sensitivity_has_a_line_and_a_band_for_each_state(result):
    found = bm.learning.sensitivity(result, "smoke")
    ax = plot.sensitivity(found)
    lines = {x.get_label(): x.get_ydata() for x in ax.lines if len(x.get_xdata()) > 2}
    assert {*lines} == {"yes", "no"}
    assert lines["yes"].tolist() == found.shares[0].tolist()
    assert len(ax.collections) == 2


def test_chains_are_named_by_what_was_traced():
    data = bm.hide_mcar(ROWS, 0.05, seed=1).data
    found = bm.impute_multiple(data, m=2, n_chains=2, burn_in=2, thin=1, seed=1)
    ax = plot.chains(found, "bronc")
    assert len(ax.lines) == 3
    assert ax.lines[0].get_ydata().tolist() == found.trace["bronc"][0].tolist()
    with pytest.raises(ParameterError, match="name must be one of"):
        plot.chains(found, "nothing")
