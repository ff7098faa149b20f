"""From raw rows made by hand to tables, tests and figures."""

import csv
import io
import math
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure
from scipy import stats
from support.tinyexperiment import EXACT, FIRST, LAST, tiny

from bayesmend.errors import DataError, ParameterError
from experiments.catalog import load_experiment
from experiments.design import (
    Block,
    Curves,
    Measure,
    Method,
    Place,
    Setting,
)
from experiments.paper.published import PUBLISHED, published_values
from experiments.render.figure import (
    colour_of,
    draw_lines,
    draw_panel,
    draw_sweep,
    write_figures,
)
from experiments.render.page import (
    render_csv,
    render_markdown,
    render_tests_csv,
    write_results,
)
from experiments.render.results import summarise
from experiments.render.statistics import mean_interval
from experiments.render.sweeps import lay_out

STATES = ("state/0", "state/1")
# Accuracies of three repetitions, by method and setting.
VALUES = {
    "first": {"state/0": [0.5, 0.75, 1.0], "state/1": [0.25, 0.5, 0.0]},
    "last": {"state/0": [0.25, 0.25, 0.5], "state/1": [0.0, 0.25, 0.0]},
    "exact": {"state/0": [0.5, 1.0, 1.0], "state/1": [0.25, 0.25, 0.25]},
}


def row_of(setting, repetition, method, accuracy, **more):
    return {
        "experiment": "tiny",
        "setting": setting,
        "repetition": repetition,
        "method": method,
        "accuracy": accuracy,
        "n_hidden": 8,
        "score": -10.0,
        "bound": None,
        "status": "",
        "seconds": 0.5,
        "version": "1.2",
        "table": f"{setting}{repetition}",
        "design": "x",
        **more,
    }


def rows_of(values=VALUES, **more):
    return [
        row_of(setting, repetition, method, accuracy, **more)
        for method, settings in values.items()
        for setting, accuracies in settings.items()
        for repetition, accuracy in enumerate(accuracies)
    ]


def line_of(results, block, method, measure="accuracy"):
    return next(
        line
        for line in results.lines
        if (line.block.label, line.method.name, line.measure.name)
        == (block, method, measure)
    )


def table_of(text):
    return list(csv.DictReader(io.StringIO(text)))


# --- values ---------------------------------------------------------------------------


def test_a_repetition_is_the_mean_over_the_settings_of_its_block():
    results = summarise(tiny(), rows_of())
    both = line_of(results, "both states", "first")
    assert both.values == {0: 37.5, 1: 62.5, 2: 50.0}
    assert both.interval.mean == 50.0
    assert line_of(results, "state/1", "first").values == {0: 25.0, 1: 50.0, 2: 0.0}


def test_the_interval_is_that_of_student():
    line = line_of(summarise(tiny(), rows_of()), "both states", "first")
    low, high = stats.t.interval(0.95, 2, loc=50.0, scale=12.5 / 3**0.5)
    assert low > 0
    assert (line.interval.low, line.interval.high) == pytest.approx((low, high))


def test_intervals_end_where_the_measure_does():
    page = render_markdown(summarise(tiny(), rows_of()))
    line = line_of(summarise(tiny(), rows_of()), "state/0", "exact")
    assert line.interval.high == 100.0
    assert " to 100.00 |" in page
    assert line_of(summarise(tiny(), rows_of()), "state/1", "last").interval.low == 0.0


def test_shares_of_successes_have_the_interval_of_a_binomial():
    measure = Measure(
        "is_found", "found (%)", 100.0, limits=(0.0, 100.0), is_success=True
    )
    rows = rows_of()
    for row in rows:
        row["is_found"] = 1
    line = line_of(
        summarise(replace(tiny(), measures=(measure,)), rows),
        "state/0",
        "first",
        "is_found",
    )
    exact = stats.binomtest(3, 3).proportion_ci(0.95, method="exact")
    assert (line.interval.mean, line.interval.high) == (100.0, 100.0)
    assert line.interval.low == pytest.approx(100 * exact.low)


def test_two_repetitions_have_no_interval():
    rows = [row for row in rows_of() if row["repetition"] < 2]
    line = line_of(summarise(tiny(), rows), "state/0", "first")
    assert math.isnan(line.interval.low)


def test_equal_differences_mark_nothing():
    above = [0.4, 0.5, 0.6, 0.7]
    assert best_of({"first": above, "last": [x - 0.25 for x in above]}) == set()


def test_a_repetition_counts_when_all_its_settings_are_there():
    rows = [r for r in rows_of() if (r["setting"], r["repetition"]) != ("state/1", 1)]
    results = summarise(tiny(), rows)
    assert set(line_of(results, "both states", "first").values) == {0, 2}
    assert set(line_of(results, "state/0", "first").values) == {0, 1, 2}
    assert not results.is_complete


def test_settings_may_share_out_the_repetitions():
    settings = (
        Setting("state/0", {"state": 0}, range(1)),
        Setting("state/1", {"state": 1}, range(1, 3)),
    )
    results = summarise(replace(tiny(), settings=settings), rows_of())
    line = line_of(results, "both states", "first")
    assert line.values == {0: 50.0, 1: 50.0, 2: 0.0}
    assert results.is_complete


def shared_out(*numbers):
    """Two settings that share out the repetitions, so many to each."""
    first, second = numbers
    settings = (
        Setting("state/0", {"state": 0}, range(first)),
        Setting("state/1", {"state": 1}, range(first, first + second)),
    )
    return replace(tiny(), settings=settings)


def test_half_of_a_block_is_not_shown():
    rows = [row_of("state/0", number, "first", 1.0) for number in range(2)]
    results = summarise(shared_out(5, 5), rows)
    assert [line.block.label for line in results.lines] == ["state/0"]


def test_settings_count_by_their_runs_in_the_whole_design():
    # Three runs each, where the design has 10 and 30: a quarter, not half, for state 0.
    rows = [
        row_of(f"state/{state}", first + number, method, value + 0.1 * number, **more)
        for method, values in {"first": (0.8, 0.0), "last": (0.3, 0.2)}.items()
        for state, (first, value) in enumerate(zip((0, 10), values, strict=True))
        for more in [{"n_hidden": 4 + 4 * state, "seconds": 1.0 - state}]
        for number in range(3)
    ]
    results = summarise(shared_out(10, 30), rows)
    line = line_of(results, "both states", "first")
    assert line.is_weighted
    assert line.interval.mean == pytest.approx(90.0 / 4 + 10.0 * 3 / 4)
    assert (line.mean_hidden, line.mean_seconds) == (7.0, 0.25)
    assert math.isnan(line.interval.low)
    assert not any(x.block.label == "both states" for x in results.comparisons)
    text = render_markdown(results)
    assert "weighted by the numbers of runs of the full protocol" in text
    assert "| both states | first state | 30.00 |  | 6 | 7.0 | 0.25 |" in text


def test_runs_with_the_shares_of_the_design_are_averaged_and_tested():
    rows = [
        row_of(setting, number, method, value + 0.01 * number)
        for method, value in {"first": 0.5, "last": 0.4 + 0.02}.items()
        for setting, numbers in {"state/0": [0], "state/1": [2, 3, 5]}.items()
        for number in numbers
    ]
    results = summarise(shared_out(2, 6), rows)
    line = line_of(results, "both states", "first")
    assert not line.is_weighted
    plain = mean_interval([50.0, 52.0, 53.0, 55.0])
    assert (line.interval.mean, line.interval.low) == pytest.approx(
        (plain.mean, plain.low)
    )
    assert any(x.block.label == "both states" for x in results.comparisons)


def test_a_run_without_hidden_cells_has_no_say():
    rows = rows_of()
    for row in rows:
        if (row["setting"], row["repetition"]) == ("state/1", 0):
            row["accuracy"] = None
    line = line_of(summarise(tiny(), rows), "both states", "first")
    assert line.values[0] == 50.0


def test_rows_outside_the_design_are_left_out():
    strange = [
        row_of("state/0", 99, "first", 1.0),
        row_of("state/2", 0, "first", 1.0),
        row_of("state/0", 0, "other", 1.0),
    ]
    assert summarise(tiny(), rows_of() + strange) == summarise(tiny(), rows_of())


def test_methods_that_saw_different_tables_are_not_compared():
    rows = rows_of()
    rows[0]["table"] = "another"
    with pytest.raises(DataError, match="different tables in repetition 0 of state/0"):
        summarise(tiny(), rows)


def test_runs_of_a_setting_that_read_different_data_are_not_averaged():
    rows = rows_of(data={"car.csv": "aaa"})
    rows[1] = {**rows[1], "data": {}}
    summarise(tiny(), rows)
    rows[0] = {**rows[0], "data": {"car.csv": "bbb"}}
    with pytest.raises(DataError, match=r"setting state/0 .* another file car\.csv"):
        summarise(tiny(), rows)


def test_rows_of_several_builds_are_told():
    rows = rows_of(build="aaa")
    one = render_markdown(summarise(tiny(), rows))
    assert "bayesmend 1.2, seed 1." in one
    rows[0] = {**rows[0], "build": "bbb"}
    del rows[1]["build"], rows[2]["build"]
    page = render_markdown(summarise(tiny(), rows))
    assert "bayesmend 1.2, rows of 3 builds, seed 1." in page


def test_proofs_and_gaps_are_averaged_where_a_bound_is_known():
    rows = rows_of()
    exact = [row for row in rows if row["method"] == "exact"]
    for row in exact:
        row |= {"bound": -10.0, "status": "optimal"}
    exact[0] |= {"bound": -7.0, "status": "gap 3 nats"}
    exact[1] |= {"status": "optimal given the mechanism"}
    results = summarise(tiny(), rows)
    line = line_of(results, "both states", "exact")
    assert line.share_optimal == pytest.approx(5 / 6)
    assert line.mean_gap == 0.5
    assert line_of(results, "both states", "first").share_optimal is None
    assert "83% optimal, mean gap 0.5" in render_markdown(results)


def test_any_field_of_the_rows_can_be_a_measure():
    arcs = Measure("n_arcs", "number of arcs", digits=1, is_better_high=False)
    experiment = replace(tiny(), measures=(*tiny().measures, arcs))
    rows = rows_of()
    for number, row in enumerate(rows):
        row["n_arcs"] = {"first": 5, "last": 9, "exact": 1}[row["method"]]
        row["n_arcs"] += number % (2 if row["method"] == "exact" else 3)
    results = summarise(experiment, rows)
    assert line_of(results, "state/0", "exact", "n_arcs").interval.mean < 2
    assert line_of(results, "state/0", "exact", "n_arcs").is_best
    assert line_of(results, "state/0", "exact", "n_arcs").published is None
    assert "## Number of arcs" in render_markdown(results)


# --- published ------------------------------------------------------------------------


def test_published_values_stand_beside_measured_ones(monkeypatch):
    monkeypatch.setitem(PUBLISHED, "tiny", {"ASIA": {"exact": 60.0}})
    results = summarise(tiny(), rows_of())
    line = line_of(results, "both states", "exact")
    assert (line.published, line.difference) == (
        60.0,
        pytest.approx(54.1667 - 60, 1e-4),
    )
    assert line_of(results, "both states", "first").published is None
    text = render_markdown(results)
    assert "| both states | first state |  | **50.00** |  |" in text
    assert "|  | last state |  | 20.83 |  |" in text
    assert "|  | exact | 60.00 | **54.17** | -5.83 |" in text


def test_overall_values_of_spect_are_the_means_that_the_paper_prints():
    for share in ("3 %", "5 %", "10 %"):
        for method in ("local-1", "em"):
            by_value = [
                published_values("table3", f"{share}, value {value}")[method]
                for value in (0, 1)
            ]
            overall = published_values("table3", share)[method]
            assert sum(by_value) / 2 == pytest.approx(overall, abs=0.011)


# --- tests ----------------------------------------------------------------------------


def test_pairs_are_compared_by_both_tests():
    results = summarise(tiny(), rows_of())
    pairs = table_of(render_tests_csv(results))
    pair = next(
        row
        for row in pairs
        if (row["block"], row["method"], row["other"]) == ("state/0", "first", "last")
    )
    a, b = [50, 75, 100], [25, 25, 50]
    assert float(pair["mean_difference"]) == pytest.approx(125 / 3)
    assert float(pair["p_t"]) == pytest.approx(stats.ttest_rel(a, b).pvalue)
    assert (pair["better"], pair["worse"], pair["equal"]) == ("3", "0", "0")
    assert float(pair["p_sign"]) == pytest.approx(stats.binomtest(3, 3).pvalue)


def values(**by_method):
    return {name: {"state/0": numbers} for name, numbers in by_method.items()}


def best_of(accuracies, methods=(FIRST, LAST, EXACT)):
    n = len(next(iter(accuracies.values())))
    settings = (Setting("state/0", {"state": 0}, range(n)),)
    experiment = replace(
        tiny(methods=methods),
        settings=settings,
        blocks=(Block("state/0", ("state/0",)),),
    )
    rows = rows_of(values(**accuracies))
    results = summarise(experiment, rows)
    return {line.method.name for line in results.lines if line.is_best}


BAD, GOOD = [0.1, 0.2, 0.1, 0.3, 0.2], [0.8, 0.9, 0.7, 0.9, 0.8]


def test_the_method_that_beats_all_others_is_marked():
    assert best_of({"first": GOOD, "last": BAD, "exact": BAD[::-1]}) == {"first"}


def test_two_methods_are_marked_when_each_beats_the_rest():
    assert best_of({"first": GOOD, "last": BAD, "exact": GOOD[::-1]}) == {
        "first",
        "exact",
    }


def test_no_method_is_marked_when_none_is_beaten():
    assert best_of({"first": GOOD, "last": GOOD, "exact": GOOD[::-1]}) == set()


def test_the_direction_comes_from_the_repetitions_that_were_compared():
    # In the mean over all of its repetitions 'last' leads, by one without a partner.
    accuracies = {
        "first": [0.5, 0.6, 0.5, 0.6, 0.5, None],
        "last": [None, 0.45, 0.45, 0.45, 0.45, 1.0],
    }
    assert best_of(accuracies, (FIRST, LAST)) == {"first"}


def test_a_method_with_fewer_repetitions_does_not_compete():
    part = [*GOOD[:3], None, None]
    assert best_of({"first": GOOD, "last": BAD, "exact": part}) == {"first"}
    assert best_of({"first": BAD, "last": BAD[::-1], "exact": part}) == set()


def test_a_reference_neither_competes_nor_is_marked():
    methods = (FIRST, LAST, replace(EXACT, is_reference=True))
    best = best_of({"first": GOOD, "last": BAD, "exact": [1.0] * 5}, methods)
    assert best == {"first"}


def test_of_a_family_the_best_is_shown_and_competes():
    methods = (
        FIRST,
        replace(LAST, family="machines", label="machine (a)"),
        replace(EXACT, family="machines", label="machine (b)"),
    )
    accuracies = {
        "first": {"state/0": BAD[:3], "state/1": BAD[:3]},
        "last": {"state/0": BAD[1:4], "state/1": BAD[1:4]},
        "exact": {"state/0": GOOD[:3], "state/1": GOOD[:3]},
    }
    results = summarise(tiny(methods=methods), rows_of(accuracies))
    text = render_markdown(results)
    assert "machine (b)" in text
    assert "machine (a)" not in text
    assert line_of(results, "state/0", "exact").is_best
    assert not line_of(results, "state/0", "last").is_shown
    rows = table_of(render_csv(results))
    shown = {(row["block"], row["method"]): row["is_shown"] for row in rows}
    assert shown["state/0", "last"] == "0"
    assert shown["state/0", "exact"] == "1"


# --- files ----------------------------------------------------------------------------


def test_the_extent_is_said_first():
    whole = render_markdown(summarise(tiny(), rows_of()))
    assert "All 18 of 18 runs of the full protocol. bayesmend 1.2, seed 1." in whole
    part = render_markdown(summarise(tiny(), rows_of()[:5]))
    assert "**Not the full protocol:** 5 of 18 runs" in part


def shortened(experiment):
    """The same design with three repetitions of each setting."""
    settings = (replace(s, repetitions=range(3)) for s in experiment.settings)
    return replace(experiment, settings=tuple(settings))


def test_another_time_limit_is_not_the_full_protocol():
    name = "optimum"
    for limit, extent in (
        (None, "All "),
        (5, "**Not the full protocol:** exact has 5"),
    ):
        experiment = shortened(load_experiment(name, time_limit=limit))
        rows = [
            row_of(
                run.setting.name, run.repetition, method.name, 1.0, attained=1, loss=0
            )
            for run, method in experiment.runs()
        ]
        page = render_markdown(summarise(experiment, rows))
        assert page.split("\n")[2].startswith(extent)
        assert f"\n- Limit of each run: {limit or 60} s (exact).\n" in page
    part = [row for row in rows if row["method"] == "local-1-r1"]
    assert "- Limit of each run" not in render_markdown(summarise(experiment, part))


def test_methods_with_limits_of_their_own_are_told_apart():
    limits = (120.0, 120.0, 2.5)
    methods = tuple(
        replace(method, options={**method.options, "time_limit": limit})
        for method, limit in zip((FIRST, LAST, EXACT), limits, strict=True)
    )
    page = render_markdown(summarise(tiny(methods=methods), rows_of()))
    assert "- Limit of each run: 120 s (first, last), 2.5 s (exact).\n" in page


@pytest.mark.parametrize("limit", [0, -1.0, math.nan, math.inf])
def test_a_time_limit_must_be_positive(limit):
    with pytest.raises(
        ParameterError, match="time_limit must be a finite number of seconds > 0"
    ):
        load_experiment("table1", time_limit=limit)


def test_the_csv_table_holds_what_the_lines_do():
    rows = table_of(render_csv(summarise(tiny(), rows_of())))
    assert len(rows) == 9
    assert float(rows[0]["measured"]) == 50.0
    assert (rows[0]["method"], rows[0]["repetitions"]) == ("first", "3")
    assert (rows[0]["published"], rows[0]["share_optimal"]) == ("", "")


def test_the_tests_of_the_methods_in_focus_are_written_out():
    experiment = replace(tiny(), focus=("exact",))
    text = render_markdown(summarise(experiment, rows_of()))
    assert "| both states | accuracy (%) | exact | first state | +4.17 |" in text
    assert "| first state | last state |" not in text


def test_better_means_less_where_less_is_better():
    measure = Measure("accuracy", "errors", is_better_high=False)
    experiment = replace(tiny(), measures=(measure,), focus=("first",))
    text = render_markdown(summarise(experiment, rows_of()))
    line = next(
        x for x in text.splitlines() if "| state/0 | errors | first state |" in x
    )
    assert "last state | +0.42 |" in line
    assert "| 0 | 3 | 0 |" in line


def test_notes_end_the_page():
    noted = replace(tiny(), notes=("All is small.",))
    assert render_markdown(summarise(noted, rows_of())).endswith("\n- All is small.\n")


def test_tables_and_figures_are_written_and_written_again_the_same(tmp_path):
    results = summarise(tiny(), rows_of())
    names = []
    for folder in (tmp_path / "a", tmp_path / "b"):
        folder.mkdir()
        paths = write_results(results, folder) + write_figures(results, folder)
        names.append({path.name for path in paths})
        assert {path.name for path in folder.iterdir()} == names[-1]
    assert names[0] == {
        *("tiny.md", "tiny.csv", "tiny-tests.csv", "tiny.png", "tiny.svg")
    }
    for name in names[0]:
        one, two = ((tmp_path / folder / name).read_bytes() for folder in "ab")
        assert one == two


def test_the_figure_shows_methods_and_blocks_by_name(tmp_path):
    write_figures(summarise(tiny(), rows_of()), tmp_path)
    svg = ElementTree.parse(tmp_path / "tiny.svg")
    texts = [element.text for element in svg.iter() if element.tag.endswith("text")]
    assert texts.count("first state") == texts.count("exact") == 3
    assert {"both states", *STATES} <= set(texts)
    assert (tmp_path / "tiny.png").read_bytes().startswith(b"\x89PNG")


def test_blocks_that_are_not_drawn_stay_out_of_the_figure(tmp_path):
    blocks = tuple(
        replace(block, is_drawn=block.label == "state/0") for block in tiny().blocks
    )
    write_figures(summarise(replace(tiny(), blocks=blocks), rows_of()), tmp_path)
    svg = (tmp_path / "tiny.svg").read_text()
    assert "state/0" in svg
    assert "both states" not in svg


def test_a_single_repetition_has_no_interval_and_no_mark(tmp_path):
    rows = [row for row in rows_of() if row["repetition"] == 0]
    results = summarise(tiny(), rows)
    assert "| both states | first state | 37.50 |  | 1 |" in render_markdown(results)
    assert not any(line.is_best for line in results.lines)
    assert len(write_figures(results, tmp_path)) == 2


def test_without_rows_there_is_nothing_to_draw(tmp_path):
    results = summarise(tiny(), [])
    assert write_figures(results, tmp_path) == []
    assert "0 of 18 runs" in render_markdown(results)


def test_axes_of_shares_end_at_the_limits():
    results = summarise(tiny(), rows_of())
    lines = [line for line in results.lines if line.block.label == "state/0"]
    ax = draw_lines(lines, ax=Figure().subplots())
    assert ax.get_xlim() == (0.0, 100.0)
    sweep = lay_out(results.lines, Curves("state", in_a_row))
    ax = draw_panel(sweep, "both states", ax=Figure().subplots())
    bottom, top = ax.get_ylim()
    assert 0.0 <= bottom < top <= 100.0


def in_a_row(block, method):
    return Place(block.label, 10.0, method.label, method.name)


@pytest.mark.parametrize("is_log", [False, True])
def test_the_axis_of_a_sweep_has_its_positions_alone(is_log):
    curves = Curves("state", in_a_row, is_log=is_log)
    sweep = lay_out(summarise(tiny(), rows_of()).lines, curves)
    figure = draw_sweep(sweep, curves, "accuracy (%)")
    for ax in figure.axes:
        labels = [label.get_text() for label in ax.get_xticklabels()]
        assert labels == ["10"]
        assert len(ax.get_xticks(minor=True)) == 0


def test_each_method_has_its_colour():
    names = [
        "iterative-forest",
        "iterative-logistic",
        "miceforest",
        "knn",
        "auto",
        "exact",
        "local-1",
        "em",
        "em-hard",
        "svm-rbf",
        "lapsvm",
        "mode",
        "truth",
    ]
    assert len({colour_of(name) for name in names}) == len(names)
    assert colour_of("svm-rbf") == colour_of("svm-poly")
    assert colour_of(Method("new", "new", print).name)
