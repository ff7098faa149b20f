"""Hiding cells: only what was asked, at the rates asked, and nothing in silence."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import oracle
from support.examples import examples
from support.strategies import holed_tables
from support.tables import binary_table

from bayesmend.data.table import MISSING, IncompleteData
from bayesmend.errors import DataError, ParameterError, ShortfallWarning
from bayesmend.hiding.mechanisms import (
    hide_mar,
    hide_mcar,
    hide_mnar,
    hide_value_of,
    hide_value_per_variable,
)

SEEDS = st.integers(0, 2**32)


RATES = st.floats(0.0, 1.0)


def quietly(hide, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShortfallWarning)
        return hide(*args, **options)


MECHANISMS = {
    "mcar": lambda t, rate, seed: hide_mcar(t, rate, seed=seed),
    "mar": lambda t, rate, seed: hide_mar(t, rate, depends_on=["a"], seed=seed),
    "mnar": lambda t, rate, seed: hide_mnar(t, rate, seed=seed),
    "per_variable": lambda t, rate, seed: quietly(
        hide_value_per_variable, t, int(9 * rate), state=0, seed=seed
    ),
    "one_variable": lambda t, rate, seed: quietly(
        hide_value_of, t, "b", int(9 * rate), state=0, seed=seed
    ),
}


every_mechanism = pytest.mark.parametrize("hide", MECHANISMS.values(), ids=MECHANISMS)


@every_mechanism
@examples(40)
@given(holed_tables(min_vars=2), RATES, SEEDS)
def test_the_listed_cells_are_the_only_ones_changed(hide, table, rate, seed):
    hidden = hide(table, rate, seed)
    changed = oracle.changed_cells(table.codes.tolist(), hidden.data.codes.tolist())
    places = zip(hidden.rows.tolist(), hidden.variables.tolist(), strict=True)
    truth = [(code, MISSING) for code in hidden.true_codes.tolist()]
    assert dict(zip(places, truth, strict=True)) == changed


@every_mechanism
@examples(40)
@given(holed_tables(min_vars=2), RATES, SEEDS)
def test_names_states_and_weights_stay(hide, table, rate, seed):
    holed = hide(table, rate, seed).data
    assert (holed.names, holed.states) == (table.names, table.states)
    np.testing.assert_equal(holed.weights, table.weights)


@every_mechanism
@examples(40)
@given(holed_tables(min_vars=2), RATES, SEEDS)
def test_the_same_seed_hides_the_same_cells(hide, table, rate, seed):
    first, second = hide(table, rate, seed), hide(table, rate, seed)
    assert list(first.cells()) == list(second.cells())


@every_mechanism
@examples(40)
@given(holed_tables(min_vars=2), RATES, SEEDS)
def test_the_original_table_recovers_every_hidden_cell(hide, table, rate, seed):
    hidden = hide(table, rate, seed)
    assert hidden.accuracy(table) == 1.0 or hidden.n_hidden == 0
    assert set(hidden.accuracy_by_variable(table).values()) <= {1.0}


@every_mechanism
@examples(40)
@given(holed_tables(min_vars=2), RATES, SEEDS)
def test_the_holed_table_recovers_no_hidden_cell(hide, table, rate, seed):
    hidden = hide(table, rate, seed)
    assert hidden.accuracy(hidden.data) == 0.0 or hidden.n_hidden == 0


@every_mechanism
@examples(40)
@given(holed_tables(min_vars=2), RATES, SEEDS)
def test_cells_come_by_variable_then_row_with_counts_to_match(hide, table, rate, seed):
    hidden = hide(table, rate, seed)
    order = list(zip(hidden.variables.tolist(), hidden.rows.tolist(), strict=True))
    assert order == sorted(order)
    assert sum(hidden.counts.values()) == hidden.n_hidden <= hidden.n_candidates


@every_mechanism
def test_different_seeds_hide_different_cells(hide):
    codes = np.random.default_rng(1).integers(0, 2, (50, 2), dtype=np.uint8)
    states = (("s0", "s1"), ("s0", "s1"))
    table = IncompleteData.from_codes(codes, names=("a", "b"), states=states)
    rows = [tuple(hide(table, 0.5, seed).rows) for seed in range(5)]
    assert len(set(rows)) == 5


def test_a_generator_is_used_and_advances():
    table, generator = binary_table(200), np.random.default_rng(1)
    first, second = (hide_mcar(table, 0.5, seed=generator) for _ in range(2))
    assert list(first.cells()) == list(hide_mcar(table, 0.5, seed=1).cells())
    assert list(first.cells()) != list(second.cells())


@given(holed_tables(), SEEDS)
def test_mcar_at_the_ends_hides_nothing_or_all(table, seed):
    assert hide_mcar(table, 0.0, seed=seed).n_hidden == 0
    assert hide_mcar(table, 1.0, seed=seed).data.n_missing == table.codes.size


def share(hidden, table, variable, where=slice(None)):
    """Share of hidden cells of a variable among some rows."""
    return hidden.data.missing_mask[where, table.index(variable)].mean()


def near(rate, n_cells):
    """Within five standard errors of a rate."""
    return pytest.approx(rate, abs=5 * math.sqrt(rate * (1 - rate) / n_cells))


@pytest.mark.parametrize("rate", [0.01, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("value", [0, 1])
def test_mcar_meets_the_rate_whatever_the_value(rate, value):
    table = binary_table()
    hidden = hide_mcar(table, rate, seed=3)
    for variable in table.names:
        rows = table.codes[:, table.index(variable)] == value
        assert share(hidden, table, variable, rows) == near(rate, rows.sum())


def test_mcar_hides_cells_of_the_chosen_variables_only():
    hidden = hide_mcar(binary_table(200), 0.5, variables=["age"], seed=1)
    assert hidden.counts["smoke"] == hidden.counts["flag"] == 0
    assert hidden.n_candidates == 200


@pytest.mark.parametrize("rate", [0.01, 0.1, 0.5, 0.9])
def test_mar_meets_the_rate_and_the_odds(rate):
    table = binary_table()
    odds = {"smoke": {"yes": 6.0, "no": 2.0}}
    hidden = hide_mar(table, rate, depends_on=["smoke"], odds=odds, seed=4)
    smoke = table.codes[:, 0] == 1
    low, high = oracle.two_rates(rate, smoke.mean(), odds_ratio=3.0)
    for variable in ("age", "flag"):
        assert share(hidden, table, variable) == near(rate, table.n_rows)
        assert share(hidden, table, variable, smoke) == near(high, smoke.sum())
        assert share(hidden, table, variable, ~smoke) == near(low, (~smoke).sum())


def test_mar_odds_of_two_variables_multiply():
    table = binary_table(60_000)
    odds = {"smoke": {"yes": 3.0}, "flag": {True: 0.5}}
    hidden = hide_mar(table, 0.2, depends_on=["smoke", "flag"], odds=odds, seed=5)
    hole = hidden.data.missing_mask[:, 1]
    smoke, flag = table.codes[:, 0] == 1, table.codes[:, 2] == 1

    def odds_of(rows):
        return hole[rows].mean() / (1 - hole[rows].mean())

    base = odds_of(~smoke & ~flag)
    assert odds_of(smoke & ~flag) / base == pytest.approx(3.0, rel=0.15)
    assert odds_of(smoke & flag) / base == pytest.approx(1.5, rel=0.15)


def test_mar_never_hides_what_it_depends_on():
    hidden = hide_mar(binary_table(500), 0.9, depends_on=["age", "flag"], seed=1)
    assert hidden.counts["age"] == hidden.counts["flag"] == 0
    assert hidden.counts["smoke"] > 0


def test_mar_given_the_observed_variables_does_not_depend_on_the_value():
    table = binary_table(60_000)
    hidden = hide_mar(table, 0.3, depends_on=["smoke"], strength=2.0, seed=6)
    for smoke in (0, 1):
        rows = table.codes[:, 0] == smoke
        rates = [
            share(hidden, table, "age", rows & (table.codes[:, 1] == value))
            for value in (0, 1)
        ]
        assert rates[0] == pytest.approx(rates[1], abs=0.03)


def test_mar_meets_the_rate_with_drawn_odds_and_holes_in_what_it_depends_on():
    holed = hide_mcar(binary_table(), 0.2, variables=["smoke"], seed=1).data
    hidden = hide_mar(holed, 0.25, depends_on=["smoke", "flag"], strength=3.0, seed=2)
    assert share(hidden, holed, "age") == near(0.25, holed.n_rows)


@pytest.mark.parametrize("rate", [0.01, 0.1, 0.5, 0.9])
def test_mnar_meets_the_rate_and_the_odds(rate):
    table = binary_table()
    hidden = hide_mnar(table, rate, odds={"smoke": {"yes": 4.0}}, seed=7)
    smoke = table.codes[:, 0] == 1
    low, high = oracle.two_rates(rate, smoke.mean(), odds_ratio=4.0)
    assert share(hidden, table, "smoke", smoke) == near(high, smoke.sum())
    assert share(hidden, table, "smoke", ~smoke) == near(low, (~smoke).sum())


def test_mnar_hides_the_variables_of_odds_unless_told_otherwise():
    table, odds = binary_table(500), {"smoke": {"yes": 4.0}}
    alone = hide_mnar(table, 0.5, odds=odds, seed=1)
    assert alone.counts["age"] == alone.counts["flag"] == 0
    more = hide_mnar(table, 0.5, odds=odds, variables=["smoke", "age"], seed=1)
    assert more.counts["age"] > 0 == more.counts["flag"]


def test_drawn_odds_are_recorded_and_reproduce_the_same_cells_in_distribution():
    hidden = hide_mnar(binary_table(500), 0.2, strength=2.0, seed=8)
    drawn = hidden.request["odds"]
    assert set(drawn) == {"smoke", "age", "flag"}
    assert all(odds > 0 for states in drawn.values() for odds in states.values())


def test_a_strength_of_zero_makes_mnar_blind_to_the_value():
    hidden = hide_mnar(binary_table(500), 0.2, strength=0.0, seed=8)
    assert hidden.request["odds"]["smoke"] == {"no": 1.0, "yes": 1.0}


@given(holed_tables(), st.integers(0, 5), st.integers(0, 3), SEEDS)
def test_value_protocol_hides_the_number_asked_or_all_there_are(t, number, k, seed):
    try:
        hidden = quietly(hide_value_per_variable, t, number, state=k, seed=seed)
    except ParameterError:
        assert max(t.card) <= k
        return
    available = oracle.count_value(t.codes.tolist(), t.n_vars, k)
    assert list(hidden.counts.values()) == [min(number, n) for n in available]
    assert set(hidden.true_codes.tolist()) <= {k}
    assert [(s.variable, s.asked, s.hidden) for s in hidden.shortfalls] == [
        (name, number, n)
        for name, n in zip(t.names, available, strict=True)
        if n < number
    ]


def test_value_protocol_draws_every_such_cell_equally_often():
    table = binary_table(30)
    rows = np.flatnonzero(table.codes[:, 0] == 1)
    seen = np.zeros(30)
    for seed in range(2000):
        seen[hide_value_of(table, "smoke", 2, "yes", seed=seed).rows] += 1
    expected = 2000 * 2 / rows.size
    assert seen[rows] == pytest.approx(expected, abs=5 * math.sqrt(expected))
    assert seen.sum() == 4000


@pytest.mark.parametrize(
    ("variable", "value"),
    [("smoke", "yes"), ("age", 30), ("age", "30"), ("flag", True), ("flag", "True")],
)
def test_a_value_is_found_by_label_or_by_its_text(variable, value):
    hidden = hide_value_of(binary_table(500), variable, 5, value, seed=1)
    assert hidden.n_hidden == 5
    assert set(hidden.true_codes.tolist()) == {1}


def test_a_variable_without_the_value_falls_short():
    with pytest.warns(ShortfallWarning, match="0 of 2 asked in 'age', 0 of 2 asked in"):
        hidden = hide_value_per_variable(binary_table(500), 2, "yes", seed=1)
    assert hidden.counts == {"smoke": 2, "age": 0, "flag": 0}
    assert hidden.request["values"] == {"smoke": "yes", "age": None, "flag": None}


def test_a_shortfall_is_warned_of_and_recorded():
    table = binary_table(100)
    n_yes = int((table.codes[:, 0] == 1).sum())
    text = f"too few suitable cells, so all were hidden: {n_yes} of 99 asked in 'smoke'"
    with pytest.warns(ShortfallWarning, match=text) as caught:
        hidden = hide_value_of(table, "smoke", 99, "yes", seed=1)
    assert caught[0].filename == __file__
    assert hidden.to_dict()["shortfalls"] == [
        {"variable": "smoke", "asked": 99, "hidden": n_yes}
    ]


def test_strict_raises_in_place_of_falling_short():
    with pytest.raises(ParameterError, match=r"too few suitable cells to hide: .* 99"):
        hide_value_of(binary_table(100), "smoke", 99, "yes", seed=1, strict=True)


def test_odds_of_zero_can_make_a_rate_impossible():
    table = binary_table(1000)
    n_yes = int((table.codes[:, 0] == 1).sum())
    odds = {"smoke": {"no": 0.0}}
    with pytest.warns(ShortfallWarning, match=f"{n_yes} of 900 asked in 'smoke'"):
        hidden = hide_mnar(table, 0.9, odds=odds, seed=1)
    assert hidden.n_hidden == n_yes
    with pytest.raises(ParameterError, match="leave strict out"):
        hide_mnar(table, 0.9, odds=odds, seed=1, strict=True)
    with pytest.warns(ShortfallWarning, match="of 900 asked in 'age'") as caught:
        hide_mar(table, 0.9, depends_on=["smoke"], odds=odds, seed=1)
    assert caught[0].filename == __file__
    with pytest.raises(ParameterError, match="leave strict out"):
        hide_mar(table, 0.9, depends_on=["smoke"], odds=odds, seed=1, strict=True)


def test_a_pandas_frame_goes_in_and_its_types_come_out():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "k": pandas.Categorical(["u", "v", "u", "v"] * 25),
            "n": pandas.array([1, 2, 3, 4] * 25, dtype="Int64"),
        }
    )
    back = hide_mcar(frame, 0.2, seed=1).data.to_table()
    assert back["k"].dtype == frame["k"].dtype
    assert back["n"].dtype == frame["n"].dtype
    assert 0 < back["n"].isna().sum() < 50


ONE_LINE_ERRORS = {
    "rate must be a number between 0 and 1. Got 1.5 instead": lambda t: hide_mcar(
        t, 1.5
    ),
    "rate must be a number between 0 and 1. Got nan instead": lambda t: hide_mar(
        t, math.nan, depends_on=["age"]
    ),
    "rate must be a number between 0 and 1. Got '0.1' instead": lambda t: hide_mnar(
        t, "0.1"
    ),
    "rate must be a number between 0 and 1. Got True instead": lambda t: hide_mcar(
        t, True
    ),
    "strength must be a number between 0 and 100. Got -1 instead": lambda t: hide_mnar(
        t, 0.1, strength=-1
    ),
    "strength must be a number between 0 and 100. Got inf instead": lambda t: hide_mar(
        t, 0.1, depends_on=["age"], strength=math.inf
    ),
    "per_variable must be an integer >= 0. Got -2 instead": (
        lambda t: hide_value_per_variable(t, -2, "yes")
    ),
    "count must be an integer >= 0. Got 1.5 instead": lambda t: hide_value_of(
        t, "smoke", 1.5, "yes"
    ),
    "state must be an integer >= 0. Got True instead": lambda t: hide_value_of(
        t, "smoke", 1, state=True
    ),
    "give either value, a label, or state": lambda t: hide_value_of(t, "smoke", 1),
    "a position from 0": lambda t: hide_value_of(t, "smoke", 1, "yes", state=1),
    "no chosen variable has value 'maybe'. The states of 'smoke', for example: no, yes":
        lambda t: hide_value_of(t, "smoke", 1, "maybe"),
    "no chosen variable has state number 2.": lambda t: hide_value_per_variable(
        t, 1, state=2
    ),
    "variables must name one or more variables, each once. Got []": lambda t: hide_mcar(
        t, 0.1, variables=[]
    ),
    "depends_on must name one or more variables, each once.": lambda t: hide_mar(
        t, 0.1, depends_on=["age", "age"]
    ),
    "depends_on names every variable, so none is left to hide": lambda t: hide_mar(
        t, 0.1, depends_on=["smoke", "age", "flag"]
    ),
    "'age' is in depends_on and in variables": lambda t: hide_mar(
        t, 0.1, depends_on=["age"], variables=["age", "smoke"]
    ),
    "odds are given for 'age', which is not in depends_on. Add it": lambda t: hide_mar(
        t, 0.1, depends_on=["smoke"], odds={"age": {20: 2.0}}
    ),
    "odds are given for 'age', which is not in variables. Add it": lambda t: hide_mnar(
        t, 0.1, variables=["smoke"], odds={"age": {20: 2.0}}
    ),
    "variable 'age' has no state 99 to give odds for. Its states: 20, 30": (
        lambda t: hide_mnar(t, 0.1, odds={"age": {99: 2.0}})
    ),
    "odds of state 20 of 'age' must be a finite number >= 0. Got -1 instead": (
        lambda t: hide_mnar(t, 0.1, odds={"age": {20: -1}})
    ),
    "strength has no part where odds are given for every variable.": (
        lambda t: hide_mnar(t, 0.1, odds={"age": {20: 2.0}}, strength=2.0)
    ),
    "strength has no part where odds are given for every variable. Leave": (
        lambda t: hide_mar(
            t, 0.1, depends_on=["age"], odds={"age": {20: 2.0}}, strength=2.0
        )
    ),
    "seed must be an integer": lambda t: hide_mcar(t, 0.1, seed="one"),
}  # fmt: skip


@pytest.mark.parametrize("message", ONE_LINE_ERRORS)
def test_a_wrong_request_says_what_is_wrong(message):
    with pytest.raises(ParameterError) as caught:
        ONE_LINE_ERRORS[message](binary_table(20))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_variable_is_named():
    with pytest.raises(DataError, match="no variable named 'smok'"):
        hide_mcar(binary_table(20), 0.1, variables=["smok"])


def test_many_states_are_listed_in_part():
    table = IncompleteData.from_codes(
        np.arange(20, dtype=np.uint8).reshape(20, 1),
        names=("x",),
        states=(tuple(range(20)),),
    )
    with pytest.raises(ParameterError, match=r"0, 1, .*11, \.\.\. \(20 in all\)"):
        hide_value_of(table, "x", 1, 99)
