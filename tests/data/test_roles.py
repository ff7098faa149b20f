"""What each column is taken for, what is said about it, and how numbers are cut."""

import datetime
import inspect
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support import oracle
from support.tables import fails, make_table

import bayesmend as bm
from bayesmend import IncompleteData
from bayesmend.data.discretize import auto_cuts, fit_discretization
from bayesmend.data.sources import open_table
from bayesmend.errors import DataError, ParameterError, ReadingWarning

SICK = ["no", "yes"]


def read(table, **options):
    """Read a table, and return it with what was said about it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        data = IncompleteData.from_table(table, **options)
    assert len(caught) <= 1
    assert all(w.category is ReadingWarning for w in caught)
    return data, "".join(str(w.message) for w in caught)


def with_sick(name, cells):
    """Add a variable, so that there is always one to model."""
    return {name: cells, "sick": [SICK[k % 2] for k in range(len(cells))]}


def role(cells, name="x", **options):
    """Return the role of a column and why."""
    data, _ = read(with_sick(name, cells), **options)
    found = next(column for column in data.schema.columns if column.name == name)
    return found.role, found.reason


# How numbers are cut.

many = st.lists(st.integers(-4, 4), min_size=1, max_size=60)
with_heavy = st.builds(
    lambda few, value, count: few + [value] * count,
    st.lists(st.integers(-9, 9), min_size=1, max_size=40),
    st.integers(-9, 9),
    st.integers(0, 90),
)


@given(many | with_heavy | st.lists(st.floats(-9, 9), min_size=1, max_size=50))
@example([0] * 300 + list(range(1, 60)))
@example([*range(-30, 0), *[0] * 300, *range(1, 60), *[99] * 90])
def test_numbers_are_cut_as_the_twin_cuts_them(numbers):
    numbers = [x + 0.0 for x in numbers]  # no negative zero, which equals zero
    assert list(auto_cuts(np.array(numbers))) == oracle.auto_cuts(numbers)


def test_numbers_without_ties_are_cut_into_equal_parts():
    rng = np.random.default_rng(1)
    for n, k in ((50, 2), (200, 3), (1000, 5), (5000, 8), (100_000, 8)):
        data, _ = read({"x": rng.normal(size=n)})
        counts = data.summary().variables[0].counts
        assert len(counts) == k
        assert max(counts) - min(counts) <= 1


def test_a_heavy_value_has_an_interval_of_its_own():
    rng = np.random.default_rng(2)
    gain = np.where(rng.random(3000) < 0.9, 0, rng.integers(-20, 9000, 3000))
    data, said = read({"gain": gain})
    codes, n_zero = data.codes[:, 0], int((gain == 0).sum())
    code = int(codes[np.flatnonzero(gain == 0)[0]])
    assert (codes == code).sum() == n_zero
    assert f"gain ({data.card[0]})" in said
    assert data.card[0] == 7


# Roles.

cells = st.one_of(
    st.lists(st.integers(0, 60) | st.none(), max_size=70),
    st.lists(st.integers(0, 60), unique=True, min_size=15, max_size=45),
    st.lists(st.sampled_from([0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), max_size=90),
    st.integers(15, 30).flatmap(lambda n: st.permutations(range(7, 7 + n))),
    st.integers(15, 30).map(lambda n: [3 * k for k in range(n)]),
    st.integers(15, 30).map(lambda n: [-(k**2) for k in range(n)]),
    st.lists(st.integers(0, 60).map("t{}".format) | st.none(), max_size=70),
)


@make_table
@given(cells=cells, name=st.sampled_from(["x", "patientId", "KEY", "n_rooms"]))
def test_roles_are_those_of_the_twin(make, cells, name):
    found = oracle.reason_aside(
        {"patientId": ["patient", "id"], "KEY": ["key"]}.get(name, []), cells
    )
    table = with_sick(name, cells)
    if len(cells) < 2:
        table = {
            name: [*cells, None, None],
            "sick": ["no", "yes", "no"][: len(cells) + 2],
        }
    data, said = read(make(table), max_numeric_states=7)
    column = data.schema.columns[0]
    seen = [cell for cell in cells if cell is not None]
    if found is not None:
        assert (column.role, column.reason) == ("pass-through", found)
        assert f"{name} ({found})" in said
        return
    is_cut = not isinstance(seen[0], str) and not oracle.numbers_are_states(seen, 7)
    assert column.role == ("cut" if is_cut else "model")
    assert column.reason == ""
    assert (f"{name} (" in said) == is_cut


def test_the_edges_of_the_rules():
    assert role(list(range(5)) * 3)[0] == "model"
    assert role(list(range(6)) * 9)[0] == "cut"
    assert role(list(range(6)) * 10)[0] == "model"
    assert role(list(range(20)) * 10)[0] == "model"
    assert role(list(range(21)) * 10)[0] == "cut"
    assert role(list(range(21)) * 10, max_numeric_states=21)[0] == "model"
    assert role(list(range(4)) * 3, max_numeric_states=3)[0] == "cut"
    words = [f"w{k}" for k in range(300)]
    assert role(words[:19]) == ("model", "")
    assert role(words[:20]) == ("pass-through", "identifier")
    assert role(words[:20] * 2) == ("model", "")
    assert role(words[:21] * 2) == ("pass-through", "free text")
    assert role(words[:21] * 3) == ("model", "")
    assert role(words[:254] * 3) == ("model", "")
    assert role(words[:255] * 3) == ("pass-through", "free text")


DAY = datetime.date(2026, 1, 1)


@pytest.mark.parametrize(
    ("n_days", "advice"),
    [
        (254, "to cut them, or choose with columns={'x': 'model'}."),
        (255, "to cut them."),
    ],
)
def test_dates_are_only_advised_to_be_states_where_they_can(n_days, advice):
    days = [DAY + datetime.timedelta(k) for k in range(n_days)]
    table = {"x": [f"{day:%d/%m/%Y}" for day in days], "y": ["a", "b"] * (n_days // 2)}
    table["y"] += ["a"] * (n_days % 2)
    with pytest.warns(ReadingWarning) as caught:
        IncompleteData.from_table(table)
    assert str(caught[0].message).endswith(
        f"Write the dates of x as 2026-12-31 {advice}"
    )


ADVICE = {
    "no value": {"Drop x, or list its states: states={'x': [...]}."},
    "constant": {"Choose with columns={'x': 'model'}."},
    "dates": {
        "Cut with discretize={'x': 4}.",
        "Write the dates of x as 2026-12-31 to cut them, or choose with"
        " columns={'x': 'model'}.",
    },
    "durations, periods or times": {"Convert x to numbers or text."},
    "mixed types": {"Convert x to one type."},
    "objects": {"Convert x to text."},
    "infinite numbers": {"Replace the infinite numbers of x, or make them missing."},
}


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ([None] * 4, "no value"),
        (["a", None, "a", "a"], "constant"),
        ([7, 7, 7, None], "constant"),
        ([DAY, DAY, None, DAY + datetime.timedelta(1)], "dates"),
        ([datetime.datetime(2026, 1, 1), None] * 2, "dates"),
        (["2026-01-31", "2025-12-01", None, "2025-12-01"], "dates"),
        (["31/12/2025", "01/02/2026"] * 2, "dates"),
        (["3 Jan 2026", "14 March 2026"] * 2, "dates"),
        ([datetime.timedelta(k) for k in range(4)], "durations, periods or times"),
        ([datetime.time(k) for k in range(4)], "durations, periods or times"),
        ([1, "x", 2, "y"], "mixed types"),
        ([1, True, 2, False], "mixed types"),
        ([[1], [2], None, []], "objects"),
        ([b"x", b"y"] * 2, "objects"),
        ([1.5, float("inf"), 2.0, 3.0], "infinite numbers"),
    ],
)
def test_what_cannot_be_modelled_is_passed_through_with_the_reason(cells, reason):
    assert role(cells) == ("pass-through", reason)
    data, said = read(with_sick("x", cells))
    start = f"the table: 1 column passed through, not modelled: x ({reason}). "
    assert said.startswith(start)
    assert said.removeprefix(start) in ADVICE[reason]
    assert data.to_table()["x"] == cells


@pytest.mark.parametrize("text", ["12-34-56", "2026-13-01", "1.2.3.4", "10:30", "a"])
def test_what_only_resembles_a_date_is_text(text):
    assert role([text, "b", "c", "b"]) == ("model", "")


@pytest.mark.parametrize(
    "make",
    [pd.DataFrame, pl.DataFrame, pa.table, dict],
    ids=["pandas", "polars", "arrow", "mapping"],
)
def test_categories_and_booleans_are_states_however_many(make):
    words = [f"w{k}" for k in range(30)]
    if make is dict:
        table = with_sick("x", [True, False] * 15)
    elif make is pd.DataFrame:
        table = make(with_sick("x", pd.Categorical(words)))
    elif make is pl.DataFrame:
        table = make(with_sick("x", pl.Series(words, dtype=pl.Enum(words))))
    else:
        table = make(with_sick("x", pa.array(words).dictionary_encode()))
    data, said = read(table)
    assert data.schema.columns[0].role == "model"
    assert said == ""


def test_what_the_caller_says_stands():
    words = [f"w{k}" for k in range(30)]
    assert role(words, columns={"x": "model"}) == ("model", "")
    assert role(words, columns=["x", "sick"]) == ("model", "")
    assert role(words, states={"x": words}) == ("model", "")
    assert role([7, 7, 7], columns={"x": "model"}) == ("model", "")
    assert role(list(range(30)), columns={"x": "model"}) == ("cut", "")
    assert role(list(range(30)), discretize={"x": None}) == ("model", "")
    assert role(list(range(30)), discretize={"x": 3}) == ("cut", "")
    assert role([1, 2, 3], discretize={"x": 2}) == ("cut", "")
    assert role([1, 2, 3], columns={"x": "drop"}) == ("drop", "")
    assert role([1, 2, 3], columns={"x": "pass-through"}) == (
        "pass-through",
        "as asked",
    )
    assert role([1, 2, 3], columns=["sick"]) == ("pass-through", "as asked")


def test_a_table_comes_back_without_what_was_dropped_and_with_what_was_passed():
    table = {"a": ["x", "y"], "b": [1, 2], "c": ["u", "v"]}
    data, said = read(table, columns={"a": "drop", "b": "pass-through"})
    assert said == ""
    assert data.names == ("c",)
    assert data.to_table() == {"b": [1, 2], "c": ["u", "v"]}


def test_without_cutting_many_numbers_are_passed_through():
    numbers = [0.5 * k for k in range(40)]
    assert role(numbers, discretize=None) == ("pass-through", "40 different numbers")
    assert role([1, 2, 3], discretize=None) == ("model", "")


def test_a_mapping_speaks_for_its_variables_only():
    rng = np.random.default_rng(3)
    table = {name: rng.normal(size=50) for name in ("a", "b", "c")}
    data, said = read(table, discretize={"b": 3, "c": "auto"})
    assert data.card.tolist() == [2, 3, 2]
    assert "a (2)" in said
    assert not re.search(r"\b[bc] \(", said)
    assert data.discretization.names == ("b", "c", "a")
    again, said = read(table, discretize=data.discretization)
    assert again.discretization is not None
    assert np.array_equal(again.codes, data.codes)
    assert said == ""


def test_auto_may_be_asked_for_in_a_rule_of_ones_own():
    table = {"x": np.arange(1000.0)}
    rule = fit_discretization(table, {"x": "auto"})
    assert rule.cuts == ((199.0, 399.0, 599.0, 799.0),)


# Dates.


@pytest.mark.parametrize("make", [list, pd.to_datetime, pl.Series, pa.array])
def test_dates_are_cut_on_request(make):
    days = [DAY + datetime.timedelta(30 * k) for k in range(12)]
    column = make(days)
    table = {"when": column, "sick": SICK * 6}
    if make is not list:
        table = {
            pd.to_datetime: pd.DataFrame,
            pl.Series: pl.DataFrame,
            pa.array: pa.table,
        }[make](table)
    for how in (
        3,
        ["2026-04-01", "2026-07-30"],
        [datetime.date(2026, 4, 1), datetime.datetime(2026, 7, 30)],
    ):
        data, said = read(table, discretize={"when": how})
        assert said == ""
        assert data.states[0] == (
            "<=2026-04-01",
            "2026-04-01<x<=2026-07-30",
            ">2026-07-30",
        )
        assert data.codes[:, 0].tolist() == [0] * 4 + [1] * 4 + [2] * 4


def test_dates_in_text_are_cut_when_they_are_iso(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("when,sick\n2026-01-05,no\n2026-03-01,yes\n,no\n2026-02-01,yes\n")
    data, _ = read(path, discretize={"when": 2})
    assert data.states[0] == ("<=2026-02-01", ">2026-02-01")
    assert data.codes[:, 0].tolist() == [0, 1, 255, 0]
    path.write_text("when,sick\n31/12/2025,no\n01/02/2026,yes\n")
    message = fails(path, discretize={"when": 2})
    assert (
        "'31/12/2025' in line 2 of t.csv, which is no date that can be cut" in message
    )


# Labels.


@make_table
def test_labels_that_differ_in_blanks_or_case_are_named_or_joined(make):
    table = make({"a": ["yes", "Yes ", "no", "yes", "NO"], "b": list("xyxyx")})
    data, said = read(table)
    assert data.states[0] == ("NO", "Yes ", "no", "yes")
    assert said == (
        "the table: labels differ only in blanks or case: 'yes' and 'Yes ' of a, 'no'"
        " and 'NO' of a. Join them with normalise=True."
    )
    joined, said = read(table, normalise=True)
    assert said == ""
    assert joined.states[0] == ("no", "yes")
    assert joined.codes[:, 0].tolist() == [1, 1, 0, 1, 0]
    assert joined.schema.normalise
    declared, _ = read(table, normalise=True, states={"a": ["YES", "no", "never"]})
    assert declared.codes[:, 0].tolist() == [0, 0, 1, 0, 1]


def test_the_most_frequent_spelling_of_a_file_stands(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\nYes,1\nyes ,2\nyes ,1\nno,2\n")
    data, _ = read(path, normalise=True)
    assert data.states[0] == ("no", "yes ")
    assert data.codes[:, 0].tolist() == [1, 1, 1, 0]


def test_labels_that_may_be_missing_cells_are_named():
    table = {"a": ["x", "?", "y"], "b": ["None", "u", "u"]}
    data, said = read(table)
    assert data.n_missing == 0
    assert said == (
        "the table: labels that often stand for a missing cell: '?' of a. If they do,"
        " pass missing=['?']."
    )
    assert read(table, missing=[])[1] == ""
    assert read(table, missing=["?"])[0].n_missing == 1


# Messages.


def test_all_guesses_are_in_one_message(tmp_path):
    rng = np.random.default_rng(4)
    lines = ["id,when,age,sick,ward"]
    for k in range(60):
        age = f"{rng.normal(40, 9):.1f}"
        lines.append(
            f"{k + 1},2026-01-{k % 28 + 1:02},{age},{SICK[k % 2]},{'aAb'[k % 3]}"
        )
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines) + "\n")
    _, said = read(path)
    assert said == (
        "t.csv was read by guesses.\n"
        "- numbers are cut into intervals: age (2). Choose how with"
        " discretize={'age': 4}.\n"
        "- 2 columns passed through, not modelled: id (identifier); when (dates)."
        " Choose with columns={'id': 'model'}. Cut with discretize={'when': 4}.\n"
        "- labels differ only in blanks or case: 'a' and 'A' of ward. Join them with"
        " normalise=True."
    )
    options = {
        "columns": {"id": "drop", "when": "pass-through"},
        "discretize": {"age": "auto"},
        "normalise": True,
    }
    assert read(path, **options)[1] == ""


def test_the_warning_is_issued_where_the_table_is_read():
    with pytest.warns(ReadingWarning) as caught:
        bm.learn_em({"a": [1] * 4, "b": [1, 2, 1, None]}, seed=1)
    assert caught[0].filename == __file__


def test_all_that_is_in_the_way_is_in_one_error():
    table = {"a": [1, "x"], "b": [DAY, DAY], "c": ["u", "v"]}
    message = fails(table, columns=["a", "b", "c"], states={"c": ["u"]})
    assert message.startswith("2 things are in the way:\n- variable 'a' mixes numbers")
    assert "\n- variable 'b' holds dates or times" in message
    message = fails({"a": ["x", "y"], "b": ["u", "v"]}, states={"a": ["x"], "b": ["u"]})
    assert message.startswith("2 things are in the way:\n- variable 'a' has the value")
    assert "\n- variable 'b' has the value 'v' in row 1" in message


def test_nothing_left_to_model_names_every_reason():
    table = {"a": ["x", "x"], "b": [None, None], "c": [DAY, DAY]}
    assert fails(table) == (
        "no column is left to model: a (constant); b (no value); c (dates). Insist with"
        " columns={'a': 'model'}. Drop b, or list its states: states={'b': [...]}. Cut"
        " with discretize={'c': 4}."
    )
    message = fails({"a": ["x", "y"]}, columns={"a": "drop"})
    assert message == "no column is left to model. Drop fewer of them."


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"columns": {"z": "drop"}}, DataError, "no variable named 'z'. Available: a"),
        ({"columns": ["z"]}, DataError, "no variable named 'z'"),
        (
            {"columns": {"a": "keep"}},
            ParameterError,
            "columns must be one of model, pass-through, drop. Got 'keep'",
        ),
        ({"columns": "a"}, ParameterError, "columns must be a mapping such as"),
        ({"columns": 3}, ParameterError, "or a sequence of names. Got 3 instead"),
        (
            {"columns": {"a": "drop"}, "states": {"a": ["x"]}},
            ParameterError,
            "'a' is in states, but columns does not model it. Change one of them",
        ),
        (
            {"columns": ["b"], "discretize": {"a": 2}},
            ParameterError,
            "'a' is in discretize, but columns does not model it",
        ),
        ({"discretize": "quantile"}, ParameterError, "discretize must be 'auto', None"),
        ({"discretize": {"z": None}}, DataError, "no variable named 'z'"),
        ({"discretize": {"b": "fine"}}, ParameterError, "'b' must be cut by a number"),
        ({"discretize": {"b": 1}}, ParameterError, "into 2 to 254 intervals. Got 1"),
        ({"discretize": {"a": 2}}, DataError, "'x' in row 0, which is not a number"),
        ({"normalise": "yes"}, ParameterError, "normalise must be True or False. Got"),
    ],
)
def test_options_that_cannot_be_are_refused(options, error, message):
    assert message in fails({"a": ["x", "y"], "b": [1, 2]}, error, **options)


# Every entrance.

SOURCE = {"id": list(range(30)), "x": [0, 1] * 15, "y": [0, 0, 1] * 10}
CHAIN = bm.Dag.from_arcs(["x", "y"], [("x", "y")])
NETWORK = bm.Network(CHAIN, ((0, 1),) * 2, ([[0.5, 0.5]], [[0.6, 0.4], [0.3, 0.7]]))
ENTRANCES = {
    "summary": lambda t, **o: bm.summary(t, **o),
    "learn": lambda t, **o: bm.learn(t, seed=1, **o),
    "learn_em": lambda t, **o: bm.learn_em(t, seed=1, **o),
    "learn_exact": lambda t, **o: bm.learn_exact(t, seed=1, **o),
    "learn_local": lambda t, **o: bm.learn_local(t, seed=1, **o),
    "learn_structure": lambda t, **o: bm.learn_structure(t, **o),
    "reduce": lambda t, **o: bm.learning.reduction.reduce_to_complete(t, **o),
    "climb": lambda t, **o: bm.structure.climb(t, seed=1, **o),
    "candidate_parents": lambda t, **o: bm.structure.candidate_parents(t, **o),
    "FamilyScorer": lambda t, **o: bm.score.FamilyScorer(t, **o),
    "dag_score": lambda t, **o: bm.dag_score(CHAIN, t, **o),
    "family_score": lambda t, **o: bm.score.family_score(t, "y", ["x"], **o),
    "score_families": lambda t, **o: bm.score.score_families(t, [("y", ["x"])], **o),
    "family_counts": lambda t, **o: bm.score.family_counts(t, "y", ["x"], **o),
    "Network.fit": lambda t, **o: bm.Network.fit(CHAIN, t, **o),
    "fit_parameters": lambda t, **o: bm.fit_parameters(CHAIN, t, **o),
    "learn_ensemble": lambda t, **o: bm.learn_ensemble(t, n_networks=2, seed=1, **o),
    "bootstrap": lambda t, **o: bm.learning.bootstrap(t, n=2, method="em", seed=1, **o),
    "cross_validate": lambda t, **o: bm.cross_validate(
        t, methods=["mode"], n_repeats=1, seed=1, **o
    ),
    "impute_multiple": lambda t, **o: bm.impute_multiple(t, m=2, seed=1, **o),
    "innocence": lambda t, **o: bm.learning.innocence(t, **o),
    "structure_posterior": lambda t, **o: bm.structure.structure_posterior(t, **o),
    "hide_mcar": lambda t, **o: bm.hide_mcar(t, 0.3, seed=1, **o),
    "hide_mar": lambda t, **o: bm.hide_mar(t, 0.3, depends_on=["x"], seed=1, **o),
    "hide_mnar": lambda t, **o: bm.hide_mnar(t, 0.3, seed=1, **o),
    "hide_value_of": lambda t, **o: bm.hiding.hide_value_of(
        t, "x", 2, state=1, seed=1, **o
    ),
    "hide_value_per_variable": lambda t, **o: bm.hiding.hide_value_per_variable(
        t, 2, state=1, seed=1, **o
    ),
}


@pytest.mark.parametrize("enter", ENTRANCES.values(), ids=ENTRANCES)
def test_every_entrance_takes_the_reading_options(enter):
    enter(SOURCE, columns=["x", "y"], max_numeric_states=9, missing=["?"])
    with pytest.raises(DataError, match="no variable named 'q'"):
        enter(SOURCE, columns={"q": "drop"})
    with pytest.raises(ParameterError, match="delimiter"):
        enter(SOURCE, delimiter=";")
    data = IncompleteData.from_table(SOURCE, columns=["x", "y"])
    with pytest.raises(ParameterError, match="normalise cannot change"):
        enter(data, normalise=True)


def test_no_entrance_is_forgotten():
    parts = [bm, bm.structure, bm.score, bm.hiding, bm.learning, bm.inference]
    taking = {
        name
        for part in parts
        for name in part.__all__
        if inspect.isroutine(thing := getattr(part, name))
        and "reading" in inspect.signature(thing).parameters
    }
    of_a_network = {"impute", "log_evidence", "marginals", "most_probable"}
    of_a_network |= {"draw_completions", "impute_files"}
    assert taking - of_a_network <= set(ENTRANCES) | {"reduce_to_complete"}


def test_columns_tell_their_trouble_instead_of_raising():
    source = open_table({"a": [1, "x"], "b": [[1], None], "c": [DAY, None]})
    source.prepare(("a", "b", "c"), frozenset())
    kinds = [source.column(j).kind for j in range(3)]
    assert kinds == ["mixed", "nested", "date"]
    assert all(source.column(j).trouble for j in range(3))
    assert [source.column(j).n_missing for j in range(3)] == [0, 1, 1]


def test_identifiers_with_few_repeats_are_identifiers():
    rows = [f"R{k:05}" for k in range(400)]
    few, many = [*rows, *rows[:8]], [*rows[:300], *rows[:40]]
    _, said = read(with_sick("respondent", few))
    end = "1 column passed through, not modelled: respondent (identifier with repeats)."
    assert said.endswith(end)
    assert role(many) == ("pass-through", "free text")
    _, said = read(with_sick("respondent", rows))
    assert said.endswith("respondent (identifier).")
    # As many labels as a variable may have are its states on demand.
    _, said = read(with_sick("respondent", [*rows[:100], *rows[:3]]))
    assert said.endswith("Choose with columns={'respondent': 'model'}.")
    texts = [f"a remark of {k}" for k in range(400)]
    assert role([*texts, *texts[:8]]) == ("pass-through", "free text")
    _, said = read(with_sick("caseId", [*texts, *texts[:8]]))
    assert "caseId (identifier with repeats)." in said


def test_text_of_more_labels_than_states_is_told_to_be_merged():
    _, said = read(with_sick("x", [f"w{k % 300}" for k in range(900)]))
    assert said.endswith("(free text). Merge labels of x until at most 254 are left.")


def test_numbers_that_may_not_be_cut_are_told_how_to_be():
    cells = np.random.default_rng(1).normal(size=60).tolist()
    _, said = read(with_sick("x", cells), discretize=None)
    assert said.endswith("(60 different numbers). Cut with discretize={'x': 4}.")


@pytest.mark.parametrize("way", [{"columns": {"x": "model"}}, {"discretize": {"x": 4}}])
def test_spans_of_time_are_told_nothing_that_fails_again(way):
    cells = list(pd.period_range("2000", periods=4, freq="M"))
    with pytest.raises(DataError, match="Convert it to numbers or text"):
        read(with_sick("x", cells), **way)


# Names that are no text.


def test_columns_may_be_named_by_numbers():
    cells = {0: [1.5 * k for k in range(40)], 1: SICK * 20, 2: [2] * 40, 3: SICK * 20}
    data, said = read(
        pd.DataFrame(cells),
        discretize={0: 3},
        states={1: ["yes", "no"]},
        columns={3: "drop"},
        weights=2,
    )
    assert not said
    assert data.names == ("0", "1")
    assert data.states[1] == ("yes", "no")
    assert len(data.states[0]) == 3
    assert data.weights.tolist() == [2] * 40
    assert read(pd.DataFrame(cells), columns=[1, 3])[0].names == ("1", "3")
    with pytest.raises(DataError, match="no variable named 7"):
        read(pd.DataFrame(cells), columns={7: "drop"})


# Numbers of files that are beyond all numbers.


@pytest.mark.parametrize("n_rows", [6, 400])
def test_a_number_too_large_for_any_is_infinite(tmp_path, n_rows):
    path = tmp_path / "t.csv"
    rows = [f"{k / 7},{SICK[k % 2]}\n" for k in range(n_rows)]
    path.write_text("".join(["x,sick\n", *rows, "-1e999,no\n"]))
    data, said = read(path)
    assert data.names == ("sick",)
    assert "x (infinite numbers)" in said
    place = f"variable 'x' has an infinite value in line {n_rows + 2} of t.csv"
    for way in ({"columns": {"x": "model"}}, {"discretize": {"x": 3}}):
        with pytest.raises(DataError, match=place):
            read(path, **way)
